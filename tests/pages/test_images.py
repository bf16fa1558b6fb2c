"""A file of images: every page opens on it, in words for images, and says what they never have."""

import tomllib

import pytest

from analysis.needs import OF_TEXTS
from pages.relevance.corpus import corpus
from pages.relevance.methods import methods
from pages.ui.store.missing import what_images_lack
from pages.ui.words.say import plain
from precompute.needs import corpus_needs
from precompute.passes import STATISTICS
from tests.pages.conftest import bodies, sentences
from tests.pages.kit.inquiries import inquiry
from tests.pages.kit.openings import ROOT
from tests.small_images import MASKED, SIZES
from tests.tiny_vision import COLUMNS, ROWS

pytestmark = pytest.mark.slow


def test_what_images_never_have_is_what_precompute_refuses_them():
    lacking = {statistic.name: what_images_lack([statistic]) for statistic in STATISTICS.values()}
    refused = {name for name in lacking if set(corpus_needs(name)) & set(OF_TEXTS)}
    assert {name for name, reason in lacking.items() if reason} == refused
    words = tomllib.loads((ROOT / "pages/ui/words/shell.toml").read_text(encoding="utf-8"))
    assert {reason for reason in lacking.values() if reason} <= set(words["of_images"])


def test_the_overview_tells_images_and_grid(opened, images_folder):
    session = opened("overview", images_folder)
    text = sentences(session)
    assert f"**{len(SIZES)}** images" in text
    assert f"**{ROWS} × {COLUMNS}** patches each, after \\[CLS\\]" in text
    assert f"{len(MASKED)} of the images have a mask" in text
    names = [picture.proto.imgs[0].caption for picture in session.get("image")]
    assert names == [plain(name) for name in SIZES]
    captions = "\n".join(caption.value for caption in session.caption)
    assert f"{COLUMNS} tokens further on is the patch below" in captions


@pytest.mark.parametrize(("low", "side"), [(0.01, "above"), (-0.01, "unclear")])
def test_a_gain_whose_interval_holds_0_is_not_told_as_one(low, side, after_images):
    after_images(
        f"update stored.relevance_summary set mean = 0.02, low = {low}, high = 0.03 "
        "where quantity = 'mask_gain'"
    )
    finding = next(corpus.findings(inquiry()))
    assert finding.side == side


@pytest.mark.parametrize(("high", "side"), [(0.4, "below"), (0.6, "unclear")])
def test_a_deletion_is_told_by_its_interval(high, side, after_images):
    after_images(
        f"update stored.perturbation set mean = 0.3, low = 0.2, high = {high} where share is null",
        "update stored.perturbation set mean = 0.6, low = 0.5, high = 0.7 "
        "where share is null and rule = 'random'",
    )
    [finding] = methods.findings(inquiry())
    assert finding.side == side


def test_the_images_of_a_head_are_grids_under_their_escaped_names(opened, images_folder):
    session = opened("head", images_folder, he_view="tokens", he_by="habit", he_texts="5")
    html = bodies(session)
    assert html.count('class="an-patches"') == len(SIZES)
    assert html.count(f"repeat({COLUMNS}, 1fr)") == len(SIZES)
    hostile = next(name for name in SIZES if "<" in name)
    assert plain(hostile) in sentences(session)
    assert hostile not in sentences(session)

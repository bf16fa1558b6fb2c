"""The page for models with tables of distances in their scores, and for rotated patches."""

import duckdb
import pytest

from tests.pages.conftest import bodies, captions, charts, sentences
from tests.pages.kit.copies import changes_of
from tests.pages.kit.folders import folder_of

pytestmark = pytest.mark.slow
_STATISTICS = ["offset_agreement", "relative_position_cluster", "exemplar_attention"]
_MORE = ["score_share", "position_kernel", "query_key_error"]
t5_folder = folder_of("t5", statistics=_STATISTICS + _MORE)
deberta_folder = folder_of("deberta-v2", statistics=_STATISTICS + _MORE)
changed_t5 = changes_of("t5_folder")
dinov3_folder = folder_of("dinov3_vit", statistics=[*_STATISTICS[1:], "patch_offset"])


@pytest.fixture(params=["t5", "deberta"])
def folder(request):
    return request.getfixturevalue(f"{request.param}_folder")


@pytest.mark.parametrize(
    ("view", "lang"), zip(["claim", "heads", "one_head", "content"], ["en", "ja"] * 2, strict=True)
)
def test_every_section_opens_without_a_warning(view, lang, section, folder):
    session = section(view, folder, lang)
    assert not session.error
    assert not session.warning
    assert charts(session)


def test_one_head_shows_the_bias_of_a_t5_and_no_planes(section, t5_folder, exported):
    section("one_head", t5_folder, head="1-2")
    frames = {name.rpartition(" ")[2]: frame for name, (frame, _) in exported.items()}
    [kernel] = [frame for frame in frames.values() if "kernel" in frame]
    with duckdb.connect(str(t5_folder / "tiny.duckdb"), read_only=True) as store:
        expected = dict(
            store.execute(
                'select "offset", kernel from position_kernel where layer = 1 and head = 2'
            ).fetchall()
        )
    shown = dict(zip(kernel["offset"], kernel["kernel"], strict=True))
    assert shown
    assert shown == pytest.approx({offset: expected[offset] for offset in shown})
    assert not [frame for frame in frames.values() if "preferred_offset" in frame]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_an_interval_without_width_is_drawn_and_no_lack_of_texts_is_told(lang, section, changed_t5):
    """A bias is the same whatever texts are redrawn."""
    sure = changed_t5("update stored.position_kernel set low = kernel, high = kernel")
    session = section("one_head", sure, lang, head="1-2")
    assert not session.error
    assert not session.warning
    assert "'field': 'kernel_low'," in str(charts(session)[0])
    assert "too few to redraw" not in captions(session)


def test_the_words_are_those_of_tables(section, folder):
    session = section("one_head", folder)
    shown = bodies(session) + captions(session) + "\n".join(text.value for text in session.markdown)
    assert "taken from tables" in shown
    assert "it turns queries and keys" not in shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_patches_that_are_turned_have_no_offsets_and_say_so(lang, section, dinov3_folder):
    """A link to any other section shows the only one there is."""
    for view in ("heads", "claim", "one_head"):
        session = section(view, dinov3_folder, lang)
        assert not session.error
        assert not session.warning
        assert charts(session)
        shown = "\n".join(text.value for text in session.markdown)
        assert ("by their rows and columns" if lang == "en" else "行と列に応じて回転") in shown


def test_the_overview_of_turned_patches_finds_no_offsets(findings_of, dinov3_folder, t5_folder):
    assert not sentences(findings_of("positions", dinov3_folder))
    assert sentences(findings_of("positions", t5_folder))

"""The page for models with tables of distances in their scores, and for rotated patches."""

import pytest

from tests.pages.conftest import bodies, captions, charts, sentences
from tests.pages.kit.folders import folder_of

pytestmark = pytest.mark.slow
_STATISTICS = ["offset_agreement", "relative_position_cluster", "exemplar_attention"]
_MORE = ["score_share", "position_kernel", "query_key_error"]
t5_folder = folder_of("t5", statistics=_STATISTICS + _MORE)
deberta_folder = folder_of("deberta-v2", statistics=_STATISTICS + _MORE)
dinov3_folder = folder_of("dinov3_vit", statistics=[*_STATISTICS[1:], "patch_offset"])


@pytest.fixture(params=["t5", "deberta"])
def folder(request):
    return request.getfixturevalue(f"{request.param}_folder")


@pytest.mark.parametrize(("view", "lang"), [("claim", "en"), ("heads", "ja"), ("content", "en")])
def test_every_section_opens_without_a_warning(view, lang, section, folder):
    session = section(view, folder, lang)
    assert not session.error
    assert not session.warning
    assert charts(session)


def test_the_words_are_those_of_tables(section, folder):
    session = section("shares", folder)
    shown = bodies(session) + captions(session) + "\n".join(text.value for text in session.markdown)
    assert "taken from tables" in shown
    assert "it turns queries and keys" not in shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_patches_that_are_turned_have_no_offsets_and_say_so(lang, section, dinov3_folder):
    """A link to any other section shows the only one there is."""
    for view in ("heads", "claim"):
        session = section(view, dinov3_folder, lang)
        assert not session.error
        assert not session.warning
        assert charts(session)
        shown = "\n".join(text.value for text in session.markdown)
        assert ("by their rows and columns" if lang == "en" else "行と列に応じて回転") in shown


def test_the_overview_of_turned_patches_finds_no_offsets(findings_of, dinov3_folder, t5_folder):
    assert not sentences(findings_of("positions", dinov3_folder))
    assert sentences(findings_of("positions", t5_folder))

"""The page for models with tables of distances in their scores, and for rotated patches."""

import pytest

from pages.kit.sections import page_of
from pages.services.chosen import open_store
from pages.words.say import catalogue
from tests.pages.kit.folders import folder_of
from tests.pages.kit.ran import ran, spoken

pytestmark = pytest.mark.slow
_STATISTICS = ["relative_position_cluster", "exemplar_attention"]
_MORE = ["offset_agreement", "score_share", "position_kernel", "query_key_error"]
t5_folder = folder_of("t5", statistics=_STATISTICS + _MORE)
deberta_folder = folder_of("deberta-v2", statistics=_STATISTICS + _MORE)
dinov3_folder = folder_of("dinov3_vit", statistics=[*_STATISTICS, "patch_offset"])


def words_of_tables(lang: str) -> list[str]:
    """Beginnings of what the page says of models with tables of distances alone."""
    of_tables = (
        texts[lang].partition("{")[0]
        for key, texts in catalogue().items()
        if key.startswith("distance.positions.")
    )
    return [text for text in of_tables if len(text) > 20]


@pytest.mark.parametrize(("family", "lang"), [("t5", "en"), ("t5", "ja"), ("deberta", "en")])
def test_sections_speak_of_tables_of_distances(family, lang, request, monkeypatch):
    folder = request.getfixturevalue(f"{family}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    with spoken(lang):
        found = {stem: ran("positions", stem) for stem in ("claim", "heads", "content")}
    for section in found.values():
        assert section.shown
        assert not section.texts("warning")
        assert "it turns queries and keys" not in section.said
    assert any(text in found["content"].said for text in words_of_tables(lang))


def test_patches_that_are_turned_have_no_offsets_and_the_overview_finds_none(
    dinov3_folder, t5_folder, monkeypatch
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(dinov3_folder))
    offered = [part.name for part in page_of("positions").sections if part.when(open_store())]
    assert offered == ["heads"]
    assert ran("positions", "heads").shown
    assert not page_of("positions").findings(open_store())
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(t5_folder))
    assert page_of("positions").findings(open_store())

"""Files that nobody should trust: headlines claim nothing beyond intervals, no text is markup."""

import re
from pathlib import Path

import duckdb
import pytest

from pages.kit.links import VIEWS
from pages.words import say as words
from tests.pages.conftest import bodies
from tests.pages.kit.drawn import draw
from tests.pages.kit.section_checks import sections

pytestmark = pytest.mark.slow
PAGES = [page for page in VIEWS if page not in ("compare", "query")]
CLAIMS = ("above", "below", "clear", "rare", "frequent", "shorter", "longer", "alike")
"""Ends of words of which another, `unclear`, is said where the interval does not bear them out."""
OF_NO_INTERVAL = {("head_map", "map"), ("head_map", "layers"), ("syntax", "parsers")}
"""Sections that hold a stress, which has none, against a rule, p against its level, and extremes of
several trainings, which are no columns of the file."""
OWN_IMAGE = 'img src="data:image/'
HOLDS_ALL = (0, 1000)  # ends of an interval within which every number lies, and 0 and 1
HOSTILE = '<img src=x onerror="y"><script>alert(1)</script> **x** `y` $z$'
TEXTS = {
    **{"token": "token", "vocabulary": "token", "sequence": "text", "word": "form"},
    **{"image": "name", "class_prediction": "label"},
}
"""Columns of texts that came from strangers, by table."""
ENDS = """
    select table_name, column_name from duckdb_columns()
    where schema_name = 'stored' and regexp_matches(column_name, '(^|_)(low|high|p_value)$'
        || '|^error_|^error$')
"""


@pytest.fixture(scope="module")
def strange(tmp_path_factory) -> dict[Path, Path]:
    """Folders by those whose files they hold with wide intervals and hostile texts."""

    class Made(dict[Path, Path]):
        def __missing__(self, folder: Path) -> Path:
            self[folder] = tmp_path_factory.mktemp("strange")
            _write(folder / "tiny.duckdb", self[folder] / "tiny.duckdb")
            return self[folder]

    return Made()


def _write(source: Path, copy: Path) -> None:
    copy.write_bytes(source.read_bytes())
    with duckdb.connect(str(copy)) as store:
        for table, column in store.execute(ENDS).fetchall():
            value = HOLDS_ALL[0] if column.endswith("low") else HOLDS_ALL[1]
            value = 1 if column == "p_value" else value
            store.execute(f'update stored."{table}" set "{column}" = {value} '
                          f'where "{column}" is not null')  # fmt: skip
        for table, column in TEXTS.items():
            store.execute(f"update stored.{table} set {column} = {column} || ?", [HOSTILE])


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ["treebank", "turned", "images"])
def test_nothing_is_claimed_where_every_interval_holds_everything_and_no_text_is_markup(
    page, name, strange, request, offered
):
    folder = strange[request.getfixturevalue(f"{name}_folder")]
    for section in sections(page):
        drawn = draw(page, section.name, folder, "en", offered)
        if page != "sequences" and (page, section.name) not in OF_NO_INTERVAL:
            assert not any(map(_is_claim, drawn.keys)), f"{section.name}: {drawn.headlines}"
        own = bodies(drawn.session).replace(f"<{OWN_IMAGE}", "")
        assert not re.search("<(?:img|script)", own), section.name
        for kind in ("title", "header", "subheader", "markdown", "caption", "info", "warning"):
            for text in getattr(drawn.session, kind):
                assert not re.search(r"(?<!\\)<(?:img|script)|(?<!\\)\*\*x", text.value), text.value


def _is_claim(key: str) -> bool:
    stem, _, end = re.sub(r"_(?=[a-z]+$)", " ", key).rpartition(" ")
    if key.rpartition(".")[2] in CLAIMS:
        stem, end = key.rpartition(".")[0], key.rpartition(".")[2]
        return f"{stem}.unclear" in words.catalogue()
    return end in CLAIMS and f"{stem}_unclear" in words.catalogue()

"""Pairs clear of 0 come first, and no other is described or drawn as one."""

import re
from html import unescape
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from analysis.statistics.pairs import pair_delta
from pages.token_pairs.choices import PAIR
from pages.token_pairs.lists import DIRECTIONS, change, with_pair_names
from pages.token_pairs.workbench import pair_rows, reach_of
from pages.ui.words.scope import words_of
from pages.ui.words.units import without_unit
from tests.pages.conftest import bodies, captions, frames, sentences
from tests.pages.kit.copies import changed_copy

SURE = "where (source + target) % 3 = 0"
PLANTED = (
    f"update stored.pair_delta set error_ff = error_ff / 64 {SURE}",
    f"update stored.pair_extreme set error = error / 64 {SURE}",
)
NOT_CLEAR = {"en": ("not clear of 0", "without an interval"), "ja": ("0 を含む", "区間なし")}


@pytest.fixture(scope="module")
def planted(store_folder, tmp_path_factory) -> Path:
    """A folder with a file that has pairs with clear, crossing and missing intervals."""
    return changed_copy(store_folder, tmp_path_factory.mktemp("planted"), *PLANTED)


@pytest.fixture
def lists(planted):
    """Lists of the file, by layer or for all layers, in either direction."""
    [path] = planted.glob("*.duckdb")

    def ask(layer: int | None, **choices) -> dict[str, pd.DataFrame]:
        with duckdb.connect(str(path), read_only=True) as store:
            return {
                direction: pair_delta.top(
                    store, effect="ff", amplified=direction == "amplified", layer=layer, **choices
                )
                for direction in DIRECTIONS
            }

    return ask


def clear(frame: pd.DataFrame) -> pd.Series:
    return (frame["low"] > 0) | (frame["high"] < 0)


@pytest.mark.parametrize("rank", ["bound", "mean"])
def test_cells_are_faint_just_where_a_pair_is_not_clear(rank, planted, lists, section):
    shown = bodies(section("tables", planted, tp_rank=rank))
    cells = re.findall(r'<td class="(tp-faint)?" style.*?title="(.*?)".*?· n (\d+)', shown)
    pairs = pd.concat(lists(None, rank=rank).values())
    assert [bool(faint) for faint, *_ in cells] == [not is_clear for is_clear in clear(pairs)]
    assert [int(n) for *_, n in cells] == pairs["n"].tolist()
    for (_, tooltip, n), pair in zip(cells, pairs.itertuples(), strict=True):
        assert unescape(tooltip).startswith(f"{pair.source} → {pair.target}: ")
        assert f", {n} occurrences in {pair.n_sequences} sequences" in tooltip
    assert 0 < clear(pairs).sum() < len(pairs)


def test_only_clear_pairs_are_listed_where_that_is_asked(planted, lists, section):
    pairs = lists(1, clear=True, limit=1000)["attenuated"]
    chosen = {"tp_clear": "only", "tp_layer": "1", "tp_direction": "attenuated"}
    [shown] = frames(section("workbench", planted, **chosen))
    assert shown["source"].tolist() == pairs["source"].tolist()
    assert clear(shown.rename(columns=without_unit)).all()
    assert 'class="tp-faint"' not in bodies(section("tables", planted, tp_clear="only"))


@pytest.mark.parametrize(
    ("lang", "rank", "direction"), [("en", "bound", "amplified"), ("ja", "mean", "attenuated")]
)
def test_a_pair_that_is_not_clear_is_named_with_that(
    lang, rank, direction, planted, lists, section
):
    chosen = {"tp_rank": rank, "tp_direction": direction, "lang": lang}
    frame = lists(1, rank=rank, limit=1000)[direction]
    session = section("workbench", planted, **chosen)
    named = re.search(r"\*\*([^*]*(?:points|ポイント)[^*]*)\*\*", captions(session))
    assert named
    is_said = any(words in named[1] for words in NOT_CLEAR[lang])
    assert is_said != clear(frame).iloc[0]
    assert is_said == (rank == "mean"), "one of both is asked for"
    assert str(int(clear(frame).sum())) in sentences(session)


@pytest.mark.parametrize(
    ("low", "high", "is_said"),
    [
        (0.01, 0.03, "+2.00 points [+1.00, +3.00]"),
        (-0.01, 0.05, "+2.00 points, not clear of 0: [−1.00, +5.00]"),
        (0.0, 0.04, "+2.00 points, not clear of 0: [+0.00, +4.00]"),
        (None, None, "+2.00 points, without an interval"),
    ],
)
def test_a_change_is_told_with_how_sure_it_is(low, high, is_said):
    pair = pd.Series({"mean_delta": 0.02, "low": low, "high": high}, dtype=float)
    with words_of("token_pairs"):
        assert change(pair) == is_said


def test_rows_are_faint_just_where_a_pair_is_not_clear(lists):
    for frame in lists(1, limit=50).values():
        second = frame.iloc[1]
        with words_of("token_pairs", "workbench"):
            chosen = {side: second[side] for side in PAIR}
            chart = pair_rows(with_pair_names(frame), chosen, reach_of(frame))
        _, rules, dots, names, numbers, rows = chart.layer
        for part in (rules, dots, names, numbers):
            opacity = part.encoding.opacity.to_dict()
            assert opacity["condition"]["value"] == 1 > opacity["value"]
        shown = rows.data
        assert shown["clear"].tolist() == clear(frame).tolist()
        assert shown["chosen"].tolist() == [place == 1 for place in range(len(frame))]
        for name, n, pair in zip(
            shown["pair"], shown["occurrences"], frame.itertuples(), strict=True
        ):
            assert (name, n) == (f"{pair.source} → {pair.target}", f"n {pair.n}")

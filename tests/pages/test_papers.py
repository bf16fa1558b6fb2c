"""Figures of the papers are listed and drawn, their numbers compared where experiments agree."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.published.numbers import EXPERIMENTS, MODEL, N_SEQUENCES, N_TOKENS, Published
from pages.export.item import bibliography_of
from pages.kit import published_table
from pages.kit.items import Control, Group, Table
from pages.kit.published_table import Row
from pages.kit.run import Run, within
from pages.kit.sections import section_of
from pages.papers import outcomes
from pages.papers.claims import CLAIMS, _compared, _most
from pages.papers.entries import ENTRIES, entries_of
from pages.papers.outcomes import outcome_of
from pages.papers.recorded import recorded, run_section
from pages.papers.report import items_of
from pages.services.chosen import open_store
from pages.services.open_file import Store, Version
from pages.words.say import catalogue
from tests.pages.conftest import assert_sound
from tests.pages.kit.ran import Ran, ran

pytestmark = pytest.mark.slow


@pytest.fixture
def judged(monkeypatch):
    """Outcome of an entry on the open file that differs so from the paper's experiment."""

    def outcome(paper: str, stem: str, apart: str | None = None) -> outcomes.Outcome:
        outcomes._outcome.clear()
        if apart is not None:
            monkeypatch.setattr(outcomes, "apart", lambda store, experiment: apart)
        with within(Run()):
            [entry] = [of for of in ENTRIES if (of.paper, of.stem) == (paper, stem)]
            return outcome_of(open_store(), entry)

    yield outcome
    outcomes._outcome.clear()


PRINTED = """
    update stored.attention_norm_correlation set
        spearman = case token_type
            when 'cls' then -0.3449 when 'sep' then -0.6851
            when 'comma_period' then -0.25 else -0.06 end,
        n = case token_type
            when 'cls' then 17443296 when 'sep' then 34886592
            when 'comma_period' then 182838528 else 1944928224 end
    where layer is null
"""
ELSEWHERE = "update stored.attention_norm_correlation set spearman = 0.9, n = 1"


@pytest.mark.parametrize(
    ("statements", "badge", "n"),
    [
        ([PRINTED], "agrees", 8),
        ([PRINTED, f"{ELSEWHERE} where token_type = 'sep'"], "partly", 6),
        ([ELSEWHERE], "differs", 0),
    ],
)
def test_printed_values_are_compared_in_the_papers_own_experiment(
    statements, badge, n, after, judged
):
    after(*statements)
    outcome = judged("kobayashi-2020", "table_3", apart="")
    assert (outcome.badge, outcome.n_agree, outcome.n_printed) == (badge, n, 8)


@pytest.mark.parametrize(
    ("numbers", "apart", "badge", "rule"),
    [
        ((-0.5, -0.6, -0.4), "model", "same", "interval"),
        ((0.5, 0.4, 0.6), "model", "other", "interval"),
        ((-0.1, -0.3, 0.1), "model", "unclear", "interval"),
        ((-0.12, "null", "null"), "model", "unclear", "numbers"),
        ((0.5, 0.4, 0.6), "", "differs", "interval"),
    ],
)
def test_elsewhere_and_without_printed_values_only_the_direction_counts(
    numbers, apart, badge, rule, after, judged
):
    ends = "{0} = {1}, {0}_low = {2}, {0}_high = {3}".format("between_heads_spearman", *numbers)
    after(f"update stored.attention_norm_correlation set {ends}")
    outcome = judged("kobayashi-2020", "figure_4", apart=apart)
    assert (outcome.badge, outcome.evidence.rule) == (badge, rule)


def test_what_a_file_lacks_is_told_with_the_command_that_adds_it(store_folder, monkeypatch, judged):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    outcome = judged("sawaki-2025", "maps")
    assert (outcome.badge, bool(outcome.reason)) == ("absent", True)
    assert "--model demo-digits" in outcome.command


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        ((0.9, 0.8, 0.95), (0.5, 0.4, 0.6), "same"),
        ((0.3, 0.2, 0.35), (0.5, 0.4, 0.6), "other"),
        ((0.5, 0.3, 0.7), (0.5, 0.4, 0.6), "unclear"),
        ((0.9, 0.8, 0.95), (0.5, None, None), "unclear"),
    ],
)
def test_two_numbers_are_compared_by_their_intervals_or_not_at_all(first, second, direction):
    rows = [("a", *first), ("b", *second)]
    frame = pd.DataFrame(rows, columns=["name", "value", "low", "high"])
    assert _compared(frame, "b", "above").direction == direction


@pytest.mark.parametrize(
    ("n", "reverse", "direction"),
    [(4, None, "same"), (3, None, "unclear"), (2, None, "other"), (2, 1, "unclear")],
)
def test_a_statement_on_heads_or_its_reverse_must_hold_in_more_than_half_of_them(
    n, reverse, direction
):
    evidence = _most("attenuated", n, 6, reverse)
    assert evidence
    assert evidence.direction == direction
    assert _most("norms_vary", 0, 0) is None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper}-{entry.stem}")
def test_a_section_draws_the_figure_with_choices_that_it_has(entry, request, monkeypatch):
    name = "images" if entry.only == "shows_images" else "treebank"
    folder = request.getfixturevalue(f"{name}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    with within(Run()):
        store = open_store()
        run = recorded(store, entry)
        items = []
        for page, view in filter(None, ((entry.page, entry.view), entry.printed_in)):
            section = section_of(store, page, view)
            items += run_section(store, replace(entry, page=page), section)[0]
    assert run.figure, run.reason
    assert bool(run.rows) == (entry.printed not in ("", "pairs"))
    controls = {item.key: item for item in items if isinstance(item, Control)}
    assert set(entry.choices) <= set(controls)
    for key in set(entry.choices) - {"head", "he_direction"}:  # of which small models have fewer
        options = set(map(str, controls[key].labels)) or {run.choices[key]}
        assert run.choices[key] in options & set(entry.choices[key])


def test_every_figure_of_a_paper_has_a_card_and_a_place_in_its_report(
    monkeypatch, opened, treebank_folder
):
    monkeypatch.setattr(outcomes, "picture", lambda *given: b"")  # which take most of the time
    session = opened("papers", treebank_folder, lang="ja", pa_view="clark-2019")
    assert_sound(session)
    entries = entries_of("clark-2019")
    shown = [body for block in session.get("html") if "paper-entry" in (body := block.proto.body)]
    assert all(catalogue()[f"papers.{of.word}"]["ja"] in "".join(shown) for of in entries)
    with within(Run()):
        store = open_store()
        items = items_of({entry: outcome_of(store, entry) for entry in entries})
    assert len(items) == len(entries)
    assert "{clark-2019," in bibliography_of(items)


SAME = {
    "model": MODEL,
    "n_layers": 12,
    "n_heads": 12,
    "hidden_size": 768,
    "n_sequences": N_SEQUENCES,
    "n_tokens": N_TOKENS,
    "mask_rate": 0.0,
}
"""The run of the papers."""


@pytest.mark.parametrize(
    ("printed", "ours", "expected"),
    [
        ("0.79", (0.7949,), True),
        ("0.79", (0.7951,), False),
        ("-0.34", (-0.3351,), True),
        ("94%", (0.9351,), True),
        ("94%", (0.93,), False),
        ("17,443,296", (17443296,), True),
        ("0.79", (None,), False),
        ("0.79", (0.70, 0.60, 0.786), True),  # 0.79 as printed may be 0.785
        ("0.79", (0.70, 0.60, 0.784), False),
        ("0.79", (0.95, 0.90, 0.99), False),
        ("0.79", (0.7949, float("nan"), float("nan")), True),
    ],
)
def test_a_value_agrees_by_rounding_and_is_consistent_within_its_interval(printed, ours, expected):
    percent, text = printed.endswith("%"), printed.removesuffix("%")
    number = Published("kobayashi-2020", ("table", 1), "q", "mean", text, percent=percent)
    row = Row("x", number, *ours)
    assert row.is_consistent == expected
    assert len(ours) == 3 or row.agrees == expected


def published(section: Ran) -> tuple[pd.DataFrame, str]:
    """Rows and caption of the table of published numbers."""
    tables = [item.shown for item in section.items if isinstance(item, Table)]
    [table] = [shown for shown in tables if "published" in shown.frame]
    return table.frame, table.caption


def test_numbers_are_compared_in_the_same_experiment_and_folded_in_another(
    changed, store_folder, monkeypatch
):
    claims = [f"update stored.run set {name} = '{of}'" for name, of in SAME.items()]
    planted = "set spearman = -0.6881 where token_type = 'sep' and layer is null"
    folder = changed(*claims, f"update stored.attention_norm_correlation {planted}")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    shown, caption = published(ran("norms", "relation"))
    row = shown[shown["published"] == "−0.69"].iloc[0]
    assert (row["ours"], row["difference"]) == ("−0.688", "+0.002")
    assert "1 of 8 values" in caption
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    other = ran("norms", "relation")
    assert "difference" not in published(other)[0]
    assert f"{N_SEQUENCES}" in "".join(other.texts("markdown"))
    groups = [item for item in other.items if isinstance(item, Group) and item.kind == "expander"]
    assert any(MODEL in group.given[0] for group in groups)


ONE, UNTRAINED = {"segments_given": "0"}, {"random_weights": "0"}
TREEBANK = {"n_sequences": 1696}


@pytest.mark.parametrize(
    ("paper", "facts", "run", "expected"),
    [
        ("kobayashi-2020", {}, {"model": f"{MODEL}@86b5e0934494bd15c9632b12f734a8a67f72"}, "same"),
        ("kobayashi-2020", {}, {"model": f"google-bert/{MODEL}"}, "same"),
        ("kobayashi-2020", {}, {"model": f"someone/my-{MODEL}"}, "model"),
        ("kobayashi-2020", {}, {"n_layers": 6}, "model"),
        ("kobayashi-2020", {}, {"n_tokens": N_TOKENS - 1}, "corpus"),
        ("kobayashi-2020", {}, {"mask_rate": 0.12}, "masking"),
        ("kobayashi-2021", {}, {"mask_rate": 0.12}, "same"),
        ("kobayashi-2020", ONE, {}, "segments"),
        ("clark-2019, wikipedia", ONE, {}, "same"),
        ("clark-2019, treebank", {"segments": "read", **ONE}, TREEBANK, "same"),
        ("clark-2019, untrained", ONE, TREEBANK, "weights"),
        ("clark-2019, untrained", UNTRAINED | ONE, TREEBANK, "same"),
    ],
)
def test_an_experiment_is_known_by_model_weights_corpus_masking_and_segments(
    paper, facts, run, expected
):
    facts = {"random_weights": "none", "segments_given": "0, 1", **facts}
    version = Version("tiny.duckdb", 0, 0)
    store = Store(version, pd.Series(SAME | run), facts=facts, rows={}, content="")
    assert (published_table.apart(store, paper) or "same") == expected


def test_every_entry_has_its_experiment_and_its_claim():
    assert set(CLAIMS) == {entry.claim for entry in ENTRIES} - {""}
    assert {entry.experiment for entry in ENTRIES} <= set(EXPERIMENTS)

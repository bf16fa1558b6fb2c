"""Figures of the papers: all are listed and drawn, and badges follow from the numbers."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.delta_generator import DeltaGenerator

from analysis.published.numbers import EXPERIMENTS
from pages.export.collection import _KEY
from pages.export.item import bibliography_of, item_of
from pages.kit import presentation
from pages.kit.items import Control
from pages.kit.run import Run, within
from pages.kit.sections import section_of
from pages.papers import cards, outcomes
from pages.papers.claims import CLAIMS, _compared, _most
from pages.papers.entries import ENTRIES, Entry, entries_of
from pages.papers.outcomes import outcome_of
from pages.papers.recorded import recorded, run_section
from pages.papers.report import items_of
from pages.services.chosen import open_store
from pages.words.say import catalogue
from tests.docs.written import ROOT
from tests.pages.conftest import assert_sound, bodies
from tests.pages.test_collection import COLLECTION

pytestmark = pytest.mark.slow


def entry_of(paper: str, stem: str) -> Entry:
    return next(entry for entry in ENTRIES if (entry.paper, entry.stem) == (paper, stem))


@pytest.fixture
def judged(monkeypatch):
    """Outcome of an entry on the open file that differs so from the paper's experiment."""

    def outcome(paper: str, stem: str, apart: str | None = None) -> outcomes.Outcome:
        outcomes._outcome.clear()
        if apart is not None:
            monkeypatch.setattr(outcomes, "apart", lambda store, experiment: apart)
        with within(Run()):
            return outcome_of(open_store(), entry_of(paper, stem))

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


BETWEEN = """
    update stored.attention_norm_correlation set between_heads_spearman = {},
        between_heads_spearman_low = {}, between_heads_spearman_high = {}
"""


@pytest.mark.parametrize(
    ("numbers", "apart", "badge", "rule"),
    [
        ((-0.5, -0.6, -0.4), "model", "same", "interval"),
        ((0.5, 0.4, 0.6), "model", "other", "interval"),
        ((-0.1, -0.3, 0.1), "model", "unclear", "interval"),
        ((-0.12, "null", "null"), "model", "unclear", "numbers"),
        ((-0.5, -0.6, -0.4), "", "agrees", "interval"),
        ((0.5, 0.4, 0.6), "", "differs", "interval"),
    ],
)
def test_elsewhere_and_without_printed_values_only_the_direction_counts(
    numbers, apart, badge, rule, after, judged
):
    after(BETWEEN.format(*numbers))
    outcome = judged("kobayashi-2020", "figure_4", apart=apart)
    assert outcome.badge == badge
    assert outcome.evidence.rule == rule


@pytest.mark.parametrize(
    ("folder", "paper", "stem", "command"),
    [
        ("store", "sawaki-2025", "maps", "--model demo-digits"),
        ("images", "kobayashi-2024", "table_3", ""),
        ("plain", "kobayashi-2020", "table_3", "attention_norm_correlation"),
    ],
)
def test_what_a_file_lacks_is_told_with_the_command_that_adds_it(
    folder, paper, stem, command, request, monkeypatch, judged
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(request.getfixturevalue(f"{folder}_folder")))
    outcome = judged(paper, stem)
    assert outcome.badge == "absent"
    assert outcome.reason
    assert command in outcome.command


NO_SEP = "update stored.attention_norm_correlation set token_type = 'cls' where token_type = 'sep'"


def test_what_is_said_of_separators_is_not_judged_by_another_token(after, judged):
    after("delete from stored.attention_norm_correlation where token_type = 'cls'", NO_SEP)
    outcome = judged("kobayashi-2020", "figure_4", apart="model")
    assert outcome.item
    assert (outcome.badge, outcome.evidence) == ("nothing", None)


def test_a_head_of_another_model_does_not_stand_beside_the_one_of_the_same_number(
    store_folder, monkeypatch, judged
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(store_folder))
    entry = entry_of("kobayashi-2020", "table_1")
    bodies = {
        apart: cards._numbers(entry, judged(entry.paper, entry.stem, apart))
        for apart in ("model", "corpus")
    }
    assert any(row.published.head for row in judged(entry.paper, entry.stem, "model").rows)
    assert ["11 more" in bodies[apart] for apart in ("model", "corpus")] == [False, True]
    assert "all heads" in bodies["model"]


def rows(*values: tuple) -> pd.DataFrame:
    return pd.DataFrame(values, columns=["name", "value", "low", "high"])


@pytest.mark.parametrize(
    ("first", "second", "direction"),
    [
        ((0.9, 0.8, 0.95), (0.5, 0.4, 0.6), "same"),
        ((0.3, 0.2, 0.35), (0.5, 0.4, 0.6), "other"),
        ((0.5, 0.3, 0.7), (0.5, 0.4, 0.6), "unclear"),
        ((0.9, 0.8, 0.95), (0.5, None, None), "unclear"),
        ((0.9, 0.9, 0.9), (0.5, 0.5, 0.5), "same"),  # no estimates
    ],
)
def test_two_numbers_are_compared_by_their_intervals_or_not_at_all(first, second, direction):
    evidence = _compared(rows(("a", *first), ("b", *second)), "b", "above")
    assert evidence.direction == direction


@pytest.mark.parametrize(
    ("n", "reverse", "direction"),
    [
        (4, None, "same"),
        (3, None, "unclear"),
        (2, None, "other"),
        (2, 1, "unclear"),
        (2, 4, "other"),
    ],
)
def test_a_statement_on_heads_or_its_reverse_must_hold_in_more_than_half_of_them(
    n, reverse, direction
):
    evidence = _most("attenuated", n, 6, reverse)
    assert evidence
    assert evidence.direction == direction
    assert _most("norms_vary", 0, 0) is None


OF_SIZE = {"head", "he_direction"}
"""Choices that small models have fewer of."""
_ROW = re.compile(r"\| (\w+) (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


@pytest.fixture
def on_full_store(request, monkeypatch):
    """Choose the file that has what an entry shows; nothing may be drawn."""

    def refuse(*given, **named):
        pytest.fail("something is drawn")

    def choose(entry: Entry) -> None:
        name = "images" if entry.only == "shows_images" else "treebank"
        folder = request.getfixturevalue(f"{name}_folder")
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        monkeypatch.setattr(DeltaGenerator, "_enqueue", refuse)

    return choose


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper}-{entry.stem}")
def test_a_section_draws_the_figure_with_choices_that_it_has(entry, on_full_store):
    on_full_store(entry)
    with within(Run()):
        store = open_store()
        run = recorded(store, entry)
        items = []
        for page, view in filter(None, ((entry.page, entry.view), entry.printed_in)):
            section = section_of(store, page, view)
            items += run_section(store, replace(entry, page=page), section)[0]
    assert run.figure, run.reason
    item = item_of(run.figure.shown)
    assert item.chart or item.rows, "there is nothing to draw"
    data = (item.chart or {}).get("datasets", {})
    assert not re.search(r'": \["', json.dumps(data)), "is one line on a slide"
    assert bool(run.rows) == (entry.printed not in ("", "pairs"))
    controls = {item.key: item for item in items if isinstance(item, Control)}
    assert set(entry.choices) <= set(controls)
    for key in set(entry.choices) - OF_SIZE:
        options = set(map(str, controls[key].labels)) or {run.choices[key]}
        assert run.choices[key] in options & set(entry.choices[key])


def test_every_entry_has_its_experiment_its_claim_and_its_words():
    assert set(CLAIMS) == {entry.claim for entry in ENTRIES} - {""}
    assert {entry.experiment for entry in ENTRIES} <= set(EXPERIMENTS)
    needed = {f"papers.claims.{claim}" for claim in CLAIMS}
    needed |= {f"papers.not_{entry.only}" for entry in ENTRIES if entry.only}
    assert needed <= set(catalogue())


def test_the_documentation_maps_all_of_them_in_the_same_order():
    text = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    mapped = text.partition("## Every figure and table")[2]
    words = catalogue()
    listed = [
        (
            *entry.paper.split("-"),
            words[f"papers.label_{entry.kind}"]["en"].format(number=entry.number).lower(),
            words[f"page.{entry.page}.title"]["en"],
            words[f"{entry.page}.view_{entry.view}"]["en"],
        )
        for entry in ENTRIES
    ]
    rows = [(name.lower(), *others) for name, *others in _ROW.findall(mapped)]
    assert rows == listed


@pytest.fixture
def bare(monkeypatch):
    """The page without its pictures, which take most of the time."""
    for module in (outcomes, presentation):
        monkeypatch.setattr(module, "picture", lambda *given: b"")


def card_bodies(session) -> list[str]:
    bodies = [element.proto.body for element in session.get("html")]
    return [body for body in bodies if "paper-entry" in body and "<style>" not in body]


@pytest.mark.parametrize("paper", ["clark-2019", "sawaki-2025"])
def test_every_figure_of_a_paper_has_a_card_in_japanese(
    paper, monkeypatch, bare, opened, treebank_folder
):
    session = opened("papers", treebank_folder, lang="ja", pa_view=paper)
    assert_sound(session)
    shown = card_bodies(session)
    entries = entries_of(paper)
    assert len(shown) == len(entries)
    for entry, body in zip(entries, shown, strict=True):
        assert catalogue()[f"papers.{entry.word}"]["ja"] in body
    badges = [text.value for text in session.main.markdown if "-badge[" in text.value]
    assert len(badges) == len(entries)
    assert all("gray" in badge for badge in badges) == (paper == "sawaki-2025")


def test_a_paper_is_a_deck_of_its_own(monkeypatch, bare, opened, treebank_folder):
    session = opened("papers", treebank_folder, pa_view="kobayashi-2024")
    session.session_state[_KEY] = COLLECTION
    session.button(key="present_paper").click().run()
    for _ in range(3):
        session.button(key="slide-Right").click().run()
    assert_sound(session)
    assert session.session_state[_KEY] == COLLECTION
    assert "4 / 5" in [caption.value for caption in session.caption]
    assert "Table 1" in bodies(session).partition('class="more"')[2]
    session.button(key="slide-Escape").click().run()
    assert card_bodies(session)


def test_a_report_of_a_paper_cites_it(monkeypatch, bare, treebank_folder):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(treebank_folder))
    with within(Run()):
        store = open_store()
        entries = entries_of("yamamoto-2023")
        items = items_of({entry: outcome_of(store, entry) for entry in entries})
    assert len(items) == 9
    assert "{yamamoto-2023," in bibliography_of(items)

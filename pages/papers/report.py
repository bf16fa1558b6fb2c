"""All figures of a paper as slides, and as a report in LaTeX and as a web page."""

from collections.abc import Mapping
from dataclasses import replace

from pages.export.item import Item
from pages.papers.cards import badge_of, label_of, title_of
from pages.papers.entries import Entry, word_of
from pages.papers.outcomes import Outcome
from pages.services.open_file import Store
from pages.words.say import say


def items_of(outcomes: Mapping[Entry, Outcome]) -> list[Item]:
    """Figures in the order of the paper, each once, with what is printed in their notes."""
    items: dict[object, Item] = {}
    for entry, outcome in outcomes.items():
        if outcome.item:
            key = outcome.item.address, outcome.item.question
            items.setdefault(key, replace(outcome.item, note=_note(entry, outcome)))
    return list(items.values())


def title_of_report(store: Store, paper: str) -> str:
    """Title of a report on a paper."""
    name = say(f"papers.name.{word_of(paper)}")
    return say("papers.report_title", paper=name, model=store.model_name)


def _note(entry: Entry, outcome: Outcome) -> str:
    """Place in the paper, what it states, and what the file has of it."""
    label = say(
        "papers.label", paper=say(f"papers.cited.{word_of(entry.paper)}"), label=label_of(entry)
    )
    stands_in = [
        say("papers.stands_in", chosen=outcome.choices[key], wanted=wanted)
        for key, (wanted, *_) in entry.choices.items()
        if outcome.choices[key] != wanted
    ]
    words = {"label": label, "title": title_of(entry)}
    if entry.claim and outcome.evidence:
        words |= {"claim": say(f"papers.claims.{entry.claim}"), "text": outcome.evidence.text}
        said = say("papers.note", badge=badge_of(outcome), **words)
    else:
        said = say("papers.note_alone", **words)
    return " ".join([said, *stands_in])

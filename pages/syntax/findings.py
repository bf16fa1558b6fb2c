"""Findings for the overview on syntax in attention heads."""

from collections.abc import Callable, Iterator

from analysis.statistics.probing import dependency_best, parser_accuracy
from pages.ui.finding import Finding, rows_of
from pages.ui.head.facts import CHOSEN_ON, LEAST, MERGING, SUMS, chosen_head
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import percent, points
from pages.ui.words.say import plain, say

_PARSERS = (
    "attention_words",
    "attention",
    "distances_words",
    "right_branching",
    "attention_words_shuffled",
)
_WITHOUT_HEADS = "distances_words"


def _syntax() -> Iterator[Finding]:
    """Relation whose head, chosen on other sentences, exceeds the best fixed offset most."""
    frame = ask(dependency_best.best, merging=MERGING, chosen_on=CHOSEN_ON)
    frame = frame[(frame["n"] >= LEAST) & ~frame["relation"].isin(SUMS)]
    if frame.empty:
        return
    row = frame.loc[frame["difference"].idxmax()]
    name, ends = say("finding.beyond_offset"), ["difference", "difference_low", "difference_high"]
    yield Finding(
        say("finding.label_syntax", relation=plain(row["relation"])),
        say("finding.points", points=points(row["difference"], digits=1)),
        say(
            "finding.syntax",
            **chosen_head(row),
            offset=percent(row["offset_accuracy"]),
            clear=int((frame["difference_low"] > 0).sum()),
            of=len(frame),
            least=LEAST,
        ),
        "relations",
        rows_of([(name, *row[ends])]),
        baseline=0.0,
        format="+.0%",
        choices={"sy_chosen_on": CHOSEN_ON},
    )


def _parsers() -> Iterator[Finding]:
    """Compare the accuracy of parsers on all heads with parsers that need no heads.

    Values are means over seeds.
    """
    splits = ask(parser_accuracy.accuracies).pivot(index="seed", columns="method", values="uas")
    if not set(_PARSERS) <= set(splits):
        return
    means = splits.mean()
    shares, ours = {name: percent(float(means[name])) for name in _PARSERS}, _PARSERS[0]
    yield Finding(
        say("finding.label_parsers"),
        shares["attention_words"],
        say("finding.parsers", **shares),
        "parsers",
        rows_of((say(f"syntax.parsers.method_{parser}"), means[parser]) for parser in _PARSERS),
        known_by=say(
            "finding.parsers_known_by",
            low=percent(splits[ours].min()),
            high=percent(splits[ours].max()),
            n=int((splits[ours] > splits[_WITHOUT_HEADS]).sum()),
            of=len(splits),
            baseline=say(f"syntax.parsers.method_{_WITHOUT_HEADS}"),
        ),
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "dependency_best": _syntax,
    "parser_accuracy": _parsers,
}

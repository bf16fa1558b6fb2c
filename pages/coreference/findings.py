"""Findings for the overview on coreference."""

from collections.abc import Callable, Iterator

from analysis.statistics.probing import coreference_best
from pages.ui.finding import Finding, rows_of
from pages.ui.head.facts import CHOSEN_ON, MERGING, chosen_head
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import percent
from pages.ui.words.say import say


def _coreference() -> Iterator[Finding]:
    """Accuracy of the best head on texts it was not chosen on, compared with the rules there."""
    frame = ask(coreference_best.best, merging=MERGING, chosen_on=CHOSEN_ON)
    frame = frame[frame["mention_type"] == "all"]
    if frame.empty:
        return
    names = [say(f"coreference.method_{rule}") for rule in frame["baseline"]]
    baselines = list(zip(names, frame["baseline_accuracy"], strict=True))
    rules = [f"{name} {percent(share)}" for name, share in baselines]
    row = frame.iloc[0]
    of_head = (say("finding.of_head"), row["accuracy"], row["low"], row["high"])
    yield Finding(
        say("finding.label_coreference"),
        percent(row["accuracy"]),
        say("finding.coreference", **chosen_head(row), rules=say("list.comma").join(rules)),
        "rules",
        rows_of([of_head, *baselines]),
        baseline=names[frame["baseline_accuracy"].argmax()],
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {"coreference_best": _coreference}

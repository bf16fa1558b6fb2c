"""What the paper printed of antecedent selection, beside the file's own numbers."""

import pandas as pd

from analysis.published.heads import PublishedHead, numbers
from pages.coreference.choices import method_name, type_name
from pages.ui.published import Row, beside
from pages.ui.words.say import say


def numbers_beside(found: pd.DataFrame, layer: int, head: int) -> None:
    """Table 2 of the paper.

    Args:
        found: mention_type, method, accuracy of the file's rules and of one head.
    """
    beside(
        *rows(found, layer, head),
        key="co_published",
        title=say("coreference.published.title"),
    )


def rows(found: pd.DataFrame, layer: int, head: int) -> list[Row]:
    """The printed numbers; that of the paper's head has one of ours beside it only where it is the
    same head."""
    ours = found.set_index(["mention_type", "method"])["accuracy"]
    return [
        Row(_of(each), each, _value(ours, each, (layer, head)))
        for each in numbers("coreference_accuracy")
    ]


def _value(ours: pd.Series, each: PublishedHead, chosen: tuple[int, int]) -> float | None:
    if each.method == "head" and (each.layer, each.head) != chosen:
        return None
    return ours.get((each.mention_type, each.method))


def _of(each: PublishedHead) -> str:
    method = method_name(each.method)
    if each.method == "head":
        method = say("published.head", layer=each.layer, head=each.head)
    return say("published.statistic", of=method, statistic=type_name(each.mention_type))

"""What the paper printed of antecedent selection, beside the file's own numbers."""

import pandas as pd

from analysis.published.heads import PublishedHead, numbers
from pages.coreference.names import method_name, type_name
from pages.ui.head.choice import Head
from pages.ui.published import Row
from pages.ui.words.say import say


def antecedents(accuracies: pd.DataFrame, head: Head) -> list[Row]:
    """Table 2 of the paper; its head has one of ours beside it only where it is the same.

    Args:
        accuracies: mention_type, method, accuracy of the file's rules and of one head.
    """
    ours = accuracies.set_index(["mention_type", "method"])["accuracy"]
    rows = []
    for number in numbers("coreference_accuracy"):
        other = number.method == "head" and (number.layer, number.head) != head
        value = None if other else ours.get((number.mention_type, number.method))
        rows.append(Row(_of(number), number, value))
    return rows


def _of(number: PublishedHead) -> str:
    method = method_name(number.method)
    if number.method == "head":
        method = say("published.head", layer=number.layer, head=number.head)
    return say("published.statistic", of=method, statistic=type_name(number.mention_type))

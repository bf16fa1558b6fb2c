"""What the paper printed of antecedent selection, beside the file's own numbers."""

import pandas as pd

from analysis.published.heads import PublishedHead, numbers
from pages.coreference.names import method_name, type_name
from pages.ui.head.choice import Head
from pages.ui.published import Row
from pages.ui.words.say import say


def antecedents(found: pd.DataFrame, head: Head) -> list[Row]:
    """Table 2 of the paper; its head has one of ours beside it only where it is the same.

    Args:
        found: mention_type, method, accuracy of the file's rules and of one head.
    """
    ours = found.set_index(["mention_type", "method"])["accuracy"]
    rows = []
    for each in numbers("coreference_accuracy"):
        other = each.method == "head" and (each.layer, each.head) != head
        value = None if other else ours.get((each.mention_type, each.method))
        rows.append(Row(_of(each), each, value))
    return rows


def _of(each: PublishedHead) -> str:
    method = method_name(each.method)
    if each.method == "head":
        method = say("published.head", layer=each.layer, head=each.head)
    return say("published.statistic", of=method, statistic=type_name(each.mention_type))

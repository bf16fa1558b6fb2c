"""Entropy of attention by layer, for all tokens and for [CLS] alone (figure 4)."""

import pandas as pd

from analysis.published.heads import ENTROPY_CLS
from analysis.statistics.heads import head_pattern
from analysis.statistics.norms.weighing import WEIGHT
from pages.habits.layer_chart import draw_layers
from pages.ui.head.habits import of_habits
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.view import View
from pages.ui.words.say import say

_UNIFORM = "uniform"
_ENTROPIES = ("entropy", "entropy_cls")
_BROAD = 0.9  # of the entropy of a head that attends to everything alike


@section("breadth", head_pattern.TABLE, also=(head_pattern.PER_SEQUENCE,))
def breadth(view: View) -> None:
    weighing = view.pick_weighing()
    means = of_habits(view.ask(head_pattern.by_layer, weighing=weighing), (*_ENTROPIES, _UNIFORM))
    heads = of_habits(view.ask(head_pattern.heads, weighing=weighing), _ENTROPIES)
    view.finding(_finding(view, means, heads, weighing))
    draw_layers(
        view,
        "question",
        means,
        heads,
        y_title=view.say(f"entropy_axis_{weighing}"),
        format=".2f",
        state=weighing,
        dashed=_UNIFORM,
        weighing=weighing,
    )
    if weighing == WEIGHT:
        show_published(view, "entropy", entropy_cls(means))


def entropy_cls(means: pd.DataFrame) -> Row:
    """Row with the entropy of [CLS] in the last layer and the value that the paper prints."""
    entropy = means[(means["habit"] == ENTROPY_CLS.habit) & (means["layer"] == ENTROPY_CLS.layer)]
    name = say("habits.published.entropy_cls", layer=ENTROPY_CLS.layer)
    values = entropy.reindex(columns=["mean", "low", "high"]).astype(float)
    return Row(name, ENTROPY_CLS, *(values.iloc[0] if len(values) else (None,)))


def _finding(view: View, means: pd.DataFrame, heads: pd.DataFrame, weighing: str) -> str:
    """Name the layers of highest and lowest entropy; count the heads near uniform attention."""
    by_layer = means[means["habit"] == "entropy"].set_index("layer")["mean"]
    uniform = float(means.loc[means["habit"] == _UNIFORM, "mean"].mean())
    of_heads = heads.loc[heads["habit"] == "entropy", "mean"]
    return view.say(
        f"finding_{weighing}",
        broad=by_layer.idxmax(),
        high=f"{by_layer.max():.2f}",
        narrow=by_layer.idxmin(),
        low=f"{by_layer.min():.2f}",
        uniform=f"{uniform:.2f}",
        n=int((of_heads > _BROAD * uniform).sum()),
        of=len(of_heads),
    )

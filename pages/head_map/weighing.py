"""Whether the same heads are alike by weights and by norms."""

import altair as alt
import pandas as pd

from analysis.tables.heads import head_distance, head_distance_agreement, layer_cohesion
from analysis.tables.norms.weighing import WEIGHINGS
from pages.head_map.apart import LEVEL, chance, most_unlike, nats
from pages.head_map.layers import with_all_layers
from pages.ui.charts.head_map import head_map
from pages.ui.head.bar import clicked_head
from pages.ui.page import section
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent, signed


@section(
    "weighing",
    head_distance_agreement.TABLE,
    also=(head_distance.TABLE, layer_cohesion.TABLE),
)
def weighing(view: View) -> None:
    frame = ask(head_distance_agreement.agreement)
    heads = frame.dropna(subset="layer").astype({"layer": "int64", "head": "int64"})
    view.finding(_finding(view, frame[frame["layer"].isna()].iloc[0]))
    scale = alt.Scale(scheme="viridis", domain=[min(0.0, heads["spearman"].min()), 1.0])
    head = clicked_head(view, "agreement", default=most_unlike())
    chart = head_map(
        heads,
        "spearman",
        title("spearman"),
        scale,
        format=".2f",
        tooltip=(*WEIGHINGS, "same_nearest"),
        marked=head,
    )
    view.figure("agreement", heads, chart, state=head, click=True)
    by_weight, by_norm = (
        ask(layer_cohesion.cohesion, weighing=method)[["layer", "difference", "p_value"]]
        for method in WEIGHINGS
    )
    suffixes = [f"_{method}" for method in WEIGHINGS]
    cohesion = with_all_layers(by_weight.merge(by_norm, on="layer", suffixes=suffixes), view)
    if len(cohesion):
        view.table("table", cohesion, cohesion.columns.tolist(), options={"height": "content"})


def _finding(view: View, row: pd.Series) -> str:
    """How far both orders of all pairs agree, and whether norms bring heads nearer together."""
    if pd.isna(row["spearman"]):
        return view.say("none")
    return view.say(
        f"finding_{'clear' if row['p_value'] < LEVEL else 'unclear'}",
        rho=signed(row["spearman"]),
        p=chance(row["p_value"]),
        n=count(row["n_permutations"]),
        same=percent(row["same_nearest"]),
        **row[list(WEIGHINGS)].map(nats),
    )

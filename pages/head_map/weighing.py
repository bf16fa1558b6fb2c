"""Agreement of the distances between heads by weights and by norms."""

import altair as alt
import pandas as pd

from analysis.statistics.heads import head_arrangement, head_distance
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.parts import OF_HEADS
from pages.head_map.apart import LEVEL, chance, most_unlike, nats
from pages.head_map.layers import with_all_layers
from pages.ui.charts.head_map import head_map
from pages.ui.head.bar import pick_head
from pages.ui.head.choice import to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.levels import level_names, of_level
from pages.ui.words.numbers import change, count, percent, signed


@section(
    "weighing",
    head_distance.AGREEMENT,
    head_distance.TABLE,
    head_arrangement.COHESION,
)
def weighing(view: View) -> None:
    level = view.pick("level", level_names(OF_HEADS))
    frame = view.ask(head_distance.agreement)
    heads = of_level(frame.dropna(subset="layer"), level)
    heads = heads.astype({"layer": "int64", "head": "int64"})
    view.finding(_finding(view, frame[frame["layer"].isna()].iloc[0]))
    scale = alt.Scale(scheme="viridis", domain=[min(0.0, heads["spearman"].fillna(0.0).min()), 1.0])
    head = pick_head(view, default=most_unlike(view))
    chart = head_map(
        heads,
        "spearman",
        title("spearman"),
        scale,
        format=".2f",
        tooltip=(*WEIGHINGS, "same_nearest"),
        marked=head,
    )
    caption = f"{view.say(f'caption_{level}')} {view.say('agreement_caption')}"
    view.figure("agreement", heads, chart, state=(level, *head), click=to_head, caption=caption)
    by_weight, by_norm = (
        view.ask(head_arrangement.cohesion, weighing=method)[["layer", "difference", "p_value"]]
        for method in WEIGHINGS
    )
    suffixes = [f"_{method}" for method in WEIGHINGS]
    cohesion = with_all_layers(by_weight.merge(by_norm, on="layer", suffixes=suffixes), view)
    if len(cohesion):
        view.table("table", cohesion, cohesion.columns.tolist(), options={"height": "content"})


def _finding(view: View, row: pd.Series) -> str:
    """Report the rank correlation of both sets of distances, and the change by norms.

    The test is within pairs of layers where these have several pairs of heads.
    """
    if pd.isna(row["spearman"]):
        return view.say("none")
    within, between = OF_HEADS
    is_split = pd.notna(row["p_within"])
    level, p_value = ("within_", row["p_within"]) if is_split else ("", row["p_value"])
    return view.say(
        f"finding_{level}{'clear' if p_value < LEVEL else 'unclear'}",
        rho=signed(row["spearman"]),
        within=signed(row[f"{within}_spearman"]),
        p_within=chance(p_value),
        adds_within=change(row[within]),
        adds_between=change(row[between]),
        p=chance(row["p_value"]),
        n=count(row["n_permutations"]),
        same=percent(row["same_nearest"]),
        **row[list(WEIGHINGS)].map(nats),
    )

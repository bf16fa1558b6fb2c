"""Every head at once: weight, norm and their product for one token type (figure 4)."""

import pandas as pd

from analysis.statistics.norms import token_type_mixing
from pages.attention_norms.opened_head import CARD_TABLES, opened_below
from pages.attention_norms.transforms import by_gates
from pages.ui.charts.head_map import quantity_maps
from pages.ui.head.choice import head_name, to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import ABSENT, percent
from pages.ui.words.quantities import ordered_types


@section("heads", token_type_mixing.TABLE, also=CARD_TABLES, lacking=by_gates)
def heads(view: View) -> None:
    types = ordered_types(view.ask(token_type_mixing.by_layer, head=None)["token_type"])
    token_type = view.pick("type", types, of="token_type")
    scale = view.pick("scale", ["all", "type"])
    of_types = {kind: view.ask(token_type_mixing.by_head, token_type=kind) for kind in types}
    frame = of_types[token_type]
    compared = pd.concat(of_types.values()) if scale == "all" else frame
    tops = compared.groupby("quantity")["mean"].max().to_dict()
    name = token_type_name(token_type)
    view.finding(_finding(view, frame, name))
    with opened_below(view) as marked:
        maps = quantity_maps(frame, tops, marked=marked)
        view.figure("maps", frame, maps, state=marked, click=to_head, type=name)


def _finding(view: View, frame: pd.DataFrame, name: str) -> str:
    """Name the heads with most weight and with most norm from a type, with the median head."""
    parts = [frame[frame["quantity"] == quantity] for quantity in ("attention", "weighted_norm")]
    if any(part["mean"].max() <= 0 or part.empty for part in parts):
        return ""
    weight, arriving = (part.nlargest(1, "mean").iloc[0] for part in parts)
    medians = [part["mean"].median() for part in parts]
    return view.say(
        "finding",
        type=name,
        most=head_name(int(weight["layer"]), int(weight["head"])),
        share=row_with_interval(weight, written=percent),
        median=percent(medians[0]),
        arrives=head_name(int(arriving["layer"]), int(arriving["head"])),
        times=f"{arriving['mean'] / medians[1]:.1f}" if medians[1] else ABSENT,
    )

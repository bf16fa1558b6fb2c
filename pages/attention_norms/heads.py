"""Every head at once: weight, norm and their product for one token type (figure 4)."""

import pandas as pd

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.opened_head import CARD_TABLES, opened_below
from pages.ui.charts.head_map import quantity_maps
from pages.ui.page import section
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.names import token_type_name
from pages.ui.words.quantities import ordered_types


@section("heads", token_type_mixing.TABLE, also=CARD_TABLES)
def heads(view: View) -> None:
    types = ordered_types(ask(token_type_mixing.by_layer, head=None)["token_type"])
    token_type = view.pick("type", types, of="token_type")
    scale = view.pick("scale", ["all", "type"])
    of_types = {each: ask(token_type_mixing.by_head, token_type=each) for each in types}
    frame = of_types[token_type]
    compared = pd.concat(of_types.values()) if scale == "all" else frame
    tops = compared.groupby("quantity")["mean"].max().to_dict()
    with opened_below(view, "maps") as marked:
        maps, name = quantity_maps(frame, tops, marked=marked), token_type_name(token_type)
        view.figure("maps", frame, maps, state=marked, click=True, type=name)

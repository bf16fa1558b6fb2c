"""Choice of a map: a scope, a head or the mean over heads; and its shares from file or model."""

from dataclasses import dataclass

import numpy as np

from analysis.scopes import LayerOrder
from analysis.statistics.positions import exemplar_attention
from pages.sequences.subject import Subject
from pages.ui.head.choice import head_name, short_name
from pages.ui.head.picker import every_head, pick_head
from pages.ui.live.readings import layer_maps
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.names import scope_name

HEAD_WEIGHT, HEAD_NORM, MEAN_NORM = "head_weight", "head_norm", "mean_norm"
OF_HEADS = (HEAD_WEIGHT, HEAD_NORM)
NOTHING = "none"


@dataclass(frozen=True)
class MapOf:
    """Map of one layer: of a scope, of one head, or of the mean over heads."""

    quantity: str
    layer: int
    head: int | None = None

    @property
    def key(self) -> str:
        return f"{self.quantity}_{self.layer}_{self.head or ''}"

    def in_layer(self, order: LayerOrder, layer: int) -> "MapOf":
        """Return the same map of another layer; for a head, the mean over that layer's heads."""
        means = {HEAD_WEIGHT: order.scopes[0], HEAD_NORM: MEAN_NORM}
        return MapOf(means.get(self.quantity, self.quantity), layer)


def pick_map(view: View) -> MapOf:
    """Let the reader pick the map to draw."""
    quantity = view.pick(
        "quantity", _quantities(view), default=view.store.layer_order.whole, kind="select"
    )
    if quantity in OF_HEADS:
        default = every_head(view.store)[0]
        layer, head = pick_head(view, default=default)
        return MapOf(quantity, layer, head)
    return MapOf(quantity, view.pick("layer", view.store.layers, kind="select"))


def pick_minus(view: View) -> MapOf | None:
    """Let the reader pick a map to subtract; None for no map."""
    names = {NOTHING: view.say(f"quantity_{NOTHING}"), **_quantities(view)}
    quantity = view.pick("minus", names, kind="select")
    if quantity == NOTHING:
        return None
    if quantity not in OF_HEADS:
        return MapOf(
            quantity, view.pick("minus_layer", view.store.layers, of="layer", kind="select")
        )
    heads = {f"{layer}-{head}": short_name(layer, head) for layer, head in every_head(view.store)}
    layer, head = view.pick("minus_head", heads, kind="select").split("-")
    return MapOf(quantity, int(layer), int(head))


def _quantities(view: View) -> dict[str, str]:
    """Display names of the scopes and of the maps of heads."""
    of_heads = {name: view.say(f"quantity_{name}") for name in (*OF_HEADS, MEAN_NORM)}
    return {scope: scope_name(scope) for scope in view.store.layer_order.scopes} | of_heads


def map_name(view: View, of: MapOf) -> str:
    """Display name of a map."""
    if of.head is not None:
        return view.say(f"of_{of.quantity}", head=head_name(of.layer, of.head))
    return view.say("of_layer", name=_quantities(view)[of.quantity], layer=of.layer)


def shares_of(inquiry: Inquiry, subject: Subject, of: MapOf) -> np.ndarray | None:
    """Share of every key in each query, from the file or from the model.

    The file's shares are used if they cover the whole sequence; then those of a run of the model;
    then the file's shares of the first tokens.

    Returns:
        queries by keys; None if neither source has them.
    """
    kept = _kept(inquiry, subject, of)
    if (kept is not None and len(kept) == len(subject)) or subject.reading is None:
        return kept
    maps = layer_maps(inquiry.store, subject.reading, layer=of.layer)
    if of.quantity == MEAN_NORM:
        return maps.norms.mean(axis=0)
    if of.head is not None:
        return (maps.weights if of.quantity == HEAD_WEIGHT else maps.norms)[of.head - 1]
    return maps.scopes[inquiry.store.layer_order.scopes.index(of.quantity)]


def _kept(inquiry: Inquiry, subject: Subject, of: MapOf) -> np.ndarray | None:
    """Stored weights of the first tokens; None for most sequences."""
    is_mean = of.quantity == inquiry.store.layer_order.scopes[0]
    if subject.seq is None or not (is_mean or of.quantity == HEAD_WEIGHT):
        return None
    heads = range(1, int(inquiry.store.run["n_heads"]) + 1) if is_mean else (of.head,)
    place = {"layer": of.layer, "seq": subject.seq}
    frames = [inquiry.ask(exemplar_attention.of_head, head=head, **place) for head in heads]
    if any(frame.empty for frame in frames):
        return None
    n = int(frames[0]["query_pos"].max()) + 1
    return np.mean([frame["attention"].to_numpy().reshape(n, n) for frame in frames], axis=0)

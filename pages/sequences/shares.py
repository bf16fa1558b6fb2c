"""Which map is shown: a scope, a head or the mean of heads; and where its numbers come from."""

from dataclasses import dataclass

import numpy as np

from analysis.tables.positions import exemplar_attention
from pages.sequences.subject import Subject
from pages.ui.head.bar import every_head, pick_head
from pages.ui.head.choice import head_name, short_name
from pages.ui.live.readings import layer_maps
from pages.ui.store.chosen import ask, layer_order, layers, open_store
from pages.ui.view import View
from pages.ui.words.names import scope_name

HEAD_WEIGHT, HEAD_NORM, MEAN_NORM = "head_weight", "head_norm", "mean_norm"
OF_HEADS = (HEAD_WEIGHT, HEAD_NORM)
NOTHING = "none"


@dataclass(frozen=True)
class MapOf:
    """A map of one layer: of a scope of it, of one of its heads, or of the mean of its heads."""

    quantity: str
    layer: int
    head: int | None = None

    @property
    def key(self) -> str:
        return f"{self.quantity}_{self.layer}_{self.head or ''}"

    def in_layer(self, layer: int) -> "MapOf":
        """The same of another layer; of a head, the mean of that layer's heads."""
        means = {HEAD_WEIGHT: layer_order().scopes[0], HEAD_NORM: MEAN_NORM}
        return MapOf(means.get(self.quantity, self.quantity), layer)


def pick_map(view: View) -> MapOf:
    """The map that is shown."""
    quantity = view.pick("quantity", _quantities(view), default=layer_order().whole, kind="select")
    if quantity in OF_HEADS:
        layer, head = pick_head(view.say("head"), default=(1, 1), help=view.say("head_help"))
        return MapOf(quantity, layer, head)
    return MapOf(quantity, view.pick("layer", layers(), kind="select"))


def pick_minus(view: View) -> MapOf | None:
    """The map that is taken away from it, if one is."""
    names = {NOTHING: view.say(f"quantity_{NOTHING}"), **_quantities(view)}
    quantity = view.pick("minus", names, kind="select")
    if quantity == NOTHING:
        return None
    if quantity not in OF_HEADS:
        return MapOf(quantity, view.pick("minus_layer", layers(), of="layer", kind="select"))
    heads = {f"{layer}-{head}": short_name(layer, head) for layer, head in every_head()}
    layer, head = view.pick("minus_head", heads, kind="select").split("-")
    return MapOf(quantity, int(layer), int(head))


def _quantities(view: View) -> dict[str, str]:
    """What the scopes, and the maps of heads, are called."""
    of_heads = {name: view.say(f"quantity_{name}") for name in (*OF_HEADS, MEAN_NORM)}
    return {scope: scope_name(scope) for scope in layer_order().scopes} | of_heads


def map_name(view: View, of: MapOf) -> str:
    """What a map is called."""
    if of.head is not None:
        return view.say(f"of_{of.quantity}", head=head_name(of.layer, of.head))
    return view.say("of_layer", name=_quantities(view)[of.quantity], layer=of.layer)


def shares_of(subject: Subject, of: MapOf) -> np.ndarray | None:
    """Shares of every key in what each query takes: those that the file keeps of the whole
    sequence, else those of the model, else what the file keeps of its first tokens.

    Returns:
        queries by keys; None where they cannot be had.
    """
    kept = _kept(subject, of)
    if (kept is not None and len(kept) == len(subject)) or subject.reading is None:
        return kept
    maps = layer_maps(subject.reading, layer=of.layer)
    if of.quantity == MEAN_NORM:
        return maps.norms.mean(axis=0)
    if of.head is not None:
        return (maps.weights if of.quantity == HEAD_WEIGHT else maps.norms)[of.head - 1]
    return maps.scopes[layer_order().scopes.index(of.quantity)]


def _kept(subject: Subject, of: MapOf) -> np.ndarray | None:
    """Weights of the first tokens, of the few sequences that the file keeps them of."""
    is_mean = of.quantity == layer_order().scopes[0]
    if subject.seq is None or not (is_mean or of.quantity == HEAD_WEIGHT):
        return None
    heads = range(1, int(open_store().run["n_heads"]) + 1) if is_mean else (of.head,)
    place = {"layer": of.layer, "seq": subject.seq}
    frames = [ask(exemplar_attention.of_head, head=head, **place) for head in heads]
    if any(frame.empty for frame in frames):
        return None
    n = int(frames[0]["query_pos"].max()) + 1
    return np.mean([frame["attention"].to_numpy().reshape(n, n) for frame in frames], axis=0)

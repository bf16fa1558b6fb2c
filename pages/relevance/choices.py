"""What is looked at: an image or a text, a rule, a start layer, a head; and the scale of maps."""

from collections.abc import Iterable

from analysis.tables import image
from analysis.tables.relevance import relevance_map
from pages.relevance.maps.source import MEAN, StoredMaps
from pages.relevance.rules import rule_name
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.words.place import say_here

_USUAL_RULE = "iv"
_BEGINNING = 90  # letters of a text that stand in the picker


def pick_image(view: View) -> StoredMaps | None:
    """One of the images whose maps are kept; None, and the reader is told so, if none is."""
    kept = ask(image.images).query("kept")
    if kept.empty:
        return view.nothing("none_kept")
    names = kept.set_index("seq")["name"]
    labels = {seq: view.say("image_label", seq=seq, name=name) for seq, name in names.items()}
    return StoredMaps(view.pick("image", labels, kind="select"))


def pick_text(view: View) -> int:
    """One of the texts whose maps are kept."""
    texts = ask(relevance_map.kept).set_index("seq")["text"].map(_beginning)
    labels = {seq: view.say("text_label", seq=seq, text=text) for seq, text in texts.items()}
    return view.pick("seq", labels, kind="select", n=len(labels))


def pick_rule(view: View, rules: Iterable[str]) -> str:
    """One of the rules that there are maps of."""
    present = list(rules)
    usual = _USUAL_RULE if _USUAL_RULE in present else None
    return view.pick("rule", present, default=usual, format=rule_name, kind="select")


def pick_layer(view: View, layers: Iterable[int | str]) -> int:
    """The layer at whose output relevance starts: the last one unless told."""
    numbers = [int(layer) for layer in layers]
    return view.pick("layer", numbers, default=numbers[-1], format=layer_name, kind="select")


def pick_head(view: View, heads: Iterable[str]) -> str:
    """`MEAN` or the number of a head."""
    return view.pick("head", head_names(heads), kind="select")


def pick_own_scale(view: View) -> bool:
    """Whether every map has a scale of its own."""
    return view.pick("scale", ("shared", "own")) == "own"


def layer_name(layer: int | str) -> str:
    """What a start layer is called."""
    return say_here("layer_name", layer=layer)


def head_names(heads: Iterable[str]) -> dict[str, str]:
    """What heads and their mean are called; a rule's only map is the mean of none."""
    present = list(heads)
    mean = say_here("together" if len(present) == 1 else "mean")
    return {head: mean if head == MEAN else say_here("head_name", head=head) for head in present}


def _beginning(text: str) -> str:
    return text if len(text) <= _BEGINNING else f"{text[:_BEGINNING]}…"

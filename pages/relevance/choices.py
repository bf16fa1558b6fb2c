"""Pickers for input, rule, start layer, head and scale of relevance maps."""

from collections.abc import Iterable

from analysis.statistics import image
from analysis.statistics.relevance import relevance_map
from pages.relevance.maps.source import MEAN, StoredMaps
from pages.relevance.rules import rule_name
from pages.ui.view import View
from pages.ui.words.scope import say_here

_USUAL_RULE = "iv"
_BEGINNING = 90  # letters of a text that stand in the picker


def pick_image(view: View) -> StoredMaps | None:
    """Let the reader pick an image with stored maps; None, with a notice, if there is none."""
    kept = view.ask(image.images).query("kept")
    if kept.empty:
        return view.nothing("none_kept")
    names = kept.set_index("seq")["name"]
    labels = {seq: view.say("image_label", seq=seq, name=name) for seq, name in names.items()}
    return StoredMaps(view, view.pick("image", labels, kind="select"))


def pick_text(view: View) -> int:
    """Let the reader pick a text with stored maps."""
    texts = view.ask(relevance_map.kept).set_index("seq")["text"].map(_beginning)
    labels = {seq: view.say("text_label", seq=seq, text=text) for seq, text in texts.items()}
    return view.pick("seq", labels, kind="select", n=len(labels))


def pick_rule(view: View, rules: Iterable[str]) -> str:
    """Let the reader pick one of the rules that have maps."""
    present = list(rules)
    usual = _USUAL_RULE if _USUAL_RULE in present else None
    return view.pick("rule", present, default=usual, format=rule_name, kind="select")


def pick_layer(view: View, layers: Iterable[int | str]) -> int:
    """Let the reader pick the layer whose output relevance starts from; by default the last."""
    numbers = [int(layer) for layer in layers]
    return view.pick("layer", numbers, default=numbers[-1], format=layer_name, kind="select")


def pick_head(view: View, heads: Iterable[str]) -> str:
    """Let the reader pick a head; returns `MEAN` or a number."""
    return view.pick("head", head_names(heads), kind="select")


def pick_own_scale(view: View) -> bool:
    """Let the reader pick between a shared scale and one scale per map."""
    return view.pick("scale", ("shared", "own")) == "own"


def layer_name(layer: int | str) -> str:
    """Display name of a start layer."""
    return say_here("layer_name", layer=layer)


def head_names(heads: Iterable[str]) -> dict[str, str]:
    """Display names of heads and their mean; a rule with a single map has no mean."""
    present = list(heads)
    mean = say_here("together" if len(present) == 1 else "mean")
    return {head: mean if head == MEAN else say_here("head_name", head=head) for head in present}


def _beginning(text: str) -> str:
    return text if len(text) <= _BEGINNING else f"{text[:_BEGINNING]}…"

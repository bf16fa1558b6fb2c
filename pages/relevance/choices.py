"""What is looked at: an image, a rule, a start layer, a head; and how maps are drawn."""

from collections.abc import Mapping, Sequence

from pages.relevance.image_map import PANEL, Underlay
from pages.relevance.rules import rule_name
from pages.ui.choices.clicks import fresh_click
from pages.ui.choices.pick import choose, pick
from pages.ui.words.say import say

MEAN = "mean"
"""In the address, in place of a head's number: the mean of the heads' relevances."""
IMAGE, RULE, LAYER, HEAD = "re_image", "re_rule", "re_layer", "re_head"
_USUAL_RULE = "iv"


def pick_image(names: Mapping[int, str]) -> int:
    """One of the images whose maps are kept; `names` by sequence number."""
    return pick(
        IMAGE,
        say("relevance.image"),
        list(names),
        default=next(iter(names)),
        format=lambda seq: say("relevance.image_label", seq=seq, name=names[seq]),
        kind="select",
        help=say("relevance.image_help"),
    )


def pick_rule(rules: Sequence[str]) -> str:
    """One of the rules that there are maps of."""
    default = _USUAL_RULE if _USUAL_RULE in rules else rules[0]
    return pick(
        RULE,
        say("relevance.rule"),
        rules,
        default=default,
        format=rule_name,
        kind="select",
        help=say("relevance.rule_help"),
    )


def pick_layer(layers: Sequence[int]) -> int:
    """The layer behind which relevance starts: the last one unless told."""
    return pick(
        LAYER,
        say("relevance.layer"),
        layers,
        default=layers[-1],
        format=lambda layer: say("relevance.layer_name", layer=layer),
        kind="select",
        help=say("relevance.layer_help"),
    )


def pick_head(heads: Sequence[str]) -> str:
    """`MEAN` or the number of a head."""
    return pick(
        HEAD,
        say("relevance.head"),
        heads,
        default=heads[0],
        format=lambda head: head_name(head, alone=len(heads) == 1),
        kind="select",
        help=say("relevance.head_help"),
    )


def head_name(head: str, *, alone: bool = False) -> str:
    """What a head or the mean is called; a rule's only map is the mean of none."""
    if head == MEAN:
        return say("relevance.together" if alone else "relevance.mean")
    return say("relevance.head_name", head=head)


def pick_underlay() -> Underlay:
    """Whether the picture is seen through the maps."""
    return pick(
        "re_under",
        say("relevance.underlay"),
        ("over", "plain"),
        default="over",
        format=lambda each: say(f"relevance.underlay_{each}"),
        help=say("relevance.underlay_help"),
    )


def pick_own_scale() -> bool:
    """Whether every map has a scale of its own."""
    chosen = pick(
        "re_scale",
        say("relevance.scales"),
        ("shared", "own"),
        default="shared",
        format=lambda each: say(f"relevance.scales_{each}"),
        help=say("relevance.scales_help"),
    )
    return chosen == "own"


def follow_click(name: str, key: str) -> None:
    """Choose what was clicked in a chart of maps, before its picker is drawn."""
    for mark in fresh_click(name).get(PANEL, [])[:1]:
        told = mark[PANEL]
        choose(key, int(told) if key == LAYER else told)

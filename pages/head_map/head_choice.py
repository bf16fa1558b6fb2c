"""Which head is looked at: one picker for all sections, or a click in a chart; and its card."""

from analysis.tables.heads import head_distance
from pages.ui.head.card import head_card
from pages.ui.head.choice import Head, follow_head_click, pick_head
from pages.ui.store.chosen import ask
from pages.ui.words.say import say


def follow_click(name: str) -> None:
    """Choose the head that was clicked in a chart, before the picker is drawn."""
    follow_head_click(name)


def pick_map_head() -> Head:
    """A layer and a head; in the address as `layer-head`."""
    return pick_head(say("head_map.head"), default=_most_unlike(), help=say("head_map.head_help"))


def card_of(head: Head) -> None:
    """What is known about the chosen head beside its place among the others."""
    head_card(layer=head[0], head=head[1])


def _most_unlike() -> Head:
    """The head that is farthest from all others on average: the one that stands out."""
    means = ask(head_distance.distances).groupby(["layer_a", "head_a"])["mean_divergence"].mean()
    layer, head = means.idxmax()
    return int(layer), int(head)

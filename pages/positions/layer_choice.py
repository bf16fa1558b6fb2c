"""Which layer the charts below the maps show and which of its waves, chosen once for all."""

from dataclasses import dataclass

from pages.positions.spectra import SOURCES, source_name
from pages.ui.choices.pick import pick
from pages.ui.store.chosen import open_store
from pages.ui.words.say import say


@dataclass(frozen=True)
class Chosen:
    """A source of a layer, which amount of it, and how amplitudes are drawn."""

    source: str
    layer: int
    amount: str
    scale: str

    @property
    def key(self) -> str:
        """What charts of this choice are called."""
        return f"{self.source}_{self.layer}_{self.amount}_{self.scale}"


def pick_layer() -> int:
    """A layer of the open file's model."""
    return pick(
        "po_states_layer",
        say("positions.layer.layer"),
        list(range(1, int(open_store().run["n_layers"]) + 1)),
        default=1,
        kind="pills",
    )


def pick_source() -> str:
    """Hidden states, queries or keys."""
    return pick("po_source", say("positions.source"), SOURCES, default="query", format=source_name)

"""How far the layers of the chosen file's model look."""

from pages.ui.store.chosen import layers, open_store

_ALL = "all"


def windows() -> dict[int, int | None]:
    """How many tokens away a query of each layer looks; None if as far as there are any."""
    sizes = open_store().facts.get("windows", _ALL).split(", ")
    given = dict(zip(layers(), sizes, strict=False))
    return {
        layer: None if given.get(layer, _ALL) == _ALL else int(given[layer]) for layer in layers()
    }

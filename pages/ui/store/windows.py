"""Windows of the layers of the chosen file's model."""

from pages.ui.store.chosen import layers, open_store

_ALL, _NONE = "all", "none"


def windows() -> dict[int, int | None]:
    """Return the window of each layer in tokens; None without one."""
    sizes = open_store().facts.get("windows", _ALL).split(", ")
    of_attention = (size for size in sizes if size != _NONE)
    given = dict(zip(layers(), of_attention, strict=False))
    return {
        layer: None if given.get(layer, _ALL) == _ALL else int(given[layer]) for layer in layers()
    }

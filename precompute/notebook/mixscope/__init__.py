"""Mixscope in a notebook: the views of a file as data frames, and the maps of one text.

import mixscope

file = mixscope.open("statistics/demo.duckdb")
file["token_type_mixing"]
mixscope.maps("demo", "The cat sat.").layers[4].weights
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.contracts import every_table
from analysis.errors import UnknownName, UserError
from precompute.live.answers import LayerMaps
from precompute.store.show import opened

__all__ = ["Maps", "Views", "maps", "open"]
_VIEWS = tuple(view.name for table in every_table() for view in table.all_views)


@dataclass(frozen=True)
class Views(Mapping[str, pd.DataFrame]):
    """Views of a file by name, each read when it is asked for."""

    path: Path

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in _VIEWS:
            raise UnknownName("view", name, _VIEWS)
        return self.sql(f"from {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(_VIEWS)

    def __len__(self) -> int:
        return len(_VIEWS)

    def sql(self, query: str) -> pd.DataFrame:
        """Return the answer to a question in SQL."""
        with opened(self.path) as store:
            return store.sql(query).df()


@dataclass(frozen=True)
class Maps:
    """Tokens of a text, and the maps of every layer that attends, first to last."""

    tokens: tuple[str, ...]
    layers: tuple[LayerMaps, ...]


def open(path: str | Path) -> Views:
    """Return the views of a file of statistics.

    Raises:
        UserError: if there is no such file; if it cannot be read, when a view is asked for.
    """
    if not Path(path).is_file():
        raise UserError(f"There is no file {path}. Make one: `mixscope demo --output {path}`.")
    return Views(Path(path))


def maps(model: str, text: str) -> Maps:
    """Compute the maps of one text, by the functions that pages use.

    Args:
        model: a folder, a hub name or a bundled model, as for `mixscope run`.

    Raises:
        BadCorpus: if the text is longer than the model takes, or holds nothing.
        UserError: if the model cannot be read.
    """
    from precompute.live.one_sequence import Rerun
    from precompute.models.load_models import load_model

    loaded = load_model(model, device="cpu")
    run = Rerun(loaded)
    sequence, is_cut = run.typed(text, max_tokens=loaded.positions)
    if is_cut:
        raise UserError(
            f"The text has more than the {loaded.positions} tokens that {model} takes. Shorten it."
        )
    every = range(1, len(loaded.layers) + 1)
    return Maps(sequence.tokens, tuple(run.layer_maps(sequence, layer=layer) for layer in every))

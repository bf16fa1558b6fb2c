"""What a file holds and what there is to compute, as lines of text."""

import math
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from analysis.errors import Remediable
from analysis.tables import SCHEMA_VERSION, annotation, corpus, image
from analysis.tables.completeness import by_layer
from analysis.tables.corpus import contents, provenance
from analysis.tables.table import Table
from precompute.passes import PASSES


def every_table() -> tuple[Table, ...]:
    """Every table that a file has, the corpus's and each pass's."""
    return (*corpus.TABLES, *annotation.TABLES, image.TABLE, *(each.TABLE for each in PASSES))


def lines(path: Path) -> Iterator[str]:
    """Model, corpus, settings, rows of every table, completeness.

    Raises:
        Remediable: if there is no such file, or it is none of this version's.
    """
    if not path.is_file():
        raise Remediable(f"{path}: there is no such file.")
    try:
        with duckdb.connect(str(path), read_only=True) as store:
            yield from _lines(store, path)
    except duckdb.Error as error:
        raise Remediable(
            f"{path} is damaged or no file of Mixscope: {str(error).splitlines()[0]}"
        ) from error


def _lines(store: duckdb.DuckDBPyConnection, path: Path) -> Iterator[str]:
    row = store.execute("from run").df().iloc[0]
    if row["schema_version"] != SCHEMA_VERSION:
        raise Remediable(
            f"{path} has schema version {row['schema_version']}; this version of Mixscope reads "
            f"{SCHEMA_VERSION}. Build the file again."
        )
    for name, value in row.items():
        yield f"{name:>16}  {', '.join(value) if name == 'statistics' else value}"
    yield from _untrained(store)
    for fact in provenance(store).itertuples():
        yield f"{fact.name:>24}  {fact.value}"
    yield from _images(store)
    yield ""
    for table in contents(store).itertuples():
        if table.n_rows:
            yield f"{table.n_rows:>12,}  {table.name}"
    for layer in by_layer(store).to_dict("records"):
        yield (
            f"layer {layer['layer']}: parts of the attention block add up to "
            f"{layer['worst_relative_error']:.1e} at worst (sequence {layer['worst_seq']})"
            f"{_whole_layer(layer)}, attention to 1 within {layer['worst_attention_sum_error']:.1e}"
        )


def _images(store: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """How the images of the corpus were read, if it holds images."""
    for told in image.grid(store).to_dict("records"):
        kept = len(image.images(store).query("kept"))
        yield (
            f"{told['n_images']} image(s) of {told['rows']} × {told['columns']} patches, "
            f"{told['n_masks']} with a mask, {kept} with their picture"
        )
    yield from left_out(store)


def left_out(store: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """What could not be read of a folder of images, in one sentence; nothing if all could."""
    told = provenance(store).set_index("name")["value"]
    n_images, n_masks = (
        int(told.get(f"corpus {kind}_left_out", 0)) for kind in ("images", "masks")
    )
    if n_images or n_masks:
        yield (
            f"Left out since they could not be used: {n_images} image(s), {n_masks} mask(s); a run "
            "names them and says why."
        )


def _untrained(store: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """That the model was never trained, in one sentence; nothing if it was."""
    seed = provenance(store).set_index("name")["value"].get("random_weights", "none")
    if seed != "none":
        yield f"Untrained weights, seed {seed}: this model has learnt nothing."


def remarks(path: Path) -> list[str]:
    """What a reader should know of a sound file."""
    with duckdb.connect(str(path), read_only=True) as store:
        return [*_untrained(store), *left_out(store)]


def _whole_layer(layer: dict[Hashable, Any]) -> str:
    """What a whole layer misses, where it was taken apart."""
    if math.isnan(layer["worst_layer_error"]):
        return ""
    worst = layer["worst_layer_error"]
    return f", of the whole layer {worst:.1e} (sequence {layer['worst_layer_seq']:.0f})"


def statistics_lines() -> Iterator[str]:
    """Each statistic with the views it writes and their grain."""
    for each in PASSES:
        views = each.TABLE.all_views
        yield each.TABLE.name
        for view in views:
            yield f"    {view.name}: {view.grain}"

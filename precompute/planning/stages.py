"""Processor time of the stages after the passes over a corpus, before anything is known of them."""

from precompute.jobs.plan import Plan
from precompute.models.loaded_model import LoadedModel
from precompute.progress.events import Key, Planned

FILE_SECONDS = 1.0
"""Seconds of building a file, however small: its tables are made, described and checked."""
_MERGE, _FIT, _FIT_OF_HEAD = 0.03, 0.12, 0.002
"""Seconds of a table that is merged, and of a fit, at all and for each head of the model: what all
tables of the digits (16 heads, 7 s) and of a decoder (270 heads, 36 s) took, divided among 50
merges and 45 fits."""


def planned_stages(plan: Plan, model: LoadedModel) -> Planned:
    """Return what the tables that are missing will take, and the file."""
    n_heads = sum(len(layer.query_weight) for layer in model.layers)
    fit = _FIT + _FIT_OF_HEAD * n_heads
    missing = (table for table in plan.passes if not plan.table_file(table).exists())
    tables: dict[Key, float] = {table.name: fit if table.made_by else _MERGE for table in missing}
    names = [table.name for table in plan.passes]
    file: dict[Key, float] = dict.fromkeys(names, FILE_SECONDS / len(names))
    return Planned({"tables": tables, "file": file})

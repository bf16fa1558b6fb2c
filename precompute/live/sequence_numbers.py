"""The rows that a run would keep of one sequence, by the passes' own functions."""

import pyarrow as pa

from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes import STATISTICS
from precompute.passes.filling import rows_of_batch
from precompute.passes.layers import batch_of

_TABLES = {
    "sequence_head_pattern_weighing": "sequence_head_pattern",
    "sequence_mixing_ratio": "sequence_mixing_ratio",
    "sequence_relation_change": "sequence_relation_change",
    "token_norm": "token_norm",
}
"""Names of tables by those of their views."""


def sequence_numbers(model: LoadedModel, sequence: Sequence) -> dict[str, pa.Table]:
    """Return a file's rows for this sequence, by view name; one thread at a time."""
    tables = [STATISTICS[name] for name in _TABLES.values()]
    rows = rows_of_batch(tables, model, batch_of(model, [sequence]))
    length = pa.table({"seq": [sequence.index], "n_tokens": [len(sequence)]})
    return {"sequence": length} | {view: rows[name] for view, name in _TABLES.items()}

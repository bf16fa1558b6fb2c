"""The rows that a run would keep of one sequence, by the passes' own functions."""

import pyarrow as pa

from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes.batch import Batch
from precompute.passes.heads import sequence_head_pattern
from precompute.passes.mixing import sequence_mixing_ratio
from precompute.passes.norms import token_norm
from precompute.passes.pairs import sequence_relation_change

_PASSES = {
    "sequence_head_pattern_weighing": sequence_head_pattern,
    "sequence_mixing_ratio": sequence_mixing_ratio,
    "sequence_relation_change": sequence_relation_change,
    "token_norm": token_norm,
}


def sequence_numbers(model: LoadedModel, sequence: Sequence) -> dict[str, pa.Table]:
    """Return a file's rows for this sequence, by view name; one thread at a time."""
    batch = Batch((sequence,), model.trace([sequence]), hidden_dtype=model.hidden_dtype)
    length = pa.table({"seq": [sequence.index], "n_tokens": [len(sequence)]})
    return {"sequence": length} | {
        name: statistic.totals(batch) for name, statistic in _PASSES.items()
    }

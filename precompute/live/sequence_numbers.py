"""The rows that a run would keep of one sequence, by the passes' own functions."""

import pyarrow as pa

from analysis.contracts import every_statistic
from analysis.models.trace import LayerTrace
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import begin
from precompute.passes.layers import Batch, Layer

_TABLES = {
    "sequence_head_pattern_weighing": "sequence_head_pattern",
    "sequence_mixing_ratio": "sequence_mixing_ratio",
    "sequence_relation_change": "sequence_relation_change",
    "token_norm": "token_norm",
}
"""View names, and the tables that they show."""


def sequence_numbers(model: LoadedModel, sequence: Sequence) -> dict[str, pa.Table]:
    """Return a file's rows for this sequence, by view name; one thread at a time."""
    batch = Batch(
        (sequence,),
        layers=model.layers,
        is_token=model.is_token([sequence]),
        word_embeddings=model.word_embeddings([sequence]),
        hidden_dtype=model.hidden_dtype,
    )
    tables = every_statistic()
    fillings = {view: begin(tables[name], batch) for view, name in _TABLES.items()}

    def add(index: int, trace: LayerTrace) -> None:
        layer = Layer(batch, index, trace)
        for filling in fillings.values():
            filling.add(layer)

    model.stream([sequence], add)
    length = pa.table({"seq": [sequence.index], "n_tokens": [len(sequence)]})
    return {"sequence": length} | {view: filling.rows() for view, filling in fillings.items()}

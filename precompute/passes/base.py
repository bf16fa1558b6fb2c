"""What a pass is: something with a table that it fills, in one of three ways."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import torch
from duckdb import DuckDBPyConnection
from jaxtyping import Bool, Float, Int, Int8, Int32
from torch import Tensor

from analysis.measures.head_token import value_norms
from analysis.measures.layer_mixing import BUDGET, LayerMixing, layer_mixing
from analysis.measures.relative_position_profile import diagonal_sums
from analysis.measures.token_relation import token_relations
from analysis.measures.word_attention import WordAttention, word_attention
from analysis.models.gradients import AttentionGradients
from analysis.models.trace import LayerTrace, ModelWeights, Trace
from analysis.scopes import LayerOrder
from analysis.tables.table import Table
from precompute.corpora.annotation import Annotation
from precompute.corpora.sequence import TOKEN_TYPES, Sequence
from precompute.corpora.token_types import CLS, SEP
from precompute.loaded_model import Control
from precompute.word_vectors import WordVectors


@dataclass(frozen=True)
class Batch:
    """One traced batch of sequences and the seed of the run.

    `hidden_dtype` is the number format of the hidden vectors of pairs, that of the trace if None;
    `hidden_budget` how many bytes they may take at a time. `exemplars` are the indices of the few
    sequences of which single maps and waves are kept. `controlled` traces a sequence again, by
    itself, with its positions removed or permuted. `gradients` runs some of the sequences again and
    tells how their loss changes with attention; it is None if none of them has a loss.
    """

    sequences: tuple[Sequence, ...]
    trace: Trace
    seed: int = 0
    hidden_dtype: torch.dtype | None = None
    hidden_budget: int = BUDGET
    exemplars: frozenset[int] = frozenset()
    controlled: Callable[[Sequence, Control], Trace] | None = None
    gradients: Callable[[tuple[Sequence, ...]], AttentionGradients | None] | None = None

    @property
    def order(self) -> LayerOrder:
        """Where the model's layers have their normalisations, and so which scopes there are."""
        return self.trace.layers[0].weights.order

    @cached_property
    def pairs(self) -> tuple[Bool[np.ndarray, "query key"], ...]:
        """Which keys each query of every sequence may look at; whatever counts pairs asks this."""
        weights = self.trace.layers[0].weights
        return tuple(weights.pairs(len(sequence)).numpy() for sequence in self.sequences)

    @cached_property
    def is_pair(self) -> Bool[Tensor, "batch query key"]:
        """The same for the padded batch: neither side of a pair is padding."""
        is_token = self.trace.is_token
        seen = self.trace.layers[0].weights.pairs(is_token.shape[1]).to(is_token.device)
        return is_token[:, :, None] & is_token[:, None, :] & seen

    @cached_property
    def exemplars_alone(self) -> tuple[tuple[Sequence, tuple[LayerTrace, ...]], ...]:
        """The exemplars of this batch, each with its layers, without padding."""
        return tuple(
            (each, tuple(layer.of_sequence(row, len(each)) for layer in self.trace.layers))
            for row, each in enumerate(self.sequences)
            if each.index in self.exemplars
        )

    @cached_property
    def token_types(self) -> Int[Tensor, "batch key"]:
        """Place of each token's type in `TOKEN_TYPES`; padding counts as the last."""
        padded = torch.full(self.trace.is_token.shape, len(TOKEN_TYPES) - 1)
        for row, sequence in enumerate(self.sequences):
            padded[row, : len(sequence)] = torch.from_numpy(sequence.token_types.astype(np.int64))
        return padded.to(self.trace.is_token.device)

    @cached_property
    def value_norms(self) -> tuple[Float[Tensor, "batch head key"], ...]:
        """‖f(x)‖ of every token and head, one tensor per layer; three passes need them."""
        layers = self.trace.layers
        return tuple(value_norms(each.values, each.weights.output_factor) for each in layers)

    @cached_property
    def layer_mixing(self) -> tuple[tuple[LayerMixing, ...], ...]:
        """Every scope of every layer, one tuple of layers per sequence; many passes need them."""

        def of(sequence: LayerTrace) -> LayerMixing:
            return layer_mixing(sequence, budget=self.hidden_budget, dtype=self.hidden_dtype)

        return tuple(
            tuple(of(each.of_sequence(row, len(sequence))) for each in self.trace.layers)
            for row, sequence in enumerate(self.sequences)
        )

    @cached_property
    def attention_sums(self) -> tuple[tuple[Float[Tensor, "head diagonal"], ...], ...]:
        """α summed along every diagonal, one tuple of layers per sequence; two passes need them."""
        return tuple(
            tuple(
                diagonal_sums(each.attention[row, :, : len(sequence), : len(sequence)])
                for each in self.trace.layers
            )
            for row, sequence in enumerate(self.sequences)
        )

    @cached_property
    def relations(self) -> tuple[Int8[np.ndarray, "query key"], ...]:
        """Place in `RELATIONS` of every two tokens of every sequence."""
        return tuple(token_relations(s.ids, s.words, s.segments) for s in self.sequences)

    @cached_property
    def annotated(self) -> tuple[tuple[int, Annotation, WordAttention], ...]:
        """Of every annotated sequence its index, its words and what they attend to.

        The heads of all layers stand one after the other, those of the first layer first.
        """
        return tuple(
            (sequence.index, sequence.annotation, self._word_attention(row, sequence))
            for row, sequence in enumerate(self.sequences)
            if sequence.annotation is not None
        )

    def _word_attention(self, row: int, sequence: Sequence) -> WordAttention:
        real = slice(len(sequence))
        every_head = torch.cat([each.attention[row, :, real, real] for each in self.trace.layers])
        device = every_head.device
        types = torch.from_numpy(sequence.token_types).to(device)
        spans = torch.from_numpy(sequence.word_spans).to(device)
        return word_attention(every_head, spans, types == CLS, types == SEP)

    @cached_property
    def real_tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Row in the batch and position of every token that is not padding, in reading order."""
        row, position = self.trace.is_token.nonzero(as_tuple=True)
        return row.cpu().numpy(), position.cpu().numpy()

    @cached_property
    def sequence_of_row(self) -> Int32[np.ndarray, " batch"]:
        """Which sequence of the corpus each row of the batch is."""
        return np.array([each.index for each in self.sequences], dtype=np.int32)


@dataclass(frozen=True)
class FitContext:
    """What a fit may know beside the store: the run's seed and the files it was given."""

    seed: int
    frequency_ranks: Mapping[str, np.ndarray]
    word_vectors: WordVectors | None = None


@runtime_checkable
class Named(Protocol):
    """What every pass has: the table it fills, and a version to raise when its numbers change."""

    @property
    def TABLE(self) -> Table: ...

    @property
    def VERSION(self) -> int: ...


@runtime_checkable
class Totals(Named, Protocol):
    """A module that turns traced batches into rows; rows of any cut of the corpus add up.

    What adds up is said by `TABLE.merge`.
    """

    @staticmethod
    def totals(batch: Batch) -> pa.Table: ...


@runtime_checkable
class Weights(Named, Protocol):
    """A module that needs a model and no corpus."""

    @staticmethod
    def weights(model: ModelWeights) -> pa.Table: ...


@runtime_checkable
class Fit(Named, Protocol):
    """A module that reads what other passes have stored; NEEDS names their tables.

    It finds layers and heads counted from 1, and writes them so.
    """

    @property
    def NEEDS(self) -> tuple[str, ...]: ...

    @staticmethod
    def fit(store: DuckDBPyConnection, context: FitContext) -> pa.Table: ...


Pass = Totals | Weights | Fit


def names_of(places: np.ndarray, names: tuple[str, ...] = TOKEN_TYPES) -> pa.DictionaryArray:
    """Names as the store writes them, from their places in a list; that of token types if none."""
    return pa.DictionaryArray.from_arrays(places.astype(np.int8), pa.array(names))


def table_of(table: Table, **columns: np.ndarray | pa.Array) -> pa.Table:
    """Rows of a shard in their contract's types from columns given by name."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table({name: arrays[name] for name in table.shard_schema.names}).cast(
        table.shard_schema
    )


def lists_of(rows: Float[np.ndarray, "row value"]) -> pa.ListArray:
    """Every row as one list in float32; what is no number is NULL in it."""
    starts = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    values = pa.array(rows.ravel().astype(np.float32), mask=np.isnan(rows).ravel())
    return pa.ListArray.from_arrays(starts, values)


def nulls_where(values: Float[np.ndarray, " row"]) -> pa.Array:
    """The values as a column that is NULL where they are no number."""
    return pa.array(values, mask=np.isnan(values))


def from_query(table: Table, store: DuckDBPyConnection, sql: str) -> pa.Table:
    """The rows of a query in the types of a table's contract."""
    return (
        store.sql(sql).to_arrow_table().select([c.name for c in table.columns]).cast(table.schema)
    )

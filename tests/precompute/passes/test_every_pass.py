"""Laws that every pass keeps, for every family."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

from analysis.models.trace import Trace
from precompute.batch import Batch
from precompute.classification import classification_of
from precompute.corpora.sequence import Sequence
from precompute.corpus_needs import need_of
from precompute.passes import PASSES
from precompute.passes.base import Totals, Weights
from precompute.shards import as_stored, merged
from tests.tiny import FAMILIES, TEXT_FAMILIES

TOTALS = [each for each in PASSES if isinstance(each, Totals)]
WEIGHTS = [each for each in PASSES if isinstance(each, Weights)]
OF_WORDS = ("dependency_prediction", "word_attention", "word_vector", "coreference_prediction")
OF_CLASSIFIERS = ("class_prediction", "sequence_perturbation")
OF_ROUNDING = ("worst_pos",)  # which token is worst where all parts add up is chance
OF_IMAGES = ("patch_offset",)
OF_WAVES = ("query_key_phase", "state_spectrum")


def _can_count(family: str, each: Totals) -> bool:
    """Whether the family's tiny model and its sequences have anything that a pass counts."""
    name = each.TABLE.name
    if family in TEXT_FAMILIES:
        return name not in OF_CLASSIFIERS + OF_IMAGES
    has_waves = family != "vit"  # whose images are 13 tokens
    return need_of(name) is None and (has_waves or name not in OF_WAVES)


every_total = pytest.mark.parametrize(
    ("family", "each"),
    [
        pytest.param(family, each, id=f"{family}-{each.TABLE.name}")
        for family in FAMILIES
        for each in TOTALS
        if _can_count(family, each)
    ],
    indirect=["family"],
    scope="session",
)
Traced = Callable[[tuple[Sequence, ...], Trace], Batch]
OfPass = Callable[[Totals], list[Batch]]


@pytest.fixture(scope="session")
def batch(tiny) -> Traced:
    """A traced batch as a run hands it to the passes; two of the sequences are exemplars."""
    controlled = partial(tiny.trace_controlled, seed=0)
    kept = frozenset({0, 3})
    return partial(
        Batch,
        exemplars=kept,
        followed=kept,
        kept=kept,
        relevance_start=tiny.relevance_start,
        controlled=controlled,
        gradients=tiny.gradients,
        images=tiny.images,
        classification=classification_of(tiny),
    )


@pytest.fixture(scope="session")
def whole(batch, tiny, sequences, annotated) -> OfPass:
    """All sequences in one batch; of passes over words those that are annotated."""
    plain, of_words = ([batch(each, tiny.trace(each))] for each in (sequences, annotated))
    return lambda each: of_words if each.TABLE.name in OF_WORDS else plain


@pytest.fixture(scope="session")
def batches(batch, tiny, sequences, annotated) -> OfPass:
    """Every sequence in a batch of its own."""
    plain, of_words = (
        [batch((sequence,), tiny.trace([sequence])) for sequence in of]
        for of in (sequences, annotated)
    )
    return lambda each: of_words if each.TABLE.name in OF_WORDS else plain


def _rows(each: Totals, batches: list[Batch]) -> pd.DataFrame:
    """The merged rows in the order of their key."""
    shards = merged(each.TABLE, [each.totals(batch) for batch in batches])
    table = as_stored(each.TABLE, shards)
    frame = table.to_pandas().astype({c.name: str for c in each.TABLE.key if c.unit == "name"})
    return frame.sort_values([c.name for c in each.TABLE.key], ignore_index=True)


def _numbers(column: pd.Series) -> np.ndarray:
    """The numbers of a column one after the other, lists laid open."""
    return column.explode().to_numpy(float)


@every_total
def test_padding_and_batching_change_no_number(each, whole, batches):
    together = _rows(each, whole(each))
    apart = _rows(each, batches(each))
    assert len(together) > 0
    keys = [column.name for column in each.TABLE.key]
    pd.testing.assert_frame_equal(together[keys], apart[keys])
    for column in each.TABLE.values:
        if column.name in OF_ROUNDING:
            continue
        if pd.api.types.is_string_dtype(together[column.name]):
            assert together[column.name].tolist() == apart[column.name].tolist()
            continue
        found, expected = (_numbers(frame[column.name]) for frame in (together, apart))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@every_total
def test_the_order_of_batches_changes_no_number(each, batches):
    forwards = batches(each)
    pd.testing.assert_frame_equal(_rows(each, forwards), _rows(each, forwards[::-1]))


@every_total
def test_rows_have_the_types_of_the_contract(each, whole):
    (batch,) = whole(each)
    assert each.totals(batch).schema == each.TABLE.shard_schema


@pytest.mark.parametrize("each", WEIGHTS, ids=lambda each: each.TABLE.name)
def test_weights_need_no_corpus_and_keep_the_contract(each, tiny):
    table = each.weights(tiny.weights)
    assert table.schema == each.TABLE.schema
    assert table.num_rows > 0

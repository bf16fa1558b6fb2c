"""Laws of every pass, over texts of encoders and decoders, and over images."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from analysis.models.trace import Trace
from analysis.needs import Need
from precompute.corpora.sequence import Sequence
from precompute.jobs.shards import as_stored, merged
from precompute.models.classification import classification_of
from precompute.passes import PASSES
from precompute.passes.base import Totals, Weights
from precompute.passes.batch import Batch
from tests.tiny import BOTH_WAYS, OF_DECODERS

TOTALS = [statistic for statistic in PASSES if isinstance(statistic, Totals)]
BY_NAME = {statistic.TABLE.name: statistic for statistic in TOTALS}
WEIGHTS = [statistic for statistic in PASSES if isinstance(statistic, Weights)]
OF_ROUNDING = ("worst_pos",)  # which token is worst where all parts add up is chance
ANNOTATED = {Need.TREES, Need.COREFERENCE, Need.WORDS}


def _families(statistic: Totals) -> tuple[str, ...]:
    needs = set(statistic.TABLE.needs)
    if needs & {Need.IMAGES, Need.CLASSES}:
        return ("vit",)
    if Need.GATES in needs:
        return OF_DECODERS
    if Need.TURNED_POSITIONS in needs:
        return (*OF_DECODERS, "gpt_neox")
    if Need.DISTANCE_TERMS in needs:
        return ("t5", "deberta-v2")
    return BOTH_WAYS if Need.ADDED_POSITIONS in needs else BOTH_WAYS + OF_DECODERS


every_total = pytest.mark.parametrize(
    ("family", "statistic"),
    [
        pytest.param(family, statistic, id=f"{family}-{statistic.TABLE.name}")
        for statistic in TOTALS
        for family in _families(statistic)
    ],
    indirect=["family"],
    scope="session",
)
Traced = Callable[[tuple[Sequence, ...], Trace], Batch]
OfPass = Callable[[Totals], list[pa.Table]]


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
def together(batch, tiny, sequences, annotated) -> OfPass:
    """Shards of a pass for all sequences in one batch; passes on words get the annotated ones."""
    plain, of_words = ([batch(chosen, tiny.trace(chosen))] for chosen in (sequences, annotated))
    return _counted(plain, of_words)


@pytest.fixture(scope="session")
def apart(batch, tiny, sequences, annotated) -> OfPass:
    """Shards of a pass for each sequence in a batch of its own."""
    plain, of_words = (
        [batch((sequence,), tiny.trace([sequence])) for sequence in of]
        for of in (sequences, annotated)
    )
    return _counted(plain, of_words)


def _counted(plain: list[Batch], of_words: list[Batch]) -> OfPass:
    @cache
    def shards(name: str) -> list[pa.Table]:
        batches = of_words if ANNOTATED & set(BY_NAME[name].TABLE.needs) else plain
        return [BY_NAME[name].totals(batch) for batch in batches]

    return lambda statistic: shards(statistic.TABLE.name)


def _rows(statistic: Totals, shards: list[pa.Table]) -> pd.DataFrame:
    """The merged rows in the order of their key."""
    table = as_stored(statistic.TABLE, merged(statistic.TABLE, shards))
    frame = table.to_pandas().astype({c.name: str for c in statistic.TABLE.key if c.unit == "name"})
    return frame.sort_values([c.name for c in statistic.TABLE.key], ignore_index=True)


def _numbers(column: pd.Series) -> np.ndarray:
    """Numbers of a column in one array, with lists flattened."""
    return column.explode().to_numpy(float)


@every_total
def test_padding_batching_and_order_change_no_number(statistic, together, apart, attention_error):
    """Equality is up to rounding, which is larger if the library's softmax is in float32."""
    rtol, atol = (1e-6, 1e-12) if attention_error < 1e-9 else (1e-5, 1e-6)
    (shard,), shards = together(statistic), apart(statistic)
    assert shard.schema == statistic.TABLE.shard_schema
    found, expected = _rows(statistic, [shard]), _rows(statistic, shards)
    pd.testing.assert_frame_equal(expected, _rows(statistic, shards[::-1]))
    assert len(found) > 0
    keys = [column.name for column in statistic.TABLE.key]
    pd.testing.assert_frame_equal(found[keys], expected[keys])
    for column in statistic.TABLE.values:
        if column.name in OF_ROUNDING:
            continue
        ours, theirs = found[column.name], expected[column.name]
        if pd.api.types.is_string_dtype(ours):
            assert ours.tolist() == theirs.tolist()
            continue
        np.testing.assert_allclose(_numbers(ours), _numbers(theirs), rtol=rtol, atol=atol)


@pytest.mark.parametrize("statistic", WEIGHTS, ids=lambda statistic: statistic.TABLE.name)
def test_weights_need_no_corpus_and_keep_the_contract(statistic, tiny):
    table = statistic.weights(tiny.weights)
    assert table.schema == statistic.TABLE.schema
    assert table.num_rows > 0

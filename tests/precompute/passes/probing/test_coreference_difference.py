"""Antecedents that heads find by norms, against vectors of the bare trace and against weights."""

from typing import Any

import numpy as np
import pytest
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import redraws
from analysis.measures.probing.probe_accuracy import halves
from analysis.statistics.annotation import MERGINGS
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.probing import coreference_best, coreference_difference
from analysis.statistics.probing.coreference_best import CHOSEN_ON
from precompute.corpora.annotated.annotation import Annotation
from precompute.models.load_models import load_model
from tests.precompute.passes.probing.test_coreference import clusters_of, heads_of
from tests.reference.probing import coreference_accuracy as reference
from tests.reference.probing import coreference_prediction as prediction
from tests.reference.probing import probe_accuracy, word_attention
from tests.reference.transformed_vectors import of_trace
from tests.tiny import HEADS, LAYERS


@pytest.fixture(scope="module")
def texts(probing_store, probing_run) -> dict[int, Annotation]:
    """The texts that have a mention with an antecedent."""
    rows = probing_store.execute("select distinct seq from coreference_prediction").fetchall()
    sequences = {sequence.index: sequence.annotation for sequence in probing_run[1].corpus}
    return {seq: sequences[seq] for (seq,) in rows}


def test_norms_are_picked_from_the_vectors_of_the_bare_trace(probing_run, probing_store, texts):
    """The picked antecedent has the largest value in float64, word by word, up to near ties."""
    asked, plan = probing_run
    model = load_model(asked.model, device="cpu")
    merge = dict(zip(MERGINGS, (word_attention.by_mean, word_attention.by_first), strict=True))
    for sequence in plan.corpus:
        if sequence.index not in texts:
            continue
        known = texts[sequence.index]
        spans = [(int(start), int(end)) for start, end in sequence.word_spans]
        maps = of_trace(model.trace([sequence]))["norm"]
        rows = probing_store.execute(
            "from coreference_prediction_weighing where weighing = 'norm' and seq = $seq",
            {"seq": sequence.index},
        ).df()
        assert len(rows) == LAYERS * HEADS * len(MERGINGS)
        for row in rows.itertuples():
            matrix = merge[row.merging](maps[row.layer, row.head], spans)
            best = prediction.picked(matrix, heads_of(known))
            for mention, antecedent in zip(row.mentions, row.predicted, strict=True):
                given = matrix[heads_of(known)[mention]]
                assert given[antecedent] == pytest.approx(given[best[mention]], abs=1e-6)
            verdicts = reference.right(
                [
                    row.predicted[list(row.mentions).index(m)] if m in row.mentions else -1
                    for m in range(len(known.mentions))
                ],
                heads_of(known),
                clusters_of(known),
            )
            assert list(row.correct) == [verdicts[m] for m in row.mentions]


@pytest.mark.parametrize("merging", MERGINGS)
def test_the_best_by_norms_is_compared_with_the_best_by_weights_on_the_same_mentions(
    probing_store, texts, probing_run, merging
):
    order, seed = sorted(texts), probing_run[0].seed
    first = halves(len(order), seed=seed)
    rows = coreference_difference.differences(probing_store, merging=merging)
    best = {
        (chosen_on, weighing): coreference_best.best(
            probing_store, merging=merging, chosen_on=chosen_on, weighing=weighing
        )
        for chosen_on in CHOSEN_ON
        for weighing in WEIGHINGS
    }
    assert set(rows["chosen_on"]) == set(CHOSEN_ON)
    row: Any
    for row in rows.itertuples():
        part = {"all": first | True, "first": ~first, "second": first}[row.chosen_on]
        right = {}
        for way in WEIGHINGS:
            chosen = best[row.chosen_on, way]
            chosen = chosen[chosen["mention_type"] == row.mention_type].iloc[0]
            place = [getattr(row, f"{name}_{way}") for name in ("layer", "head")]
            assert place == chosen[["layer", "head"]].tolist()
            assert getattr(row, f"accuracy_{way}") == pytest.approx(chosen["accuracy"])
            right[way] = _right_by_text(probing_store, way, merging, place, str(row.mention_type))
        of_parts = [seq for seq, is_in in zip(order, part, strict=True) if is_in]
        n = [right["norm"].get(seq, (0, 0))[0] for seq in of_parts]
        more = [
            right["norm"].get(seq, (0, 0))[1] - right["weight"].get(seq, (0, 0))[1]
            for seq in of_parts
        ]
        assert (row.n, row.difference) == (sum(n), pytest.approx(sum(more) / sum(n)))
        draws = redraws(np.arange(len(of_parts)), seed=seed).weights.tolist()
        assert (row.low, row.high) == pytest.approx(
            probe_accuracy.interval(more, n, draws), nan_ok=True
        )


def _right_by_text(
    probing_store: DuckDBPyConnection,
    weighing: str,
    merging: str,
    place: list[int],
    mention_type: str,
) -> dict[int, tuple[int, int]]:
    """Mentions of a type in each text, and the number that a head is right about."""
    layer, head = place
    rows = probing_store.execute(
        """
        select seq, unnest(mentions) as mention, unnest(correct) as correct
        from coreference_prediction_weighing
        where weighing = $way and merging = $merging and layer = $layer and head = $head
        """,
        {"way": weighing, "merging": merging, "layer": layer, "head": head},
    ).df()
    kinds = probing_store.execute("select seq, mention, mention_type from mention").df()
    rows = rows.merge(kinds, on=["seq", "mention"])
    rows = rows[(mention_type == "all") | (rows["mention_type"] == mention_type)]
    grouped = rows.groupby("seq")["correct"]
    return {int(str(seq)): (len(of), int(of.sum())) for seq, of in grouped}

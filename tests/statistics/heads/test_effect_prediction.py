"""Rank correlations of measures with the effect of heads: against SciPy, and what chance gives."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from analysis.effects import MEASURES, RANDOM
from analysis.measures.bootstrap import LEAST_UNITS
from analysis.measures.heads.effect_prediction import Draws, OfHeads, chance, rank_correlations
from analysis.statistics.heads.single_heads import EFFECT_PREDICTION
from tests.statistics.fits import made, store_of

SHAPE = 3, 12


def rho(one: list[float], other: list[float]) -> float:
    return float(np.asarray(spearmanr(one, other))[0])


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """A measure and an effect that agree within layers and disagree between them."""
    draw = np.random.default_rng(0)
    measure = draw.normal(size=SHAPE).round(1)
    effect = measure + draw.normal(size=SHAPE) * 0.3
    of_layer = np.array([[0], [10], [20]])
    return measure + of_layer, effect - of_layer


def of_heads(*values: np.ndarray) -> list[OfHeads]:
    draws = Draws.of(values[0].shape, seed=0)
    return [OfHeads(of, draws) for of in values]


def test_heads_are_ranked_within_layers_layers_by_their_means_and_all_heads(numbers):
    found = rank_correlations(*of_heads(*numbers))
    measure, effect = numbers
    layers = [rho([*one], [*other]) for one, other in zip(measure, effect, strict=True)]
    between = rho([*measure.mean(axis=1)], [*effect.mean(axis=1)])
    expected = [*layers, np.mean(layers), between, rho([*measure.ravel()], [*effect.ravel()])]
    np.testing.assert_allclose(found.spearman, expected)
    assert between == -1
    assert min(layers) > 0.7


def test_intervals_are_of_redrawn_heads_and_absent_for_few_layers(numbers):
    measure, effect = of_heads(*numbers)
    found, draws = rank_correlations(measure, effect), measure.draws
    redrawn = [
        [rho([*one[h]], [*other[h]]) for one, other, h in zip(*numbers, heads, strict=True)]
        for heads in draws.heads
    ]
    low, high = np.quantile(redrawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found.low[:3], low)
    np.testing.assert_allclose(found.high[:3], high)
    is_few = np.isnan(found.low)
    assert SHAPE[0] < LEAST_UNITS <= SHAPE[1]
    assert is_few.tolist() == [False] * 4 + [True, False]


def test_a_random_head_of_the_layer_knows_the_layer_and_nothing_else(numbers):
    [_, effect] = of_heads(*numbers)
    found = chance(effect)
    np.testing.assert_allclose(found.spearman[:5], 0, atol=0.1)
    assert (found.low[:4] < 0).all()
    assert (found.high[:4] > 0).all()
    assert found.spearman[5] > 0.8, "effects of these layers are far apart"


def test_a_table_has_every_measure_of_the_file_and_chance():
    heads = pd.DataFrame([(layer, head) for layer in (1, 2) for head in range(1, 13)])
    heads.columns = ["layer", "head"]
    draw = np.random.default_rng(1)
    effect = draw.permutation(len(heads)).astype(float)

    def long(**columns) -> pd.DataFrame:
        return heads.assign(**columns)

    types = [
        long(token_type="cls", attention=draw.random(24), weighted_norm=0.0),
        long(token_type="other", attention=effect, weighted_norm=-effect),
    ]
    parts = [
        long(quantity=name, mean=of)
        for name, of in (("norm", effect**2), ("share", -effect), ("length", draw.random(24)))
    ]
    tables = {
        "head_effect": long(filling="mean", quantity="length", mean=effect),
        "token_type_mixing": pd.concat(types),
        "contribution": pd.concat(parts),
        "gradient_importance": long(importance=1.0)[:0],
    }
    with store_of(**tables) as store:
        rows = made(EFFECT_PREDICTION, store).astype({"measure": str, "level": str})
    everywhere = rows[rows["level"] == "all"].set_index("measure")
    assert set(everywhere.index) == {*MEASURES, RANDOM} - {"gradient"}
    assert everywhere["spearman"][["weight", "norm"]].tolist() == pytest.approx([1, 1])
    assert everywhere["spearman"][["weighted_norm", "share"]].tolist() == pytest.approx([-1, -1])
    assert (everywhere["n"] == 24).all()
    assert rows[rows["level"] == "layer"]["layer"].tolist() == [1, 2] * 6

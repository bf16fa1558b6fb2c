"""Numbers as papers printed them, for the same quantities that the tables hold.

To add one: the printed form, unrounded and untranslated, with the table or figure that shows it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from analysis.published.ratios import BY_LAYER, POOLED, WITH_FREQUENCY

MODEL = "bert-base-uncased"
MODEL_SHAPE = {"n_layers": 12, "n_heads": 12, "hidden_size": 768}
N_SEQUENCES = 992
N_TOKENS = 121_134
"""[CLS] has 17,443,296 pairs in table 3 of 2020: one per token and head, of 12 × 12 heads."""
MASK_RATES = {"kobayashi-2020": 0.0, "kobayashi-2021": 0.12, "kobayashi-2024": 0.12}
"""Share of the tokens that each paper's experiment replaced by [MASK]."""
ONE_SEGMENT, TWO_SEGMENTS = "0", "0, 1"
"""Segment ids that the model got; in the code of Clark et al. 0 for every token, of pairs too."""
ROBERTA = "roberta-base"
STATISTICS = ("mean", "std", "cv", "max", "min")
_EVERY = "all"


@dataclass(frozen=True)
class Experiment:
    """Model and corpus of published numbers.

    None means that the numbers do not depend on a field, or, if `unknown`, that no file can be
    known to have the same corpus. `shape` has the sizes of the model. `segments` are the segment
    ids of the model's input, in the form of a file's `provenance` (`segments_given`). `untrained`
    models have random weights.
    """

    model: str
    corpus: str
    n_sequences: int | None = None
    n_tokens: int | None = None
    mask_rate: float | None = None
    segments: str | None = None
    unknown: bool = False
    untrained: bool = False
    shape: Mapping[str, int] = field(default_factory=lambda: MODEL_SHAPE)


EXPERIMENTS = {
    **{
        paper: Experiment(MODEL, "wikipedia", N_SEQUENCES, N_TOKENS, rate, TWO_SEGMENTS)
        for paper, rate in MASK_RATES.items()
    },
    "kobayashi-2021, frequency": Experiment(MODEL, "wikipedia", N_SEQUENCES, N_TOKENS, 0.0),
    "yamamoto-2023, weights": Experiment(ROBERTA, "none"),
    "yamamoto-2023, one text": Experiment(ROBERTA, "one_text", 1, 512, 0.0),
    "clark-2019, wikipedia": Experiment(
        MODEL, "wikipedia", N_SEQUENCES, N_TOKENS, 0.0, ONE_SEGMENT
    ),
    "clark-2019, treebank": Experiment(MODEL, "treebank", 1696, None, 0.0, ONE_SEGMENT),
    "clark-2019, untrained": Experiment(
        MODEL, "treebank", 1696, None, 0.0, ONE_SEGMENT, untrained=True
    ),
    "clark-2019, coreference": Experiment(MODEL, "ontonotes", unknown=True),
    "sawaki-2025": Experiment(
        "dino-vits16",
        "image",
        unknown=True,
        shape={"n_layers": 12, "n_heads": 6, "hidden_size": 384},
    ),
}
"""Experiments by paper; by paper and part where a paper has several."""


@dataclass(frozen=True)
class Published:
    """One printed number: paper, place and quantity.

    `place` is a kind of place and its number in the paper (section, appendix), in the authors'
    Japanese paper of the same work (table, figure) or in the notebook that was published with the
    paper (cell). `part` is the paper's experiment, if there are several.
    """

    paper: str
    place: tuple[str, int | str]
    quantity: str
    statistic: str
    printed: str
    layer: int | None = None
    head: int | None = None
    scope: str = ""
    effect: str = ""
    token_type: str = ""
    percent: bool = False
    component: int | None = None
    special_tokens: bool | None = None
    part: str = ""

    @property
    def experiment(self) -> str:
        """Return the key of the number's experiment."""
        return f"{self.paper}, {self.part}" if self.part else self.paper

    @property
    def value(self) -> float:
        """The number; shares of 1 where per cent are printed."""
        return float(self.printed.replace(",", "")) / (100 if self.percent else 1)

    @property
    def decimals(self) -> int:
        return len(self.printed.partition(".")[2])

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit: the largest difference due to rounding."""
        return 0.5 * 10.0**-self.decimals / (100 if self.percent else 1)


Kind = TypeVar("Kind", bound=Published)
_ratio = partial(Published, "kobayashi-2021", percent=True)
_with_frequency = partial(
    Published, "kobayashi-2021", ("cell", 34), "ratio_frequency", "spearman", part="frequency"
)


def _norms(quantity: str, table: int, rows: dict[tuple, str]) -> list[Published]:
    """Rows of a table of mean, standard deviation, coefficient of variation, max and min."""
    return [
        Published("kobayashi-2020", ("table", table), quantity, statistic, printed, *place)
        for place, row in rows.items()
        for statistic, printed in zip(STATISTICS, row.split(), strict=True)
    ]


_VALUE_NORMS = {
    (2, 4): "4.26 1.59 0.37 12.66 0.96",
    (2, 7): "3.40 0.50 0.12 6.15 1.35",
    (): "5.15 1.75 0.34 18.64 0.10",
}
"""‖f(x)‖: the heads with the largest and the smallest coefficient of variation, and all heads."""

_INPUT_NORMS = {
    (12,): "20.49 4.62 0.23 32.84 4.13",
    (7,): "21.64 1.40 0.06 23.03 11.87",
    (): "19.93 3.03 0.15 32.84 4.13",
}
"""‖x‖: the layers with the largest and the smallest coefficient of variation, and all layers."""

_CORRELATIONS = {
    "cls": ("17,443,296", "-0.34"),
    "sep": ("34,886,592", "-0.69"),
    "comma_period": ("182,838,528", "-0.25"),
    "other": ("1,944,928,224", "-0.06"),
}
"""Pairs of α and ‖f(x)‖ by type of the attended token, and their rank correlation."""

_SIMILARITIES = {"ff": "0.79", "ff_res": "0.96", "ff_ln": "0.73"}
"""Rank correlation of the mixing before and after a module, mean over sequences and layers."""
NUMBERS = (
    *_norms("value_norm", 1, _VALUE_NORMS),
    *_norms("input_norm", 2, _INPUT_NORMS),
    *(
        Published(
            "kobayashi-2020", ("table", 3), "correlation", statistic, printed, token_type=name
        )
        for name, row in _CORRELATIONS.items()
        for statistic, printed in zip(("n", "spearman"), row, strict=True)
    ),
    *(
        Published("kobayashi-2024", ("figure", 3), "similarity", "mean", printed, effect=effect)
        for effect, printed in _SIMILARITIES.items()
    ),
    *(
        _ratio(("cell", 13), "mixing_ratio", statistic, printed, scope=scope, token_type=_EVERY)
        for scope, row in POOLED.items()
        for statistic, printed in zip(("mean", "max", "min"), row.split(), strict=True)
    ),
    *(
        _ratio(
            ("cell", cell),
            "mixing_ratio",
            "mean",
            printed,
            layer=layer,
            scope=scope,
            token_type=name,
        )
        for (scope, cell), types in BY_LAYER.items()
        for name, row in types.items()
        for layer, printed in enumerate(row.split(), start=1)
    ),
    *(
        _with_frequency(printed, scope=scope, special_tokens=special)
        for scope, row in WITH_FREQUENCY.items()
        for special, printed in zip((True, False), row.split(), strict=True)
    ),
)


def numbers_among(published: Iterable[Kind], quantity: str, **fields: object) -> list[Kind]:
    """Return the printed numbers of a quantity whose fields have the given values."""
    return [
        number
        for number in published
        if number.quantity == quantity
        and all(getattr(number, name) == value for name, value in fields.items())
    ]


numbers = partial(numbers_among, NUMBERS)

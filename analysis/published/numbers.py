"""Numbers as papers printed them, for the same quantities that the tables hold.

To add one: the printed form, unrounded and untranslated, with the table or figure that shows it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

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
    paper (cell). `part` is the paper's experiment, if there are several. Other names are those of
    the columns of the tables.
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
    relation: str = ""
    direction: str = ""
    offset: int | None = None
    mention_type: str = ""
    method: str = ""
    habit: str = ""

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
_POOLED = {
    "attn_w": "96.41 99.99 45.04",
    "attn_w_res": "48.21 49.99 22.52",
    "attn": "85.28 99.96 4.89",
    "attn_res": "22.25 65.7 2.04",
    "attn_res_ln": "18.75 61.25 1.27",
}
"""Mean, greatest and least over all tokens and layers, in per cent."""

_BY_LAYER = {
    ("attn_w", 23): {
        "all": "97 96 96 97 97 97 97 97 97 96 94 95",
        "cls": "93 66 62 85 98 99 99 99 99 99 99 99",
        "sep": "90 95 97 78 56 56 56 55 57 80 92 90",
        "mask": "92 93 96 97 97 97 97 98 98 99 99 99",
        "other": "98 97 96 97 98 98 98 98 98 96 93 94",
    },
    ("attn_w_res", 27): {
        "all": "48 48 48 48 49 49 49 49 49 48 47 47",
        "cls": "46 33 31 42 49 50 50 49 50 49 49 50",
        "sep": "45 48 49 39 28 28 28 28 28 40 46 45",
        "mask": "46 47 48 48 49 49 49 49 49 49 50 50",
        "other": "49 48 48 49 49 49 49 49 49 48 46 47",
    },
    ("attn", 25): {
        "all": "91 87 85 91 90 91 91 92 89 81 71 64",
        "cls": "91 63 70 93 92 98 98 94 96 95 94 99",
        "sep": "68 75 89 77 65 60 68 60 71 92 92 91",
        "mask": "92 93 94 94 91 92 94 95 93 95 96 93",
        "other": "92 87 84 90 90 92 91 92 88 79 67 59",
    },
    ("attn_res", 29): {
        "all": "28 27 25 25 24 23 22 23 20 20 17 14",
        "cls": "22 13 17 27 27 26 26 16 23 26 21 44",
        "sep": "22 19 19 11 8 6 8 6 11 35 32 23",
        "mask": "30 36 30 31 29 30 29 32 25 21 17 14",
        "other": "28 26 24 25 23 23 22 22 19 20 16 13",
    },
    ("attn_res_ln", 31): {
        "all": "24 20 19 21 19 20 20 20 17 19 15 11",
        "cls": "15 5 8 16 18 20 20 11 15 21 17 39",
        "sep": "15 12 12 3 2 2 2 2 3 18 15 21",
        "mask": "15 17 16 21 21 25 25 30 25 22 19 10",
        "other": "25 20 19 21 20 20 19 19 17 18 15 11",
    },
}
"""Ratios by scope and cell of the notebook, then by token type: layers 1 to 12, in whole per
cent."""

_WITH_FREQUENCY = {
    "attn_w": "0.159 0.144",
    "attn": "-0.387 -0.413",
    "attn_w_res": "0.159 0.144",
    "attn_res": "-0.839 -0.860",
    "attn_res_ln": "-0.544 -0.577",
}
"""Rank correlation of frequency rank (1 = most frequent) and ratio, of all tokens and without [CLS]
and [SEP]; nothing was masked for it."""
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
        for scope, row in _POOLED.items()
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
        for (scope, cell), types in _BY_LAYER.items()
        for name, row in types.items()
        for layer, printed in enumerate(row.split(), start=1)
    ),
    *(
        _with_frequency(printed, scope=scope, special_tokens=special)
        for scope, row in _WITH_FREQUENCY.items()
        for special, printed in zip((True, False), row.split(), strict=True)
    ),
)


def numbers_among(
    published: Iterable[Published], quantity: str, **fields: object
) -> list[Published]:
    """Return the printed numbers of a quantity whose fields have the given values."""
    return [
        number
        for number in published
        if number.quantity == quantity
        and all(getattr(number, name) == value for name, value in fields.items())
    ]


numbers = partial(numbers_among, NUMBERS)

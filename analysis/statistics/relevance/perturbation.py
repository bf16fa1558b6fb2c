"""Predicted classes, and their probability as relevant patches are deleted or inserted."""

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.needs import Need, Setting
from analysis.relevance_rules import ALL
from analysis.statistics.columns import named, number, single, singles, text
from analysis.statistics.means import Means, mean_of
from analysis.statistics.table import CHOSEN, N_SEQUENCES, SEQUENCE, Column, Table, interval

RANKS = 5
"""Number of classes stored for each sequence, the likeliest first."""
CLASSES = Table(
    name="class_prediction",
    grain=f"one row per sequence and class, of the {RANKS} likeliest; none without a classifier",
    key=(
        SEQUENCE,
        Column("rank", pa.uint8(), "rank of the class by its probability, from 1", "index"),
    ),
    values=(
        text("label", "what the model's configuration calls the class"),
        single("probability", "how likely the model finds the class", "probability"),
    ),
    source="petsiuk-2018",
    declared=CHOSEN,
    needs=(Need.CLASSES,),
    laws=("probability between 0 and 1 + 1e-5", f"rank between 1 and {RANKS}"),
    depends_on=(),
)


RANDOM = "random"
"""Name in place of a rule: patches in random order, the baseline of every map."""
ORDERS = (*ALL, RANDOM)
DELETION, INSERTION = CURVES = ("deletion", "insertion")
STEPS = 10
"""Number of steps of a curve, from no patch to all of them."""
ORDER = named(
    "rule",
    "rule or method whose most relevant patches come first, carried back from the last layer with "
    "heads averaged; or random",
)
CURVE = named(
    "curve",
    "deletion (patches turn to the image's mean colour) or insertion (from an image of that colour "
    "alone, patches come back)",
)
PER_SEQUENCE = Table(
    name="sequence_perturbation",
    grain="one row per image that curves are drawn of, rule or method or random order, and curve",
    key=(SEQUENCE, ORDER, CURVE),
    values=(
        singles(
            "probability",
            "probability of the class predicted for the whole image, after 0, 10, …, 100% of the "
            "patches",
            "probability",
        ),
        single("area", "area under the curve: the mean probability on the way", "probability"),
    ),
    source="petsiuk-2018",
    needs=(Need.IMAGES, Need.CLASSES, Need.EVERY_LAYER),
    laws=(
        f"len(probability) = {STEPS + 1}",
        "list_min(probability) >= 0 and list_max(probability) <= 1 + 1e-5",
        "area between list_min(probability) - 1e-5 and list_max(probability) + 1e-5",
    ),
    order=("seq", "rule", "curve"),
    depends_on=(Setting.KEPT,),
)
_AREA = -1
"""Number in place of a step: the area under the curve."""
_LONG = f"""
    select seq, rule, curve, unnest(range(0, len(probability))) as step,
        unnest(probability)::double as mean
    from sequence_perturbation
    union all
    select seq, rule, curve, {_AREA}, area::double from sequence_perturbation
    order by all
"""


def _shares(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The share of patches in place of the step; NULL for the area under the curve."""
    share = np.where(frame["step"] == _AREA, np.nan, frame["step"] / STEPS)
    return [frame.drop(columns="step").assign(share=share)]


TABLE = Table(
    name="perturbation",
    grain="one row per rule or method or random order, curve and share of patches, or for the area "
    "under the curve",
    key=(
        ORDER,
        CURVE,
        number(
            "share",
            "share of the patches that are gone, or have come; NULL: the area under the curve",
            nullable=True,
        ),
    ),
    values=(
        number(
            "mean",
            "mean over images of the probability of the class predicted for the whole image",
            "probability",
        ),
        *interval("probability"),
        N_SEQUENCES,
    ),
    source="petsiuk-2018",
    requires=("sequence_perturbation",),
    made_by=mean_of(Means(_LONG, ["rule", "curve", "step"], then=_shares)),
    needs=(Need.IMAGES, Need.CLASSES, Need.EVERY_LAYER),
    laws=(
        "share is null or share between 0 and 1",
        "mean between 0 and 1 + 1e-5",
        "low <= high",
        "n_sequences > 0",
    ),
    order=("rule", "curve", "share"),
    depends_on=(),
)

"""Class probability of an image as its most relevant patches are deleted or inserted."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.relevance_rules import ALL
from analysis.statistics.columns import named, single, singles
from analysis.statistics.question import asks, placed
from analysis.statistics.table import SEQUENCE, Table

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
TABLE = Table(
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
    needs=(Need.IMAGES, Need.CLASSES),
    laws=(
        f"len(probability) = {STEPS + 1}",
        "list_min(probability) >= 0 and list_max(probability) <= 1 + 1e-5",
        "area between list_min(probability) - 1e-5 and list_max(probability) + 1e-5",
    ),
    order=("seq", "rule", "curve"),
    depends_on=(Setting.GATE_RULE, Setting.KEPT),
)


@asks(f"""
    select rule, curve, (step - 1) / {STEPS} as share,
        probability[step]::double as probability, area::double as area
    from sequence_perturbation, range(1, {STEPS} + 2) as steps(step)
    where seq = $seq
    order by {placed(ORDERS, "rule")}, curve, share
""")
def of_sequence(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """All curves of one image: rule, curve, share (of the patches), probability, area."""
    ...

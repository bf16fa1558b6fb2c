"""Correlation of a step's effect on pairs of tokens with their PMI."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.rank_correlation import correlation, ranked, word_pairs
from analysis.needs import Need
from analysis.statistics.columns import count, named, number, small, whole
from analysis.statistics.fit import FitContext
from analysis.statistics.pairs.pair import WIDEST
from analysis.statistics.table import EFFECT, LAYER, Table

MIN_COUNTS = (2, 5, 10)
WINDOWS = (1, 5, None)
"""Largest distances of two tokens of a pair; None is any distance within a sequence."""
QUANTITIES = ("partial", "pmi", "source_frequency", "target_frequency")
"""Quantities to correlate with the mean change; partial is PMI given both frequencies."""
_OF_SEQUENCES = "from pair where n >= $least and not has_special"
_WITHIN = """
    from pair_delta_shards
    where layer = $layer and abs(source_pos - target_pos) <= $size
    group by source, target
    having count(*) filter (relation = 0) = 0 -- no special token takes part
"""
_COUNTED = f"""
    select source, target, n, n_source, n_target, n_all
    from (
        select *, sum(n) over (partition by source) as n_source,
            sum(n) over (partition by target) as n_target, sum(n) over () as n_all
        from (select source, target, count(*) as n {_WITHIN})
    )
    semi join pair using (source, target)
    where n >= $least
    order by source, target
"""
"""Pairs that occur often enough in a window, with how often all pairs of words do there."""


def _correlations(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Correlate in every layer, effect, window and minimum count where there is a ρ."""
    layers = store.execute("select distinct layer from pair_delta_wide order by layer").fetchall()
    effects = tuple(context.order.effects)
    rows = []
    for size in WINDOWS:
        pairs = _pairs(store, size)
        for (layer,) in layers:
            changes = _changes(store, layer, effects, size)
            together = pairs.merge(changes, on=["source", "target"], validate="one_to_one")
            of = {"layer": layer, "window_size": size}
            rows += [of | row for row in _rows(together, effects)]
    return pa.Table.from_pylist(rows, schema=table.schema)


def _pairs(store: DuckDBPyConnection, size: int | None) -> pd.DataFrame:
    """Return the pairs of words that occur often enough within a window: n, pmi, frequencies.

    They and their PMI are counted in the first layer that looks farthest, which has all pairs.
    """
    if size is None:
        pairs = store.execute(
            f"select source, target, n, pmi::double as pmi {_OF_SEQUENCES} order by source, target",
            {"least": min(MIN_COUNTS)},
        ).df()
    else:
        [(widest,)] = store.execute(f"select {WIDEST}").fetchall()
        of = {"layer": widest, "size": size, "least": min(MIN_COUNTS)}
        pairs = store.execute(_COUNTED, of).df()
        counts = pairs[["n", "n_source", "n_target"]].to_numpy().astype(np.int64)
        n_all = int(pairs["n_all"].max()) if len(pairs) else 0
        pmi = pointwise_mutual_information(*counts.T, n_all=n_all)
        pairs = pairs[["source", "target", "n"]].assign(pmi=pmi)
    counts = store.execute("select token_id, count(*) as n from token group by token_id").df()
    of_word = counts.set_index("token_id")["n"]
    frequencies = {f"{side}_frequency": pairs[side].map(of_word) for side in ("source", "target")}
    return pairs.assign(**frequencies)


def _changes(
    store: DuckDBPyConnection, layer: int, effects: tuple[str, ...], size: int | None
) -> pd.DataFrame:
    """Return the mean changes of one layer over a pair's occurrences within the window."""
    asked = {"layer": layer, "least": min(MIN_COUNTS)}
    if size is None:
        means = ", ".join(f"mean_{effect} as {effect}" for effect in effects)
        sql = f"select source, target, {means} from pair_delta_wide where layer = $layer"
        return store.execute(f"{sql} and n >= $least", asked).df()
    means = ", ".join(f"favg({effect}::double)::float as {effect}" for effect in effects)
    sql = f"select source, target, {means} {_WITHIN} and count(*) >= $least"
    return store.execute(sql, asked | {"size": size}).df()


def _rows(pairs: pd.DataFrame, effects: tuple[str, ...]) -> Iterator[dict]:
    """Yield the correlations of one layer in one window."""
    names = ("pmi", "source_frequency", "target_frequency")
    for least in MIN_COUNTS:
        chosen = pairs[pairs["n"] >= least]
        pmi, *frequencies = (ranked(chosen[name].to_numpy()) for name in names)
        words = word_pairs(chosen["source"].to_numpy(), chosen["target"].to_numpy())
        compared = {
            "partial": (pmi, tuple(frequencies)),
            "pmi": (pmi, ()),
            "source_frequency": (frequencies[0], ()),
            "target_frequency": (frequencies[1], ()),
        }
        for effect in effects:
            change = ranked(chosen[effect].to_numpy())
            for quantity, (first, given) in compared.items():
                estimate = correlation(first, change, given, words)
                if estimate is not None:
                    yield {
                        "effect": effect,
                        "min_count": least,
                        "quantity": quantity,
                        "n_pairs": len(chosen),
                        "n_words": words.n_words,
                        "spearman": estimate.spearman,
                        **{end: _known(getattr(estimate, end)) for end in ("low", "high")},
                    }


def _known(end: float) -> float | None:
    return None if pd.isna(end) else end


TABLE = Table(
    name="pair_pmi_correlation",
    grain="one row per layer, effect, window, minimum count and quantity; pairs with special "
    "tokens are left out",
    key=(
        LAYER,
        EFFECT,
        small(
            "window_size",
            "greatest distance of the two positions; PMI, counts and changes are of the pairs "
            "within it; NULL: any distance within the sequence",
            "tokens",
            nullable=True,
        ),
        whole("min_count", "how often a pair occurs at least", "pairs"),
        named(
            "quantity",
            "what the mean change is compared with: pmi; source_frequency or target_frequency, "
            "how often the word stands in the corpus; partial, which is PMI given both frequencies",
        ),
    ),
    values=(
        count("n_pairs", "pairs of vocabulary entries that take part", "pairs"),
        count("n_words", "vocabulary entries that take part, on either side", "words"),
        number("spearman", "Spearman's ρ of the quantity and mean change", "ρ"),
        *(
            number(
                name,
                f"{end} end of the 95% interval, in which pairs that share a word are not "
                "independent; NULL below 100 words",
                "ρ",
                nullable=True,
            )
            for name, end in (("low", "lower"), ("high", "upper"))
        ),
    ),
    source="church-1990",
    needs=(Need.PAIRS,),
    laws=(
        "n_pairs >= 3 and n_words > 0",
        "spearman between -1 - 1e-9 and 1 + 1e-9",
        "(low is null) = (high is null)",
        "low is null or (low <= spearman and spearman <= high)",
    ),
    depends_on=(),
    version=2,
    requires=("pair_delta", "pair"),
    made_by=_correlations,
)

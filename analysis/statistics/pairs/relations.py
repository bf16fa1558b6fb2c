"""Effects on the mixing of tokens by their relation, and correlated with their PMI."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.pairs.mutual_information import pointwise_mutual_information
from analysis.measures.pairs.rank_correlation import correlation as rank_correlation
from analysis.measures.pairs.rank_correlation import ranked, word_pairs
from analysis.measures.pairs.token_relation import mean_ratios
from analysis.needs import Need
from analysis.statistics.base.columns import (
    LAYER,
    SEQ,
    correlation,
    count,
    interval,
    named,
    number,
    place,
    ratio,
    share,
    whole,
)
from analysis.statistics.base.means import Blocks
from analysis.statistics.base.tables import FitContext, Table
from analysis.statistics.pairs.changes import EFFECT, RELATION, WIDEST

# correlation of a step's effect with PMI

PMI_MIN_COUNTS = (2, 5, 10)
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
_COUNTED_WITHIN = f"""
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
    return table.rows([pd.DataFrame(rows)])


def _pairs(store: DuckDBPyConnection, size: int | None) -> pd.DataFrame:
    """Return the pairs of words that occur often enough within a window: n, pmi, frequencies.

    They and their PMI are counted in the first layer that looks farthest, which has all pairs.
    """
    if size is None:
        pairs = store.execute(
            f"select source, target, n, pmi::double as pmi {_OF_SEQUENCES} order by source, target",
            {"least": min(PMI_MIN_COUNTS)},
        ).df()
    else:
        [(widest,)] = store.execute(f"select {WIDEST}").fetchall()
        of = {"layer": widest, "size": size, "least": min(PMI_MIN_COUNTS)}
        pairs = store.execute(_COUNTED_WITHIN, of).df()
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
    asked = {"layer": layer, "least": min(PMI_MIN_COUNTS)}
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
    for least in PMI_MIN_COUNTS:
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
                estimate = rank_correlation(first, change, given, words)
                if estimate is not None:
                    yield {
                        "effect": effect,
                        "min_count": least,
                        "quantity": quantity,
                        "n_pairs": len(chosen),
                        "n_words": words.n_words,
                        "spearman": estimate.spearman,
                        "low": estimate.low,
                        "high": estimate.high,
                    }


_END = "end of the 95% interval, in which pairs that share a word are not independent"
PAIR_PMI_CORRELATION = Table(
    "pair_pmi_correlation",
    key=(
        LAYER,
        EFFECT,
        place(
            "greatest distance of the two positions; PMI, counts and changes are of the pairs "
            "within it",
            "tokens",
            name="window_size",
            least=1,
            null="for any distance within the sequence",
        ),
        whole("how often a pair occurs at least", "pairs", name="min_count", least=1),
        named(
            "what the mean change is compared with: pmi; source_frequency or target_frequency, "
            "how often the word stands in the corpus; partial, which is PMI given both frequencies",
            QUANTITIES,
            name="quantity",
        ),
    ),
    values={
        "n_pairs": count("pairs of vocabulary entries that take part", "pairs", least=3),
        "n_words": count("vocabulary entries that take part, on either side", "words"),
        "spearman": correlation("Spearman's ρ of the quantity and mean change"),
        "low": correlation(f"lower {_END}", null="below 100 words"),
        "high": correlation(f"upper {_END}", null="below 100 words"),
    },
    source="church-1990",
    note="pairs with special tokens are left out",
    needs=(Need.PAIRS,),
    laws=(
        "(low is null) = (high is null)",
        "low is null or (low <= spearman and spearman <= high)",
    ),
    version=2,
    requires=("pair_delta", "pair"),
    made_by=_correlations,
)

# between which kinds of tokens a step changes the mixing

SEQUENCE_RELATION_CHANGE = Table(
    "sequence_relation_change",
    key=(LAYER, EFFECT, RELATION, SEQ),
    values={
        "n": whole("ordered pairs of two positions", "pairs", least=1),
        "before": number(
            "the pair's share of the target's mixing before the step, summed over the pairs",
            "share",
            least=0,
            exact=True,
        ),
        "change": number(
            "|δ| summed over the pairs; δ is by how much the step changes the pair's share",
            "share",
            least=0,
            exact=True,
        ),
        "gain": number(
            "δ summed over the pairs whose share grows", "share", least=0, most="change", exact=True
        ),
    },
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    version=2,
    requires=("layer_completeness",),
)
_SHARES = """
    with amount as (
        unpivot (
            select seq, effect, relation, n::double as pairs, before, change, gain,
                change - gain as loss
            from sequence_relation_change where layer = $layer
        )
        on pairs, before, change, gain, loss into name quantity value amount
    ),
    total as (
        select seq, effect, quantity, sum(amount) as total from amount group by all
        having total <> 0
    ),
    occurring as (
        select distinct effect, quantity, relation
        from amount semi join total using (effect, quantity)
    ),
    share as (
        select seq, effect, quantity, relation, coalesce(amount / total, 0) as share
        from total join occurring using (effect, quantity)
        left join amount using (seq, effect, quantity, relation)
    ),
    before as (from share where quantity = 'before')
    select share.*, before.share as share_before
    from share left join before using (seq, effect, relation)
"""
"""Shares of the relations that occur, in every sequence with a total, 0 for those that it lacks;
`share_before` is NULL without mixing before the step."""
_SUMS = """
    select block, effect, quantity, relation, fsum(share) as share, fsum(share_before) as before
    from shares_of_layer join blocks using (seq)
    where share_before is not null and quantity not in ('pairs', 'before')
    group by all order by all
"""
_CELL = ["effect", "quantity", "relation"]


def _mean_shares(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Average the shares of every relation that occurs in the corpus, and divide them by those of
    the mixing before."""
    blocks = Blocks.of(store, "sequence_relation_change")
    frames = []
    layers = store.execute("select distinct layer from sequence_relation_change order by 1")
    for (layer,) in layers.fetchall():
        made = f"create or replace temp table shares_of_layer as {_SHARES}"
        store.execute(made, {"layer": layer})
        shares = "select * exclude (share, share_before), share as value from shares_of_layer"
        means = blocks.means(store, f"{shares} where {{some}}", context)
        wide = store.sql(_SUMS).df().pivot(index="block", columns=_CELL)
        wide = wide.reindex(blocks.numbers)
        over, under = wide["share"], wide["before"]
        drawn = context.redraws(blocks.numbers)
        ratios = mean_ratios(over.to_numpy(), under.to_numpy(), drawn)
        names = ("ratio", "ratio_low", "ratio_high")
        of_cells = over.columns.to_frame(index=False).assign(
            **dict(zip(names, ratios, strict=True))
        )
        frames.append(means.merge(of_cells, on=_CELL, how="left").assign(layer=layer))
    return table.rows(frames)


RELATION_SHARE = Table(
    "relation_share",
    key=(
        LAYER,
        EFFECT,
        RELATION,
        named(
            "pairs (how many there are), before (the mixing before the step), change (|δ|), gain "
            "(δ above 0) or loss (δ below 0)",
            ("pairs", "before", "change", "gain", "loss"),
            name="quantity",
        ),
    ),
    values={
        "mean": share(
            "mean over sequences of the relation's share of the sequence's total", most=1 + 1e-9
        ),
        **interval("share"),
        "n_sequences": count("sequences averaged over", "sequences"),
        "ratio": ratio(
            "mean over the mean share of the mixing before in the same sequences",
            null="for pairs and before, and where there is no mixing before",
        ),
        **interval("ratio", of="ratio"),
    },
    source="kobayashi-2024",
    needs=(Need.RELATIONS,),
    laws=(
        "ratio is null or quantity not in ('pairs', 'before')",
        "(ratio_low is null) = (ratio_high is null)",
        "ratio_low is null or ratio is not null",
    ),
    version=2,
    requires=("sequence_relation_change",),
    made_by=_mean_shares,
)

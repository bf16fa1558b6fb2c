"""Rank correlations with their parts within groups and between them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.bootstrap import median_with_interval
from analysis.measures.correlation_parts import (
    Part,
    Units,
    correlation_parts,
    moments,
    single_units,
)
from analysis.measures.norms.frequency_correlation import correlation_of_moments, frequency_ranks
from analysis.measures.norms.histogram_correlation import (
    can_be_ranked,
    centred_midranks,
    histogram_spearman,
)
from analysis.needs import Need, Setting
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    Column,
    correlation,
    count,
    flag,
    interval,
    named,
    pooled,
    rank,
)
from analysis.statistics.base.means import gather
from analysis.statistics.base.tables import BY_RANK, FitContext, Table, derived

OF_PAIRS = ("within_heads", "between_heads", "between_layers")
"""Parts of a correlation over the pairs of all heads; between heads is within their layer."""
OF_TOKENS = ("within_sequences", "between_sequences")
OF_HEADS = ("within_layers", "between_layers")
"""Parts of a correlation over heads, or over pairs of heads."""
POOLED = "pooled"
"""Name of the level of a correlation that is not divided."""
_OWN = {"spearman": "_spearman", "low": "_spearman_low", "high": "_spearman_high"}
_ENDS = ("", *_OWN.values())


def parts(names: tuple[str, ...]) -> dict[str, Column]:
    """Return the columns of a correlation's parts: what each adds, and its own correlation."""
    columns: dict[str, Column] = {}
    for name in names:
        own = f"{name}_spearman"
        columns[name] = correlation(
            "what this level adds to spearman; the levels add up to it", null="where that is NULL"
        )
        columns[own] = correlation(
            "correlation on this level by itself", null="where either side has no spread there"
        )
        columns |= interval("ρ", of=own)
    return columns


def laws_of_parts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the laws that parts add up to the correlation, and are there where it is."""
    return (
        f"coalesce(abs({' + '.join(names)} - spearman), 0) < 1e-9",
        f"(spearman is null) = ({names[0]} is null)",
    )


def values_of_parts(names: tuple[str, ...], values: Iterable[Part]) -> dict[str, float]:
    """Return the values of the columns of `parts`."""
    return {
        f"{name}{end}": number
        for name, numbers in zip(names, values, strict=True)
        for end, number in zip(_ENDS, numbers, strict=True)
    }


def at_level(parts: tuple[str, ...], level: str) -> str:
    """Return SQL for spearman, low and high of the part that an expression names, or of the whole.

    Args:
        level: an SQL expression, such as a parameter.
    """
    numbers = {
        part: ", ".join(f"{name}: {part}{end}" for name, end in _OWN.items()) for part in parts
    }
    cases = " ".join(f"when '{part}' then {{{of_part}}}" for part, of_part in numbers.items())
    return f"unnest(case {level} {cases} else {{spearman: spearman, low: low, high: high}} end)"


def of_bins(
    name: str, *, of: Table, sides: Mapping[str, tuple[str, str]], by: Column, **more: Any
) -> Table:
    """Declare Spearman's ρ of a joint histogram: of heads, of layers and of all together.

    Args:
        sides: columns with mean ranks, each with the column of the histogram whose bins are ranked
            and what that is called.
        by: column of the histogram whose values are apart.
        more: of the table.
    """
    middle = "mean rank among all pairs of the type in the file, 0 the smallest and 1 the largest"
    bins = {side: binned for side, (binned, _) in sides.items()}
    names = " and ".join(word for _, word in sides.values())
    columns = {
        "n": of.values["n"],
        "spearman": correlation(
            f"Spearman's ρ of {names}", null="where a side hardly varies or pairs are too few"
        ),
        **parts(OF_PAIRS),
        **{side: rank(f"{middle}: of {word}") for side, (_, word) in sides.items()},
        "median": correlation("median of the heads' own ρ", null="where none has one"),
        **interval("ρ", of="median"),
    }

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        names = ", ".join(["layer", "head", *bins.values(), "n"])
        kinds = store.sql(f"select distinct {by.name} from {of.name} order by all").fetchall()
        cells = f"select {names} from {of.name} where {by.name} = $kind order by all"
        return table.rows(
            _of_bins(store.execute(cells, {"kind": kind}).df(), bins, context.seed).assign(
                **{by.name: kind}
            )
            for (kind,) in kinds
        )

    return derived(
        name,
        of=of,
        key=(pooled(LAYER), pooled(HEAD), by),
        values=columns,
        laws=laws_of_parts(OF_PAIRS),
        declared=BY_RANK,
        made_by=fit,
        **more,
    )


def _of_bins(cells: pd.DataFrame, sides: dict[str, str], seed: int) -> pd.DataFrame:
    """Return the rows of every head, of every layer, and of all together."""
    bins, n = list(sides.values()), cells["n"].to_numpy(float)
    for side, ranked in sides.items():
        cells[side] = centred_midranks(cells[ranked].to_numpy(), n) + 0.5

    def row(own: pd.DataFrame, place: Any = ()) -> dict[str, Any]:
        ranks = np.average(own[list(sides)], axis=0, weights=own["n"])
        of_place = dict(zip(("layer", "head"), place, strict=False))
        means = dict(zip(sides, ranks, strict=True))
        return {**of_place, "n": own["n"].sum(), **means, **_of_heads(own, bins, seed)}

    heads = pd.DataFrame(row(own, place) for place, own in cells.groupby(["layer", "head"]))
    layers = [
        row(own, place) | _median(heads.loc[heads["layer"] == own["layer"].iloc[0]], seed)
        for place, own in cells.groupby(["layer"])
    ]
    every = row(cells) | _median(heads, seed)
    return pd.concat([heads.assign(median=heads["spearman"]), pd.DataFrame([*layers, every])])


def _median(heads: pd.DataFrame, seed: int) -> dict[str, float]:
    """Return the median of the heads' own ρ, and its interval."""
    values = median_with_interval(heads["spearman"].dropna().to_numpy(), seed=seed)
    return dict(zip(("median", "median_low", "median_high"), values, strict=True))


def _of_heads(cells: pd.DataFrame, bins: list[str], seed: int) -> dict[str, float]:
    """Return ρ of the pairs of some heads, with its parts; NaN where they cannot be ranked."""
    first, second = (cells[side].to_numpy() for side in bins)
    counts = cells["n"].to_numpy()
    spearman = histogram_spearman(first, second, counts)
    if spearman is None or not can_be_ranked(second, counts):
        return {"spearman": np.nan}
    n, place = counts.astype(float), cells["layer"].to_numpy(int) * 256 + cells["head"]
    heads, head = np.unique(place, return_inverse=True)
    layers, layer = np.unique(heads // 256, return_inverse=True)
    of_groups = moments([centred_midranks(side, n) for side in (first, second)], n, head)
    drawn, of_layers = (single_units(len(units), seed=seed) for units in (heads, layers))
    values = correlation_parts(of_groups, (layer,), (drawn, drawn, of_layers))
    return {"spearman": spearman, **values_of_parts(OF_PAIRS, values)}


EXACT, AN_OCTAVE = 5_000_000, 4096
"""Most tokens whose values have exact ranks; beyond it they are those of bins, so many to the
octave."""
_MOMENTS = """
    with chosen as (
        select seq, rank, {value} as value from tokens join ranking using (token_id)
        where value is not null and ({special} or not is_special)
    ),
    firsts as (
        select rank, (sum(n) over (order by rank) - (n - 1) / 2) / sum(n) over () - 0.5 as first
        from (select rank, count(*) as n from chosen group by rank)
    ),
    seconds as (
        select value, (sum(n) over (order by value) - (n - 1) / 2) / sum(n) over () - 0.5 as second
        from (select value, count(*) as n from chosen group by value)
    )
    select any_value(block) as block, count(*)::double as n, fsum(first) as a, fsum(second) as b,
        fsum(first * first) as aa, fsum(second * second) as bb, fsum(first * second) as ab
    from chosen join firsts using (rank) join seconds using (value) join blocks using (seq)
    group by seq order by seq
"""
"""Number of tokens of each sequence, and sums of mid-ranks, their squares and products."""


def with_frequency(
    name: str,
    *,
    of: Table,
    rows: str,
    values: Mapping[str, Column],
    key: Column,
    **more: Any,
) -> Table:
    """Declare Spearman's ρ of word frequency and numbers of single tokens, masked places left out.

    Masked places, which would pass for the commonest word, have no row, but attend. The `sql` of a
    number makes it from the rows of a token, in single precision: equal ones tie, in whatever order
    their parts were added. Tokens without a number are left out.

    Args:
        rows: what is read, as SQL: tokens with `is_masked`, and what numbers are made of.
        key: column with the name of the number, one of `values`.
        more: of the table.
    """
    numbers = ", ".join(f'({column.sql})::float as "{name}"' for name, column in values.items())
    query = f"""
        select seq, token_id, token_type in ('bos', 'cls', 'sep') as is_special, {numbers}
        from {rows} where not is_masked and {{some}}
        group by seq, pos, token_id, token_type order by seq, pos
    """
    columns = {
        "n": count("token occurrences, masked places not among them", "tokens"),
        "spearman": correlation(
            "ρ of frequency rank (1 = frequent) and quantity", null="where a side has no spread"
        ),
        **interval("ρ"),
        **parts(OF_TOKENS),
    }

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        gather(store, "tokens", query)
        frame = pd.DataFrame(_with_frequency(store, tuple(values), key.name, context))
        store.execute("drop table tokens")
        return table.rows([frame])

    return derived(
        name,
        of=of,
        key=(
            named(
                "corpus: counted in this corpus; file: given to the run",
                ("corpus", "file"),
                name="source",
            ),
            replace(key, names=tuple(values)),
            flag("whether bos, cls and sep take part", name="special_tokens"),
        ),
        values=columns,
        laws=laws_of_parts(OF_TOKENS),
        declared=BY_RANK,
        note="masked places left out",
        needs=tuple(dict.fromkeys((Need.FREQUENCY, *of.needs))),
        depends_on=(Setting.FREQUENCIES, *of.depends_on),
        made_by=fit,
        **more,
    )


def _with_frequency(
    store: DuckDBPyConnection, numbers: tuple[str, ...], key: str, context: FitContext
) -> Iterator[dict[str, Any]]:
    """Yield a row for each source of frequencies, with special tokens or without, and number."""
    counted = store.sql("select token_id, count(*) as n from tokens group by all").fetchnumpy()
    corpus = np.bincount(counted["token_id"], weights=counted["n"]).astype(np.int64)
    value = '"{}"'
    if corpus.sum() > EXACT:
        value = f'if("{{0}}" > 0, floor(log2("{{0}}"::double) * {AN_OCTAVE}), -1e9)'
    for source, ranks in {"corpus": frequency_ranks(corpus), **context.frequency_ranks}.items():
        ids = pa.array(np.arange(len(ranks)), pa.int32())
        store.register("ranking", pa.table({"token_id": ids, "rank": ranks}))
        for special, number in product((True, False), numbers):
            sql = _MOMENTS.format(value=value.format(number), special=special)
            block, *sums = store.sql(sql).fetchnumpy().values()
            if len(block):
                place = {"source": source, "special_tokens": special, key: number}
                yield place | _of_moments(block, np.stack(sums, axis=1), context)
        store.unregister("ranking")


def _of_moments(blocks: np.ndarray, sums: np.ndarray, context: FitContext) -> dict[str, Any]:
    """Return ρ, its interval and its parts, from the moments of each sequence and its block."""
    present, of_sequence = np.unique(blocks, return_inverse=True)
    found = correlation_of_moments(sums, Units(context.redraws(present), of_sequence))
    row: dict[str, Any] = {"n": int(sums[:, 0].sum())}
    if found is not None:
        values = zip(("spearman", "low", "high"), found, strict=False)
        row |= dict(values) | values_of_parts(OF_TOKENS, found.parts)
    return row

"""Merging of the occurrences of a pair of tokens into one row, as SQL."""

from analysis.measures.pairs.pair_delta import LEAST_SEQUENCES
from analysis.scopes import EFFECTS, RELATIONS

_COUNTS = (f"count(*) filter (relation = {place})" for place in range(len(RELATIONS)))
RELATION_COUNTS = f"[{', '.join(_COUNTS)}]"
"""Number of a group's occurrences by relation, as a list in the order of `RELATIONS`."""
RELATION_OF_COUNTS = "(if(counts[1] > 0, 1, list_position(counts, list_max(counts))) - 1)::tinyint"
"""Index of the most frequent relation in `counts`, the first of several. Special, the first of all,
wins wherever it occurs, since a special token is special in every sequence."""

WIDEST = """(
    select layer from pair_delta_shards group by layer order by count(*) desc, layer limit 1
)"""
"""The first layer with the widest window, which has every pair that any layer has."""


def _each(pattern: str) -> str:
    """Return a column for every effect."""
    return ", ".join(pattern.format(e=effect) for effect in EFFECTS)


def _merge() -> str:
    """Return the query with compensated sums, so that row order and threads change no bit.

    `spread` has CR2's variance and Satterthwaite's degrees of freedom of the mean, as
    `analysis.measures.pairs.pair_delta.mean_interval` defines them, from the sums of each sequence.
    """
    leverage = "(c * c / (1 - c / n))"
    variance = "fsum((sum_{e} - c * {e}) ** 2 / (1 - c / n)) / (n * n)"
    deviations = _each(
        "case when n > 1 and {e} is not null then "
        "sqrt(greatest({e}_square - {e} * {e}, 0) * n / (n - 1)) end::float as std_{e}"
    )
    return f"""
        with averages as (
            select layer, source, target,
                count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences,
                {RELATION_COUNTS} as counts,
                {_each("favg({e}::double) as {e}, favg({e}::double * {e}) as {e}_square")}
            from shards
            group by layer, source, target
        ),
        repeated as (from averages where n_sequences >= {LEAST_SEQUENCES}),
        by_sequence as (
            select layer, source, target, seq, count(*)::double as c,
                {_each("fsum({e}::double) as sum_{e}")}
            from shards
            semi join repeated using (layer, source, target)
            group by layer, source, target, seq
        ),
        spread as (
            select layer, source, target,
                (n * n / (fsum(c * c)
                    + (fsum{leverage} ** 2 - fsum({leverage} ** 2)) / (n * n)))::float as degrees,
                {_each(f"sqrt({variance})::float as error_{{e}}")}
            from by_sequence
            join (select * replace (n::double as n) from repeated) using (layer, source, target)
            group by layer, source, target, n
        )
        select layer, source, target, n, n_sequences, {RELATION_OF_COUNTS} as relation,
            {_each("{e}::float as mean_{e}")}, {deviations},
            degrees, {_each("error_{e}")}
        from averages
        left join spread using (layer, source, target)
    """


MERGE = _merge()

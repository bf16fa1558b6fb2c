"""How the occurrences of a pair of tokens become one row."""

from analysis.measures.pairs.pair_delta import LEAST_SEQUENCES
from analysis.scopes import EFFECTS, RELATIONS

_COUNTS = (f"count(*) filter (relation = {place})" for place in range(len(RELATIONS)))
RELATION_COUNTS = f"[{', '.join(_COUNTS)}]"
"""How many of a group's occurrences have each relation, by its place in `RELATIONS`."""
RELATION_OF_COUNTS = "(if(counts[1] > 0, 1, list_position(counts, list_max(counts))) - 1)::tinyint"
"""The place of the relation that most of `counts` have, of several the first; special, the first of
all, wherever it occurs, since a special token is one in every sequence."""

WIDEST = """(
    select layer from pair_delta_shards group by layer order by count(*) desc, layer limit 1
)"""
"""The first layer that looks farthest, which has every pair that any layer has."""


def _each(pattern: str) -> str:
    """A column for every effect."""
    return ", ".join(pattern.format(e=effect) for effect in EFFECTS)


def _merge() -> str:
    """Compensated sums, so that neither the order of rows nor the number of threads is seen.

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

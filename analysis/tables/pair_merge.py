"""How the occurrences of a pair of tokens become one row."""

from analysis.scopes import EFFECTS, RELATIONS

_COUNTS = (f"count(*) filter (relation = {place})" for place in range(len(RELATIONS)))
RELATION_COUNTS = f"[{', '.join(_COUNTS)}]"
"""How many of a group's occurrences have each relation, told by its place in `RELATIONS`."""
RELATION_OF_COUNTS = "(if(counts[1] > 0, 1, list_position(counts, list_max(counts))) - 1)::tinyint"
"""The place of the relation that most of `counts` have, of several the first; special, the first of
all, wherever it occurs, since a special token is one in every sequence."""


def _merge() -> str:
    """Compensated sums, so that neither the order of rows nor the number of threads is seen."""
    sums = ", ".join(
        f"favg({each}::double) as {each}, favg({each}::double * {each}) as {each}_square"
        for each in EFFECTS
    )
    means = ", ".join(f"{each}::float as mean_{each}" for each in EFFECTS)
    deviations = ", ".join(
        f"case when n > 1 and {each} is not null then "
        f"sqrt(greatest({each}_square - {each} * {each}, 0) * n / (n - 1)) end::float as std_{each}"
        for each in EFFECTS
    )
    return f"""
        select layer, source, target, n, n_sequences,
            {RELATION_OF_COUNTS} as relation, {means}, {deviations}
        from (
            select layer, source, target,
                count(*)::integer as n,
                (count(*) filter (is_first))::integer as n_sequences,
                {RELATION_COUNTS} as counts,
                {sums}
            from shards
            group by layer, source, target
        )
    """


MERGE = _merge()

"""Example queries; their titles are the words `example_NAME` of the page."""

from dataclasses import dataclass

from analysis.statistics import norms
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import TOKENS
from analysis.statistics.heads.single_heads import HEAD_PATTERN
from analysis.statistics.mixing import mixing_ratio
from analysis.statistics.pairs import pair_delta
from pages.services.open_file import Store


@dataclass(frozen=True)
class Example:
    """A query, and the tables without which it has no result."""

    sql: str
    needs: tuple[Table, ...] = ()


EXAMPLES = {
    "received": Example(
        """\
select layer, token_type,
       mean, low, high
from token_type_interval
where quantity = 'attention'
  and head is null
order by layer, token_type""",
        (norms.TOKEN_TYPE_MIXING,),
    ),
    "previous": Example(
        """\
select layer || '-' || head as head,
       previous
from head_pattern
order by previous desc
limit 20""",
        (HEAD_PATTERN,),
    ),
    "frequent": Example(
        """\
select token,
       avg(value_norm) as value_norm,
       log2(count(distinct (seq, pos)))
           as log2_count
from head_token
join token using (seq, pos)
where layer = (
    select max(layer) from head_token
)
group by token
having log2_count >= 1
order by log2_count desc""",
        (norms.HEAD_TOKEN, TOKENS),
    ),
    "modules": Example(
        """\
select layer, scope,
       mean as mixing_ratio
from mixing_ratio
where token_type = 'all'
  and layer is not null
order by layer""",
        (mixing_ratio.TABLE,),
    ),
    "pairs": Example(
        """\
select source || ' → ' || target as pair,
       mean_delta, n
from pair_delta
where effect = 'ff'
  and layer = 1 and n >= 5
order by mean_delta desc
limit 20""",
        (pair_delta.TABLE,),
    ),
    "rows": Example(
        """\
select name, n_rows
from manifest
order by n_rows desc
limit 20"""
    ),
}


def examples_for(store: Store) -> dict[str, Example]:
    """Examples that have a result on a file, by name; at least one."""
    return {name: example for name, example in EXAMPLES.items() if store.holds(*example.needs)}

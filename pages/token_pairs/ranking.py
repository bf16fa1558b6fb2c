"""Lists of pairs of tokens and tallies of what they are chosen from, as SQL."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.scopes import RELATIONS
from analysis.statistics.pairs.changes import (
    DISTANCE_FROM_ZERO_SQL,
    KEPT,
    LEAST_DEGREES,
    MIN_COUNTS,
    with_interval,
)
from analysis.statistics.question import frame_of

ALL = "all"
_PLACES = {name: place for place, name in enumerate(RELATIONS)}
_ORDERS = {
    "largest": ("true", "abs(mean) desc"),
    "amplified": ("mean > 0", "mean desc"),
    "attenuated": ("mean < 0", "mean"),
}
RANKS = ("bound", "mean")
"""Ranks by the bound of the interval that is nearer to 0, or by the mean change, as in the
papers."""
_COLUMNS = "layer, source, target, n, n_sequences, relation, mean, std, error, degrees"


@dataclass(frozen=True)
class PairSelection:
    """A reader's options for a list of pairs; effect, order, relation and rank are of pickers.

    Attributes:
        min_count: fewest occurrences of a listed pair.
        text: text that one of the two tokens must contain, in any case; in double quotes the whole
            token must match. `source` is one for w_j, and `target` for w_i.
        rank: by the bound of the interval that is nearer to 0 (pairs without such an interval, or
            with 0 in it, come last, by their mean), or by the mean alone.
        special: whether pairs with a special token are listed.
        clear: True to list only pairs whose interval does not hold 0.
    """

    effect: str
    min_count: int
    order: str = "largest"
    limit: int = 0
    text: str = ""
    relation: str = ALL
    special: bool = True
    rank: str = "bound"
    clear: bool = False
    source: str = ""
    target: str = ""

    @property
    def values(self) -> dict[str, int | str]:
        """Return the parameters of the queries."""
        texts = {name: text[1:-1] if _is_whole(text) else text for name, text in self._texts}
        return {"min_count": self.min_count, "limit": self.limit, **texts}

    @property
    def words(self) -> str:
        """Return the start of a query that finds tokens by text; a text in quotes is a whole
        token."""
        parts = (
            f"matching_{name} as materialized "
            f"(select token_id from vocabulary where {_fits(name, text)}), "
            for name, text in self._texts
        )
        return f"with {''.join(parts)}"

    @property
    def _texts(self) -> list[tuple[str, str]]:
        """Return the texts to find, by the side that must contain them; `text` means either
        side."""
        texts = (("text", self.text), ("source", self.source), ("target", self.target))
        return [(name, text) for name, text in texts if text]

    @property
    def conditions(self) -> str:
        """Return the conditions on a pair; frequency first, since rows are sorted by it."""
        there = f"mean is not null and {_ORDERS[self.order][0]}"
        clear = f" and {DISTANCE_FROM_ZERO_SQL} is not null" if self.clear else ""
        sides = "".join(
            f" and {name} in (from matching_{name})" for name, _ in self._texts if name != "text"
        )
        return f"n >= $min_count and {there} and {self._of_relation}{clear}{sides}"

    @property
    def _of_relation(self) -> str:
        relation = "true" if self.relation == ALL else f"relation = {_PLACES[self.relation]}"
        return relation if self.special else f"{relation} and relation <> {_PLACES['special']}"

    @property
    def columns(self) -> str:
        """Return the selected columns of a pair."""
        return f"{_COLUMNS}, {DISTANCE_FROM_ZERO_SQL if self.rank == 'bound' else 'null'} as near"

    @property
    def sorting(self) -> str:
        """Return the order of the list; ties follow the order of their token ids."""
        clear_first = "near desc nulls last, " if self.rank == "bound" else ""
        return f"{clear_first}{_ORDERS[self.order][1]}, source, target"

    def kept(self, layers: list[int]) -> str:
        """Return the query for the rows of `pair_extreme` that can start the lists of these
        layers."""
        least = max(count for count in MIN_COUNTS if count <= max(self.min_count, 1))
        return f"""
            select {self.columns} from pair_extreme
            where effect = '{self.effect}' and amplified = {self.order == "amplified"}
                and min_count = {least} and layer in {_tuple(layers)} and {self._of_relation}
        """

    @property
    def of_kept(self) -> str:
        """Return the conditions on rows of `pair_extreme`."""
        text = "source in (from matching_text) or target in (from matching_text)"
        return f"{self.conditions} and ({text if self.text else 'true'})"

    def of_all(self, layers: list[int]) -> list[str]:
        """Return the queries over all pairs of these layers.

        Without a text each layer has its own query, which keeps no more rows than are listed. With
        a text, which few pairs contain, one query covers all layers.
        """
        if self.text and len(layers) > 1:
            return [self.with_text(self.rows(layers))]
        rows = (self.rows([layer]) for layer in layers)
        return [
            f"(from ({self.with_text(query) if self.text else query}) "
            f"order by {self.sorting} limit $limit)"
            for query in rows
        ]

    def rows(self, layers: list[int]) -> str:
        return f"""
            select {self.columns}
            from (select *, mean_{self.effect} as mean, std_{self.effect} as std,
                    error_{self.effect} as error from pair_delta_wide)
            where layer in {_tuple(layers)} and {self.conditions}
        """

    def with_text(self, rows: str) -> str:
        """Return a query per side, which is faster than a condition on either side."""
        return f"""
            {rows} and source in (from matching_text) union all
            {rows} and target in (from matching_text) and source not in (from matching_text)
        """


def _is_whole(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == '"'


def _fits(name: str, text: str) -> str:
    """Return the condition on a token for the text bound to a name."""
    fits = "{0} = {1}" if _is_whole(text) else "contains({0}, {1})"
    return fits.format("lower(token)", f"lower(${name})")


def _tuple(layers: list[int]) -> str:
    return f"({', '.join(str(int(layer)) for layer in layers)})"


def listed(store: DuckDBPyConnection, *, layers: list[int], **options: Any) -> pd.DataFrame:
    """Return the first pairs of each layer, each averaged over all of its occurrences.

    Args:
        options: of `PairSelection`.

    Returns:
        layer, place, source_id, target_id, source, target, n, n_sequences, mean_delta, std_delta,
        low, high (of the mean; NaN where sequences are too few), pmi, relation. Pairs of equal rank
        follow the order of their token ids.
    """
    choice = PairSelection(**options)
    left = _unsettled(store, choice, layers)
    settled = [layer for layer in layers if layer not in left]
    parts = choice.of_all(left)
    if settled:
        parts.append(f"from ({choice.kept(settled)}) where {choice.of_kept}")
    frame = frame_of(
        store,
        f"""
        {choice.words} listed as materialized (
            select *, row_number() over (partition by layer order by {choice.sorting}) as place
            from ({" union all ".join(parts)})
            qualify place <= $limit
        )
        select layer, place, listed.source as source_id, listed.target as target_id,
            s.token as source, t.token as target, listed.n, listed.n_sequences,
            mean::double as mean_delta, std::double as std_delta,
            error as standard_error, degrees, pmi::double as pmi,
            $relations[listed.relation + 1] as relation
        from listed
        join vocabulary as s on s.token_id = listed.source
        join vocabulary as t on t.token_id = listed.target
        left join pair using (source, target) -- whose n is larger where a layer has a window
        order by layer, place
        """,
        {**choice.values, "relations": list(RELATIONS)},
    )
    return with_interval(frame)


def _unsettled(store: DuckDBPyConnection, choice: PairSelection, layers: list[int]) -> list[int]:
    """Return the layers whose lists may continue beyond the stored extremes.

    For each relation the stored pairs are the largest changes, or all pairs. So no other pair has a
    larger change, or a bound beyond it, than the smallest stored change of a relation. A list of
    pairs above that is settled.
    """
    [(is_filled,)] = store.execute("select count(*) > 0 from pair_extreme").fetchall()
    if not is_filled or choice.order == "largest":
        return layers
    size = "near" if choice.rank == "bound" else "abs(mean)"
    unsettled = store.execute(
        f"""
        {choice.words} kept as materialized ({choice.kept(layers)}),
        least as (
            select layer, min(abs(mean)) as change from kept
            group by layer, relation having count(*) = {KEPT}
        ),
        bound as (select layer, max(change) as change from least group by layer),
        found as (from kept where {choice.of_kept})
        select bound.layer
        from bound
        left join found on found.layer = bound.layer and {size} > bound.change
        group by bound.layer
        having count(found.layer) < $limit
        order by bound.layer
        """,
        choice.values,
    ).fetchall()
    return [layer for (layer,) in unsettled]


def tally(store: DuckDBPyConnection, *, layers: list[int], **options: Any) -> pd.DataFrame:
    """Count the pairs that meet the conditions of a list, in each layer once.

    Returns:
        One row: n_pairs, n_sure (those with an interval), n_clear (those clear of 0), their share
        of these, and n_amplified and n_attenuated of them.
    """
    chosen = PairSelection(**options)
    rows = chosen.with_text(chosen.rows(layers)) if chosen.text else chosen.rows(layers)
    return frame_of(
        store,
        f"""
        {chosen.words} fulfilling as ({rows})
        select count(*) as n_pairs,
            count(*) filter (degrees::double >= {LEAST_DEGREES}) as n_sure,
            count(near) as n_clear, coalesce(n_clear / nullif(n_sure, 0), 0) as share,
            count(*) filter (near is not null and mean > 0) as n_amplified,
            count(*) filter (near is not null and mean < 0) as n_attenuated
        from fulfilling
        """,
        {name: value for name, value in chosen.values.items() if name != "limit"},
    )

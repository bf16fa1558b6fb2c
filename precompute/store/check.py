"""Checks of a file: completeness, laws of and between its tables, and sums of parts."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.error_limits import LIMITS
from analysis.errors import BrokenLaw, UserError
from analysis.foreign_file import BrokenContract, Locked, OtherSchema
from analysis.scopes import EFFECTS, ORDERS, POST_NORM
from analysis.statistics import corpus
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import LEAST_COUNT, MANIFEST, N_OTHERS, is_whole
from analysis.statistics.question import quoted
from analysis.time_limit import TooSlow
from precompute.jobs.tables import pieces
from precompute.store.show import opened


def _strangers() -> str:
    """Return a query for the number of scopes and effects outside of the file's layer order."""
    names = (
        "select distinct scope from mixing_ratio union select distinct scope_a from "
        "scope_similarity union select distinct scope from token_mixing_ratio "
        "union select distinct effect from relation_share"
    )
    steps = (
        f"select '{effect}' as name from pair_delta_wide where mean_{effect} is not null limit 1"
        for effect in EFFECTS
    )
    orders = " ".join(
        f"when '{name}' then name in ({quoted(*order.of_ratios, *order.effects)})"
        for name, order in ORDERS.items()
    )
    order = "select value from provenance where name = 'layer_order'"
    listed = " union ".join(f"({step})" for step in steps)
    return f"""
        select count(*) from (select * from ({names}) as given(name) union {listed})
        where not (case coalesce(({order}), '{POST_NORM.name}') {orders} end)"""


def _not_1(total: str, rows: str, *, by: str) -> str:
    """Return a query for the number of groups whose total is not 1."""
    return f"""
        select count(*) from (select abs({total} - 1) as error from {rows} group by {by})
        where error > $tolerance"""


_KNOWN = f"(no_token is not null or not {corpus.HAS_SINK_LOGITS})"
"""SQL that is true unless attention to no token was not measured."""


def _not_of_every_token(table: str, *, by: str) -> str:
    """Return a query for the number of groups that lack tokens of the table's sequences."""
    return f"""
        select count(*) from (
            select count(*) as n from {table} group by {by}
            having n <> if({is_whole(table)}, (select n_tokens from run),
                (select sum(n_tokens) from sequence semi join {table} using (seq))))"""


def _miscounted(table: str, of_sequence: str, *, by: str) -> str:
    """Return a query for the number of groups whose n is not the sum over sequences."""
    return f"""
        select count(*) from (select layer, sum(n) as n from {table} group by {by})
        join (
            select layer, sum({of_sequence}) as expected
            from sequence, (select distinct layer from {table}) group by layer) using (layer)
        where n <> expected"""


_RECEIVED = "sum(attention_received::double)"
_PATTERNS = {
    "cls": "= 'cls'",
    "sep": "= 'sep'",
    "comma_period": "= 'comma_period'",
    "first": "in ('bos', 'first')",
}
"""Types of tokens by the columns of `sequence_head_pattern`."""
_PATTERN_ERRORS = ", ".join(
    f"abs({_RECEIVED} filter (token_type {types}) / any_value(n_tokens) - any_value({column}))"
    for column, types in _PATTERNS.items()
)

CROSS_LAWS = {
    "the file has all settings of its model, of which those of earlier versions may mix two": f"""
        select 1 - count(*) from provenance as identity, provenance as weights
        where identity.name = '{corpus.MODEL}weights' and weights.name = 'weights_sha256'
            and identity.value = '"' || weights.value || '"'""",
    "the tokens of a sequence number its n_tokens": """
        select count(*) from (
            select seq from sequence left join token using (seq) where text is not null
            group by seq, n_tokens having count(pos) <> n_tokens)""",
    "run.n_sequences and run.n_tokens count what is there": f"""
        select count(*) from run
        where n_sequences <> (select count(*) from sequence)
            or n_tokens <> (select sum(n_tokens) from sequence)
            or {is_whole("token")} and exists (from sequence where text is null)""",
    "a sample has as many sequences as the file says": """
        select count(*) from provenance
        where name = 'sample sequence' and split_part(value, '/', 1)::bigint
            <> (select count(*) from sequence where text is not null)""",
    "a corpus is all images, or none": """
        select count(*) from run
        where (select count(*) from image) not in (0, n_sequences)""",
    "the tokens of an image are its patches and the special ones before them": """
        select count(*) from image join sequence using (seq)
        where n_tokens <> first_patch + grid_rows * grid_columns""",
    "every head has every token": _not_of_every_token("head_token", by="layer, head"),
    "attention received in a sequence adds up to its number of tokens": _not_1(
        f"{_RECEIVED} / any_value(n_tokens) + coalesce(any_value(no_token), 0)",
        "head_token join sequence using (seq) "
        f"left join sequence_no_token using (seq, layer, head) where {_KNOWN}",
        by="layer, head, seq",
    ),
    "token types share all attention": _not_1(
        "sum(attention) + coalesce(any_value(no_token), 0)",
        "token_type_mixing left join ("
        "select layer, head, mean as no_token from no_token where quantity = 'no_token') "
        f"using (layer, head) where {_KNOWN}",
        by="layer, head",
    ),
    "shares of norms received in a sequence add up to its number of tokens": _not_1(
        "sum(norm_share_received::double) / any_value(n_tokens)",
        "stored.head_token join sequence using (seq)",
        by="layer, head, seq having min(value_norm) > 0",
    ),
    "token types share all norms": _not_1(
        "sum(mean) filter (quantity = 'norm_share')",
        "token_type_interval where head is not null",
        by="layer, head having min(mean) filter (quantity = 'value_norm') > 0",
    ),
    "weights to a token type are the same whether heads or tokens are counted": f"""
        select count(*) from (
            select greatest({_PATTERN_ERRORS}) as error
            from head_token join sequence_head_pattern using (seq, layer, head)
            group by seq, layer, head)
        where error > $tolerance""",
    "no place gets less from the queries that see it than its tokens receive from all": f"""
        select count(*) from (
            select any_value(attention) - {_RECEIVED} / any_value(n_tokens) as margin
            from head_token join sequence using (seq)
            join sequence_sink using (seq, layer, head)
            where place::varchar = token_type::varchar
            group by seq, layer, head, place)
        where margin < -$tolerance""",
    "the norm of a place is that of its tokens": """
        select count(*) from (
            select any_value(s.value_norm) as norm, avg(t.value_norm::double) as mean
            from head_token as t join sequence_sink as s using (seq, layer, head)
            where place::varchar = token_type::varchar
            group by seq, layer, head, place)
        where abs(norm - mean) > $tolerance * mean""",
    "no coordinate is larger than its token is long": """
        select count(*) from sequence_massive_activation as found
        join token_norm using (seq, pos)
        where layer = depth + 1 and largest > input_norm * (1 + $tolerance)""",
    "the histogram of every head counts every pair": _miscounted(
        "attention_norm_histogram", f"n_tokens + {N_OTHERS}", by="layer, head"
    ),
    "the pairs of every layer occur as often as two tokens stand in one sequence": f"""
        {_miscounted("pair_delta_wide", N_OTHERS, by="layer")}
        and not exists (from provenance where name = '{LEAST_COUNT}')""",
    "the first token of a causal model is of type first, unless it is special or masked": f"""
        select count(*) from token where (token_type = 'first') <> (pos = 0 and {corpus.IS_CAUSAL}
            and not is_masked and token_type not in ('bos', 'cls', 'sep'))""",
    "no pair occurs less often than the file says": f"""
        select count(*) from (
            select max(n) as n from pair_delta_wide group by source, target)
        where n < (select value::bigint from provenance where name = '{LEAST_COUNT}')""",
    "a causal model has no pair whose key is behind its query": f"""
        select count(*) from (
            select query_pos, key_pos from attention_norm_sample
            union all
            select target_pos, source_pos from pair_occurrence)
        where key_pos > query_pos and {corpus.IS_CAUSAL}""",
    "layers are seen at the scopes and in the steps of their order": _strangers(),
    "relations share all pairs and all change": _not_1(
        "sum(mean)", "relation_share", by="layer, effect, quantity"
    ),
    "all that has come together in a token comes from some type and some distance": _not_1(
        "sum(mean)", "rollout", by="layer, scope, token_type is null, distance is null"
    ),
    "all that vectors bring together in a token comes from some type and some distance": _not_1(
        "sum(mean)", "vector_rollout", by="layer, scope, token_type is null"
    ),
    "spectra with and without positions are of the same number of sequences": """
        select count(*) from (
            select any_value(control) from position_spectrum_control where control <> 'kept'
            group by source, layer, length, frequency, n_sequences
            having count(*) <> 3)""",
    "every scope has the mixing ratio of every token": _not_of_every_token(
        "token_mixing_ratio", by="scope"
    ),
    "frequencies are of the tokens that are not masked": f"""
        select count(*) from (
            select n from frequency_correlation where special_tokens
            union all select n from ratio_frequency_correlation where special_tokens)
        where n <> (select count(*) from token where not is_masked) and {is_whole("token")}""",
    "tokens of all types make up the mixing ratio's tokens": """
        select count(*) from (
            select sum(case token_type when 'all' then -n else n end) as missed
            from mixing_ratio group by layer, scope)
        where missed <> 0""",
}


def assert_laws(store: DuckDBPyConnection, table: Table) -> None:
    """Raise BrokenLaw unless every row of a stored table keeps its contract."""
    laws = (*table.laws, *table.bounds)
    if not laws:
        return
    broken = ", ".join(f"count(*) filter (where not ({law}))" for law in laws)
    counted = store.execute(f"select {broken} from stored.{table.name}").fetchall()[0]
    for law, rows in zip(laws, counted, strict=True):
        if rows:
            raise BrokenLaw(table.name, law, rows)


def assert_unique(store: DuckDBPyConnection, table: Table) -> None:
    """Raise BrokenLaw if two rows of a stored table have the same key."""
    if not table.key:
        return
    key, name = ", ".join(f'"{column.name}"' for column in table.key), f"stored.{table.name}"
    rows = 0
    for piece in pieces(store, table, name):
        twice = f"select 1 from {name} where {piece} group by {key} having count(*) > 1"
        [(n_twice,)] = store.execute(f"select count(*) from ({twice})").fetchall()
        rows += n_twice
    if rows:
        raise BrokenLaw(table.name, f"unique ({key})", rows)


_ERRORS = (
    ("relative_error", "sequence_completeness", "attention block at position ' || worst_pos || '"),
    ("attention_sum_error", "sequence_completeness", "attention weights"),
    ("relative_error", "layer_completeness", "whole layer at position ' || worst_pos || '"),
    ("relative_error", "vector_completeness", "vectors through all layers up to it"),
    ("greatest(score_error, trace_error, attention_error)", "query_key_error", "query-key form"),
)
"""Errors that have a limit, with their tables and what adds up, in SQL."""


def assert_parts_add_up(store: DuckDBPyConnection) -> None:
    """Raise UserError unless parts add up to the model's output, and attention rows to 1."""
    ((dtype,),) = store.execute("select dtype from run").fetchall()
    errors = " union all ".join(
        f"select seq, layer, {error} as error, '{part}' as part from {table}"
        for error, table, part in _ERRORS
    )
    worst = f"from ({errors}) where not (error <= {LIMITS[dtype]})"
    worst = f"{worst} order by isnan(error) desc, error desc limit 1"
    for seq, layer, error, part in store.execute(worst).fetchall():
        raise UserError(
            f"Sequence {seq}, layer {layer}: the parts of the {part} miss the model's own "
            f"output by {error:.2g}, above the {LIMITS[dtype]:g} allowed in {dtype}. "
            "The numbers of this model cannot be trusted and are not published."
        )


def faults(path: Path) -> Iterator[str]:
    """Yield the faults of a file, one sentence each; none if it is complete and sound."""
    if not path.is_file():
        yield f"{path}: there is no such file."
        return
    try:
        with opened(path) as store:
            yield from _faults_inside(store)
    except (OtherSchema, Locked, TooSlow) as error:
        yield str(error)
    except (BrokenContract, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        yield f"{path} is damaged or no file of Mixscope: {reason} Build it again."


def _faults_inside(store: DuckDBPyConnection) -> Iterator[str]:
    stored = store.execute("select name, n_rows, checksum from stored.manifest").fetchall()
    promised = {name: {"n_rows": n_rows, "checksum": sum} for name, n_rows, sum in stored}
    for table in (table for table in every_table() if table != MANIFEST):
        if (expected := promised.get(name := table.name)) is None:
            yield f"{name}: the manifest does not name it. Build the file again."
        elif (found := contents(store, name)) != expected:
            yield (
                f"{name}: {found['n_rows']} rows are not the {expected['n_rows']} that "
                "were stored, or their content has changed. Build the file again."
            )
    for table in every_table():
        try:
            assert_laws(store, table)
            assert_unique(store, table)
        except BrokenLaw as fault:
            yield str(fault)
    try:
        assert_parts_add_up(store)
    except UserError as fault:
        yield str(fault)
    ((dtype,),) = store.execute("select dtype from run").fetchall()
    for law, sql in CROSS_LAWS.items():
        values = {"tolerance": LIMITS[dtype]} if "$tolerance" in sql else {}
        if groups := store.execute(sql, values).fetchall()[0][0]:
            yield f"{groups} group(s) break the law that {law}. Build the file again."

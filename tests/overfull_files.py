"""Statements that make a small file unfold into more than memory holds."""

from tests.small_store import manifest_of


def _insert(table: str, columns: str, n: int = 1) -> tuple[str, ...]:
    """Insert more rows, counted in the manifest; `n` numbers them in their columns."""
    rows = f"select {columns} from range({n}) as each(n)"
    return f"insert into stored.{table} by name {rows}", manifest_of(table)


OVERFULL = {
    "a text longer than its tokens": (
        _insert("sequence", "0 as seq, 1 as n_tokens, repeat('x', 65) as text"),
        'sequence breaks the law `length("text") <= 64 * n_tokens`',
    ),
    "a row more than when it was built": (
        ("insert into stored.vocabulary values (1, 'the')",),
        "Its table vocabulary is not what it was when the file was built.",
    ),
    "one row many times": (
        _insert("sink", "1 as layer, 1 as head, 'first' as place, 'x' as quantity", n=20_000),
        'sink breaks the law `unique ("layer", "head", "place", "quantity")`',
    ),
    "one pair many times in many layers": (
        _insert("pair_delta", "1 + n % 2 as layer, 7 as source, 7 as target", n=50_000),
        'pair_delta breaks the law `unique ("layer", "source", "target")`',
    ),
    "more rows than bytes": (
        _insert("vocabulary", "n as token_id, 'the' as token", n=6_000_000),
        "vocabulary breaks the law `count(*) <= ",
    ),
    "more sequences than anybody has": (
        ("update stored.run set n_sequences = 1000000000000",),
        "run breaks the law `n_sequences between 1 and 100000000`",
    ),
    "vectors without end": (
        ("update stored.run set hidden_size = 2000000000",),
        "run breaks the law `hidden_size between 1 and 1000000`",
    ),
    "more layers than the model has": (
        _insert("score_share", "3 as layer, 1 as head"),
        'score_share breaks the law `"layer" <= (select n_layers from stored.run)`',
    ),
    "a sequence that was not run": (
        _insert("relevance_map", "3 as seq, 'rollout' as rule, 1 as layer"),
        'relevance_map breaks the law `"seq" <= (select n_sequences - 1 from stored.run)`',
    ),
    "a token of many letters": (
        _insert("vocabulary", "1 as token_id, repeat('x', 3000000) as token"),
        'vocabulary breaks the law `length("token") <= 1000`',
    ),
    "a list of millions": (
        _insert("exemplar_attention", "1 as seq, range(1048577)::float[] as attention"),
        'exemplar_attention breaks the law `len("attention") <= 1048576`',
    ),
    "a picture of many bytes": (
        _insert("image", "1 as seq, encode(repeat('x', 5000000)) as picture"),
        'image breaks the law `octet_length("picture") <= 4194304`',
    ),
    "many large pictures": (
        _insert("image", "1 as seq, encode(repeat('x', 4000000)) as picture", n=30),
        'image breaks the law `coalesce(sum(octet_length("picture")), 0) <= ',
    ),
    "patches without end": (
        _insert("image", "1 as seq, 32000 as grid_rows, 32000 as grid_columns"),
        'image breaks the law `"grid_rows" <= 32768 // grid_columns`',
    ),
    "many long texts": (
        _insert("sequence", "1 as seq, 32768 as n_tokens, repeat('x', 2000000) as text", n=60),
        'sequence breaks the law `coalesce(sum(strlen("text")), 0) <= ',
    ),
    "a sequence without end": (
        _insert("sequence", "0 as seq, 40000 as n_tokens"),
        'sequence breaks the law `"n_tokens" <= 32768`',
    ),
    "a name without end": (
        _insert("layer_cohesion", "repeat('x', 1001) as weighing"),
        'layer_cohesion breaks the law `length("weighing") <= 1000`',
    ),
}
"""Statements after which a file is refused, and what is said of it."""

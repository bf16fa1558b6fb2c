"""The corpus as the model read it, with its words, mentions and images; the run, and the file."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import KNOWS_PLACES_BY, TRANSFORMS
from analysis.scopes import ORDERS
from analysis.statistics.base.columns import (
    POS,
    SEQ,
    TOKEN_TYPE,
    Column,
    count,
    flag,
    named,
    numbers,
    place,
    share,
    small,
    text,
    whole,
)
from analysis.statistics.base.tables import Table, view
from analysis.statistics.question import frame_of, quoted

MODEL = "model."
"""Beginning of the names in `provenance` of settings that the numbers of the model depend on."""
Identity = tuple[tuple[str, str], ...]
"""These settings, in the order of their names."""


def identity_in(facts: Mapping[str, str]) -> Identity:
    """Return the settings of a model among the facts of a file; none in those of earlier
    versions."""
    return tuple(sorted(fact for fact in facts.items() if fact[0].startswith(MODEL)))


LETTERS_A_TOKEN = 64
"""Characters of text that a file keeps per token of a sequence: some fifteen times a usual
token."""
_TOKEN_ID = whole("place in the vocabulary")
_TOKEN = text("the token as the tokenizer writes it")
MOST_POSITIONS = 2**15
"""Tokens of a sequence that positions in 16 bits can number."""
SEQUENCES = Table(
    "sequence",
    key=(SEQ,),
    source="clark-2019",
    values={
        "n_tokens": whole("tokens, special ones included", "tokens", least=1),
        "text": text(
            f"the text it was made of, its first {LETTERS_A_TOKEN} letters for each token",
            null="where the tokens of the sequence are not kept",
        ),
    },
)
TOKENS = Table(
    "token",
    key=(SEQ, POS),
    source="clark-2019",
    values={
        "token_id": _TOKEN_ID,
        "token": _TOKEN,
        "token_type": TOKEN_TYPE,
        "segment": small("segment id, 0 or 1 for BERT", least=0),
        "is_masked": flag(
            "whether it is the mask token, put there by the run or by the corpus, and no word"
        ),
    },
)
VOCABULARY = Table(
    "vocabulary",
    key=(replace(_TOKEN_ID, name="token_id"),),
    source="clark-2019",
    note="entries that occur",
    values={"token": _TOKEN},
)
MERGINGS = ("mean", "first")
"""Ways to merge the attention that the tokens of a word give."""
MERGING = named(
    "what a word gives: mean over its pieces, or first piece alone", MERGINGS, name="merging"
)
WORD = place("word of the sequence, counted from 0", name="word")
WORDS = Table(
    "word",
    key=(SEQ, WORD),
    source="clark-2019",
    note="of annotated sequences",
    many_rows=True,
    values={
        "sentence": place("sentence of the sequence, counted from 0"),
        "form": text("the word as it is written"),
        "space_after": flag("whether a space stands after it"),
        "first_pos": place("position of its first token"),
        "last_pos": place("position of its last token"),
        "part_of_speech": text("part of speech (UPOS), empty if unknown", "name"),
        "relation": text(
            "how it depends on its governor, as the treebank calls it",
            "name",
            null="without a tree",
        ),
        "governor": place(
            "its syntactic head, a word of the sequence", null="for a root and without a tree"
        ),
        "is_masked": flag("whether the model did not read the word, since a piece of it is masked"),
    },
    laws=(
        "first_pos <= last_pos",
        "governor is null or (relation is not null and governor <> word)",
    ),
)
MENTIONS = Table(
    "mention",
    key=(SEQ, place("mention of the sequence, counted from 0 in order", name="mention")),
    source="clark-2019",
    note="of sequences with coreference",
    many_rows=True,
    values={
        "first_word": place("its first word"),
        "last_word": place("its last word"),
        "head_word": place("the word that carries it"),
        "cluster": whole("what it stands for, the same for all that corefer"),
        "mention_type": named("pronoun, proper or nominal", ("pronoun", "proper", "nominal")),
        "is_masked": flag("whether the model did not read it whole, since a word of it is masked"),
    },
    laws=("first_word <= head_word and head_word <= last_word",),
)
_SIZE = "of the image in the file, as it is shown"
IMAGES = Table(
    "image",
    key=(SEQ,),
    note="of a corpus of images",
    values={
        "name": text("name of the file", least=1),
        "width": whole(f"width {_SIZE}", "pixels", least=1),
        "height": whole(f"height {_SIZE}", "pixels", least=1),
        "grid_rows": place("rows of patches", "patches", least=1),
        "grid_columns": place("columns of patches", "patches", least=1),
        "first_patch": place("position of the first patch"),
        "picture": Column(
            "what the model sees, resized and cropped",
            "PNG",
            type=pa.binary(),
            null="where no map is kept",
        ),
        "coverage": numbers(
            "the part of each patch that lies inside the mask, NaN where the mask does not tell",
            null="without a mask",
        ),
    },
    source="sawaki-2025",
    laws=(
        "picture is null or octet_length(picture) > 0",
        "coverage is null or len(coverage) = grid_rows * grid_columns",
        "coverage is null or len(list_filter(coverage, lambda each: not isnan(each))) > 0",
        "coverage is null or list_bool_and(list_transform(coverage, "
        "lambda each: isnan(each) or each between 0 and 1))",
    ),
)
RUN = Table(
    "run",
    key=(),
    source="clark-2019",
    note="how this file was made",
    values={
        "model": text("name the model was loaded by", "name"),
        "revision": text("commit of the hub, or hash of the weights", "name"),
        "family": text("model family", "name"),
        "n_layers": whole("layers of the model", "layers", least=1, most=255),
        "n_heads": whole("heads in each layer", "heads", least=1, most=255),
        "hidden_size": whole(
            "width of the residual stream", "coordinates", least=1, most=1_000_000
        ),
        "corpus": text("name of the corpus", "name"),
        "corpus_sha256": text("hash of the corpus file", "SHA-256"),
        "n_sequences": count("sequences run", "sequences", most=100_000_000),
        "n_tokens": count("tokens run, special ones included", "tokens"),
        "mask_rate": share("share of the tokens that were masked", exact=True),
        "seed": count("seed of every random choice", "number", least=None),
        "dtype": text("number format of the model's arithmetic", "name"),
        "device": text("device of the run that built the file", "name"),
        "statistics": Column("statistics in this file", "names", type=pa.list_(pa.string())),
        "created_at": Column("when the file was built", "UTC", type=pa.timestamp("s")),
        "tool_version": text("version of Mixscope", "version"),
        "schema_version": whole("version of this file's layout", "version"),
    },
    laws=(
        f"n_tokens between n_sequences and {MOST_POSITIONS} * n_sequences",
        "mask_rate < 1",
        "dtype in ('float32', 'bfloat16')",
        "not list_bool_or(list_transform(statistics, lambda each: each is null))",
    ),
)
FACTS = {
    "attention": "value in ('causal', 'full')",
    "input": "value in ('text', 'images')",
    "layer_order": f"value in ({quoted(*ORDERS)})",
    "positions_by": f"value in ({quoted(*KNOWS_PLACES_BY)})",
    "relevance_start": "value in ('cls', 'cls_and_distillation', 'last', 'patches')",
}
"""Facts of every run that pages rely on, and the law of each."""
_ORDERED = ", ".join(
    f"('{order.name}', {place}, '{scope}', '{step}')"
    for order in ORDERS.values()
    for place, (scope, step) in enumerate(zip(order.scopes, order.steps, strict=True))
)
_SCOPES = view(
    "scope",
    (count("place in the order, counted from 0", name="position", least=0),),
    {
        "scope": text("how much of the layer counts, as other views name it", "name"),
        "step": text("what it counts in that the one before does not", "name"),
    },
    note="scopes of the file's layers; the last is the whole layer",
    sql=f"""select position, scope, step
    from (values {_ORDERED}) as every(layer_order, position, scope, step)
    join stored.provenance as fact on fact.name = 'layer_order' and fact.value = layer_order
    order by position""",
)
"""Scopes of the run's layer order: `attn_w` is reached by "weights", others by a step of the
layer."""
_WINDOW, _GAP = "(all|none|[0-9]{1,9})", "[1-9][0-9]{0,2} [A-Za-z0-9_]+"
PROVENANCE = Table(
    "provenance",
    key=(text("what is told", "name", name="name"),),
    note="facts about the run that `run` has no column for",
    values={"value": text("what it is")},
    views=(_SCOPES,),
    shown_as="provenance",
    source="clark-2019",
    laws=(
        *(f"name <> '{fact}' or {law}" for fact, law in FACTS.items()),
        f"name <> 'windows' or regexp_full_match(value, '{_WINDOW}(, {_WINDOW})*')",
        f"name <> 'without_attention' or regexp_full_match(value, '{_GAP}(, {_GAP})*') "
        "and len(string_split(value, ', ')) < (select n_layers from stored.run)",
        "name <> 'random_weights' or regexp_full_match(value, 'none|[0-9]{1,19}')",
        "name <> 'part' or value in ('none', 'text', 'vision', 'encoder')",
        "name <> 'modules_not_read' or regexp_full_match(value, '[A-Za-z0-9_, ]+')",
        "name <> 'settings_not_read' or regexp_full_match(value, '[A-Za-z0-9_.?, -]+')",
        "name <> 'weight_bits' or regexp_full_match(value, '[1-9]')",
        "name <> 'reading' or value in ('found', 'code')",
        f"name <> 'transforms' or value in ({quoted(*TRANSFORMS)})",
        "not starts_with(name, 'proof_') or coalesce(try_cast(value as double) between 0 and 1, "
        "false)",
        "name <> 'max_tokens' or regexp_full_match(value, '[1-9][0-9]{0,8}')",
    ),
)
MANIFEST = Table(
    "manifest",
    key=(text("table", "name", name="name"),),
    note="what a stored table held when it was built",
    values={
        "n_rows": count("rows", "rows", least=0),
        "checksum": Column("exclusive or of the rows' hashes", "hash", type=pa.uint64()),
    },
    source="clark-2019",
    round_off=("checksum",),
)
WINDOW = """try_cast(string_split(
    (select value from provenance where name = 'windows'), ', ')[layer] as bigint)"""
"""Distance in tokens that a query of a layer sees, as SQL; NULL without a window or attention."""
REACH = f"least(n_tokens - 1, coalesce({WINDOW}, n_tokens - 1))::bigint"
"""Distance in tokens that a query sees in a layer of a sequence, as SQL over both."""
IS_CAUSAL = "exists (from provenance where name = 'attention' and value = 'causal')"
"""SQL that is true if queries see no later key."""
HAS_SINK_LOGITS = """exists (
    from provenance where name = 'layers_with_sink_logits'
        and list_contains(string_split(value, ', '), layer::varchar))"""
"""SQL that is true if heads of a row's layer have a logit for no token."""
N_OTHERS = f"(({REACH}) * n_tokens - ({REACH}) * (({REACH}) + 1) // 2) * if({IS_CAUSAL}, 1, 2)"
"""Number of pairs of a query and another token in a layer of a sequence, as SQL."""
PATCHES = """
    select
        any_value(grid_rows)::int as rows,
        any_value(grid_columns)::int as columns,
        (
            select coalesce(list(token order by pos), [])
            from token
            where pos < any_value(first_patch) and seq = min(image.seq)
        ) as special,
        count(*)::int as n_images,
        count(coverage)::int as n_masks
    from image
    having count(*) > 0
"""
"""Grid of patches of all images, as SQL: rows, columns, special (names of the tokens before the
patches, in order), n_images, n_masks (images with a mask); no row without images."""
CORPUS = (SEQUENCES, TOKENS, WORDS, MENTIONS, VOCABULARY)
"""Tables that hold the corpus itself; every fit may read them."""
TABLES = (RUN, PROVENANCE, MANIFEST, *CORPUS, IMAGES)


def run(store: DuckDBPyConnection) -> pd.Series:
    """Return the one row of `run`."""
    return frame_of(store, "from run").iloc[0]


def provenance(store: DuckDBPyConnection) -> dict[str, str]:
    """Return all other facts of the run, by name."""
    facts = frame_of(store, "from provenance order by name")
    return dict(zip(facts["name"], facts["value"], strict=True))


# parts of a corpus that a file leaves out: unusable rows, rows beyond limits

_SAMPLE, _LEAST = "sample", "least_count"
LEAST_COUNT = f"{_LEAST} pair_delta"
"""Name of the fact with the smallest count of a stored pair; absent if all are stored."""

_UNUSED = ("images", "masks", "blank_rows", "malformed_rows", "coreference", "padding_tokens")
_COUNT = re.compile(r"[1-9][0-9]{0,17}")


class Sample(NamedTuple):
    """Number of sequences with rows in a table, and of such sequences in the corpus."""

    kept: int
    of: int


def sample_facts(table: Table, sample: Sample) -> dict[str, str]:
    """Return the facts for `provenance` about a sampled table, by name."""
    return {f"{_SAMPLE} {table.name}": f"{sample.kept}/{sample.of}"}


def rarest_facts(table: Table, least: int) -> dict[str, str]:
    """Return the facts for `provenance` about a table without its rarest groups, by name."""
    return {f"{_LEAST} {table.name}": str(least)}


def is_whole(table: str) -> str:
    """Return SQL that is true if a file keeps the rows of all sequences."""
    return f"not exists (from provenance where name = '{_SAMPLE} {table}')"


def samples(facts: Mapping[str, str]) -> dict[str, Sample]:
    """Return the samples of a file by table name, from its facts."""
    start = f"{_SAMPLE} "
    return {
        name.removeprefix(start): Sample(*map(int, value.split("/")))
        for name, value in facts.items()
        if name.startswith(start)
    }


def left_out(facts: Mapping[str, str]) -> dict[str, int]:
    """Return the counts of unusable parts of the corpus by kind, from the file's provenance."""
    counts = {kind: facts.get(f"corpus {kind}_left_out", "") for kind in _UNUSED}
    return {kind: int(count) for kind, count in counts.items() if _COUNT.fullmatch(count)}


def least_count(facts: Mapping[str, str]) -> int:
    """Return the smallest count of a stored pair, from the file's facts."""
    return int(facts.get(LEAST_COUNT, 1))

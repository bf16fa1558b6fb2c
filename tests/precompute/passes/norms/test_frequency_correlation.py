"""Rank correlations with word frequency, and means by token type, against the bare model."""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from analysis.tables.mixing import token_mixing_ratio
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.precompute.passes.bare_corpus import (
    ENTRIES,
    RANKED,
    SCOPES,
    Bare,
    Token,
    build_corpus,
    values_of,
)
from tests.reference.bare_bert import bare_layers
from tests.reference.norms import frequency_correlation as reference
from tests.reference.norms import token_type_mixing as by_type

STATISTICS = ["frequency_correlation", "ratio_frequency_correlation", "token_type_mixing"]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return build_corpus(tmp_path_factory.mktemp("frequency"), STATISTICS)


@pytest.fixture(scope="module")
def store(path) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(path), read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def bare(store, path) -> Bare:
    rows = store.execute("from token order by seq, pos").df()
    tokens, layers = {}, {}
    for seq, of in rows.groupby("seq"):
        tokens[seq] = list(zip(of["token"], of["token"] == "[MASK]", strict=True))
        told = of["token_id"].tolist(), of["segment"].tolist()
        layers[seq] = bare_layers(str(path.parent / "model-bert"), *told)
    return Bare(tokens, layers)


@pytest.fixture(scope="module")
def slow(bare) -> list[Token]:
    """Every token with its mean weight, length and ratios over layers and heads."""
    return [
        Token(seq, token, masked, {name: of[place] for name, of in values.items()})
        for seq, layers in bare.layers.items()
        for values in [values_of(layers)]
        for place, (token, masked) in enumerate(bare.tokens[seq])
    ]


def _expected(slow: list[Token], quantity: str, source: str, special: bool) -> tuple[int, float]:
    words = [each for each in slow if not each.is_masked]
    counts = Counter(each.token for each in words)
    names = sorted(counts)
    of_corpus = reference.frequency_ranks([counts[each] for each in names])
    last = max(RANKED.values()) + 1
    ranks = (
        dict(zip(names, of_corpus, strict=True))
        if source == "corpus"
        else {each: RANKED.get(each, last) for each in names}
    )
    chosen = [each for each in words if special or not each.is_special]
    rho = reference.rank_correlation(
        [ranks[each.token] for each in chosen], [each.values[quantity] for each in chosen]
    )
    return len(chosen), rho


@pytest.mark.parametrize("source", ["corpus", "file"])
@pytest.mark.parametrize("special", [True, False])
def test_weights_and_lengths_are_ranked_as_the_bare_model_has_them(store, slow, source, special):
    found = store.execute(
        "select quantity, n, spearman, low, high from frequency_correlation "
        "where source = $1 and special_tokens = $2",
        [source, special],
    ).fetchall()
    assert {row[0] for row in found} == {"attention", "value_norm"}
    for quantity, n, rho, low, high in found:
        assert (n, rho) == pytest.approx(_expected(slow, quantity, source, special), abs=1e-6)
        assert (low, high) == (None, None), "of fewer than ten sequences"


@pytest.mark.parametrize("source", ["corpus", "file"])
@pytest.mark.parametrize("special", [True, False])
def test_ratios_are_ranked_as_the_bare_model_has_them(store, slow, source, special):
    found = store.execute(
        "select scope, n, spearman, low, high from ratio_frequency_correlation "
        "where source = $1 and special_tokens = $2",
        [source, special],
    ).fetchall()
    assert {row[0] for row in found} > set(SCOPES)
    for scope, n, rho, low, high in found:
        assert (low, high) == (None, None), "of fewer than ten sequences"
        if scope in SCOPES:
            assert (n, rho) == pytest.approx(_expected(slow, scope, source, special), abs=1e-6)


def test_the_corpus_has_what_could_go_wrong(slow):
    """Without it, a masked word or a special one in the wrong place would change nothing."""
    masked = [each for each in slow if each.is_masked]
    counts = Counter(each.token for each in slow if not each.is_special)
    assert counts["[MASK]"] == len(masked) > 4
    assert len({each.seq for each in masked}) == len(ENTRIES)
    with_masks = [replace(each, is_masked=False) for each in slow]
    without_sep = [replace(each, token="sep") if each.token == "[SEP]" else each for each in slow]
    for wrong in (with_masks, without_sep):
        for quantity in ("attention", "value_norm", "attn_res_ln"):
            n, rho = _expected(wrong, quantity, "corpus", special=False)
            assert n > _expected(slow, quantity, "corpus", special=False)[0]
            assert abs(rho - _expected(slow, quantity, "corpus", special=False)[1]) > 1e-3


def test_every_token_has_the_ratio_of_the_bare_model(store, slow):
    for scope in SCOPES:
        found = store.execute(
            "select mean from token_mixing_ratio where scope = $1 order by seq, pos", [scope]
        ).fetchall()
        expected = [each.values[scope] for each in slow]
        assert [mean for (mean,) in found] == pytest.approx(expected, abs=1e-5)


def test_words_are_drawn_without_masks_and_with_their_ranks(store, slow):
    counts = Counter(each.token for each in slow if not each.is_masked)
    for special in (True, False):
        found = token_mixing_ratio.words(store, scope="attn_res", special=special, limit=1000)
        assert set(found["token"]) == set(counts) - (set() if special else {"[CLS]", "[SEP]"})
        row: Any
        for row in found.itertuples():
            own = [each.values["attn_res"] for each in slow if each.token == row.token]
            assert row.n == counts[row.token] == len(own)
            assert row.rank == 1 + sum(n > row.n for n in counts.values())
            assert row.ratio == pytest.approx(sum(own) / len(own), abs=1e-5)
    few = token_mixing_ratio.words(store, scope="attn_res", special=True, limit=3)
    assert len(few) == 3
    assert few["rank"].is_monotonic_increasing


def test_means_by_type_are_those_of_the_bare_model(store, bare):
    """Masked places are among the others, and a text without a type counts 0 in sums alone."""
    of_tokens = {"[CLS]": "cls", "[SEP]": "sep", ",": "comma_period", ".": "comma_period"}
    n_sequences = len(bare.tokens)
    rows = store.execute("from token_type_mixing where head is not null").df()
    assert set(rows["token_type"]) == {"cls", "sep", "comma_period", "other"}
    for row in rows.itertuples():
        found = []
        for seq, tokens in bare.tokens.items():
            types = [of_tokens.get(token, "other") for token, _ in tokens]
            places = [place for place, name in enumerate(types) if name == row.token_type]
            layer = bare.layers[seq][row.layer - 1]
            alpha, vectors = layer.attention[row.head - 1], layer.vectors[row.head - 1]
            found.append(by_type.type_means(alpha.tolist(), vectors.tolist(), places))
        lengths = [length for _, length, _ in found if length is not None]
        assert row.n_sequences == n_sequences
        assert (row.attention, row.value_norm, row.weighted_norm) == pytest.approx(
            (
                sum(weight for weight, _, _ in found) / n_sequences,
                sum(lengths) / len(lengths),
                sum(arriving for _, _, arriving in found) / n_sequences,
            ),
            rel=1e-4,
        )
    present = store.execute(
        "select min(n_present) from token_type_interval where token_type = 'comma_period'"
    ).fetchall()
    assert present[0][0] < n_sequences, "no text was without commas and periods"


@pytest.mark.parametrize(
    ("table", "change", "law"),
    [
        (
            "frequency_correlation",
            "update stored.frequency_correlation set n = n + 1 where special_tokens",
            "frequencies are of the tokens that are not masked",
        ),
        (
            "token_mixing_ratio",
            "delete from stored.token_mixing_ratio where pos = 0 and scope = 'attn_w_res'",
            "every scope has the mixing ratio of every token",
        ),
    ],
)
def test_a_file_that_counts_other_tokens_is_faulty(path, tmp_path, table, change, law):
    copy = Path(shutil.copy(path, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(copy)) as store:
        store.execute(change)
        store.execute(
            f"update stored.manifest set n_rows = (select count(*) from stored.{table}), "
            f"checksum = (select bit_xor(hash(each)) from stored.{table} as each) "
            f"where name = '{table}'"
        )
    assert any(f"break the law that {law}." in fault for fault in faults(copy, every_table()))

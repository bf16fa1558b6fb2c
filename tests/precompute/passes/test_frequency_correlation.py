"""Rank correlations with word frequency, and means by token type, against the bare model.

The corpus has masks of the run and of its own, two segments, a text without commas and periods, and
sequences of unequal lengths.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from analysis.tables import token_mixing_ratio
from precompute.run import run
from precompute.runner import run_local
from tests.reference import frequency_correlation as reference
from tests.reference import token_type_mixing as by_type
from tests.reference.bare_bert import BareLayer, bare_layers, ratios
from tests.reference.head_token import norm
from tests.small_store import request as asked_for

ENTRIES = (
    {"text_a": "The cat sat, the dog ran.", "text_b": "The mat, the mat."},
    {"text": "the dog ran the cat"},
    {"tokens": ["[CLS]", "the", "[MASK]", "cat", ",", "[SEP]", "dog", "[MASK]", "[SEP]"]},
    {"text_a": "Dog, cat.", "text_b": "Cat sat. The dog ran, ran, ran; the cat sat."},
    {"text": "Sat, sat, sat."},
)
STATISTICS = ["frequency_correlation", "ratio_frequency_correlation", "token_type_mixing"]
RANKED = {"the": 1, "cat": 2, ",": 3, "dog": 4, "[MASK]": 5}
"""The words of a list of frequencies; whatever it lacks comes after its last."""
SCOPES = ("attn_w", "attn_w_res", "attn", "attn_res", "attn_res_ln")
"""Those that the bare model is compared in; the others are in the tests of whole layers."""


@dataclass(frozen=True)
class Token:
    """One place of the corpus, and what the bare model says of it."""

    seq: int
    token: str
    is_masked: bool
    values: dict[str, float]

    @property
    def is_special(self) -> bool:
        return self.token in ("[CLS]", "[SEP]")


@dataclass(frozen=True)
class Bare:
    """The tokens of every sequence, and its layers in the bare model."""

    tokens: dict[int, list[tuple[str, bool]]]
    layers: dict[int, list[BareLayer]]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("frequency")
    asked = asked_for(folder, mask_rate=0.2, statistics=STATISTICS)
    corpus, frequencies = folder / "texts.jsonl", folder / "frequencies.txt"
    corpus.write_text("\n".join(map(json.dumps, ENTRIES)), encoding="utf-8")
    vocabulary = _tokenizer(Path(asked.model))
    lines = (f"{rank} {1000 - rank} {vocabulary[word]}" for word, rank in RANKED.items())
    frequencies.write_text("\n".join(lines), encoding="utf-8")
    run(replace(asked, corpus=str(corpus), frequencies=frequencies), run_local)
    return asked.output


def _tokenizer(model: Path) -> dict[str, int]:
    return json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]


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
        for values in [_values(layers)]
        for place, (token, masked) in enumerate(bare.tokens[seq])
    ]


def _values(layers: list[BareLayer]) -> dict[str, list[float]]:
    places = range(layers[0].attention.shape[-1])
    return {
        "attention": [
            _mean(each.attention[:, :, j].mean().item() for each in layers) for j in places
        ],
        "value_norm": [
            _mean(norm(head[j].tolist()) for each in layers for head in each.vectors)
            for j in places
        ],
        "attn_w": [
            _mean(1 - each.attention[:, i, i].mean().item() for each in layers) for i in places
        ],
        "attn_w_res": [
            _mean((1 - each.attention[:, i, i].mean().item()) / 2 for each in layers)
            for i in places
        ],
        **{
            scope: list(
                map(_mean, zip(*(ratios(getattr(each, name)) for each in layers), strict=True))
            )
            for scope, name in zip(
                SCOPES[2:], ("mixed", "with_residual", "normalised"), strict=True
            )
        },
    }


def _mean(values) -> float:
    found = list(values)
    return sum(found) / len(found)


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
        assert low < high


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
        assert low < high
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

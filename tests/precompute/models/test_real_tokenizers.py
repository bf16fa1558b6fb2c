"""Whole runs with the real byte-level tokenizers over real text, on tiny random models."""

from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pytest
import torch
import transformers
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import PreTrainedTokenizerFast

from precompute.jobs.runner import run_local
from precompute.run import Request, run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.precompute.corpora.tiny import shared_data

POSITIONS = 64
N_LINES = 12
_SIZES: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}

pytestmark = pytest.mark.shared_data


def _gpt2(folder: Path) -> tuple[transformers.PreTrainedModel, PreTrainedTokenizerFast]:
    made = ByteLevelBPETokenizer(str(folder / "encoder.json"), str(folder / "merges.txt"))
    end = "<|endoftext|>"
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, bos_token=end,
                                        eos_token=end, unk_token=end)  # fmt: skip
    config = transformers.GPT2Config(vocab_size=len(tokenizer), n_positions=POSITIONS, **_SIZES)
    return transformers.GPT2Model(config), tokenizer


def _roberta(folder: Path) -> tuple[transformers.PreTrainedModel, PreTrainedTokenizerFast]:
    made = ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    inner = made._tokenizer
    end, start = ((token, inner.token_to_id(token)) for token in ("</s>", "<s>"))
    inner.post_processor = processors.RobertaProcessing(end, start)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>",
    )  # fmt: skip
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=POSITIONS + 2, type_vocab_size=1,
        pad_token_id=1, intermediate_size=32, **_SIZES,
    )  # fmt: skip
    return transformers.RobertaModel(config), tokenizer


FAMILIES = {"gpt2": ("gpt2", _gpt2), "roberta": ("roberta-base", _roberta)}


@pytest.fixture(scope="module", params=FAMILIES)
def asked(request, tmp_path_factory) -> Request:
    """A run over the first lines of real text."""
    data = shared_data()
    name, build = FAMILIES[request.param]
    torch.manual_seed(0)
    model, tokenizer = build(data / "tokenizers" / name)
    folder = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    with (data / "text" / "wikitext-2" / "valid.txt").open(encoding="utf-8") as lines:
        real = [line for line in islice(lines, 4 * N_LINES) if line.strip()][:N_LINES]
    (folder / "text.txt").write_text("\n".join(real), encoding="utf-8")
    return Request(
        model=str(folder / "model"), corpus=str(folder / "text.txt"), device="cpu",
        output=folder / "real.duckdb", max_tokens=POSITIONS,
        statistics=["token_type_mixing", "relation_share", "pair"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def store(asked) -> duckdb.DuckDBPyConnection:
    run(asked, run_local)
    assert list(faults(asked.output, every_table())) == []
    return duckdb.connect(str(asked.output), read_only=True)


def _one(store: duckdb.DuckDBPyConnection, query: str) -> tuple:
    return store.execute(query).fetchall()[0]


def test_texts_longer_than_the_positions_are_cut_and_counted(store):
    assert _one(store, "select max(n_tokens) from sequence") == (POSITIONS,)
    [(truncated,)] = store.execute(
        "select value from provenance where name = 'corpus truncated'"
    ).fetchall()
    assert int(truncated) > 0


def test_commas_and_periods_are_found_and_special_tokens_where_there_are_any(store, asked):
    family = _one(store, "select family from run")[0]
    types = {kind for (kind,) in store.execute("select distinct token_type from token").fetchall()}
    assert types == {"comma_period", "other"} | (
        {"cls", "sep"} if family == "roberta" else {"first"}
    )
    marks = store.execute(
        "select distinct token from token where token_type = 'comma_period' order by 1"
    ).fetchall()
    assert {token.removeprefix("Ġ") for (token,) in marks} == {",", "."}


def test_pieces_of_one_word_are_told_from_neighbours(store):
    pieces = store.execute(
        "select s.token, t.token from pair join vocabulary as s on s.token_id = source "
        "join vocabulary as t on t.token_id = target where relation = 'word_pieces'"
    ).fetchall()
    assert ("am", "mar") in pieces or ("mar", "us") in pieces
    assert all(not (a.startswith("Ġ") and b.startswith("Ġ")) for a, b in pieces)


def test_the_whole_of_every_layer_adds_up(store):
    assert _one(store, "select max(worst_relative_error) from completeness")[0] < 5e-4

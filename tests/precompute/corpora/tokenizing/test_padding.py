"""Padding around tokens is left out, as by an attention mask; padding elsewhere is refused."""

import json
from pathlib import Path

import pytest
import torch

from analysis.errors import BadCorpus
from tests.precompute.corpora.left_out.test_rows_of_text import unused
from tests.precompute.corpora.tiny import BUILT, load
from tests.refusals import refused
from tests.tiny import tiny_model

TEXT = ["[CLS]", "the", "cat", "ran", "[SEP]"]


def write(folder: Path, *rows: list[str], **columns: list[int]) -> Path:
    path = folder / "a.jsonl"
    lines = [json.dumps({"tokens": row, **columns}) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("before", "after"), [(0, 3), (2, 0), (1, 4)])
def test_padding_at_either_end_is_left_out_and_counted(tmp_path, before, after):
    padded = ["[PAD]"] * before + TEXT + ["[PAD]"] * after
    corpus = load(write(tmp_path, padded, TEXT))
    assert [list(sequence.tokens) for sequence in corpus.sequences] == [TEXT, TEXT]
    assert corpus.counts["padding_tokens_left_out"] == before + after
    assert unused(corpus) == (0, 0)


def test_segments_go_with_their_tokens(tmp_path):
    path = write(tmp_path, ["[PAD]", *TEXT, "[PAD]"], segments=[0, 0, 0, 1, 1, 1, 0])
    assert load(path).sequences[0].segments.tolist() == [0, 0, 1, 1, 1]


def test_what_is_left_is_what_the_model_makes_of_it_behind_a_mask(tmp_path):
    model = tiny_model("bert")
    padded = [*TEXT, "[PAD]", "[PAD]"]
    (sequence,) = load(write(tmp_path, padded)).sequences
    ids = torch.tensor([model.tokenizer.convert_tokens_to_ids(padded)])
    mask = torch.tensor([[1] * len(TEXT) + [0, 0]])
    hidden = model.model(ids, attention_mask=mask).last_hidden_state[0, : len(TEXT)]
    alone = model.model(torch.tensor(sequence.ids[None]).long()).last_hidden_state[0]
    torch.testing.assert_close(alone, hidden)
    unmasked = model.model(ids).last_hidden_state[0, : len(TEXT)]
    assert not torch.allclose(alone, unmasked, atol=1e-3), "or this test shows nothing"


def test_padding_between_tokens_is_refused_with_its_place(tmp_path):
    path = write(tmp_path, ["[PAD]", "[CLS]", "the", "[PAD]", "cat", "[SEP]", "[PAD]"])
    assert refused(BadCorpus, load, path) == (
        "a.jsonl line 1: token 4 is '[PAD]', padding between tokens, which the model would read; "
        "leave it out"
    )


def test_a_row_of_padding_alone_is_blank(tmp_path):
    assert unused(load(write(tmp_path, ["[PAD]"] * 4, TEXT))) == (1, 0)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_ends_of_a_text_that_pad_are_refused(tmp_path, family):
    end = str(BUILT[family].eos_token)
    word = {"gpt2": "th", "llama": "▁the"}[family]
    once = load(write(tmp_path, [word, word, end]), family)
    assert once.sequences[0].tokens == (word, word, end)
    for padded in ([word, word, end, end, end], [end, end, word]):
        assert refused(BadCorpus, load, write(tmp_path, padded), family) == (
            f"a.jsonl line 1: begins or ends with {end!r} several times, as padded batches do; "
            "leave the padding out"
        )


def test_masks_and_unknown_tokens_may_repeat_at_the_end(tmp_path):
    tokens = ["[MASK]", "[MASK]", "the", "[UNK]", "[UNK]"]
    (sequence,) = load(write(tmp_path, tokens)).sequences
    assert sequence.tokens == tuple(tokens)

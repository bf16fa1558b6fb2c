"""A head that looks at antecedents is right always, one that looks away never."""

from dataclasses import replace

import numpy as np
import torch

from precompute.corpora.annotated.annotation import Annotation, Mention, MentionKind
from precompute.corpora.sequence import Annotated
from precompute.passes.batch import Batch
from precompute.passes.probing import coreference_prediction
from precompute.passes.probing.mentions import mentions_of
from tests.tiny import ANNOTATED, HEADS, LAYERS, tiny_model, tiny_sequences

N_WORDS = 30
NOTHING = np.zeros(N_WORDS, dtype=bool)


def text(mentions: list[tuple[int, int, MentionKind]]) -> Annotation:
    """A text of one-word mentions: place, cluster, kind."""
    return Annotation(
        forms=tuple(f"word{place}" for place in range(N_WORDS)),
        spaces=(True,) * N_WORDS,
        sentences=(0,) * N_WORDS,
        governors=None,
        relations=None,
        parts_of_speech=("",) * N_WORDS,
        features=("",) * N_WORDS,
        mentions=tuple(Mention(w, w, w, cluster, kind) for w, cluster, kind in mentions),
    )


def rows(known: Annotation, attention: torch.Tensor, masked: tuple[int, ...] = ()) -> list[dict]:
    """Rows of the pass for a text with planted attention between words.

    `attention` holds layers of heads, one after the other.
    """
    sequences = tiny_sequences("bert", (Annotated(known, "line 1"),))
    trace = tiny_model("bert").trace(sequences)
    is_masked = np.isin(np.arange(len(known) + 2), np.array(masked) + 1)
    sequences = (replace(sequences[0], masked=is_masked),)
    (sequence,) = sequences
    assert len(sequence) == len(known) + 2, "a word has more than one piece"
    padded = torch.zeros(LAYERS, 1, HEADS, len(sequence), len(sequence), dtype=torch.float64)
    padded[:, 0, :, 1:-1, 1:-1] = attention.reshape(LAYERS, HEADS, len(known), len(known))
    layers = tuple(
        replace(layer, attention=planted)
        for layer, planted in zip(trace.layers, padded, strict=True)
    )
    batch = Batch(sequences, replace(trace, layers=layers))
    return coreference_prediction.totals(batch).to_pylist()


def noise(n_words: int = N_WORDS) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    shape = (LAYERS * HEADS, n_words, n_words)
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def test_mentions_with_a_masked_word_are_left_out_for_heads_and_rules_alike():
    nominal: MentionKind = "nominal"
    places = [(2, 1), (5, 2), (9, 1), (12, 2), (15, 1)]
    known = text([(place, cluster, nominal) for place, cluster in places])
    attention = torch.zeros(LAYERS * HEADS, N_WORDS, N_WORDS, dtype=torch.float64)
    attention[:, 15, 9], attention[:, 15, 2] = 1.0, 0.5
    unmasked, read = rows(known, attention), rows(known, attention, masked=(9, 5))
    assert {tuple(row["mentions"]) for row in unmasked} == {(2, 3, 4)}
    assert {tuple(row["mentions"]) for row in read} == {(4,)}, "(12) has lost its antecedent"
    picked = {row["method"]: row["predicted"][-1] for row in read}
    assert picked["head"] == 2
    assert picked["nearest"] == 12
    assert {row["method"]: row["predicted"][-1] for row in unmasked}["head"] == 9


def test_a_text_where_nothing_can_be_found_has_no_rows():
    assert rows(text([(2, 1, "nominal"), (5, 2, "nominal")]), noise()) == []
    plain = ANNOTATED[0].annotation
    assert not plain.mentions
    assert rows(plain, noise(len(plain))) == []


def test_things_joined_together_are_plural():
    joined = Annotation(
        forms=("Dog", ",", "cat", "ran", ".", "Mat", "sat"),
        spaces=(True,) * 7,
        sentences=(0,) * 5 + (1,) * 2,
        governors=(3, 2, 0, -1, 3, 6, -1),
        relations=("nsubj", "punct", "conj:and", "root", "punct", "nsubj", "root"),
        parts_of_speech=("NOUN", "PUNCT", "NOUN", "VERB", "PUNCT", "PRON", "VERB"),
        features=("Gender=Fem|Number=Sing", "", "Number=Sing", "", "", "Number=Plur", ""),
        mentions=(
            Mention(0, 2, 0, cluster=1, kind="nominal"),
            Mention(2, 2, 2, cluster=2, kind="nominal"),
            Mention(5, 5, 5, cluster=1, kind="pronoun"),
        ),
    )
    mentions = mentions_of(joined, NOTHING)
    assert mentions.features == ("Gender=Fem|Number=Plur", "Number=Sing", "Number=Plur")
    assert mentions.texts == ("dog , cat", "cat", "mat")
    by_rule = {row["method"]: row for row in rows(joined, noise(7)) if row["method"] != "head"}
    picked = {name: (row["predicted"], row["correct"]) for name, row in by_rule.items()}
    assert picked == {
        "nearest": ([2], [False]),
        "head_match": ([-1], [False]),
        "sieve": ([0], [True]),
    }

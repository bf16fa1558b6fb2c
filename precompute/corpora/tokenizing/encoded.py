"""Encodings of one text or of two, by any kind of tokenizer, before truncation."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from jaxtyping import Int32
from tokenizers import Encoding
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase

from precompute.corpora.tokenizing.japanese import words_of_japanese
from precompute.corpora.tokenizing.kind import frame_tokens, kind_of, spelt_out
from precompute.corpora.tokenizing.words import numbered_through, words_of_tokens


@dataclass(frozen=True)
class Encoded:
    """One text or a pair in a tokenizer's own template.

    Attributes:
        sides: index of each token's text, None for added tokens.
        words: word of each token, `NO_WORD` for added tokens; no word is of two texts.
    """

    ids: Int32[np.ndarray, " token"]
    segments: Int32[np.ndarray, " token"]
    sides: tuple[int | None, ...]
    words: Int32[np.ndarray, " token"]

    def pieces(self, n_texts: int) -> list[list[int]]:
        """Return the positions of each text's tokens."""
        return [
            [place for place, token_side in enumerate(self.sides) if token_side == side]
            for side in range(n_texts)
        ]

    def at(self, places: SequenceOf[int]) -> "Encoded":
        """Return the tokens at some positions."""
        return Encoded(
            ids=self.ids[places],
            segments=self.segments[places],
            sides=tuple(self.sides[place] for place in places),
            words=self.words[places],
        )


def encoded_fast(
    tokenizer: PreTrainedTokenizerBase, batch: SequenceOf[tuple[str, ...]]
) -> list[Encoded]:
    """Encode single texts, or pairs, by a tokenizer of a tokenizer.json.

    Words are those of its tokens (`words_of_tokens`).
    """
    texts, partners = (*map(list, zip(*batch, strict=True)), None)[:2]
    seen = tokenizer(
        texts,
        partners,
        truncation=False,
        padding=False,
        return_token_type_ids=False,
        return_attention_mask=False,
        split_special_tokens=True,
        verbose=False,
    )
    encodings = cast(list[Encoding], seen.encodings)
    return [_encoded(encoding, tokenizer) for encoding in encodings]


def _encoded(encoding: Encoding, tokenizer: PreTrainedTokenizerBase) -> Encoded:
    encoded = Encoded(
        ids=np.array(encoding.ids, dtype=np.int32),
        segments=np.array(encoding.type_ids, dtype=np.int32),
        sides=tuple(encoding.sequence_ids),
        words=numbered_through(encoding.word_ids, encoding.sequence_ids),
    )
    return _with_words(_spelt_out(encoded, encoding.tokens, tokenizer), tokenizer)


def _with_words(encoded: Encoded, tokenizer: PreTrainedTokenizerBase) -> Encoded:
    tokens, kind = tokenizer.convert_ids_to_tokens(encoded.ids.tolist()), kind_of(tokenizer)
    words: list[int | None] = [None] * len(tokens)
    for places in filter(None, encoded.pieces(2)):
        known = None if kind.holds_spaces else encoded.words[places].tolist()
        of_side = words_of_tokens([tokens[place] for place in places], kind, known)
        for place, word in zip(places, of_side.tolist(), strict=True):
            words[place] = word
    return replace(encoded, words=numbered_through(words, encoded.sides))


def _spelt_out(encoded: Encoded, tokens: list[str], tokenizer: PreTrainedTokenizerBase) -> Encoded:
    """Split every special token within a text into letters, as one word."""
    sides = zip(tokens, encoded.sides, strict=True)
    if frame_tokens(tokenizer).isdisjoint(token for token, side in sides if side is not None):
        return encoded
    pieces = [
        [token] if side is None else spelt_out(token, tokenizer)
        for token, side in zip(tokens, encoded.sides, strict=True)
    ]
    places = np.repeat(np.arange(len(pieces)), list(map(len, pieces)))
    spelt = [token for of_token in pieces for token in of_token]
    ids: Any = tokenizer.convert_tokens_to_ids(spelt)
    return replace(encoded.at(places.tolist()), ids=np.array(ids, dtype=np.int32))


def encoded_japanese(tokenizer: BertJapaneseTokenizer, *texts: str) -> Encoded:
    """Encode texts by `BertJapaneseTokenizer`, with the words of its morphological analyser."""
    words = [words_of_japanese(text, tokenizer) for text in texts]
    pieces = [[piece for word in of_text for piece in word] for of_text in words]
    inside: list[Any] = [tokenizer.convert_tokens_to_ids(of_text) for of_text in pieces]
    ids = tokenizer.build_inputs_with_special_tokens(*inside)
    is_added = np.array(tokenizer.get_special_tokens_mask(*inside), dtype=bool)
    sides, numbers = np.full(len(ids), None), np.full(len(ids), None)
    sides[~is_added] = np.repeat(range(len(texts)), [len(of_text) for of_text in pieces])
    numbers[~is_added] = [n for of_text in words for n, word in enumerate(of_text) for _ in word]
    encoded = Encoded(
        ids=np.array(ids, dtype=np.int32),
        segments=np.array(tokenizer.create_token_type_ids_from_sequences(*inside), dtype=np.int32),
        sides=tuple(sides.tolist()),
        words=numbered_through(numbers.tolist(), sides.tolist()),
    )
    return _with_words(encoded, tokenizer)

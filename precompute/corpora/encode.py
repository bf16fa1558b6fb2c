"""Encoding of corpus entries into sequences: token ids, segments, token types and masked tokens."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Int32, UInt8
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import BadCorpus, UnfitModel, UserError
from analysis.models.gradients import NO_TARGET
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, OTHER, SEP, SPECIAL, TOKEN_TYPES
from precompute.corpora.left_out import check_length, check_some_tokens
from precompute.corpora.sequence import NO_WORD, Annotation, Entry, Sequence, generator
from precompute.corpora.tokenizing.encoded import (
    PROBE,
    check_tokenizer,
    fitted,
    framed,
    in_batches,
    room_for,
)
from precompute.corpora.tokenizing.kind import (
    is_japanese,
    joined_japanese,
    kind_of,
    word_pieces,
    words_of_tokens,
)
from precompute.corpora.wording import shown

_IS_SPECIAL = np.isin(np.arange(len(TOKEN_TYPES)), SPECIAL)
_PLAIN = (*",.", *"，．", *"、。")
_COMMAS_AND_PERIODS = {
    *_PLAIN,
    *(ByteLevel(add_prefix_space=False).pre_tokenize_str(mark)[0][0] for mark in _PLAIN),
}
"""Commas and periods, also full-width and Japanese, and as byte-level tokenizers spell them."""


class TokenTypes:
    """The type of each id of a tokenizer; `FIRST` is the type of a place, and of no id.

    A tokenizer without a classification token or a separator has no token of that type. If one
    token serves as both, it marks an end and not a part, and neither type exists. `bos` is the
    token before every text, if it is no classification token; a token after every text, as in T5,
    is a separator.
    """

    def __init__(self, tokenizer: Tokenizer):
        vocabulary = tokenizer.get_vocab()
        self._of_id = np.full(max(vocabulary.values()) + 1, OTHER, dtype=np.uint8)
        for token, identity in vocabulary.items():
            for start in ("Ġ", "▁"):
                token = token.removeprefix(start)
            if token.removesuffix("</w>") in _COMMAS_AND_PERIODS:
                self._of_id[identity] = COMMA_PERIOD
        if tokenizer.cls_token != tokenizer.sep_token:
            for token, kind in ((tokenizer.cls_token, CLS), (tokenizer.sep_token, SEP)):
                if token in vocabulary:
                    self._of_id[vocabulary[token]] = kind
        for token, kind, place in ((tokenizer.bos_token, BOS, 0), (tokenizer.eos_token, SEP, -1)):
            if token != tokenizer.cls_token and _is_put(tokenizer, token, place):
                self._of_id[vocabulary[str(token)]] = kind

    def __call__(self, ids: Int32[np.ndarray, " token"]) -> UInt8[np.ndarray, " token"]:
        """Return positions in `TOKEN_TYPES`."""
        return self._of_id[ids]


def are_special(types: UInt8[np.ndarray, " token"]) -> Bool[np.ndarray, " token"]:
    """Return True for tokens of types that frame a text."""
    return _IS_SPECIAL[types]


def _is_put(tokenizer: Tokenizer, token: Any, place: int) -> bool:
    """Return True if the tokenizer puts the token before (0) or after (−1) every text."""
    if token is None:
        return False
    ids: list[int] = tokenizer(PROBE, verbose=False)["input_ids"]
    return ids[place] == tokenizer.convert_tokens_to_ids(token)


def check_masking(tokenizer: Tokenizer, rate: float) -> None:
    """Raise UserError if no sequence could be masked at this rate."""
    if not 0 <= rate < 1:
        raise UserError(f"--mask is {rate}; it must be at least 0 and less than 1.")
    if rate and tokenizer.mask_token_id is None:
        raise UnfitModel(
            f"The model's tokenizer has no mask token, so --mask {rate} cannot be done: "
            "use --mask 0 or a masked language model."
        )


def masked(sequence: Sequence, tokenizer: Tokenizer, *, rate: float, seed: int) -> Sequence:
    """Mask `max(1, floor(rate·k))` of a sequence's k tokens that are not special.

    The draw depends on the seed and the sequence's index alone, not on other sequences. A rate of 0
    masks nothing.

    Source:
        kobayashi-2024, section 4: 12% are 80% of the 15% that BERT was trained on.

    Differs:
        The released code draws all sequences from one generator, in the order of the file.
    """
    check_masking(tokenizer, rate)
    maskable = np.flatnonzero(~are_special(sequence.token_types)) if rate else ()
    if not len(maskable):
        return sequence
    draws = generator(seed, purpose="masking", index=sequence.index)
    n_masked = max(1, math.floor(rate * len(maskable)))
    positions = draws.choice(maskable, n_masked, replace=False)
    ids, token_types = sequence.ids.copy(), sequence.token_types.copy()
    words, masked = sequence.words.copy(), sequence.masked.copy()
    targets = np.full_like(ids, NO_TARGET)
    targets[positions] = np.where(masked[positions], NO_TARGET, ids[positions])
    ids[positions] = tokenizer.mask_token_id
    token_types[positions] = OTHER
    words[positions] = NO_WORD
    masked[positions] = True
    tokens = np.array(sequence.tokens, dtype=object)
    tokens[positions] = tokenizer.mask_token
    return replace(
        sequence,
        ids=ids,
        token_types=token_types,
        words=words,
        masked=masked,
        tokens=tuple(tokens.tolist()),
        targets=targets,
    )


_MARK = "\0"


@dataclass
class Encoder:
    """A tokenizer, with the lengths and segments that its model accepts.

    Attributes:
        positions: number of tokens the model can read at once.
        segment_types: number of segment ids of the model; 0 for a model without segments.
        max_tokens: length that texts and pairs are cut to.
        is_causal: True if no token of the model sees a later one. Every token then sees the first
            one of a sequence, which is of type `first` unless it is special or masked.
    """

    tokenizer: Tokenizer
    _: KW_ONLY
    positions: int
    segment_types: int
    max_tokens: int
    is_causal: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens > self.positions:
            raise UserError(
                f"--max-tokens is {self.max_tokens}, but the model reads at most {self.positions} "
                f"tokens: the largest value allowed is {self.positions}."
            )
        check_tokenizer(self.tokenizer)
        room_for(1, self.tokenizer, self.max_tokens)
        self._vocabulary = self.tokenizer.get_vocab()
        self._tokens = {number: token for token, number in self._vocabulary.items()}
        self._token_types = TokenTypes(self.tokenizer)
        self._kind = kind_of(self.tokenizer)
        mask = self.tokenizer.mask_token
        self._mask = -1 if mask is None else self._vocabulary.get(str(mask), -1)

    def sequences(
        self, entries: Iterable[Entry], *, counts: Counter[str], first: int = 0
    ) -> Iterator[Sequence]:
        """Yield one sequence for each entry, in their order.

        Texts and pairs are cut as `fitted` does. Tokens and annotated words are used as they are,
        whatever `max_tokens` is.
        """
        for batch in in_batches(entries):
            if batch[0].texts:
                yield from self._from_texts(first, batch, counts)
            elif known := batch[0].annotation:
                yield self._from_words(first, batch[0], known)
            else:
                yield self._from_tokens(first, batch[0])
            first += len(batch)

    def _from_texts(
        self, first: int, batch: list[Entry], counts: Counter[str]
    ) -> Iterator[Sequence]:
        texts = [entry.texts for entry in batch]
        read = fitted(self.tokenizer, texts, max_tokens=self.max_tokens)
        for index, (entry, of_entry) in enumerate(zip(batch, read, strict=True), first):
            for length, text in zip(of_entry.lengths, entry.texts, strict=True):
                check_some_tokens(length, text, place=entry.place)
            counts["truncated"] += of_entry.is_cut
            yield self._sequence(
                index,
                entry,
                of_entry.encoded.ids,
                self._known(of_entry.encoded.segments),
                of_entry.encoded.words,
                text="\n".join(of_entry.texts),
            )

    def _from_tokens(self, index: int, entry: Entry) -> Sequence:
        check_length(len(entry.tokens), self.positions, place=entry.place)
        ids = self._ids(entry)
        separators = self._token_types(ids) == SEP
        after = (np.cumsum(separators) - separators > 0) & (self.segment_types > 1)
        segments = self._given(entry) if entry.segments else after.astype(np.uint8)
        words = words_of_tokens(entry.tokens, self._kind)
        text = self._readable(ids)
        return self._sequence(index, entry, ids, segments, words, text=text)

    def _from_words(self, index: int, entry: Entry, known: Annotation) -> Sequence:
        pieces = word_pieces(known.forms, known.spaces, self.tokenizer, place=entry.place)
        lengths = np.array([len(word) for word in pieces])
        before, _ = framed(([_MARK],), self.tokenizer)
        ends = lengths.cumsum() + before.index(_MARK)
        flat = [piece for word in pieces for piece in word]
        tokens, segments = framed((flat,), self.tokenizer)
        check_length(len(tokens), self.positions, place=entry.place)
        words = np.full(len(tokens), NO_WORD, dtype=np.int32)
        words[ends[0] - lengths[0] : ends[-1]] = np.arange(len(pieces)).repeat(lengths)
        sequence = self._sequence(
            index,
            entry,
            np.array(self.tokenizer.convert_tokens_to_ids(list(tokens)), dtype=np.int32),
            self._known(np.array(segments)),
            words,
            text=known.text,
        )
        spans = np.stack([ends - lengths, ends], axis=1).astype(np.int32)
        return replace(sequence, annotation=known, word_spans=spans)

    def _sequence(
        self,
        index: int,
        entry: Entry,
        ids: Int32[np.ndarray, " token"],
        segments: UInt8[np.ndarray, " token"],
        words: Int32[np.ndarray, " token"],
        *,
        text: str,
    ) -> Sequence:
        token_types = self._token_types(ids)
        masked = ids == self._mask
        special = masked | are_special(token_types)
        if self.is_causal and not special[0]:
            token_types[0] = FIRST
        return Sequence(
            index=index,
            ids=ids,
            segments=segments,
            token_types=token_types,
            words=np.where(special, NO_WORD, words).astype(np.int32),
            masked=masked,
            tokens=tuple(map(self._tokens.__getitem__, ids.tolist())),
            text=text,
            place=entry.place,
            document=entry.document,
        )

    def _ids(self, entry: Entry) -> Int32[np.ndarray, " token"]:
        for token in entry.tokens:
            if token not in self._vocabulary:
                raise BadCorpus(
                    entry.place,
                    f"the model's tokenizer has no token {shown(token)}; give the corpus as text, "
                    "or use the model it was tokenized for",
                )
        return np.array([self._vocabulary[token] for token in entry.tokens], dtype=np.int32)

    def _given(self, entry: Entry) -> UInt8[np.ndarray, " token"]:
        most = max(entry.segments or (0,))
        if most >= max(self.segment_types, 1):
            raise BadCorpus(
                entry.place,
                f"segment id {shown(most)}, but the model knows {self.segment_types} segment "
                "type(s), counted from 0; leave `segments` out",
            )
        return np.array(entry.segments, dtype=np.uint8)

    def _known(self, segments: np.ndarray) -> UInt8[np.ndarray, " token"]:
        if self.segment_types < 2:
            return np.zeros(len(segments), dtype=np.uint8)
        if segments.max() >= self.segment_types:
            raise UnfitModel(
                f"The tokenizer gives segment id {segments.max()}, but the model knows "
                f"{self.segment_types} segment types: load a tokenizer that belongs to the model."
            )
        return segments.astype(np.uint8)

    def _readable(self, ids: Int32[np.ndarray, " token"]) -> str:
        """Return the text between special tokens, a line for each part."""
        special = are_special(self._token_types(ids))
        ends = np.cumsum(~special)[special]
        parts = (part.tolist() for part in np.split(ids[~special], ends.tolist()))
        tokenizer = self.tokenizer
        is_joined = is_japanese(tokenizer)
        decode = partial(joined_japanese, tokenizer) if is_joined else tokenizer.decode
        texts = [str(decode(part)).strip() for part in parts]
        return "\n".join(text for text in texts if text)

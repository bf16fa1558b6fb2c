"""Encoding of corpus entries into sequences: token ids, segments and token types."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Int32, UInt8
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import BadCorpus, UnfitModel, UserError
from analysis.token_types import FIRST, SEP
from precompute.corpora.left_out import check_length, check_some_tokens
from precompute.corpora.sequence import NO_WORD, Annotation, Entry, Sequence
from precompute.corpora.token_types import TokenTypes, are_special
from precompute.corpora.tokenizing.encoded import (
    check_tokenizer,
    fitted,
    framed,
    in_batches,
    room_for,
)
from precompute.corpora.tokenizing.kind import is_japanese, joined_japanese, kind_of, word_pieces
from precompute.corpora.tokenizing.words import words_of_tokens
from precompute.corpora.wording import shown

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

"""Kinds of tokenizers: their treatment of spaces and of special tokens that are written in a text,
and the words of their tokens; and Japanese by `BertJapaneseTokenizer`, which is written in
Python and returns no words, but whose components do.
"""

from bisect import bisect_left, bisect_right
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, groupby, pairwise
from typing import Any, TypeGuard, cast

import numpy as np
import regex
from jaxtyping import Int32
from tokenizers import Tokenizer as Backend
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerFast
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.byte_characters import BYTES
from analysis.errors import BadCorpus, UnfitModel
from precompute.corpora.wording import shown

MARK = "▁"
_CONTINUES = "##"
_PROBE, _AS_BYTES = "a 。", "ãĢĤ"


@dataclass(frozen=True)
class Kind:
    """Behaviour of a tokenizer's components, independent of the text.

    Attributes:
        is_bytes: tokens are bytes, written as characters.
        marks_spaces: tokens hold the space before a word as `▁`.
        continues: prefix of tokens that continue a word; empty without one.
        ends: suffix of tokens that end a word; empty without one.
        added: tokens that the tokenizer finds in a text before it cuts the rest into words; where
            it makes no words, those that frame texts.
        unknown: token of unknown letters; empty without one, or if it also frames texts.
        chunks: function from a text to its word starts by the tokenizer itself; None where its
            tokens hold spaces as `▁`, or it takes a whole text for one word.
    """

    is_bytes: bool
    marks_spaces: bool
    continues: str
    ends: str
    added: frozenset[str]
    unknown: str
    chunks: Callable[[str], list[int]] | None

    @property
    def holds_spaces(self) -> bool:
        """True if a text can be put together again from its tokens."""
        return (self.is_bytes or self.marks_spaces) and not self.ends


@lru_cache(maxsize=1)  # called for every text of a corpus
def kind_of(tokenizer: Tokenizer) -> Kind:
    """The kind of a tokenizer, from its normalizer, pre-tokenizer and model."""
    added = frozenset(cast(Any, tokenizer).added_tokens_encoder)
    if not tokenizer.is_fast:
        return Kind(False, False, _CONTINUES, "", added, "", None)
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    written, model = "".join(prepared(_PROBE, backend)), cast(Any, backend.model)
    special, unknown = list(map(str, tokenizer.special_tokens_map.values())), tokenizer.unk_token
    unknown = str(unknown) if special.count(str(unknown)) == 1 else ""
    pre = backend.pre_tokenizer
    cuts = MARK not in written and len(prepared("a a", backend)) > 1
    return Kind(
        is_bytes=_AS_BYTES in written,
        marks_spaces=MARK in written,
        continues=getattr(model, "continuing_subword_prefix", None) or "",
        ends=getattr(model, "end_of_word_suffix", None) or "",
        added=added if cuts else frozenset(map(str, tokenizer.all_special_tokens)) - {unknown},
        unknown=unknown,
        chunks=(lambda text: [start for _, (start, _) in pre.pre_tokenize_str(text)])
        if cuts
        else None,
    )


def prepared(text: str, backend: Backend) -> list[str]:
    """Return the chunks of a text that the tokenizer's model gets."""
    normal = backend.normalizer.normalize_str(text) if backend.normalizer else text
    parts = backend.pre_tokenizer.pre_tokenize_str(normal) if backend.pre_tokenizer else []
    return [chunk for chunk, _ in parts] or [normal]


@lru_cache(maxsize=1)  # called for every text of a corpus
def frame_tokens(tokenizer: Tokenizer) -> frozenset[str]:
    """Return all special tokens but the unknown one, which replaces parts of a text."""
    return frozenset(map(str, tokenizer.all_special_tokens)) - {str(tokenizer.unk_token)}


def spelt_out(token: str, tokenizer: Tokenizer) -> list[str]:
    """Return the pieces of a token in a text: itself, or those of its letters if it is special.

    Tokenizers are asked to read special tokens as letters (`split_special_tokens`). Models whose
    vocabulary has whole words, such as T5 and XLM-R, may find one in it even then; a split after
    its first letter prevents that.
    """
    if token not in frame_tokens(tokenizer):
        return [token]
    model = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer.model
    return [piece.value for part in (token[:1], token[1:]) for piece in model.tokenize(part)]


_PIECES = ("wordpiece", "character")
_PACKAGES = ("fugashi", "unidic-lite", "unidic", "ipadic", "sudachipy", "rhoknp")
_SETTINGS = (
    *("do_lower_case", "never_split", "word_tokenizer_type", "subword_tokenizer_type"),
    *("mecab_kwargs", "sudachi_kwargs", "jumanpp_kwargs"),
)


def is_japanese(tokenizer: Tokenizer) -> TypeGuard[BertJapaneseTokenizer]:
    """Return True for `BertJapaneseTokenizer`, the one Python tokenizer that is read."""
    if not isinstance(tokenizer, BertJapaneseTokenizer):
        return False
    kind = tokenizer.subword_tokenizer_type
    if not tokenizer.do_word_tokenize or not tokenizer.do_subword_tokenize or kind not in _PIECES:
        raise UnfitModel(
            "BertJapaneseTokenizer is read where it makes words (`do_word_tokenize`) and then "
            f"pieces by {' or '.join(_PIECES)}; this one has do_word_tokenize "
            f"{tokenizer.do_word_tokenize}, do_subword_tokenize {tokenizer.do_subword_tokenize}, "
            f"subword_tokenizer_type {kind!r}."
        )
    return True


def words_of_japanese(text: str, tokenizer: BertJapaneseTokenizer) -> list[list[str]]:
    """Return the pieces of each word of a text; special tokens written in it are letters.

    Joined they equal the tokenizer's own output with `split_special_tokens`. Words without pieces
    are left out.
    """
    words = tokenizer.word_tokenizer.tokenize(text, never_split=[])
    pieces = (tokenizer.subword_tokenizer.tokenize(word) for word in words)
    return [word for word in pieces if word]


def joined_japanese(tokenizer: BertJapaneseTokenizer, ids: list[int]) -> str:
    """Join tokens to a text, with spaces between words of Latin letters and digits alone."""
    return reduce(_joined, tokenizer.convert_ids_to_tokens(ids), "")


def _joined(text: str, token: str) -> str:
    if token.startswith(_CONTINUES):
        return text + token.removeprefix(_CONTINUES)
    apart = text[-1:].isascii() and text[-1:].isalnum() and token.isascii() and token.isalnum()
    return f"{text} {token}" if apart else text + token


def settings_of_japanese(tokenizer: BertJapaneseTokenizer) -> list[str]:
    """Return all settings that its output depends on, beside its vocabulary."""
    settings = [f"{name} {getattr(tokenizer, name)!r}" for name in _SETTINGS]
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            settings.append(f"{package} {version(package)}")
    return settings


def word_pieces(
    forms: Sequence[str],
    spaces: Sequence[bool],
    tokenizer: Tokenizer,
    *,
    place: str,
    space: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """Return the tokens of each word, read alone after the space that precedes it in the text.

    No token belongs to two words, even if the tokenizer would join them in the whole text. A word
    without tokens becomes the unknown token; a special token as a word is its letters.

    Args:
        spaces: True for words that a space follows.
        space: True if a space precedes the first word.

    Source:
        clark-2019, section 4: every word of a treebank is cut into pieces alone.
    """
    pieces = [
        tuple(piece for token in tokens for piece in spelt_out(token, tokenizer))
        for tokens in _pieces(forms, (space, *spaces[:-1]), tokenizer)
    ]
    for form, tokens in zip(forms, pieces, strict=True):
        if not tokens and tokenizer.unk_token is None:
            raise BadCorpus(
                place, f"the tokenizer makes no token of the word {shown(form)}; leave it out"
            )
    return tuple(tokens or (str(tokenizer.unk_token),) for tokens in pieces)


def line_pieces(text: str, tokenizer: Tokenizer, *, goes_on: bool) -> list[str]:
    """Return the tokens of a line, alone or as the continuation of a text after a space."""
    (pieces,) = _pieces([text], (goes_on,), tokenizer)
    spelt = [piece for token in pieces for piece in spelt_out(token, tokenizer)]
    ids: Any = tokenizer.convert_tokens_to_ids(spelt)  # Unigram's unknown pieces are no tokens
    return list(tokenizer.convert_ids_to_tokens(ids))


def _pieces(
    forms: Sequence[str], before: tuple[bool, ...], tokenizer: Tokenizer
) -> list[tuple[str, ...]]:
    if is_japanese(tokenizer):
        words = (words_of_japanese(form, tokenizer) for form in forms)
        return [tuple(chain.from_iterable(of_form)) for of_form in words]
    pairs = list(zip(forms, before, strict=True))
    if kind_of(tokenizer).marks_spaces:
        pieces = [_pieces_within(form, tokenizer, space=apart) for form, apart in pairs]
        if not before[0]:
            pieces[0] = tokenizer.tokenize(forms[0], split_special_tokens=True)
        return [tuple(tokens) for tokens in pieces]
    # byte-level tokenizers join words that no space parts
    texts = [f" {form}" if apart else form for form, apart in pairs]
    encoded = tokenizer(
        texts, add_special_tokens=False, split_special_tokens=True, truncation=False, verbose=False
    )
    return [tuple(encoded.tokens(row)) for row in range(len(texts))]


def _pieces_within(text: str, tokenizer: Tokenizer, *, space: bool) -> list[str]:
    """Return the tokens of a text inside another one, after a space or directly after a letter.

    Some tokenizers that mark spaces as `▁` put one before any text; here one stands only where the
    text has one.
    """
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    chunks = prepared(text, backend)
    chunks[0] = MARK * space + chunks[0].lstrip(MARK)
    tokenized = (backend.model.tokenize(chunk) for chunk in chunks if chunk.strip(MARK))
    return [token.value for tokens in tokenized for token in tokens]


_PART_OF_A_LETTER = "一"
"""Stands for bytes that are no whole character, as in a truncated text, and for the unknown token:
both are mostly letters of a script that is not the tokenizer's own."""
_EXTENDS = r"\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}"
"""Characters that belong to the one before them, in a class: marks, joiners, soft hyphens,
variation selectors, tones of skin (rule WB4 of Unicode's word boundaries)."""
_WORD = regex.compile(
    rf"(?:[ \u3000][{_EXTENDS}]*)*(?:[\p{{L}}\p{{N}}{_EXTENDS}]+|\X[{_EXTENDS}]*)"
)
_UNIT = regex.compile(
    rf"(?:\p{{L}}(?:[{_EXTENDS}]+\p{{L}})*|\p{{N}}(?:[{_EXTENDS}]+\p{{N}})*|\X)[{_EXTENDS}]*"
)
"""A grapheme, or several whose letters or digits such characters join; no word ends within one."""
_GOES_ON = regex.compile(rf"(?<=\p{{L}}[{_EXTENDS}]*)\p{{L}}|(?<=\p{{N}}[{_EXTENDS}]*)\p{{N}}")
_BEGINS_WITHIN, _JOINER = regex.compile(f"[{_EXTENDS}]"), regex.compile(r"[\u00ad\u200c\u200d]+")


def words_of_spans(text: str, starts: Iterable[int]) -> list[int]:
    """Return the word of each token, from its start in the text.

    A run of letters and digits with the marks and joiners among them is a word, and so is every
    other grapheme; a space belongs to what follows it. Bytes of one character start where it does.
    """
    ends = [word.end() for word in _WORD.finditer(text)]
    return [bisect_right(ends, min(start, len(text) - 1)) for start in starts]


def words_of_tokens(
    tokens: Sequence[str], kind: Kind, known: Sequence[int] | None = None
) -> Int32[np.ndarray, " token"]:
    """Return the words of tokens, whether their text is known or not.

    If tokens hold the spaces of their text, the text is restored, as the tokenizer normalized it;
    else a token continues the word before it if the tokenizer's marks say so, or words are `known`
    by the tokenizer itself. Added tokens are words by themselves.
    """
    words: list[int] = list(known or ())
    for is_added, group in groupby(() if words else tokens, key=kind.added.__contains__):
        run, first = list(group), words[-1] + 1 if words else 0
        of_run = range(len(run)) if is_added else _words_of_run(run, kind)
        words += [first + word for word in of_run]
    return np.array(
        words if kind.holds_spaces else _joined_where_marked(tokens, words), dtype=np.int32
    )


def _words_of_run(tokens: list[str], kind: Kind) -> list[int]:
    """Return the words of tokens of one text, counted from 0."""
    if not kind.holds_spaces:
        return _words_by_marks(tokens, kind)
    text, starts = _put_together(tokens, kind)
    if kind.chunks is None:
        words = words_of_spans(text, starts)
    else:
        begins = list(_beginnings(text, kind.chunks(text)))
        words = [bisect_right(begins, start) for start in starts]
    return np.unique(words, return_inverse=True)[1].tolist()


def _beginnings(text: str, chunks: Iterable[int]) -> Iterator[int]:
    """Yield the beginnings of chunks that no unit holds, and the ends of units that hold one, but
    among letters or among digits."""
    units = [*(unit.start() for unit in _UNIT.finditer(text)), len(text)]
    for start in chunks:
        place = units[bisect_left(units, start)]
        if place == start or not _GOES_ON.match(text, place):
            yield place


def _joined_where_marked(tokens: Sequence[str], words: Sequence[int]) -> list[int]:
    """Join words, counted from 0, where one begins with a mark or stands after a joiner."""
    joined = [0] * len(tokens)
    for place, (before, token) in enumerate(pairwise(tokens), start=1):
        goes_on = words[place] == words[place - 1]
        goes_on |= bool(_BEGINS_WITHIN.match(token) or _JOINER.fullmatch(before))
        joined[place] = joined[place - 1] + (not goes_on)
    return joined


def _words_by_marks(tokens: list[str], kind: Kind) -> list[int]:
    words, word = [], 0
    for before, token in zip(("", *tokens), tokens, strict=False):
        goes_on = bool(kind.continues) and token.startswith(kind.continues)
        goes_on |= bool(kind.ends) and not before.endswith(kind.ends)
        word += bool(words) and not goes_on
        words.append(word)
    return words


def _put_together(tokens: list[str], kind: Kind) -> tuple[str, list[int]]:
    """Restore the text of tokens, and the start of each token in it."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    text, starts = "", []
    for part in _bytes_of(tokens, kind):
        starts.append(len(text))
        text += decoder.decode(part)
    text += decoder.decode(b"", final=True)
    return text.replace("\ufffd", _PART_OF_A_LETTER), starts


def _bytes_of(tokens: list[str], kind: Kind) -> Iterator[bytes]:
    for token in tokens:
        if token == kind.unknown:
            yield _PART_OF_A_LETTER.encode()
        elif kind.is_bytes and all(character in BYTES for character in token):
            yield bytes(BYTES[character] for character in token)
        elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            yield bytes.fromhex(token[3:5])
        else:
            yield token.replace(MARK, " ").encode()

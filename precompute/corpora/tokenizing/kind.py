"""Kinds of tokenizers: their treatment of spaces and of special tokens that are written in a text,
and the marks of words in their tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

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
def kind_of(tokenizer: PreTrainedTokenizerBase) -> Kind:
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


def prepared(text: str, backend: Tokenizer) -> list[str]:
    """Return the chunks of a text that the tokenizer's model gets."""
    normal = backend.normalizer.normalize_str(text) if backend.normalizer else text
    parts = backend.pre_tokenizer.pre_tokenize_str(normal) if backend.pre_tokenizer else []
    return [chunk for chunk, _ in parts] or [normal]


@lru_cache(maxsize=1)  # called for every text of a corpus
def frame_tokens(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """Return all special tokens but the unknown one, which replaces parts of a text."""
    return frozenset(map(str, tokenizer.all_special_tokens)) - {str(tokenizer.unk_token)}


def spelt_out(token: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the pieces of a token in a text: itself, or those of its letters if it is special.

    Tokenizers are asked to read special tokens as letters (`split_special_tokens`). Models whose
    vocabulary has whole words, such as T5 and XLM-R, may find one in it even then; a split after
    its first letter prevents that.
    """
    if token not in frame_tokens(tokenizer):
        return [token]
    model = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer.model
    return [piece.value for part in (token[:1], token[1:]) for piece in model.tokenize(part)]

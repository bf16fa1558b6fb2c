"""The pieces that a tokenizer makes of words that were marked as such."""

from collections.abc import Sequence as SequenceOf
from itertools import chain
from typing import Any, cast

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from analysis.errors import BadCorpus
from precompute.corpora.tokenizing.kind import (
    MARK,
    is_japanese,
    kind_of,
    prepared,
    spelt_out,
    words_of_japanese,
)
from precompute.corpora.wording import shown


def word_pieces(
    forms: SequenceOf[str],
    spaces: SequenceOf[bool],
    tokenizer: PreTrainedTokenizerBase,
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


def line_pieces(text: str, tokenizer: PreTrainedTokenizerBase, *, goes_on: bool) -> list[str]:
    """Return the tokens of a line, alone or as the continuation of a text after a space."""
    if goes_on and kind_of(tokenizer).marks_spaces:
        pieces = _pieces_within(text, tokenizer, space=True)
    else:  # byte-level tokenizers join words that no space parts
        pieces = _tokenized(f" {text}" if goes_on else text, tokenizer)
    spelt = [piece for token in pieces for piece in spelt_out(token, tokenizer)]
    ids: Any = tokenizer.convert_tokens_to_ids(spelt)  # Unigram's unknown pieces are no tokens
    return list(tokenizer.convert_ids_to_tokens(ids))


def _tokenized(text: str, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    if is_japanese(tokenizer):
        return list(chain.from_iterable(words_of_japanese(text, tokenizer)))
    return tokenizer.tokenize(text, split_special_tokens=True)


def _pieces(
    forms: SequenceOf[str], before: tuple[bool, ...], tokenizer: PreTrainedTokenizerBase
) -> list[tuple[str, ...]]:
    if is_japanese(tokenizer):
        return [tuple(_tokenized(form, tokenizer)) for form in forms]
    pairs = list(zip(forms, before, strict=True))
    if kind_of(tokenizer).marks_spaces:
        pieces = [_pieces_within(form, tokenizer, space=apart) for form, apart in pairs]
        first = pieces[0] if before[0] else _tokenized(forms[0], tokenizer)
        return [tuple(tokens) for tokens in (first, *pieces[1:])]
    texts = [f" {form}" if apart else form for form, apart in pairs]
    encoded = tokenizer(
        texts, add_special_tokens=False, split_special_tokens=True, truncation=False, verbose=False
    )
    return [tuple(encoded.tokens(row)) for row in range(len(texts))]


def _pieces_within(text: str, tokenizer: PreTrainedTokenizerBase, *, space: bool) -> list[str]:
    """Return the tokens of a text inside another one, after a space or directly after a letter.

    Some tokenizers that mark spaces as `▁` put one before any text; here one stands only where the
    text has one.
    """
    backend = cast(PreTrainedTokenizerFast, tokenizer).backend_tokenizer
    chunks = prepared(text, backend)
    chunks[0] = MARK * space + chunks[0].lstrip(MARK)
    tokenized = (backend.model.tokenize(chunk) for chunk in chunks if chunk.strip(MARK))
    return [token.value for tokens in tokenized for token in tokens]

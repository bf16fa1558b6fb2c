"""Special tokens that a tokenizer adds to texts, and the room beside them."""

from collections.abc import Sequence as SequenceOf
from itertools import groupby

from transformers import PreTrainedTokenizerBase

from analysis.errors import UnfitModel, UserError
from precompute.corpora.tokenizing.encoded import Encoded, encoded_fast, encoded_japanese
from precompute.corpora.tokenizing.japanese import is_japanese

PROBE = "."  # a text of one token for every tokenizer


def check_tokenizer(tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise UnfitModel if the words of a tokenizer's tokens are unknown."""
    if not tokenizer.is_fast and not is_japanese(tokenizer):
        raise UnfitModel(
            f"{type(tokenizer).__name__} is a tokenizer written in Python, which cannot tell the "
            "tokens of a text from those it adds; of such tokenizers BertJapaneseTokenizer alone "
            "is read. Use a model that has a tokenizer.json."
        )


def encodings(
    tokenizer: PreTrainedTokenizerBase, batch: SequenceOf[tuple[str, ...]]
) -> list[Encoded]:
    """Encode single texts, or pairs, in the tokenizer's own template, neither cut nor padded.

    If that template has no separator between two texts, the second begins on a new line.

    Raises:
        UnfitModel: as `check_tokenizer`.
    """
    check_tokenizer(tokenizer)
    if is_japanese(tokenizer):
        return [encoded_japanese(tokenizer, *texts) for texts in batch]
    if len(batch[0]) == 2 and tokenizer.num_special_tokens_to_add(pair=True) == 0:
        batch = [(first, f"\n{second}") for first, second in batch]
    return encoded_fast(tokenizer, batch)


def room_for(n_texts: int, tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> int:
    """Return the number of tokens of one or two texts that fit beside the special ones.

    Raises:
        UserError: not even one of each text.
    """
    special = tokenizer.num_special_tokens_to_add(pair=n_texts == 2)
    if max_tokens < special + n_texts:
        raise UserError(
            f"--max-tokens is {max_tokens}, but {('one text', 'a pair of texts')[n_texts - 1]} "
            f"needs at least {special + n_texts} with this tokenizer's {special} special token(s)."
        )
    return max_tokens - special


def framed(
    pieces: tuple[list[str], ...], tokenizer: PreTrainedTokenizerBase
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return one or two lists of word pieces in the tokenizer's template.

    The template is found by encoding a text of one token, as often as there are lists.

    Returns:
        The tokens, special ones included, and the segment id of each.
    """
    (seen,) = encodings(tokenizer, [tuple(PROBE for _ in pieces)])
    of_template = tokenizer.convert_ids_to_tokens(seen.ids.tolist())
    columns = zip(seen.sides, seen.segments.tolist(), of_template, strict=True)
    tokens: list[str] = []
    segments: list[int] = []
    for (text, segment), group in groupby(columns, key=lambda column: column[:2]):
        block = [column[2] for column in group] if text is None else pieces[text]
        tokens += block
        segments += [segment] * len(block)
    return tuple(tokens), tuple(segments)

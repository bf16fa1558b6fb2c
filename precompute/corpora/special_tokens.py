"""What a tokenizer itself adds to texts, and the room that is left beside it."""

from itertools import groupby

from transformers import BatchEncoding, PreTrainedTokenizerBase

from analysis.errors import UnfitModel, UserError

PROBE = "."  # a text of which every tokenizer makes a token


def encoding(
    tokenizer: PreTrainedTokenizerBase, text: str, partner: str | None = None
) -> BatchEncoding:
    """One text or a pair in the tokenizer's own template, neither cut nor padded.

    Where that template puts nothing between two texts, the second begins on a line of its own.

    Raises:
        UnfitModel: the tokenizer cannot say which of its tokens come from which text.
    """
    if not tokenizer.is_fast:
        raise UnfitModel(
            f"{type(tokenizer).__name__} is a tokenizer written in Python, which cannot tell the "
            "tokens of a text from those it adds: use a model that has a tokenizer.json."
        )
    if partner is not None and tokenizer.num_special_tokens_to_add(pair=True) == 0:
        partner = f"\n{partner}"
    return tokenizer(
        text, partner, truncation=False, padding=False, return_token_type_ids=True, verbose=False
    )


def room_for(n_texts: int, tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> int:
    """How many tokens of one or two texts fit beside the special ones.

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
    """One or two lists of word pieces in the tokenizer's template.

    The template is seen by encoding a text of one token, as often as there are lists.

    Returns:
        The tokens, special ones included, and the segment id of each.
    """
    seen = encoding(tokenizer, *(PROBE for _ in pieces))
    columns = zip(seen.sequence_ids(), seen["token_type_ids"], seen.tokens(), strict=True)
    tokens: list[str] = []
    segments: list[int] = []
    for (text, segment), group in groupby(columns, key=lambda column: column[:2]):
        block = [column[2] for column in group] if text is None else pieces[text]
        tokens += block
        segments += [segment] * len(block)
    return tuple(tokens), tuple(segments)

"""The pieces that a tokenizer makes of words that were marked as such."""

from collections.abc import Sequence as SequenceOf

from transformers import PreTrainedTokenizerBase

from analysis.errors import BadCorpus
from precompute.corpora.wording import shown


def word_pieces(
    forms: SequenceOf[str],
    spaces: SequenceOf[bool],
    tokenizer: PreTrainedTokenizerBase,
    *,
    place: str,
    space: bool = False,
) -> tuple[tuple[str, ...], ...]:
    """The tokens of each word, read by itself after the space that precedes it in the text.

    No token belongs to two words, whatever the tokenizer would make of the text as a whole. A word
    of which it makes nothing is its unknown token.

    Args:
        spaces: after which words a space stands.
        space: whether one stands before the first of them.

    Raises:
        BadCorpus: a word of which nothing is made, and there is no unknown token.

    Source:
        clark-2019, section 4: every word of a treebank is cut into pieces by itself.
    """
    before = (space, *spaces[:-1])
    texts = [f" {form}" if apart else form for form, apart in zip(forms, before, strict=True)]
    encoded = tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False)
    pieces = [tuple(encoded.tokens(row)) for row in range(len(texts))]
    for form, each in zip(forms, pieces, strict=True):
        if not each and tokenizer.unk_token is None:
            raise BadCorpus(
                place, f"the tokenizer makes no token of the word {shown(form)}; leave it out"
            )
    return tuple(each or (str(tokenizer.unk_token),) for each in pieces)

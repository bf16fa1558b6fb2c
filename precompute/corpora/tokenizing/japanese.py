"""Japanese by `BertJapaneseTokenizer`: words by a morphological analyser, then pieces.

This tokenizer is written in Python and returns no words; its components do.
"""

from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from typing import TypeGuard

from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase

from analysis.errors import UnfitModel

_PIECES = ("wordpiece", "character")
_PACKAGES = ("fugashi", "unidic-lite", "unidic", "ipadic", "sudachipy", "rhoknp")
_SETTINGS = (
    *("do_lower_case", "never_split", "word_tokenizer_type", "subword_tokenizer_type"),
    *("mecab_kwargs", "sudachi_kwargs", "jumanpp_kwargs"),
)
_CONTINUES = "##"


def is_japanese(tokenizer: PreTrainedTokenizerBase) -> TypeGuard[BertJapaneseTokenizer]:
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
    return settings + [
        f"{package} {release}" for package in _PACKAGES if (release := _version(package))
    ]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

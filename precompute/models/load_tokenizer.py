"""Tokenizers in a model's folder: complete, and true to tokenizer.json."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import transformers
from tokenizers import Tokenizer
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from analysis.errors import UnfitModel
from precompute.corpora.tokenizing.encoded import PROBE
from precompute.corpora.tokenizing.kind import MARK
from precompute.models.model_folder import message_of

JAPANESE = "fugashi==1.5.2 unidic-lite==1.0.8"
"""Packages for Japanese words: the extra `japanese`."""
TOKENIZER_JSON = "tokenizer.json"
_READABLE = ((TOKENIZER_JSON,), ("vocab.txt",), ("vocab.json", "merges.txt"), ("tekken.json",))
_BY_PACKAGES = (
    *(("spm.model",), ("spiece.model",), ("sentencepiece.bpe.model",), ("sentencepiece.model",)),
    *(("tokenizer.model",), ("tiktoken.model",)),
)
VOCABULARIES = (*_READABLE, *_BY_PACKAGES)
"""Vocabulary files, in groups of which each is a whole vocabulary; the last ones need a package."""
_MOST_TOKENS = 10_000_000
_PROBES = (
    "The cat sat, on 3 mats; isn't it?! Ab CD",
    "  two  spaces\n\n\ta tab ",
    "12345 2024-11-25 3.14 x2 4th",
    "é É ñ ﬁ ① e\u0301 ½ “quoted” — … snake_case a/b",
    "日本語の文。漢字とカナ、한국어 中文，русский ελληνικά العربية",
    "\U0001f600 <s> [CLS] ▁ Ġ ## \u200b",
)


class ReadTokenizer(NamedTuple):
    """A tokenizer, and the library's class that would contradict tokenizer.json, if any."""

    tokenizer: Any
    overruled: str


def read_tokenizer(
    folder: Path, name: str, configuration: dict[str, Any] | None = None
) -> ReadTokenizer:
    """Read the model's tokenizer and try it out; no code that lies beside it is run.

    Args:
        configuration: what `configuration_of` gives for the folder of a model.

    Differs:
        The library makes the tokenizer of some models from their type, with the vocabulary of
        tokenizer.json and without the rest of it. Here that file holds wherever both read a text
        otherwise, before `do_lower_case` or `add_prefix_space` of tokenizer_config.json too.
    """
    _check_ids(folder, name)
    _check_package(folder, name)
    config = transformers.AutoConfig.for_model(**configuration) if configuration else None
    try:
        made = transformers.AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True, use_fast=True
        )
        made("a")
        read = _as_its_file_says(made, folder)
    except ImportError as error:
        raise UnfitModel(
            f"The tokenizer of model {name!r} needs a package that is not installed: {error} For "
            f"Japanese words by MeCab: python -m pip install {JAPANESE}"
        ) from error
    except Exception as error:  # a strange file may raise errors of any kind
        raise UnfitModel(
            f"Model {name!r} has no tokenizer that can be loaded: {_reason(error, folder)}"
        ) from error
    _check_vocabulary(read.tokenizer, name)
    return read


def _as_its_file_says(made: PreTrainedTokenizerBase, folder: Path) -> ReadTokenizer:
    """The tokenizer, or one made of its tokenizer.json where that reads a probe otherwise."""
    path = folder / TOKENIZER_JSON
    if isinstance(made, BertJapaneseTokenizer) or not path.exists():
        return ReadTokenizer(made, "")
    file = Tokenizer.from_file(str(path))
    file.no_truncation()
    file.no_padding()
    added = (token.content for token in file.get_added_tokens_decoder().values())
    probes = [(probe,) for probe in (*_PROBES, "a".join(("", *added, "")))] + [_PROBES[:2]]
    if made.is_fast and all(_agree(made, file, texts) for texts in probes):
        return ReadTokenizer(made, "")
    vocabulary = file.get_vocab()
    special = {
        role: token
        for role, token in made.special_tokens_map.items()
        if isinstance(token, str) and token in vocabulary
    }
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=file, **special)
    return ReadTokenizer(tokenizer, type(made).__name__)


def _agree(made: Any, file: Any, texts: tuple[str, ...]) -> bool:
    """Return whether both make the same tokens of a text or a pair, and cut it alike."""
    (found,) = made(*texts, verbose=False).encodings
    expected = file.encode(*texts)
    return (found.ids, found.word_ids) == (expected.ids, expected.word_ids)


def _whole(folder: Path, groups: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    return [group for group in groups if all((folder / file).is_file() for file in group)]


def _check_package(folder: Path, name: str) -> None:
    """Raise UnfitModel if the vocabulary is only in a file whose package is not installed."""
    if _whole(folder, _READABLE):
        return
    for (file,) in _whole(folder, _BY_PACKAGES):
        with (folder / file).open("rb") as opened:
            columns = opened.readline(1000).split()
        is_ranked = len(columns) == 2 and columns[1].isdigit()  # lines of a token and its rank
        package, needs = ("tiktoken", "") if is_ranked else ("sentencepiece", " protobuf")
        if find_spec(package) is None:
            raise UnfitModel(
                f"The vocabulary of model {name!r} is {file}, which the package {package} reads, "
                f"and that is not installed: python -m pip install {package}{needs}"
            )


def _reason(error: Exception, folder: Path) -> str:
    """Return the reason why a tokenizer cannot be loaded, and the remedy."""
    if _whole(folder, VOCABULARIES):
        return message_of(error)
    groups = ", ".join(" with ".join(group) for group in VOCABULARIES)
    return (
        f"its folder holds no whole vocabulary, which is one of {groups}. Copy the files of the "
        "tokenizer that the model was trained with into it."
    )


def _check_vocabulary(tokenizer: Any, name: str) -> None:
    """Raise UnfitModel if a tokenizer knows only special tokens, for lack of a vocabulary."""
    special = {*tokenizer.all_special_tokens, *tokenizer.added_tokens_encoder}
    if not any(token.strip(MARK) for token in tokenizer.get_vocab().keys() - special):
        kind = type(tokenizer)
        files = ", ".join(sorted({TOKENIZER_JSON, *kind.vocab_files_names.values()} - {None}))
        raise UnfitModel(
            f"The tokenizer of model {name!r} knows {len(tokenizer)} special tokens alone: its "
            f"folder holds no vocabulary that {kind.__name__} reads ({files}). Copy the files of "
            "the tokenizer that the model was trained with into it."
        )
    if not tokenizer.tokenize(PROBE):
        raise UnfitModel(
            f"The tokenizer of model {name!r} makes no token of {PROBE!r}: give the one that the "
            "model was trained with."
        )


def _check_ids(folder: Path, name: str) -> None:
    """Raise UnfitModel if a token's id is too large for any vocabulary in memory."""
    try:
        read = json.loads((folder / TOKENIZER_JSON).read_bytes())
    except (OSError, ValueError, RecursionError):
        return  # the loader reports the fault
    largest = max((number for number in _ids(read) if isinstance(number, int)), default=0)
    if largest > _MOST_TOKENS:
        raise UnfitModel(
            f"tokenizer.json of model {name!r} gives a token the id {largest}, and no vocabulary "
            f"has more than {_MOST_TOKENS:,} tokens. Give the tokenizer that the model was "
            "published with."
        )


def _ids(read: Any) -> Iterator[Any]:
    """Yield the values in place of ids in a tokenizer.json, of any type."""
    match read:
        case {"model": {"vocab": dict(vocabulary)}}:
            yield from vocabulary.values()
    match read:
        case {"added_tokens": list(added)}:
            yield from (token.get("id") for token in added if isinstance(token, dict))

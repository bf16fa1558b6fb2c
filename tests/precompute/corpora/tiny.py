"""Tiny tokenizers like those of BERT, RoBERTa, GPT-2, Llama and a Japanese BERT, and corpora."""

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from string import ascii_letters, ascii_lowercase, digits
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from hypothesis import settings
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerFast

from analysis.errors import BadCorpus
from precompute.corpora.encode import Encoder
from precompute.corpora.index.corpus import Corpus, Reading, indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Entry, Sequence
from tests.precompute.corpora.reading import written


def whole(reading: Reading) -> Any:
    """All that a reading yields, with a number for each sequence's document, in their order."""
    sequences = tuple(reading.begin(0))
    keys = [
        ("alone", of.index) if of.document is None else ("document", of.document)
        for of in sequences
    ]
    numbers = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return SimpleNamespace(
        name=reading.name,
        sha256=reading.sha256(),
        sequences=sequences,
        counts=reading.counts,
        n_tokens=sum(map(len, sequences)),
        documents=[numbers[key] for key in keys],
    )


def reading_of(sequences: Iterable[Sequence], *, name: str = "tiny") -> Reading:
    """A reading of sequences that are there already."""
    known = tuple(sequences)
    content = sha256(repr(known).encode()).hexdigest()
    is_images = any(sequence.image is not None for sequence in known)
    begin = lambda first: iter(known[first:])  # noqa: E731
    return Reading(name, {"sequences": content}, begin, lambda: "0" * 64, is_images=is_images)


def on_disk(sequences: Iterable[Sequence], folder: Path, *, name: str = "tiny") -> Corpus:
    """The sequences in parts below a folder."""
    return indexed(reading_of(sequences, name=name), folder)


WORDS = ("the", "cat", "sat", "mat", "dog", "ran")
MARKS = (",", ".", "##.", "##,", ";")


def unhurried(max_examples: int = 100) -> settings:
    """Settings of a law: a busy machine is no reason for it to fail."""
    return settings(max_examples=max_examples, deadline=None)


def _fast(tokenizer: Tokenizer, *special: str) -> PreTrainedTokenizerFast:
    roles = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    named: Any = dict(zip(roles, special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def bert_like() -> PreTrainedTokenizerFast:
    """Word pieces: every run of letters has some, and `zz` is in no vocabulary but as letters."""
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    letters = (*ascii_lowercase, *(f"##{letter}" for letter in ascii_lowercase))
    vocabulary = {token: n for n, token in enumerate((*special, *MARKS, *WORDS, *letters))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
    )
    return _fast(tokenizer, *special)


def roberta_like() -> PreTrainedTokenizerFast:
    """Bytes, with one separator after the first text and one before the second."""
    tokenizer, vocabulary = _bytes("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", vocabulary["</s>"]), ("<s>", vocabulary["<s>"])
    )
    return _fast(tokenizer, "<pad>", "<unk>", "<s>", "</s>", "<mask>")


def gpt2_like() -> PreTrainedTokenizerFast:
    """Bytes without a template: nothing is added, nothing can be masked."""
    tokenizer, _ = _bytes("<|end|>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|end|>", eos_token="<|end|>"
    )


def rebuilt(build: Callable[[], PreTrainedTokenizerFast], **parts: Any) -> PreTrainedTokenizerFast:
    """Return a tokenizer with other parts, such as `normalizer`."""
    tokenizer = build()
    for name, part in parts.items():
        setattr(tokenizer.backend_tokenizer, name, part)
    return tokenizer


def digits_apart() -> PreTrainedTokenizerFast:
    """Bytes as GPT-2's, every digit a word of its own."""
    digits, letters = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)
    return rebuilt(gpt2_like, pre_tokenizer=pre_tokenizers.Sequence([digits, letters]))


def _bytes(*special: str) -> tuple[Tokenizer, dict[str, int]]:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: n for n, token in enumerate((*special, *alphabet, "Ġ,", "Ġ.", "th"))}
    merges = [("Ġ", ","), ("Ġ", "."), ("t", "h")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, vocabulary


def llama_like() -> PreTrainedTokenizerFast:
    """Pieces that hold the space before a word as `▁`, bytes for letters it has no piece of, and
    `<s>` before each text; nothing can be masked."""
    special, space = ("<unk>", "<s>", "</s>"), "▁"
    ends = [*ascii_letters, *digits, ",", ".", ";", "'"]
    spelt = [(space + word)[:n] for word in (*WORDS, ",", ".") for n in range(2, len(word) + 2)]
    pieces = dict.fromkeys((space, *ends, "th", *spelt))
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = {token: n for n, token in enumerate((*special, *bytes_, *pieces))}
    merges = [*dict.fromkeys((piece[:-1], piece[-1]) for piece in spelt), ("t", "h")]
    tokenizer = Tokenizer(
        models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(space, " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", vocabulary["<s>"])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )


TOKENIZERS = {
    "bert": bert_like,
    "roberta": roberta_like,
    "gpt2": gpt2_like,
    "llama": llama_like,
}
BUILT = {family: build() for family, build in TOKENIZERS.items()}
SEGMENT_TYPES = {"bert": 2, "roberta": 1, "gpt2": 0, "llama": 0}
FRAMES = {
    "bert": (["[CLS]"], ["[SEP]"], ["[SEP]"]),
    "roberta": (["<s>"], ["</s>", "</s>"], ["</s>"]),
    "gpt2": ([], [], []),
    "llama": (["<s>"], ["<s>"], []),
}
"""Special tokens before, between and after two texts."""
PLACE = "f line 1"


def encode(
    entry: Entry,
    family: str = "bert",
    *,
    positions: int = 64,
    segment_types: int | None = None,
    max_tokens: int = 64,
    is_causal: bool = False,
) -> tuple[Sequence, int]:
    """The entry's sequence, and how many were cut to make it: 0 or 1."""
    counts = Counter()
    encoder = Encoder(
        BUILT[family],
        positions=positions,
        segment_types=SEGMENT_TYPES[family] if segment_types is None else segment_types,
        max_tokens=max_tokens,
        is_causal=is_causal,
    )
    (sequence,) = encoder.sequences([entry], counts=counts)
    return sequence, counts["truncated"]


def load(
    given: Path | str | tuple[str, ...],
    family: str = "bert",
    *,
    positions: int = 64,
    max_tokens: int = 16,
    **options,
) -> Any:
    """The corpus in a file or in several, as a model of the family would be given it."""
    sizes = {"positions": positions, "segment_types": SEGMENT_TYPES[family]}
    names = given if isinstance(given, tuple) else str(given)
    return whole(read_corpus(names, BUILT[family], max_tokens=max_tokens, **sizes, **options))


def sound(reader: Callable[[Path], Iterable[Any]], folder: Path, text: str) -> list[Any]:
    """Rows that a reader yields of a file `f`; the first error is raised."""
    items = list(reader(Path(written(folder, text))))
    for item in items:
        if isinstance(item, BadCorpus):
            raise item
    return items


def assert_same_sequences(some: tuple[Sequence, ...], others: tuple[Sequence, ...]) -> None:
    """Check that sequences are equal for a model and a reader; their sources may differ."""
    assert [_content(sequence) for sequence in some] == [_content(sequence) for sequence in others]


def _content(sequence: Sequence) -> tuple:
    arrays = (sequence.ids, sequence.segments, sequence.token_types)
    return (sequence.index, *(array.tolist() for array in arrays), sequence.tokens, sequence.text)


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = ("猫", "犬", "は", "が", "を", "鳴く", "見", "た", "。", "、", "東京", "Tokyo", "1", "2")
_LETTERS = "吾輩国際連合会議大学走るがぎ駅abcdefghijklmnopqrstuvwxyzT"


def japanese_like(subwords: str = "wordpiece") -> BertJapaneseTokenizer:
    """Every word of `_WORDS` is a piece; others are cut into letters, or are unknown."""
    pieces = [*_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    vocabulary = dict.fromkeys((*SPECIAL, *_WORDS, *pieces))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "vocab.txt"
        file.write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        return BertJapaneseTokenizer(
            str(file),
            word_tokenizer_type="mecab",
            subword_tokenizer_type=subwords,
            mecab_kwargs={"mecab_dic": "unidic_lite"},
        )

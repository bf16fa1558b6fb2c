"""The pieces of words that the bundled Japanese BERT knows, and its tokenizer."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from transformers import BertJapaneseTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def vocabulary(texts: Sequence[str], words_of: BertJapaneseTokenizer, *, least: int) -> list[str]:
    """Special tokens, every letter as the beginning of a word and inside one, and the words that
    occur `least` times or more."""
    words = Counter(word for text in texts for word in words_of.word_tokenizer.tokenize(text))
    letters = sorted({letter for word in words for letter in word})
    inside = [f"##{letter}" for letter in letters]
    whole_words = sorted(word for word, n in words.items() if n >= least and len(word) > 1)
    return [*SPECIAL, *letters, *inside, *whole_words]


def write_tokenizer(pieces: Sequence[str], folder: Path) -> BertJapaneseTokenizer:
    """A tokenizer of words by MeCab and of these pieces, written there."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "vocab.txt"
    file.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    made = BertJapaneseTokenizer(
        str(file), word_tokenizer_type="mecab", mecab_kwargs={"mecab_dic": "unidic_lite"}
    )
    made.save_pretrained(folder)
    return made

"""A tiny tokenizer in the manner of a Japanese BERT: words by MeCab, then pieces or characters."""

from pathlib import Path
from tempfile import TemporaryDirectory

from transformers import BertJapaneseTokenizer

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

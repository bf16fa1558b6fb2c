"""Sound files of every kind that is read, as bytes, for `inputs` to change."""

import gzip
import json
import pickle
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pages.ui.collection.collection import Collection
from pages.ui.collection.item import Item, table_of
from pages.ui.export.files import with_data
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note
from tests.small_store import TEXT
from tests.small_treebank import write_treebank

COLUMNS = """#begin document (a); part 000
a 0 0 Zed NNP * - - - S * (12)
a 0 1 saw VBD * - - - S * -
a 0 2 the DT * - - - S * (3
a 0 3 cat NN * - - - S * 3)

a 0 0 It PRP * - - - S * (3)
a 0 1 sat VBD * - - - S * -
a 0 2 . . * - - - S * -

#end document
"""
LINES = "\n".join(
    json.dumps(entry, ensure_ascii=False)
    for entry in (
        {"text": "The cat sat, the dog ran."},
        {"text_a": "The cat sät.", "text_b": "猫 \\ dog 😀"},
        {"tokens": ["[CLS]", "the", "cat", "[SEP]", "a", "[SEP]"], "segments": [0, 0, 0, 0, 1, 1]},
    )
)
_PICTURE = noise(8, 6)
_MASK = greys(*[(0, 1, 128, 255)] * 3)
_COLOURS = {0: (0, 0, 0), 1: (224, 0, 0), 255: (224, 224, 192)}


def _parquet() -> bytes:
    written = BytesIO()
    pq.write_table(pa.table({"text": ["The cat sat.", "Dog.", "x" * 300]}), written)
    return written.getvalue()


def _treebank() -> bytes:
    with TemporaryDirectory() as folder:
        return write_treebank(Path(folder) / "text.conllu").read_bytes()


def _pickles() -> tuple[bytes, ...]:
    records = [
        {"tokens": ["[CLS]", "the", "[SEP]"], "attns": np.ones((1, 2, 3, 3), np.float16)},
        {"tokens": ["[CLS]", "[SEP]"], "attns": np.zeros((1, 2, 2, 2), np.float16)},
    ]
    return tuple(pickle.dumps(records, protocol) for protocol in range(6))


def _collection() -> bytes:
    frame = pd.DataFrame({"token": ["[CLS]", "<b>"], "share": [0.25, None]})
    chart = with_data(alt.Chart(frame).mark_bar().encode(x="share:Q", y="token:N"))
    figure = Item("Where?", "Here.", "A caption.", "A source.", "?file=a", "1", chart=chart)
    body = '<div class="an-text"><span title="a">b</span></div>'
    table = Item("Which?", "", "", "", "", "1", body=body, **table_of(frame))
    return Collection("Both", (figure, table)).to_json().encode()


TEXTS: dict[str, tuple[bytes, ...]] = {
    "plain text": (TEXT.encode(), "\ufeffThe cat.\r\n\r\n猫。".encode()),
    "JSON Lines": (LINES.encode(),),
    "a treebank": (_treebank(),),
    "coreference in columns": (COLUMNS.encode(),),
    "Parquet": (_parquet(),),
    "a pickle": _pickles(),
    "gzip": (gzip.compress(LINES.encode()), gzip.compress(TEXT.encode())),
}
"""Corpora, by what they are called in the table of what was tried."""
IMAGES: dict[str, tuple[bytes, ...]] = {
    "PNG": (encoded(_PICTURE), encoded(_PICTURE.convert("LA")), encoded(_PICTURE.convert("P"))),
    "JPEG": (encoded(_PICTURE, "JPEG", exif=note(6)), encoded(_PICTURE.convert("CMYK"), "JPEG")),
    "GIF": (encoded(_PICTURE.convert("P"), "GIF"),),
    "BMP": (encoded(_PICTURE, "BMP"),),
    "WebP": (encoded(_PICTURE, "WEBP"), encoded(_PICTURE, "WEBP", lossless=True)),
    "TIFF": (encoded(_PICTURE, "TIFF"), encoded(_PICTURE, "TIFF", compression="tiff_lzw")),
}
MASKS = (
    encoded(_MASK),
    encoded(labels((0, 1, 255, 0), (0, 0, 1, 1), (1, 1, 1, 1), colours=_COLOURS)),
    encoded(_MASK, "TIFF"),
)
"""Of an image of four pixels by three."""
FREQUENCIES = "\n".join(f"{n} {1000 // n} {n + 4}" for n in range(1, 12)).encode()
VECTORS = "\n".join(f"{word} 0.25 -1e-3 {n}" for n, word in enumerate(TEXT.split())).encode()
COLLECTION = _collection()
TYPED = (TEXT.encode(), "猫が座る。 e\u0301\u202e😀".encode())

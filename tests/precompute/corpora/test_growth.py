"""Time and memory of reading grow in proportion to the size of any input."""

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.load import entries
from precompute.corpora.texts.jsonl import jsonl_entries
from precompute.corpora.texts.paragraphs import documents
from precompute.corpora.texts.parquet import parquet_entries
from tests.precompute.corpora.tiny import bert_like
from tests.refusals import refused

pytestmark = pytest.mark.slow

MORE = 8
MOST = 3 * MORE
"""How much longer that much more may take, since clocks are unsteady; the square is 64 times."""


def _chain(n: int, *, into_a_circle: bool = False) -> list[str]:
    """A sentence of which each word governs the one before it."""
    last = 1 if into_a_circle else 0
    heads = [*range(2, n + 1), last]
    return [f"{i}\tw\t_\tNOUN\t_\t_\t{head}\tdep\t_\t_" for i, head in enumerate(heads, start=1)]


def _columns(names: Iterable[str]) -> list[str]:
    return ["#begin document (d)", *(f"w\t{name}" for name in names), "#end document"]


def _nested(n: int) -> list[str]:
    """Mentions in turns of a hundred, each within the one before it."""
    turn = ["(1"] * 100 + ["1)"] * 100
    return _columns(turn * (n // 200))


def _keys(n: int) -> list[str]:
    """An object of many keys, the last of which is there twice."""
    return ["{" + "".join(f'"k{i}": 1, ' for i in range(n)) + f'"k{n - 1}": 1' + "}"]


READERS: dict[str, tuple[Callable[[Path], Iterable], Callable[[int], list[str]], int]] = {
    "a sentence like a chain": (conllu_documents, _chain, 1000),
    "a sentence in a circle": (conllu_documents, lambda n: _chain(n, into_a_circle=True), 1000),
    "mentions within mentions": (column_documents, _nested, 1000),
    "mentions that stay open": (column_documents, lambda n: _columns(["(1"] * n), 1000),
    "an object of many keys": (jsonl_entries, _keys, 2000),
}


def _seconds(reader: Callable[[Path], Iterable], path: Path) -> float:
    """Processor seconds of reading a file, the least of three trials."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        try:
            for _ in reader(path):
                pass
        except BadCorpus:
            pass
        taken.append(time.process_time() - started)
    return min(taken)


@pytest.mark.parametrize("case", READERS)
def test_time_in_reading_grows_with_the_size_of_what_is_read(case, tmp_path):
    reader, written, size = READERS[case]
    short, more = tmp_path / "one", tmp_path / "more"
    short.write_text("\n".join(written(size)) + "\n")
    more.write_text("\n".join(written(size * MORE)) + "\n")
    assert _seconds(reader, more) < MOST * max(_seconds(reader, short), 0.002)


@pytest.mark.parametrize("packing", ["paragraphs", "sentences", "blocks"])
@pytest.mark.parametrize("line", ["The cat sat.\n", "x"])
def test_time_in_packing_grows_with_the_size_of_the_text(packing, line, tmp_path):
    tokenizer = bert_like()

    def read(path: Path) -> Iterable:
        return entries(str(path), packing=packing, tokenizer=tokenizer, max_tokens=36)

    short, more = tmp_path / "one", tmp_path / "more"
    short.write_text(line * 200)
    more.write_text(line * 200 * MORE)
    assert _seconds(read, more) < MOST * max(_seconds(read, short), 0.002)


def test_a_line_that_goes_on_for_ever_is_refused(tmp_path):
    path = tmp_path / "line.txt"
    path.write_bytes(b"short\n" + bytes(17 * 2**20))
    assert refused(BadCorpus, lambda: list(documents(path))) == (
        "line.txt line 2: goes on for more than 16 MiB; write a text of a few pages to a line"
    )


def _bomb(path: Path) -> None:
    """Lines of a kilobyte, a thousand to each that the file takes on disk."""
    line = json.dumps({"text": "The cat sat. " * 80}).encode() + b"\n"
    path.write_bytes(gzip.compress(line * 1000) * 320)


def _parquet_bomb(path: Path) -> None:
    """A long text in many rows, of which the file keeps one."""
    text = pa.array(["cat " * 2**20])
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), text)
    pq.write_table(pa.table({"text": rows}), path, compression="zstd")


def _wide_parquet_bomb(path: Path) -> None:
    texts = [f"{n}" + "cat " * 2**20 for n in range(64)]
    pq.write_table(pa.table({"text": texts}), path, compression="zstd", use_dictionary=False)


READ = """
import resource, sys
from pathlib import Path
from itertools import islice
from analysis.errors import BadCorpus
from precompute.corpora.texts.{module} import {reader}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for _ in islice({reader}(Path(sys.argv[1])), 4_000_000):
        pass
    print("read")
except BadCorpus as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
UNFOLDS = (
    "unfolds into more than 200 times its size, as no text does; unpack it first if you trust it"
)
BOMBS = {
    "lines": (_bomb, "jsonl", jsonl_entries, f"bomb: {UNFOLDS}"),
    "one text": (_parquet_bomb, "parquet", parquet_entries, "read"),
    "texts": (_wide_parquet_bomb, "parquet", parquet_entries, f"bomb: column `text` {UNFOLDS}"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("case", BOMBS)
def test_a_small_file_does_not_unfold_into_more_than_memory_holds(case, tmp_path):
    write, module, reader, message = BOMBS[case]
    path = tmp_path / "bomb"
    write(path)
    assert path.stat().st_size < 2 * 2**20
    program = READ.format(module=module, reader=reader.__name__)
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    *lines, kilobytes = ran.stdout.splitlines()
    assert lines == [message]
    assert int(kilobytes) < 400 * 2**10

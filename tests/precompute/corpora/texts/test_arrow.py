"""Folders as the `datasets` library saves them are read file by file in its order."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.load import entries
from precompute.corpora.sequence import Entry
from precompute.corpora.source import source_of
from tests.refusals import refused

PARTS = (["The cat sat.", "The dog."], ["A mat.", "A cat ran."], ["The end."])


def write_stream(path: Path, texts: list[str], column: str) -> None:
    """Write a stream of batches of one row each, as the library writes a file."""
    table = pa.table({"id": pa.array(range(len(texts))), column: texts})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)


def saved(folder: Path, parts=PARTS, *, order=None, column: str = "text") -> Path:
    """A folder as `save_to_disk` makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"data-{n:05}-of-{len(parts):05}.arrow" for n in range(len(parts))]
    for name, texts in zip(names, parts, strict=True):
        write_stream(folder / name, texts, column)
    files = [{"filename": names[place]} for place in order or range(len(names))]
    state = {
        "_data_files": files,
        "_fingerprint": "0123456789abcdef",
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }
    (folder / "state.json").write_text(json.dumps(state))
    info = {"features": {"text": {"dtype": "string", "_type": "Value"}}, "splits": {}}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    return folder


def texts_of(path: Path, column: str = "text") -> list[str]:
    found = entries(str(path), column=column)
    return [entry.texts[0] for entry in found]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (1, 2)])
def test_files_are_read_in_the_order_that_the_library_wrote_down(tmp_path, order):
    folder = saved(tmp_path / "texts", order=order)
    found = list(entries(str(folder)))
    assert texts_of(folder) == [text for n in order for text in PARTS[n]]
    assert found[1] == Entry(f"data-{order[0]:05}-of-00003.arrow row 2", (PARTS[order[0]][1],))
    assert source_of(str(folder)).name == "texts"


def test_one_of_its_files_is_a_corpus_too(tmp_path):
    folder = saved(tmp_path / "texts", column="body")
    assert texts_of(folder / "data-00001-of-00003.arrow", column="body") == PARTS[1]


def test_a_folder_of_several_splits_is_refused_by_their_names(tmp_path):
    for split in ("train", "test"):
        saved(tmp_path / "both" / split)
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert refused(BadCorpus, source_of, str(tmp_path / "both")) == (
        f"{tmp_path / 'both'}: holds the splits of a data set ('train', 'test'); give the folder "
        "of one of them"
    )
    assert len(list(entries(str(tmp_path / "both" / "test")))) == 5


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"_data_files": [{"filename": "../secret"}]}, "lists '../secret'; each of _data_files"),
        ({"_data_files": []}, "state.json lists no files (_data_files); save the data set again"),
        ({"_indices_data_files": [{"filename": "i.arrow"}]}, "whose rows are chosen by indices"),
    ],
)
def test_a_state_that_cannot_be_followed_is_refused(tmp_path, changed, reason):
    folder = saved(tmp_path / "texts")
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(state | changed))
    assert reason in refused(BadCorpus, source_of, str(folder))


def test_a_file_that_is_missing_or_cut_is_refused(tmp_path):
    folder = saved(tmp_path / "texts")
    file = folder / "data-00001-of-00003.arrow"
    file.write_bytes(file.read_bytes()[:-40])
    assert "data-00001-of-00003.arrow: is a damaged Arrow file (" in refused(
        BadCorpus, lambda: list(entries(str(folder)))
    )
    file.unlink()
    assert "there is no such file" in refused(BadCorpus, lambda: list(entries(str(folder))))

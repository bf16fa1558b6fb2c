"""Corpora: the form of files, several of them, folders, data sets, and sequences of a model."""

import bz2
import gzip
import hashlib
import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus, UnfitModel, UserError
from precompute.corpora.load import TEXT_PACKINGS, entries
from precompute.corpora.recognition import format_of
from precompute.corpora.source import UNFOLDS, source_of
from precompute.corpora.texts.rows import write_jsonl
from precompute.corpora.wording import file_name, shown
from tests.precompute.corpora.reading import arrow, assert_outcome, outcome, parquet, written, zstd
from tests.precompute.corpora.tiny import (
    BUILT,
    SEGMENT_TYPES,
    TOKENIZERS,
    assert_same_sequences,
    load,
    unhurried,
)
from tests.refusals import refused
from tests.small_treebank import write_treebank

COLUMNS = "\t".join(["1", "The", *"_" * 8])
FORMS: dict[str | bytes, str] = {
    '{"text": "a"}': "jsonl",
    '[{"text": "a"}]': "json",
    '[\n{"text"': "json",
    "id,text\n1,a\n": "csv",
    '"he ran","she"\n"a dog","it"\n': "csv",
    "A text.\n": "paragraphs",
    gzip.compress(f"{COLUMNS}\n".encode(), mtime=0): "conllu",
    f"{COLUMNS}\n": "conllu",
    "#begin document (a); part 0\n": "coreference",
    b"PAR1\x15\x04": "parquet",
    b"\xff\xff\xff\xff": "arrow",
    **{pickle.dumps([{"tokens": ["a"]}], protocol): "pickle" for protocol in range(6)},
}
PROSE = [
    *(" \n = Title = \n", "# A heading\n\nA text.", "[Applause] Thank you.", "[[File:a.png]]"),
    *("(lp stands for linear programming)", "A line\n#begin document no columns", "\n \n"),
    "[1]\n",
    *("<svg> is a tag, GIF89a a form, BM a beginning.", "été".encode("latin1"), "1\tA\t_\n"),
    "The old man, who saw a dog, ran home.\nShe said, well, nothing.\n",
    "Roses are red, violets are blue\nSugar is sweet, and so are you\n",
    "Yes, no\nNo, yes\n",
    "1.\tThe old man\n2.\tShe ran\n",
    "1 The old man saw a dog at 5 in the park\n2 She\n",
    "1\n\nThe first chapter.\n\n2\n\nThe second.\n",
    '["Hello," he said.]\nShe ran.\n',
    "(A (very) long story) by (IBM Corp).\n",
    '"Where are you?" she said.\n"Here," he said, "as ever."\n',
]
AS_PLAIN = "write its texts as plain text, a paragraph to a line"
SENTENCES = "write its words as sentences, each on a line, or give CoNLL-U with tabs"
PACKED = "is compressed, and not by gzip or zstd alone; unpack it first"
BINARY = "holds binary data; give JSON Lines or plain text"
NO_TEXT = "give its folder to a model that reads images, or give a text corpus"
NO_FORM: dict[str | bytes, str] = {
    "EU B-ORG\nrejects O\n\nPeter B-PER\n": f"is in columns of words and tags, not plain text; "
    f"{SENTENCES}",
    "He/pps ran/vbd home/nr with/in them/ppo ./.\n": f"is in words with tags, not plain text; "
    f"{SENTENCES}",
    "<!DOCTYPE html>\n<p>He ran.</p>": f"is HTML, not plain text; {AS_PLAIN}",
    '<doc id="1">\nHe ran.\n</doc>\n': f"is XML, not plain text; {AS_PLAIN}",
    b"": "is empty; give a file that holds some text",
    bz2.compress(b"A text."): PACKED,
    gzip.compress(gzip.compress(b"A text.", mtime=0), mtime=0): PACKED,
    "A text.".encode("utf-16"): "is UTF-16; save it as UTF-8",
    b"\0\0\0\x18ftypheic\0": f"is an image (HEIC); {NO_TEXT}",
    b"\x50\x2a\x4d\x18\x04\0\0\0xxxx\x04\x22\x4d\x18" + bytes(20): BINARY,  # lz4 after a zstd frame
}
ALL_FORMS = FORMS | dict.fromkeys(PROSE, "paragraphs") | NO_FORM


@pytest.mark.parametrize("content", ALL_FORMS, ids=lambda content: str(content)[:40])
def test_a_form_is_told_by_content_and_not_by_name(tmp_path, content):
    path = tmp_path / "f.pkl"
    written(tmp_path, content, path.name)
    if content in NO_FORM:
        assert refused(BadCorpus, format_of, path) == f"f.pkl: {NO_FORM[content]}"
    else:
        assert format_of(path) == ALL_FORMS[content]


TEXTS = [f"Sentence {number} ends here." for number in range(1, 41)]
LINES = [json.dumps({"text": text}) for text in TEXTS]
WHOLE = "\n".join(LINES).encode()
FIRST, OTHER = ("\n".join(LINES[:20]) + "\n").encode(), "\n".join(LINES[20:]).encode()


def skipped(n_bytes: int, kind: int = 0) -> bytes:
    """A frame of zstd that holds nothing of the file."""
    return bytes((0x50 + kind, 0x2A, 0x4D, 0x18)) + n_bytes.to_bytes(4, "little") + b"x" * n_bytes


COMPRESSED = {
    "gzip": gzip.compress(WHOLE),
    "gzip with many zeros after it": gzip.compress(WHOLE) + bytes(10**6),
    "zstd": zstd(WHOLE),
    "zstd as pzstd writes it": skipped(4) + zstd(FIRST) + skipped(4) + zstd(OTHER),
    "zstd behind long frames": skipped(0) + skipped(2**17) + skipped(9, kind=7) + zstd(WHOLE),
}
FOLDED = (json.dumps({"text": "The cat sat. " * 80}) + "\n").encode() * 1000
CUT = "f: cannot be read to its end ({}); check the disk, or make the file again"
DAMAGED = {
    "gzip cut short": (
        gzip.compress(WHOLE * 500)[:-5],
        CUT.format("Compressed file ended before the end-of-stream marker was reached"),
    ),
    "gzip and something else": (
        gzip.compress(WHOLE) + b"garbage",
        CUT.format("Not a gzipped file (b'ga')"),
    ),
    "gzip that unfolds too far": (gzip.compress(FOLDED) * 70, f"f: {UNFOLDS}"),
    "zstd that unfolds too far": (zstd(FOLDED) * 70, f"f: {UNFOLDS}"),
}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_file_reads_as_what_it_holds(tmp_path, kind):
    assert_outcome(dict(enumerate(TEXTS, start=1)), written(tmp_path, COMPRESSED[kind]))


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_compressed_file_that_is_damaged_or_a_bomb_is_refused(tmp_path, kind):
    content, message = DAMAGED[kind]
    assert outcome(written(tmp_path, content)) == message


def test_several_files_are_one_corpus_in_the_order_given(tmp_path):
    first, other = written(tmp_path, FIRST, "b.jsonl"), written(tmp_path, OTHER, "a.jsonl")
    joined, parts = load(written(tmp_path, WHOLE)), load((first, other))
    assert [sequence.text for sequence in parts.sequences] == TEXTS
    assert [sequence.index for sequence in parts.sequences] == list(range(len(TEXTS)))
    assert (parts.name, parts.sequences[-1].place) == ("b.jsonl and 1 more file", "a.jsonl line 20")
    assert len({corpus.sha256 for corpus in (joined, parts, load((other, first)))}) == 3
    text = written(tmp_path, "Some text.", "c.txt")
    assert outcome((first, text)) == (
        "c.txt: is plain text, but b.jsonl is JSON Lines; give files of one form as a corpus"
    )


def test_a_folder_is_read_by_the_paths_of_its_files(tmp_path):
    for name in ("AA/02", "AB/01", ".cache/00", "AA/.hidden"):
        written(tmp_path / "wiki", name, name)
    source = source_of(str(tmp_path / "wiki"))
    names = [path.relative_to(tmp_path).as_posix() for path in source.files]
    assert (source.name, names) == ("wiki", ["wiki/AA/02", "wiki/AB/01"])
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in source.files]
    assert source.sha256 == hashlib.sha256(f"{hashes[0]}\n{hashes[1]}\n".encode()).hexdigest()
    assert source_of(str(source.files[0])).sha256 == hashes[0]


PARTS = (["The cat sat.", "The dog."], ["A mat.", "A cat ran."], ["The end."])
NAMES = [f"data-{n:05}-of-00003.arrow" for n in range(3)]


def saved_data(folder: Path, order: tuple[int, ...] = (0, 1, 2), **changed: Any) -> str:
    """Write a folder as `save_to_disk` of the library `datasets` makes it; return its path."""
    for name, texts in zip(NAMES, PARTS, strict=True):
        written(folder, arrow(id=list(range(len(texts))), text=texts), name)
    state = {"_data_files": [{"filename": NAMES[n]} for n in order], "_split": "train"}
    written(folder, json.dumps(state | {"_fingerprint": "0123"} | changed), "state.json")
    written(folder, '{"features": {}, "splits": {}}', "dataset_info.json")
    return str(folder)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (1, 2)])
def test_files_of_a_saved_data_set_are_read_in_the_order_that_is_written_down(tmp_path, order):
    rows = {f"{NAMES[n]} row {m}": text for n in order for m, text in enumerate(PARTS[n], start=1)}
    found = outcome(saved_data(tmp_path / "texts", order))
    assert isinstance(found, dict)
    assert list(found.items()) == list(rows.items())
    assert source_of(str(tmp_path / "texts")).name == "texts"


UNREAD: dict[str, tuple[dict[str, Any], str]] = {
    "a file elsewhere": (
        {"_data_files": [{"filename": "../secret"}]},
        "state.json lists '../secret'; each of _data_files must be a file of this folder",
    ),
    "rows by indices": (
        {"_indices_data_files": [{"filename": "i.arrow"}]},
        "is a data set whose rows are chosen by indices (_indices_data_files of state.json); save "
        "it again with a `datasets` that writes the rows themselves",
    ),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_a_saved_data_set_that_cannot_be_followed_is_refused(tmp_path, kind):
    changed, reason = UNREAD[kind]
    assert outcome(saved_data(tmp_path / "f", **changed)) == f"{tmp_path / 'f'}: {reason}"


def test_folders_without_one_corpus_are_refused(tmp_path):
    assert outcome(str(tmp_path)) == (
        f"{tmp_path}: is a folder without files; give one that holds text"
    )
    written(tmp_path, '{"splits": ["train", "test"]}', "dataset_dict.json")
    assert outcome(str(tmp_path)) == (
        f"{tmp_path}: holds the splits of a data set ('train', 'test'); give the folder of one of "
        "them"
    )
    written(tmp_path, b"", "images/a.png")
    assert outcome(str(tmp_path / "images")) == (
        f"{tmp_path / 'images'}: is a folder of images, which only a model that reads images takes;"
        " give such a model, or a text corpus"
    )


COMMIT = "0123456789abcdef0123456789abcdef01234567"
ADDRESS = "hf://datasets/owner/name"
FILES = {
    "data/train-1.parquet": ["The mat.", "The dog ran."],
    "data/train-0.parquet": ["The cat sat.", "The dog."],
    "data/test-0.parquet": ["Nobody reads this."],
    "plain/part.parquet": ["A cat ran."],
    "README.md": ["No Parquet."],
}


@pytest.fixture
def hub(tmp_path, monkeypatch) -> SimpleNamespace:
    """A hub with one data set, owner/name; `asked` records the arguments of its client."""
    folder = tmp_path / "cache"
    for name, texts in FILES.items():
        written(folder, parquet(text=texts), name)
    asked = SimpleNamespace(revisions=[], files=[], error=None)

    def dataset_info(_, name: str, *, revision: str | None = None):
        if asked.error is not None:
            raise asked.error
        assert name == "owner/name"
        asked.revisions.append(revision)
        siblings = [SimpleNamespace(rfilename=name) for name in FILES]
        return SimpleNamespace(sha=COMMIT, siblings=siblings)

    def download(name: str, file: str, *, repo_type: str, revision: str) -> str:
        assert (name, repo_type, revision) == ("owner/name", "dataset", COMMIT)
        asked.files.append(file)
        return str(folder / file)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return asked


@pytest.mark.parametrize(
    ("path", "files", "revision"),
    [
        ("/data/train-*", ["data/train-0.parquet", "data/train-1.parquet"], None),
        ("@refs/convert/parquet/plain", ["plain/part.parquet"], "refs/convert/parquet"),
    ],
)
def test_files_of_the_hub_are_those_of_the_path_at_one_commit(hub, path, files, revision):
    corpus = load(f"{ADDRESS}{path}")
    assert [entry.text for entry in corpus.sequences] == [t for file in files for t in FILES[file]]
    assert (hub.files, corpus.name) == (files, f"{ADDRESS}{path}")
    assert hub.revisions == [revision], "asked once, so that what is hashed is what is read"


def test_what_the_hub_does_not_have_is_refused(hub):
    for path, reason in (("/valid", "has no Parquet at valid"), ("@main", "names no file")):
        assert refused(BadCorpus, source_of, f"{ADDRESS}{path}") == (
            f"{ADDRESS}{path}: {reason}; end it with a file, a folder or a pattern such as "
            "data/train-*, of these: 'data/test-0.parquet', 'data/train-0.parquet', "
            "'data/train-1.parquet', 'plain/part.parquet'"
        )
    hub.error = OfflineModeIsEnabled("offline mode")
    assert refused(BadCorpus, source_of, f"{ADDRESS}/a") == (
        f"{ADDRESS}/a: needs the hub, which cannot be reached (offline mode); go online, or fetch "
        "its Parquet files elsewhere and give their folder"
    )


PLAIN = "the cat sat\nthe dog ran\nthe mat\n\nzz\n \nthe cat\n"


@pytest.fixture
def plain(tmp_path):
    return Path(written(tmp_path, PLAIN, "plain.txt"))


@pytest.mark.parametrize("family", TOKENIZERS)
@pytest.mark.parametrize("packing", TEXT_PACKINGS)
def test_a_corpus_turned_into_json_lines_gives_the_same_sequences(plain, family, packing):
    tokenizer, options = BUILT[family], {"seed": 3, "packing": packing, "max_tokens": 9}
    converted = plain.with_name("converted.jsonl")
    texts = entries(str(plain), tokenizer=tokenizer, segment_types=SEGMENT_TYPES[family], **options)
    assert write_jsonl(texts, converted) > 0
    for mask_rate in (0.0, 0.3) if tokenizer.mask_token else (0.0,):
        once = load(plain, family, mask_rate=mask_rate, **options)
        again = load(converted, family, mask_rate=mask_rate, **options)
        assert_same_sequences(once.sequences, again.sequences)


@unhurried(30)
@given(limit=st.integers(1, 9), mask_rate=st.floats(0, 0.9), packing=st.sampled_from(TEXT_PACKINGS))
def test_a_limit_keeps_the_first_sequences_as_they_are(tmp_path_factory, limit, mask_rate, packing):
    path = tmp_path_factory.mktemp("limit") / "plain.txt"
    path.write_text(PLAIN * 3)
    options = {"mask_rate": mask_rate, "packing": packing}
    unlimited = load(path, **options)
    assert_same_sequences(load(path, limit=limit, **options).sequences, unlimited.sequences[:limit])


def test_a_corpus_tells_its_name_its_hash_and_what_reading_did(plain):
    corpus = load(plain, max_tokens=8)
    assert corpus.name == "plain.txt"
    assert corpus.sha256 == hashlib.sha256(PLAIN.encode()).hexdigest()
    assert +corpus.counts == {"truncated": 1, "unpaired": 3}
    assert +load(plain, packing="sentences").counts == {"too_short": 2}


TWO = "the cat\nsat the\nmat the\ndog ran\n\nthe dog\nran the\ncat sat\n"
TREE = "# newdoc\n# global.Entity = eid\n1\tcat\t_\t_\t_\t_\t0\troot\t_\tEntity=(e1)\n"
DOCUMENTS = {
    "pairs of two documents": ((TWO,), {}, [0, 0, 1, 1]),
    "blocks across them": ((TWO,), {"packing": "blocks", "max_tokens": 6}, [0, 0, 1]),
    "one document in each of two files": ((TREE, TREE), {}, [0, 1]),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_windows_of_one_document_are_redrawn_together(tmp_path, case):
    contents, options, documents = DOCUMENTS[case]
    files = tuple(written(tmp_path, content, f"f{n}") for n, content in enumerate(contents))
    assert load(files, **options).documents == documents


REFUSED = {
    "too short for sentences": (
        "the\n\ncat\n",
        {"packing": "sentences"},
        "f: all its documents are too short to be packed; use --packing paragraphs",
    ),
    "a treebank as JSON Lines": (
        TREE,
        {"tokenizer": None},
        "A treebank or coreference corpus is cut by a model's word pieces, and JSON Lines has no "
        "place for its annotation: give the file itself as --corpus of a run.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_corpus_cannot_be_is_refused_with_the_remedy(tmp_path, case):
    content, options, message = REFUSED[case]
    options = {"tokenizer": BUILT["bert"], "max_tokens": 16} | options
    assert outcome(written(tmp_path, content), **options) == message


def test_a_number_that_cannot_be_is_refused_before_the_corpus_is_read():
    assert refused(UserError, load, "none.txt", limit=0) == (
        "--limit is 0; it must be at least 1, or left out to read the whole corpus."
    )
    assert refused(UserError, load, "none.txt", mask_rate=1.5) == (
        "--mask is 1.5; it must be at least 0 and less than 1."
    )
    assert refused(UnfitModel, load, "none.txt", "gpt2", mask_rate=0.12) == (
        "The model's tokenizer has no mask token, so --mask 0.12 cannot be done: use --mask 0 or a "
        "masked language model."
    )


@pytest.mark.parametrize("family", TOKENIZERS)
@pytest.mark.parametrize("packing", ["paragraphs", "trees"])
def test_a_treebank_is_a_corpus(tmp_path, family, packing):
    corpus = load(write_treebank(tmp_path / "f"), family, max_tokens=40, packing=packing)
    known = [sequence.annotation for sequence in corpus.sequences if sequence.annotation]
    sentences = [len(set(annotation.sentences)) for annotation in known]
    assert (sum(map(len, known)), sum(sentences)) == (240, 39)
    assert (max(sentences) > 1) == (packing == "paragraphs")
    assert (corpus.counts["heads_by_tree"], corpus.counts["too_long"]) == (48, 0)


@unhurried()
@given(st.text(st.characters()))
def test_any_text_is_shown_on_one_short_line(text):
    assert shown(text).isprintable()
    assert len(shown(text)) <= 60 * len(r"\U0010ffff") + 2
    assert file_name(Path("a/b\n\x1b.txt")) == r"'b\n\x1b.txt'"

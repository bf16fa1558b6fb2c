import bz2
import gzip
import os
import pickle

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.recognition import format_of
from tests.refusals import refused

NOT_ALONE = "give its folder to a model that reads images, or give a text corpus"
COLUMNS = "\t".join(["1", "The", *"_" * 8])


@pytest.mark.parametrize("name", ["corpus", "corpus.pkl", "corpus.conllu"])
@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b'{"text": "a"}', "jsonl"),
        (b'\xef\xbb\xbf\n  \n {"text"', "jsonl"),
        (b"A text.\n", "paragraphs"),
        (gzip.compress(b"A text.\n", mtime=0), "paragraphs"),
        (gzip.compress(f"{COLUMNS}\n".encode(), mtime=0), "conllu"),
        (b"PAR1\x15\x04", "parquet"),
        (b" \n = Title = \n", "paragraphs"),
        (b"# A heading\n\nA text.", "paragraphs"),
        (b"[Applause] Thank you.", "paragraphs"),
        (b"[[File:a.png]]", "paragraphs"),
        (b"(lp stands for linear programming)", "paragraphs"),
        (b"A line\n#begin document no columns", "paragraphs"),
        (b"<svg> is a tag, GIF89a a form, BM a beginning.", "paragraphs"),
        ("été".encode("latin1"), "paragraphs"),
        (b"\n \n", "paragraphs"),
        *((pickle.dumps([{"tokens": ["a"]}], protocol), "pickle") for protocol in range(6)),
        (b'[{"text": "a"}]', "json"),
        (b'[\n{"text"', "json"),
        (b'["a", "b"]', "json"),
        (b'"a b"\n\n"c"\n', "jsonl"),
        (b'["a"]\n["b"]\n', "jsonl"),
        (b"id,text\n1,a\n", "csv"),
        (b"text\tlabel\na\t1\n", "tsv"),
        (b"(lp1\n.", "pickle"),
        (b"]q\x01.", "pickle"),
        (f"{COLUMNS}\n".encode(), "conllu"),
        (f"# sent_id = 1\n{COLUMNS}".encode(), "conllu"),
        (b"1-2\tdon't\t_\t_\t_\n", "conllu"),
        (b"1\tA\t_\n", "paragraphs"),
        (b"#begin document (a); part 0\n", "coreference"),
        (b"\n# begin document a\n0\tA\t_\n", "coreference"),
    ],
)
def test_format_is_told_by_content_and_not_by_name(tmp_path, name, content, form):
    (tmp_path / name).write_bytes(content)
    assert format_of(tmp_path / name) == form


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty; give a file that holds some text"),
        (bz2.compress(b"A text."), "is compressed, and not by gzip or zstd alone; unpack it first"),
        (
            gzip.compress(gzip.compress(b"A text.", mtime=0), mtime=0),
            "is compressed, and not by gzip or zstd alone; unpack it first",
        ),
        ("A text.".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", f"is an image (PNG); {NOT_ALONE}"),
        (b"\0\0\0\x18ftypheic\0", f"is an image (HEIC); {NOT_ALONE}"),
        (b"\x7fELF\0", "holds binary data; give JSON Lines or plain text"),
    ],
)
def test_file_in_no_known_format_is_refused(tmp_path, content, reason):
    (tmp_path / "corpus").write_bytes(content)
    assert refused(BadCorpus, format_of, tmp_path / "corpus") == f"corpus: {reason}"


def refusal(path):
    return refused(BadCorpus, format_of, path)


def test_missing_file_says_what_to_do(tmp_path):
    assert refusal(tmp_path / "none.txt") == (
        f"{tmp_path / 'none.txt'}: there is no such file; give the path of a corpus, or the "
        "name of one that is bundled: demo, demo-treebank, demo-ja, demo-copy"
    )


def test_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == (
        f"{tmp_path / 'pipe'}: is not a regular file; write the corpus to a file first"
    )


def test_file_that_cannot_be_read_says_why(tmp_path):
    path = tmp_path / ("n" * 300)
    assert refusal(path) == (
        f"{path}: cannot be read (File name too long); check its name and permissions"
    )

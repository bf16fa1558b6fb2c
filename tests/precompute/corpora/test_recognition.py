"""The form of a file is told by its content: read as what it is or refused by name, and prose is
never taken for another form."""

import bz2
import gzip
import os
import pickle

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.recognition import format_of
from tests.precompute.corpora.reading import written
from tests.refusals import refused

COLUMNS = "\t".join(["1", "The", *"_" * 8])
FORMS: dict[str | bytes, str] = {
    '{"text": "a"}': "jsonl",
    '["a"]\n["b"]\n': "jsonl",
    '[{"text": "a"}]': "json",
    '[\n{"text"': "json",
    '["a", "b"]': "json",
    "id,text\n1,a\n": "csv",
    '"he ran","she"\n"a dog","it"\n': "csv",
    "text\tlabel\na\t1\n": "tsv",
    "A text.\n": "paragraphs",
    gzip.compress(b"A text.\n", mtime=0): "paragraphs",
    gzip.compress(f"{COLUMNS}\n".encode(), mtime=0): "conllu",
    f"{COLUMNS}\n": "conllu",
    "#begin document (a); part 0\n": "coreference",
    b"PAR1\x15\x04": "parquet",
    b"\xff\xff\xff\xff": "arrow",
    **{pickle.dumps([{"tokens": ["a"]}], protocol): "pickle" for protocol in range(6)},
    b"(lp1\n.": "pickle",
    b"]q\x01.": "pickle",
}
PROSE = [
    *(" \n = Title = \n", "# A heading\n\nA text.", "[Applause] Thank you.", "[[File:a.png]]"),
    *("(lp stands for linear programming)", "A line\n#begin document no columns", "\n \n"),
    "[1]\n",
    *("<svg> is a tag, GIF89a a form, BM a beginning.", "été".encode("latin1"), "1\tA\t_\n"),
    "The old man, who saw a dog, ran home.\nShe said, well, nothing.\n",
    "Roses are red, violets are blue\nSugar is sweet, and so are you\n",
    "Yes, no\nNo, yes\n",
    "床前明月光,疑是地上霜\n举头望明月,低头思故乡\n",
    "\tThe old man ran.\n\tShe ran.\n",
    "1.\tThe old man\n2.\tShe ran\n",
    "1. The old man\n2. She ran, home\n",
    "1 The old man saw a dog at 5 in the park\n2 She\n",
    "1\n\nThe first chapter.\n\n2\n\nThe second.\n",
    "ANNA:\tHello\nBOB:\tHi\n",
    "[1] Smith, J. The old man.\n[2] Jones, K. She.\n",
    '["Hello," he said.]\nShe ran.\n',
    "((see below) and (Smith 2001) in (USA today)) are here\n(a) one (b) two\n",
    "(A (very) long story) by (IBM Corp).\n",
    "<quiet> She whispers, a < b > c.\n",
    "# Heading\n\n<p>Below</p> and more\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    '"Where are you?" she said.\n"Here," he said, "as ever."\n',
    '"Where are you?"\n"Here."\nHe left.\n',
    "I said O\nyou said O\n",
    "CHAPTER ONE\n\nThe old man ran.\n",
    "and/or he/she either/or this is 1/2\n",
    "Name: Anna; Age: 5\nName: Bob; Age: 6\n",
]
PLAIN = "write its texts as plain text, a paragraph to a line"
SENTENCES = "write its words as sentences, each on a line, or give CoNLL-U with tabs"
IN_COLUMNS = f"is in columns of words and tags, not plain text; {SENTENCES}"
IN_TREES = f"is in bracketed trees, not plain text; {SENTENCES}"
PACKED = "is compressed, and not by gzip or zstd alone; unpack it first"
BINARY = "holds binary data; give JSON Lines or plain text"
NO_TEXT = "give its folder to a model that reads images, or give a text corpus"
REFUSED: dict[str | bytes, str] = {
    "-DOCSTART- -X- -X- O\n\nhe PRP B-NP O\n": "is in columns of words and tags (CoNLL-2003), not "
    f"plain text; {SENTENCES}",
    "EU B-ORG\nrejects O\n\nPeter B-PER\n": IN_COLUMNS,
    "EU\tNNP\tB-ORG\nrejects\tVBZ\tO\n": IN_COLUMNS,
    "he PRP\nran VBD\nhome NN\n": IN_COLUMNS,
    "# text = He ran.\n1 He he PRON _ _ 2 nsubj _ _\n": "is a treebank with spaces for tabs, not "
    "plain text; write a tab between its columns",
    "( (S\n  (NP (PRP He))\n  (VP (VBD ran))))\n": IN_TREES,
    "(ROOT (S (NP (PRP He)) (VP (VBD ran))))\n": IN_TREES,
    "He/pps ran/vbd home/nr with/in them/ppo ./.\n": f"is in words with tags, not plain text; "
    f"{SENTENCES}",
    "<!DOCTYPE html>\n<p>He ran.</p>": f"is HTML, not plain text; {PLAIN}",
    '<doc id="1">\nHe ran.\n</doc>\n': f"is XML, not plain text; {PLAIN}",
    "<?xml version='1.0'?>\n<a/>": f"is XML, not plain text; {PLAIN}",
    "1\n00:00:01,000 --> 00:00:02,000\nHe.\n": f"is subtitles (SRT), not plain text; {PLAIN}",
    "WEBVTT\n\n00:01.000 --> 00:02.000\nHe": f"is subtitles (VTT), not plain text; {PLAIN}",
    '{\n "cells": [],\n "metadata": {}\n}': f"is a notebook (.ipynb), not plain text; {PLAIN}",
    "% a\n\\documentclass{article}\n": f"is LaTeX, not plain text; {PLAIN}",
    b"": "is empty; give a file that holds some text",
    bz2.compress(b"A text."): PACKED,
    gzip.compress(gzip.compress(b"A text.", mtime=0), mtime=0): PACKED,
    "A text.".encode("utf-16"): "is UTF-16; save it as UTF-8",
    b"\x89PNG\r\n\x1a\n\0\0\0": f"is an image (PNG); {NO_TEXT}",
    b"\0\0\0\x18ftypheic\0": f"is an image (HEIC); {NO_TEXT}",
    b"\x50\x2a\x4d\x18\x04\0\0\0xxxx\x04\x22\x4d\x18" + bytes(20): BINARY,  # lz4 after a zstd frame
}
CASES = FORMS | dict.fromkeys(PROSE, "paragraphs") | REFUSED


@pytest.mark.parametrize("content", CASES, ids=lambda content: str(content)[:40])
def test_a_form_is_told_by_content_and_not_by_name(tmp_path, content):
    path = tmp_path / "f.pkl"
    written(tmp_path, content, path.name)
    if content in REFUSED:
        assert refused(BadCorpus, format_of, path) == f"f.pkl: {REFUSED[content]}"
    else:
        assert format_of(path) == CASES[content]


PATHS = {
    "none": "there is no such file; give the path of a corpus, or the name of one that is bundled: "
    "demo, demo-treebank, demo-ja, demo-copy",
    "pipe": "is not a regular file; write the corpus to a file first",
    "n" * 300: "cannot be read (File name too long); check its name and permissions",
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_that_cannot_be_read_is_named_whole(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    assert refused(BadCorpus, format_of, tmp_path / name) == f"{tmp_path / name}: {PATHS[name]}"

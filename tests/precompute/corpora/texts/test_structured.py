"""Structured text is read as what it is or refused by name; prose is never taken for it."""

import pytest

from analysis.errors import UserError
from precompute.corpora.load import entries
from precompute.corpora.recognition import format_of
from tests.refusals import refused


def read(tmp_path, content, **options):
    path = tmp_path / "f"
    path.write_bytes(content.encode())
    found = entries(str(path), **options)
    return [entry.tokens or entry.texts for entry in found]


TABLES = {
    'id,text\n1,"the old, man"\n2,"she said ""no""\nand ran"\n': [
        ("the old, man",),
        ('she said "no"\nand ran',),
    ],
    "\ufeffid;text\r\n1;he ran\r\n2;she, too\r\n": [("he ran",), ("she, too",)],
    ",text,label\n0,he ran,1\n1,she ran,0\n": [("he ran",), ("she ran",)],
    "id, text\n1, he ran\n2, she ran\n": [("he ran",), ("she ran",)],
    'text\n"he, too, ran"\nshe ran\n': [("he, too, ran",), ("she ran",)],
    'text\tlabel\n"Hello," he said\t1\n"she ran\t0\n': [('"Hello," he said',), ('"she ran',)],
    'text\tlabel\n"he\tran"\t1\nshe\t0\n': [("he\tran",), ("she",)],
    "text_a,text_b\nhe ran,she ran\n": [("he ran", "she ran")],
    "nr|text\n1|he ran\n2|she, too\n": [("he ran",), ("she, too",)],
}
JSON = {
    '["he ran", "she ran"]': [("he ran",), ("she ran",)],
    '[\n  "he ran",\n  "she ran"\n]\n': [("he ran",), ("she ran",)],
    '"he ran"\n"she \\u0041"\n': [("he ran",), ("she A",)],
    '["he", "ran"]\n["she"]\n': [("he", "ran"), ("she",)],
    '[["he", "ran"], ["she"]]': [("he", "ran"), ("she",)],
    '[{"text": "he ran"}, {"text_a": "a", "text_b": "b"}]': [("he ran",), ("a", "b")],
}


@pytest.mark.parametrize(("content", "texts"), (TABLES | JSON).items())
def test_each_form_is_read_as_what_it_is(tmp_path, content, texts):
    assert read(tmp_path, content) == texts


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_the_column_of_a_table_is_named_as_that_of_json_lines(tmp_path, delimiter):
    content = "sentence,text\nhe ran,not this\n".replace(",", delimiter)
    assert read(tmp_path, content, column="sentence") == [("he ran",)]


def test_long_texts_of_a_table_are_whole(tmp_path):
    long = "word " * 40_000
    assert read(tmp_path, f'id,text\n1,"{long}"\n') == [(long,)]


PLAIN = "write its texts as plain text, a paragraph to a line"
SENTENCES = "write its words as sentences, each on a line, or give CoNLL-U with tabs"
COLUMNS = f"f: is in columns of words and tags, not plain text; {SENTENCES}"
TREES = f"f: is in bracketed trees, not plain text; {SENTENCES}"
HEADLESS = (
    "; name the one of the texts with --column, or put the names of the columns into the first line"
)
REFUSED = {
    "-DOCSTART- -X- -X- O\n\nhe PRP B-NP O\n": f"f: is in columns of words and tags (CoNLL-2003), "
    f"not plain text; {SENTENCES}",
    "EU B-ORG\nrejects O\n\nPeter B-PER\n": COLUMNS,
    "EU\tNNP\tB-ORG\nrejects\tVBZ\tO\n": COLUMNS,
    "he PRP\nran VBD\nhome NN\n": COLUMNS,
    "# text = He ran.\n1 He he PRON _ _ 2 nsubj _ _\n": "f: is a treebank with spaces for tabs, "
    "not plain text; write a tab between its columns",
    "( (S\n  (NP (PRP He))\n  (VP (VBD ran))))\n": TREES,
    "(ROOT (S (NP (PRP He)) (VP (VBD ran))))\n": TREES,
    "(3 (2 He) (3 ran))\n": TREES,
    "He/pps ran/vbd home/nr with/in them/ppo ./.\n": f"f: is in words with tags, not plain text; "
    f"{SENTENCES}",
    "<!DOCTYPE html>\n<p>He ran.</p>": f"f: is HTML, not plain text; {PLAIN}",
    "<!-- x -->\n<html><body>He": f"f: is HTML, not plain text; {PLAIN}",
    '<doc id="1">\nHe ran.\n</doc>\n': f"f: is XML, not plain text; {PLAIN}",
    "<?xml version='1.0'?>\n<a/>": f"f: is XML, not plain text; {PLAIN}",
    "1\n00:00:01,000 --> 00:00:02,000\nHe.\n": f"f: is subtitles (SRT), not plain text; {PLAIN}",
    "WEBVTT\n\n00:01.000 --> 00:02.000\nHe": f"f: is subtitles (VTT), not plain text; {PLAIN}",
    '{\n "cells": [],\n "metadata": {}\n}': f"f: is a notebook (.ipynb), not plain text; {PLAIN}",
    "% a\n\\documentclass{article}\n": f"f: is LaTeX, not plain text; {PLAIN}",
    "ham\tGo now\nspam\tFree, now\n": f"f: has no column `text` (its first line: 'ham', 'Go now')"
    f"{HEADLESS}",
    '"3","A","B, C"\n"4","D","E"\n': f"f: has no column `text` (its first line: '3', 'A', 'B, C')"
    f"{HEADLESS}",
    'id,text\n1,"he said "no" twice"\n': "f line 2: is no row of a table (',' expected after "
    "'\"'); double the quotes within a quoted text",
    'id,text\n1,"he ran\n': "f line 2: is no row of a table (unexpected end of data); double the "
    "quotes within a quoted text",
    '["he ran", "she"': "f: is no whole JSON list (Expecting ',' delimiter: line 1 column 17 (char "
    "16)); make it again",
}


@pytest.mark.parametrize(("content", "message"), REFUSED.items())
def test_what_is_not_read_is_refused_by_its_name_with_the_remedy(tmp_path, content, message):
    assert refused(UserError, read, tmp_path, content) == message


@pytest.mark.parametrize(
    ("content", "left_out"),
    [
        (
            "id,text\n1,he, too\n2,she\n",
            "f line 2: has 3 cells, and the first line 2; quote the text",
        ),
        ("id,text\n1,\n2,she\n", "f line 2: `text` is ''; it must hold some text"),
        (
            '["she ran .", "he"]\n["she"]\n',
            "f line 1: is a list of texts, not of tokens; write a text to a line",
        ),
    ],
)
def test_rows_that_cannot_be_used_are_left_out_and_named(tmp_path, content, left_out, capsys):
    assert len(read(tmp_path, content)) == 1
    assert capsys.readouterr().out.startswith(f"Left out: {left_out}")


PROSE = [
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


@pytest.mark.parametrize("content", PROSE)
def test_prose_is_plain_text(tmp_path, content):
    (tmp_path / "f").write_text(content)
    assert format_of(tmp_path / "f") == "paragraphs"

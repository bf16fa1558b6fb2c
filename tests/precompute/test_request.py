"""Options of the command line as a request; the name of a file without `--output`."""

from pathlib import Path

import pytest

from precompute.request import request_of

OPTIONS = {"mask": 0.1, "raw_rows": 7, "output": None, "statistics": " pairs, -pair,"}


@pytest.mark.parametrize(
    ("model", "corpus", "more", "name"),
    [
        ("demo", ["demo-treebank"], {}, "demo-demo-treebank"),
        ("models/bert-base-uncased", ["texts/news.jsonl.gz"], {}, "bert-base-uncased-news"),
        ("org/name@main", ["a.conllu", "b.conllu"], {}, "name-a"),
        ("openai/clip", ["images"], {"part": "vision"}, "clip-vision-images"),
        ("demo", ["my text (1).txt"], {"random_weights": 0}, "demo-untrained0-my-text-1-"),
        ("demo", ["hf://datasets/org/corpus@rev/data"], {}, "demo-corpus"),
    ],
)
def test_a_file_is_called_after_model_and_corpus(model, corpus, more, name):
    request = request_of({"model": model, "corpus": corpus} | OPTIONS | more)
    assert request.output == Path("statistics") / f"{name}.duckdb"


def test_options_become_a_request():
    given = OPTIONS | {"output": Path("a.duckdb"), "model": "m", "corpus": ["c"], "runner": "ray"}
    request = request_of(given)
    assert (request.output, request.corpus, request.mask_rate) == (Path("a.duckdb"), "c", 0.1)
    assert request.statistics == ["pairs", "-pair"]
    assert request.bounds.raw_rows == 7

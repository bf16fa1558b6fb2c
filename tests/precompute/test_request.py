"""Options of the command line as a request; the name of a file without `--output`."""

from pathlib import Path

import pytest

from precompute.request import request_of

OPTIONS = {"mask": 0.1, "raw_rows": 7, "output": None, "statistics": " pairs, -pair,"}


@pytest.mark.parametrize(
    ("model", "corpus", "more", "output"),
    [
        ("demo", ["demo-treebank"], {}, "statistics/demo-demo-treebank.duckdb"),
        ("org/name@main", ["texts/a.jsonl.gz", "b.conllu"], {}, "statistics/name-a.duckdb"),
        ("openai/clip", ["i"], {"part": "vision"}, "statistics/clip-vision-i.duckdb"),
        ("m", ["my (1).txt"], {"random_weights": 0}, "statistics/m-untrained0-my-1-.duckdb"),
        ("demo", ["hf://datasets/org/corpus@rev/data"], {}, "statistics/demo-corpus.duckdb"),
        ("m", ["c"], {"output": Path("a.duckdb"), "runner": "ray"}, "a.duckdb"),
    ],
)
def test_options_become_a_request_and_a_file_is_called_after_model_and_corpus(
    model, corpus, more, output
):
    request = request_of({"model": model, "corpus": corpus} | OPTIONS | more)
    assert request.output == Path(output)
    assert request.corpus == (tuple(corpus) if len(corpus) > 1 else corpus[0])
    assert (request.mask_rate, request.statistics) == (0.1, ["pairs", "-pair"])
    assert request.bounds.raw_rows == 7

"""Small files of which every public view is computed anew, and the tests that each view has.

The corpus has masks, two segments, an empty token type, a text too short for waves and texts of
unequal lengths. A file holds the statistics of the views that are tested, so that one view by
itself is quick.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pandas as pd
import pytest

from precompute.jobs.runner import run_local
from precompute.run import Request, run
from tests.outermost.bare_model import BareModel
from tests.outermost.corpus import Corpus, read_corpus
from tests.outermost.views import VIEWS, View
from tests.small_treebank import write_treebank
from tests.tiny import mask_rate, save_tiny

TEXTS = (
    {"text_a": "The cat sat, the dog ran.", "text_b": "The mat."},
    {"text": "The dog"},
    {"text_a": "Dog cat", "text_b": "Cat sat"},
    {"text": "The cat ran, ran, ran; the dog sat, sat, sat. The mat the cat."},
    {"text": "The dog, cat; a, a, a, a, ran."},
)
WITHOUT_STATISTIC = {"sequence", "token"}
STATISTICS = {
    "token_type_interval": ("token_type_mixing",),
    "head_pattern_weighing": ("head_pattern",),
    "head_distance_weighing": ("head_distance",),
    "head_linkage_weighing": ("head_linkage",),
    "layer_cohesion_weighing": ("layer_cohesion",),
    "query_key_correlation_mean": ("query_key_correlation",),
    "dependency_accuracy_weighing": ("dependency_accuracy",),
    "coreference_accuracy_weighing": ("coreference_accuracy",),
    "pair_delta_wide": ("pair_delta",),
    "position_spectrum": ("state_spectrum", "embedding_spectrum"),
}
OF_TREES = ("dependency_accuracy_weighing", "coreference_accuracy_weighing")
SMALL = [
    view._replace(tolerance=1e-6) if view.name == "attention_norm_correlation" else view
    for view in VIEWS  # among a few hundred pairs none lies at the edge of a bin
]
TURNED = ("rotary_plane", "position_kernel", "score_share")
"""Views of models that turn queries and keys."""
OF_TURNED = (
    *TURNED,
    *("query_key_correlation_mean", "sink_score", "sink", "head_token", "head_pattern_weighing"),
    "head_offset",
)
"""Views of models that turn them in part, or by layer, after norms and within windows."""
OF_LLAMA = (
    *OF_TURNED,
    *("token_norm", "value_norm_dispersion", "token_type_mixing", "token_type_interval"),
    *("attention_norm_correlation", "attention_norm_sample", "scope_similarity", "mixing_ratio"),
    *("rollout", "pair_delta_wide", "head_distance_weighing", "relevance_map", "singular_value"),
)
OF_FAMILIES = {
    "afmoe": ("attention_norm_sample", "attention_norm_correlation", "sink"),
    "gpt_oss": ("no_token", "head_pattern_weighing", "head_distance_weighing", "sink"),
    "llama": OF_LLAMA,
    **dict.fromkeys(("gpt_neox", "gemma3_text"), OF_TURNED),
    **dict.fromkeys(
        ("bert", "gpt2"), {view.name for view in SMALL} - {*OF_TREES, *TURNED, "no_token"}
    ),
    **dict.fromkeys(("bert of trees", "gpt2 of trees"), OF_TREES),
}
"""Views by family; of afmoe the norm of f(x) is that of a pair, and of gpt_oss a logit of no token
takes a share."""
CASES = [
    (name, view) for name, views in OF_FAMILIES.items() for view in SMALL if view.name in views
]
ONCE = {view.name: (name, view) for name, view in CASES[::-1]}
"""Each view in one of the files."""
every_view, each_view_once = (
    pytest.mark.parametrize(
        ("small", "view"),
        cases,
        ids=[f"{name}-{view.name}" for name, view in cases],
        indirect=["small"],
    )
    for cases in (CASES, [*ONCE.values()])
)


class Small(NamedTuple):
    """A small file, and the corpus in it gone through the bare model."""

    store: duckdb.DuckDBPyConnection
    corpus: Corpus
    computed: dict[str, pd.DataFrame]

    def expected(self, view: View) -> pd.DataFrame:
        if view.name not in self.computed:
            self.computed[view.name] = view.recomputed(self.corpus, self.store)
        return self.computed[view.name]

    def stored(self, view: View) -> pd.DataFrame:
        return view.stored(self.store, list(self.expected(view).columns))


@pytest.fixture(scope="session")
def small_files() -> Iterator[dict[str, Small]]:
    """The files that have been made so far, by name: whatever the order of tests, once each."""
    made: dict[str, Small] = {}
    yield made
    for file in made.values():
        file.store.close()


@pytest.fixture
def small(request, small_files, tmp_path_factory) -> Small:
    if request.param not in small_files:
        folder = tmp_path_factory.mktemp("outermost")
        small_files[request.param] = _made(request.param, folder, _statistics(request))
    return small_files[request.param]


def _made(name: str, folder: Path, statistics: set[str]) -> Small:
    family, _, trees = name.partition(" of ")
    corpus = folder / ("trees.conllu" if trees else "texts.jsonl")
    if trees:
        write_treebank(corpus)
    else:
        corpus.write_text("\n".join(map(json.dumps, TEXTS)), encoding="utf-8")
    asked = Request(
        model=str(save_tiny(family, folder / "model")),
        corpus=str(corpus),
        output=folder / "tiny.duckdb",
        statistics=sorted(statistics),
        mask_rate=0.0 if trees else mask_rate(family, 0.12),
        max_tokens=36,
        device="cpu",
        check_sequences=32,
    )
    run(asked, run_local)
    store = duckdb.connect(str(asked.output), read_only=True)
    return Small(store, read_corpus(store, BareModel(folder / "model")), {})


def _statistics(request: pytest.FixtureRequest) -> set[str]:
    """Statistics that a file needs for the selected tests."""
    specs = (getattr(test, "callspec", None) for test in request.session.items)
    asked = [spec.params for spec in specs if spec and spec.params.get("small") == request.param]
    names = {"token_norm", *(params["view"].name for params in asked if "view" in params)}
    return {
        statistic
        for name in names - WITHOUT_STATISTIC
        for statistic in STATISTICS.get(name, (name,))
    }

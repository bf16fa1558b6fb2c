"""Photos through a ViT of DINO's shape, from the command's request to the finished file.

Its weights are random: what is shown is that images of 224 × 224 pixels go all the way, with 197
tokens, 12 layers and 6 heads. Nothing is learned about DINO.
"""

from pathlib import Path

import duckdb
import pytest
import torch
from duckdb import DuckDBPyConnection
from transformers import ViTConfig, ViTImageProcessorPil, ViTModel

from analysis.relevance_rules import MEAN_WEIGHTS, METHODS, RULES
from precompute.jobs.runner import run_local
from precompute.passes import batch
from precompute.request import Request
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.precompute.corpora.tiny import shared_data

pytestmark = pytest.mark.shared_data
N_LAYERS, N_HEADS, N_TOKENS = 12, 6, 197


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dino")
    torch.manual_seed(0)
    shape = ViTConfig(hidden_size=384, num_attention_heads=N_HEADS, intermediate_size=1536)
    ViTModel(shape, add_pooling_layer=False).save_pretrained(folder / "model")
    ViTImageProcessorPil().save_pretrained(folder / "model")
    asked = Request(
        model=str(folder / "model"),
        corpus=str(shared_data() / "images"),
        output=folder / "photos.duckdb",
        statistics=["relevance_map", "relevance_summary"],
        device="cpu",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "WHOLE_LAYERS", 0)  # they would take most of the time
        run(asked, run_local)
    return asked.output


@pytest.fixture
def store(path):
    with duckdb.connect(str(path), read_only=True) as opened:
        yield opened


def one(store: DuckDBPyConnection, sql: str) -> tuple:
    return store.execute(sql).fetchall()[0]


def test_the_file_is_whole_and_sound(path):
    assert list(faults(path, every_table())) == []


def test_every_map_is_there_and_adds_up(store):
    n, n_images, least, most = one(
        store,
        """
        select count(*), count(distinct seq), min(len(relevance)), max(len(relevance))
        from relevance_map where list_contains(['i', 'ii', 'iii', 'iv'], rule)
        """,
    )
    assert (n_images, least, most) == (3, N_TOKENS, N_TOKENS)
    assert n == 3 * len(RULES) * N_LAYERS * (N_HEADS + 1)
    found = {
        rule for (rule,) in store.execute("select distinct rule from relevance_map").fetchall()
    }
    assert found == {*RULES, *MEAN_WEIGHTS, *METHODS} - {"gradient_attention", "norm_rollout_layer"}
    worst, in_place = one(
        store, "select max(conservation_error), sum(n_in_place) from sequence_relevance"
    )
    assert worst < 1e-5
    assert in_place == 0


def test_the_lemur_alone_has_a_mask_and_a_chance(store):
    rows = store.execute(
        """
        select name, bool_and(mask_share is not null), any_value(mask_chance)
        from sequence_relevance join image using (seq) group by name order by name
        """
    ).fetchall()
    assert [(name, told) for name, told, _ in rows] == [
        ("chelsea.png", False),
        ("horse_silhouette.png", False),
        ("lemur.png", True),
    ]
    assert 0.2 < rows[2][2] < 0.8

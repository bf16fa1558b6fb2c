"""Whole runs over images: stored tables, refused requests, and workers."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PIL import Image

from analysis.errors import UserError
from analysis.needs import Need
from analysis.statistics.corpus import provenance
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.needs import check_corpus, corpus_needs
from precompute.passes import STATISTICS
from precompute.run import Request, run
from precompute.store.check import faults
from precompute.store.show import lines
from tests.refusals import refused
from tests.small_images import SIZES
from tests.small_store import request, shards_only
from tests.tiny_vision import COLUMNS, LABELS, ROWS

NAMES = [statistic.name for statistic in STATISTICS.values()]
FEW = ["class_prediction"]
WORDS = {Need.TREES: "trees", Need.COREFERENCE: "coreference", Need.WORDS: "annotated words"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Request, Plan]:
    """Every statistic that an image corpus allows, of a model with registers."""
    asked = request(tmp_path_factory.mktemp("images"), "dinov2_with_registers")
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def store(finished):
    with duckdb.connect(str(finished[0].output), read_only=True) as connection:
        yield connection


def test_the_file_is_whole_and_sound(finished):
    assert list(faults(finished[0].output)) == []
    assert any("relevance_start  cls" in line for line in lines(finished[0].output))


def test_every_statistic_is_there_that_needs_no_text(store):
    ((kept,),) = store.execute("select statistics from run").fetchall()
    assert set(kept) == {name for name in NAMES if not corpus_needs(name)}
    filled = store.execute("select name from manifest where n_rows > 0").fetchall()
    lacking = {Need.TURNED_POSITIONS, Need.DISTANCE_TERMS, Need.KERNELS}
    lacking.add(Need.SINK_LOGITS)
    of_others = {name for name in NAMES if lacking & needs_of(name)}
    assert set(kept) - of_others == {name for (name,) in filled} & set(kept)


def needs_of(name: str) -> set[Need]:
    return set(STATISTICS[name].needs)


def test_what_images_allow_needs_nothing_that_they_do_not():
    needs = {statistic.name: statistic.requires for statistic in STATISTICS.values()}
    wanting = {name for name in NAMES if not corpus_needs(name)}
    assert wanting
    assert {need for name in wanting for need in needs[name]} <= wanting


def test_every_image_is_kept_with_its_grid_and_its_special_tokens(store):
    grids = store.execute("select name, grid_rows, grid_columns, first_patch from image").fetchall()
    assert grids == [(name, ROWS, COLUMNS, 5) for name in sorted(SIZES)]
    types = store.execute(
        "select token_type::varchar, list(token order by pos) from token where seq = 0 group by all"
    ).fetchall()
    by_type = dict(types)
    assert by_type["cls"] == ["[CLS]"]
    assert by_type["register"] == [f"[REG{place}]" for place in range(1, 5)]
    assert by_type["other"][:5] == ["patch 1,1", "patch 1,2", "patch 1,3", "patch 1,4", "patch 2,1"]
    assert len(by_type["other"]) == ROWS * COLUMNS


def test_the_file_says_what_was_done_to_positions_and_images(store):
    facts = provenance(store)
    assert facts["input"] == "images"
    assert facts["positions"] == "learned for 4 × 4 patches, interpolated to 3 × 4"
    assert json.loads(facts["image_processor"])["crop_size"] == {"height": 12, "width": 16}
    assert not {"max_tokens", "packing", "frequencies", "word_vectors"} & set(facts)


def test_weights_to_special_tokens_are_not_taken_for_one_another(store):
    """Registers are a type of their own in every statistic that tells types apart."""
    for table in ("token_type_mixing", "attention_norm_histogram"):
        types = store.execute(f"select distinct token_type::varchar from {table}").fetchall()
        assert {"cls", "register", "other"} <= {name for (name,) in types}


@pytest.mark.parametrize(
    ("setting", "option"),
    [
        ({"mask_rate": 0.2}, "--mask"),
        ({"max_tokens": 64}, "--max-tokens"),
        ({"packing": "blocks"}, "--packing"),
        ({"column": "body"}, "--column"),
        ({"segments": "zero"}, "--segments"),
        ({"frequencies": Path("counts.txt")}, "--frequencies"),
        ({"word_vectors": Path("glove.txt")}, "--word-vectors"),
    ],
)
def test_an_option_of_texts_is_refused_by_name(tmp_path, setting, option):
    asked = request(tmp_path, "vit", **setting)
    assert refused(UserError, run, asked, run_local) == (
        f"{option} is for texts, and {asked.model} reads images, each of as many tokens as it has "
        f"patches. Leave {option} out."
    )
    assert not asked.output.exists()


def test_a_statistic_of_texts_is_refused_by_name(finished):
    corpus = finished[1].corpus
    of_texts = [name for name in NAMES if corpus_needs(name)]
    assert of_texts
    for name in of_texts:
        [need, *_] = corpus_needs(name)
        assert refused(UserError, check_corpus, [name], corpus) == (
            f"--statistics {name} needs {WORDS.get(need, 'text')}, and "
            f"{corpus.name} holds images: leave "
            f"{name} out, or give a text corpus with a model that reads text."
        )


def test_another_image_processor_or_one_other_pixel_makes_other_shards(tmp_path):
    asked = request(tmp_path, "vit", statistics=FEW)
    before = shards_only(asked)
    path = Path(str(asked.corpus)) / "noise.png"
    pixels = np.asarray(Image.open(path)).copy()
    pixels[0, 0] = 255 - pixels[0, 0]
    Image.fromarray(pixels).save(path)
    between = shards_only(asked)
    settings = Path(asked.model) / "preprocessor_config.json"
    options = json.loads(settings.read_text())
    settings.write_text(json.dumps(options | {"image_mean": [0.1, 0.2, 0.3]}))
    after = run(asked, run_local)
    for statistic in before.passes:
        assert len({plan.shard_folder(statistic) for plan in (before, between, after)}) == 3
    with duckdb.connect(str(asked.output), read_only=True) as store:
        labels = store.execute("select label from class_prediction").fetchall()
    assert sorted(labels) == sorted((label,) for label in LABELS * len(SIZES))

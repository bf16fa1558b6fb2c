"""Whole runs over images: stored tables, refused requests, and what makes other shards."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.errors import UserError
from analysis.needs import Need
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.needs import check_corpus, corpus_needs
from precompute.passes import STATISTICS
from precompute.run import Request, run
from precompute.store.check import faults
from tests.refusals import refused
from tests.small_images import SIZES
from tests.small_store import facts_of, fetched, request, shards_only
from tests.tiny_vision import COLUMNS, LABELS, ROWS

WORDS = {Need.TREES: "trees", Need.COREFERENCE: "coreference", Need.WORDS: "annotated words"}
ALLOWED = {name for name in STATISTICS if not corpus_needs(name)}
LACKING = {Need.TURNED_POSITIONS, Need.DISTANCE_TERMS, Need.KERNELS, Need.SINK_LOGITS}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Request, Plan]:
    """Every statistic that images allow, of a model with registers."""
    asked = request(tmp_path_factory.mktemp("images"), "dinov2_with_registers")
    return asked, run(asked, run_local)


def test_a_file_of_images_is_sound_and_has_every_statistic_that_needs_no_text(finished):
    file = finished[0].output
    assert list(faults(file)) == []
    [(kept,)] = fetched(file, "select statistics from run")
    filled = fetched(file, "select name from manifest where n_rows > 0")
    of_others = {name for name in STATISTICS if LACKING & {*STATISTICS[name].needs}}
    assert {*kept} == ALLOWED
    assert ALLOWED - of_others == {name for (name,) in filled} & ALLOWED
    assert {need for name in ALLOWED for need in STATISTICS[name].requires} <= ALLOWED


def test_registers_are_tokens_of_their_own_type_and_positions_are_interpolated(finished):
    asked, plan = finished
    file, facts = asked.output, facts_of(asked.output)
    grids = fetched(file, "select name, grid_rows, grid_columns, first_patch from image")
    assert grids == [(name, ROWS, COLUMNS, 5) for name in sorted(SIZES)]
    tokens = "select token_type::varchar, list(token order by pos) from token where seq = 0"
    by_type = dict(fetched(file, f"{tokens} group by all"))
    for table in ("token_type_mixing", "attention_norm_histogram"):
        types = fetched(file, f"select distinct token_type::varchar from {table}")
        assert {"cls", "register", "other"} <= {name for (name,) in types}
    assert (by_type["cls"], by_type["register"]) == (["[CLS]"], [f"[REG{n}]" for n in range(1, 5)])
    assert by_type["other"] == [
        f"patch {row},{column}" for row in range(1, ROWS + 1) for column in range(1, COLUMNS + 1)
    ]
    assert (facts["input"], facts["relevance_start"]) == ("images", "cls")
    assert facts["positions"] == "learned for 4 × 4 patches, interpolated to 3 × 4"
    assert json.loads(facts["image_processor"])["crop_size"] == {"height": 12, "width": 16}
    assert not {"max_tokens", "packing", "frequencies", "word_vectors"} & set(facts)
    for name in STATISTICS.keys() - ALLOWED:
        [need, *_] = corpus_needs(name)
        assert refused(UserError, check_corpus, [name], plan.corpus) == (
            f"--statistics {name} needs {WORDS.get(need, 'text')}, and {plan.corpus.name} holds "
            f"images: leave {name} out, or give a text corpus with a model that reads text."
        )


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


def test_another_image_processor_or_one_other_pixel_makes_other_shards(tmp_path):
    asked = request(tmp_path, "vit", statistics=["class_prediction"])
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
    labels = fetched(asked.output, "select label from class_prediction")
    assert sorted(labels) == sorted((label,) for label in LABELS * len(SIZES))

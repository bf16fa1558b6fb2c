"""Whole runs over images: what is stored, left out and refused, and what makes other shards."""

import json
import pickle
import shutil
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PIL import Image

from analysis.errors import BadCorpus, BrokenLaw, UserError
from analysis.needs import Need
from analysis.statistics.corpus import IMAGES
from precompute.corpora.load import convert_corpus
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.needs import check_corpus, corpus_needs
from precompute.passes import STATISTICS
from precompute.run import Request, run
from precompute.store import build as store_images
from precompute.store.check import assert_laws, faults
from precompute.store.show import lines, remarks
from tests.precompute.corpora.drawn import greys, noise, saved
from tests.refusals import refused
from tests.small_images import MASKED, SIZES
from tests.small_store import facts_of, fetched, manifest_of, request, shards_only
from tests.tiny_vision import COLUMNS, LABELS, ROWS

WORDS = {Need.TREES: "trees", Need.COREFERENCE: "coreference", Need.WORDS: "annotated words"}
ALLOWED = {name for name in STATISTICS if not corpus_needs(name)}
LACKING = {Need.TURNED_POSITIONS, Need.DISTANCE_TERMS, Need.KERNELS, Need.SINK_LOGITS}
LEFT_OUT = (
    "Left out since they could not be used: 1 image(s), 1 mask(s); a run names them and says why."
)
CONTENT = "5 image(s) of 3 × 4 patches, 3 with a mask, 5 with their picture"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Request, Plan]:
    """Every statistic that images allow, of a model with registers.

    One image is broken, one has a mask of another size, and one a mask that is untold in part.
    """
    asked = request(tmp_path_factory.mktemp("images"), "dinov2_with_registers")
    images = Path(str(asked.corpus))
    (images / "broken.png").write_bytes(b"A text.")
    saved(images / "noise_mask.png", greys((0, 255)))
    trimap = greys(*[(0, 9, 255, 255)] * 3).resize((32, 24), Image.Resampling.NEAREST)
    saved(images / "plain_trimap.png", trimap)
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


def test_every_image_that_was_read_has_a_row_with_what_the_model_saw(finished):
    asked, plan = finished
    with duckdb.connect(str(asked.output), read_only=True) as store:
        rows = store.execute("from image order by seq").df()
    assert rows["name"].tolist() == list(SIZES)
    assert rows["seq"].tolist() == list(range(len(SIZES)))
    assert rows.loc[rows["coverage"].notna(), "name"].tolist() == [*MASKED, "plain.png"]
    assert rows["picture"].notna().all()
    for seq, (name, size) in enumerate(SIZES.items()):
        row = rows.iloc[seq]
        assert (row["height"], row["width"]) == size
        assert (row["grid_rows"], row["grid_columns"], row["first_patch"]) == (ROWS, COLUMNS, 5)
        with Image.open(Path(str(asked.corpus)) / name) as opened:
            seen = opened.convert("RGB").resize(plan.images.size[::-1], Image.Resampling.BICUBIC)
        with Image.open(BytesIO(bytes(row["picture"]))) as kept:
            assert kept.format == "PNG"
            np.testing.assert_array_equal(np.asarray(kept), np.asarray(seen))
    coverage = dict(fetched(asked.output, "select name, coverage from image"))
    untold = np.array(coverage["plain.png"], dtype=float).reshape(ROWS, COLUMNS)
    np.testing.assert_array_equal(untold, [[0, np.nan, 1, 1]] * ROWS)
    bar = np.reshape(coverage["bar.png"], (ROWS, COLUMNS))
    assert bar[:, [0, 3]].max() == 0 < 0.3 < bar[:, [1, 2]].min()


def test_what_was_left_out_is_said(finished):
    path = finished[0].output
    facts = facts_of(path)
    assert facts["corpus images_left_out"] == facts["corpus masks_left_out"] == "1"
    assert remarks(path) == [LEFT_OUT]
    assert {LEFT_OUT, CONTENT} <= set(lines(path))


CHANGED_COVERAGE = "coverage = list_transform(coverage, lambda x: {})"
DAMAGE = {
    "len(coverage) =": "coverage = [0.5]",
    "between 0 and 1": CHANGED_COVERAGE.format("x + 1"),
    "len(list_filter(coverage": CHANGED_COVERAGE.format("'nan'::float"),
    "octet_length": "picture = ''::blob",
}
"""A change of an image, by the law that it breaks."""


def test_images_that_do_not_fit_their_file_are_seen(finished, tmp_path):
    path = Path(shutil.copy(finished[0].output, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(path)) as connection:
        for law, change in DAMAGE.items():
            connection.execute(f"begin; update stored.image set {change} where seq = 0")
            assert law in refused(BrokenLaw, assert_laws, connection, IMAGES)
            connection.execute("rollback")
        connection.execute("update stored.image set first_patch = 2 where seq = 1")
        connection.execute("delete from stored.image where seq = 3")
        connection.execute(manifest_of("image"))
    found = "\n".join(faults(path))
    assert "tokens of an image are its patches" in found
    assert "all images, or none" in found


def test_rows_are_written_a_few_at_a_time_and_pictures_only_where_maps_are_kept(
    finished, monkeypatch
):
    plan = finished[1]
    monkeypatch.setattr(store_images, "IMAGES", 2)
    parts = list(store_images.image_rows(replace(plan, kept=frozenset({1}))))
    assert [len(part) for part in parts] == [2, 2, 1]
    pictures = [row["picture"] is not None for part in parts for row in part.to_pylist()]
    assert pictures == [False, True, False, False, False]
    assert not list(store_images.image_rows(replace(plan, images=None)))


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


CHANGED = (
    "noise.png: has changed since the run read it first; leave the folder alone and run the same "
    "command again"
)


@pytest.mark.parametrize("is_before", [True, False], ids=["during a run", "before it is stored"])
def test_an_image_that_changes_stops_the_run_in_one_sentence_and_leaves_no_file(
    tmp_path, is_before
):
    asked = request(tmp_path, "vit", statistics=["completeness"])

    def changing(plan, model, jobs, report):
        if not is_before:
            run_local(plan, model, jobs, report)
        saved(tmp_path / "images" / "noise.png", noise(16, 12, seed=9))
        if is_before:
            run_local(plan, model, jobs, report)

    with pytest.raises(UserError) as caught:
        run(asked, changing)
    assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value))) == CHANGED
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tiny")] == []


@pytest.mark.parametrize("source", ["demo-digits", "images"])
def test_images_are_not_made_into_json_lines(finished, tmp_path, source):
    corpus = str(finished[0].corpus) if source == "images" else source
    asked = {"packing": "paragraphs", "column": "text", "model": None, "max_tokens": 9, "seed": 0}
    assert refused(BadCorpus, convert_corpus, [corpus], tmp_path / "a", **asked) == (
        f"{corpus}: holds images, which JSON Lines has no place for; give the folder itself as "
        "--corpus of a run"
    )
    assert not (tmp_path / "a").exists()

"""Runs over folders of images: stored pictures, and errors after changes of the folder."""

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
from analysis.statistics.corpus import IMAGES
from precompute.corpora.load import convert_corpus
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store import build as store_images
from precompute.store.check import assert_laws, faults
from precompute.store.show import lines, remarks
from tests.precompute.corpora.drawn import greys, noise, saved
from tests.refusals import refused
from tests.small_images import MASKED, SIZES
from tests.small_store import manifest_of, request
from tests.tiny_vision import COLUMNS, ROWS

LEFT_OUT = (
    "Left out since they could not be used: 1 image(s), 1 mask(s); a run names them and says why."
)

CONTENT = "5 image(s) of 3 × 4 patches, 3 with a mask, 5 with their picture"


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Plan:
    """Plan of a run over images, of which one is broken and one has a mask of another size."""
    folder = tmp_path_factory.mktemp("images")
    asked = request(folder, "vit", statistics=["completeness"])
    images = folder / "images"
    (images / "broken.png").write_bytes(b"A text.")
    saved(images / "noise_mask.png", greys((0, 255)))
    trimap = greys(*[(0, 9, 255, 255)] * 3).resize((32, 24), Image.Resampling.NEAREST)
    saved(images / "plain_trimap.png", trimap)
    return run(asked, run_local)


@pytest.fixture(scope="module")
def place(plan) -> Path:
    return plan.folder.parent


@pytest.fixture
def store(place):
    with duckdb.connect(str(place / "tiny.duckdb"), read_only=True) as connection:
        yield connection


def test_every_image_that_was_read_has_a_row_with_what_the_model_saw(plan, place, store):
    rows = store.execute("from image order by seq").df()
    assert rows["name"].tolist() == list(SIZES)
    assert rows["seq"].tolist() == list(range(len(SIZES)))
    assert rows.loc[rows["coverage"].notna(), "name"].tolist() == [*MASKED, "plain.png"]
    assert rows["picture"].notna().all()
    for seq, (name, size) in enumerate(SIZES.items()):
        row = rows.iloc[seq]
        assert (row["height"], row["width"]) == size
        assert (row["grid_rows"], row["grid_columns"], row["first_patch"]) == (ROWS, COLUMNS, 1)
        with Image.open(place / "images" / name) as opened:
            seen = opened.convert("RGB").resize(plan.images.size[::-1], Image.Resampling.BILINEAR)
        with Image.open(BytesIO(bytes(row["picture"]))) as kept:
            assert kept.format == "PNG"
            np.testing.assert_array_equal(np.asarray(kept), np.asarray(seen))
    coverage = dict(store.execute("select name, coverage from image").fetchall())
    untold = np.array(coverage["plain.png"], dtype=float).reshape(ROWS, COLUMNS)
    np.testing.assert_array_equal(untold, [[0, np.nan, 1, 1]] * ROWS)
    bar = np.reshape(coverage["bar.png"], (ROWS, COLUMNS))
    assert bar[:, [0, 3]].max() == 0 < 0.3 < bar[:, [1, 2]].min()


def test_what_was_left_out_is_said(place, store):
    path = place / "tiny.duckdb"
    facts = dict(store.execute("select name, value from provenance").fetchall())
    assert facts["corpus images_left_out"] == facts["corpus masks_left_out"] == "1"
    assert remarks(path) == [LEFT_OUT]
    assert {LEFT_OUT, CONTENT} <= set(lines(path))
    assert not list(faults(path))


CHANGED_COVERAGE = "coverage = list_transform(coverage, lambda x: {})"
DAMAGE = {
    "len(coverage) =": "coverage = [0.5]",
    "between 0 and 1": CHANGED_COVERAGE.format("x + 1"),
    "len(list_filter(coverage": CHANGED_COVERAGE.format("'nan'::float"),
    "octet_length": "picture = ''::blob",
}
"""A change of an image, by the law that it breaks."""


def test_images_that_do_not_fit_their_file_are_seen(place, tmp_path):
    path = Path(shutil.copy(place / "tiny.duckdb", tmp_path / "changed.duckdb"))
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


def test_rows_are_written_a_few_at_a_time_and_pictures_only_where_maps_are_kept(plan, monkeypatch):
    monkeypatch.setattr(store_images, "IMAGES", 2)
    parts = list(store_images.image_rows(replace(plan, kept=frozenset({1}))))
    assert [len(part) for part in parts] == [2, 2, 1]
    pictures = [row["picture"] is not None for part in parts for row in part.to_pylist()]
    assert pictures == [False, True, False, False, False]
    assert not list(store_images.image_rows(replace(plan, images=None)))


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
def test_images_are_not_made_into_json_lines(place, tmp_path, source):
    corpus = str(place / source) if source == "images" else source
    asked = {"packing": "paragraphs", "column": "text", "model": None, "max_tokens": 9, "seed": 0}
    assert refused(BadCorpus, convert_corpus, [corpus], tmp_path / "a", **asked) == (
        f"{corpus}: holds images, which JSON Lines has no place for; give the folder itself as "
        "--corpus of a run"
    )
    assert not (tmp_path / "a").exists()

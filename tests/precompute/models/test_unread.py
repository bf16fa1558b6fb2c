"""Tensors and settings that a model's class does not read are refused, named, or bookkeeping."""

import shutil
from pathlib import Path

import pytest
import torch
import transformers

from analysis.errors import UnfitModel, UserError
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.models.model_folder import library_configuration, settings_not_read
from precompute.run import run
from tests.precompute.models.changed_files import change_settings, change_weights
from tests.precompute.parts.test_part_runs import facts_of
from tests.refusals import refused
from tests.small_store import request
from tests.tiny import save_tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Folders of tiny models, with their heads."""
    made: dict[str, Path] = {}

    def save(family: str) -> Path:
        folder = tmp_path_factory.getbasetemp() / f"unread-{family}"
        return made.setdefault(family, save_tiny(family, folder, predicts_tokens=True))

    return save


@pytest.fixture
def folder_of(saved, tmp_path):
    return lambda family: Path(shutil.copytree(saved(family), tmp_path / "model"))


REFUSED = {
    "biases of Qwen 2 in a Mistral": ("mistral", "model.layers.0.self_attn.q_proj.bias", 12),
    "distances of BERT": (
        "bert",
        "bert.encoder.layer.0.attention.self.distance_embedding.weight",
        (79, 6),
    ),
    "norms of queries in a Llama": ("llama", "model.layers.1.self_attn.q_norm.weight", 6),
    "a layer more than config.json says": (
        "gpt2",
        "transformer.h.2.attn.c_attn.weight",
        (12, 36),
    ),
    "a norm of embeddings under the name of the model": ("gpt2", "transformer.ln_emb.weight", 12),
    "a part of a model that is saved without its name": ("bert", "encoder.norm.weight", 12),
    "vectors of places in a Llama": ("llama", "model.embed_positions.weight", (40, 12)),
    "a bias of the head that predicts tokens": ("llama", "lm_head.bias", 12),
}
NOT_MISSED = {
    "frequencies by layer": ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq", 3),
    "places counted": ("bert", "bert.embeddings.position_ids", (1, 40)),
    "segments of no text": ("bert", "bert.embeddings.token_type_ids", (1, 40)),
    "the mask of a causal model": ("gpt2", "transformer.h.0.attn.bias", (1, 1, 40, 40)),
    "its value": ("gpt2", "transformer.h.0.attn.masked_bias", ()),
    "a pooler": ("bert", "bert.pooler.dense.weight", (12, 12)),
    "a head for pairs of sentences": ("bert", "cls.seq_relationship.weight", (2, 12)),
    "a head for classes": ("bert", "classifier.weight", (2, 12)),
    "a head of another kind": ("llama", "score.weight", (2, 12)),
}


def _add(folder: Path, tensor: str, shape) -> None:
    change_weights(folder, lambda held: held.update({tensor: torch.ones(shape)}))


@pytest.mark.parametrize("what", REFUSED)
def test_a_tensor_of_what_is_run_that_nothing_reads_is_refused_by_name(what, folder_of):
    family, tensor, shape = REFUSED[what]
    folder = folder_of(family)
    _add(folder, tensor, shape)
    said = refused(UnfitModel, load_model, str(folder), device="cpu")
    assert said.startswith(f"The weights of model {str(folder)!r} hold 1 tensor(s) that ")
    assert f"has no place for: {tensor}. Give the config.json" in said
    assert load_model(str(folder), device="cpu", random_weights=0).proof is not None


@pytest.mark.parametrize("what", NOT_MISSED)
def test_what_is_computed_anyway_or_comes_after_the_layers_may_be_there(what, folder_of):
    family, tensor, shape = NOT_MISSED[what]
    folder = folder_of(family)
    _add(folder, tensor, shape)
    assert load_model(str(folder), device="cpu").language_model is not None


FORMERLY = {
    "bert": ("position_embedding_type", "relative_key", "absolute"),
    "roberta": ("position_embedding_type", "relative_key_query", "absolute"),
    "electra": ("position_embedding_type", "alibi", "absolute"),
    "esm": ("position_embedding_type", "relative_key", "absolute"),
    "gemma": ("hidden_activation", "relu", "gelu_pytorch_tanh"),
}


def named(family: str, **settings) -> tuple[str, ...]:
    """Settings that a family does not know, among those of its config.json."""
    configuration = {"model_type": family, **settings}
    return settings_not_read(configuration, library_configuration(configuration), "m")


@pytest.mark.parametrize("family", FORMERLY)
def test_a_setting_that_earlier_versions_computed_by_is_refused(family):
    key, value, instead = FORMERLY[family]
    assert refused(UnfitModel, named, family, **{key: value}) == (
        f"config.json of model 'm' has {key} = {value}, which transformers "
        f"{transformers.__version__} no longer reads: the model would be run as if it were "
        f"{instead}. Give a model without it."
    )
    assert named(family, **{key: instead}) == ()


@pytest.mark.parametrize("seed", [None, 0])
def test_it_is_refused_whether_the_weights_are_read_or_drawn(seed, folder_of):
    folder = folder_of("bert")
    change_settings(folder / "config.json", position_embedding_type="relative_key_query")
    said = refused(UnfitModel, load_model, str(folder), random_weights=seed)
    assert "has position_embedding_type = relative_key_query, which transformers" in said


UNKNOWN = {
    "of another family": ("mistral", {"attention_bias": True}, ("attention_bias",)),
    "rotations of a model without": ("bert", {"rope_theta": 1e6}, ("rope_theta",)),
    "of its makers": ("gpt2", {"qk_clip": 3, "mup": {"a": 1}}, ("qk_clip", "mup")),
    "of no file of ours": ("llama", {"<b>a, b</b>": 1}, ("?b?a??b??b?",)),
    "false is a value": ("llama", {"use_rope": False}, ("use_rope",)),
    "nothing": ("llama", {"sliding_window": None, "layout": {}, "notes": ""}, ()),
    "bookkeeping": (
        "llama",
        {"use_cache": False, "_name_or_path": "a", "torch_dtype": "float16", "top_p": 0.5,
         "pretraining_tp": 2, "auto_map": {"AutoModel": "own.Own"}, "sep_token_id": 3,
         "task_specific_params": {"a": 1}, "gradient_checkpointing": True},
        (),
    ),
    "older names": ("llama", {"rope_theta": 500.0, "rope_scaling": None}, ()),
}  # fmt: skip


@pytest.mark.parametrize("what", UNKNOWN)
def test_settings_that_the_class_does_not_know_are_named(what):
    family, settings, expected = UNKNOWN[what]
    assert named(family, **settings) == expected


def test_settings_of_parts_are_named_with_their_part():
    assert named("clip", text_config={"qk_clip": 1}, own=2) == ("text_config.qk_clip", "own")


def test_a_run_and_its_file_name_the_settings(tmp_path, capsys):
    wanted = request(tmp_path, statistics=["singular_value"])
    change_settings(Path(wanted.model) / "config.json", qk_clip=3, rope_theta=5.0)
    run(wanted, run_local)
    assert facts_of(wanted)["settings_not_read"] == "qk_clip, rope_theta"
    said = "Settings of config.json that no part of the model reads: qk_clip, rope_theta."
    assert said in capsys.readouterr().out


def test_the_upcast_of_gpt2_is_switched_off_and_its_scales_are_read(folder_of):
    folder = folder_of("gpt2")
    change_settings(
        folder / "config.json", reorder_and_upcast_attn=True, scale_attn_by_inverse_layer_idx=True
    )
    loaded = load_model(str(folder), device="cpu")
    assert loaded.settings_not_read == ()
    first, second = (layer.score_scale for layer in loaded.layers)
    assert first == pytest.approx(2 * second)
    bare = transformers.GPT2Model.from_pretrained(folder, attn_implementation="eager")
    assert bare.config.reorder_and_upcast_attn
    ids = torch.tensor([[5, 7, 3, 9, 4]])
    with torch.inference_mode():
        theirs = bare(ids, output_attentions=True).attentions
        ours = loaded.model(ids, output_attentions=True).attentions
    for layer, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(layer, other, rtol=1e-5, atol=1e-6)


def test_texts_that_are_attended_to_in_another_way_than_the_trial_are_refused(tmp_path):
    wanted = request(tmp_path, statistics=["singular_value"], max_tokens=16)
    folder = Path(wanted.model)
    config = transformers.BigBirdConfig.from_pretrained(folder, block_size=2, num_random_blocks=1)
    transformers.BigBirdModel(config).save_pretrained(folder)
    loaded = load_model(str(folder), device="cpu")
    assert (loaded.positions, loaded.model.config.attention_type) == (14, "block_sparse")
    assert refused(UserError, run, wanted, run_local) == (
        "--max-tokens is 16, and by attention_type of its config.json the model attends in another "
        "way to texts of more than 14 tokens. Give --max-tokens 14."
    )

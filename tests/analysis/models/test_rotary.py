"""Queries and keys are normalised, shared and turned as the library's own modules do it."""

import pytest
import torch
import transformers
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama import modeling_llama
from transformers.models.olmo2 import modeling_olmo2

from analysis.models.head_norm import HeadNormWeights
from analysis.models.parts import projections
from analysis.models.rotary import Rotary

N_TOKENS, HEADS, WIDTH, HEAD_WIDTH = 9, 4, 16, 8
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}


def _sides() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, HEADS, N_TOKENS, HEAD_WIDTH) for _ in range(2)]


@pytest.mark.parametrize("parameters", [{"rope_type": "default"}, YARN], ids=["plain", "yarn"])
def test_queries_and_keys_are_turned_as_llama_turns_them(parameters):
    config = transformers.LlamaConfig(
        hidden_size=HEADS * HEAD_WIDTH,
        num_attention_heads=HEADS,
        max_position_embeddings=32,
        rope_parameters={"rope_theta": 100.0, **parameters},
    )
    module = modeling_llama.LlamaRotaryEmbedding(config)
    assert (module.attention_scaling > 1.1) == (parameters is YARN)
    sides = _sides()
    cosine, sine = module(sides[0], torch.arange(N_TOKENS)[None])
    expected = modeling_llama.apply_rotary_pos_emb(sides[0], sides[1], cosine, sine)
    rotary = Rotary(module.inv_freq, module.attention_scaling)
    for side, turned in zip(sides, expected, strict=True):
        torch.testing.assert_close(rotary.turned(side), turned)


def test_coordinates_beyond_the_planes_are_not_turned():
    config = transformers.GPTNeoXConfig(
        hidden_size=HEADS * HEAD_WIDTH,
        num_attention_heads=HEADS,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 100.0,
            "partial_rotary_factor": 0.5,
        },
    )
    module = modeling_gpt_neox.GPTNeoXRotaryEmbedding(config)
    assert len(module.inv_freq) == HEAD_WIDTH // 4
    sides = _sides()
    cosine, sine = module(sides[0], torch.arange(N_TOKENS)[None])
    expected = modeling_gpt_neox.apply_rotary_pos_emb(sides[0], sides[1], cosine, sine)
    for side, turned in zip(sides, expected, strict=True):
        found = Rotary(module.inv_freq).turned(side)
        torch.testing.assert_close(found, turned)
        assert torch.equal(found[..., HEAD_WIDTH // 2 :], side[..., HEAD_WIDTH // 2 :])


def test_a_score_depends_on_the_distance_alone():
    queries, keys = (side.double() for side in _sides())
    rotary = Rotary(torch.tensor([1.0, 0.3, 0.1, 0.01], dtype=torch.float64))
    here, there = (
        rotary.turned(queries, start=start) @ rotary.turned(keys, start=start).mT
        for start in (0, 1000)
    )
    torch.testing.assert_close(here, there)


def test_a_norm_is_of_each_head_or_of_all_heads_of_a_token():
    vectors = _sides()[0]
    scale = torch.rand(HEADS, HEAD_WIDTH) + 0.5
    module = modeling_olmo2.Olmo2RMSNorm(HEADS * HEAD_WIDTH, eps=1e-5)
    module.weight.data = scale.flatten()
    together = module(vectors.transpose(1, 2).flatten(2)).unflatten(2, (HEADS, -1)).transpose(1, 2)
    normed = HeadNormWeights(scale, 1e-5, over_heads=True).normed(vectors)
    torch.testing.assert_close(normed, together)
    module = modeling_llama.LlamaRMSNorm(HEAD_WIDTH, eps=1e-5)
    module.weight.data = scale[0]
    normed = HeadNormWeights(scale[:1], 1e-5).normed(vectors)
    torch.testing.assert_close(normed, module(vectors))


def test_heads_of_a_group_have_the_same_keys_and_values():
    torch.manual_seed(0)
    sides = [(torch.randn(WIDTH, n * HEAD_WIDTH), torch.randn(n * HEAD_WIDTH)) for n in (4, 2, 2)]
    cut = projections(sides, HEADS)
    assert cut["groups"] == (0, 0, 1, 1)
    assert cut["score_scale"] == HEAD_WIDTH**-0.5
    inputs = torch.randn(N_TOKENS, WIDTH)
    for name, (weight, bias) in zip(("query", "key", "value"), sides, strict=True):
        made = (inputs @ weight + bias).unflatten(1, (-1, HEAD_WIDTH)).transpose(0, 1)
        expected = modeling_llama.repeat_kv(made[None], HEADS // len(made))[0]
        found = inputs @ cut[f"{name}_weight"] + cut[f"{name}_bias"][:, None]
        torch.testing.assert_close(found, expected)

"""A model as transformers loads it, in float64, and what each layer does with one sequence."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

POST_NORM = ("attn_w", "attn", "attn_res", "attn_res_ln", "attn_res_ln_ff")
POST_NORM += ("attn_res_ln_ff_res", "attn_res_ln_ff_res_ln")
PRE_NORM: tuple[str, ...] = ("attn_w", "ln_attn", "ln_attn_res", "ln_attn_res_ln")
PRE_NORM += ("ln_attn_res_ln_ff", "ln_attn_res_ln_ff_res")


@dataclass(frozen=True)
class Affine:
    """x W + b."""

    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        return rows @ self.weight + self.bias


@dataclass(frozen=True)
class Layer:
    """The matrices of one layer, rows times matrix; heads are slices of columns."""

    query: Affine
    key: Affine
    value: Affine
    output: Affine
    attention_norm: Any
    inner: Affine
    outer: Affine
    network_norm: Any
    gate: Affine | None = None


@dataclass(frozen=True)
class Reading:
    """One sequence gone through the model: a list has one entry per layer.

    `normed` is what queries, keys and values are made of: the layer's input, or in a pre-norm
    layer its normalisation.
    """

    seq: int
    ids: list[int]
    segments: list[int]
    types: list[str]
    words: Tensor
    inputs: list[Tensor]
    normed: list[Tensor]
    attention: list[Tensor]
    outputs: list[Tensor]

    def __len__(self) -> int:
        return len(self.ids)


class BareModel:
    """BERT, RoBERTa, GPT-2 or Llama, for one sequence at a time, so that nothing is padded."""

    def __init__(self, folder: Path):
        self.model: Any = transformers.AutoModel.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float64
        ).eval()
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        config = self.model.config
        self.family = config.model_type
        self.norm_first = self.is_causal = self.family in ("gpt2", "llama")
        self.heads = config.num_attention_heads
        self.width = config.hidden_size
        self.head_width = getattr(config, "head_dim", None) or self.width // self.heads
        name = config.activation_function if self.family == "gpt2" else config.hidden_act
        known = {"gelu": "gelu", "gelu_new": "gelu_tanh", "relu": "relu", "silu": "silu"}
        self.activation = known[name]
        blocks = self._blocks()
        self.blocks = list(blocks)
        self.layers = [self._layer(block) for block in blocks]
        self.scopes = PRE_NORM if self.norm_first else POST_NORM

    def _blocks(self) -> Any:
        if self.family == "llama":
            return self.model.layers
        return self.model.h if self.norm_first else self.model.encoder.layer

    @staticmethod
    def _linear(module: Any) -> Affine:
        return Affine(module.weight.detach().T, module.bias.detach())

    def _shared(self, module: Any) -> Affine:
        """Keys or values that several heads share, once for each of them."""
        projection = self._linear(module)
        groups = projection.bias.numel() // self.head_width
        heads = [head * groups // self.heads for head in range(self.heads)]
        cut = projection.weight.view(-1, groups, self.head_width)[:, heads]
        return Affine(cut.flatten(1), projection.bias.view(groups, -1)[heads].flatten())

    def _llama(self, block: Any) -> Layer:
        attention, network = block.self_attn, block.mlp
        return Layer(
            self._linear(attention.q_proj),
            self._shared(attention.k_proj),
            self._shared(attention.v_proj),
            self._linear(attention.o_proj),
            block.input_layernorm,
            self._linear(network.up_proj),
            self._linear(network.down_proj),
            block.post_attention_layernorm,
            self._linear(network.gate_proj),
        )

    def _layer(self, block: Any) -> Layer:
        if self.family == "llama":
            return self._llama(block)
        if not self.norm_first:
            attention = block.attention
            heads = attention.self
            projections = [self._linear(module) for module in (heads.query, heads.key, heads.value)]
            output = self._linear(attention.output.dense)
            norms = attention.output.LayerNorm, block.output.LayerNorm
            network = self._linear(block.intermediate.dense), self._linear(block.output.dense)
        else:  # GPT-2 keeps its matrices as they multiply rows, the three in one
            joined, bias = block.attn.c_attn.weight.detach(), block.attn.c_attn.bias.detach()
            pairs = zip(joined.chunk(3, dim=1), bias.chunk(3), strict=True)
            projections = [Affine(*pair) for pair in pairs]
            output = Affine(block.attn.c_proj.weight.detach(), block.attn.c_proj.bias.detach())
            norms = block.ln_1, block.ln_2
            network = tuple(
                Affine(module.weight.detach(), module.bias.detach())
                for module in (block.mlp.c_fc, block.mlp.c_proj)
            )
        query, key, value = projections
        inner, outer = network
        return Layer(query, key, value, output, norms[0], inner, outer, norms[1])

    @cached_property
    def positions(self) -> Tensor:
        """The learned position embeddings that texts can have."""
        if self.norm_first:
            return self.model.wpe.weight.detach()
        learned = self.model.embeddings.position_embeddings.weight.detach()
        return (
            learned[self.model.config.pad_token_id + 1 :] if self.family == "roberta" else learned
        )

    def arguments(self, ids: list[int], segments: list[int]) -> dict[str, Tensor]:
        given = {"input_ids": torch.tensor([ids])}
        if self.family == "bert":
            given["token_type_ids"] = torch.tensor([segments])
        return given

    @torch.no_grad()
    def read(self, seq: int, ids: list[int], segments: list[int], types: list[str]) -> Reading:
        """The sequence in one forward pass, every layer watched from outside."""
        inputs, outputs = [], []

        def watch(_module: Any, given: tuple, put_out: Any) -> None:
            inputs.append(given[0][0])
            outputs.append((put_out[0] if isinstance(put_out, tuple) else put_out)[0])

        hooks = [block.register_forward_hook(watch) for block in self.blocks]
        try:
            output = self.model(**self.arguments(ids, segments), output_attentions=True)
        finally:
            for hook in hooks:
                hook.remove()
        normed = [
            layer.attention_norm(rows) if self.norm_first else rows
            for layer, rows in zip(self.layers, inputs, strict=True)
        ]
        words = self.model.get_input_embeddings()(torch.tensor(ids))
        attention = [weights[0] for weights in output.attentions]
        return Reading(seq, ids, segments, types, words, inputs, normed, attention, outputs)

    def by_head(self, rows: Tensor) -> Tensor:
        """Rows of all heads' coordinates as head × row × coordinate."""
        return rows.view(len(rows), self.heads, self.head_width).transpose(0, 1)

    def transformed(self, layer: Layer, rows: Tensor) -> Tensor:
        """f(x) = (x W_V + b_V) W_O of every head: head × token × width."""
        values = self.by_head(layer.value(rows))
        output = layer.output.weight.view(self.heads, self.head_width, self.width)
        return values @ output

"""A model as transformers loads it, in float64, and what each layer does with one sequence."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
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
    """The matrices of one layer, rows times matrix; heads are slices of columns.

    `head_norms` are those of each head's queries and keys, and `value_gate` is what a query scales
    the values of its heads by, behind a sigmoid; few models have them. Networks of experts are not
    read.
    """

    query: Affine
    key: Affine
    value: Affine
    output: Affine
    attention_norm: Any
    inner: Affine | None
    outer: Affine | None
    network_norm: Any
    gate: Affine | None = None
    head_norms: tuple[Any, ...] = (None, None)
    value_gate: Affine | None = None


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

    def seen(self, layer: int) -> np.ndarray:
        """Keys that each query may attend to: there some head's weight is above 0."""
        return self.attention[layer].numpy().max(axis=0) > 0


_ENCODERS = ("bert", "roberta")
_ACTIVATIONS = ("activation_function", "hidden_act", "hidden_activation")


class BareModel:
    """An encoder, GPT-2 or a decoder that turns queries and keys.

    It reads one sequence at a time, so that nothing is padded.
    """

    def __init__(self, folder: Path):
        config = transformers.AutoConfig.from_pretrained(folder)
        how: dict[str, Any] = {"attn_implementation": "eager", "dtype": torch.float64}
        if hasattr(config, "num_local_experts"):
            how["experts_implementation"] = "eager"
        self.model: Any = transformers.AutoModel.from_pretrained(folder, **how).eval()
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        config = self.model.config
        self.family = config.model_type
        self.norm_first = self.is_causal = self.family not in _ENCODERS
        self.heads = config.num_attention_heads
        self.width = config.hidden_size
        self.head_width = getattr(config, "head_dim", None) or self.width // self.heads
        names = (getattr(config, name, None) for name in _ACTIVATIONS)
        name = next(name for name in names if name)
        self.activation = "gelu_tanh" if name in ("gelu_new", "gelu_pytorch_tanh") else name
        blocks = self._blocks()
        self.blocks = list(blocks)
        self.layers = [self._layer(block) for block in blocks]
        self.scopes = PRE_NORM if self.norm_first else POST_NORM

    def _blocks(self) -> Any:
        if self.family in _ENCODERS:
            return self.model.encoder.layer
        return self.model.h if self.family == "gpt2" else self.model.layers

    @staticmethod
    def _linear(module: Any) -> Affine:
        weight = module.weight.detach().T
        bias = weight.new_zeros(weight.shape[1]) if module.bias is None else module.bias.detach()
        return Affine(weight, bias)

    def _shared(self, module: Any) -> Affine:
        """Keys or values that several heads share, once for each of them."""
        projection = self._linear(module)
        groups = projection.bias.numel() // self.head_width
        heads = [head * groups // self.heads for head in range(self.heads)]
        cut = projection.weight.view(-1, groups, self.head_width)[:, heads]
        return Affine(cut.flatten(1), projection.bias.view(groups, -1)[heads].flatten())

    def _layer(self, block: Any) -> Layer:
        kinds = {"gpt2": self._gpt2, "gpt_neox": self._gpt_neox}
        read = self._encoder if self.family in _ENCODERS else kinds.get(self.family, self._llama)
        return read(block)

    def _encoder(self, block: Any) -> Layer:
        attention, heads = block.attention, block.attention.self
        sides = (heads.query, heads.key, heads.value, attention.output.dense)
        query, key, value, output = map(self._linear, sides)
        inner, outer = map(self._linear, (block.intermediate.dense, block.output.dense))
        norms = attention.output.LayerNorm, block.output.LayerNorm
        return Layer(query, key, value, output, norms[0], inner, outer, norms[1])

    def _gpt2(self, block: Any) -> Layer:
        """GPT-2 keeps its matrices as they multiply rows, the three in one."""
        names = (block.attn.c_attn, block.attn.c_proj, block.mlp.c_fc, block.mlp.c_proj)
        joined, output, inner, outer = (
            Affine(of.weight.detach(), of.bias.detach()) for of in names
        )
        pairs = zip(joined.weight.chunk(3, dim=1), joined.bias.chunk(3), strict=True)
        query, key, value = (Affine(*pair) for pair in pairs)
        return Layer(query, key, value, output, block.ln_1, inner, outer, block.ln_2)

    def _gpt_neox(self, block: Any) -> Layer:
        """The query, key and value of each head stand beside each other."""
        attention, network = block.attention, block.mlp
        fused = self._linear(attention.query_key_value)
        weights = fused.weight.view(-1, self.heads, 3, self.head_width).unbind(dim=2)
        biases = fused.bias.view(self.heads, 3, self.head_width).unbind(dim=1)
        pairs = zip(weights, biases, strict=True)
        query, key, value = (Affine(w.flatten(1), b.flatten()) for w, b in pairs)
        output, inner, outer = map(
            self._linear, (attention.dense, network.dense_h_to_4h, network.dense_4h_to_h)
        )
        norms = block.input_layernorm, block.post_attention_layernorm
        return Layer(query, key, value, output, norms[0], inner, outer, norms[1])

    def _llama(self, block: Any) -> Layer:
        attention = block.self_attn
        names = ("up_proj", "down_proj", "gate_proj")
        network = [getattr(block.mlp, name, None) for name in names]
        inner, outer, gate = (module and self._linear(module) for module in network)
        return Layer(
            self._linear(attention.q_proj),
            self._shared(attention.k_proj),
            self._shared(attention.v_proj),
            self._linear(attention.o_proj),
            block.input_layernorm,
            inner,
            outer,
            block.post_attention_layernorm,
            gate,
            tuple(getattr(attention, name, None) for name in ("q_norm", "k_norm")),
            self._linear(attention.gate_proj) if hasattr(attention, "gate_proj") else None,
        )

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

    def sides(self, index: int, rows: Tensor) -> list[Tensor]:
        """Queries and keys of every head of a layer before they are turned."""
        layer = self.layers[index]
        made = [self.by_head(affine(rows)) for affine in (layer.query, layer.key)]
        pairs = zip(layer.head_norms, made, strict=True)
        return [norm(side).detach() if norm else side for norm, side in pairs]

    def frequencies(self, index: int) -> Tensor:
        """Angle from one place to the next of every plane that a layer turns."""
        rotary = getattr(self.model, "rotary_emb", None)
        if rotary is None:
            return torch.zeros(0, dtype=torch.float64)
        kinds = getattr(self.model.config, "layer_types", None)
        of_kind = f"{kinds[index]}_inv_freq" if kinds else "inv_freq"
        return getattr(rotary, of_kind if hasattr(rotary, of_kind) else "inv_freq").double()

    def turned(self, index: int, side: Tensor) -> Tensor:
        """Queries or keys as a layer compares them (su-2021, equation 34)."""
        frequencies = self.frequencies(index)
        n = len(frequencies)
        angles = torch.arange(side.shape[1])[:, None] * frequencies
        cos, sin = angles.cos(), angles.sin()
        one, other, rest = side[..., :n], side[..., n : 2 * n], side[..., 2 * n :]
        return torch.cat([one * cos - other * sin, one * sin + other * cos, rest], dim=-1)

    def scores(self, index: int, rows: Tensor) -> np.ndarray:
        """Products of queries and keys of every head of a layer, before they are scaled."""
        queries, keys = (self.turned(index, side) for side in self.sides(index, rows))
        return (queries @ keys.mT).numpy()

    @cached_property
    def has_sinks(self) -> bool:
        """Return True if a logit of no token enters the softmax of each head."""
        return hasattr(getattr(self.blocks[0], "self_attn", None), "sinks")

    def scale(self, index: int) -> float:
        """Factor of scores on their way into the softmax."""
        attention = getattr(self.blocks[index], "self_attn", None)
        return attention.scaling if attention is not None else self.head_width**-0.5

    def transformed(self, layer: Layer, rows: Tensor) -> Tensor:
        """f(x) = (x W_V + b_V) W_O of every head: head × token × width."""
        values = self.by_head(layer.value(rows))
        output = layer.output.weight.view(self.heads, self.head_width, self.width)
        return values @ output

    def vector_norms(self, index: int, rows: Tensor) -> Tensor:
        """‖f(x)‖ by head, query and key, of one query for all where it is the same for all."""
        layer = self.layers[index]
        if layer.value_gate is None:
            return self.transformed(layer, rows).norm(dim=-1)[:, None]
        gates = self.by_head(torch.sigmoid(layer.value_gate(rows)))
        values = gates[:, :, None] * self.by_head(layer.value(rows))[:, None]
        output = layer.output.weight.view(self.heads, self.head_width, self.width)
        return (values @ output[:, None]).norm(dim=-1)

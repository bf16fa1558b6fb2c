"""A model ready to be traced, and the devices that it may run on."""

from collections.abc import Callable, Iterable
from collections.abc import Sequence as SequenceOf
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from analysis.errors import UnfitModel, UserError
from analysis.measures.heads.head_effect import TypeMeans
from analysis.models.attention import LayerParts
from analysis.models.finding.probe import trial
from analysis.models.finding.windows import WIDEST
from analysis.models.gradients import (
    NO_TARGET,
    AttentionGradients,
    Loss,
    attention_gradients,
    next_tokens,
    pooled_lengths,
    token_losses,
)
from analysis.models.interventions.replacing import Answer, RecordedPass, recorded
from analysis.models.layout import CLASS
from analysis.models.proof import Proof, prove, prove_places, worst_of
from analysis.models.reading import Reading, in_float64, random_inputs
from analysis.models.stream import OnLayer, eager_pass, stream_layers
from analysis.models.trace import LayerTrace, LayerWeights, Model, ModelWeights
from analysis.statistics.corpus import Identity
from analysis.token_types import REGISTER
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.sequence import Sequence, evenly_spaced, generator


def chosen_device(name: str) -> torch.device:
    """Return the device of a name; `auto` is a CUDA GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"--device {name} cannot be used here ({reason}). Take --device cpu or auto."
        ) from error
    return device


def has_float64(device: torch.device) -> bool:
    """Return whether a device has numbers of 64 bits; those of Apple, and some of Intel, do not."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError):
        return False
    return True


DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_TEXTS = 3
"""Number of random texts that a model is proved on."""
Control = Literal["removed", "permuted"]
"""Change of a text's position embeddings: zeros instead, or another order."""


@dataclass(frozen=True)
class LoadedModel:
    """A model with its readers of input, and the origin of both.

    It reads texts with a tokenizer or images with `images`; the other one is None. `identity` is
    `model_identity` of the model as it was loaded.
    """

    name: str
    revision: str
    weights_sha256: str
    identity: Identity
    model: Model
    tokenizer: Any  # of transformers; None where the model reads images
    reading: Reading
    layers: tuple[LayerWeights, ...]
    dtype: str
    overruled_tokenizer: str = ""
    """Name of the library's tokenizer class that would override tokenizer.json."""
    language_model: Model | None = None
    """The model with the head that predicts tokens, around `model`; None without one."""
    classifier: Model | None = None
    """The model with the head that predicts classes, around `model`; None without one."""
    images: ImageReader | None = None
    segments: str = "read"
    """Segment ids of the input: those that were `read`, or `zero` for every token."""
    random_weights: int | None = None
    """Seed of random weights; None for the weights in its folder."""
    proof: Proof | None = None
    """Proof of the reading, after loading."""
    part: str | None = None
    """The part that is read: `text`, `vision` or `encoder`; None for a model without parts."""
    not_read: tuple[str, ...] = ()
    """Modules of sentence-transformers after the model, such as Pooling."""
    settings_not_read: tuple[str, ...] = ()
    """Settings of config.json that the model's class does not know."""

    @property
    def family(self) -> str:
        return self.model.config.model_type

    @property
    def device(self) -> str:
        return self.model.device.type

    @property
    def measured_on(self) -> torch.device:
        """Device of what is measured: the model's own, or the processor if that has no float64."""
        return self.layers[0].query_weight.device

    @property
    def hidden_dtype(self) -> torch.dtype | None:
        """Number format for the hidden vectors of pairs; None for that of the trace."""
        return None if self.dtype == "float32" else DTYPES[self.dtype]

    @property
    def weights(self) -> ModelWeights:
        """Return the weights for statistics without a corpus, in the number format of the trace."""
        embedding = self.reading.places.embedding
        widened = embedding if embedding is None or self.dtype == "float32" else embedding.float()
        return ModelWeights(self.layers, None if widened is None else widened.to(self.measured_on))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the number in the model of each layer that attends, counted from 1."""
        return tuple(layer.number for layer in self.layers)

    @property
    def windows(self) -> tuple[int | None, ...]:
        """Return the window of each layer in tokens; None without a window."""
        return tuple(layer.window for layer in self.layers)

    @property
    def positions(self) -> int:
        return self.reading.places.longest

    @property
    def positions_by(self) -> str:
        """Return the source of positions: one of `analysis.needs.KNOWS_PLACES_BY`.

        Layers of some models are rotated and others not; the first that is decides.
        """
        sources = (layer.positions_by for layer in self.layers)
        return next((source for source in sources if source != "added"), "added")

    @property
    def transforms(self) -> str:
        """Return the kind of f(x) of its heads: one of `analysis.needs.TRANSFORMS`."""
        if any(layer.gate is not None for layer in self.layers):
            return "gated"
        has_latents = any(layer.value_latent is not None for layer in self.layers)
        return "latent" if has_latents else "affine"

    @property
    def segment_types(self) -> int:
        return getattr(self.model.config, "type_vocab_size", 0)

    @property
    def parts(self) -> tuple[LayerParts, ...]:
        """The modules whose outputs make up the trace."""
        return self.reading.parts

    def stream(
        self,
        sequences: SequenceOf[Sequence],
        receive: OnLayer,
        change_positions: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        """Run one forward pass over padded sequences, with their position embeddings or changed
        ones, and hand over each layer in float32, which is let go unless the receiver keeps it."""
        inputs = self.reading.inputs(self.inputs(sequences))
        weight, places = self.layers[0].query_weight, self.reading.places

        def widened(index: int, layer: LayerTrace) -> None:  # the arithmetic before is unchanged
            parts = {field.name: getattr(layer, field.name) for field in fields(layer)}
            tensors = {
                name: part.to(weight) for name, part in parts.items() if isinstance(part, Tensor)
            }
            receive(index, replace(layer, **tensors))

        with places.changed(change_positions) if change_positions else nullcontext():
            stream_layers(self.model, self.parts, self.layers, inputs, widened)

    def word_embeddings(
        self, sequences: SequenceOf[Sequence]
    ) -> Float[Tensor, "batch token width"]:
        """Rows of the embedding table, before positions or other vectors are added, in float32.

        Those of an image are the embeddings of its patches.
        """
        with torch.inference_mode():
            words = self.reading.word_embeddings(self.inputs(sequences))
        return words.to(self.layers[0].query_weight)

    def proved(self) -> Proof:
        """Prove in float64 that the model is read right, on random inputs: see `prove`.

        Of these texts one is padded to twice its length and one is of a token alone; one more is
        longer than the widest window, if that is no longer than `WIDEST`. Images are of noise.

        Raises:
            UnfitModel: naming what differs from the model, where and by how much.
        """
        tried, places = random_inputs(self.model, _TEXTS), self.reading.places
        with trial(self.model), in_float64(self.model):
            if self.images is not None:
                return self._proved(tried)
            n_tokens = tried["input_ids"].shape[1]
            lengths = torch.tensor([n_tokens, n_tokens // 2, 1], device=self.device)
            is_token = torch.arange(n_tokens, device=self.device) < lengths[:, None]
            proofs = [self._proved(tried | {"attention_mask": is_token.long()})]
            widest = max((window for window in self.windows if window is not None), default=0)
            if 0 < widest <= WIDEST:
                longest = min(widest + 2, self.positions)
                proofs.append(self._proved(random_inputs(self.model, 1, longest)))
            if places.can_change:
                given = self.reading.inputs({name: of[:2] for name, of in tried.items()})
                prove_places(self.model, self.parts, self.layers, places, given)
        return worst_of(proofs)

    def _proved(self, given: dict[str, Tensor]) -> Proof:
        """Prove the reading, and that attention is the library's on the first input.

        That has no padding: in float64 the library's own softmax, which is in float32, has no
        weights for queries that see nothing.
        """
        first = self.reading.inputs({name: of[:1] for name, of in given.items()})
        eager = eager_pass(self.model, first)
        inputs = self.reading.inputs(given)
        return prove(self.model, self.parts, self.layers, inputs, eager=eager)

    def stream_controlled(
        self, sequence: Sequence, control: Control, receive: OnLayer, *, seed: int
    ) -> None:
        """Run one sequence with its positions removed or permuted, and hand over each layer.

        The order depends on the seed and the sequence alone. Registers have no position.
        """
        draw = generator(seed, purpose="positions", index=sequence.index)
        order = torch.arange(len(sequence))
        has_position = torch.from_numpy(sequence.token_types != REGISTER)
        places = order[has_position]
        order[has_position] = places[torch.from_numpy(draw.permutation(len(places)))]
        order = order.to(self.model.device)

        def permuted(embedding: Tensor) -> Tensor:
            return embedding[..., order, :]

        self.stream([sequence], receive, torch.zeros_like if control == "removed" else permuted)

    @property
    def image_reader(self) -> ImageReader:
        if self.images is None:
            raise UnfitModel(f"Model {self.name!r} reads text and no images.")
        return self.images

    @property
    def relevance_start(self) -> str:
        """Return the starting point of relevance: a key of `analysis.relevance_rules.STARTS`."""
        if self.images is None:
            return "last" if self.layers[0].is_causal else "cls"
        if CLASS not in self.images.layout.special:
            return "patches"
        averaged = type(self.classifier).__name__.endswith("WithTeacher")
        return "cls_and_distillation" if averaged else "cls"

    @property
    def classification(self) -> "Classification | None":
        """Return the classes of the model; None without a head that predicts classes."""
        return None if self.classifier is None else Classification(self, self.classifier)

    @property
    def objective(self) -> str:
        """Return the loss for gradients: one of `analysis.habits.OBJECTIVES`."""
        if self.language_model is None:
            return "pooled_length"
        return "next_token" if self.layers[0].is_causal else "masked_lm"

    def gradients(self, sequences: SequenceOf[Sequence]) -> AttentionGradients | None:
        """Gradients of sequences' losses with respect to attention weights; None without a loss.

        The loss is the mean cross-entropy at masked tokens, or at every token but the first in a
        causal model. Without a head that predicts tokens it is the squared norm of the mean of the
        last hidden states.
        """
        inputs = self.inputs(sequences)
        is_token = self.is_token(sequences)
        has_loss = is_token.any(dim=1)

        def loss(returned: Any) -> Tensor:
            return pooled_lengths(returned.last_hidden_state, is_token)

        if self.language_model is not None:
            targets = self._targets(sequences, inputs["input_ids"], is_token)
            has_loss = (targets != NO_TARGET).any(dim=1)

            def loss(returned: Any) -> Tensor:
                return token_losses(returned.logits, targets)

        if not has_loss.any():
            return None
        slopes = self.attention_gradients(inputs, loss, self.language_model)
        widened = tuple(layer.to(self.layers[0].query_weight) for layer in slopes)
        return AttentionGradients(self.objective, widened, has_loss.to(self.measured_on))

    def attention_gradients(
        self, inputs: dict[str, Tensor], loss: Loss, with_head: Model | None
    ) -> tuple[Tensor, ...]:
        """Gradients of a loss with respect to the attention weights of every layer; `with_head` is
        the model around this one whose head the loss needs, if any."""
        given = self.reading.inputs(inputs)
        return attention_gradients(with_head or self.model, self.parts, given, loss)

    def _targets(
        self, sequences: SequenceOf[Sequence], ids: Tensor, is_token: Tensor
    ) -> Int[Tensor, "batch token"]:
        """Return the token to predict at each place, `NO_TARGET` where there is none."""
        if self.objective == "next_token":
            return next_tokens(ids, is_token)
        targets = torch.full_like(ids, NO_TARGET)
        for row, sequence in enumerate(sequences):
            if sequence.targets is not None:
                targets[row, : len(sequence)] = torch.from_numpy(sequence.targets)
        return targets

    def type_means(self, sequences: Iterable[Sequence]) -> tuple[TypeMeans, ...]:
        """Means over sequences of what heads mix and of their values, by layer."""
        means = tuple(TypeMeans() for _ in self.layers)
        for sequence in sequences:
            types = torch.from_numpy(sequence.token_types).long().to(self.measured_on)
            self.stream([sequence], lambda index, layer, of=types: means[index].add(layer, of))
        return means

    def recorded(
        self, sequence: Sequence, most: int
    ) -> tuple[RecordedPass, Answer, Int[Tensor, " token"] | None]:
        """Run a sequence so that it can be run again from any layer on; return the pass, its
        answer, and the targets of what is asked, None where there are none.

        A language model is asked about the tokens with a target, or about all if none has one, of
        which at most so many are taken, evenly spaced.
        """
        inputs, places, targets = self.inputs([sequence]), None, None
        if self.language_model is not None:
            known = self._targets([sequence], inputs["input_ids"], self.is_token([sequence]))[0]
            asked = (known != NO_TARGET).nonzero()[:, 0].tolist() or range(len(known))
            places = torch.tensor(sorted(evenly_spaced(asked, most)), device=known.device)
            targets = known[places] if (known != NO_TARGET).any() else None
        whole = self.language_model or self.classifier or self.model
        given = self.reading.inputs(inputs)
        return *recorded(whole, self.model, self.parts, given, places), targets

    def segments_given(self, sequence: Sequence) -> UInt8[np.ndarray, " token"]:
        """Return the segment ids of the model's input; the sequence keeps those of its text."""
        return sequence.segments if self.segments == "read" else np.zeros_like(sequence.segments)

    def inputs(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        """Return the model's inputs, on its device."""
        if self.images is None:
            given = self._texts(sequences)
        else:
            pixels = [self.images.pixels(sequence.picture) for sequence in sequences]
            given = {"pixel_values": torch.stack(pixels)}
        if self.device == "cuda":  # which copies asynchronously from pinned memory
            given = {name: of if of.is_cuda else of.pin_memory() for name, of in given.items()}
        return {name: of.to(self.model.device, non_blocking=True) for name, of in given.items()}

    def _texts(self, sequences: SequenceOf[Sequence]) -> dict[str, Tensor]:
        known = self.model.config.vocab_size
        most = max(int(sequence.ids.max()) for sequence in sequences)
        if most >= known:
            raise UnfitModel(
                f"The tokenizer gives token id {most}, but model {self.name!r} knows {known} "
                "tokens: load a tokenizer that belongs to the model."
            )
        padding: Any = (self.tokenizer and self.tokenizer.pad_token_id) or 0
        if padding >= known:
            padding = 0  # padding counts for nothing, and the model knows no such token
        return {
            "input_ids": _padded([sequence.ids for sequence in sequences], padding),
            "token_type_ids": _padded([self.segments_given(sequence) for sequence in sequences], 0),
            "attention_mask": self.is_token(sequences).long(),
        }

    def is_token(self, sequences: SequenceOf[Sequence]) -> Bool[Tensor, "batch token"]:
        """Mask of real tokens in a padded batch."""
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        return (torch.arange(int(lengths.max())) < lengths[:, None]).to(self.model.device)


def _padded(rows: SequenceOf[np.ndarray], padding: int) -> Int[Tensor, "batch token"]:
    """Rows of whole numbers as long as the longest, the others filled up at their end."""
    filled = torch.full((len(rows), max(map(len, rows))), padding)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = torch.from_numpy(row)
    return filled


VARIANTS = 32
"""Number of variants of an image in a forward pass."""


@dataclass(frozen=True)
class ClassGradients:
    """∂(logit of the predicted class)/∂α of every layer, each α a free variable."""

    layers: tuple[Float[Tensor, "batch head query key"], ...]
    predicted: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Classification:
    """The classes of a model and their probabilities."""

    model: LoadedModel
    classifier: Model

    @property
    def labels(self) -> tuple[str, ...]:
        names = self.classifier.config.id2label
        return tuple(str(names[place]) for place in range(len(names)))

    def probabilities(self, sequences: SequenceOf[Sequence]) -> Float[Tensor, "batch class"]:
        return self._probabilities(self.model.inputs(sequences)).to(self.model.measured_on)

    def gradients(self, sequences: SequenceOf[Sequence]) -> ClassGradients:
        """Gradients of the predicted class's logit with respect to attention weights."""
        inputs = self.model.inputs(sequences)
        predicted = self._probabilities(inputs).argmax(dim=1)

        def loss(returned: Any) -> Tensor:
            return returned.logits.gather(1, predicted[:, None]).sum()

        slopes = self.model.attention_gradients(inputs, loss, self.classifier)
        there = self.model.measured_on
        widened = tuple(
            layer.to(there, self.model.layers[0].query_weight.dtype) for layer in slopes
        )
        return ClassGradients(widened, predicted.to(there))

    def of_variants(
        self, sequence: Sequence, kept: Bool[Tensor, "variant patch"]
    ) -> Float[Tensor, "variant class"]:
        """Return class probabilities with some patches replaced by the image's mean colour."""
        reader = self.model.image_reader
        pixels = reader.pixels(sequence.picture)
        mean = pixels.mean(dim=(1, 2), keepdim=True)
        probabilities = []
        for part in kept.split(VARIANTS):
            grid = part.unflatten(1, (reader.layout.rows, reader.layout.columns))
            height, width = reader.patch
            is_kept = grid.repeat_interleave(height, 1).repeat_interleave(width, 2).unsqueeze(1)
            changed = torch.where(is_kept, pixels, mean).to(self.model.model.device)
            probabilities.append(self._probabilities({"pixel_values": changed}))
        return torch.cat(probabilities).to(self.model.measured_on)

    def _probabilities(self, inputs: dict[str, Tensor]) -> Float[Tensor, "batch class"]:
        with torch.inference_mode():
            given = self.model.reading.inputs(inputs)
            return self.classifier(**given, return_dict=True).logits.float().softmax(dim=-1)

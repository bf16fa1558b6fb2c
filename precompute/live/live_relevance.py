"""Relevance of an image or a text from outside the corpus, computed as in a run."""

from collections import Counter

import numpy as np
from jaxtyping import Float32

from analysis.errors import BadCorpus, UnfitModel
from analysis.relevance_rules import ALL, MOST_BYTES
from analysis.upload_bounds import MAX_CHARACTERS
from precompute.corpora.encode import Encoder
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.pictures import png
from precompute.corpora.sequence import Sequence, Text
from precompute.live.answers import LiveRelevance
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import batch_of, run_layers
from precompute.passes.relevance import Predictions
from precompute.passes.relevance_maps import Relevance, RelevanceMaps, attention_bytes

TYPED = "The text"


def text_of(model: LoadedModel, text: str, max_tokens: int) -> tuple[Sequence, bool]:
    """Encode a text as a sequence; return it and whether its end was cut off.

    Raises:
        BadCorpus: it is too long, or the tokenizer returns no token for it.
        UnfitModel: the model reads images.
    """
    if model.images is not None:
        raise UnfitModel(f"Model {model.name!r} reads images and no text.")
    if len(text) > MAX_CHARACTERS:
        raise BadCorpus(
            TYPED, f"has {len(text):,} characters, more than the {MAX_CHARACTERS:,} that are taken"
        )
    encoder = Encoder(
        model.tokenizer,
        positions=model.positions,
        segment_types=model.segment_types,
        is_causal=model.layers[0].is_causal,
        max_tokens=min(max_tokens, model.positions),
    )
    counts = Counter(truncated=0)
    (sequence,) = encoder.sequences([Text(text, TYPED)], counts=counts)
    return sequence, bool(counts["truncated"])


def relevance_of(model: LoadedModel, sequence: Sequence, *, is_cut: bool = False) -> LiveRelevance:
    """All maps of one sequence, by the passes' own functions; one thread at a time.

    Raises:
        BadCorpus: the image cannot be decoded, the text is too long, or relevance has no token to
            start from.
        UnfitModel: some layers have no attention.
    """
    if model.reading.without_attention:
        raise UnfitModel(
            f"Relevance is carried through all layers; {model.name!r} has some without attention."
        )
    batch = batch_of(model, [sequence], kept=frozenset({sequence.index}))
    size = attention_bytes(batch, 0)
    if size > MOST_BYTES:
        raise BadCorpus(
            sequence.place,
            f"has {len(sequence):,} tokens, whose attention weights of all layers take "
            f"{size / 2**20:,.0f} MiB, more than the {MOST_BYTES // 2**20} MiB that relevance is "
            "computed from. Shorten it.",
        )
    relevance, predictions = Relevance(batch), Predictions(batch)
    run_layers(model, batch, relevance.add)
    if not relevance.maps:
        raise BadCorpus(sequence.place, "has no token that relevance could start at")
    maps, likeliest = relevance.maps[0], predictions.rows().to_pydict()
    return LiveRelevance(
        tokens=sequence.tokens,
        is_content=batch.is_content[0],
        maps={rule: _of_rule(maps, rule) for rule in ALL if maps.where(rule).any()},
        prediction=tuple(zip(likeliest["label"], likeliest["probability"], strict=True)),
        is_cut=is_cut,
        **(grid(model.images, sequence) if model.images else {}),
    )


def _of_rule(relevance: RelevanceMaps, rule: str) -> Float32[np.ndarray, "start head token"]:
    chosen = relevance.where(rule)
    n_starts = len(np.unique(relevance.layer[chosen]))
    return relevance.maps[chosen].reshape(n_starts, -1, relevance.maps.shape[1])


def grid(reader: ImageReader, sequence: Sequence) -> dict:
    """The image as the model reads it, and its grid: picture, rows, columns, first_patch."""
    layout = reader.layout
    return {
        "picture": png(reader.shown(sequence.picture)),
        "rows": layout.rows,
        "columns": layout.columns,
        "first_patch": len(layout.special),
    }

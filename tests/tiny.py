"""One tiny model per family and a batch to run it on. Nothing is downloaded.

They are in `tests.tiny_decoders`, `tests.tiny_encoders` and, those that read images, in
`tests.tiny_vision`.
"""

from collections import Counter
from pathlib import Path

import pytest
import torch

from analysis.models.reading import read_model
from analysis.models.trace import Model
from precompute.corpora.encode import Encoder
from precompute.corpora.sequence import ROOT, Annotation, Entry, Mention, Sequence
from precompute.models.loaded_model import LoadedModel
from tests.tiny_decoders import DECODERS, HEADS, LAYERS, POSITIONS, WIDTH, make_exact  # noqa: F401
from tests.tiny_encoders import ENCODERS
from tests.tiny_vision import TINY_VISION, image_sequences, save_tiny_vision, tiny_vision_model

TEXTS = (
    Entry("line 1", ("The cat sat, the dog ran.", "The mat.")),
    Entry("line 2", ("The dog.",)),
    Entry("line 3", ("Dog, cat.", "Cat sat.")),
    Entry("line 4", ("The cat ran, ran, ran; the dog sat, sat, sat.",)),
)
ANNOTATED = (
    Entry("line 1", annotation=Annotation(
            forms=("The", "cat", "sat", ",", "the", "dog", "ran", "."),
            spaces=(True, True, False, True, True, True, False, True),
            sentences=(0,) * 8,
            governors=(1, 2, ROOT, 6, 5, 6, 2, 2),
            relations=("det", "nsubj", "root", "punct", "det", "nsubj", "conj", "punct"),
            parts_of_speech=("DET", "NOUN", "VERB", "PUNCT", "DET", "NOUN", "VERB", "PUNCT"),
            features=("Definite=Def", "Number=Sing", "", "", "Definite=Def", "Number=Sing", "", ""),
        )),
    Entry("lines 2-3", annotation=Annotation(
            forms=("The", "catmat", "ran", ".", "It", "sat", ";", "the", "cat", "sat", "."),
            spaces=(True, True, False, True, True, False, True, True, True, False, True),
            sentences=(0,) * 4 + (1,) * 7,
            governors=(1, 2, ROOT, 2, 5, ROOT, 9, 8, 9, 5, 5),
            relations=("det", "nsubj", "root", "punct", "nsubj", "root", "punct", "det",
                       "nsubj:outer", "conj", "punct"),
            parts_of_speech=("DET", "NOUN", "VERB", "PUNCT", "PRON", "VERB", "PUNCT", "DET",
                             "NOUN", "VERB", "PUNCT"),
            features=("", "Number=Sing", "", "", "Number=Sing|Person=3", *("",) * 6),
            mentions=(
                Mention(0, 1, 1, cluster=1, kind="nominal"),
                Mention(4, 4, 4, cluster=1, kind="pronoun"),
                Mention(7, 8, 8, cluster=1, kind="nominal"),
            ),
        )),
)  # fmt: skip


TINY = {**ENCODERS, **DECODERS}
TEXT_FAMILIES = ("bert", "roberta", "gpt2")
"""One of every kind of tokenizer."""
OF_DECODERS = ("llama",)
OF_ORDERS = ("gemma2", "olmo2", "gpt_neox")
"""Layers in an order that none of the others has."""
OF_IMAGES = ("vit", "dinov2_with_registers")
FAMILIES = (*TEXT_FAMILIES, *OF_DECODERS, *OF_IMAGES)
"""One of every kind of adapter and layout; `TINY` and `tests.tiny_vision` have the rest."""
BOTH_WAYS = ("bert", "gpt2")
"""One that looks both ways and normalises behind, one that does neither: passes know no other."""
every_family = pytest.mark.every_family
"""Marks tests that make whole stores, and yet of images too."""
every_model = pytest.mark.parametrize(
    "family", [*TINY, *TINY_VISION], indirect=True, scope="session"
)
"""Also of the families that other laws leave out."""
added_positions = pytest.mark.parametrize(
    "family", [*TEXT_FAMILIES, *OF_IMAGES], indirect=True, scope="session"
)
"""Families that add positions to their input as vectors."""
text_families = pytest.mark.text_families
"""Marks a test that needs a tokenizer, or texts of several lengths, which images never have."""


def tiny_model(
    family: str, *, dtype: torch.dtype = torch.float64, predicts_tokens: bool = False
) -> LoadedModel:
    """The family's tiny model, the same every time.

    It is in float64, so that a difference is a fault and not rounding.

    Args:
        predicts_tokens: whether it has the head of a language model.
    """
    if family in TINY_VISION:
        return tiny_vision_model(family, dtype=dtype)
    tokenizer = TINY[family].tokenizer()
    torch.manual_seed(0)
    full: Model = TINY[family].model(len(tokenizer))
    if predicts_tokens:
        full = TINY[family].language_model(full.config)
    with torch.no_grad():
        for parameter in full.parameters():  # biases start at 0 and would hide in every test
            parameter.add_(torch.randn_like(parameter) * 0.3)
    model = full.eval().to(dtype).base_model
    if dtype is torch.float64:
        make_exact(model)
    reading = read_model(model)
    return LoadedModel(
        name=family,
        revision="tiny",
        weights_sha256="0" * 64,
        identity=(),
        model=model,
        tokenizer=tokenizer,
        reading=reading,
        layers=reading.layers,
        dtype="float32",
        language_model=full if predicts_tokens else None,
    )


def tiny_sequences(family: str, entries: tuple[Entry, ...] = TEXTS) -> tuple[Sequence, ...]:
    """Entries as the family's tokenizer reads them; of the texts no two are equally long.

    A family that reads images gets as many images.
    """
    if family in TINY_VISION:
        return image_sequences(family, len(entries))
    tiny = TINY[family]
    encoder = Encoder(
        tiny.tokenizer(),
        positions=POSITIONS,
        segment_types=tiny.segment_types,
        max_tokens=36,
        is_causal=family in DECODERS,
    )
    return tuple(encoder.sequences(entries, counts=Counter()))


def mask_rate(family: str, rate: float) -> float:
    """The rate, or 0 where there is no mask token: GPT-2 has none, nor has an image."""
    return rate if family in TINY and TINY[family].tokenizer().mask_token else 0.0


def save_tiny(family: str, folder: Path, *, predicts_tokens: bool = False) -> Path:
    """The tiny model and its tokenizer as a folder in Hugging Face format, in float32."""
    if family in TINY_VISION:
        return save_tiny_vision(family, folder)
    model = tiny_model(family, dtype=torch.float32, predicts_tokens=predicts_tokens)
    (model.language_model or model.model).save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder

"""Train the bundled digits model again: `python -m precompute.models.train_digits [FOLDER]`.

It is a small ViT with one patch per pixel, so that a map of its patches can follow a stroke.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import torch
import torch.nn.functional as F
import typer
from jaxtyping import Float, Int
from PIL import Image
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil
from transformers.utils import logging

from precompute.corpora.images.digits import SIDE, Digit, digits

FOLDER = Path(__file__).with_name("demo_digits")
N_CLASSES = 10
START = 0.5
"""Initial scale of a pixel's ink and position in the embeddings."""
PACKAGES = ("numpy", "scikit-learn", "torch", "transformers")


@dataclass(frozen=True)
class Recipe:
    """Everything the weights depend on beside the digits and the versions of the packages.

    Weights start with standard deviation `initial_size`. The result is a running mean of the
    weights with decay `memory` per step. Each digit is augmented each time: bent (each number of
    its 2 × 2 matrix moves by up to `bend`), shifted by up to `shift` of half the side, except for a
    share `still` of digits; it gets noise of standard deviation `noise`, and is mixed with another
    digit in a share drawn from Beta(`mixing`, `mixing`), as its label is (mixup, Zhang et al.,
    2018).
    """

    seed: int = 0
    epochs: int = 80
    batch: int = 32
    learning_rate: float = 3e-3
    warm_up: float = 0.1
    weight_decay: float = 0.1
    initial_size: float = 0.1
    largest_gradient: float = 1.0
    memory: float = 0.995
    bend: float = 0.2
    shift: float = 0.2
    still: float = 0.25
    noise: float = 0.1
    mixing: float = 0.3


def untrained(recipe: Recipe) -> ViTForImageClassification:
    """The model before training."""
    config = ViTConfig(
        image_size=SIDE,
        patch_size=1,
        num_channels=1,
        hidden_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=128,
        layer_norm_eps=1e-6,
        initializer_range=recipe.initial_size,
    )
    names = {number: str(number) for number in range(N_CLASSES)}
    config.id2label, config.label2id = names, {name: number for number, name in names.items()}
    model = ViTForImageClassification(config)
    embeddings = model.vit.embeddings
    with torch.no_grad():
        embeddings.position_embeddings[0, 1:] = START * waves(config.hidden_size)
        embeddings.patch_embeddings.projection.weight.normal_(std=START)
    return model


def waves(width: int) -> Float[Tensor, "patch hidden"]:
    """Initial positions of pixels: waves along the rows and along the columns.

    Half of the numbers encode the row, half the column, so that neighbours begin alike.
    """
    lengths = SIDE * 2.0 ** torch.linspace(0, 4, width // 4 + 1)[:-1]
    phases = 2 * torch.pi * torch.arange(SIDE)[:, None] / lengths
    line = torch.cat([phases.sin(), phases.cos()], dim=1)
    rows, columns = line[:, None].expand(-1, SIDE, -1), line[None].expand(SIDE, -1, -1)
    return torch.cat([rows, columns], dim=2).flatten(0, 1)


def processor() -> ViTImageProcessorPil:
    """Return the processor of images into the model's input, from −1 (no ink) to 1 (all ink)."""
    return ViTImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_mean=[0.5], image_std=[0.5]
    )


def read(
    chosen: Sequence[Digit],
) -> tuple[Float[Tensor, "batch channel height image_width"], Int[Tensor, " batch"]]:
    """Return the digits as the model's input, and their labels."""
    images: list[Image.Image] = [Image.open(BytesIO(digit.png)) for digit in chosen]
    pixels = np.asarray(processor()(images, return_tensors="np")["pixel_values"])
    return torch.from_numpy(pixels), torch.tensor([digit.label for digit in chosen])


def train(
    recipe: Recipe, chosen: Sequence[Digit]
) -> Iterator[tuple[float, ViTForImageClassification]]:
    """Train on these digits; yield the mean loss of every epoch, and the model after it."""
    torch.manual_seed(recipe.seed)
    model, (pixels, labels) = untrained(recipe), read(chosen)
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(recipe.memory))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    steps = -(-len(labels) // recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=recipe.learning_rate,
        total_steps=steps * recipe.epochs,
        pct_start=recipe.warm_up,
    )
    mixed = torch.distributions.Beta(recipe.mixing, recipe.mixing)
    for _ in range(recipe.epochs):
        model.train()
        total = 0.0
        for drawn in torch.randperm(len(labels)).split(recipe.batch):
            seen, other = changed(pixels[drawn], recipe), torch.randperm(len(drawn))
            share = float(mixed.sample())
            logits = model(pixel_values=share * seen + (1 - share) * seen[other]).logits
            loss = share * F.cross_entropy(logits, labels[drawn])
            loss = loss + (1 - share) * F.cross_entropy(logits, labels[drawn][other])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.largest_gradient)
            optimizer.step()
            schedule.step()
            mean.update_parameters(model)
            total += loss.item() * len(drawn)
        yield total / len(labels), cast(ViTForImageClassification, mean.module)


def changed(
    pixels: Float[Tensor, "batch channel height image_width"], recipe: Recipe
) -> Float[Tensor, "batch channel height image_width"]:
    """Digits bent, shifted and made noisy, each in its own way; new pixels hold no ink."""
    count = len(pixels)
    bend = torch.eye(2) + recipe.bend * (2 * torch.rand(count, 2, 2) - 1)
    shift = recipe.shift * (2 * torch.rand(count, 2, 1) - 1)
    places = F.affine_grid(torch.cat([bend, shift], dim=2), list(pixels.shape), align_corners=False)
    # what lies outside is filled with zeros
    moved = F.grid_sample(pixels + 1, places, align_corners=False) - 1
    stays = torch.rand(count, 1, 1, 1) < recipe.still
    return torch.where(stays, pixels, moved) + recipe.noise * torch.randn_like(pixels)


def n_right(model: ViTForImageClassification, chosen: Sequence[Digit]) -> int:
    """Return the number of digits that the model classifies correctly."""
    pixels, labels = read(chosen)
    with torch.inference_mode():
        predicted = model.eval()(pixel_values=pixels).logits.argmax(dim=1)
    return int((predicted == labels).sum())


def main(
    folder: Annotated[Path, typer.Argument(help="Where to write the model.")] = FOLDER,
) -> None:
    """Train the digits model and write it, with a log of its training once that has ended.

    One thread: sums are then made in one order, so that two trainings on one machine are equal.
    """
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    recipe, (training, held_out) = Recipe(), digits()
    started, worked, log = time.perf_counter(), time.process_time(), []
    for epoch, (loss, model) in enumerate(train(recipe, training), start=1):
        right = n_right(model, held_out)
        log.append({"epoch": epoch, "loss": loss, "held_out_accuracy": right / len(held_out)})
        model.save_pretrained(folder)
        print(f"epoch {epoch}: loss {loss:.4f}, {right} of {len(held_out)} right", flush=True)
    about = {
        "recipe": asdict(recipe),
        "n_training": len(training),
        "n_held_out": len(held_out),
        "versions": {package: version(package) for package in PACKAGES},
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time() - worked, 1),
    }
    processor().save_pretrained(folder)
    (folder / "training_log.json").write_text(json.dumps(about | {"epochs": log}, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)

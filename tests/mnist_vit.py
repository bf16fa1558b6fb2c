"""A ViT that was really trained, and the digits it was tested on, as Mixscope reads them.

`python -m tests.mnist_vit FOLDER` writes FOLDER/model and FOLDER/images from the weights and the
MNIST test set beside the checkout.
"""

import gzip
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from jaxtyping import UInt8
from PIL import Image
from torch import Tensor
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil

from tests.precompute.corpora.tiny import shared_data

CLASSES = (0, 1, 2)
SIDE, PATCH, WIDTH, LAYERS, HEADS, HIDDEN = 28, 7, 64, 4, 4, 128
MEAN, DEVIATION = 0.1307, 0.3081
HEADER, LABEL_HEADER = 16, 8


def save_model(folder: Path) -> None:
    """The model that tells 0, 1 and 2 apart, in Hugging Face format."""
    file = shared_data() / "weights" / "vit-mnist" / "vit_mnist_3class.pt"
    config = ViTConfig(
        image_size=SIDE,
        patch_size=PATCH,
        num_channels=1,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=HIDDEN,
        hidden_act="relu",
        layer_norm_eps=1e-5,
        qkv_bias=False,
    )
    config.id2label = {number: str(number) for number in CLASSES}
    config.label2id = {str(number): number for number in CLASSES}
    model = ViTForImageClassification(config)
    model.load_state_dict(_renamed(torch.load(file, map_location="cpu", weights_only=True)))
    model.save_pretrained(folder)
    ViTImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_mean=[MEAN], image_std=[DEVIATION]
    ).save_pretrained(folder)


def _renamed(given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors under the names of `ViTForImageClassification`."""
    patches = given["to_patch_embedding.1.weight"].unflatten(1, (1, PATCH, PATCH))
    named = {
        "vit.embeddings.cls_token": given["cls_token"],
        "vit.embeddings.position_embeddings": given["pos_embedding"],
        "vit.embeddings.patch_embeddings.projection.weight": patches,
        "vit.embeddings.patch_embeddings.projection.bias": given["to_patch_embedding.1.bias"],
    }
    parts = {"vit.layernorm": "mlp_head.0", "classifier": "mlp_head.1"}
    for layer in range(LAYERS):
        theirs, ours = f"transformer.layers.{layer}", f"vit.layers.{layer}"
        joined = given[f"{theirs}.0.fn.to_qkv.weight"]
        for name, weight in zip(("q_proj", "k_proj", "v_proj"), joined.chunk(3), strict=True):
            named[f"{ours}.attention.{name}.weight"] = weight
        parts |= {
            f"{ours}.layernorm_before": f"{theirs}.0.norm",
            f"{ours}.attention.o_proj": f"{theirs}.0.fn.to_out.0",
            f"{ours}.layernorm_after": f"{theirs}.1.norm",
            f"{ours}.mlp.fc1": f"{theirs}.1.fn.net.0",
            f"{ours}.mlp.fc2": f"{theirs}.1.fn.net.3",
        }
    for ours, theirs in parts.items():
        for kind in ("weight", "bias"):
            named[f"{ours}.{kind}"] = given[f"{theirs}.{kind}"]
    return named


def digits() -> tuple[UInt8[np.ndarray, "image height width"], UInt8[np.ndarray, " image"]]:
    """The test digits 0, 1 and 2 in their order, from no ink (0) to all ink (255); the labels."""
    folder = shared_data() / "images" / "mnist"
    pixels = _content(folder / "t10k-images-idx3-ubyte.gz", HEADER).reshape(-1, SIDE, SIDE)
    labels = _content(folder / "t10k-labels-idx1-ubyte.gz", LABEL_HEADER)
    chosen = np.isin(labels, CLASSES)
    return pixels[chosen], labels[chosen]


def _content(file: Path, header: int) -> np.ndarray:
    return np.frombuffer(gzip.decompress(file.read_bytes()), dtype=np.uint8, offset=header)


def save_images(folder: Path, *, limit: int | None = None) -> None:
    """Digits as image files, each with a mask beside it: white where there is any ink."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels, labels = digits()
    for number, (image, label) in enumerate(zip(pixels[:limit], labels[:limit], strict=True)):
        stem = f"{number:04}-digit-{label}"
        Image.fromarray(image).save(folder / f"{stem}.png")
        Image.fromarray(np.where(image > 0, np.uint8(255), np.uint8(0))).save(
            folder / f"{stem}_mask.png"
        )


def main(
    folder: Annotated[Path, typer.Argument(help="Where to write model and images.")],
    limit: Annotated[int | None, typer.Option(help="Only the first N digits.")] = None,
) -> None:
    """Write the model and the digits it was tested on."""
    save_model(folder / "model")
    save_images(folder / "images", limit=limit)


if __name__ == "__main__":
    typer.run(main)

"""Cost of relevance relative to a forward pass, and size of the maps of 1,000 images.

    python -m tests.tools.benchmarks.relevance_cost [--images 6] [--rounds 7] [--threads 2]
        [--stored 64]

Images of noise through a ViT of the shape of DINO ViT-S/16 with random weights: 197 tokens, 12
layers, 6 heads. Every round times a bare forward pass, then on the same batch the four rules from
every layer (wanted: at most once the forward pass), all maps that are made of every image, and the
maps of whole layers, which are made of a few; so a busy machine slows all alike. Printed are the
medians of the ratios. Then the passes fill a file with the maps and the numbers of some images.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import torch
import transformers
from torch import Tensor

from analysis.measures.relevance.relevance import carried_relevance
from analysis.models.reading import read_model
from analysis.models.trace import LayerWeights
from analysis.statistics.relevance import relevance_map, relevance_summary
from analysis.token_types import CLS, OTHER
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.jobs.shards import counted_from_1, finish_shard
from precompute.jobs.tables import merge
from precompute.passes.filling import begin
from precompute.passes.layers import Batch, Layer
from precompute.passes.relevance_maps import WHOLE_LAYERS, Relevance
from precompute.store.build import add_table, declare
from tests.tools.benchmarks.cost import EAGER, seconds
from tests.tracing import traced_layers

LIMIT = 1.0
IMAGES = 1000
BATCH = 6


def dino_s() -> Any:
    """DINO ViT-S/16's shape with random weights, queries and keys larger so that heads differ."""
    torch.manual_seed(0)
    config = transformers.ViTConfig(
        hidden_size=384, num_attention_heads=6, intermediate_size=1536, **EAGER
    )
    model = transformers.ViTModel(config, add_pooling_layer=False)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "query.weight" in name or "key.weight" in name:
                parameter.mul_(8)
    return model.eval().requires_grad_(False)


def sequence(index: int, n_tokens: int) -> Sequence:
    """An image without a picture, with the fields that passes need."""
    return Sequence(
        index=index,
        ids=np.arange(n_tokens, dtype=np.int32),
        segments=np.zeros(n_tokens, dtype=np.uint8),
        token_types=np.array([CLS, *[OTHER] * (n_tokens - 1)], dtype=np.uint8),
        words=np.full(n_tokens, NO_WORD, dtype=np.int32),
        masked=np.zeros(n_tokens, dtype=bool),
        tokens=("",) * n_tokens,
        text="noise",
        place="noise",
    )


def layers_of(
    model: Any, weights: tuple[LayerWeights, ...], pixels: Tensor, first: int = 0
) -> list:
    """Layers of a batch of images with stored maps.

    The corpus is too large for rollouts of whole layers.
    """
    traced = traced_layers(model, {"pixel_values": pixels}, weights)
    batch, n_tokens, width = traced[0].input.shape
    others = range(first + batch, first + 100 * WHOLE_LAYERS)
    images = Batch(
        tuple(sequence(first + row, n_tokens) for row in range(batch)),
        layers=weights,
        is_token=torch.ones(batch, n_tokens, dtype=torch.bool),
        embed=lambda _: torch.zeros(batch, n_tokens, width),
        kept=frozenset([-1, *range(first, first + batch), *others]),
    )
    return [Layer(images, index, layer) for index, layer in enumerate(traced)]


def all_maps(layers: list[Layer]) -> None:
    """Make every map of every image, once."""
    relevance = Relevance(layers[0].batch)
    for layer in layers:
        relevance.add(layer)
    assert relevance.maps


def rules(layers: list[Layer]) -> None:
    is_token = layers[0].batch.is_token
    start = torch.zeros(is_token.shape)
    start[:, 0] = 1
    attention = [layer.attention for layer in layers]
    values = [layer.trace.values for layer in layers]
    carried_relevance(attention, values, start=start, is_token=is_token)


def measure_times(model: Any, n_images: int, rounds: int) -> None:
    weights = read_model(model).layers
    pixels = torch.randn(n_images, 3, 224, 224)
    ratios = []
    with torch.inference_mode():
        for _ in range(rounds + 1):
            bare = seconds(lambda: model(pixel_values=pixels))
            layers = layers_of(model, weights, pixels)
            of_rules = seconds(lambda layers=layers: rules(layers))
            every = seconds(lambda layers=layers: all_maps(layers))
            ratios.append([bare / n_images, of_rules / bare, every / bare])
        image = layers_of(model, weights, pixels[:1])
        alone = seconds(lambda: model(pixel_values=pixels[:1]))
        of_layers = seconds(lambda: [layer.mixing for layer in image])
    bare, of_rules, every = np.median(ratios[1:], axis=0)
    print(f"bare forward pass        {bare:.3f} s an image")
    print(f"four rules               {of_rules:.2f} times that; wanted: at most {LIMIT:.0f}")
    print(f"all maps of every image  {every:.2f} times that")
    print(f"whole layers, of a few   {of_layers / alone:.1f} times that")


def measure_size(model: Any, n_images: int) -> None:
    weights = read_model(model).layers
    tables = (relevance_map.TABLE, relevance_summary.PER_SEQUENCE)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        shards: dict[str, list[Path]] = {table.name: [] for table in tables}
        for first in range(0, n_images, BATCH):
            pixels = torch.randn(min(BATCH, n_images - first), 3, 224, 224)
            layers = layers_of(model, weights, pixels, first)
            for table in tables:
                filling = begin(table, layers[0].batch)
                for layer in layers:
                    filling.add(layer)
                rows = counted_from_1(filling.rows())
                shard = finish_shard(Path(folder) / table.name, first, lambda rows=rows: rows)
                shards[table.name].append(shard)
        for table in tables:
            path = Path(folder) / f"{table.name}.duckdb"
            with duckdb.connect(str(path)) as store:
                store.execute("create schema stored")
                merged = path.with_suffix(".parquet")
                merge(store, table, shards[table.name], merged)
                declare(store, [table])
                add_table(store, table, merged)
            size = path.stat().st_size / n_images * IMAGES / 2**20
            print(f"{table.name:18} {size:.0f} MiB for {IMAGES:,} images")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=BATCH)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stored", type=int, default=64)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = dino_s()
    measure_times(model, asked.images, asked.rounds)
    measure_size(model, asked.stored)


if __name__ == "__main__":
    main()

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

from analysis.measures.relevance.relevance import carried_relevance
from analysis.models.adapter import adapter_for
from analysis.models.trace import Trace
from analysis.token_types import CLS, OTHER
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.jobs.shards import counted_from_1, finish_shard
from precompute.jobs.tables import merge
from precompute.passes.batch import Batch
from precompute.passes.relevance import relevance_map, sequence_relevance
from precompute.passes.relevance.relevance_maps import WHOLE_LAYERS
from precompute.store.build import add_table
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


def batch_of(trace: Trace, first: int = 0) -> Batch:
    """A batch of images with stored maps, of a corpus too large for rollouts of whole layers."""
    batch, n_tokens = trace.is_token.shape
    sequences = tuple(sequence(first + row, n_tokens) for row in range(batch))
    others = range(first + batch, first + 100 * WHOLE_LAYERS)
    return Batch(sequences, trace, kept=frozenset([-1, *range(first, first + batch), *others]))


def rules(trace: Trace) -> None:
    start = torch.zeros(trace.is_token.shape)
    start[:, 0] = 1
    attention = [layer.attention for layer in trace.layers]
    values = [layer.values for layer in trace.layers]
    carried_relevance(attention, values, start=start, is_token=trace.is_token)


def measure_times(model: Any, n_images: int, rounds: int) -> None:
    adapter = adapter_for("vit")
    layers = adapter.weights(model)
    pixels = torch.randn(n_images, 3, 224, 224)
    ratios = []
    with torch.inference_mode():
        for _ in range(rounds + 1):
            bare = seconds(lambda: model(pixel_values=pixels))
            trace = traced_layers(adapter, model, {"pixel_values": pixels}, layers)
            of_rules = seconds(lambda trace=trace: rules(trace))
            every = seconds(lambda trace=trace: batch_of(trace).relevance_maps)
            ratios.append([bare / n_images, of_rules / bare, every / bare])
        image = traced_layers(adapter, model, {"pixel_values": pixels[:1]}, layers)
        alone = seconds(lambda: model(pixel_values=pixels[:1]))
        of_layers = seconds(lambda: batch_of(image).layer_mixing)
    bare, of_rules, every = np.median(ratios[1:], axis=0)
    print(f"bare forward pass        {bare:.3f} s an image")
    print(f"four rules               {of_rules:.2f} times that; wanted: at most {LIMIT:.0f}")
    print(f"all maps of every image  {every:.2f} times that")
    print(f"whole layers, of a few   {of_layers / alone:.1f} times that")


def measure_size(model: Any, n_images: int) -> None:
    adapter = adapter_for("vit")
    layers = adapter.weights(model)
    passes = (relevance_map, sequence_relevance)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        shards: dict[str, list[Path]] = {statistic.TABLE.name: [] for statistic in passes}
        for first in range(0, n_images, BATCH):
            pixels = torch.randn(min(BATCH, n_images - first), 3, 224, 224)
            trace = traced_layers(adapter, model, {"pixel_values": pixels}, layers)
            batch = batch_of(trace, first)
            for statistic in passes:
                rows = counted_from_1(statistic.totals(batch))
                place = Path(folder) / statistic.TABLE.name
                shard = finish_shard(place, first, lambda rows=rows: rows)
                shards[statistic.TABLE.name].append(shard)
        for statistic in passes:
            path = Path(folder) / f"{statistic.TABLE.name}.duckdb"
            with duckdb.connect(str(path)) as store:
                store.execute("create schema stored")
                merged = path.with_suffix(".parquet")
                merge(store, statistic.TABLE, shards[statistic.TABLE.name], merged)
                add_table(store, statistic.TABLE, merged)
            size = path.stat().st_size / n_images * IMAGES / 2**20
            print(f"{statistic.TABLE.name:18} {size:.0f} MiB for {IMAGES:,} images")


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

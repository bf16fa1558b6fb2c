"""Train the bundled copier again: `python -m precompute.models.train_copy [FOLDER]`.

It is a small decoder like Llama that reads random syllables twice and learns only to copy them. The
mechanism is known (Olsson et al., 2022): a head attends one token back and writes into every token
the one before it; a head of a later layer attends to the first copy's place after the present
token, and copies the token there.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import torch.nn.functional as F
import typer
from jaxtyping import Bool, Int
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from precompute.corpora.copies import BLOCK, N_TEXTS, SEED, SYLLABLES, copies, text
from precompute.models.training_log import Training

FOLDER = Path(__file__).with_name("demo_copy")
CORPUS = Path(__file__).parents[1] / "corpora" / "demo-copy.jsonl"
BEGIN, UNKNOWN, PADDING = "<s>", "<unk>", "<pad>"
SPECIAL = (PADDING, UNKNOWN, BEGIN)
PACKAGES = ("numpy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class Recipe:
    """Everything the weights depend on beside the versions of the packages.

    Blocks are of `shortest` to `longest` syllables, so that how far back the first copy is differs
    from text to text and cannot be learnt by heart.
    """

    seed: int = 0
    epochs: int = 12
    steps: int = 100
    batch: int = 64
    shortest: int = 4
    longest: int = 20
    learning_rate: float = 3e-3
    warm_up: float = 0.05
    weight_decay: float = 0.01
    largest_gradient: float = 1.0


def untrained() -> LlamaForCausalLM:
    """The model before training."""
    config = LlamaConfig(
        vocab_size=len(SPECIAL) + len(SYLLABLES),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=128,
        max_position_embeddings=128,
        pad_token_id=SPECIAL.index(PADDING),
        bos_token_id=SPECIAL.index(BEGIN),
        eos_token_id=None,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )
    return LlamaForCausalLM(config)


def tokenizer() -> PreTrainedTokenizerFast:
    """A token for every syllable, and one that begins each text."""
    vocabulary = {token: place for place, token in enumerate((*SPECIAL, *SYLLABLES))}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN}:1 $B:1",
        special_tokens=[(BEGIN, vocabulary[BEGIN])],
    )  # fmt: skip
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=BEGIN, unk_token=UNKNOWN, pad_token=PADDING
    )


def batch(
    texts: list[tuple[int, ...]],
) -> tuple[Int[Tensor, "batch token"], Bool[Tensor, "batch token"]]:
    """Ids after the token that begins a text, and which of them can be known from those before:
    all of the second copy but its first."""
    longest = 1 + max(map(len, texts))
    ids = torch.full((len(texts), longest), SPECIAL.index(PADDING))
    is_known = torch.zeros(ids.shape, dtype=torch.bool)
    ids[:, 0] = SPECIAL.index(BEGIN)
    for row, places in enumerate(texts):
        ids[row, 1 : 1 + len(places)] = torch.tensor(places) + len(SPECIAL)
        is_known[row, 2 + len(places) // 2 : 1 + len(places)] = True
    return ids, is_known


def train(recipe: Recipe) -> Iterator[tuple[float, LlamaForCausalLM]]:
    """After every epoch the mean loss at tokens that can be known, and the model."""
    drawn = copies(np.random.default_rng(recipe.seed), range(recipe.shortest, recipe.longest + 1))
    model = untrained()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=recipe.learning_rate,
        total_steps=recipe.epochs * recipe.steps,
        pct_start=recipe.warm_up,
    )
    for _ in range(recipe.epochs):
        total = 0.0
        for _ in range(recipe.steps):
            ids, is_known = batch(list(islice(drawn, recipe.batch)))
            logits = model(input_ids=ids).logits[:, :-1]
            loss = F.cross_entropy(logits[is_known[:, 1:]], ids[:, 1:][is_known[:, 1:]])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.largest_gradient)
            optimizer.step()
            schedule.step()
            total += loss.item()
        yield total / recipe.steps, model


def held_out() -> list[tuple[int, ...]]:
    """The texts of the corpus `demo-copy`."""
    return list(islice(copies(np.random.default_rng(SEED), range(BLOCK, BLOCK + 1)), N_TEXTS))


def copied(model: LlamaForCausalLM, texts: list[tuple[int, ...]]) -> float:
    """The share of tokens that can be known which the model finds likeliest."""
    ids, is_known = batch(texts)
    with torch.inference_mode():
        predicted = model(input_ids=ids).logits[:, :-1].argmax(dim=-1)
    return float((predicted == ids[:, 1:])[is_known[:, 1:]].double().mean())


def main(
    folder: Annotated[Path, typer.Argument(help="Where to write the model.")] = FOLDER,
    corpus: Annotated[Path, typer.Option(help="Where to write the corpus.")] = CORPUS,
) -> None:
    """Train the copier and write it and its corpus, with a log of its training."""
    recipe = Recipe()
    training, texts, log = Training(recipe), held_out(), []
    lines = (json.dumps({"text": text(ids)}) for ids in texts)
    corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for epoch, (loss, model) in enumerate(train(recipe), start=1):
        log.append({"epoch": epoch, "loss": loss, "copied": copied(model, texts)})
        model.save_pretrained(folder)
        print(f"epoch {epoch}: loss {loss:.4f}, {log[-1]['copied']:.1%} copied", flush=True)
    tokenizer().save_pretrained(folder)
    training.write_log(folder, log, {"n_held_out": len(texts)}, PACKAGES)


if __name__ == "__main__":
    typer.run(main)

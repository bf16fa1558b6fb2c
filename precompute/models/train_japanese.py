"""Train the bundled Japanese BERT again: `python -m precompute.models.train_japanese [FOLDER]`.

It reads most of the corpus `demo-ja`, and short texts written for training alone, in words of
MeCab, and predicts masked tokens. Needs the extra `japanese`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import torch.nn.functional as F
import typer
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import BertConfig, BertForMaskedLM, BertJapaneseTokenizer

from precompute.corpora.load import entries
from precompute.corpora.sequence import Pair
from precompute.corpora.source import DEMO_JAPANESE
from precompute.models.japanese_pieces import SPECIAL, vocabulary, write_tokenizer
from precompute.models.training_log import Training

FOLDER = Path(__file__).with_name("demo_ja_bert")
FURTHER = Path(__file__).with_suffix(".txt")
"""Training texts outside of any corpus, one per line."""
HELD_OUT = 7
"""Every seventh article is held out."""
LONGEST = 128
PACKAGES = ("fugashi", "torch", "transformers", "unidic-lite")


@dataclass(frozen=True)
class Recipe:
    """Everything the weights depend on beside the corpus and the versions of the packages.

    An epoch has `steps` steps. Weights start with standard deviation `initial_size`, position waves
    with amplitude `initial_places`; `memory` is Adam's decay of squared gradients.

    A share of `masked` of the tokens is to be predicted: 80% of them are masked, 10% replaced by
    any other, 10% left, as in BERT with 15% (Devlin et al., 2019).
    """

    seed: int = 0
    epochs: int = 45
    steps: int = 50
    batch: int = 24
    most_sentences: int = 2
    least_count: int = 2
    masked: float = 0.25
    initial_size: float = 0.05
    initial_places: float = 0.2
    learning_rate: float = 3e-3
    memory: float = 0.98
    warm_up: float = 0.1
    weight_decay: float = 0.01
    largest_gradient: float = 1.0


def articles() -> list[Pair]:
    """The articles of the corpus, each of two paragraphs."""
    return [entry for entry in entries(DEMO_JAPANESE) if isinstance(entry, Pair)]


def untrained(n_pieces: int, recipe: Recipe) -> BertForMaskedLM:
    """Return the model before training; positions start as waves, so that neighbours begin
    alike."""
    config = BertConfig(
        vocab_size=n_pieces,
        hidden_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=recipe.initial_size,
    )
    model = BertForMaskedLM(config)
    lengths = 4 * 2.0 ** torch.linspace(0, 5, config.hidden_size // 2)
    phases = 2 * torch.pi * torch.arange(LONGEST)[:, None] / lengths
    places = model.bert.embeddings.position_embeddings.weight
    places.data = recipe.initial_places * torch.cat([phases.sin(), phases.cos()], dim=1)
    return model


def read(chosen: Sequence[Pair], tokenizer: BertJapaneseTokenizer) -> dict[str, Tensor]:
    """Return the articles as the model's input, padded."""
    firsts, seconds = [article.text_a for article in chosen], [article.text_b for article in chosen]
    return dict(
        tokenizer(
            firsts,
            seconds,
            truncation=True,
            max_length=LONGEST,
            padding=True,
            return_token_type_ids=True,
            return_tensors="pt",
        )
    )


def texts_of(chosen: Sequence[Pair]) -> list[str]:
    """The paragraphs of articles."""
    return [text for article in chosen for text in (article.text_a, article.text_b)]


def sentences(texts: Sequence[str], tokenizer: BertJapaneseTokenizer) -> list[list[int]]:
    """The ids of every sentence of the texts."""
    split = [sentence for text in texts for sentence in re.findall("[^。]+。?", text)]
    return [tokenizer(sentence, add_special_tokens=False)["input_ids"] for sentence in split]


def drawn(sentence_ids: Sequence[Sequence[int]], recipe: Recipe) -> dict[str, Tensor]:
    """Draw a batch of two segments, each of one sentence or more of any text, from any start.

    Sentences are mixed because few texts are soon memorised: masked tokens are then predicted from
    the topic of the text and not from the words beside them.
    """
    ids, types = [], []
    for _ in range(recipe.batch):
        first, second = _segment(sentence_ids, recipe), _segment(sentence_ids, recipe)
        row = [SPECIAL.index("[CLS]"), *first, SPECIAL.index("[SEP]")]
        ids.append(torch.tensor([*row, *second, SPECIAL.index("[SEP]")]))
        types.append((torch.arange(len(ids[-1])) >= len(row)).long())
    padded = pad_sequence(ids, batch_first=True, padding_value=SPECIAL.index("[PAD]"))
    begins = int(torch.randint(LONGEST - padded.shape[1] + 1, ()))
    return {
        "input_ids": padded,
        "token_type_ids": pad_sequence(types, batch_first=True),
        "attention_mask": (padded != SPECIAL.index("[PAD]")).long(),
        "position_ids": torch.arange(begins, begins + padded.shape[1])[None],
    }


def _segment(sentence_ids: Sequence[Sequence[int]], recipe: Recipe) -> list[int]:
    n = int(torch.randint(1, recipe.most_sentences + 1, ()))
    chosen = torch.randint(len(sentence_ids), (n,)).tolist()
    return [piece for place in chosen for piece in sentence_ids[place]][: (LONGEST - 3) // 2]


def hidden(
    ids: Int[Tensor, "batch token"], recipe: Recipe, n_pieces: int
) -> tuple[Int[Tensor, "batch token"], Bool[Tensor, "batch token"]]:
    """Mask tokens of a batch; return the changed ids and the mask of tokens to predict."""
    is_word = ids >= len(SPECIAL)
    is_asked = is_word & (torch.rand(ids.shape) < recipe.masked)
    draw = torch.rand(ids.shape)
    masked = torch.where(is_asked & (draw < 0.8), SPECIAL.index("[MASK]"), ids)
    others = torch.randint(len(SPECIAL), n_pieces, ids.shape)
    return torch.where(is_asked & (draw >= 0.9), others, masked), is_asked


def train(
    model: BertForMaskedLM, recipe: Recipe, sentence_ids: Sequence[Sequence[int]]
) -> Iterator[float]:
    """Train the model on sentences; yield the mean loss of every epoch."""
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=recipe.learning_rate,
        betas=(0.9, recipe.memory),
        weight_decay=recipe.weight_decay,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=recipe.learning_rate,
        total_steps=recipe.epochs * recipe.steps,
        pct_start=recipe.warm_up,
    )
    for _ in range(recipe.epochs):
        model.train()
        total = 0.0
        for _ in range(recipe.steps):
            given = drawn(sentence_ids, recipe)
            ids = given.pop("input_ids")
            read_instead, is_asked = hidden(ids, recipe, model.config.vocab_size)
            states = model.bert(input_ids=read_instead, **given).last_hidden_state
            loss = F.cross_entropy(model.cls(states[is_asked]), ids[is_asked])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.largest_gradient)
            optimizer.step()
            schedule.step()
            total += loss.item()
        model.eval()
        yield total / recipe.steps


def guessed(model: BertForMaskedLM, inputs: dict[str, Tensor]) -> float:
    """Return the share of all tokens predicted correctly when each is masked alone."""
    n_right = n_asked = 0
    for row, ids in enumerate(inputs["input_ids"]):
        places = (ids >= len(SPECIAL)).nonzero()[:, 0]
        given = {name: tensor[row].expand(len(places), -1) for name, tensor in inputs.items()}
        asked = given["input_ids"].clone()
        asked[torch.arange(len(places)), places] = SPECIAL.index("[MASK]")
        with torch.inference_mode():
            logits = model(**given | {"input_ids": asked}).logits
        predicted = logits[torch.arange(len(places)), places].argmax(dim=-1)
        n_right += int((predicted == ids[places]).sum())
        n_asked += len(places)
    return n_right / n_asked


def commonest(inputs: dict[str, Tensor], of: dict[str, Tensor]) -> float:
    """Return the accuracy of always predicting the most frequent token of other texts."""
    words = of["input_ids"][of["input_ids"] >= len(SPECIAL)]
    asked = inputs["input_ids"][inputs["input_ids"] >= len(SPECIAL)]
    return float((asked == words.mode().values).double().mean())


def main(
    folder: Annotated[Path, typer.Argument(help="Where to write the model.")] = FOLDER,
) -> None:
    """Train the Japanese BERT and write it, with its tokenizer and a log of its training."""
    recipe, corpus = Recipe(), articles()
    training = Training(recipe)
    further = FURTHER.read_text(encoding="utf-8").splitlines()
    texts = [*texts_of(corpus), *further]
    seed_tokenizer = write_tokenizer(SPECIAL, folder)
    pieces = vocabulary(texts, seed_tokenizer, least=recipe.least_count)
    tokenizer = write_tokenizer(pieces, folder)
    trained = [article for place, article in enumerate(corpus) if (place + 1) % HELD_OUT]
    kept = [article for place, article in enumerate(corpus) if not (place + 1) % HELD_OUT]
    inputs, unseen = read(trained, tokenizer), read(kept, tokenizer)
    model, log = untrained(len(pieces), recipe), []
    seen = sentences([*texts_of(trained), *further], tokenizer)
    for epoch, loss in enumerate(train(model, recipe, seen), start=1):
        log.append({"epoch": epoch, "loss": loss})
        print(f"epoch {epoch}: loss {loss:.3f}", flush=True)
    model.save_pretrained(folder)
    counts = {
        "n_training": len(trained),
        "n_further": len(further),
        "n_sentences": len(seen),
        "n_held_out": len(kept),
        "n_pieces": len(pieces),
        "training_guessed": guessed(model, inputs),
        "held_out_guessed": guessed(model, unseen),
        "held_out_commonest": commonest(unseen, inputs),
    }
    training.write_log(folder, log, counts, PACKAGES)


if __name__ == "__main__":
    typer.run(main)

"""The bundled Japanese BERT: its stated properties, and repeatable training."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest
import torch

from precompute.jobs.runner import run_local
from precompute.models.bundled import BUNDLED, DEMO_JAPANESE, shipped_folder
from precompute.models.japanese_pieces import SPECIAL, vocabulary
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.models.train_japanese import (
    FOLDER,
    FURTHER,
    HELD_OUT,
    Recipe,
    articles,
    guessed,
    hidden,
    read,
    sentences,
    texts_of,
    train,
    untrained,
)
from precompute.run import Request, run

LARGEST_FILE = 2_000_000
N_TEXTS = 12


@pytest.fixture(scope="module")
def shipped() -> LoadedModel:
    return load_model(DEMO_JAPANESE, device="cpu")


@pytest.fixture(scope="module")
def log() -> dict:
    return json.loads((FOLDER / "training_log.json").read_text())


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A run of it over the first articles, with some places masked."""
    output = tmp_path_factory.mktemp("ja") / "ja.duckdb"
    asked = Request(
        DEMO_JAPANESE, "demo-ja", output, limit=N_TEXTS, mask_rate=0.1, device="cpu",
        statistics=["token_type_mixing", "frequency_correlation", "relation_share"],
    )  # fmt: skip
    run(asked, run_local)
    with duckdb.connect(str(output), read_only=True) as found:
        yield found


def further() -> list[str]:
    return FURTHER.read_text(encoding="utf-8").splitlines()


def test_it_guesses_more_than_the_commonest_token_of_texts_it_has_never_seen(shipped, log):
    kept = articles()[HELD_OUT - 1 :: HELD_OUT]
    share = guessed(shipped.language_model, read(kept, shipped.tokenizer))
    assert share == pytest.approx(log["held_out_guessed"], abs=1e-3)
    assert share > 3 * log["held_out_commonest"]
    assert log["training_guessed"] > share


def test_its_card_and_its_log_say_the_same(log):
    card = (FOLDER / "README.md").read_text()
    [printed] = re.findall(
        r"([\d.]+)% of the tokens of (\d+) articles .* the commonest token, ([\d.]+)%", card
    )
    shares = (log["held_out_guessed"], log["held_out_commonest"])
    assert [float(printed[0]), float(printed[2])] == [round(100 * share, 1) for share in shares]
    assert int(printed[1]) == log["n_held_out"] == len(articles()) // HELD_OUT
    assert log["n_training"] + log["n_held_out"] == len(articles())
    assert log["recipe"] == vars(Recipe())
    assert len(log["epochs"]) == log["recipe"]["epochs"]
    assert log["n_further"] == len(further())
    assert log["processor_seconds"] < 600


def test_its_weights_are_small_and_the_pinned_ones(shipped):
    assert (FOLDER / "model.safetensors").stat().st_size < LARGEST_FILE
    assert shipped.weights_sha256 == BUNDLED[DEMO_JAPANESE].sha256
    assert shipped_folder(DEMO_JAPANESE) == FOLDER


def test_its_vocabulary_is_made_of_the_corpus(shipped, log):
    pieces = vocabulary(
        [*texts_of(articles()), *further()], shipped.tokenizer, least=Recipe().least_count
    )
    assert list(shipped.tokenizer.get_vocab()) == pieces
    assert len(pieces) == len(set(pieces)) == log["n_pieces"]
    read_back = read(articles(), shipped.tokenizer)["input_ids"]
    assert not (read_back == SPECIAL.index("[UNK]")).any()


def test_no_article_that_is_held_out_is_trained_on():
    kept = texts_of(articles()[HELD_OUT - 1 :: HELD_OUT])
    sentences = {sentence for text in kept for sentence in text.split("。") if sentence}
    assert not [sentence for sentence in sentences if any(sentence in text for text in further())]
    topics = {article.text_a.split("は")[0] for article in articles()}
    assert not [text for text in further() if text.split("は")[0] in topics]


def test_what_is_masked_is_what_is_asked_for():
    torch.manual_seed(0)
    ids = torch.randint(0, 50, (40, 100))
    read_instead, is_asked = hidden(ids, Recipe(), 50)
    assert not is_asked[ids < len(SPECIAL)].any()
    assert torch.equal(read_instead[~is_asked], ids[~is_asked])
    masked = (read_instead == SPECIAL.index("[MASK]"))[is_asked].double().mean()
    assert 0.75 < masked < 0.85
    assert 0.22 < is_asked[ids >= len(SPECIAL)].double().mean() < 0.28


def test_training_twice_gives_the_same_weights(shipped):
    recipe = replace(Recipe(), epochs=2, steps=20)
    found = sentences(texts_of(articles()[:20]), shipped.tokenizer)
    runs = []
    for _ in range(2):
        torch.manual_seed(recipe.seed)
        model = untrained(len(shipped.tokenizer), recipe)
        losses = list(train(model, recipe, found))
        runs.append((losses, model.state_dict()))
    (losses, once), (losses_again, again) = runs
    assert losses == losses_again
    assert losses[0] > losses[1], "it learns"
    for name, tensor in once.items():
        assert torch.equal(tensor, again[name]), name


def test_statistics_of_words_have_japanese_words(store):
    ((share,),) = store.sql(
        "select max(mean) from relation_share where relation = 'word_pieces' and quantity = 'pairs'"
    ).fetchall()
    assert share > 0
    tokens = store.sql("select token, token_type from token where seq = 0 order by pos").fetchall()
    assert tokens[0] == ("[CLS]", "cls")
    assert ("。", "comma_period") in tokens
    assert "土" in tokens[1][0]
    assert store.sql("from frequency_correlation").fetchall()

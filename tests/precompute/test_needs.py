"""A statistic whose needs a corpus or a model does not meet is refused if named explicitly."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from analysis.errors import BadCorpus, UserError
from analysis.models.rotary import Rotary
from analysis.needs import OF_TEXTS, Need
from pages.services.missing import what_images_lack
from pages.words.say import catalogue
from precompute.corpora.sequence import Entry
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import LoadedModel
from precompute.needs import check_corpus, check_known, check_model, corpus_needs
from precompute.passes import STATISTICS
from precompute.run import run
from tests.precompute.corpora.whole import on_disk
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import fetched, request
from tests.tiny import ANNOTATED, tiny_model, tiny_sequences


@pytest.fixture
def corpus(tmp_path):
    """A corpus of some entries, as a plan knows it."""
    return lambda entries: on_disk(tiny_sequences("bert", entries), tmp_path, name="a.txt")


def needing(*needs: Need) -> list[str]:
    """Statistics whose tables have any of these needs."""
    return [name for name, statistic in STATISTICS.items() if set(needs) & set(statistic.needs)]


TREEBANK = "a CoNLL-U treebank as --corpus, such as demo-treebank"
COREFERENCE = (
    "CoNLL-U with `Entity=` or the columns of CoNLL-2012 as --corpus, such as demo-treebank"
)


@pytest.mark.parametrize(
    ("statistic", "entries", "words", "instead"),
    [
        ("dependency_accuracy", [Entry("1", ("The cat.",))], "trees", TREEBANK),
        ("word_vector", [Entry("1", ("The cat.",))], "annotated words", TREEBANK),
        ("coreference_accuracy", ANNOTATED[:1], "coreference", COREFERENCE),
    ],
)
def test_texts_without_annotations_are_refused(statistic, entries, words, instead, corpus):
    assert refused(UserError, check_corpus, [statistic], corpus(entries)) == (
        f"--statistics {statistic} needs {words}, and a.txt has none: give {instead}, or leave "
        f"{statistic} out."
    )
    check_corpus([statistic], corpus(ANNOTATED))
    check_corpus(["dependency_best", "word_vector"], corpus(ANNOTATED[:1]))


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> list[set[str]]:
    """The statistics that have rows in a file of plain text, and in one of annotated words."""
    return [rows(shared_store(tmp_path_factory, annotated=known)) for known in (False, True)]


def test_what_plain_text_leaves_empty_is_what_is_asked_for(filled):
    """And trees with coreference fill all of it."""
    text, words = filled
    assert words - text == {name for name in STATISTICS if set(corpus_needs(name)) - set(OF_TEXTS)}


def rows(path: Path) -> set[str]:
    """The statistics of a file that have some."""
    filled = fetched(path, "select name from manifest where n_rows > 0")
    return set(STATISTICS) & {name for (name,) in filled}


def _turned() -> LoadedModel:
    """BERT, were its queries and keys turned."""
    model = tiny_model("bert")
    rotary = Rotary(torch.tensor([1.0]))
    return replace(model, layers=tuple(replace(layer, rotary=rotary) for layer in model.layers))


def _without_classifier() -> LoadedModel:
    return replace(tiny_model("vit"), classifier=None)


def of(family: str) -> Callable[[], LoadedModel]:
    return lambda: tiny_model(family)


BY_ROWS = "turns its queries and keys by the rows and columns of patches"
ADDS = "adds positions to its input as vectors"
UNFIT: list[tuple[Need, list[Callable[[], LoadedModel]], str, Callable[[], LoadedModel], str]] = [
    (
        Need.IMAGES, [_without_classifier], "patches of images", of("bert"),
        "bert reads text: leave {} out, or give a model that reads images, such as demo-digits.",
    ),
    (
        Need.CLASSES, [of("vit")], "a model that predicts classes", _without_classifier,
        "the weights of vit have no such head: leave {} out, or give a model trained to classify, "
        "such as demo-digits.",
    ),
    (
        Need.TURNED_POSITIONS, [_turned], "queries and keys that are turned by their positions",
        of("bert"),
        f"bert {ADDS}: leave {{}} out, or give a model with rotary positions, such as a Llama.",
    ),
    (
        Need.ADDED_POSITIONS, [of("bert")], "positions that are added to the input as vectors",
        _turned,
        "bert turns its queries and keys by their positions: leave {} out, or ask for "
        "rotary_plane.",
    ),
    (
        Need.ADDED_POSITIONS, [], "positions that are added to the input as vectors",
        of("dinov3_vit"), f"dinov3_vit {BY_ROWS}: leave {{}} out, or ask for patch_offset.",
    ),
    (
        Need.OWN_SCORES, [of("bert")], "scores that queries and keys make alone", of("deberta-v2"),
        "deberta-v2 adds terms of the distance between tokens to its scores: leave {} out.",
    ),
    (
        Need.DISTANCE_TERMS, [of("t5"), of("deberta-v2")],
        "scores with terms of the distance between tokens", of("bert"),
        f"bert {ADDS}: leave {{}} out, or give a model with such scores, such as a T5 or a "
        "DeBERTa.",
    ),
    (
        Need.KERNELS, [_turned, of("t5"), of("deberta-v2")], "scores that know offsets",
        of("dinov3_vit"),
        f"dinov3_vit {BY_ROWS}: leave {{}} out, or give a model with rotary positions or with "
        "terms of distances, such as a Llama or a T5.",
    ),
    (
        Need.OFFSETS, [of("vit")], "offsets along the order of tokens", of("dinov3_vit"),
        f"dinov3_vit {BY_ROWS}: leave {{}} out, or ask for patch_offset, which counts rows and "
        "columns.",
    ),
    (
        Need.SINK_LOGITS, [of("gpt_oss")], "heads with a sink logit in their softmax", of("llama"),
        "those of llama have none: leave {} out, or give a model with such heads, such as a "
        "GPT-OSS.",
    ),
    (
        Need.AFFINE_VECTORS, [of("llama")], "vectors f(x) that are an affine map of the token",
        of("youtu"), "youtu makes its values of a normalised latent: leave {} out.",
    ),
    (
        Need.OWN_VECTORS, [of("llama"), of("youtu")],
        "vectors f(x) that are the same for every query",
        of("afmoe"), "afmoe scales what attention mixes by gates of the query: leave {} out.",
    ),
]  # fmt: skip
"""A need, models that meet it, its words, one that does not, and what is said of that one."""


@pytest.mark.parametrize(("need", "fit", "words", "unfit", "reason"), UNFIT)
def test_what_a_model_does_not_meet_is_told_with_what_to_do(need, fit, words, unfit, reason):
    wanting = needing(need)
    assert wanting
    for statistic in wanting:
        if need is not Need.IMAGES or statistic == "patch_offset":  # others predict classes too
            for made in fit:
                check_model([statistic], made())
        assert refused(UserError, check_model, [statistic], unfit()) == (
            f"--statistics {statistic} needs {words}, and {reason.format(statistic)}"
        )


def test_all_other_statistics_are_of_any_model():
    by_offset = (Need.TURNED_POSITIONS, Need.DISTANCE_TERMS, Need.KERNELS)
    special = (Need.IMAGES, Need.CLASSES, *by_offset, Need.SINK_LOGITS)
    others = set(STATISTICS) - set(needing(*special))
    check_model(sorted(others), tiny_model("bert"))


@pytest.mark.parametrize(
    ("family", "texts", "counts"),
    [
        ("bert", ["東京は日本の首都です。", "猫が好き。", "The cat."], "15 of 18"),
        ("bert", ["12 34", "56 cat"], "3 of 4"),
        ("bert", ["cat 1 the 2"], ""),
        ("gpt2", ["東京は日本の首都です。"], ""),
    ],
)
def test_a_corpus_of_which_more_than_half_is_unknown_is_refused(family, texts, counts, tmp_path):
    entries = tuple(Entry(f"line {n}", (text,)) for n, text in enumerate(texts))
    corpus = on_disk(tiny_sequences(family, entries), tmp_path, name="a.txt")
    if not counts:
        check_known(corpus, tiny_model(family))
        return
    assert refused(BadCorpus, check_known, corpus, tiny_model(family)) == (
        f"a.txt: {counts} tokens are unknown to the tokenizer of model 'bert' and read as '[UNK]'; "
        "give texts in a language and script that the model was trained on, or a model that was "
        "trained on these"
    )


@pytest.mark.parametrize(
    ("statistic", "text", "message"),
    [
        ("perturbation", "The cat.", "needs patches"),
        ("dependency_accuracy", "The cat.", "needs trees"),
        ("token_norm", "東京は日本の首都です。", r"text\.txt: \d+ of \d+ tokens are unknown"),
    ],
)
def test_a_run_is_refused_before_it_computes_anything(tmp_path, statistic, text, message):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        run(request(tmp_path, statistics=[statistic]), run_local)
    assert {path.parts[-3] for path in tmp_path.rglob("*.parquet")} <= {"corpus"}


def test_what_pages_say_that_images_never_have_is_what_is_refused_them():
    lacking = {name: what_images_lack([statistic]) for name, statistic in STATISTICS.items()}
    refused = {name for name in lacking if set(corpus_needs(name)) & set(OF_TEXTS)}
    assert {name for name, reason in lacking.items() if reason} == refused
    assert {f"of_images.{reason}" for reason in lacking.values() if reason} <= set(catalogue())

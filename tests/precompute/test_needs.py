"""Statistics by name and group, and those whose needs a corpus or a model does not meet."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from analysis.contracts import ALL, groups
from analysis.errors import BadCorpus, UnknownName, UserError
from analysis.models.rotary import Rotary
from analysis.needs import OF_TEXTS, Need
from pages.services.missing import what_images_lack
from pages.words.say import catalogue
from precompute.corpora.sequence import Entry
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import LoadedModel
from precompute.needs import check_corpus, check_known, check_model, chosen_statistics, corpus_needs
from precompute.passes import STATISTICS
from precompute.request import request_of
from precompute.run import run
from tests.precompute.corpora.tiny import on_disk
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import fetched, request
from tests.tiny import ANNOTATED, tiny_model, tiny_sequences


@pytest.fixture
def corpus(tmp_path):
    """A corpus of some entries, as a plan knows it."""
    return lambda entries: on_disk(tiny_sequences("bert", entries), tmp_path, name="a.txt")


def test_texts_without_annotations_are_refused(corpus):
    name = "coreference_accuracy"
    assert refused(UserError, check_corpus, [name], corpus(ANNOTATED[:1])) == (
        f"--statistics {name} needs coreference, and a.txt has none: give CoNLL-U with `Entity=` "
        "or the columns of CoNLL-2012 as --corpus, such as demo-treebank, or leave "
        f"{name} out."
    )
    check_corpus([name], corpus(ANNOTATED))
    check_corpus(["dependency_best", "word_vector"], corpus(ANNOTATED[:1]))


def test_what_plain_text_leaves_empty_is_what_is_asked_for(tmp_path_factory):
    """And trees with coreference fill all of it."""
    files = (shared_store(tmp_path_factory, annotated=known) for known in (False, True))
    filled = "select name from manifest where n_rows > 0"
    text, words = (set(STATISTICS) & {name for (name,) in fetched(file, filled)} for file in files)
    assert words - text == {name for name in STATISTICS if set(corpus_needs(name)) - set(OF_TEXTS)}


def model_of(name: str) -> LoadedModel:
    """A family's model, perhaps without its classes, or with queries and keys that are turned."""
    model = tiny_model(name.split()[0])
    if name.endswith(" turned"):
        rotary = Rotary(torch.tensor([1.0]))
        turned = (replace(layer, rotary=rotary) for layer in model.layers)
        return replace(model, layers=tuple(turned))
    return replace(model, classifier=None) if name.endswith(" without classes") else model


UNFIT = {
    (Need.IMAGES, "", "bert"): "patches of images, and bert reads text: leave {} out, or give a "
    "model that reads images, such as demo-digits.",
    (Need.CLASSES, "vit", "vit without classes"): "a model that predicts classes, and the weights "
    "of vit have no such head: leave {} out, or give a model trained to classify, such as "
    "demo-digits.",
    (Need.TURNED_POSITIONS, "bert turned", "bert"): "queries and keys that are turned by their "
    "positions, and bert adds positions to its input as vectors: leave {} out, or give a model "
    "with rotary positions, such as a Llama.",
    (Need.ADDED_POSITIONS, "bert", "bert turned"): "positions that are added to the input as "
    "vectors, and bert turns its queries and keys by their positions: leave {} out, or ask for "
    "rotary_plane.",
    (Need.OWN_SCORES, "bert", "deberta-v2"): "scores that queries and keys make alone, and "
    "deberta-v2 adds terms of the distance between tokens to its scores: leave {} out.",
    (Need.DISTANCE_TERMS, "t5", "bert"): "scores with terms of the distance between tokens, and "
    "bert adds positions to its input as vectors: leave {} out, or give a model with such scores, "
    "such as a T5 or a DeBERTa.",
    (Need.KERNELS, "deberta-v2", "dinov3_vit"): "scores that know offsets, and dinov3_vit turns "
    "its queries and keys by the rows and columns of patches: leave {} out, or give a model with "
    "rotary positions or with terms of distances, such as a Llama or a T5.",
    (Need.OFFSETS, "vit", "dinov3_vit"): "offsets along the order of tokens, and dinov3_vit turns "
    "its queries and keys by the rows and columns of patches: leave {} out, or ask for "
    "patch_offset, which counts rows and columns.",
    (Need.SINK_LOGITS, "gpt_oss", "llama"): "heads with a sink logit in their softmax, and those "
    "of llama have none: leave {} out, or give a model with such heads, such as a GPT-OSS.",
    (Need.AFFINE_VECTORS, "llama", "youtu"): "vectors f(x) that are an affine map of the token, "
    "and youtu makes its values of a normalised latent: leave {} out.",
    (Need.OWN_VECTORS, "youtu", "afmoe"): "vectors f(x) that are the same for every query, and "
    "afmoe scales what attention mixes by gates of the query: leave {} out.",
}
"""Messages by need, by a model that meets it, and by one that does not."""


@pytest.mark.parametrize(("need", "fit", "unfit"), UNFIT)
def test_what_a_model_does_not_meet_is_told_with_what_to_do(need, fit, unfit):
    wanting = [name for name, statistic in STATISTICS.items() if need in statistic.needs]
    assert wanting
    if fit:
        check_model(wanting, model_of(fit))
    for statistic in wanting:
        said = UNFIT[need, fit, unfit].format(statistic)
        assert refused(UserError, check_model, [statistic], model_of(unfit)) == (
            f"--statistics {statistic} needs {said}"
        )


def test_a_corpus_of_which_more_than_half_is_unknown_is_refused(corpus):
    check_known(corpus([Entry("line 1", ("cat 1 the 2",))]), tiny_model("bert"))
    unknown = corpus([Entry("line 1", ("東京は日本の首都です。",)), Entry("line 2", ("The cat.",))])
    assert refused(BadCorpus, check_known, unknown, tiny_model("bert")) == (
        "a.txt: 10 of 13 tokens are unknown to the tokenizer of model 'bert' and read as '[UNK]'; "
        "give texts in a language and script that the model was trained on, or a model that was "
        "trained on these"
    )


@pytest.mark.parametrize(
    ("statistic", "text", "message"),
    [
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


GROUPS = groups()
OF_CHECKS = {
    *("vector_agreement", "vector_completeness", "vector_rollout"),
    *("sequence_vector_agreement", "sequence_vector_rollout", "sequence_head_effect"),
    *("head_effect", "effect_prediction"),
}


def test_every_statistic_is_in_one_group_and_no_other_needs_a_check():
    names = [name for group, members in GROUPS.items() if group != ALL for name in members]
    assert sorted(names) == sorted(STATISTICS)
    assert {*GROUPS} == {
        *("attention", "layers", "pairs", "positions", "heads", "probing", "relevance", "sinks"),
        *("checks", ALL),
    }
    assert {*GROUPS["checks"]} == OF_CHECKS
    assert {*chosen_statistics(["-checks"])} == {*STATISTICS} - OF_CHECKS
    assert chosen_statistics(None) == chosen_statistics([ALL]) == tuple(STATISTICS)


@pytest.mark.parametrize(
    ("words", "there", "gone"),
    [
        (["-sinks"], {"head_pattern"}, {"sink", "massive_activation"}),
        (["pairs", "-pair_extreme"], {"pair", "pair_delta"}, {"pair_extreme", "pair_occurrence"}),
        (["pairs", "-pair_delta"], {"relation_share"}, {"pair", "pair_pmi_correlation"}),
        (["token_type_mixing"], {"completeness", "head_token"}, {"sink", "pair"}),
    ],
)
def test_what_needs_a_statistic_that_is_taken_away_goes_with_it(words, there, gone):
    chosen = chosen_statistics(words)
    assert there <= {*chosen}
    assert gone.isdisjoint(chosen)
    assert list(chosen) == [name for name in STATISTICS if name in chosen], "in their order"


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["-chekcs"], UnknownName, "No statistic or group is called 'chekcs'. Did you mean 'che"),
        (
            ["pair", "-pair_delta"],
            UserError,
            "--statistics pair needs pair_delta, which another name takes away: leave one of the "
            "two out.",
        ),
        (["sinks", "-sinks"], UserError, "--statistics sinks,-sinks leaves nothing: take less"),
    ],
)
def test_words_that_choose_nothing_sound_are_refused(words, error, message):
    assert refused(error, chosen_statistics, words).startswith(message)


OPTIONS = {"mask": 0.1, "raw_rows": 7, "output": None, "statistics": " pairs, -pair,"}


@pytest.mark.parametrize(
    ("model", "corpus", "more", "output"),
    [
        ("demo", ["demo-treebank"], {}, "statistics/demo-demo-treebank.duckdb"),
        ("org/name@main", ["texts/a.jsonl.gz", "b.conllu"], {}, "statistics/name-a.duckdb"),
        ("openai/clip", ["i"], {"part": "vision"}, "statistics/clip-vision-i.duckdb"),
        ("demo", ["hf://datasets/org/corpus@rev/data"], {}, "statistics/demo-corpus.duckdb"),
        ("m", ["c"], {"output": Path("a.duckdb"), "runner": "ray"}, "a.duckdb"),
    ],
)
def test_options_become_a_request_and_a_file_is_called_after_model_and_corpus(
    model, corpus, more, output
):
    request = request_of({"model": model, "corpus": corpus} | OPTIONS | more)
    assert request.output == Path(output)
    assert request.corpus == (tuple(corpus) if len(corpus) > 1 else corpus[0])
    assert (request.mask_rate, request.statistics) == (0.1, ["pairs", "-pair"])
    assert request.bounds.raw_rows == 7

"""Statistics of a run by the words of `--statistics`, and their needs of a corpus and a model."""

from collections.abc import Iterable, Iterator, Sequence

from analysis.contracts import ALL, CHECKS, groups
from analysis.errors import BadCorpus, UnknownName, UserError
from analysis.models.places import bound_of
from analysis.needs import OF_MODELS, OF_TEXTS, Need, Setting
from precompute.corpora.index.corpus import Corpus
from precompute.jobs.plan import Plan
from precompute.models.loaded_model import LoadedModel
from precompute.passes import STATISTICS

PROOFS = ("completeness",)
"""Statistics in every file, whatever the request."""


def chosen_statistics(words: Sequence[str] | None) -> tuple[str, ...]:
    """Return the chosen statistics and all that they need, in the order they run; None means all.

    A word is the name of a statistic or of a group; after `-` it takes away, from all if no other
    word adds. What needs a statistic that is taken away goes with it, or is refused if it is named.
    """
    words = words or [ALL]
    without = [word.removeprefix("-") for word in words if word.startswith("-")]
    if proofs := [name for name in without if name in PROOFS]:
        raise UserError(f"{proofs[0]} is in every file: leave -{proofs[0]} out.")
    taken = _members(without) - {*PROOFS}
    for name in named_statistics(words):
        if lacking := taken & _with_required([name]):
            raise UserError(
                f"--statistics {name} needs {min(lacking)}, which another name takes away: leave "
                "one of the two out."
            )
    added = _members([word for word in words if not word.startswith("-")] or [ALL])
    kept = [name for name in added if taken.isdisjoint(_with_required([name]))]
    if not kept:
        raise UserError(f"--statistics {','.join(words)} leaves nothing: take less away.")
    return in_order({*kept, *PROOFS})


def named_statistics(words: Sequence[str] | None) -> list[str]:
    """Return the statistics asked for by name: a run that cannot have one is refused."""
    return [word for word in words or () if word in STATISTICS]


def of_texts_run_again(names: Iterable[str]) -> tuple[str, ...]:
    """Return the statistics among some that need texts which are run again."""
    again = {name for name, table in STATISTICS.items() if Setting.RUN_AGAIN in table.depends_on}
    return tuple(name for name in names if not again.isdisjoint(_with_required([name])))


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return statistics and all that they need, in the order they run."""
    wanted = _with_required(names)
    return tuple(name for name in STATISTICS if name in wanted)


def _members(words: Iterable[str]) -> set[str]:
    """Return the statistics of names and groups."""
    known = groups() | {name: (name,) for name in STATISTICS}
    members: set[str] = set()
    for word in words:
        if word not in known:
            raise UnknownName("statistic or group", word, known)
        members.update(known[word])
    return members


def _with_required(names: Iterable[str]) -> set[str]:
    return {*names}.union(*(_with_required(STATISTICS[name].requires) for name in names))


_NAMES = {
    Need.TREES: "trees",
    Need.COREFERENCE: "coreference",
    Need.WORDS: "annotated words",
    **dict.fromkeys(OF_TEXTS, "text"),
}
_REMEDIES = {
    Need.TREES: "a CoNLL-U treebank",
    Need.COREFERENCE: "CoNLL-U with `Entity=` or the columns of CoNLL-2012",
    Need.WORDS: "a CoNLL-U treebank",
}


def corpus_needs(statistic: str) -> tuple[Need, ...]:
    """Return the needs of a statistic that concern the corpus."""
    return tuple(need for need in STATISTICS[statistic].needs if need not in OF_MODELS)


def allowed(statistics: Iterable[str], corpus: Corpus) -> list[str]:
    """Return the statistics that this kind of corpus allows; images allow none about words."""
    return [name for name in statistics if not (corpus.is_images and corpus_needs(name))]


def check_corpus(statistics: Iterable[str], corpus: Corpus) -> None:
    """Raise UserError if a requested statistic needs something that the corpus lacks."""
    _refuse((name, *unmet) for name in statistics for unmet in _unmet_by_corpus(name, corpus))


Unmet = tuple[str, str]
"""Unmet need of a statistic with the reason, and the remedy."""


def _refuse(unmet: Iterable[tuple[str, str, str]]) -> None:
    for statistic, reason, remedy in unmet:
        raise UserError(f"--statistics {statistic} needs {reason}: {remedy}.")


def _unmet_by_corpus(statistic: str, corpus: Corpus) -> Iterator[Unmet]:
    leave = f"leave {statistic} out"
    for need in corpus_needs(statistic):
        if corpus.is_images:
            yield (
                f"{_NAMES[need]}, and {corpus.name} holds images",
                f"{leave}, or give a text corpus with a model that reads text",
            )
        elif need not in OF_TEXTS and need not in corpus.parts[-1].bears:
            yield (
                f"{_NAMES[need]}, and {corpus.name} has none",
                f"give {_REMEDIES[need]} as --corpus, such as demo-treebank, or {leave}",
            )


def check_known(corpus: Corpus, model: LoadedModel) -> None:
    """Raise BadCorpus if most tokens of a corpus are unknown to the tokenizer.

    Numbers would be about its unknown token.
    """
    unknown = model.tokenizer and model.tokenizer.unk_token_id
    if corpus.is_images or unknown is None:
        return
    n_unknown, n_tokens = corpus.count_token(unknown)
    if 2 * n_unknown > n_tokens:
        raise BadCorpus(
            corpus.name,
            f"{n_unknown:,} of {n_tokens:,} tokens are unknown to the tokenizer of model "
            f"{model.name!r} and read as {model.tokenizer.unk_token!r}; give texts in a language "
            "and script that the model was trained on, or a model that was trained on these",
        )


def check_model(statistics: Iterable[str], model: LoadedModel) -> None:
    """Raise UserError if a requested statistic needs something that the model lacks."""
    _refuse((name, *unmet) for name in statistics for unmet in _unmet_by_model(name, model))


def _unmet_by_model(statistic: str, model: LoadedModel) -> Iterator[Unmet]:
    needs, name, leave = STATISTICS[statistic].needs, model.name, f"leave {statistic} out"
    if Need.IMAGES in needs and model.images is None:
        yield (
            f"patches of images, and {name} reads text",
            f"{leave}, or give a model that reads images, such as demo-digits",
        )
    if Need.CLASSES in needs and model.classifier is None:
        yield (
            f"a model that predicts classes, and the weights of {name} have no such head",
            f"{leave}, or give a model trained to classify, such as demo-digits",
        )
    gaps = ", ".join(map(str, model.reading.without_attention))
    if Need.EVERY_LAYER in needs and gaps:
        yield (
            f"layers that all attend, and of those of {name} {gaps} have no attention",
            f"{leave}, or give a model without other layers, such as a Llama",
        )
    if Need.SINK_LOGITS in needs and all(layer.sink_logit is None for layer in model.layers):
        yield (
            f"heads with a sink logit in their softmax, and those of {name} have none",
            f"{leave}, or give a model with such heads, such as a GPT-OSS",
        )
    how = _TRANSFORMS.get(model.transforms)
    if how and Need.AFFINE_VECTORS in needs:
        yield f"vectors f(x) that are an affine map of the token, and {name} {how}", leave
    if model.transforms == "gated" and Need.OWN_VECTORS in needs:
        yield f"vectors f(x) that are the same for every query, and {name} {how}", leave
    yield from _unmet_by_positions(statistic, model)


_TRANSFORMS = {
    "latent": "makes its values of a normalised latent",
    "gated": "scales what attention mixes by gates of the query",
}
_KNOWS_PLACES = {
    "added": "adds positions to its input as vectors",
    "turned": "turns its queries and keys by their positions",
    "patches": "turns its queries and keys by the rows and columns of patches",
    "distance": "adds terms of the distance between tokens to its scores",
}


def _unmet_by_positions(statistic: str, model: LoadedModel) -> Iterator[Unmet]:
    needs, how, leave = STATISTICS[statistic].needs, model.positions_by, f"leave {statistic} out"
    but = f", and {model.name} {_KNOWS_PLACES[how]}"
    if Need.ADDED_POSITIONS in needs and how != "added":
        remedies = {"turned": "ask for rotary_plane", "patches": "ask for patch_offset"}
        instead = remedies.get(how, "give a model that does, as BERT")
        yield f"positions that are added to the input as vectors{but}", f"{leave}, or {instead}"
    elif Need.ADDED_POSITIONS in needs and model.reading.places.embedding is None:
        found = f"and none were found in {model.name}"
        yield f"positions that are added to the input as vectors, {found}", leave
    if Need.TURNED_POSITIONS in needs and how != "turned":
        yield (
            f"queries and keys that are turned by their positions{but}",
            f"{leave}, or give a model with rotary positions, such as a Llama",
        )
    if Need.DISTANCE_TERMS in needs and how != "distance":
        yield (
            f"scores with terms of the distance between tokens{but}",
            f"{leave}, or give a model with such scores, such as a T5 or a DeBERTa",
        )
    if Need.KERNELS in needs and how not in ("turned", "distance"):
        yield (
            f"scores that know offsets{but}",
            f"{leave}, or give a model with rotary positions or with terms of distances, such as a "
            "Llama or a T5",
        )
    if Need.OFFSETS in needs and how == "patches":
        yield (
            f"offsets along the order of tokens{but}",
            f"{leave}, or ask for patch_offset, which counts rows and columns",
        )
    if Need.OWN_SCORES in needs and how == "distance":
        yield f"scores that queries and keys make alone{but}", leave


def check_length(max_tokens: int, model: LoadedModel) -> None:
    """Raise UserError if texts may be longer than those that the model reads as its trial."""
    longest, setting = bound_of(model.model.config)
    if longest is not None and max_tokens > longest:
        raise UserError(
            f"--max-tokens is {max_tokens}, and by {setting} of its config.json the model attends "
            f"in another way to texts of more than {longest} tokens. Give --max-tokens {longest}."
        )


def check_segments(model: LoadedModel) -> None:
    """Raise UserError if segment ids are to be zeroed for a model without segments."""
    if model.segments == "zero" and model.images is None and model.segment_types < 2:
        raise UserError(
            f"--segments zero gives every token segment id 0, and model {model.name!r} "
            f"distinguishes no segments (its segment types: {model.segment_types}). "
            "Leave --segments out."
        )


def summary(plan: Plan, model: LoadedModel) -> Iterator[str]:
    """Yield the model, the corpus, the statistics, what is left out and why, and what is done."""
    n_heads = len(model.layers[0].query_weight)
    yield f"{model.name}: {model.family}, {len(model.layers)} layers of {n_heads} heads"
    corpus = plan.corpus
    form = corpus.form and f", read as {corpus.form}"
    yield f"{corpus.name}: {len(corpus):,} sequences, {corpus.n_tokens:,} tokens{form}"
    by_group = {group: len({*names} & {*plan.statistics}) for group, names in groups().items()}
    there = [f"{group} {n}" for group, n in by_group.items() if n and group != ALL]
    yield f"{len(plan.statistics)} statistics: {', '.join(there)}"
    if corpus.is_images:
        yield "left out: statistics of texts and words, of which images have none"
    lacking: dict[str, list[str]] = {}
    for name in plan.statistics:
        for reason, _ in [*_unmet_by_corpus(name, corpus), *_unmet_by_model(name, model)][:1]:
            lacking.setdefault(reason, []).append(name)
    for reason, names in lacking.items():
        yield f"empty, for want of {reason}: {', '.join(names)}"
    if by_group[CHECKS]:
        yield (
            f"checks read {len(plan.checked):,} of {len(corpus):,} sequences; "
            "--check-sequences sets how many"
        )
    if plan.left_out:
        yield (
            "no sequence is run again without each head, which would take more than a tenth of "
            f"the run: {', '.join(plan.left_out)} are left out; "
            f"--check-sequences {len(plan.checked)} adds them"
        )
    elif of_texts_run_again(plan.statistics):
        yield f"{len(plan.run_again):,} of these are run again without each head"
    jobs = range(len(corpus.job_sizes))
    done = sum(not plan.missing(job) for job in jobs)
    yield f"{len(jobs)} jobs, {done} done before; shards: {plan.folder}"

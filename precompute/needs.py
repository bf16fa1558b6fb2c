"""Checks of a corpus and a model against the needs of statistics and the options of a run."""

from collections.abc import Iterable

from analysis.errors import BadCorpus, UserError
from analysis.needs import OF_MODELS, OF_TEXTS, Need
from precompute.corpora.index.corpus import Corpus
from precompute.models.loaded_model import LoadedModel
from precompute.passes import STATISTICS

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
    """Raise UserError if a requested statistic needs something that the corpus lacks.

    Raises:
        UserError: naming the statistic, what it needs, and a corpus that has it.
    """
    for statistic in statistics:
        for need in corpus_needs(statistic):
            if corpus.is_images:
                raise UserError(
                    f"--statistics {statistic} needs {_NAMES[need]}, and {corpus.name} holds "
                    f"images: leave {statistic} out, or give a text corpus with a model that reads "
                    "text."
                )
            if need not in OF_TEXTS and need not in corpus.bears:
                raise UserError(
                    f"--statistics {statistic} needs {_NAMES[need]}, and {corpus.name} has none: "
                    f"give {_REMEDIES[need]} as --corpus, such as demo-treebank, or leave "
                    f"{statistic} out."
                )


def check_known(corpus: Corpus, model: LoadedModel) -> None:
    """Raise BadCorpus if most tokens of a corpus are unknown to the tokenizer.

    Numbers would be about its unknown token.

    Raises:
        BadCorpus: naming how many of how many tokens are unknown.
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
    """Raise UserError if a requested statistic needs something that the model lacks.

    Raises:
        UserError: naming the statistic, what it needs, and what to do.
    """
    for statistic in statistics:
        needs = STATISTICS[statistic].needs
        if Need.IMAGES in needs and model.images is None:
            raise UserError(
                f"--statistics {statistic} needs patches of images, and {model.name} reads text: "
                f"leave {statistic} out, or give a model that reads images, such as demo-digits."
            )
        if Need.CLASSES in needs and model.classifier is None:
            raise UserError(
                f"--statistics {statistic} needs a model that predicts classes, and the weights of "
                f"{model.name} have no such head: leave {statistic} out, or give a model trained "
                "to classify, such as demo-digits."
            )
        gaps = ", ".join(map(str, model.reading.without_attention))
        if Need.EVERY_LAYER in needs and gaps:
            raise UserError(
                f"--statistics {statistic} needs layers that all attend, and of those of "
                f"{model.name} {gaps} have no attention: leave {statistic} out, or give a model "
                "without other layers, such as a Llama."
            )
        if Need.SINK_LOGITS in needs and not model.has_sink_logits:
            raise UserError(
                f"--statistics {statistic} needs heads with a sink logit in their softmax, and "
                f"those of {model.name} have none: leave {statistic} out, or give a model with "
                "such heads, such as a GPT-OSS."
            )
        how = _TRANSFORMS.get(model.transforms)
        if how and Need.AFFINE_VECTORS in needs:
            raise UserError(
                f"--statistics {statistic} needs vectors f(x) that are an affine map of the token, "
                f"and {model.name} {how}: leave {statistic} out."
            )
        if model.transforms == "gated" and Need.OWN_VECTORS in needs:
            raise UserError(
                f"--statistics {statistic} needs vectors f(x) that are the same for every query, "
                f"and {model.name} {how}: leave {statistic} out."
            )
        _check_positions(statistic, model)


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


def _check_positions(statistic: str, model: LoadedModel) -> None:
    needs, how = STATISTICS[statistic].needs, model.positions_by
    if Need.ADDED_POSITIONS in needs and how != "added":
        remedies = {"turned": "ask for rotary_plane", "patches": "ask for patch_offset"}
        instead = remedies.get(how, "give a model that does, as BERT")
        raise UserError(
            f"--statistics {statistic} needs positions that are added to the input as vectors, and "
            f"{model.name} {_KNOWS_PLACES[how]}: leave {statistic} out, or {instead}."
        )
    if Need.ADDED_POSITIONS in needs and model.reading.places.embedding is None:
        raise UserError(
            f"--statistics {statistic} needs positions that are added to the input as vectors, and "
            f"none were found in {model.name}: leave {statistic} out."
        )
    if Need.TURNED_POSITIONS in needs and how != "turned":
        raise UserError(
            f"--statistics {statistic} needs queries and keys that are turned by their positions, "
            f"and {model.name} {_KNOWS_PLACES[how]}: leave {statistic} out, or "
            "give a model with rotary positions, such as a Llama."
        )
    if Need.DISTANCE_TERMS in needs and how != "distance":
        raise UserError(
            f"--statistics {statistic} needs scores with terms of the distance between tokens, and "
            f"{model.name} {_KNOWS_PLACES[how]}: leave {statistic} out, or give a model with such "
            "scores, such as a T5 or a DeBERTa."
        )
    if Need.KERNELS in needs and how not in ("turned", "distance"):
        raise UserError(
            f"--statistics {statistic} needs scores that know offsets, and {model.name} "
            f"{_KNOWS_PLACES[how]}: leave {statistic} out, or give a model with rotary positions "
            "or with terms of distances, such as a Llama or a T5."
        )
    if Need.OFFSETS in needs and how == "patches":
        raise UserError(
            f"--statistics {statistic} needs offsets along the order of tokens, and {model.name} "
            f"{_KNOWS_PLACES[how]}: leave {statistic} out, or ask for patch_offset, which counts "
            "rows and columns."
        )
    if Need.OWN_SCORES in needs and how == "distance":
        raise UserError(
            f"--statistics {statistic} needs scores that queries and keys make alone, and "
            f"{model.name} {_KNOWS_PLACES[how]}: leave {statistic} out."
        )


def check_segments(model: LoadedModel) -> None:
    """Raise UserError if segment ids are to be zeroed for a model without segments.

    Raises:
        UserError: naming the option.
    """
    if model.segments == "zero" and model.images is None and model.segment_types < 2:
        raise UserError(
            f"--segments zero gives every token segment id 0, and model {model.name!r} "
            f"distinguishes no segments (its segment types: {model.segment_types}). "
            "Leave --segments out."
        )

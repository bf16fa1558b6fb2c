"""Which statistics ask for more of a corpus than sequences of tokens."""

from collections.abc import Iterable

from analysis.errors import UserError
from precompute.corpora.annotated.annotation import Annotation
from precompute.corpora.sequence import Corpus

TEXT = "text"
_NEEDS = {
    "dependency_": "trees",
    "parser_": "trees",
    "coreference_": "coreference",
    "word_": "words that are told apart",
    "pair": TEXT,
    "bias_reading": TEXT,
    "sequence_bias_reading": TEXT,
    "frequency_correlation": TEXT,
    "ratio_frequency_correlation": TEXT,
    "token_mixing_ratio": TEXT,
    "relation_share": TEXT,
    "sequence_relation_change": TEXT,
}
_REMEDIES = {
    "trees": "a CoNLL-U treebank",
    "coreference": "CoNLL-U with `Entity=` or the columns of CoNLL-2012",
    "words that are told apart": "a CoNLL-U treebank",
}


def need_of(statistic: str) -> str | None:
    """What a statistic needs of a corpus beside its tokens, in words; None if nothing."""
    return next((need for start, need in _NEEDS.items() if statistic.startswith(start)), None)


def allowed(statistics: Iterable[str], corpus: Corpus) -> list[str]:
    """The statistics that a corpus can feed at all: an image has no words."""
    return [each for each in statistics if not (corpus.is_images and need_of(each))]


def check_needs(statistics: Iterable[str], corpus: Corpus) -> None:
    """Raises if a statistic was asked for by name and the corpus has nothing for it to count.

    Raises:
        UserError: naming the statistic, what it needs, and a corpus that has it.
    """
    known = [each.annotation for each in corpus.sequences if each.annotation is not None]
    for statistic in statistics:
        need = need_of(statistic)
        if need and corpus.is_images:
            raise UserError(
                f"--statistics {statistic} needs {need}, and {corpus.name} holds images: leave "
                f"{statistic} out, or give a text corpus with a model that reads text."
            )
        if need and need != TEXT and not any(_bears(each, need) for each in known):
            raise UserError(
                f"--statistics {statistic} needs {need}, and {corpus.name} has none: give "
                f"{_REMEDIES[need]} as --corpus, such as demo-treebank, or leave {statistic} out."
            )


def _bears(annotation: Annotation, need: str) -> bool:
    if need == "trees":
        return annotation.governors is not None
    return bool(annotation.mentions) if need == "coreference" else True

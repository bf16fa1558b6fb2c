"""Needs of statistics beyond tokens and attention; each table lists its own."""

from enum import StrEnum


class Need(StrEnum):
    """Need of a statistic, of a corpus or a model.

    Of a corpus: from trees to relations. Of a model: images as input; classes; positions added to
    the input as vectors, or applied to queries and keys by rotation; distance terms in the scores;
    kernels, which follow from such a rotation or from distance terms; offsets along the order of
    tokens; scores made of queries and keys alone; layers that all attend, for what is carried from
    one to the next; sink logits of heads; vectors f(x) that are an affine map of the token, or at
    least the same for every query.
    """

    TREES = "trees"
    COREFERENCE = "coreference"
    WORDS = "words"
    PAIRS = "pairs"
    FREQUENCY = "frequency"
    RELATIONS = "relations"
    IMAGES = "images"
    CLASSES = "classes"
    ADDED_POSITIONS = "added_positions"
    TURNED_POSITIONS = "turned_positions"
    DISTANCE_TERMS = "distance_terms"
    KERNELS = "kernels"
    OFFSETS = "offsets"
    OWN_SCORES = "own_scores"
    EVERY_LAYER = "every_layer"
    SINK_LOGITS = "sink_logits"
    AFFINE_VECTORS = "affine_vectors"
    OWN_VECTORS = "own_vectors"


class Setting(StrEnum):
    """Settings of a run that the numbers of some tables depend on, and of others not.

    The sequences that checks of robustness read, those of them that are run again with parts of the
    model replaced, the sequences whose relevance maps are kept, and the files of word frequencies
    and of word vectors.
    """

    CHECKED = "checked"
    RUN_AGAIN = "run_again"
    KEPT = "kept"
    FREQUENCIES = "frequencies"
    WORD_VECTORS = "word_vectors"


OF_TEXTS = (Need.PAIRS, Need.FREQUENCY, Need.RELATIONS)
"""Needs that every text meets and no image: words that pair up, recur and relate to each other."""
OF_MODELS = tuple(Need)[tuple(Need).index(Need.IMAGES) :]
TRANSFORMS = ("affine", "latent", "gated")
"""Kinds of f(x): an affine map of the token; a map with a norm inside; one that a gate of the query
scales."""
KNOWS_PLACES_BY = ("added", "turned", "patches", "distance")
"""Sources of position in a model: vectors added to its input; queries and keys rotated by token
places, or by patch rows and columns; terms of the distance between tokens in the scores."""

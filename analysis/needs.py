"""What a statistic needs beyond tokens and attention; its table says which of these."""

from enum import StrEnum


class Need(StrEnum):
    """Of a corpus: trees to relations; of a model: images, which it reads, classes, and positions
    that are added to its input as vectors, or by which its queries and keys are turned, terms of
    distances in its scores, or either of these two, from which kernels follow; offsets along the
    order of tokens, scores that queries and keys make alone, and gates in its networks.
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
    GATES = "gates"


class Setting(StrEnum):
    """Settings of a run that the numbers of some tables depend on, and of others not.

    The rule for gated networks, the sequences whose relevance maps are kept, and the files of word
    frequencies and of word vectors.
    """

    GATE_RULE = "gate_rule"
    KEPT = "kept"
    FREQUENCIES = "frequencies"
    WORD_VECTORS = "word_vectors"


OF_TEXTS = (Need.PAIRS, Need.FREQUENCY, Need.RELATIONS)
"""What every text has and no image: words that pair up, recur and relate to each other."""
OF_MODELS = (
    Need.IMAGES,
    Need.CLASSES,
    Need.ADDED_POSITIONS,
    Need.TURNED_POSITIONS,
    Need.DISTANCE_TERMS,
    Need.KERNELS,
    Need.OFFSETS,
    Need.OWN_SCORES,
    Need.GATES,
)
KNOWS_PLACES_BY = ("added", "turned", "patches", "distance")
"""How a model knows places: by vectors that are added to its input, by queries and keys that are
turned by the places of tokens or by the rows and columns of patches, or by what scores have of the
distance between tokens."""

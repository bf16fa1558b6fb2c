"""A corpus that is about to be read: sequence by sequence, from any of them on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from precompute.corpora.sequence import Sequence


@dataclass(frozen=True)
class Reading:
    """What a model makes of a corpus, as it is asked for.

    `settings` is everything that the sequences depend on, and `begin` reads them, the first of them
    left out as told. `sha256` is that of the corpus, once all of it is read, and `revisions` are
    the commits of what is of the hub.

    `counts` says what reading did to the text: `truncated` (sequences that were cut to fit),
    `unpaired` (paragraphs that stand alone for want of a partner), `too_short` (ends of documents
    left out because they hold too little to be packed); of annotated corpora `too_long` (sentences
    left out because they do not fit), `mentions_cut` (mentions left out because they cross the edge
    of a window), `mentions_without_words_left_out` (because they hold empty nodes alone),
    `heads_by_tree`, `heads_by_tag` and `heads_by_word` (mentions whose head follows from that),
    `sentences_by_rule` (sentences whose ends the file does not mark); of rows `blank_rows_left_out`
    and `malformed_rows_left_out`, of tokens `padding_tokens_left_out`; of images `images_left_out`
    and `masks_left_out` (they cannot be read, or do not fit each other).
    """

    name: str
    settings: Mapping[str, object]
    begin: Callable[[int], Iterator[Sequence]]
    sha256: Callable[[], str]
    counts: Counter[str] = field(default_factory=Counter)
    is_images: bool = False
    revisions: tuple[str, ...] = ()

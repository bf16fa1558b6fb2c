"""A corpus before it is read: sequence by sequence, from any index on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from precompute.corpora.sequence import Sequence


@dataclass(frozen=True)
class Reading:
    """Settings and start of reading a corpus for a model.

    `settings` holds everything that the sequences depend on. `begin` reads the sequences from an
    index on. `sha256` is that of the corpus, once all of it is read. `revisions` are the commits of
    files from the hub, `form` is the recognised form of a text corpus.

    `counts` holds the changes to the text: `truncated` (sequences that were cut to fit), `unpaired`
    (paragraphs without a partner), `too_short` (ends of documents left out because they are too
    short to be packed); of annotated corpora `too_long` (sentences left out because they do not
    fit), `mentions_cut` (mentions left out because they cross the edge of a window),
    `mentions_without_words_left_out` (because they hold empty nodes alone), `coreference_left_out`
    (documents whose sentences alone are read), `heads_by_tree`, `heads_by_tag` and `heads_by_word`
    (mentions by the source of their heads), `sentences_by_rule` (sentences whose ends the
    file does not mark); of rows `blank_rows_left_out` and `malformed_rows_left_out`, of tokens
    `padding_tokens_left_out`; of images `images_left_out` and `masks_left_out` (unreadable, or not
    fitting each other).
    """

    name: str
    settings: Mapping[str, object]
    begin: Callable[[int], Iterator[Sequence]]
    sha256: Callable[[], str]
    counts: Counter[str] = field(default_factory=Counter)
    is_images: bool = False
    revisions: tuple[str, ...] = ()
    form: str = ""

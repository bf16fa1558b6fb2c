"""Documents with annotated words, their windows, and the mentions along their words.

A window is a single sentence, or as many as fit. Mentions have brackets, a head word and a kind. A
tree shows the head. Without one, the head is the last noun before the words that follow the core
(`of …`, `, who …`), found by parts of speech, or by a list of words if these are unknown. Against
the trees of GUM, with the mentions of OntoGUM, the two rules find the head in 92% and 91% of the
mentions and the kind in 98% and 95%. Most of the others are names: a treebank makes the first word
the head, the rules the last. The lists are English: in other languages the last word is the head,
and capital letters alone mark names.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import BadCorpus
from precompute.corpora.left_out import UnreadCoreference
from precompute.corpora.sequence import ROOT, Annotation, Entry, Mention, MentionKind
from precompute.corpora.source import Line, span
from precompute.corpora.tokenizing.encoded import room_for
from precompute.corpora.tokenizing.kind import word_pieces
from precompute.corpora.wording import shown

_PLACEHOLDER = re.compile(r"\[\w+\]|<\w+>|[Xx]+")


@dataclass(frozen=True, kw_only=True)
class Sentence(Annotation):
    """A sentence by itself, from its `first` to its `last` line."""

    sentences: tuple[int, ...] = ()
    first: Line
    last: Line


def joined(sentences: SequenceOf[Sentence], mentions: tuple[Mention, ...] = ()) -> Annotation:
    """Join several sentences into one; without a tree if one of them has none."""
    governors: list[int] = []
    for sentence in sentences:
        start = len(governors)
        of_sentence = sentence.governors or (ROOT,) * len(sentence)
        governors += [ROOT if governor == ROOT else start + governor for governor in of_sentence]
    relations = tuple(label for sentence in sentences for label in sentence.relations or ())
    trees = all(sentence.governors is not None for sentence in sentences)
    return Annotation(
        forms=tuple(form for sentence in sentences for form in sentence.forms),
        spaces=tuple(space for sentence in sentences for space in sentence.spaces),
        sentences=tuple(n for n, sentence in enumerate(sentences) for _ in sentence.forms),
        governors=tuple(governors) if trees else None,
        relations=relations if trees else None,
        parts_of_speech=tuple(part for sentence in sentences for part in sentence.parts_of_speech),
        features=tuple(feature for sentence in sentences for feature in sentence.features),
        mentions=mentions,
    )


def check_words(forms: SequenceOf[str], line: Line) -> None:
    """Raise BadCorpus if placeholders replace all words, as in corpora without a licence for them.

    Placeholders are underscores, one or as many as a word has letters; and `[WORD]`, `<unk>` or
    `XXX` in sentences of several words.
    """
    first = forms[0]
    is_one_form = len(forms) > 1 and set(forms) == {first}
    if all(set(form) == {"_"} for form in forms) or (is_one_form and _PLACEHOLDER.fullmatch(first)):
        raise line.refused(
            f"{shown(first)} stands for every word, as where words may not be passed on; put them "
            "back first with the script of whoever made the corpus (those of OntoNotes are the "
            "LDC's)"
        )


@dataclass(frozen=True)
class Document:
    """Successive sentences and their mentions, whose words count from the document's start.

    `bears_coreference` is True for a document annotated with coreference, even without mentions.
    `heads_by` names the source of the mentions' heads and kinds. `sentences_by_rule` is True if our
    rule splits sentences, not the file. `mentions_without_words` counts the mentions that are left
    out because they hold empty nodes alone.
    """

    sentences: tuple[Sentence, ...]
    mentions: tuple[Mention, ...] = ()
    bears_coreference: bool = False
    heads_by: Literal["tree", "tag", "word"] = "tree"
    sentences_by_rule: bool = False
    mentions_without_words: int = 0

    @property
    def n_rows(self) -> int:
        """Return the number of rows: of sentences, or 1 if mentions bind the document together."""
        return 1 if self.bears_coreference else len(self.sentences)

    def begun_before(self, word: int) -> int:
        """Return the number of mentions that begin before a word, by their order in the text."""
        return bisect_left(self.mentions, word, key=lambda mention: mention.first)

    @cached_property
    def last_words(self) -> list[int]:
        """Return the last word of each mention, in their own order."""
        return sorted(mention.last for mention in self.mentions)


def windows(
    documents: Iterable[Document],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    by_sentence: bool,
    counts: Counter[str],
) -> Iterator[Entry]:
    """Yield single sentences of treebanks, and windows of documents with coreference, unless these
    are read `by_sentence` too.

    A window holds as many sentences as fit. A sentence that does not fit is left out, and the
    windows end before it and begin after it. Mentions that cross the edge of a window are left out.
    """
    room = room_for(1, tokenizer, max_tokens)
    counts.update(too_long=0, coreference_left_out=0)
    for number, document in enumerate(documents):
        alone = by_sentence or not document.bears_coreference
        sizes = [_n_pieces(sentence, tokenizer, room) for sentence in document.sentences]
        following = [
            _n_pieces(sentence, tokenizer, room, space=before.spaces[-1])
            for before, sentence in pairwise((document.sentences[0], *document.sentences))
        ]
        counts["too_long"] += sum(size > room for size in sizes)
        counts["mentions_without_words_left_out"] += document.mentions_without_words
        # where each sentence begins among the words of the document, and where the last one ends
        starts = [0, *accumulate(map(len, document.sentences))]
        for run in _runs(sizes, following, room=1 if alone else room, limit=room):
            window = _window(document, run, starts, counts)
            yield window if alone else replace(window, document=number)


def _n_pieces(sentence: Sentence, tokenizer: Tokenizer, room: int, *, space: bool = False) -> int:
    """Count the tokens of a sentence; if it has too many words return their number instead."""
    if len(sentence) > room:
        return len(sentence)
    place = span(sentence.first, sentence.last)
    pieces = word_pieces(sentence.forms, sentence.spaces, tokenizer, place=place, space=space)
    return sum(map(len, pieces))


def _runs(sizes: list[int], following: list[int], *, room: int, limit: int) -> Iterator[range]:
    """Yield ranges of sentences for one window: until `room` is full, none of more than `limit`.

    `following` holds the sizes of sentences whose first word begins with the space before it.
    """
    first, filled = 0, 0
    for place, size in enumerate(sizes):
        if place > first and (filled + following[place] > room or size > limit):
            yield range(first, place)
            first, filled = place, 0
        if size > limit:
            first = place + 1
        else:
            filled += following[place] if place > first else size
    if first < len(sizes):
        yield range(first, len(sizes))


def _window(document: Document, run: range, starts: list[int], counts: Counter[str]) -> Entry:
    sentences = document.sentences[run.start : run.stop]
    first, end = starts[run.start], starts[run.stop]
    begun, ended = document.begun_before(end), bisect_left(document.last_words, end)
    inside = document.mentions[document.begun_before(first) : begun]
    kept = [mention for mention in inside if mention.last < end]
    counts["mentions_cut"] += begun - ended
    if document.bears_coreference:
        counts[f"heads_by_{document.heads_by}"] += len(kept)
    if document.sentences_by_rule:
        counts["sentences_by_rule"] += len(sentences)
    shifted = (
        replace(of, first=of.first - first, last=of.last - first, head=of.head - first)
        for of in kept
    )
    known = joined(sentences, tuple(shifted))
    return Entry(span(sentences[0].first, sentences[-1].last), annotation=known)


_ITEM = re.compile(r"\|?(?:\((?P<whole>[^()|]+)\)|\((?P<opens>[^()|]+)|(?P<closes>[^()|]+)\))")
MOST_OPEN = 500


class Bracketed(NamedTuple):
    """Words from `first` to `last`, the bracket's name, and `label`, the rest of its opening."""

    first: int
    last: int
    name: str
    label: str


def bracket_items(value: str, *, place: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the brackets in one column, in order: `(1(2)`, `3)` or `(1|3)`."""
    end = 0
    while end < len(value):
        match = _ITEM.match(value, end)
        if not match:
            raise BadCorpus(
                place, f"{shown(value)} is no run of brackets; write (1, 1) or (1), as in (1(2)3)"
            )
        end = match.end()
        kind = str(match.lastgroup)
        yield kind, match[kind]


def clusters(names: Iterable[str]) -> dict[str, int]:
    """Number each name that occurs more than once; single mentions have no number."""
    n_of = Counter(names)
    return {name: number for number, name in enumerate(n for n in n_of if n_of[n] > 1)}


@dataclass
class Brackets:
    """The brackets of one document. Brackets of one name close the last opened first."""

    _open: dict[str, list[tuple[int, str, Line]]] = field(default_factory=lambda: defaultdict(list))
    _found: list[Bracketed] = field(default_factory=list)
    _n_open: int = 0

    def add(self, kind: str, name: str, word: int, line: Line, *, label: str = "") -> None:
        """Open a bracket, close one, or do both."""
        waiting = self._open[name]
        if kind != "closes":
            self._n_open += 1
            if self._n_open > MOST_OPEN:
                raise line.refused(f"more than {MOST_OPEN} mentions are open at once; close them")
            waiting.append((word, label, line))
        if kind == "opens":
            return
        if not waiting:
            raise line.refused(f"{shown(f'{name})')} closes what is not open; open it with ({name}")
        first, label, _ = waiting.pop()
        self._n_open -= 1
        self._found.append(Bracketed(first, word, name, label))

    def all_closed(self) -> list[Bracketed]:
        """Return all brackets in the order of the words, the longer first, without duplicates."""
        for name, waiting in self._open.items():
            for _, _, line in waiting:
                raise line.refused(f"{shown(f'({name}')} is never closed; close it with {name})")
        return sorted(
            set(self._found), key=lambda bracket: (bracket.first, -bracket.last, bracket.name)
        )


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOUNS = _listed("NN NNS NNP NNPS PRP CD FW WP NOUN PROPN PRON NUM")
_AFTER_CORE = _listed(
    ": , . `` '' -LRB- CC EX IN MD RB TO VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB "
    "ADP ADV AUX CCONJ PUNCT SCONJ VERB"
)
_PRONOUN_TAGS = _listed("PRON PRP PRP$ WP WP$ DT EX")
_PROPER_TAGS = _listed("PROPN NNP NNPS")
_PRONOUNS = _listed(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his "
    "himself she her hers herself it its itself they them their theirs themselves themself this "
    "that these those who whom whose which oneself"
)
_AFTER_CORE_WORDS = _listed(
    "about after against among and around as at before between by during for from in including "
    "into like near of on or over since than that through to under when where which who whom whose "
    "with within without"
)
_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})
_MARK = re.compile(r"(?!-$|–$)\W+")


def head_by_tree(
    first: int, last: int, governors: SequenceOf[int], *, preferred: SequenceOf[int] = ()
) -> int:
    """The word whose governor stands outside the mention.

    If there are several, the first of them that is preferred, else the first.
    """
    words = range(first, last + 1)
    tops = [word for word in words if governors[word] not in words]
    return next((word for word in preferred if word in tops), tops[0])


def head_by_tag(first: int, last: int, tags: SequenceOf[str]) -> int:
    """Return the last noun before the words that follow the core, by Penn Treebank tags or UPOS."""
    nouns = (word for word in range(first, last + 1) if tags[word] in _NOUNS)
    core = next(nouns, last)
    rest = (word for word in range(core + 1, last + 1) if tags[word] in _AFTER_CORE)
    end = next(rest, last + 1)
    return next((word for word in range(end - 1, core, -1) if tags[word] in _NOUNS), core)


def head_by_word(first: int, last: int, words: SequenceOf[str]) -> int:
    """Return the last word before the words that follow the core, by a list of English words."""
    end = next(
        (
            word
            for word in range(first + 1, last + 1)
            if words[word].lower() in _AFTER_CORE_WORDS
            or (_MARK.fullmatch(words[word]) and words[word] not in _POSSESSIVE)
        ),
        last + 1,
    )
    head = end - 1
    while head > first and words[head].lower() in _POSSESSIVE:
        head -= 1
    return head


def kind_by_tag(tag: str) -> MentionKind:
    """The kind of a mention by the part of speech of its head."""
    if tag in _PRONOUN_TAGS:
        return "pronoun"
    return "proper" if tag in _PROPER_TAGS else "nominal"


def kind_by_word(word: str, *, alone: bool, begins_sentence: bool) -> MentionKind:
    """Return the kind of a mention by its head; pronouns have no other word beside them.

    Capitals at the beginning of a sentence show no name.
    """
    if alone and word.lower() in _PRONOUNS:
        return "pronoun"
    return "proper" if word[:1].isupper() and not begins_sentence else "nominal"


_HEADER = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_PART = re.compile(r"\[[0-9]+/[0-9]+\]")
_NUMBERED = re.compile(r"e?[0-9]+(?:\[[0-9]+/[0-9]+\])?")
_OLDER_NAMES = {"coref_type": "link", "MIN": "minspan"}
_NO_MENTIONS = frozenset({"appos", "pred", "sgl"})
"""Links of GUM that the coreference of OntoNotes lacks: appositions belong to the mention they
explain, predicates of a thing are no mention of it, and single mentions have nothing to corefer
with."""


def entity_fields(comments: Iterable[Line]) -> tuple[str, ...]:
    """The fields of a document's mentions, as one of its comments names them; () if none does."""
    matches = (_HEADER.match(line.text) for line in comments)
    return next((tuple(match[1].split("-")) for match in matches if match), ())


class _Span(NamedTuple):
    """The words of a mention from `first` to `last`, none if `last` is the smaller one, and those
    that its opening bracket names as its head."""

    first: int
    last: int
    name: str
    heads: tuple[int, ...]


@dataclass
class Entities:
    """The mentions of a CoNLL-U document, from `Entity=` in MISC in the form of GUM and CorefUD.

    A comment names the fields of opening brackets, as `# global.Entity = GRP-etype-…-link-…`. One
    of them names the entity; without a comment, the first or second that is a number in every
    bracket. Brackets count words and empty nodes; a mention that begins or ends on an empty node
    holds the words in between.
    """

    _fields: tuple[str, ...] = ()
    _words_before: list[int] = field(default_factory=lambda: [0])
    _values: list[tuple[int, str, Line]] = field(default_factory=list)
    n_without_words: int = 0

    @property
    def are_there(self) -> bool:
        """Return True if the document has brackets, well-formed or not."""
        return bool(self._values)

    def add(self, value: str, line: Line, *, fields: tuple[str, ...], is_word: bool) -> None:
        """Add the `Entity=` of the next word or empty node; empty if it has none."""
        node = len(self._words_before) - 1
        self._words_before.append(self._words_before[node] + is_word)
        if value:
            self._values.append((node, value, line))
            self._fields = fields

    def _brackets(self) -> list[Bracketed]:
        brackets = Brackets()
        items: list[tuple[int, Line, str, str]] = [
            (node, line, kind, text)
            for node, value, line in self._values
            for kind, text in bracket_items(value, place=line.place)
        ]
        place = self._place_of_name([text for _, _, kind, text in items if kind != "closes"])
        for node, line, kind, text in items:
            parts = text.split("-")
            if kind != "closes" and len(parts) <= place:
                raise line.refused(f"{shown(text)} lacks field {place + 1}, which names the entity")
            name = _PART.sub("", parts[min(place, len(parts) - 1)])
            brackets.add(kind, name, node, line, label=text)
        return brackets.all_closed()

    def _place_of_name(self, openings: list[str]) -> int:
        """Return the place of the field that names the entity."""
        if self._fields:
            places = [
                place
                for place, name in enumerate(self._fields)
                if name in frozenset({"GRP", "eid"})
            ]
        else:
            parts = [opening.split("-") for opening in openings]
            places = [
                place
                for place in (0, 1)
                if all(len(of) > place and _NUMBERED.fullmatch(of[place]) for of in parts)
            ]
        if places:
            return places[0]
        header = f"`# global.Entity = {'-'.join(self._fields)}` names no field GRP or eid, and so"
        raise BadCorpus(
            self._values[0][2].file,
            f"{header if self._fields else 'no comment `# global.Entity = …` is there, and'} "
            "nothing tells which mentions are of one entity; call its field GRP or eid there",
        )

    def mentions(self, sentences: SequenceOf[Sentence]) -> tuple[Mention, ...]:
        """Return the mentions that corefer with another one of the document.

        Discontinuous ones (`[1/2]`) are left out; so are those of empty nodes alone, which are
        counted. Brackets that do not match, or name no entity, are an `UnreadCoreference`.
        """
        try:
            closed = self._brackets()
        except BadCorpus as error:
            raise UnreadCoreference(error) from error
        spans = [
            self._span(bracket)
            for bracket in closed
            if not _PART.search(bracket.label)
            and _NO_MENTIONS.isdisjoint(
                [self._attribute(bracket, "link")] if self._fields else bracket.label.split("-")
            )
        ]
        spans.sort(key=lambda span: (span.first, -span.last, span.name))
        there = [span for span in spans if span.first <= span.last]
        named = clusters(span.name for span in spans)
        self.n_without_words = sum(span.name in named for span in spans if span.last < span.first)
        cluster_of, words = clusters(span.name for span in there), joined(sentences)
        return tuple(
            _mention(words, span, cluster_of[span.name])
            for span in there
            if span.name in cluster_of
        )

    def _span(self, mention: Bracketed) -> _Span:
        before, heads = self._words_before, self._heads(mention)
        return _Span(before[mention.first], before[mention.last + 1] - 1, mention.name, heads)

    def _attribute(self, mention: Bracketed, name: str) -> str:
        """Return a field of a mention's opening bracket by its name; empty if it has none."""
        names = (_OLDER_NAMES.get(field, field) for field in self._fields)
        fields = dict(zip(names, mention.label.split("-", len(self._fields) - 1), strict=False))
        return fields.get(name, "")

    def _heads(self, mention: Bracketed) -> tuple[int, ...]:
        """The words that are named as a mention's head: `minspan` counts words from its first on,
        `head` empty nodes as well."""
        before = self._words_before
        if words := self._attribute(mention, "minspan"):
            return tuple(before[mention.first] + place - 1 for place in _places(words))
        nodes = [mention.first + place - 1 for place in _places(self._attribute(mention, "head"))]
        known = (node for node in nodes if 0 <= node < len(before) - 1)
        return tuple(before[node] for node in known if before[node] < before[node + 1])


def _places(listed: str) -> list[int]:
    return [int(place) for place in listed.split(",") if place.isdigit()]


def _mention(words: Annotation, span: _Span, cluster: int) -> Mention:
    first, last, parts = span.first, span.last, words.parts_of_speech
    if words.governors is not None:
        head = head_by_tree(first, last, words.governors, preferred=span.heads)
    else:
        heads = [word for word in span.heads if first <= word <= last]
        head = heads[0] if heads else head_by_tag(first, last, parts)
    return Mention(first, last, head, cluster, kind_by_tag(parts[head]))

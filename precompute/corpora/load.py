"""Reading of a corpus on disk for one model, or into JSON Lines.

Plain text (a paragraph or sentence per line, blank lines between documents) becomes entries in one
of three ways: paragraphs paired with the next, sentences packed to length, or one stream cut where
it is full.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.errors import BadCorpus, UnknownName, UserError
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.annotated.coreference_columns import column_documents
from precompute.corpora.annotated.documents import windows
from precompute.corpora.encode import Encoder, check_masking, masked
from precompute.corpora.images.pictures import holds_images
from precompute.corpora.index.corpus import Reading
from precompute.corpora.left_out import BlankRow, LeftOut, check_some_tokens, is_blank
from precompute.corpora.recognition import NAMES, one_format_of
from precompute.corpora.sequence import Entry, generator
from precompute.corpora.sequence import Sequence as Input
from precompute.corpora.source import DEMO_DIGITS, Line, Source, numbered_lines, source_of, span
from precompute.corpora.texts import rows
from precompute.corpora.texts.rows import TEXT, Row
from precompute.corpora.texts.unlabeled_pickle import pickle_rows
from precompute.corpora.tokenizing.encoded import framed, room_for
from precompute.corpora.tokenizing.kind import line_pieces
from precompute.corpora.wording import file_name, shown
from precompute.models.identity import reader_settings
from precompute.models.load_models import load_tokenizer

LEAST_PIECES = 2


def documents(path: Path) -> Iterator[list[Line]]:
    """Yield groups of lines between blank lines, in the file's order: one group is one document."""
    runs = groupby(numbered_lines(path), key=lambda line: is_blank(line.text))
    return (list(lines) for blank, lines in runs if not blank)


def paired(documents: Iterable[list[Line]], *, counts: Counter[str]) -> Iterator[Entry]:
    """Yield consecutive paragraphs of one document as pairs, each paragraph in one entry."""
    for number, document in enumerate(documents):
        for first, second in zip(document[::2], document[1::2], strict=False):
            yield Entry(span(first, second), (first.text, second.text), document=number)
        if len(document) % 2:
            counts["unpaired"] += 1
            yield Entry(document[-1].place, (document[-1].text,), document=number)


def packed(
    documents: Iterable[list[Line]],
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    seed: int,
    segment_types: int,
    counts: Counter[str],
) -> Iterator[Entry]:
    """Spans of neighbouring sentences, cut in two at random and filled up to `max_tokens`.

    Lines of one document are collected until their word pieces fill a sequence; where the first
    text ends is drawn among the ends of lines (within a line if no end of a line leaves two pieces
    on either side); single pieces are then dropped from the front or the back of the longer text.
    No piece stands in two entries.

    Args:
        segment_types: how many the model has; with fewer than two, every segment id is 0.

    Source:
        clark-2019, section 2; the lengths, the cut and the dropping are those of its released code.

    Differs:
        The entries keep the order of the text; each draws from a generator of its own.
    """
    room, index = room_for(2, tokenizer, max_tokens), 0
    for number, document in enumerate(documents):
        for collected in _filled(document, tokenizer, room):
            if _n_pieces(collected) < 2 * LEAST_PIECES:
                counts["too_short"] += 1
                continue
            draws = generator(seed, purpose="packing", index=index)
            sides = _dropped(*_cut(collected, draws), room, draws)
            tokens, segments = framed(sides, tokenizer)
            segments = segments if segment_types > 1 else (0,) * len(tokens)
            counts["truncated"] += _n_pieces(collected) > room
            place = span(collected[0].line, collected[-1].line)
            yield Entry(place, tokens=tokens, segments=segments, document=number)
            index += 1


class _Collected(NamedTuple):
    line: Line
    pieces: list[str]


def _n_pieces(collected: list[_Collected]) -> int:
    return sum(len(line.pieces) for line in collected)


def _filled(document: list[Line], tokenizer: Tokenizer, room: int) -> Iterator[list[_Collected]]:
    """Yield groups of lines that fill a sequence; the last one of a document may be shorter."""
    collected: list[_Collected] = []
    for line in document:
        pieces = line_pieces(line.text, tokenizer, goes_on=bool(collected))
        check_some_tokens(len(pieces), line.text, place=line.place)
        collected.append(_Collected(line, pieces))
        if _n_pieces(collected) >= room:
            yield collected
            collected = []
    if collected:
        yield collected


def _cut(collected: list[_Collected], draws: np.random.Generator) -> tuple[list[str], list[str]]:
    """The pieces before and after a point drawn at random."""
    pieces = [piece for line in collected for piece in line.pieces]
    within = range(LEAST_PIECES, len(pieces) - LEAST_PIECES + 1)
    ends_of_lines = accumulate(len(line.pieces) for line in collected)
    end = int(draws.choice([end for end in ends_of_lines if end in within] or within))
    return pieces[:end], pieces[end:]


def _dropped(
    first: list[str], second: list[str], room: int, draws: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Both texts, shortened piece by piece until they fit."""
    sides = deque(first), deque(second)
    for _ in range(len(first) + len(second) - room):
        longer = sides[0] if len(sides[0]) > len(sides[1]) else sides[1]
        if draws.random() < 0.5:
            longer.popleft()
        else:
            longer.pop()
    return list(sides[0]), list(sides[1])


def blocks(
    documents: Iterable[list[Line]], tokenizer: Tokenizer, *, max_tokens: int, counts: Counter[str]
) -> Iterator[Entry]:
    """Yield texts of exactly `max_tokens` tokens, special ones included, across blank lines.

    Each is a window of the document in which it begins. Tokens after the last full one are left.

    Source:
        yamamoto-2023, section 3.1, whose texts are all 512 tokens long.
    """
    room = room_for(1, tokenizer, max_tokens)
    held: deque[tuple[str, int, Line]] = deque()
    lines = ((number, line) for number, document in enumerate(documents) for line in document)
    for index, (number, line) in enumerate(lines):
        of_line = line_pieces(line.text, tokenizer, goes_on=index > 0)
        check_some_tokens(len(of_line), line.text, place=line.place)
        held.extend((piece, number, line) for piece in of_line)
        while len(held) >= room:
            block = [held.popleft() for _ in range(room)]
            pieces, documents_of, lines_of = zip(*block, strict=True)
            tokens, segments = framed((list(pieces),), tokenizer)
            yield Entry(
                span(lines_of[0], lines_of[-1]),
                tokens=tokens,
                segments=segments,
                document=documents_of[0],
            )
    counts["too_short"] += bool(held)


TREES = "trees"
TEXT_PACKINGS = ("paragraphs", "sentences", "blocks")
PACKINGS = (*TEXT_PACKINGS, TREES)
READERS: Mapping[str, Callable[[Path, str], Iterator[Row]]] = {
    "arrow": rows.arrow_rows,
    "csv": rows.table_rows,
    "json": rows.json_list_rows,
    "jsonl": rows.jsonl_rows,
    "parquet": rows.parquet_rows,
    "pickle": pickle_rows,
    "tsv": rows.table_rows,
}
_COUNTED = (
    *("truncated", "unpaired", "too_short"),
    *("blank_rows_left_out", "malformed_rows_left_out", "padding_tokens_left_out"),
)
Read = TypeVar("Read")
ANNOTATED = {"conllu": conllu_documents, "coreference": column_documents}


def read_corpus(
    given: str | Sequence[str],
    tokenizer: Tokenizer,
    *,
    positions: int,
    segment_types: int,
    is_causal: bool = False,
    max_tokens: int = 128,
    limit: int | None = None,
    mask_rate: float = 0.0,
    seed: int = 0,
    packing: str = "paragraphs",
    column: str = TEXT,
) -> Reading:
    """Read a corpus, given by names, with a model's tokenizer.

    Args:
        given: a path of a file or a folder, several of them, or the name of a bundled corpus.
        positions, segment_types, is_causal, max_tokens: as `Encoder` takes them.
        limit: number of sequences to keep, from the first on; None keeps all.
        mask_rate: the share of tokens replaced by the mask token.
        packing: unit that plain text is packed into (`PACKINGS`); other formats define their own,
            but `trees` reads every sentence of an annotated corpus alone.
        column: the key or column of the texts, where rows have several.
    """
    check_limit(limit)
    check_masking(tokenizer, mask_rate)
    of_model = {"positions": positions, "segment_types": segment_types, "is_causal": is_causal}
    encoder = Encoder(tokenizer, max_tokens=max_tokens, **of_model)
    counts = Counter(dict.fromkeys(_COUNTED, 0))
    source = source_of(given)
    cut: dict[str, Any] = {"max_tokens": max_tokens, "limit": limit, "seed": seed}
    cut |= {"packing": packing} | ({} if column == TEXT else {"column": column})
    of_text = {"tokenizer": tokenizer, "segment_types": segment_types}
    all_entries = entries(source, left_out=LeftOut(counts), **of_text, **cut)
    settings = {
        "files": source.sha256,
        "names": [file_name(file) for file in source.files],
        "reader": reader_settings(tokenizer),
        "mask_rate": mask_rate,
        **of_model,
        **cut,
    }

    def begin(first: int) -> Iterator[Input]:
        wanted = islice(all_entries, first, None)
        for sequence in encoder.sequences(wanted, counts=counts, first=first):
            yield masked(sequence, tokenizer, rate=mask_rate, seed=seed)
        source.check_unchanged()

    return Reading(
        source.name,
        settings,
        begin,
        lambda: source.sha256,
        counts,
        revisions=source.revisions,
        form=NAMES[one_format_of(source.files)],
    )


def check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise UserError(
            f"--limit is {limit}; it must be at least 1, or left out to read the whole corpus."
        )


def entries(
    given: str | Sequence[str] | Source,
    *,
    packing: str = "paragraphs",
    column: str = TEXT,
    tokenizer: Tokenizer | None = None,
    max_tokens: int = 128,
    segment_types: int = 2,
    seed: int = 0,
    limit: int | None = None,
    left_out: LeftOut | None = None,
) -> Iterator[Entry]:
    """Yield the entries of a corpus in its order, as `read_corpus` reads them.

    Args:
        given: or its files, where they are known.
        tokenizer: needed to pack sentences, to cut blocks, and for annotated corpora; `max_tokens`,
            `segment_types` and `seed` apply to these alone. Without a tokenizer padding stays.
        left_out: collects unusable rows; its counts also grow by the changes of packing.
    """
    if packing not in PACKINGS:
        raise UnknownName("packing", packing, PACKINGS)
    source = given if isinstance(given, Source) else source_of(given)
    left_out = left_out or LeftOut()
    form, texts = one_format_of(source.files), _each(documents, source.files)
    counts = left_out.counts
    if column != TEXT and form not in {*READERS} - {"pickle"}:
        raise UserError(
            f"--column names the column of the texts in JSON, CSV, TSV, Parquet or Arrow, and "
            f"{source.name} is {NAMES[form]}. Leave --column out."
        )
    if form in ANNOTATED:
        if tokenizer is None:
            raise UserError(
                "A treebank or coreference corpus is cut by a model's word pieces, and JSON Lines "
                "has no place for its annotation: give the file itself as --corpus of a run."
            )
        all_documents = _each(ANNOTATED[form], source.files)
        all_entries = windows(
            left_out.usable(all_documents, lambda of: of, lambda document: document.n_rows),
            tokenizer,
            max_tokens=max_tokens,
            by_sentence=packing == TREES,
            counts=counts,
        )
    elif packing == TREES:
        raise UserError(
            f"--packing {TREES} reads the sentences of a treebank, and {source.name} is none; "
            "give a CoNLL-U file, or leave --packing out."
        )
    elif form != "paragraphs":

        def entry(row: Row) -> Entry:
            found = rows.entry_of(row[1], row[0], column=column)
            return found if tokenizer is None else without_padding(found, tokenizer, counts=counts)

        all_rows = _each(lambda path: READERS[form](path, column), source.files)
        all_entries = left_out.usable(all_rows, entry)
    elif packing == "paragraphs":
        all_entries = paired(texts, counts=counts)
    elif tokenizer is None:
        raise UserError(
            f"--packing {packing} cuts the text by a model's word pieces; name the model with "
            "--model, or use --packing paragraphs."
        )
    elif packing == "blocks":
        all_entries = blocks(texts, tokenizer, max_tokens=max_tokens, counts=counts)
    else:
        sizes = {"max_tokens": max_tokens, "segment_types": segment_types}
        all_entries = packed(texts, tokenizer, seed=seed, counts=counts, **sizes)
    return left_out.at_least_one(islice(all_entries, limit), source.name)


def _each(reader: Callable[[Path], Iterator[Read]], files: Sequence[Path]) -> Iterator[Read]:
    return chain.from_iterable(map(reader, files))


def without_padding(entry: Entry, tokenizer: Tokenizer, *, counts: Counter[str]) -> Entry:
    """Return the entry without padding around its tokens, as if a mask had hidden it."""
    if not entry.tokens:
        return entry
    frames = (tokenizer.bos_token, tokenizer.eos_token, tokenizer.cls_token, tokenizer.sep_token)
    for end in (entry.tokens[:2], entry.tokens[-2:]):
        if len(end) == 2 and end[0] == end[1] and end[0] in frames:
            raise BadCorpus(
                entry.place,
                f"begins or ends with {shown(end[0])} several times, as padded batches do; leave "
                "the padding out",
            )
    pad = tokenizer.pad_token
    if pad in (None, tokenizer.unk_token, *frames):
        return entry
    read = [place for place, token in enumerate(entry.tokens) if token != pad]
    if not read:
        raise BlankRow(entry.place, f"holds nothing but padding, {shown(pad)}")
    kept = slice(read[0], read[-1] + 1)
    tokens = entry.tokens[kept]
    if pad in tokens:
        raise BadCorpus(
            entry.place,
            f"token {read[0] + tokens.index(pad) + 1} is {shown(pad)}, padding between tokens, "
            "which the model would read; leave it out",
        )
    counts["padding_tokens_left_out"] += len(entry.tokens) - len(tokens)
    return replace(entry, tokens=tokens, segments=entry.segments and entry.segments[kept])


def convert_corpus(corpus: list[str], output: Path, *, model: str | None, **settings: Any) -> int:
    """Write the corpus's entries as JSON Lines; return their number."""
    for name in corpus:
        if name == DEMO_DIGITS or (Path(name).is_dir() and holds_images(Path(name))):
            raise BadCorpus(
                name,
                "holds images, which JSON Lines has no place for; give the folder itself as "
                "--corpus of a run",
            )
    tokenizer = load_tokenizer(model) if model else None
    source = source_of(corpus)
    print(f"{source.name} is read as {NAMES[one_format_of(source.files)]}.")
    return rows.write_jsonl(entries(source, tokenizer=tokenizer, **settings), output)

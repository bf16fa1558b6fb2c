"""JSON: a value per line, or one list of values.

A value is an object, {"text": …}, {"text_a": …, "text_b": …}, or {"tokens": […], "segments": […]}
with segments optional; or a string, which is a text; or a list of tokens. Other keys, such as a
title, are allowed and not read. If the option names another key of texts, only that one is read.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from analysis.errors import BadCorpus, UserError
from precompute.corpora.checks import checked_segments, checked_text, checked_tokens
from precompute.corpora.sequence import Entry
from precompute.corpora.source import Line, numbered_lines
from precompute.corpora.wording import file_name, listed, shown

FORMS = ({"text"}, {"text_a", "text_b"}, {"tokens"}, {"tokens", "segments"})
TEXT = "text"
LARGEST_LIST = 2**28
"""Largest number of letters of a JSON list, which is held in memory as a whole."""
FORM_KEYS = set[str]().union(*FORMS)
Row = tuple[str, object]
"""Place of a value in its file, and the value, as of JSON; an error for one that cannot be read."""
_KEYS = ((), ("text",), ("text_a", "text_b"))
"""Keys of an entry without a text, of one and of two."""
EXPECTED = "give `text`, or `text_a` and `text_b`, or `tokens` with or without `segments`"


def jsonl_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the lines of a JSON Lines file but blank ones."""
    return ((line.place, _decoded(line)) for line in numbered_lines(path) if line.text)


def json_list_rows(path: Path, column: str) -> Iterator[Row]:
    """Yield the members of a file that is one JSON list."""
    name, lines, size = file_name(path), [], 0
    for line in numbered_lines(path, stripped=False):
        lines.append(line.text)
        size += len(line.text)
        if size > LARGEST_LIST:
            raise BadCorpus(name, "is one huge JSON list; write each member on a line of its own")
    try:
        members = _DECODER.decode("\n".join(lines))
    except (ValueError, RecursionError) as error:
        raise BadCorpus(name, f"is no whole JSON list ({error}); make it again") from error
    for number, member in enumerate(members, start=1):
        yield f"{name} item {number}", member


def write_jsonl(entries: Iterable[Entry], path: Path) -> int:
    """Write the entries as JSON Lines; reading them again gives the same sequences.

    The file takes its name once it is complete; before, its name ends in `.unfinished`.

    Returns:
        The number of entries.
    """
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as handle:
            written = sum(1 for entry in entries if handle.write(f"{_line(entry)}\n"))
        os.replace(unfinished, path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror}); name a file in a folder that exists, "
            "may be written to and has room."
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return written


def _line(entry: Entry) -> str:
    if entry.annotation is not None:
        raise BadCorpus(
            entry.place, "trees and coreference have no place in JSON Lines; give this file itself"
        )
    fields: dict[str, object] = dict(zip(_KEYS[len(entry.texts)], entry.texts, strict=True))
    fields |= {"tokens": entry.tokens} if entry.tokens else {}
    fields |= {} if entry.segments is None else {"segments": entry.segments}
    return json.dumps(fields, ensure_ascii=False)


def entry_of(value: object, place: str, *, column: str = TEXT) -> Entry:
    """Return the value of a row as an entry, if it is in one of the forms."""
    if isinstance(value, BadCorpus):
        raise value
    if not isinstance(value, dict):
        if column != TEXT:
            raise BadCorpus(place, f"is {shown(value)} and has no keys; leave --column out")
        return _bare(value, place)
    present = FORM_KEYS & value.keys() if column == TEXT else {column}
    if column not in (TEXT, *value):
        raise BadCorpus(
            place,
            f"has no key `{column}` (its keys: {listed(value)}); name the one of the texts with "
            "--column",
        )
    if column == TEXT and present not in FORMS:
        held = " and ".join(f"`{key}`" for key in sorted(present)) or "no entry"
        raise BadCorpus(place, f"holds {held}; {EXPECTED}")
    if column == TEXT and "tokens" in present:
        return _tokens(value, place)
    return Entry(
        place, tuple(checked_text(value[key], key=key, place=place) for key in sorted(present))
    )


def _bare(value: object, place: str) -> Entry:
    """Return a text or a list of tokens as an entry."""
    if isinstance(value, str):
        return Entry(place, (checked_text(value, key=TEXT, place=place),))
    if not isinstance(value, list):
        raise BadCorpus(place, f"is {shown(value)} and no object; {EXPECTED}")
    entry = _tokens({"tokens": value}, place)
    if any(" " in token.strip() for token in entry.tokens):
        raise BadCorpus(place, "is a list of texts, not of tokens; write a text to a line")
    return entry


def _tokens(fields: dict[str, object], place: str) -> Entry:
    tokens, segments = checked_tokens(fields["tokens"], place=place), None
    if "segments" in fields:
        segments = checked_segments(fields["segments"], n_tokens=len(tokens), place=place)
    return Entry(place, tokens=tokens, segments=segments)


def _decoded(line: Line) -> object:
    try:
        return _DECODER.decode(line.text)
    except RecursionError:
        return line.refused("is nested too deeply to be read; use flat objects")
    except ValueError as error:
        return line.refused(
            f"is not JSON ({_reason(error)}); a file that starts with {{ is read as JSON Lines, "
            "one whole object per line"
        )


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        twice = next(key for key, n in counted.items() if n > 1)
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant)

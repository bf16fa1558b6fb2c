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
from precompute.corpora.left_out import OnBadRow, refuse, usable_rows
from precompute.corpora.lines import Line, numbered_lines
from precompute.corpora.sequence import Annotated, Entry, Pair, Text, Tokens
from precompute.corpora.wording import file_name, listed, shown

FORMS = ({"text"}, {"text_a", "text_b"}, {"tokens"}, {"tokens", "segments"})
TEXT = "text"
LARGEST_LIST = 2**28
"""Largest number of letters of a JSON list, which is held in memory as a whole."""
FORM_KEYS = set[str]().union(*FORMS)
EXPECTED = "give `text`, or `text_a` and `text_b`, or `tokens` with or without `segments`"


def jsonl_entries(
    path: Path, column: str = TEXT, *, on_bad_row: OnBadRow = refuse
) -> Iterator[Entry]:
    """Yield the entries of a JSON Lines file, in its order, without blank lines.

    Args:
        column: the key of the texts, if another than that of the forms.
        on_bad_row: handler of a line that is not JSON, or in none of the three forms.

    Raises:
        BadCorpus: a line is not UTF-8.
    """
    return usable_rows(
        (line for line in numbered_lines(path) if line.text),
        lambda line: entry_of(_decoded(line), line.place, column=column),
        on_bad_row,
    )


def json_list_entries(
    path: Path, column: str = TEXT, *, on_bad_row: OnBadRow = refuse
) -> Iterator[Entry]:
    """Yield the entries of a file that is one JSON list; arguments as of `jsonl_entries`.

    Raises:
        BadCorpus: the file is no whole list, or larger than `LARGEST_LIST`.
    """
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
    yield from usable_rows(
        enumerate(members, start=1),
        lambda member: entry_of(member[1], f"{name} item {member[0]}", column=column),
        on_bad_row,
    )


def write_jsonl(entries: Iterable[Entry], path: Path) -> int:
    """Write the entries as JSON Lines; reading them again gives the same sequences.

    The file takes its name once it is complete; before, its name ends in `.unfinished`.

    Returns:
        The number of entries.

    Raises:
        UserError: the file cannot be written.
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
    match entry:
        case Text(text=text):
            fields = {"text": text}
        case Pair(text_a=text_a, text_b=text_b):
            fields = {"text_a": text_a, "text_b": text_b}
        case Tokens(tokens=tokens, segments=None):
            fields = {"tokens": tokens}
        case Tokens(tokens=tokens, segments=segments):
            fields = {"tokens": tokens, "segments": segments}
        case Annotated(place=place):
            raise BadCorpus(
                place, "trees and coreference have no place in JSON Lines; give this file itself"
            )
    return json.dumps(fields, ensure_ascii=False)


def entry_of(value: object, place: str, *, column: str = TEXT) -> Entry:
    """Return a JSON value as an entry, if it is in one of the forms.

    Raises:
        BadCorpus: it is in none, or has no key of texts; `BlankRow` if it has no text.
    """
    if isinstance(value, dict):
        return _entry(value, place) if column == TEXT else _text_of(value, place, column)
    if column != TEXT:
        raise BadCorpus(place, f"is {shown(value)} and has no keys; leave --column out")
    if isinstance(value, str):
        return Text(checked_text(value, key=TEXT, place=place), place)
    if not isinstance(value, list):
        raise BadCorpus(place, f"is {shown(value)} and no object; {EXPECTED}")
    tokens = _tokens({"tokens": value}, place)
    if any(" " in token.strip() for token in tokens.tokens):
        raise BadCorpus(place, "is a list of texts, not of tokens; write a text to a line")
    return tokens


def _entry(fields: dict[str, object], place: str) -> Entry:
    present = FORM_KEYS & fields.keys()
    if present not in FORMS:
        held = " and ".join(f"`{key}`" for key in sorted(present)) or "no entry"
        raise BadCorpus(place, f"holds {held}; {EXPECTED}")
    if "text" in present:
        return Text(checked_text(fields["text"], key="text", place=place), place)
    if "tokens" in present:
        return _tokens(fields, place)
    first, second = (
        checked_text(fields[key], key=key, place=place) for key in ("text_a", "text_b")
    )
    return Pair(first, second, place)


def _text_of(fields: dict[str, object], place: str, column: str) -> Text:
    if column not in fields:
        raise BadCorpus(
            place,
            f"has no key `{column}` (its keys: {listed(fields)}); name the one of the texts with "
            "--column",
        )
    return Text(checked_text(fields[column], key=column, place=place), place)


def _tokens(fields: dict[str, object], place: str) -> Tokens:
    tokens = checked_tokens(fields["tokens"], place=place)
    if "segments" not in fields:
        return Tokens(tokens, None, place)
    segments = checked_segments(fields["segments"], n_tokens=len(tokens), place=place)
    return Tokens(tokens, segments, place)


def _decoded(line: Line) -> object:
    try:
        return _DECODER.decode(line.text)
    except RecursionError as error:
        raise line.refused("is nested too deeply to be read; use flat objects") from error
    except ValueError as error:
        raise line.refused(
            f"is not JSON ({_reason(error)}); a file that starts with {{ is read as JSON Lines, "
            "one whole object per line"
        ) from error


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

"""The grammar of findings: a result, what it is held against, and the verdict of their intervals.

No other function writes a sentence with a number. A finding is rows of numbers; each has the word
`found_NAME`, a phrase such as "share of ‖αf(x)‖ from {token_type}". An optional word
`found_NAME_VERDICT` of the result states what the verdict means and comes first. A row without a
value is a sentence by itself, which the word `found_NAME` writes out. Rows that are `beside` a
result stand behind the verdict, and are compared with nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import pandas as pd

from pages.kit.head_choice import short_name
from pages.kit.section import Finding
from pages.words.columns import NAMES, value_name
from pages.words.lines import with_capital
from pages.words.numbers import ABSENT
from pages.words.say import plain, say
from pages.words.scope import optional_word, say_here

Verdict = Literal["above", "below", "unclear", "hardly", "unsure", "between", "alone"]
"""Side of a number on which the interval of a result lies: `unclear` if their intervals overlap,
`hardly` if they do not but the difference is not worth mentioning, `unsure` without an interval. Of
several numbers: their common side, or else the least clear one of them, or `between` if the result
is above some and below others; `alone` if there is nothing to hold it against."""
_LEAST_CLEAR: tuple[Verdict, ...] = ("unsure", "unclear", "hardly", "between")
_NUMBERS = ("value", "low", "high")
_MISSING = {**dict.fromkeys(_NUMBERS, float("nan")), "format": None, "beside": False}
_MORE_DIGITS, _ONE_DIGIT, _HALF = 2, ".1%", 0.5


def sentences(rows: pd.DataFrame, finding: Finding) -> Iterator[str]:
    """Sentences of a finding, in the reader's language, in the order of the rows.

    Args:
        rows: name, and value, low, high, sentence, format and what fills the words, where known.
    """
    for group in groups(rows):
        yield sentence(group, finding)


def groups(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Rows of each sentence, with all columns that the grammar reads."""
    missing = {name: value for name, value in _MISSING.items() if name not in rows}
    rows = rows.assign(**missing).reset_index(drop=True)
    if "sentence" not in rows:
        return [rows] if len(rows) else []
    return [rows[rows["sentence"] == one] for one in dict.fromkeys(rows["sentence"])]


def verdict(rows: pd.DataFrame, finding: Finding) -> Verdict:
    """Verdict on the first row, held against all others or the level of the finding."""
    sides: list[Verdict] = [*dict.fromkeys(_sides(rows, finding).values())]
    if len(sides) < 2:
        return sides[0] if sides else "alone"
    unclear: list[Verdict] = [side for side in _LEAST_CLEAR if side in sides]
    return unclear[0] if unclear else "between"


def _sides(rows: pd.DataFrame, finding: Finding) -> dict[Any, Verdict]:
    """Verdict on the first row against each other one, by its place; the level has None.

    What needs an interval and has none is not clear.
    """
    if finding.level is not None:
        return {None: _side(rows.iloc[0], dict.fromkeys(_NUMBERS, finding.level), finding.least)}
    others = rows.iloc[1:]
    others = others[~others["beside"].fillna(False).astype(bool)] if "beside" in rows else others
    return {at: _side(rows.iloc[0], other, finding.least) for at, other in others.iterrows()}


def _side(first: Any, other: Any, least: float) -> Verdict:
    if pd.isna(first["low"]) or pd.isna(other["low"]):
        return "unsure"
    above, below = first["low"] > other["high"], first["high"] < other["low"]
    if not (above or below):
        return "unclear"
    if abs(other["value"] - first["value"]) < least:
        return "hardly"
    return "above" if above else "below"


def written(values: Sequence[float], form: str) -> list[str]:
    """Numbers in a format, with up to two more digits if these tell apart those that differ.

    Shares that are near 0 or 1 and are neither have one more, or stand behind < or >.
    """
    write = _share if form.endswith("%") else _number
    return [write(value, _finer(values, form)) for value in values]


def _finer(values: Sequence[float], form: str) -> str:
    """Format with the digits that tell numbers apart."""
    sign, _, rest = form.rpartition(".")
    known = {value for value in values if pd.notna(value)}
    if not rest[:1].isdigit():
        return form
    finest = range(int(rest[0]), int(rest[0]) + _MORE_DIGITS + 1)
    fine = (f"{sign}.{digits}{rest[1:]}" for digits in finest)
    apart = (form for form in fine if len({_number(value, form) for value in known}) == len(known))
    return next(apart, form)


def _share(value: float, form: str) -> str:
    """Share in a format, never written as 0 or 100% if it is not."""
    text, ends = _number(value, form), {_number(end, form) for end in (0.0, 1.0)}
    if text not in ends or value in (0.0, 1.0):
        return text
    text = _number(value, _ONE_DIGIT)
    if text not in {_number(end, _ONE_DIGIT) for end in (0.0, 1.0)}:
        return text
    return "<0.1%" if value < _HALF else ">99.9%"


def _number(value: Any, form: str) -> str:
    if pd.isna(value):
        return ABSENT
    text = f"{value:{form}}"
    is_zero = not any(digit in text for digit in "123456789")
    return (text.lstrip("-") if is_zero else text).replace("-", "−")


def sentence(rows: pd.DataFrame, finding: Finding) -> str:
    """Write the sentence of one of `groups`."""
    first = rows.iloc[0]
    name = f"found_{first['name']}"
    if pd.isna(first["value"]):
        return say_here(name, **fillers(first))
    texts = dict(zip(rows.index, _values(rows, finding), strict=True))
    sides = _sides(rows, finding)
    others = {
        side: say("grammar.and").join(
            f"{finding.level:g}"
            if at is None
            else say("grammar.against", name=phrase(rows.loc[at]), value=texts[at])
            for at in sides
            if sides[at] == side
        )
        for side in sorted(set(sides.values()), key=get_args(Verdict).index)
    }
    side = next(iter(others), "alone")
    said = say(
        f"grammar.{side}",
        name=phrase(first),
        value=texts[rows.index[0]],
        other=others.pop(side, ""),
        more="".join(say(f"grammar.but_{side}", other=other) for side, other in others.items()),
    )
    beside = [
        say("grammar.beside_one", name=phrase(row), value=texts[at])
        for at, row in rows[1:].iterrows()
        if at not in sides and finding.level is None
    ]
    if beside:
        said = say("grammar.beside", said=said[:-1], beside=say("list.comma").join(beside))
    claim = optional_word(f"{name}_{verdict(rows, finding)}", **fillers(first))
    return say("grammar.claim", claim=claim, said=said) if claim else with_capital(said)


def _values(rows: pd.DataFrame, finding: Finding) -> list[str]:
    """Numbers with their intervals; those that are compared have as many digits as each other."""
    forms = [form if isinstance(form, str) else finding.format for form in rows["format"]]
    numbers = rows["value"].astype(float).tolist()
    level = [] if finding.level is None else [finding.level]
    texts = []
    for form, (_, row) in zip(forms, rows.iterrows(), strict=True):
        alike = [value for value, other in zip(numbers, forms, strict=True) if other == form]
        value, *_ = written([row["value"], *alike, *level], form)
        if pd.isna(row["low"]) or row["low"] == row["high"]:
            texts.append(value)
            continue
        fine = _finer([row["low"], row["high"]], _as_fine(form, value))
        value, low, high = (written([row[end]], fine)[0] for end in _NUMBERS)
        texts.append(say("grammar.value", value=value, low=low, high=high))
    return texts


def _as_fine(form: str, text: str) -> str:
    """Format with as many digits as a number that was written."""
    digits = len(text.rstrip("%").partition(".")[2])
    return f"{form.rpartition('.')[0]}.{digits}{form[-1]}"


def phrase(row: pd.Series) -> str:
    """Phrase that names a number."""
    return say_here(f"found_{row['name']}", **fillers(row))


def fillers(row: pd.Series) -> dict[str, Any]:
    """Values of a row that fill its words: display names, `head` as L3·H9, text escaped."""
    filled: dict[str, Any] = {}
    for name, value in row.items():
        if name in _NUMBERS or (not isinstance(value, str | list) and pd.isna(value)):
            continue
        if isinstance(value, str):
            value = value_name(str(name), value) if name in NAMES else plain(value)
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        filled[str(name)] = value
    if {"layer", "head"} <= set(filled):
        filled["head"] = short_name(filled["layer"], filled["head"])
    return filled


def exactly(name: str, value: Any, **fillers: Any) -> dict[str, Any]:
    """Row of a finding for a number that is no estimate."""
    return {"name": name, **dict.fromkeys(("value", "low", "high"), float(value)), **fillers}

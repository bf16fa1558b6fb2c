"""Sections as data, recorded as what they pick, find and show."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Any

import pandas as pd

from pages.charts.headline import unmarked
from pages.kit.found import Found
from pages.kit.found import rows_of as evidence_of
from pages.kit.grammar import fillers, groups, phrase, sentence, sentences, written
from pages.kit.head_choice import pick_head, short_name
from pages.kit.links import link_to_view
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, holds, rows_of
from pages.kit.source import Given
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.numbers import count
from pages.words.say import plain, say
from pages.words.scope import optional_word, say_here, words_of


def fill(section: Section, view: View) -> None:
    """Record a section: its picks, its finding, its figures, its links."""
    choices = _picked(view, section.picks, {})
    if section.finding:
        for sentence in sentences(rows_of(section.finding.rows, view, choices), section.finding):
            view.finding(sentence)
    shown = [figure for figure in section.figures if holds(figure.when, choices)]
    for is_half, group in groupby(shown, key=lambda figure: figure.half):
        figures, width = list(group), 2 if is_half else 1
        for row in (figures[at : at + width] for at in range(0, len(figures), width)):
            places = view.columns(len(row)) if is_half else [view.place("container")]
            for place, figure in zip(places, row, strict=True):
                with place:
                    if is_half:  # whose picks depend on each other
                        view.row()
                    choices = _picked(view, figure.picks, choices)
            for place, figure in zip(places, row, strict=True):
                with place:
                    _figure(view, figure, choices)
    said = _said(view, choices)
    for target in section.links:
        page, _, name = target.rpartition("/")
        if page:
            view.draw(link_to_view, page, name, view.say(f"to_{name}", **said))
        else:
            view.to_section(name, **said)


def _figure(view: View, figure: Figure, choices: Choices) -> None:
    """Record a figure, or the reason why it is not shown."""
    frame, said = rows_of(figure.rows, view, choices), _said(view, choices)
    if frame.empty:
        if nothing := optional_word(f"{figure.name}_nothing", **said):
            view.write("info", nothing)
        return
    for note in figure.notes:
        view.note(view.say(note, **said))
    figure.chart.show(view, figure, frame, choices, said)


def _picked(view: View, picks: Sequence[Pick], choices: Choices) -> Choices:
    """Choices so far, with those of further picks."""
    for pick in picks:
        if holds(pick.when, choices):
            with view.more() if pick.is_rare else nullcontext():
                choices = {**choices, **_chosen(view, pick, choices)}
    return choices


def _chosen(view: View, pick: Pick, choices: Choices) -> dict[str, Any]:
    if callable(pick.kind):
        return pick.kind(view, choices)
    options: Any = pick.options(view, choices) if callable(pick.options) else pick.options
    options = options if isinstance(options, Mapping) else list(options)
    default: Any = pick.default(view, choices) if callable(pick.default) else pick.default
    if pick.kind == "head":
        best = optional_word("head_best", head=short_name(*default)) or ""
        layer, head = pick_head(view, default=default, best=best)
        return {"layer": layer, HEAD: head}
    if pick.kind == "weighing":
        return {pick.name: view.pick_weighing(*options)}
    if pick.kind == "text":
        hint = f"{pick.of or pick.name}_help"
        return {pick.name: view.text(pick.name, hint=hint, example=default) or default or ""}
    if pick.kind == "number" and options:
        least, largest = options
        values = {"largest": count(largest)}
        return {pick.name: view.number(pick.name, least, largest, default, **values)}
    if not options:
        return {pick.name: None}
    if pick.kind == "many":
        given = {"default": default or (), "of": pick.of, "format": pick.format, "limit": pick.most}
        return {pick.name: view.pick_many(pick.name, options, **given)}
    chosen = view.pick(
        pick.name, options, default=default, of=pick.of, format=pick.format, kind=pick.kind
    )
    return {pick.name: chosen}


def _said(view: View, choices: Choices) -> dict[str, Any]:
    """Choices under their display names, to fill words with."""
    said = dict(choices)
    for name in choices:
        if picked := view.picked.get(view.key(name)):
            said[name] = picked.options.get(picked.chosen, picked.chosen)
        elif isinstance(said[name], str):
            said[name] = plain(said[name])
    if HEAD in view.picked:
        said[HEAD] = short_name(choices["layer"], choices[HEAD])
    return said


def findings(section: Section, page: str, inquiry: Inquiry) -> Iterator[Found]:
    """Sentences of a section's finding for the overview, with the default choices.

    Words: `found_NAME_label` or else `found_label` names one, and `found_NAME_number` is its number
    if the result has none.
    """
    finding = section.finding
    if finding is None:
        return
    with words_of(page, section.name):
        view = View("", section.name, inquiry.store, choices=Given())
        rows = rows_of(finding.rows, inquiry, _picked(view, section.picks, {}))
        said = groups(rows)
        if finding.overview is None:
            said = said[:1]
        else:
            said = [group for group in said if group["name"].iloc[0] in finding.overview]
        for group in said:
            yield _found(group, finding)


def _found(group: pd.DataFrame, finding: Finding) -> Found:
    """Finding of the overview of the rows of one sentence; a count is `n` of `of`."""
    first, values = group.iloc[0], ["value", "low", "high"]
    form = first["format"] if isinstance(first["format"], str) else finding.format
    baseline = finding.level
    if pd.isna(first["value"]):
        number = say_here(f"found_{first['name']}_number", **fillers(first))
        counts = {number: first.get("n"), say("grammar.all"): first.get("of")}
        evidence = evidence_of(counts.items())
        form = ",.0f"
    else:
        number, *_ = written(first[values].astype(float).tolist(), form)
        evidence = group[values].astype(float).reset_index(drop=True)
        evidence.insert(0, "name", [unmarked(phrase(row)) for _, row in group.iterrows()])
        baseline = evidence["name"][1] if len(evidence) > 1 else baseline
    labels = (f"found_{first['name']}_label", "found_label", "title")
    label = next(filter(None, (optional_word(name, **fillers(first)) for name in labels)))
    return Found(label, number, sentence(group, finding), evidence, baseline, form)

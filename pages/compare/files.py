"""Choice of the files to compare: the open file first, then those that the reader picks."""

import pandas as pd
import streamlit as st

from analysis.comparison.account import account, reasons, training_step
from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.table import Table
from pages.ui.charts.colours import GROUP_COLOURS
from pages.ui.store.chosen import (
    other_stores,
)
from pages.ui.store.commands import run_command
from pages.ui.store.folder import folder
from pages.ui.store.inquiry import Asked, Inquiry
from pages.ui.store.open_file import ENDING, Store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

MOST = 8
_MASKED = 0.12  # as the papers mask


def pick_files(view: View) -> list[Store]:
    """Return the open file and the picked ones; report files that cannot be compared.

    A link names each file with its content, as it names the open file. If the content has changed
    since, the present content is shown and a warning says so.
    """
    others = {file.key: file for file in other_stores(view.store)}
    files = [view.store]
    if others:
        chosen = view.pick_many(
            "files",
            list(others),
            default=[file.key for file in siblings(view.store)[: MOST - 1]]
            or [_most_alike(view.store, others)],
            format=lambda key: others[key].label,
            limit=MOST - 1,
            about={"named": True, "moved": _as_they_are_now(view, others)},
            most=MOST,
        )
        files += [others[key] for key in chosen]
    able = [file for file in files if not reasons_of(view, files[0], file, "numbers")]
    if left := [plain(file.label) for file in files if file not in able]:
        view.nothing("other_input", names=say("list.comma").join(left))
    return able


def texts_sentence(view: View, compared: list[Store]) -> str:
    """Describe number and length of the sequences of each file.

    Names the files with other texts than the first: their difference may be due to the texts.
    """
    sentences, first = [], compared[0]
    for file in compared:
        lengths = view.asked.ask(file, sequence_lengths)
        n = lengths["n_sequences"]
        tokens = f"{(lengths['n_tokens'] * n).sum() / n.sum():.1f}"
        word = view.say("texts_of", file=plain(file.label), n=count(n.sum()), tokens=tokens)
        sentences.append(word)
    texts = view.say("texts", files=say("list.comma").join(sentences))
    others = [file.label for file in compared[1:] if reasons_of(view, first, file, "paired")]
    if not others:
        return texts
    names = say("list.comma").join(map(plain, others))
    return f"{texts} {view.say('texts_other', names=names, first=plain(first.label))}"


def colours(compared: list[Store]) -> dict[str, str]:
    """A colour for each file, by its label."""
    return {file.label: colour for file, colour in zip(compared, GROUP_COLOURS, strict=False)}


def pick_sides(view: View, kind: str, *needs: Table) -> list[Store]:
    """Return the open file and the one picked to compare with it in the way `kind`, one of `KINDS`.

    If no file is comparable, say why and end the section.

    Args:
        needs: tables that the other file must hold as well; without them the reason is `lacks`.
    """
    first, *others = pick_files(view)
    if not others:
        view.end("choose_one")
    other = others[0]
    if len(others) > 1:
        by_key = {file.key: file for file in others}
        labels = {key: file.label for key, file in by_key.items()}
        other = by_key[view.pick("other", labels, kind="select")]
    if obstacles := reasons_of(view, first, other, kind):
        words = say("list.comma").join(view.say(f"reason_{reason}") for reason in obstacles)
        view.end("why_not", file=plain(other.label), reasons=words)
    if not other.holds(*needs):
        view.end("lacks", file=plain(other.label))
    return [first, other]


def reasons_of(inquiry: Inquiry, first: Store, other: Store, kind: str) -> tuple[str, ...]:
    """Reasons why two files cannot be compared in the way `kind`, one of `KINDS`; often empty."""
    return inquiry.ask_together(_reasons, first, other, kind=kind)


def say_if_alone(view: View, compared: list[Store]) -> None:
    """If only one file is open, tell the reader how to get a second one, with a command for it."""
    if len(compared) > 1:
        return
    store = view.store
    if any(other.facts["input"] == store.facts["input"] for other in other_stores(view.store)):
        return view.nothing("choose_one")
    can_mask = not (view.store.is_causal or view.store.shows_images or store.run["mask_rate"])
    if can_mask:
        kind, run, facts = "masked", pd.Series({**store.run, "mask_rate": _MASKED}), store.facts
    else:
        kind, run, facts = "untrained", store.run, {**store.facts, "random_weights": "0"}
    other = folder() / f"{compared[0].label}-{kind}{ENDING}"
    view.nothing(f"alone_{kind}")
    view.write("code", run_command(run, facts, other), language="bash", wrap_lines=True)


def can_compare(store: Store) -> bool:
    """Return True if the folder has another readable file."""
    return bool(other_stores(store))


def can_compare_heads(store: Store) -> bool:
    """Return True if another readable file is of the same corpus: heads are compared on it."""
    corpus = store.run["corpus_sha256"]
    return any(other.run["corpus_sha256"] == corpus for other in other_stores(store))


def siblings(store: Store) -> list[Store]:
    """Files of the other checkpoints of the training run that the open file's model belongs to."""
    base, step = training_step(store.run["model"])
    if step is None:
        return []
    steps = ((store, *training_step(store.run["model"])) for store in other_stores(store))
    return [store for store, of, at in steps if of == base and at not in (None, step)]


def _most_alike(store: Store, others: dict[str, Store]) -> str:
    """Key of the file most like the open one: same kind of input, then model, then corpus."""
    opened = store

    def shared(key: str) -> tuple[bool, ...]:
        other = others[key]
        same_input = other.facts["input"] == opened.facts["input"]
        return same_input, *(other.run[name] == opened.run[name] for name in ("model", "corpus"))

    return max(others, key=shared)


def _reasons(asked: Asked, one: Store, other: Store, *, kind: str) -> tuple[str, ...]:
    return reasons(asked.ask(one, account), asked.ask(other, account), kind)


def _as_they_are_now(view: View, others: dict[str, Store]) -> dict[str, str]:
    """Map links with an outdated or missing content to the present content of the same file."""
    now = {file.name: key for key, file in others.items()}
    moved = {}
    for key in view.choices.asked(view.key("files")):
        name, _, content = key.rpartition(":")
        if key not in others and (name or content) in now:
            moved[key] = now[name or content]
            if name:
                view.draw(st.sidebar.warning, say("store.other_content", name=plain(name)))
    return moved

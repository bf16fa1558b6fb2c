"""Files that are compared: the open one first, then those that the reader picks."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from analysis.comparison.account import account, reasons, training_step
from analysis.statistics.corpus import sequence_lengths
from analysis.statistics.table import Table
from pages.kit.section import Choices, Figure
from pages.ui.store.chosen import other_stores
from pages.ui.store.commands import run_command
from pages.ui.store.folder import folder
from pages.ui.store.inquiry import Asked, Inquiry
from pages.ui.store.open_file import ENDING, Store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

MOST = 8
_MASKED = 0.12  # as the papers mask
_CHEAP = ("input", "layer_order", "without_attention")
"""Facts that a comparison of heads or pairs needs in common, asked before tokens are read."""


def pick_files(view: View, _: Choices) -> tuple[str, ...]:
    """Keys of the open file and the picked ones; files that cannot be compared are reported.

    A link names each file with its content, as it names the open file. If the content has changed
    since, the present content is shown and a warning says so.
    """
    others, files = {file.key: file for file in other_stores(view.store)}, [view.store]
    if others:
        chosen = view.pick_many(
            "files",
            list(others),
            default=[file.key for file in siblings(view.store)[: MOST - 1]]
            or [max(others, key=lambda key: _likeness(view.store, others[key]))],
            format=lambda key: others[key].label,
            limit=MOST - 1,
            about={"named": True, "moved": _as_they_are_now(view, others)},
            most=MOST,
        )
        files += [others[key] for key in chosen]
    able = [file for file in files if not reasons_of(view, files[0], file, "numbers")]
    if left := [plain(file.label) for file in files if file not in able]:
        view.nothing("other_input", names=say("list.comma").join(left))
    if len(able) > 1:
        view.note(_texts(view, able))
    return tuple(file.key for file in able)


def pick_sides(kind: str, *needs: Table) -> Callable[[View, Choices], tuple[str, ...]]:
    """Return a function that picks the open file and one to compare with it in a way of `KINDS`.

    If no file is comparable, the reason is said and the section ends.

    Args:
        needs: tables that the other file must hold as well.
    """

    def sides(view: View, choices: Choices) -> tuple[str, ...]:
        first, *others = files_of(view, choices)
        if not others:
            view.end("choose_one")
        other = others[0]
        if len(others) > 1:
            labels = {file.key: file.label for file in others}
            chosen = view.pick("other", labels, kind="select")
            other = next(file for file in others if file.key == chosen)
        if obstacles := obstacles_of(view, other, kind):
            view.end("why_not", file=plain(other.label), reasons=obstacles)
        if not other.holds(*needs):
            view.end("lacks", file=plain(other.label))
        return first.key, other.key

    return sides


def files_of(inquiry: Inquiry, choices: Choices, name: str = "files") -> list[Store]:
    """Files by the keys of a choice."""
    every = {file.key: file for file in (inquiry.store, *other_stores(inquiry.store))}
    return [every[key] for key in choices[name]]


def obstacles_of(inquiry: Inquiry, other: Store, kind: str) -> str:
    """Reasons against a comparison with the open file as text; empty if there are none."""
    found = reasons_of(inquiry, inquiry.store, other, kind)
    return say("list.comma").join(say(f"compare.reason_{reason}") for reason in found)


def reasons_of(inquiry: Inquiry, first: Store, other: Store, kind: str) -> tuple[str, ...]:
    """Reasons why two files cannot be compared in the way `kind`, one of `KINDS`; often empty."""
    return inquiry.ask_together(_reasons, first, other, kind=kind)


def _reasons(asked: Asked, one: Store, other: Store, *, kind: str) -> tuple[str, ...]:
    return reasons(asked.ask(one, account), asked.ask(other, account), kind)


def can_compare(kind: str, *needs: Table) -> Callable[[Store], bool]:
    """Return a test whether another file of the folder can be compared with one as `kind`."""
    run = ("n_layers", *(("n_heads", "corpus_sha256") if kind == "heads" else ()))

    def can(store: Store) -> bool:
        alike = (
            other
            for other in other_stores(store)
            if all(other.run[name] == store.run[name] for name in run)
            and all(other.facts.get(name) == store.facts.get(name) for name in _CHEAP)
            and other.holds(*needs)
        )
        return any(not reasons_of(Inquiry(store), store, other, kind) for other in alike)

    return can


def command_if_alone(view: View, choices: Choices) -> pd.DataFrame:
    """Command that makes a file to compare the open one with; nothing if there is one."""
    store = view.store
    if len(choices["files"]) > 1:
        return pd.DataFrame()
    if any(other.facts["input"] == store.facts["input"] for other in other_stores(store)):
        return pd.DataFrame([{"kind": "choose_one", "command": ""}])
    can_mask = not (store.is_causal or store.shows_images or store.run["mask_rate"])
    if can_mask:
        kind, run, facts = "masked", pd.Series({**store.run, "mask_rate": _MASKED}), store.facts
    else:
        kind, run, facts = "untrained", store.run, {**store.facts, "random_weights": "0"}
    command = run_command(run, facts, folder() / f"{store.label}-{kind}{ENDING}")
    return pd.DataFrame([{"kind": f"alone_{kind}", "command": command}])


def show_command(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Tell the reader how to get a second file."""
    kind, command = frame.iloc[0]
    view.nothing(kind)
    if command:
        view.write("code", command, language="bash", wrap_lines=True)


def siblings(store: Store) -> list[Store]:
    """Files of the other checkpoints of the training run that the open file's model belongs to."""
    base, step = training_step(store.run["model"])
    if step is None:
        return []
    steps = ((other, *training_step(other.run["model"])) for other in other_stores(store))
    return [other for other, of, at in steps if of == base and at not in (None, step)]


def _likeness(store: Store, other: Store) -> tuple[bool, ...]:
    """Likeness of two files: same kind of input, then model, then corpus."""
    same_input = other.facts["input"] == store.facts["input"]
    return same_input, *(other.run[name] == store.run[name] for name in ("model", "corpus"))


def _texts(view: View, compared: list[Store]) -> str:
    """Number and length of the sequences of each file."""
    sentences = []
    for file in compared:
        lengths = view.asked.ask(file, sequence_lengths)
        n = lengths["n_sequences"]
        tokens = f"{(lengths['n_tokens'] * n).sum() / n.sum():.1f}"
        word = view.say("texts_of", file=plain(file.label), n=count(n.sum()), tokens=tokens)
        sentences.append(word)
    return view.say("texts", files=say("list.comma").join(sentences))


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

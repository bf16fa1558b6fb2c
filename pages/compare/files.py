"""Files that are compared: the open one first, then those that the reader picks."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from analysis.comparison.account import account, reasons, training_step
from analysis.statistics.base.tables import Table
from pages.kit.section import Choices, Figure, query
from pages.kit.view import View
from pages.services.chosen import note_content, other_stores
from pages.services.commands import run_command
from pages.services.folder import folder
from pages.services.inquiry import Asked, Inquiry
from pages.services.open_file import ENDING, Store
from pages.words.numbers import count
from pages.words.say import plain, say

MOST = 8
_MASKED = 0.12  # as the papers mask


def pick_files(view: View, _: Choices) -> dict[str, tuple[str, ...]]:
    """Keys of the open file and the picked ones; files that cannot be compared are reported.

    A link names each file with its content, as it names the open file. If the content has changed
    since, the present content is shown and a line says so.
    """
    others, files = {file.key: file for file in other_stores(view.store)}, [view.store]
    if others:
        chosen = view.pick_many(
            "files",
            list(others),
            default=[file.key for file in _siblings(view.store)[: MOST - 1]]
            or [max(others, key=lambda key: _shared(view.store, others[key]))],
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
        texts = say("list.comma").join(_text_of(view, file) for file in able)
        view.note(view.say("texts", files=texts))
    return {"files": tuple(file.key for file in able)}


def pick_sides(kind: str, *needs: Table) -> Callable[[View, Choices], dict[str, tuple[str, ...]]]:
    """Return a function that picks the open file and one to compare with it in a way of `KINDS`.

    If no file is comparable, or holds the tables `needs`, the reason is said.
    """

    def sides(view: View, choices: Choices) -> dict[str, tuple[str, ...]]:
        first, *others = files_of(view, choices)
        if not others:
            view.end("choose_one")
        by_key, key = {file.key: file.label for file in others}, others[0].key
        if len(others) > 1:
            key = view.pick("other", by_key, kind="select")
        other = next(file for file in others if file.key == key)
        if found := reasons_of(view, first, other, kind):
            words = say("list.comma").join(view.say(f"reason_{reason}") for reason in found)
            view.end("why_not", file=plain(other.label), reasons=words)
        if not other.holds(*needs):
            view.end("lacks", file=plain(other.label))
        return {"sides": (first.key, other.key)}

    return sides


def files_of(inquiry: Inquiry, choices: Choices, name: str = "files") -> list[Store]:
    """Files by the keys of a choice."""
    every = {file.key: file for file in (inquiry.store, *other_stores(inquiry.store))}
    return [every[key] for key in choices[name]]


def reasons_of(inquiry: Inquiry, first: Store, other: Store, kind: str) -> tuple[str, ...]:
    """Reasons why two files cannot be compared in the way `kind`, one of `KINDS`; often empty."""
    return inquiry.ask_together(_reasons, first, other, kind=kind)


def _reasons(asked: Asked, one: Store, other: Store, *, kind: str) -> tuple[str, ...]:
    return reasons(asked.ask(one, account), asked.ask(other, account), kind)


def can_compare(kind: str, *needs: Table) -> Callable[[Store], bool]:
    """Return a test whether another file of the folder can be compared with one as `kind`."""

    def can(store: Store) -> bool:
        asked = Inquiry(store)
        return any(
            other.run["n_layers"] == store.run["n_layers"]  # before tokens are read
            and other.holds(*needs)
            and not reasons_of(asked, store, other, kind)
            for other in other_stores(store)
        )

    return can


def alone(view: Any, choices: Choices) -> pd.DataFrame:
    """Reason why nothing is compared, with a command that makes a file; nothing if there is one."""
    store = view.store
    if len(choices["files"]) > 1:
        return pd.DataFrame()
    if any(other.facts["input"] == store.facts["input"] for other in other_stores(store)):
        return pd.DataFrame([{"kind": "choose_one", "command": ""}])
    kind, run, facts = "untrained", store.run, {**store.facts, "random_weights": "0"}
    if not (store.is_causal or store.shows_images or store.run["mask_rate"]):
        kind, run, facts = "masked", pd.Series({**store.run, "mask_rate": _MASKED}), store.facts
    command = run_command(run, facts, folder() / f"{store.label}-{kind}{ENDING}")
    return pd.DataFrame([{"kind": f"alone_{kind}", "command": command}])


def show_command(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    view.nothing(frame["kind"][0])
    if frame["command"][0]:
        view.write("code", frame["command"][0], language="bash", wrap_lines=True)


def _siblings(store: Store) -> list[Store]:
    """Files of the other checkpoints of the training run that the open file's model belongs to."""
    base, step = training_step(store.run["model"])
    steps = ((other, *training_step(other.run["model"])) for other in other_stores(store))
    alike = (other for other, of, at in steps if of == base and at not in (None, step))
    return [] if step is None else [*alike]


def _shared(store: Store, other: Store) -> list[bool]:
    """Facts that two files share: the kind of input, then the model, then the corpus."""
    of_runs = (store.run[name] == other.run[name] for name in ("model", "corpus"))
    return [store.facts["input"] == other.facts["input"], *of_runs]


def _text_of(view: View, file: Store) -> str:
    """Number and length of the sequences of a file."""
    sizes = "select count(*) as n, avg(n_tokens) as tokens from sequence"
    of = view.asked.ask(file, query, sql=sizes, values={}).iloc[0]
    tokens = f"{of['tokens']:.1f}"
    return view.say("texts_of", file=plain(file.label), n=count(int(of["n"])), tokens=tokens)


def _as_they_are_now(view: View, others: dict[str, Store]) -> dict[str, str]:
    """Map links with an outdated or missing content to the present content of the same file."""
    now = {file.name: key for key, file in others.items()}
    moved = {}
    for key in view.choices.asked(view.key("files")):
        name, _, content = key.rpartition(":")
        if key not in others and (name or content) in now:
            moved[key] = now[name or content]
            if name:
                file = others[moved[key]]
                view.draw(note_content, file, content)
    return moved

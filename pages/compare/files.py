"""Which files are compared: the open one first, then those that the reader chose beside it."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.comparison.account import account, reasons, training_step
from pages.ui.charts.colours import GROUP_COLOURS
from pages.ui.choices.address import asked
from pages.ui.choices.pick import pick_many
from pages.ui.store.chosen import (
    ask_store,
    folder,
    is_causal,
    open_store,
    other_stores,
    shows_images,
)
from pages.ui.store.commands import run_command
from pages.ui.store.open_file import Store
from pages.ui.store.together import ask_together
from pages.ui.view import View
from pages.ui.words.say import plain, say

MOST = 8
_ENDING = ".duckdb"
_MASKED = 0.12  # as the papers mask


@dataclass(frozen=True)
class Compared:
    """A file beside others, and what it is called in charts."""

    store: Store
    label: str

    @property
    def key(self) -> str:
        """What stands for it in an address: its name and its content."""
        return _key(self.store)


def pick_files(view: View) -> list[Compared]:
    """The open file and those beside it; what cannot stand beside it is said.

    A link names each with its content, as it names the open file; one whose content changed since
    is shown as it is now, and that is said.
    """
    stores = {_key(store): store for store in other_stores()}
    if stores:
        chosen = pick_many(
            view.key("files"),
            view.say("files"),
            list(stores),
            default=[_key(store) for store in siblings()[: MOST - 1]] or _most_alike(stores),
            format=lambda key: _label(stores[key]),
            help=view.say("files_help", most=MOST),
            limit=MOST - 1,
            named=True,
            moved=_as_they_are_now(view, stores),
        )
    else:
        chosen = []
    opened = open_store()
    files = [_compared(store) for store in (opened, *(stores[key] for key in chosen))]
    able = [file for file in files if not reasons_of(files[0], file, "numbers")]
    if left := [plain(file.label) for file in files if file not in able]:
        st.info(view.say("other_input", names=say("list.comma").join(left)))
    return able


def colours(compared: list[Compared]) -> dict[str, str]:
    """A colour for each file, by its label."""
    return {file.label: colour for file, colour in zip(compared, GROUP_COLOURS, strict=False)}


def pick_other(view: View, compared: list[Compared]) -> Compared | None:
    """The one of the chosen files that the open one is compared with; None if there is none."""
    others = {file.key: file for file in compared[1:]}
    if not others:
        st.info(view.say("choose_one"))
        return None
    if len(others) == 1:
        return compared[1]
    labels = {key: file.label for key, file in others.items()}
    return others[view.pick("other", labels, kind="select")]


def reasons_of(first: Compared, other: Compared, kind: str) -> tuple[str, ...]:
    """Why two files cannot be compared in a way, one of `KINDS`; none if they can."""
    return ask_together(_reasons, first.store, other.store, kind=kind)


def why_not(view: View, first: Compared, other: Compared, kind: str) -> tuple[str, ...]:
    """Why two files cannot be compared in a way, said in a sentence; nothing if they can."""
    obstacles = reasons_of(first, other, kind)
    if obstacles:
        words = say("list.comma").join(view.say(f"reason_{reason}") for reason in obstacles)
        st.info(view.say("why_not", file=plain(other.label), reasons=words))
    return obstacles


def say_if_alone(view: View, compared: list[Compared]) -> None:
    """What one file lacks to be compared, with a command that makes another."""
    if len(compared) > 1:
        return
    if any(store.facts["input"] == open_store().facts["input"] for store in other_stores()):
        st.info(view.say("choose_one"))
        return
    store = open_store()
    can_mask = not (is_causal() or shows_images() or store.run["mask_rate"])
    run, facts = pd.Series(store.run), dict(store.facts)
    if can_mask:
        run["mask_rate"] = _MASKED
    else:
        facts["random_weights"] = "0"
    kind = "masked" if can_mask else "untrained"
    other = folder() / f"{_label(store)}-{kind}{_ENDING}"
    st.info(view.say(f"alone_{kind}"))
    st.code(run_command(run, facts, other), language="bash", wrap_lines=True)


def can_compare() -> bool:
    """Whether the folder has another file that can be read."""
    return bool(other_stores())


def siblings() -> list[Store]:
    """The files of other steps of the training that the open file's model is a step of."""
    base, step = training_step(open_store().run["model"])
    if step is None:
        return []
    steps = ((store, *training_step(store.run["model"])) for store in other_stores())
    return [store for store, of, at in steps if of == base and at not in (None, step)]


def _most_alike(stores: dict[str, Store]) -> list[str]:
    """The file that shares most with the open one: texts or images, then the model, the corpus."""
    opened = open_store()

    def shared(key: str) -> tuple[bool, ...]:
        other = stores[key]
        same_input = other.facts["input"] == opened.facts["input"]
        return same_input, *(other.run[name] == opened.run[name] for name in ("model", "corpus"))

    return [max(stores, key=shared)]


def _compared(store: Store) -> Compared:
    return Compared(store, _label(store))


def _reasons(one: Store, other: Store, *, kind: str) -> tuple[str, ...]:
    return reasons(ask_store(one, account), ask_store(other, account), kind)


def _label(store: Store) -> str:
    return store.name.removesuffix(_ENDING)


def _key(store: Store) -> str:
    return f"{store.name}:{store.content}"


def _as_they_are_now(view: View, stores: dict[str, Store]) -> dict[str, str]:
    """What a link that names other contents, or none, asks for: the files as they are now."""
    now = {store.name: key for key, store in stores.items()}
    moved = {}
    for key in asked(view.key("files")):
        name, _, content = key.rpartition(":")
        if key not in stores and (name or content) in now:
            moved[key] = now[name or content]
            if name:
                st.sidebar.warning(say("store.other_content", name=plain(name)))
    return moved

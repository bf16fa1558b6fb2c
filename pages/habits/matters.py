"""Chart of gradients, and what is offered where a file lacks them."""

from typing import Any

import pandas as pd

from analysis.statistics.base.tables import Table
from analysis.statistics.heads.single_heads import GRADIENT_IMPORTANCE
from pages.charts.plots import Spread
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.services.commands import run_command
from pages.services.folder import folder
from pages.services.inquiry import Inquiry
from pages.services.missing import absence
from pages.words.say import plain, say
from pages.words.scope import say_here

_MASKED, _RATE = "masked_lm", 0.15


def of_measure(measure: str) -> str:
    """Display name of a measure of heads."""
    return say(f"habits.matters.measure_{measure}")


def gradients(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw |∂L/∂α| by layer and token type, under the name of L."""
    loss = say_here(f"loss_{frame['objective'].iloc[0]}")
    kind = Spread(colour="token_type", format=".2e", scale="scale", height=300)
    return kind.draw(frame, name, {**choices, "loss": loss})


def lacking(inquiry: Inquiry, table: Table) -> pd.DataFrame:
    """One row with the name of a table if the file lacks it."""
    return pd.DataFrame({"table": [] if inquiry.store.holds(table) else [table]})


def offer(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Show the command that makes what a file lacks.

    A masked-language loss needs masked tokens, so that the command is one of another file.
    """
    store, [table] = view.store, frame["table"]
    is_unmasked = store.facts.get("gradient_objective") == _MASKED and not store.run["mask_rate"]
    if table is not GRADIENT_IMPORTANCE or not is_unmasked:
        for item in absence(store, table):
            view.add(item)
        return
    view.nothing("unmasked", name=plain(store.name))
    run = store.run.copy()
    run["mask_rate"] = _RATE
    path = folder() / f"{store.label}-masked.duckdb"
    command = run_command(run, store.facts, path, statistics=[table.name])
    view.write("code", command, language="bash", wrap_lines=True)

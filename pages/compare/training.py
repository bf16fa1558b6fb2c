"""One number over the steps of a training."""

import pandas as pd

from analysis.comparison.account import training_step
from analysis.comparison.numbers import TABLES
from pages.compare.files import pick_files, reasons_of, siblings, texts_sentence
from pages.compare.layers import pick_number
from pages.compare.numbers import (
    change_written,
    differences_of,
    number_name,
    numbers_of,
)
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.interval import beside_0, row_with_interval
from pages.ui.words.say import plain, say


@section("training", also=TABLES, when=lambda store: bool(siblings(store)))
def training(view: View) -> None:
    chosen = pick_files(view)
    steps = {file.label: training_step(file.run["model"])[1] for file in chosen}
    alike = [file for file in chosen if not reasons_of(view, chosen[0], file, "training")]
    compared = [file for file in alike if steps[file.label] is not None]
    compared.sort(key=lambda file: steps[file.label] or 0)
    if left := [plain(file.label) for file in chosen if file not in compared]:
        view.write("caption", view.say("no_steps", names=say("list.comma").join(left)))
    if len(compared) < 2:
        view.end("choose_one")
    numbers = numbers_of(view, compared, by_layer=False)
    number = pick_number(view, numbers)
    numbers = numbers[numbers["number"] == number]
    frame = numbers.assign(step_of_training=numbers["file"].map(steps).astype("int64"))
    frame = frame.sort_values("step_of_training")
    view.finding(_finding(view, compared, frame, number))
    view.finding(texts_sentence(view, compared))
    chart = lines(frame, x="step_of_training", y="mean", zero=False)
    view.figure(
        "over_steps", frame, chart, state=(number, len(compared)), number=number_name(number)
    )


def _finding(view: View, compared: list[Store], frame: pd.DataFrame, number: str) -> str:
    """Compare the number at the first training step with that at the last, with the change."""
    first, last = frame.iloc[0], frame.iloc[-1]
    changes = differences_of(view, [compared[0], compared[-1]], by_layer=False)
    change = changes[changes["number"] == number].iloc[0]
    finding = view.say(
        "finding",
        name=number_name(number),
        start=f"{first['step_of_training']:,}",
        end=f"{last['step_of_training']:,}",
        before=row_with_interval(first),
        after=row_with_interval(last),
        change=row_with_interval(change, "difference", change_written),
    )
    return f"{finding} {beside_0(change['low'], change['high'])}"

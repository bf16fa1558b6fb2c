"""Effect of heads on what the model makes of a text, and which measure of a head foretells it."""

from collections.abc import Iterator

import pandas as pd

from analysis.effects import (
    CHANGES,
    FILLINGS,
    LEVELS,
    MEAN,
    MEASURES,
    RANDOM,
)
from analysis.statistics.heads import contribution, effect_prediction, head_effect
from analysis.statistics.norms import token_type_mixing
from pages.habits.opened_head import opened_head
from pages.ui.charts.colours import MANY_COLOURS
from pages.ui.charts.points import scatter
from pages.ui.charts.standard import bars
from pages.ui.finding import Finding, Findings, compared
from pages.ui.head.choice import head_name, to_head
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, verdict
from pages.ui.words.numbers import percent, signed
from pages.ui.words.say import say


def _summary(inquiry: Inquiry) -> Findings:
    """Measure that foretells best which heads of a layer matter."""
    correlations = inquiry.ask(effect_prediction.correlations, filling=MEAN, quantity="length")
    for evidence, sentence in _foretold(correlations):
        best = evidence.iloc[0]
        yield Finding(
            say("finding.label_effect"),
            f"{best['name']}: {signed(best['value'])}",
            sentence,
            evidence,
            baseline=say(f"habits.effect.measure_{RANDOM}"),
            format=".2f",
        )


def _lacking(inquiry: Inquiry) -> str:
    """Reason why heads cannot be ranked, which no run would change."""
    is_alone = inquiry.store.found_nothing(effect_prediction.TABLE)
    return say("habits.effect.no_ranks") if is_alone else ""


@section(
    "effect",
    head_effect.TABLE,
    effect_prediction.TABLE,
    contribution.TABLE,
    token_type_mixing.TABLE,
    also=(head_effect.PER_SEQUENCE, contribution.PER_SEQUENCE),
    lacking=_lacking,
    findings=_summary,
)
def effect(view: View) -> None:
    given = {kind for (kind,) in view.ask(head_effect.quantities).itertuples(index=False)}
    of_file = [name for name in CHANGES if name in given]
    quantity = view.pick("quantity", of_file, default="length")
    filling = view.pick("filling", FILLINGS)
    asked = {"filling": filling, "quantity": quantity}
    effects = view.ask(head_effect.heads, **asked)
    heads = effects.dropna(subset="head").astype({"head": int})
    correlations = view.ask(effect_prediction.correlations, **asked)
    known = [name for name in MEASURES if name in set(correlations["measure"])]
    measure = view.pick("measure", known, default="norm")
    view.finding(_finding(view, heads, correlations, quantity))
    view.note(view.say("sum"))
    marked = opened_head(view)
    points = heads.merge(view.ask(effect_prediction.measures), on=["layer", "head"])
    chart = scatter(
        points,
        x=measure,
        y="mean",
        colour="layer",
        x_scale="linear",
        tooltip=("layer", "head", measure, "mean", "low", "high"),
        pick=("layer", "head"),
        size=60,
    )
    state, named = (*asked.values(), measure, *marked), view.say(f"measure_{measure}")
    view.figure("scatter", points, chart, state=state, click=to_head, measure=named)
    _measures(view, correlations, asked)
    best = view.ask(effect_prediction.best, **asked)
    best["measure"] = best["measure"].map(lambda name: view.say(f"measure_{name}"))
    view.table(
        "best", best, ["layer", "measure", "spearman", "low", "high"], state=(*asked.values(),)
    )


def _measures(view: View, correlations: pd.DataFrame, asked: dict[str, str]) -> None:
    """Draw ρ of every measure, within layers, between them and over all heads."""
    shown = correlations[correlations["level"].isin(LEVELS[1:])]
    names = {name: view.say(f"measure_{name}") for name in (*MEASURES, RANDOM)}
    levels = {name: view.say(f"level_{name}") for name in LEVELS[1:]}
    shown = shown.assign(measure=shown["measure"].map(names), level=shown["level"].map(levels))
    present = [name for name in names.values() if name in set(shown["measure"])]
    chart = bars(
        shown,
        x="level",
        y="spearman",
        colour="measure",
        colours=dict(zip(present, MANY_COLOURS, strict=False)),
        order=[*levels.values()],
        domain=(-1, 1),
        format="+.2f",
    )
    view.figure("measures", shown, chart, state=(*asked.values(),))


def _finding(view: View, heads: pd.DataFrame, correlations: pd.DataFrame, quantity: str) -> str:
    """Report the mean and the largest effect, and the measure that foretells effects best."""
    written = percent if quantity == "length" else _number
    largest = heads.nlargest(1, "mean").iloc[0]
    sentences = [
        view.say(
            f"finding_{quantity}",
            mean=written(float(heads["mean"].mean())),
            head=head_name(int(largest["layer"]), int(largest["head"])),
            most=row_with_interval(largest, written=written),
        )
    ]
    sentences += [sentence for _, sentence in _foretold(correlations)]
    return " ".join(sentences)


def _foretold(correlations: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, str]]:
    """Yield ρ within layers, the largest first and a random head second, and the sentence on them;
    nothing without a measure."""
    within = correlations[correlations["level"] == "within"].rename(
        columns={"measure": "name", "spearman": "value"}
    )
    is_chance = within["name"] == RANDOM
    measured = within[~is_chance].sort_values("value", ascending=False)
    evidence = pd.concat([measured[:1], within[is_chance], measured[1:]])
    evidence = evidence[["name", "value", "low", "high"]]
    if len(evidence) < 2:
        return
    names = evidence["name"].map(lambda name: say(f"habits.effect.measure_{name}"))
    sentence = say(
        "finding.effect",
        n=len(evidence) - 1,
        measure=names.iloc[0],
        rho=row_with_interval(evidence.iloc[0], "value"),
        chance=row_with_interval(evidence.iloc[1], "value"),
    )
    yield evidence.assign(name=names), f"{sentence} {verdict(compared(evidence, RANDOM))}"


def _number(value: float) -> str:
    return f"{value:.3f}"

"""Effect of heads on what the model makes of a text, and which measure of a head foretells it."""

import pandas as pd

from analysis.effects import CHANGES, FILLINGS, LEVELS, MEASURES, RANDOM, STRONGEST, TOGETHER
from analysis.statistics.heads import contribution, effect_prediction, head_effect
from analysis.statistics.norms import token_type_mixing
from pages.head_habits.opened_head import opened_head
from pages.ui.charts.colours import MANY_COLOURS
from pages.ui.charts.points import scatter
from pages.ui.charts.standard import bars
from pages.ui.head.choice import head_name, head_of, to_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import percent, signed


@section(
    "effect",
    head_effect.TABLE,
    effect_prediction.TABLE,
    contribution.TABLE,
    token_type_mixing.TABLE,
    also=(head_effect.PER_SEQUENCE, head_effect.PAIR, contribution.PER_SEQUENCE),
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
    _pairs(view)


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


def _pairs(view: View) -> None:
    """Tabulate the pairs of strong heads whose effects add up least."""
    pairs = view.ask(head_effect.pairs, limit=STRONGEST)
    if pairs.empty:
        return
    pairs["pair"] = [f"{head_of(row, '_a')} + {head_of(row, '_b')}" for _, row in pairs.iterrows()]
    view.finding(_sum(view, view.ask(head_effect.all_pairs)))
    view.table("pairs", pairs, ["pair", "together", "summed", "missed", "n_sequences"])


def _sum(view: View, means: pd.DataFrame) -> str:
    rows = means.set_index("quantity")
    return view.say(
        "pairs_finding",
        **{name: row_with_interval(rows.loc[name], written=percent) for name in TOGETHER},
    )


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
    within = correlations[correlations["level"] == "within"].set_index("measure")
    measured = within.drop(index=RANDOM, errors="ignore")
    if len(measured):
        best = str(measured["spearman"].idxmax())
        sentences.append(
            view.say(
                "foretold",
                measure=view.say(f"measure_{best}"),
                rho=row_with_interval(within.loc[best], "spearman", signed),
                chance=row_with_interval(within.loc[RANDOM], "spearman", signed),
            )
        )
    return " ".join(sentences)


def _number(value: float) -> str:
    return f"{value:.3f}"

"""Test of the paper's claim: phase shifts of queries and keys predict the preferred offset."""

from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.published.numbers import Published
from analysis.published.positions import OFFSETS, SHIFT
from analysis.statistics.parts import OF_HEADS
from analysis.statistics.positions import head_offset, query_key_wave
from analysis.statistics.positions.head_offset import KERNEL, MIN_DEPENDENCES, REACH
from pages.positions.offsets import (
    agreement_at_zero,
    agreement_of,
    agreement_of_dependent,
    agreement_words,
    beside_chance,
    counting_picker,
    head_row,
    heads_compared,
)
from pages.positions.spectra.peaks import UNIT
from pages.ui.charts.chart_theme import (
    Chart,
    cell_selection,
    column_tooltips,
    flat_axis,
    layered,
    ramp,
    ringed,
)
from pages.ui.charts.colours import AGREEMENT_COLOUR, NEUTRAL, SERIES_COLOURS
from pages.ui.charts.encodings import named, places
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.head.choice import head_of, to_head
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import side_of, with_interval
from pages.ui.words.levels import carried
from pages.ui.words.numbers import count, offset_label, percent
from pages.ui.words.say import say
from pages.ui.words.scope import say_here

_LEAST = tuple(f"{least:g}" for least in MIN_DEPENDENCES)  # as the address writes them
_CELL, _AROUND = 44, 70  # heights of a cell and of the axis below, in pixels
_ROOM = 0.84  # of a cell that dots are put into
_LARGEST = 150  # area of a dot, in square pixels


def _summary(inquiry: Inquiry) -> Findings:
    """Test the paper's claim over all heads and over the position-dependent ones.

    Heads that agree at offset 0, where nothing is shifted, are counted separately.
    """
    counting = KERNEL if inquiry.store.knows_offsets else "sum"  # as in the paper
    every = agreement_of(inquiry, counting, 0.0)
    if every is None:
        return
    heads = heads_compared(inquiry, counting)
    sentences = [
        say("finding.claim", n=count(every["n_heads"]), **agreement_words(every)),
        beside_chance(every),
        agreement_at_zero(heads[heads["dependence"] >= 0]),
        agreement_of_dependent(inquiry, counting),
    ]
    ends = ("agreement", "agreement_low", "agreement_high")
    agreement, chance = (say(f"positions.claim.column.{name}") for name in ("agreement", "chance"))
    yield Finding(
        say("finding.label_claim"),
        percent(every["agreement"]),
        " ".join(filter(None, sentences)),
        rows_of([(agreement, *map(float, every[[*ends]])), (chance, float(every["chance"]))]),
        baseline=chance,
    )


@section(
    "claim",
    head_offset.AGREEMENT,
    head_offset.TABLE,
    when=lambda store: store.has_offsets,
    findings=_summary,
)
def claim(view: View) -> None:
    least = float(view.pick("least", _LEAST))
    counting = counting_picker(view)
    heads = heads_compared(view, counting)
    heads = heads[heads["dependence"] >= least]
    if heads.empty:
        return view.nothing("none", least=f"{least:g}")
    agreement = view.ask(head_offset.agreement, counting=counting, min_dependence=least)
    view.finding(_finding(view, agreement_of(view, counting, least), heads))
    if not least:
        view.finding(agreement_of_dependent(view, counting))
    view.finding(_disagreement(view, heads))
    if view.store.is_causal:
        view.finding(view.say("causal"))
    marked, choices = head_row(view), (counting, f"{least:g}")
    caption = view.say(f"map_caption_{counting}")
    chart = _offset_map(heads, marked=marked)
    view.figure("map", heads, chart, state=(*choices, *marked), click=to_head, caption=caption)
    layers = agreement.dropna(subset=["layer", "agreement"]).astype({"layer": "int64"})
    if len(layers):
        view.figure("layers", layers, _agreement_chart(layers), state=choices)
    columns = dict.fromkeys(("layer", "head", "dependence", "score", "attention", "distance"))
    columns |= {"attention": "%d", "agree": None}
    most_dependent_first = heads.sort_values("dependence", ascending=False)
    view.table("table", most_dependent_first, columns, state=counting)
    if view.store.adds_positions:  # as the models of the paper do
        shown = view.ask(query_key_wave.amplitudes, layer=SHIFT.layer, head=SHIFT.head)
        show_published(view, "heads", *published_offsets(view.ask(head_offset.heads), shown))


def _finding(view: View, row: pd.Series | None, heads: pd.DataFrame) -> str:
    """Report the share of heads that agree, that expected by chance, and the rank correlation."""
    if row is None:
        return view.say("too_few")
    finding = view.say(
        "finding",
        same=round(row["agreement"] * row["n_heads"]),
        n=int(row["n_heads"]),
        **agreement_words(row),
    )
    rho = with_interval(*row[["spearman", "spearman_low", "spearman_high"]])
    holds_0 = side_of(*row[["spearman_low", "spearman_high"]]) == "unclear"
    kind = "no_spearman" if pd.isna(row["spearman"]) else f"spearman{'_unclear' * holds_0}"
    parts = "" if pd.isna(row["spearman"]) else carried(row, OF_HEADS)
    sentences = [finding, beside_chance(row), view.say(kind, rho=rho), agreement_at_zero(heads)]
    return " ".join(filter(None, [*sentences, parts]))


def _disagreement(view: View, heads: pd.DataFrame) -> str:
    """Describe the heads that contradict the claim, and the most frequent contradiction."""
    wrong = heads[~heads["agree"]]
    if wrong.empty:
        return view.say("all_agree")
    most = wrong.groupby(["score", "attention"]).size().reset_index(name="n").nlargest(1, "n")
    cell, head = most.iloc[0], wrong.nlargest(1, "dependence").iloc[0]
    return view.say(
        "disagreement",
        n=len(wrong),
        side=int((wrong["score"] * wrong["attention"] > 0).sum()),
        edge=int((wrong["score"].abs() == REACH).sum()),
        many=int(cell["n"]),
        **cell[["score", "attention"]].map(offset_label).add_prefix("many_"),
        head=head_of(head),
        dependence=f"{head['dependence']:.2f}",
        **head[["score", "attention"]].map(offset_label),
    )


def published_offsets(heads: pd.DataFrame, phases: pd.DataFrame) -> list[Row]:
    """Rows for the offsets of highest score and the shift of one head's waves, with the paper's.

    The shift is taken at the frequency of the highest amplitude. Rows without a value have None.

    Args:
        heads: layer, head, score_offset, from `head_offset.heads`.
        phases: phase, frequency, amplitude of the head whose shift is printed.
    """
    offsets = heads.set_index(["layer", "head"])["score_offset"]
    rows = [
        Row(_of_head("offset", number), number, offsets.get((number.layer, number.head)))
        for number in OFFSETS
    ]
    highest = phases[phases["frequency"] > 0].nlargest(1, "amplitude")
    shift = UNIT * highest["phase"] / (2 * np.pi * highest["frequency"])  # tokens
    return [*rows, Row(_of_head("shift", SHIFT), SHIFT, next(iter(shift), None))]


def _of_head(quantity: str, number: Published) -> str:
    where = say("published.head", layer=number.layer, head=number.head)
    return statistic_of(where, say(f"positions.published.{quantity}"))


def _offset_map(heads: pd.DataFrame, *, marked: tuple[int, int]) -> Any:
    """Draw all heads as dots in a table of score offset and attention offset.

    Heads on the diagonal agree with the prediction. Offsets that no head has are left out of both
    axes.
    """
    offsets = sorted({*heads["score"].tolist(), *heads["attention"].tolist()})
    dots = _arranged(heads, offsets)
    size = min((0.8 * _ROOM * _CELL / dots["side"].max()) ** 2, _LARGEST)
    names = list(map(offset_label, offsets))
    x = places(alt.X, names, title=say_here("score_axis"))
    y = places(alt.Y, names, title=say_here("attention_axis"))
    base = Chart(dots).encode(x=x, y=y)
    scheme = alt.SchemeParams(name="viridis", extent=[0.12, 0.95])
    scale = alt.Scale(type="sqrt", scheme=scheme, domainMin=0)
    name, legend = title("dependence"), ramp(".2~f")
    integers = dict.fromkeys(("layer", "head", "score", "attention"), "d")
    marks = (
        base.mark_circle(size=size, opacity=1, cursor="pointer", stroke="#80808080")
        .encode(
            color=alt.Color("dependence:Q", title=name, scale=scale, legend=legend),
            tooltip=column_tooltips(dots, **integers, dependence=".2f", n="d"),
        )
        .add_params(cell_selection("cell", "layer", "head"))
    )
    layers = [*_ground(len(offsets), x, y), marks, ringed(base, marked, size=size * 2.4)]
    return layered(*layers, height=_CELL * max(len(offsets), 5) + _AROUND)


def _arranged(heads: pd.DataFrame, offsets: list[int]) -> pd.DataFrame:
    """Position of each head in its cell: rows of dots, the most position-dependent first."""
    heads = heads.sort_values("dependence", ascending=False)
    cells = heads.groupby(["score", "attention"])
    place, n = cells.cumcount(), cells["head"].transform("size")
    side = np.ceil(np.sqrt(n))
    across = (place % side + 0.5) / side - 0.5
    down = (place // side + 0.5) / np.ceil(n / side) - 0.5
    x, y = (heads[column].map(offsets.index) for column in ("score", "attention"))
    return heads.assign(x=x + _ROOM * across, y=y - _ROOM * down, side=side, n=n)


def _ground(n: int, x: Any, y: Any) -> list[Any]:
    """Draw the cells of the table, those of the diagonal tinted."""
    half = _ROOM / 2 + 0.04
    cells = [
        {"x": a - half, "x2": a + half, "y": b - half, "y2": b + half, "same": a == b}
        for a, b in product(range(n), repeat=2)
    ]
    ground = Chart(pd.DataFrame(cells))
    ground = ground.encode(x=x, y=y, x2=alt.X2("x2"), y2=alt.Y2("y2"))
    tints = (("!datum.same", NEUTRAL, 0.07), ("datum.same", AGREEMENT_COLOUR, 0.28))
    return [
        ground.transform_filter(which).mark_rect(
            color=colour, opacity=opacity, tooltip=False, aria=False
        )
        for which, colour, opacity in tints
    ]


def _agreement_chart(layers: pd.DataFrame) -> Any:
    """Draw the share of heads that agree in each layer, with its interval, and that by chance."""
    names = {column: title(column) for column in ("agreement", "chance")}
    shown = layers.assign(**{f"of_{column}": name for column, name in names.items()})
    shares = dict.fromkeys(("agreement", "agreement_low", "agreement_high", "chance"), ".0%")
    base = Chart(shown).encode(
        x=alt.X("layer:O", title=title("layer"), axis=flat_axis()),
        tooltip=column_tooltips(shown, layer="d", n_heads="d", **shares),
    )
    height: dict[str, Any] = {
        "title": say_here("layers_axis"),
        "axis": alt.Axis(format="%", tickCount=5),
        "scale": alt.Scale(domain=[0, 1]),
    }
    colours = dict(zip(names.values(), SERIES_COLOURS, strict=False))
    ours, chance = (named(f"of_{column}", colours, symbolType="square") for column in names)
    interval = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("agreement_low:Q", **height), y2=alt.Y2("agreement_high"), color=ours
    )
    ticks = base.mark_tick(thickness=3, width=26, opacity=1)
    points = base.mark_circle(size=90, opacity=1)
    return layered(
        interval,
        ticks.encode(y=alt.Y("chance:Q", **height), color=chance),
        points.encode(y=alt.Y("agreement:Q", **height), color=ours),
        height=300,
    )

"""Page on one text or image: shares between its tokens, vectors of a head, pairs that change."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.effects import ZERO
from analysis.statistics.corpus import SEQUENCES, TOKENS
from analysis.statistics.heads import head_effect
from analysis.statistics.pairs import pair_delta, pair_occurrence
from analysis.statistics.positions import exemplar_attention
from pages.kit.kinds import Custom, Drawn, HeadMap, Lines, Table
from pages.kit.kinds import Rows as RowsOfDots
from pages.kit.page import data_page
from pages.kit.section import (
    HEAD,
    Choices,
    Figure,
    Finding,
    Pick,
    Rows,
    Section,
    of_head,
    rows_of,
    when,
)
from pages.sequences import changes, maps, vectors
from pages.sequences.subject import pick_subject
from pages.ui.charts.colours import AMPLIFIED, ATTENUATED, NEUTRAL
from pages.ui.live.live_model import run_on
from pages.ui.store.inquiry import Inquiry

SUBJECT = Pick("subject", kind=pick_subject)
_EFFECT = f"""
    select mean as value, low, high from head_effect where filling = '{ZERO}'
        and quantity = 'length' and token_type is null and layer = $layer and head = $head"""


def exactly(name: str, value: float, **fillers: Any) -> dict[str, Any]:
    """Row of a finding for a number of this text, which is no estimate."""
    return {"name": name, "value": value, "low": value, "high": value, **fillers}


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on a map: the token that gives most, or what differs."""
    if choices["kind"] == "compared":
        return compared(inquiry, choices)
    shares, subject, token = maps.shown_map(inquiry, choices), choices["subject"], choices["token"]
    n, names = len(shares), subject.names
    seen = np.tril(np.ones((n, n))) if inquiry.store.is_causal else np.ones((n, n))
    even = seen / seen.sum(axis=1, keepdims=True)
    others, of_others = (of - np.diag(of.diagonal()) for of in (shares, even))
    if token is not None and token < n:
        row, of_even, name = others[token], of_others[token], "taken"
    else:
        row, of_even, name = others.mean(axis=0), of_others.mean(axis=0), "given"
    most = int(row.argmax())
    of = {"source": names[most], "target": "" if token is None else names[token]}
    of |= of_head(choices) if "head" in choices else {}
    name = f"{name}_{choices.get('weighing', 'scope')}"
    rows = [exactly(name, row[most], **of), exactly("even", of_even[most])]
    if choices["kind"] == "heads" and name.startswith("given"):
        other = next(of for of in maps.OF_HEADS if of != choices["quantity"])
        if (of_other := maps.map_of(inquiry, subject, other, **of_head(choices))) is not None:
            given = (of_other - np.diag(of_other.diagonal())).mean(axis=0)[most]
            rows.append(exactly(f"other_{maps.OF_HEADS[other]}", given, beside=True))
    elif name.startswith("given"):
        rows.append(exactly("own", shares.diagonal().mean(), beside=True))
    return pd.DataFrame(rows)


def compared(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on a second text, or on a text without one head."""
    away, rows = choices["away"], []
    every = maps.moved(inquiry, choices)
    if away is not None:
        layer, head = away
        without = without_head(inquiry, choices)
        change = [float(of) for of in without.changes.mean(axis=-1)]
        of = {"sentence": 1, "layer": layer, "head": head}
        rows.append(exactly("without", change[0], **of))
        rows.append(exactly("without_layer", change[1], **of))
        if inquiry.store.holds(head_effect.TABLE):
            stored = rows_of(_EFFECT, inquiry, {"layer": layer, "head": head})
            rows += [{"name": "without_corpus", **of, **row} for row in stored.to_dict("records")]
        if without.before:
            n = sum(a != b for a, b in zip(without.before, without.after, strict=True))
            rows.append({"sentence": 3, "name": "predicted", "n": n, "of": len(without.before)})
        every = every[every["layer"] > layer]
    else:
        at, _ = maps.shared_tokens(choices["subject"], choices["second"])
        tokens = [len(choices[name].tokens) for name in ("subject", "second")]
        of = {"n": len(at), "of": tokens[0], "other": tokens[1]}
        rows.append({"sentence": 3, "name": "tokens", **of})
    known = every.dropna(subset="mean")
    if len(known):
        most = known.loc[known["mean"].idxmax()]
        of = {"layer": int(most["layer"]), "head": int(most["head"]), "sentence": 2}
        rows.append(exactly("moved", float(most["mean"]), **of))
        rows.append(exactly("median", float(known["mean"].median()), sentence=2))
    return pd.DataFrame(rows).sort_values("sentence", kind="stable", ignore_index=True)


def without_head(inquiry: Inquiry, choices: Choices) -> Any:
    layer, head = choices["away"]
    reading = choices["subject"].reading
    return run_on(inquiry.store, "without_head", reading, layer=layer, head=head)


def outputs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """How far each token's last vector moves without the head: pos, token, share of its length."""
    if choices["away"] is None:
        return pd.DataFrame()
    names, change = choices["subject"].names, without_head(inquiry, choices).changes[0]
    return pd.DataFrame({"pos": range(len(names)), "token": names, "share": change.astype(float)})


def predictions(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """What the model predicts with and without the head, those first that change most."""
    if choices["away"] is None:
        return pd.DataFrame()
    found, names = without_head(inquiry, choices), choices["subject"].names
    frame = pd.DataFrame(
        {
            "token": ["" if at is None else names[at] for at in found.places],
            "before": found.before,
            "p_before": found.probabilities[0],
            "p_after": found.probabilities[1],
            "after": found.after,
        }
    )
    change = (frame["p_after"] - frame["p_before"]).abs().sort_values(ascending=False)
    return frame.loc[change.index].reset_index(drop=True)


HEADS, COMPARED, SCOPE = ({"kind": (kind,)} for kind in ("heads", "compared", "scope"))
OF_HEAD = {"kind": ("heads", "compared")}
PANELS = Figure(
    "panels",
    maps.panels,
    Custom(chart=maps.draw_panels),
    click={"token": "target_pos"},
    word="panels_{kind}",
)
TOKENS_SHADED = Drawn(record=maps.show_tokens)
FOLLOWED = Lines(value="share", colour="token", format=".0%")
LINES = Figure("lines", maps.lines, Drawn(record=maps.show_lines), half=True)
MAP = Section(
    "map",
    (),
    picks=(SUBJECT, Pick("map", kind=maps.pick_map)),
    figures=(
        Figure("grid", maps.heads, Drawn(record=maps.show_grid), HEADS, click=HEAD, half=True),
        Figure("moved", maps.moved, HeadMap(format=".1%"), COMPARED, click=HEAD, half=True),
        *when({"input": ("text",)} | OF_HEAD, LINES),
        Figure("tokens", maps.tokens, TOKENS_SHADED, {"input": ("image",)} | OF_HEAD, half=True),
        *when(OF_HEAD, PANELS),
        *when(SCOPE, replace(PANELS, half=True)),
        Figure("tokens", maps.tokens, TOKENS_SHADED, SCOPE, half=True),
        *when(
            {"is_followed": (True,)},
            Figure("takes", maps.takes, FOLLOWED, half=True),
            Figure("gives", maps.gives, FOLLOWED, half=True),
        ),
        Figure("outputs", outputs, TOKENS_SHADED, COMPARED),
        Figure(
            "predictions",
            predictions,
            Table(
                columns={"token": None, "before": None, "p_before": "percent"}
                | {"p_after": "percent", "after": None}
            ),
            COMPARED,
        ),
    ),
    finding=Finding(found, format=".1%", overview=()),
    also=(SEQUENCES, TOKENS, exemplar_attention.TABLE, head_effect.TABLE),
)

VECTORS = Section(
    "vectors",
    (),
    picks=(SUBJECT, Pick("of", kind=vectors.pick_query)),
    figures=(
        Figure("arrows", vectors.arrows, Custom(chart=vectors.draw_arrows, width="content")),
        Figure("bars", vectors.bars, Custom(chart=vectors.draw_bars, width="content")),
    ),
    finding=Finding(vectors.found, overview=()),
    also=(SEQUENCES, TOKENS),
)


def direction(name: str, rows: Rows, colour: str) -> Figure:
    """Pairs of one direction, each with its mean in the corpus."""
    colours = {"here": colour, "corpus": NEUTRAL}
    chart = RowsOfDots(
        y="pair",
        value=changes.HERE,
        colour="side",
        colours=colours,
        more=("distance", "n"),
        level=0.0,
        format="+.2f",
    )
    return Figure(name, rows, chart, half=True, notes=("chance",))


PAIRS = Section(
    "pairs",
    (pair_delta.TABLE,),
    picks=(
        SUBJECT,
        Pick("layer", lambda inquiry, _: inquiry.store.layers, kind="select"),
        Pick(
            "effect",
            lambda inquiry, _: list(inquiry.store.layer_order.effects),
            "ff",
            kind="select",
        ),
        Pick("special", ("in", "out")),
    ),
    figures=(
        direction("amplified", changes.amplified, AMPLIFIED),
        direction("attenuated", changes.attenuated, ATTENUATED),
        Figure("far", changes.far, Table(columns=changes.COLUMNS)),
    ),
    finding=Finding(changes.found, overview=()),
    also=(pair_occurrence.TABLE,),
)

PAGE = data_page("sequences", "seq", (MAP, VECTORS, PAIRS), moved={"odd": "map"})

if __name__ == "__main__":
    PAGE.show()

"""Page on one text or image: shares between its tokens, vectors of a head, pairs that change."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.effects import ZERO
from analysis.statistics.corpus import SEQUENCES, TOKENS
from analysis.statistics.heads.single_heads import HEAD_EFFECT
from analysis.statistics.pairs import pair_delta, pair_occurrence
from analysis.statistics.positions import exemplar_attention
from pages.charts.colours import AMPLIFIED, ATTENUATED, NEUTRAL
from pages.charts.maps import HeadMap
from pages.charts.plots import Lines, Rows
from pages.kit.grammar import exactly
from pages.kit.kinds import Custom, Drawn, Table
from pages.kit.page import Page
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, of_head, rows_of, when
from pages.sequences import changes, maps, vectors
from pages.sequences.subject import pick_subject, shared_tokens
from pages.services.inquiry import Inquiry
from pages.services.live_model import run_on

SUBJECT = Pick("subject", kind=pick_subject)
_EFFECT = f"""
    select mean as value, low, high from head_effect where filling = '{ZERO}'
        and quantity = 'length' and token_type is null and layer = $layer and head = $head"""


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on a map: the token that gives most, or what differs."""
    if choices["of_what"] == "compared":
        return compared(inquiry, choices)
    shares, subject, token = maps.shown_map(inquiry, choices), choices["subject"], choices["token"]
    n, names, weighing = len(shares), subject.names, choices.get("weighing", "scope")
    seen = np.tril(np.ones((n, n))) if inquiry.store.is_causal else np.ones((n, n))
    even = seen / seen.sum(axis=1, keepdims=True)
    others, of_others = (of - np.diag(of.diagonal()) for of in (shares, even))
    is_taken = token is not None
    row, of_even = (of[token] if is_taken else of.mean(axis=0) for of in (others, of_others))
    most = int(row.argmax())
    of = {"source": names[most], "target": names[token or 0]}
    of |= of_head(choices) if "head" in choices else {}
    name = f"{'taken' if is_taken else 'given'}_{weighing}"
    rows = [exactly(name, row[most], **of), exactly("even", of_even[most])]
    if "head" not in choices:
        rows.append(exactly("own", shares.diagonal().mean(), beside=True))
    for other in () if is_taken or "head" not in choices else maps.OF_HEADS:
        of_other = maps.map_of(inquiry, subject, other, **of_head(choices))
        if other != choices["quantity"] and of_other is not None:
            given = of_other[:, most].sum() - of_other[most, most]
            rows.append(exactly(f"other_{maps.OF_HEADS[other]}", given / n, beside=True))
    return pd.DataFrame(rows)


def compared(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on a second text, or on a text without one head."""
    every, subject, second = maps.moved(inquiry, choices), choices["subject"], choices["second"]
    rows: list[dict[str, Any]] = []
    if second is None:
        layer, head = choices["away"]
        without, of = without_head(inquiry, choices), {"sentence": 1, "layer": layer, "head": head}
        for name, change in zip(("without", "without_layer"), without.changes, strict=True):
            rows.append(exactly(name, change.mean(), **of))
        if inquiry.store.holds(HEAD_EFFECT):
            stored = rows_of(_EFFECT, inquiry, of).to_dict("records")
            rows += [{"name": "without_corpus", **of, **row} for row in stored]
        if without.before:
            n = sum(a != b for a, b in zip(without.before, without.after, strict=True))
            rows.append({"sentence": 3, "name": "predicted", "n": n, "of": len(without.before)})
        every = every[every["layer"] > layer].reset_index(drop=True)
    else:
        sizes = {"n": len(shared_tokens(subject, second)), "of": len(subject.tokens)}
        rows.append({"sentence": 3, "name": "tokens", **sizes, "other": len(second.tokens)})
    if every["mean"].notna().any():
        most = every.iloc[int(every["mean"].argmax())].to_dict()
        of = {"layer": int(most["layer"]), "head": int(most["head"]), "sentence": 2}
        rows.append(exactly("moved", most["mean"], **of))
        rows.append(exactly("median", every["mean"].median(), sentence=2))
    return pd.DataFrame(rows).sort_values("sentence", kind="stable", ignore_index=True)


def without_head(inquiry: Inquiry, choices: Choices) -> Any:
    layer, head = choices["away"]
    reading = choices["subject"].reading
    return run_on(inquiry.store, "without_head", reading, layer=layer, head=head)


def outputs(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Move of each token's last vector without the head: pos, token, share of its length."""
    names, change = choices["subject"].names, without_head(inquiry, choices).changes[0]
    return pd.DataFrame({"pos": range(len(names)), "token": names, "share": change.astype(float)})


def predictions(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Predictions with and without the head, those first that change most."""
    found, names = without_head(inquiry, choices), choices["subject"].names
    of = {"token": ["" if at is None else names[at] for at in found.places]}
    of |= dict(zip(("p_before", "p_after"), found.probabilities, strict=True))
    frame = pd.DataFrame({**of, "before": found.before, "after": found.after})
    change = (frame["p_after"] - frame["p_before"]).abs()
    return frame.iloc[np.argsort(-change, kind="stable")].reset_index(drop=True)


HEADS, COMPARED, SCOPE = ({"of_what": (of,)} for of in ("heads", "compared", "scope"))
WITHOUT = COMPARED | {"second": (None,)}
OF_HEAD = {"of_what": ("heads", "compared")}
TO_TOKEN = {"token": "target_pos"}
DRAWN = Custom(chart=maps.draw_panels)
PANELS = Figure(
    "panels",
    maps.panels,
    DRAWN,
    click=TO_TOKEN,
    captions=lambda frame, _: (
        "panels_caption",
        *(("panels_change",) if (frame["panel"] == "change").any() else ()),
    ),
)
TOKENS_SHADED = Drawn(record=maps.show_tokens)
PREDICTED = {
    "token": None,
    "before": None,
    "p_before": "percent",
    "p_after": "percent",
    "after": None,
}
LENGTHS = {"name": None, "attention": "percent", "value_norm": "%.3f", "weighted_norm": "%.3f"}
FOLLOWED = Lines(value="share", colour="token", format=".0%")
LINES = Figure("lines", maps.lines, Drawn(record=maps.show_lines), half=True)
MAP = Section(
    "map",
    (),
    picks=(SUBJECT, Pick("map", kind=maps.pick_map)),
    figures=(
        Figure("grid", maps.heads, Drawn(record=maps.show_grid), HEADS, click=HEAD, half=True),
        Figure("moved", maps.moved, HeadMap(format=".1%"), COMPARED, click=HEAD, half=True),
        replace(LINES, when={"input": ("text",)} | OF_HEAD),
        Figure("tokens", maps.tokens, TOKENS_SHADED, {"input": ("image",)} | OF_HEAD, half=True),
        replace(PANELS, when=OF_HEAD),
        replace(PANELS, when=SCOPE, half=True),
        Figure("tokens", maps.tokens, TOKENS_SHADED, SCOPE, half=True),
        *when(
            {"is_followed": (True,)},
            Figure("takes", maps.takes, FOLLOWED, half=True),
            Figure("gives", maps.gives, FOLLOWED, half=True),
        ),
        Figure("outputs", outputs, TOKENS_SHADED, WITHOUT),
        Figure("predictions", predictions, Table(columns=PREDICTED), WITHOUT),
    ),
    finding=Finding(found, format=".1%", overview=()),
    also=(SEQUENCES, TOKENS, exemplar_attention.TABLE, HEAD_EFFECT),
)

VECTORS = Section(
    "vectors",
    (),
    picks=(SUBJECT, Pick("of", kind=vectors.pick_query)),
    figures=(
        Figure(
            "arrows", lambda *of: vectors.parts_of(*of).arrows, Custom(chart=vectors.draw_arrows)
        ),
        Figure("bars", lambda *of: vectors.parts_of(*of).bars, Table(columns=LENGTHS)),
    ),
    finding=Finding(vectors.found, overview=()),
    also=(SEQUENCES, TOKENS),
)

OF_PAIR: dict[str, Any] = {"y": "pair", "value": changes.HERE, "colour": "side", "level": 0.0}
MORE, LESS = ({"here": colour, "corpus": NEUTRAL} for colour in (AMPLIFIED, ATTENUATED))
DOTS = Rows(**OF_PAIR, more=("distance", "n"), format="+.2f")
PAIRS = Section(
    "pairs",
    (pair_delta.TABLE,),
    picks=(
        SUBJECT,
        Pick("layer", lambda inquiry, _: inquiry.store.layers, kind="select"),
        Pick("effect", lambda file, _: list(file.store.layer_order.effects), "ff", kind="select"),
        Pick("special", ("in", "out")),
        Pick("changes", kind=changes.changes),
    ),
    figures=(
        Figure("amplified", changes.amplified, replace(DOTS, colours=MORE), half=True),
        Figure("attenuated", changes.attenuated, replace(DOTS, colours=LESS), half=True),
        Figure("far", changes.far, Table(columns=changes.COLUMNS), notes=("chance",)),
    ),
    finding=Finding(changes.found, overview=()),
    also=(pair_occurrence.TABLE,),
)

PAGE = Page("sequences", "seq", (MAP, VECTORS, PAIRS), moved={"odd": "map"})

if __name__ == "__main__":
    PAGE.show()

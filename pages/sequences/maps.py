"""Maps of one sequence: their rows, and what is drawn of them beside usual charts."""

import base64
from functools import partial
from html import escape
from io import BytesIO
from typing import Any
from warnings import catch_warnings, simplefilter

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from analysis.statistics.norms.weighing import NORM, WEIGHINGS, WEIGHT
from pages.kit.section import Choices, Figure
from pages.sequences.subject import Subject, shared_tokens
from pages.ui.charts import shading
from pages.ui.charts.chart_theme import Chart, cell_selection, layered, tooltips
from pages.ui.charts.colours import MARKED, WEIGHING_COLOURS
from pages.ui.charts.head_map import CELL
from pages.ui.charts.texts.attention_lines import TextAttention, attention_lines
from pages.ui.charts.token_map import pointing, token_map
from pages.ui.head.choice import short_name
from pages.ui.head.picker import every_head, pick_head
from pages.ui.live.live_model import layer_maps
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.names import scope_name
from pages.ui.words.say import say
from pages.ui.words.scope import say_here
from pages.ui.words.units import PERCENT, POINTS, in_unit, named_in, with_unit

OF_HEADS = {f"head_{weighing}": weighing for weighing in WEIGHINGS}
"""Quantities of single heads, and how they measure attention."""
_MEAN_NORM, _NONE = "mean_norm", "none"
_LINES, _MOST = 24, 130  # tokens of a longer text whose lines are drawn; that a map has room for
_STRONGEST = 5  # tokens that are followed through the layers
_SHARE = named_in(PERCENT, "share")
_SIDES = {1: 400, 2: 360, 3: 212}  # pixels to a side of a map, by the number of maps
_GRID = (440, 330)  # pixels: width and height of the maps of all heads
_APART = 0.08  # of a cell, between pictures
_POOLED, _SHARP = 32, 64  # pixels to a side of a head's map: at most of a text; at least of any


def pick_map(view: View, choices: Choices) -> dict[str, Any]:
    """Let the reader pick heads or a scope, and what belongs to it.

    Choices: `quantity`, `layer`, `token` (None if none is looked at), `kind` (`heads`, `compared`
    or `scope`), `input`; of heads `head`, `weighing` and `away`, the head that is taken away.
    """
    subject: Subject = choices["subject"]
    names = {name: view.say(f"quantity_{name}") for name in (*OF_HEADS, _MEAN_NORM)}
    names |= {scope: scope_name(scope) for scope in view.store.layer_order.scopes}
    quantity = view.pick("quantity", names, kind="select")
    chosen: dict[str, Any] = {"quantity": quantity, "kind": "scope", "away": None}
    if quantity in OF_HEADS:
        chosen["layer"], chosen["head"] = pick_head(view, default=every_head(view.store)[0])
        chosen["weighing"] = OF_HEADS[quantity]
        chosen["kind"] = "heads" if choices["second"] is None else "compared"
    else:
        chosen["layer"] = view.pick("layer", view.store.layers, kind="select")
    with view.fold(view.say("more")):
        if chosen["kind"] == "heads" and subject.reading is not None:
            every = (f"{layer}-{head}" for layer, head in every_head(view.store))
            heads = {_NONE: view.say("none")} | {of: short_name(*of.split("-")) for of in every}
            if (away := view.pick("away", heads, kind="select")) != _NONE:
                chosen |= {"away": tuple(map(int, away.split("-"))), "kind": "compared"}
        tokens = {_NONE: view.say("none"), **dict(enumerate(subject.names))}
        token = view.pick("token", tokens, kind="select")
    chosen["token"] = None if token == _NONE else int(token)
    chosen |= {"is_followed": token != _NONE, "input": "image" if subject.ground else "text"}
    if map_of(view, subject, quantity, chosen["layer"]) is None:
        view.end("no_map")
    return chosen


def map_of(
    inquiry: Inquiry, subject: Subject, quantity: str, layer: int, head: int | None = None
) -> Any:
    """Share of every key in each query; of heads without a head, the mean over those of a layer.

    None if neither the file nor the model has it.
    """
    order, at = inquiry.store.layer_order, list(inquiry.store.layers).index(layer)
    weighing = {order.scopes[0]: WEIGHT, _MEAN_NORM: NORM}.get(quantity, OF_HEADS.get(quantity))
    if weighing is not None:
        of_layer = subject.maps(inquiry).get(weighing, {at: None})[at]
        return of_layer if of_layer is None else _of(of_layer, head)
    if subject.reading is None:
        return None
    scopes = layer_maps(inquiry.store, subject.reading, layer=layer).scopes
    return scopes[order.scopes.index(quantity)]


def _of(maps: np.ndarray, head: int | None) -> np.ndarray:
    return maps.mean(axis=0) if head is None else maps[head - 1]


def shown_map(inquiry: Inquiry, choices: Choices) -> np.ndarray:
    """Map that is chosen."""
    of = (choices["quantity"], choices["layer"], choices.get("head"))
    return map_of(inquiry, choices["subject"], *of)


def _sides(inquiry: Inquiry, choices: Choices) -> tuple[Any, Any, list[int], list[int]]:
    """Maps of all heads of the first and of the second side, and the tokens that both have."""
    subject, second, weighing = (choices[name] for name in ("subject", "second", "weighing"))
    first = subject.maps(inquiry)[weighing]
    if second is not None:
        return first, second.maps(inquiry)[weighing], *shared_tokens(subject, second)
    every = list(range(first.shape[-1]))
    return first, subject.maps(inquiry, choices["away"])[weighing], every, every


def heads(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Every head, with the token that others look at most, by weight and by norm.

    Returns:
        layer, head, token, attention, norm_token, norm_share: means over the queries.
    """
    subject = choices["subject"]
    frame = pd.DataFrame(every_head(inquiry.store), columns=["layer", "head"])
    names = np.array(subject.names, dtype=object)
    columns = (("token", "attention"), ("norm_token", "norm_share"))
    for (token, share), maps in zip(columns, subject.maps(inquiry).values(), strict=False):
        given = maps.mean(axis=-2) - np.einsum("lhii->lhi", maps) / maps.shape[-1]
        frame[token] = names[given.argmax(axis=-1).ravel()]
        frame[share] = given.max(axis=-1).ravel().astype(float)
    return frame


def moved(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Share of each head's attention that goes elsewhere in the second text, or without a head.

    Half the sum of absolute differences, mean over the queries that both have; what goes to tokens
    of one text alone counts as gone.

    Returns:
        layer, head, mean.
    """
    first, second, at, to = _sides(inquiry, choices)
    ours, theirs = first[..., at, :], second[..., to, :]
    change = np.abs(theirs[..., to] - ours[..., at]).sum(axis=-1)
    for of, shared in ((ours, at), (theirs, to)):
        change = change + of.sum(axis=-1) - of[..., shared].sum(axis=-1)
    means = change.mean(axis=-1) / 2 if at else np.full(first.shape[:2], np.nan)
    frame = pd.DataFrame(every_head(inquiry.store), columns=["layer", "head"])
    return frame.assign(mean=means.ravel().astype(float).round(7))


def cells(names: list[str], shares: np.ndarray, places: Any, *, causal: bool) -> pd.DataFrame:
    """A row per cell: target_pos, source_pos, target, source, share.

    In a causal model, cells of later tokens have no share: they are masked.
    """
    target, source = (grid.ravel() for grid in np.meshgrid(places, places, indexing="ij"))
    if causal:
        target, source = (positions[source <= target] for positions in (target, source))
    named = np.array(names, dtype=object)
    of = {"target_pos": target, "source_pos": source}
    of |= {"target": named[target], "source": named[source]}
    return pd.DataFrame({**of, "share": shares[target, source].astype(float)})


def panels(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Cells of the maps of a head or scope side by side, by the column `panel`, in percent.

    Of a head by weight and by norm; or as it is in both texts, or with and without another head,
    with the difference of what both have.
    """
    subject, kind, layer = choices["subject"], choices["kind"], choices["layer"]
    names, made = subject.names, {"scope": (subject.names, shown_map(inquiry, choices), None)}
    if kind == "heads":
        of = {
            name: map_of(inquiry, subject, q, layer, choices["head"])
            for q, name in OF_HEADS.items()
        }
        made = {name: (names, shares, None) for name, shares in of.items() if shares is not None}
    elif kind == "compared":
        place = list(inquiry.store.layers).index(layer), choices["head"] - 1
        first, second, at, to = _sides(inquiry, choices)
        change = np.zeros(first.shape[-2:])
        change[np.ix_(at, at)] = second[place][np.ix_(to, to)] - first[place][np.ix_(at, at)]
        sides = ("with", "without") if choices["second"] is None else ("first", "second")
        others = names if choices["second"] is None else choices["second"].names
        made = {sides[0]: (names, first[place], None), sides[1]: (others, second[place], None)}
        made["change"] = (names, change, at[:_MOST])
    parts = [
        cells(
            called,
            shares,
            _window(len(shares), choices["token"]) if places is None else places,
            causal=inquiry.store.is_causal,
        ).assign(panel=panel)
        for panel, (called, shares, places) in made.items()
    ]
    return in_unit(pd.concat(parts, ignore_index=True), PERCENT, ["share"])


def _window(n: int, token: int | None) -> range:
    """Positions drawn in a map, around the selected token."""
    start = max(0, min((token or 0) - _MOST // 2, n - _MOST))
    return range(start, min(n, start + _MOST))


def draw_panels(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw maps side by side; what is pointed at is framed in all maps of the same tokens."""
    parts, drawn = dict(iter(frame.groupby("panel", sort=False))), []
    side = _SIDES[len(parts)]
    pointed = [pointing(name) for name in ("first", "second")]
    for panel, part in parts.items():
        is_change = panel == "change"
        legend = say_here(f"legend_{'change' if is_change else 'share'}")
        one = token_map(
            part.drop(columns="panel"),
            _SHARE,
            legend=with_unit(legend, POINTS if is_change else PERCENT),
            heading=say_here(f"panel_{panel}"),
            is_change=is_change,
            side=side,
            marked=None if panel == "second" else choices["token"],
            name=f"{CELL}_{panel}",
            pointed=pointed[panel == "second"],
        )
        drawn.append(one)
    apart: Any = dict.fromkeys(("color", "x", "y"), "independent")
    with catch_warnings():  # that what is pointed at is shared
        simplefilter("ignore", UserWarning)
        return alt.hconcat(*drawn, spacing=18).resolve_scale(**apart)


def show_grid(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the map of every head small, as a picture in a cell; a click chooses the head.

    Of a text, rows are tokens that attend, and several share a pixel if there are many, with the
    largest share of them. Of an image, patches are as strong as they are attended to, on average or
    by the token that is looked at, and the contours of the picture lie on them.
    """
    subject, weighing = choices["subject"], choices["weighing"]
    maps = subject.maps(view)[weighing]
    n_layers, n_heads = maps.shape[:2]
    side = max(14, min(_GRID[0] // n_heads, _GRID[1] // n_layers, 80))
    small = _pooled(maps) if subject.ground is None else _patches(subject, maps, choices["token"])
    colour = tuple(bytes.fromhex(WEIGHING_COLOURS[weighing][1:]))
    pictures = [_picture(one, colour) for one in small.reshape(-1, *small.shape[2:])]
    settings: dict[str, Any] = {"labelAngle": 0, "domain": False, "ticks": False}
    axis = alt.Axis(labelOverlap=True, titlePadding=6, **settings)
    apart = alt.Scale(paddingInner=_APART, paddingOuter=_APART)
    base = Chart(frame.assign(picture=pictures)).encode(
        x=alt.X("head:O", title=title("head"), axis=axis, scale=apart),
        y=alt.Y("layer:O", title=title("layer"), axis=axis, scale=apart),
    )
    inner = round(side * (1 - _APART))
    images = base.mark_image(width=inner, height=inner, aspect=False, tooltip=False)
    lines = tooltips({name: title(name) for name in frame}, frame, ".1%")
    rects = base.mark_rect(cursor="pointer", stroke="#8888").encode(
        color=alt.value("transparent"), tooltip=lines
    )
    here = (alt.datum["layer"] == choices["layer"]) & (alt.datum["head"] == choices["head"])
    ring = base.transform_filter(here).mark_rect(filled=False, stroke=MARKED, strokeWidth=2.5)
    parts = [images.encode(url="picture:N"), ring.encode(tooltip=alt.value(None))]
    if subject.ground and (contours := subject.ground.address(outlined=True)):
        parts.insert(1, images.encode(url=alt.value(contours)))
    parts.append(rects.add_params(cell_selection(CELL, "layer", "head")))
    chart = layered(*parts, width=side * n_heads, height=side * n_layers)
    options = figure.options(view.key, frame, choices, {})
    view.figure(f"grid_{choices['input']}", frame, chart, width="content", **options)


def _pooled(maps: np.ndarray) -> np.ndarray:
    """Largest share of each block of cells, with at most `_POOLED` blocks to a side."""
    n = maps.shape[-1]
    starts = np.unique(np.linspace(0, n, min(n, _POOLED), endpoint=False).astype(int))
    return np.maximum.reduceat(np.maximum.reduceat(maps, starts, axis=-2), starts, axis=-1)


def _patches(subject: Subject, maps: np.ndarray, token: int | None) -> np.ndarray:
    """Share of every patch in each head, as part of the largest: layer, head, row, column."""
    ground: Any = subject.ground
    given = maps.mean(axis=-2) if token is None else maps[..., token, :]
    given = given[..., len(ground.special) :][..., : ground.n_patches]
    lacking = ground.n_patches - given.shape[-1]  # of what the file keeps of it
    given = np.pad(given, [(0, 0), (0, 0), (0, lacking)])
    most = np.maximum(given.max(axis=-1, keepdims=True), np.finfo(np.float32).tiny)
    return (given / most).reshape(*maps.shape[:2], ground.rows, ground.columns)


def _picture(shares: np.ndarray, colour: tuple[int, ...]) -> str:
    """Picture of shares from 0 to 1, finer for small ones: a data URL."""
    drawn = np.empty((*shares.shape, 4), dtype=np.uint8)
    drawn[..., :3] = colour
    drawn[..., 3] = (255 * np.sqrt(np.clip(shares, 0, 1))).round()
    times, written = max(1, -(-_SHARP // max(shares.shape))), BytesIO()
    Image.fromarray(drawn.repeat(times, axis=0).repeat(times, axis=1)).save(written, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"


def _text(choices: Choices, shares: np.ndarray) -> TextAttention:
    subject = choices["subject"]
    of = (subject.names, subject.special, choices["weighing"], choices["token"], _LINES)
    return TextAttention(shares, *of)


def lines(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Lines of a head between tokens of a text."""
    return _text(choices, shown_map(inquiry, choices)).lines


def show_lines(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the lines of a head, with what is left out of them."""
    text = _text(choices, shown_map(view, choices))
    caption = f"{say('attention_lines.caption')} {text.left_out}"
    state = tuple(str(choices[name]) for name in ("subject", "quantity", "token"))
    head = short_name(choices["layer"], choices["head"])
    chart = attention_lines(text, frame, chosen=choices["token"])
    view.figure(figure.name, frame, chart, state=state, caption=caption, head=head)


def tokens(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Mean share that each token gives to others, or its share in the token that is looked at.

    Returns:
        pos, token, share.
    """
    shares, token = shown_map(inquiry, choices), choices["token"]
    n = len(shares)
    given = (shares.sum(axis=0) - shares.diagonal()) / max(n - 1, 1)
    values = given if token is None or token >= n else shares[token]
    names = choices["subject"].names[:n]
    return pd.DataFrame({"pos": range(n), "token": names, "share": values.astype(float)})


def show_tokens(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record a text or image with its tokens shaded by the column `share`.

    An image has its contours on the patches, and the picture itself beside them.
    """
    subject, token = choices["subject"], choices["token"]
    name = figure.name if figure.name != "tokens" else "given" if token is None else "taken"
    shades = shading.Shades(float(frame["share"].max()))
    shaded = [
        shading.Shaded(piece, row.share, f"{row.token}: {row.share:.2%}", row.pos == token)
        for piece, row in zip(subject.tokens, frame.itertuples(), strict=False)
    ]
    body = shading.STYLE + shading.scale(view.say(f"legend_{name}"), shades, "{:.1%}")
    if (ground := subject.ground) is None:
        body += shading.text(shaded, shades)
    else:
        n, over = len(ground.special), ground.address(outlined=True)
        grid = shading.patches(shaded[n:], shades, columns=ground.columns)
        body += shading.text(shaded[:n], shades) if n else ""
        style = "position: absolute; inset: .4rem 0 0 0; width: 100%; pointer-events: none"
        on = (
            f'<img src="{escape(over)}" style="{style}; height: calc(100% - .4rem)">'
            if over
            else ""
        )
        body += f'<div style="position: relative; width: 20rem; max-width: 100%">{grid}{on}</div>'
    of = {"token": "" if token is None else subject.names[token]}
    view.markup(name, frame, body, state=(str(subject), str(choices["quantity"]), token), **of)


def through_layers(side: str, inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Tokens with the largest shares, in any layer, in the token that is looked at, or of it.

    Args:
        side: `takes` or `gives`.

    Returns:
        layer, token, share.
    """
    subject, token, parts = choices["subject"], choices["token"], []
    for layer in inquiry.store.layers:
        shares = map_of(inquiry, subject, choices["quantity"], layer)
        values = shares[token] if side == "takes" else shares[:, token]
        names = subject.names[: len(values)]
        part = pd.DataFrame({"layer": layer, "token": names, "share": values.astype(float)})
        parts.append(part.drop(index=token))
    frame = pd.concat(parts, ignore_index=True)
    most = frame.groupby("token", sort=False)["share"].max().nlargest(_STRONGEST).index
    return frame[frame["token"].isin(most)].reset_index(drop=True)


takes, gives = (partial(through_layers, side) for side in ("takes", "gives"))

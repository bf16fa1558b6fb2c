"""Maps of one sequence: their rows, and what is drawn of them beside usual charts."""

from functools import partial
from html import escape
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.statistics.base.weighing import NORM, WEIGHINGS, WEIGHT
from pages.charts.colours import WEIGHING_COLOURS
from pages.charts.maps import CELL
from pages.drawn import shading
from pages.drawn.attention_lines import TextAttention, attention_lines
from pages.drawn.head_pictures import pictures_of_heads
from pages.drawn.token_map import cells, pointing, token_map
from pages.kit.head_choice import every_head, pick_head, short_name
from pages.kit.section import Choices, Figure
from pages.kit.view import View
from pages.sequences.subject import Subject, shared_tokens
from pages.services.inquiry import Inquiry
from pages.services.live_model import layer_maps
from pages.words.names import scope_name
from pages.words.say import say
from pages.words.scope import say_here
from pages.words.units import PERCENT, POINTS, in_unit, named_in, with_unit

OF_HEADS = {f"head_{weighing}": weighing for weighing in WEIGHINGS}
_MEAN_NORM, _NONE = "mean_norm", "none"
_LINES, _MOST = 24, 130  # tokens of a longer text whose lines are drawn; that a map has room for
_STRONGEST = 5  # tokens that are followed through the layers
_SHARE = named_in(PERCENT, "share")
_SIDES = {1: 340, 2: 360, 3: 212}  # pixels to a side of a map, by the number of maps
_OVER = (
    "position: absolute; inset: .4rem 0 0 0; width: 100%; height: calc(100% - .4rem); "
    "pointer-events: none"
)
_POOLED = 32  # pixels to a side of a head's small map, at most


def pick_map(view: View, choices: Choices) -> dict[str, Any]:
    """Let the reader pick heads or a scope (`of_what`), and of heads one to take away (`away`).

    Choices of two sides are `compared`. `token` is None if none is looked at.
    """
    subject: Subject = choices["subject"]
    names = {name: view.say(f"quantity_{name}") for name in (*OF_HEADS, _MEAN_NORM)}
    names |= {scope: scope_name(scope) for scope in view.store.layer_order.scopes}
    quantity = view.pick("quantity", names, kind="select")
    chosen: dict[str, Any] = {"quantity": quantity, "of_what": "scope", "away": None}
    if quantity in OF_HEADS:
        chosen["layer"], chosen["head"] = pick_head(view, default=every_head(view.store)[0])
        chosen["weighing"] = OF_HEADS[quantity]
        chosen["of_what"] = "heads" if choices["second"] is None else "compared"
    else:
        chosen["layer"] = view.pick("layer", view.store.layers, kind="select")
    if (found := map_of(view, subject, quantity, chosen["layer"])) is None:
        view.end("no_map")
    with view.more(view.say("more")):
        if chosen["of_what"] == "heads" and subject.reading is not None:
            every = (f"{layer}-{head}" for layer, head in every_head(view.store))
            heads = {_NONE: view.say("none")} | {of: short_name(*of.split("-")) for of in every}
            if (away := view.pick("away", heads, kind="select")) != _NONE:
                chosen |= {"away": tuple(map(int, away.split("-"))), "of_what": "compared"}
        tokens = {_NONE: view.say("none"), **dict(enumerate(subject.names[: len(found)]))}
        token = view.pick("token", tokens, kind="select")
    chosen["token"] = None if token == _NONE else int(token)
    chosen |= {"is_followed": token != _NONE, "input": "image" if subject.ground else "text"}
    return chosen


def map_of(
    inquiry: Inquiry, subject: Subject, quantity: str, layer: int, head: int | None = None
) -> Any:
    """Share of every key in each query; of heads without a head, the mean over those of a layer.

    None if neither the file nor the model has it.
    """
    scopes, at = inquiry.store.layer_order.scopes, list(inquiry.store.layers).index(layer)
    if weighing := OF_HEADS.get(quantity) or {scopes[0]: WEIGHT, _MEAN_NORM: NORM}.get(quantity):
        maps = subject.maps(inquiry).get(weighing)
        return (
            None if maps is None else maps[at].mean(axis=0) if head is None else maps[at, head - 1]
        )
    if subject.reading is None:
        return None
    return layer_maps(inquiry.store, subject.reading, layer=layer).scopes[scopes.index(quantity)]


def shown_map(inquiry: Inquiry, choices: Choices) -> np.ndarray:
    """Map that is chosen."""
    of = (choices["quantity"], choices["layer"], choices.get("head"))
    return map_of(inquiry, choices["subject"], *of)


def _sides(inquiry: Inquiry, choices: Choices) -> tuple[Any, Any, list[tuple[int, int]]]:
    """Maps of all heads of the first and of the second side, and the tokens that both have."""
    subject, second, weighing = (choices[name] for name in ("subject", "second", "weighing"))
    first = subject.maps(inquiry)[weighing]
    if second is not None:
        return first, second.maps(inquiry)[weighing], shared_tokens(subject, second)
    same = [(at, at) for at in range(first.shape[-1])]
    return first, subject.maps(inquiry, choices["away"])[weighing], same


def heads(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Every head, with the token that others look at most: layer, head, token, attention, and by
    norm norm_token, norm_share; means over the queries."""
    subject = choices["subject"]
    frame = pd.DataFrame(every_head(inquiry.store), columns=["layer", "head"])
    names = np.array(subject.names, dtype=object)
    columns = (("token", "attention"), ("norm_token", "norm_share"))
    for (token, share), maps in zip(columns, subject.maps(inquiry).values(), strict=False):
        given = maps.mean(axis=-2) - np.einsum("lhii->lhi", maps) / maps.shape[-1]
        frame[token] = names[given.argmax(axis=-1).ravel()]
        frame[share] = given.max(axis=-1).ravel().astype(float)
    return frame


def attention_moved(before: np.ndarray, after: np.ndarray, same: list[tuple[int, int]]) -> Any:
    """Share of each head's attention that goes elsewhere, mean over the queries of both runs.

    It is the total variation distance of both rows, half the sum of their absolute differences;
    what goes to tokens of one run alone counts as gone. NaN without a token of both.
    """
    if not same:
        return np.full(before.shape[:-2], np.nan)
    at, to = np.array(same).T
    ours, theirs = before[..., at, :], after[..., to, :]
    kept = np.minimum(ours[..., at], theirs[..., to]).sum(axis=-1, dtype=float)
    whole = ours.sum(axis=-1, dtype=float) + theirs.sum(axis=-1, dtype=float)
    return (whole / 2 - kept).mean(axis=-1)


def moved(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Share of each head's attention that goes elsewhere: layer, head, mean (`attention_moved`)."""
    means = attention_moved(*_sides(inquiry, choices)).ravel().astype(float).round(7)
    return pd.DataFrame(every_head(inquiry.store), columns=["layer", "head"]).assign(mean=means)


def panels(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Cells of maps side by side, by the column `panel`, in percent: of a head by weight and norm,
    or of both sides with the difference of what they share; or of a scope."""
    subject, second, of_what = (choices[name] for name in ("subject", "second", "of_what"))
    names, token, parts = subject.names, choices["token"] or 0, []
    place = list(inquiry.store.layers).index(choices["layer"]), choices.get("head", 1) - 1
    made = {"scope": (names, shown_map(inquiry, choices))}
    if of_what == "heads":
        made = {name: (names, maps[place]) for name, maps in subject.maps(inquiry).items()}
    elif of_what == "compared":
        ours, theirs, same = _sides(inquiry, choices)
        change, (at, to) = (
            np.full(ours.shape[-2:], np.nan),
            np.array(same or np.empty((0, 2)), int).T,
        )
        change[np.ix_(at, at)] = theirs[place][np.ix_(to, to)] - ours[place][np.ix_(at, at)]
        made = {"first" if second else "with": (names, ours[place])}
        made["second" if second else "without"] = (second or subject).names, theirs[place]
        made["change"] = names, change
    for panel, (called, shares) in made.items():
        start = max(0, min(token - _MOST // 2, len(shares) - _MOST))  # around the selected token
        window = range(start, min(len(shares), start + _MOST))
        part = cells(called, shares, window, causal=inquiry.store.is_causal)
        parts.append(part.dropna(subset="share").assign(panel=panel))
    return in_unit(pd.concat(parts, ignore_index=True), PERCENT, ["share"])


def draw_panels(frame: pd.DataFrame, _: str, choices: Choices) -> Any:
    """Draw maps side by side; what is pointed at is framed in all maps of the same tokens."""
    side, drawn = _SIDES[frame["panel"].nunique()], []
    places: dict[str, list[int]] = {}
    for panel, part in frame.groupby("panel", sort=False):
        is_change, tokens = panel == "change", "second" if panel == "second" else "first"
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
            pointed=pointing(tokens),
        )
        if tokens in places:  # whose first map has what is selected by pointing
            one.params = [of for of in one.params if not of.name.startswith(tokens)]
        places.setdefault(tokens, []).append(len(drawn))
        drawn.append(one)
    apart: Any = dict.fromkeys(("color", "x", "y"), "independent")
    together: Any = alt.hconcat(*drawn, spacing=18).resolve_scale(**apart)
    for of in together.params:
        if at := places.get(of.name.partition("_")[0]):
            of.views = [together.hconcat[place].layer[0].name for place in at]
    return together


def show_grid(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the map of every head small: of many tokens, the largest share of each block.

    Of an image, patches are as strong as they are attended to, as part of the largest.
    """
    subject, token = choices["subject"], choices["token"]
    maps, ground = subject.maps(view)[choices["weighing"]], subject.ground
    if ground is None:
        starts = np.unique(np.linspace(0, maps.shape[-1], _POOLED, endpoint=False).astype(int))
        small = np.maximum.reduceat(np.maximum.reduceat(maps, starts, axis=-2), starts, axis=-1)
    else:
        given = maps.mean(axis=-2) if token is None else maps[..., token, :]
        given = given[..., len(ground.special) :][..., : ground.n_patches]
        lacking = ground.n_patches - given.shape[-1]  # of what the file keeps of it
        most = np.maximum(given.max(axis=-1, keepdims=True), np.finfo(np.float32).tiny)
        small = np.pad(given / most, [(0, 0), (0, 0), (0, lacking)])
        small = small.reshape(*maps.shape[:2], ground.rows, ground.columns)
    chart = pictures_of_heads(
        frame,
        small,
        WEIGHING_COLOURS[choices["weighing"]],
        marked=(choices["layer"], choices["head"]),
        contours=ground and ground.address(outlined=True),
    )
    options = figure.options(view.key, frame, choices, {})
    view.figure(f"grid_{choices['input']}", frame, chart, width="content", **options)


def _text(inquiry: Inquiry, choices: Choices) -> TextAttention:
    subject = choices["subject"]
    of = (subject.names, subject.special, choices["weighing"], choices["token"], _LINES)
    return TextAttention(shown_map(inquiry, choices), *of)


def lines(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Lines of a head between tokens of a text."""
    return _text(inquiry, choices).lines


def show_lines(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the lines of a head, with what is left out of them."""
    text = _text(view, choices)
    caption = f"{say('attention_lines.caption')} {text.left_out}"
    state = tuple(str(choices[name]) for name in ("subject", "quantity", "token"))
    head = short_name(choices["layer"], choices["head"])
    chart = attention_lines(text, frame, chosen=choices["token"])
    view.figure(figure.name, frame, chart, state=state, caption=caption, head=head)


def tokens(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Mean share that each token gives to others, or that the token looked at takes: pos, token,
    share."""
    shares, token = shown_map(inquiry, choices), choices["token"]
    given = (shares.sum(axis=0) - shares.diagonal()) / max(len(shares) - 1, 1)
    values = (given if token is None else shares[token]).astype(float)
    names = choices["subject"].names[: len(shares)]
    return pd.DataFrame({"pos": range(len(shares)), "token": names, "share": values})


def show_tokens(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record a text, or an image with its contours, with tokens shaded by the column `share`."""
    subject, token = choices["subject"], choices["token"]
    name = figure.name if figure.name != "tokens" else "given" if token is None else "taken"
    shades = shading.Shades(float(frame["share"].max()))
    rows = zip(subject.tokens, frame["token"], frame["share"].tolist(), strict=False)
    shaded = [
        shading.Shaded(piece, share, f"{called}: {share:.2%}", at == token)
        for at, (piece, called, share) in enumerate(rows)
    ]
    body = shading.STYLE + shading.scale(view.say(f"legend_{name}"), shades, "{:.1%}")
    if (ground := subject.ground) is None:
        body += shading.text(shaded, shades)
    else:
        n, over = len(ground.special), ground.address(outlined=True)
        grid = shading.patches(shaded[n:], shades, columns=ground.columns)
        body += shading.text(shaded[:n], shades) if n else ""
        on = f'<img src="{escape(over)}" style="{_OVER}">' if over else ""
        body += f'<div style="position: relative; width: 20rem; max-width: 100%">{grid}{on}</div>'
    view.markup(name, frame, body, state=(str(subject), str(choices["quantity"]), token))


def through_layers(side: str, inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Tokens with the largest shares in the token that is looked at (`takes`), or of it (`gives`):
    layer, token, share."""
    subject, token, parts = choices["subject"], choices["token"], []
    for layer in inquiry.store.layers:
        shares = map_of(inquiry, subject, choices["quantity"], layer)
        values = shares[token] if side == "takes" else shares[:, token]
        of = {"token": subject.names[: len(values)], "share": values.astype(float)}
        parts.append(pd.DataFrame({"layer": layer, **of}).drop(index=token))
    frame = pd.concat(parts, ignore_index=True)
    most = frame.groupby("token", sort=False)["share"].max().nlargest(_STRONGEST).index
    return frame[frame["token"].isin(most)].reset_index(drop=True)


takes, gives = (partial(through_layers, side) for side in ("takes", "gives"))

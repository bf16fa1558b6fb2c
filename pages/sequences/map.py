"""Map of the shares that tokens of one sequence take from each other, for a scope or a head."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.corpus import SEQUENCES, TOKENS
from analysis.statistics.positions import exemplar_attention
from pages.sequences.shares import MapOf, map_name, pick_map, pick_minus, shares_of
from pages.sequences.subject import Subject, pick_subject
from pages.sequences.through_layers import through_layers
from pages.sequences.token_line import token_line
from pages.ui.charts.token_map import token_map
from pages.ui.choices.picker import choose
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.numbers import percent, points
from pages.ui.words.say import plain
from pages.ui.words.units import PERCENT, POINTS, in_unit, named_in, with_unit

_SIDE = 560  # pixels
_MOST = 130  # tokens that a map has room for
_NOBODY = "none"


@dataclass(frozen=True)
class Shown:
    """Map of a sequence, or the difference of two maps, and the selected token."""

    subject: Subject
    shares: np.ndarray
    of: MapOf
    minus: MapOf | None
    token: int | None

    @property
    def state(self) -> tuple:
        return self.subject.key, self.of.key, self.minus and self.minus.key, self.token

    @property
    def unit(self) -> str:
        """Unit of the shares, or of their differences."""
        return PERCENT if self.minus is None else POINTS

    def in_unit(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Convert the shares of a frame to this unit."""
        return in_unit(frame, self.unit, ["share"])

    @property
    def names(self) -> list[str]:
        """Names of the tokens of the map."""
        return self.subject.names[: len(self.shares)]


@section("map", also=(SEQUENCES, TOKENS, exemplar_attention.TABLE))
def map_of_tokens(view: View) -> None:
    subject = pick_subject(view)
    of, minus = pick_map(view), pick_minus(view)
    token = _pick_token(view, subject)
    shares = _shares(view, subject, of, minus)
    if shares is None:
        view.end("no_map")
    shown = Shown(subject, shares, of, minus, token)
    view.finding((_finding if minus is None else _change)(view, shown))
    left, right = view.columns([3, 2])
    with left:
        _map(view, shown)
    with right:
        _tokens(view, shown)
    if token is not None:
        through_layers(view, subject, of, token)


def _choose(view: View, field: str, mark: Mapping[Any, Any]) -> None:
    """Choose the token that was clicked."""
    choose(view.key("token"), str(int(mark[field])))


def _pick_token(view: View, subject: Subject) -> int | None:
    """Let the reader select a token; None if no token is selected."""
    labels = {_NOBODY: view.say("token_none")}
    labels |= {str(place): name for place, name in enumerate(subject.names)}
    token = view.pick("token", labels, kind="select")
    return None if token == _NOBODY else int(token)


def _shares(
    inquiry: Inquiry, subject: Subject, of: MapOf, minus: MapOf | None
) -> np.ndarray | None:
    """Shares of a map minus those of another, if given, over the tokens that both have."""
    shares = shares_of(inquiry, subject, of)
    if shares is None or minus is None:
        return shares
    taken = shares_of(inquiry, subject, minus)
    if taken is None:
        return None
    n = min(len(shares), len(taken))
    return shares[:n, :n] - taken[:n, :n]


def _map(view: View, shown: Shown) -> None:
    window, names = _window(len(shown.shares), shown.token), shown.names
    frame = shown.in_unit(cells(names, shown.shares, window, causal=view.store.is_causal))
    name, kind = map_name(view, shown.of), "map"
    if shown.minus is not None:
        name, kind = view.say("less", name=name, minus=map_name(view, shown.minus)), "change"
    chart = token_map(
        frame,
        named_in(shown.unit, "share"),
        names={pos: names[pos] for pos in window},
        legend=with_unit(view.say(f"legend_{kind}"), shown.unit),
        is_change=kind == "change",
        side=_SIDE,
        marked=shown.token,
    )
    caption = " ".join([view.say(f"{kind}_caption"), *_notes(view, shown)])
    click = partial(_choose, view, "target_pos")
    view.figure("map", frame, chart, state=shown.state, click=click, caption=caption, shown=name)


def _tokens(view: View, shown: Shown) -> None:
    """Draw the text or image, each token shaded by what it gives.

    If a token is selected, the shade is what that token takes from each.
    """
    kind = "given" if shown.token is None else "taken"
    legend = with_unit(view.say(f"legend_{kind}"), shown.unit)
    token = "" if shown.token is None else plain(shown.subject.names[shown.token])
    frame = shown.in_unit(of_tokens(shown.names, shown.shares, shown.token))
    view.figure(
        "tokens",
        frame,
        token_line(
            shown.subject,
            frame,
            named_in(shown.unit, "share"),
            legend=legend,
            marked=shown.token,
        ),
        state=shown.state,
        click=partial(_choose, view, "pos"),
        caption=view.say(f"{kind if shown.minus is None else 'more'}_caption", token=token),
        width="content" if shown.subject.ground else "stretch",
    )


def cells(names: list[str], shares: np.ndarray, window: range, *, causal: bool) -> pd.DataFrame:
    """A row per drawn cell: target_pos, source_pos, target, source, share.

    In a causal model, cells of later tokens have no share: they are masked.
    """
    target, source = (grid.ravel() for grid in np.meshgrid(window, window, indexing="ij"))
    if causal:
        target, source = (positions[source <= target] for positions in (target, source))
    return pd.DataFrame(
        {
            "target_pos": target,
            "source_pos": source,
            "target": [names[pos] for pos in target],
            "source": [names[pos] for pos in source],
            "share": shares[target, source],
        }
    )


def of_tokens(names: list[str], shares: np.ndarray, token: int | None) -> pd.DataFrame:
    """Mean share that each token gives to others, or its share in the selected token.

    Returns:
        pos, token, share.
    """
    n = len(shares)
    given = (shares.sum(axis=0) - shares.diagonal()) / max(n - 1, 1)
    values = given if token is None or token >= n else shares[token]
    return pd.DataFrame({"pos": range(n), "token": names, "share": values})


def _window(n: int, token: int | None) -> range:
    """Positions drawn in the map, around the selected token."""
    start = max(0, min((token or 0) - _MOST // 2, n - _MOST))
    return range(start, min(n, start + _MOST))


def _finding(view: View, shown: Shown) -> str:
    """Report the mean share of tokens in themselves, and the token that gives most to others."""
    shares = shown.shares
    others = shares - np.diag(shares.diagonal())
    total = others.sum()
    of_itself = percent(float(shares.diagonal().mean()))
    if not total > 0:
        return view.say("finding_own", own=of_itself)
    seen = np.tril(np.ones_like(shares), -1) if view.store.is_causal else 1 - np.eye(len(shares))
    even = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    given = others.sum(axis=0) / total
    most = int(given.argmax())
    return view.say(
        "finding",
        own=of_itself,
        token=plain(shown.names[most]),
        share=percent(float(given[most])),
        even=percent(float(even[:, most].sum() / even.sum())),
    )


def _change(view: View, shown: Shown) -> str:
    """Report the largest differences, and the change in the share of tokens in themselves."""
    change, names = shown.shares, shown.names
    others = change - np.diag(change.diagonal())
    values = {"own": points(float(change.diagonal().mean()))}
    for name, place in (("more", others.argmax()), ("less", others.argmin())):
        target, source = np.unravel_index(int(place), others.shape)
        values[name] = points(float(others[target, source]))
        values |= {f"{name}_target": plain(names[target]), f"{name}_source": plain(names[source])}
    return view.say("finding_change", **values)


def _notes(view: View, shown: Shown) -> list[str]:
    """Notes on a map: causal mask, incomplete sequence, cut to a window."""
    n = len(shown.shares)
    notes = {"causal": view.store.is_causal, "kept": n < len(shown.subject), "window": n > _MOST}
    return [view.say(f"map_{name}", n=min(n, _MOST)) for name, holds in notes.items() if holds]

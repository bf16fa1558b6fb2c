"""Everything that the tokens of one sequence take from each other, at a scope or in a head."""

import numpy as np
import pandas as pd
import streamlit as st

from analysis.tables.corpus import SEQUENCES, TOKENS
from analysis.tables.positions import exemplar_attention
from pages.sequences.shares import MapOf, map_name, pick_map, pick_minus, shares_of
from pages.sequences.subject import Subject, pick_subject
from pages.sequences.through_layers import through_layers
from pages.sequences.token_line import token_line
from pages.ui.charts.token_map import token_map
from pages.ui.choices.pick import choose
from pages.ui.page import section
from pages.ui.store.chosen import is_causal
from pages.ui.view import View
from pages.ui.words.numbers import percent, points
from pages.ui.words.say import plain

_SIDE = 560  # pixels
_MOST = 130  # tokens that a map has room for
_NOBODY = "none"


@section("map", also=(SEQUENCES, TOKENS, exemplar_attention.TABLE))
def map_of_tokens(view: View) -> None:
    for name, field in (("map", "target_pos"), ("tokens", "pos")):
        for mark in view.clicked(name)[:1]:
            choose(view.key("token"), str(int(mark[field])))
    subject = pick_subject(view)
    if subject is None:
        return
    of = pick_map(view)
    minus = pick_minus(view)
    token = _pick_token(view, subject)
    shares = shares_of(subject, of)
    taken = None if minus is None else shares_of(subject, minus)
    if shares is None or (minus is not None and taken is None):
        st.info(view.say("no_map"))
        return
    if taken is not None:
        shares = _difference(shares, taken)
    _drawn(view, subject, shares, of, minus, token)
    if token is not None:
        through_layers(view, subject, of, token)


def _pick_token(view: View, subject: Subject) -> int | None:
    """The token that is looked at, if one is."""
    labels = {_NOBODY: view.say("token_none")}
    labels |= {str(place): name for place, name in enumerate(subject.names)}
    token = view.pick("token", labels, kind="select")
    return None if token == _NOBODY else int(token)


def _difference(shares: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """One map less another, of as many tokens as both have."""
    n = min(len(shares), len(taken))
    return shares[:n, :n] - taken[:n, :n]


def _drawn(
    view: View,
    subject: Subject,
    shares: np.ndarray,
    of: MapOf,
    minus: MapOf | None,
    token: int | None,
) -> None:
    """The map beside the tokens."""
    names = subject.names[: len(shares)]
    is_change = minus is not None
    view.finding((_change if is_change else _finding)(view, names, shares))
    told = {"shown": map_name(view, of)}
    if minus is not None:
        told = {"shown": view.say("less", name=told["shown"], minus=map_name(view, minus))}
    state = (subject.key, of.key, minus.key if minus else "", token)
    legend = view.say("legend_change" if is_change else "legend")
    left, right = view.columns([3, 2])
    with left:
        window = _window(len(shares), token)
        frame = cells(names, shares, window, causal=is_causal())
        chart = token_map(
            frame,
            "share",
            names={each: names[each] for each in window},
            legend=legend,
            is_change=is_change,
            side=_SIDE,
            marked=token,
        )
        view.figure(
            "map",
            frame,
            chart,
            state=state,
            click=True,
            caption=_caption(view, shares, subject),
            **told,
        )
    with right:
        of_tokens = _of_tokens(names, shares, token)
        seen = "given" if token is None else "taken"
        seen_legend = view.say(f"legend_{seen}")
        line = token_line(subject, of_tokens, "share", legend=seen_legend, marked=token)
        name = "" if token is None else plain(names[token])
        view.figure(
            "tokens",
            of_tokens,
            line,
            state=state,
            click=True,
            caption=view.say(f"{seen}_caption", token=name),
            width="content" if subject.ground else "stretch",
        )


def cells(names: list[str], shares: np.ndarray, window: range, *, causal: bool) -> pd.DataFrame:
    """A row per cell that is shown: target_pos, source_pos, target, source, share in per cent.

    Those behind a token of a causal model, which it does not see, have none.
    """
    target, source = (each.ravel() for each in np.meshgrid(window, window, indexing="ij"))
    if causal:
        target, source = (each[source <= target] for each in (target, source))
    return pd.DataFrame(
        {
            "target_pos": target,
            "source_pos": source,
            "target": [names[each] for each in target],
            "source": [names[each] for each in source],
            "share": 100.0 * shares[target, source],
        }
    )


def _window(n: int, token: int | None) -> range:
    """The positions that the map has room for, around the token that is looked at."""
    start = max(0, min((token or 0) - _MOST // 2, n - _MOST))
    return range(start, min(n, start + _MOST))


def _of_tokens(names: list[str], shares: np.ndarray, token: int | None) -> pd.DataFrame:
    """What each token gives to others on average; or what one takes, once it is chosen."""
    n = len(shares)
    given = (shares.sum(axis=0) - shares.diagonal()) / max(n - 1, 1)
    values = given if token is None else shares[token]
    return pd.DataFrame({"pos": range(n), "token": names, "share": 100.0 * values})


def _finding(view: View, names: list[str], shares: np.ndarray) -> str:
    """What a token keeps of itself, and which token gives most to the others."""
    others = shares - np.diag(shares.diagonal())
    total = others.sum()
    own = percent(float(shares.diagonal().mean()))
    if not total > 0:
        return view.say("finding_own", own=own)
    seen = np.tril(np.ones_like(shares), -1) if is_causal() else 1 - np.eye(len(shares))
    even = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    given = others.sum(axis=0) / total
    most = int(given.argmax())
    return view.say(
        "finding",
        own=own,
        token=plain(names[most]),
        share=percent(float(given[most])),
        even=percent(float(even[:, most].sum() / even.sum())),
    )


def _change(view: View, names: list[str], change: np.ndarray) -> str:
    """How much more a token keeps of itself, and where the rest differs most."""
    others = change - np.diag(change.diagonal())
    ends = {}
    for name, place in (("more", others.argmax()), ("less", others.argmin())):
        target, source = np.unravel_index(int(place), others.shape)
        ends[name] = points(float(others[target, source]))
        ends |= {
            f"{name}_{side}": plain(names[at])
            for side, at in (("target", target), ("source", source))
        }
    return view.say("finding_change", own=points(float(change.diagonal().mean())), **ends)


def _caption(view: View, shares: np.ndarray, subject: Subject) -> str:
    parts = [view.say("map_caption")]
    if is_causal():
        parts.append(view.say("map_causal"))
    if len(shares) < len(subject):
        parts.append(view.say("map_kept", n=len(shares)))
    if len(shares) > _MOST:
        parts.append(view.say("map_window", n=_MOST))
    return " ".join(parts)

"""One pair: its changes in every layer, and the sentences that have it."""

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import pandas as pd

from analysis.scopes import EFFECTS
from analysis.statistics.corpus import least_count
from analysis.statistics.pairs.changes import with_interval
from analysis.statistics.question import placed
from pages.charts.plots import Rows
from pages.drawn import shading
from pages.drawn.passages import Passage, draw_passages
from pages.drawn.pieces import readable
from pages.kit.address import choose
from pages.kit.grammar import sentences
from pages.kit.search import ids_of_pair
from pages.kit.section import Choices, Figure, Finding, rows_of, tokens_of
from pages.kit.view import View
from pages.services import live_model as live
from pages.services.inquiry import Inquiry
from pages.token_pairs.lists import CHANGES, OF_CHANGE, PAIR, ROWS, listed
from pages.words.names import module_name, relation_name
from pages.words.numbers import count, percent, points, signed
from pages.words.say import plain
from pages.words.scope import say_here
from pages.words.units import POINTS, in_unit

PAGE = 5
_MOST, _AROUND = 1_000, 10  # occurrences; tokens beside those of a sentence
_BY_EFFECT = " union all ".join(
    f"""
        select layer, '{effect}' as effect, n, n_sequences, mean_{effect}::double as mean_delta,
            std_{effect}::double as std_delta, error_{effect} as standard_error, degrees
        from found where mean_{effect} is not null"""
    for effect in EFFECTS
)
_CHANGES = f"""
    with found as materialized (
        from pair_delta_wide where source = $source_id and target = $target_id)
    from ({_BY_EFFECT}) order by layer, {placed(EFFECTS, "effect")}"""
_FACTS = """
    select n, n_sequences, pmi::double as pmi, relation, relation_share::double as relation_share
    from pair where source = $source_id and target = $target_id"""
_PLACES = f"""
    select seq, s.pos as source_pos, t.pos as target_pos, delta::double as delta,
        coalesce(abs(s.pos - t.pos) <= $window, true) as in_window
    from token as s
    join token as t using (seq)
    left join pair_occurrence as stored
        on stored.seq = s.seq and source_pos = s.pos and target_pos = t.pos
        and source = s.token_id and target = t.token_id and layer = $layer and effect = $effect
    where s.token_id = $source_id and t.token_id = $target_id
        and (s.pos < t.pos or s.pos > t.pos and not $is_causal)
    order by abs(delta) desc nulls last, in_window desc, seq, s.pos, t.pos limit {_MOST}"""
_CHANGE = Finding("", "+.2f", level=0.0)


def first_of(side: str, inquiry: Inquiry, choices: Choices) -> str:
    """Token of the first pair of the list; empty without one."""
    return next(iter(listed(inquiry, choices)[side]), "")


def chosen(_: Inquiry, choices: Choices) -> pd.DataFrame:
    """The chosen pair, or nothing."""
    tokens = {side: choices[side] for side in PAIR}
    return pd.DataFrame([tokens] if any(tokens.values()) else [])


def changes_of(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Changes of the pair by every module of every layer; empty if there are none."""
    ids = ids_of_pair(inquiry, choices)
    return with_interval(rows_of(_CHANGES, inquiry, ids)) if ids else pd.DataFrame()


def by_layer(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Changes by one module or all; missing in layers whose window does not span the pair."""
    frame = changes_of(inquiry, choices)
    if frame.empty:
        return frame
    if choices["steps"] == "one":
        frame = frame[frame["effect"] == choices["effect"]]
    every = pd.MultiIndex.from_product([inquiry.store.layers, frame["effect"].unique()])
    every = every.set_names(["layer", "effect"])
    return in_unit(frame.set_index(every.names).reindex(every).reset_index(), POINTS, CHANGES)


def show(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the pair: buttons, facts, its first sentence, and its changes in the layer."""
    _buttons(view, choices)
    changes, ids = changes_of(view, choices), ids_of_pair(view, choices)
    if changes.empty:
        return _absent(view, choices, stands=bool(ids))
    row = rows_of(_FACTS, view, ids).iloc[0]
    facts = view.say(
        "facts",
        **row[["n", "n_sequences"]].map(count),
        pmi=view.say("no_pmi") if pd.isna(row["pmi"]) else view.say("bits", pmi=signed(row["pmi"])),
        relation=relation_name(row["relation"]),
        share=percent(row["relation_share"]),
    )
    view.write("caption", facts, help=view.say("pmi_help"))
    first = occurrences(view, choices).to_dict("records")[0]
    tokens = tokens_of(view, first["seq"])["token"].tolist()
    text = marked(tokens, first["source_pos"], first["target_pos"], around=_AROUND)
    view.write("html", shading.STYLE + text)
    here = changes[changes["layer"] == choices["layer"]]
    for sentence in sentences(_found(view, here, choices), _CHANGE):
        view.finding(sentence)
    if here.empty:
        return view.write("caption", " ".join(view.rest()))
    order, state = view.store.layer_order, tuple(choices[side] for side in PAIR)
    spans = [[*map(order.scopes.index, order.effects[effect])] for effect in here["effect"]]
    steps = [order.steps[first + 1 : last + 1] for first, last in spans]
    names = [" + ".join(map(module_name, some)) for some in steps]
    shown = in_unit(here, POINTS, CHANGES).assign(module=names)
    chart = Rows(y="module", level=0.0, format="+.2f", **OF_CHANGE)
    chart = chart.draw(shown, "modules", choices)
    view.figure("modules", shown, chart, state=state, layer=choices["layer"])


def _found(view: View, here: pd.DataFrame, choices: Choices) -> pd.DataFrame:
    """Change of the pair in the layer as a finding; of a windowed layer what counts there."""
    layer = choices["layer"]
    shared = {name: choices[name] for name in ("effect", *PAIR)}
    shared |= {"layer": layer, "window": view.store.windows[layer]}
    rows = [{"name": "outside", "value": None, **shared, "sentence": 1}]
    of_effect = here[here["effect"] == choices["effect"]]
    if len(of_effect):
        row = of_effect.iloc[0]
        value, low, high = (100 * row[name] for name in CHANGES)
        rows = [{**rows[0], "name": "change", "value": value, "low": low, "high": high}]
        if shared["window"] is not None:
            inside = {"name": "inside", "value": None, "n": row["n"], "sentence": 2}
            rows.append({**shared, **inside})
    return pd.DataFrame(rows)


def _absent(view: View, choices: Choices, *, stands: bool) -> None:
    """Show the reason why the file has no change of the pair.

    Args:
        stands: whether a text of the file has it.
    """
    name = plain(" → ".join(choices[side] for side in PAIR))
    least = least_count(view.store.facts)
    known = [window for window in view.store.windows.values() if window is not None]
    if least > 1:
        view.nothing("rare", pair=name, least=count(least))
    elif stands:
        view.nothing("beyond", pair=name, window=count(max(known, default=0)))
    else:
        view.nothing("unknown_causal" if view.store.is_causal else "unknown", pair=name)


def _buttons(view: View, choices: Choices) -> None:
    """Buttons to the other direction, and to the next and previous pair of the list."""
    pairs = [*listed(view, choices)[[*PAIR]].itertuples(index=False, name=None)]
    here = choices["source"], choices["target"]
    place = pairs.index(here) if here in pairs else -1
    with view.toolbar():
        view.button("⇄", _choose, [*reversed(here)], key="tp_swap", help=view.say("swap"))
        for sign, name, key, step in (("‹", "before", "P", -1), ("›", "after", "N", 1)):
            to = place + step
            view.button(
                sign,
                _choose,
                *pairs[to : to + 1],
                to,
                key=f"tp_{name}",
                help=view.say(f"pair_{name}"),
                shortcut=key,
                disabled=place < 0 or not 0 <= to < len(pairs),
            )


def _choose(tokens: Sequence[str], place: int | None = None) -> None:
    """Choose a pair, and the page of the list that has it if its place is known."""
    for side, token in zip(PAIR, tokens, strict=True):
        choose(f"tp_{side}", token)
    if place is not None:
        choose("tp_page", 1)
        choose("tp_list_page", place // ROWS + 1)


def occurrences(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Occurrences of the pair, at most 1,000, with their places in the list."""
    if not (ids := ids_of_pair(inquiry, choices)):
        return pd.DataFrame()
    store, layer = inquiry.store, choices["layer"]
    given = {"is_causal": store.is_causal, "window": store.windows[layer], "layer": layer}
    frame = rows_of(_PLACES, inquiry, {**given, "effect": choices["effect"], **ids})
    return frame.assign(place=frame.index + 1)


def pages_of(inquiry: Inquiry, choices: Choices) -> list[int]:
    """First and last page of the occurrences; empty if there is only one."""
    pages = -(-len(occurrences(inquiry, choices)) // PAGE)
    return [1, pages] if pages > 1 else []


def on_page(view: Any, choices: Choices) -> pd.DataFrame:
    """Occurrences on the page; changes that the file lacks are computed if the model is run."""
    first = ((choices["page"] or 1) - 1) * PAGE
    frame = occurrences(view, choices).iloc[first : first + PAGE].reset_index(drop=True)
    if len(frame) and choices["live"] == "live" and live.reachable(view):
        frame["delta"] = [_delta(view, row, choices) for row in frame.to_dict("records")]
    return in_unit(frame, POINTS, ["delta"])


def _delta(inquiry: Inquiry, row: dict[Any, Any], choices: Choices) -> float:
    """Change at an occurrence; NaN if the pair is outside of the layer's window."""
    if pd.notna(row["delta"]) or not row["in_window"]:
        return row["delta"]
    tokens = tokens_of(inquiry, row["seq"])
    of = {name: choices[name] for name in ("layer", "effect")}
    maps = live.effect_maps(inquiry.store, tokens, **of)
    return float(maps.change[row["target_pos"], row["source_pos"]])


def texts(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the sentences of the page, with both tokens marked."""
    keys = (f'<span class="an-{side}">{escape(view.say(f"key_{side}"))}</span>' for side in PAIR)
    colours, n = f'<div class="an-text">{" ".join(keys)}</div>', len(occurrences(view, choices))
    parts = [_passage(view, row, choices["layer"]) for row in frame.to_dict("records")]
    caption = view.say(f"sentences_caption_{'cut' if n == _MOST else 'whole'}", n=count(n))
    view.markup(figure.name, frame, partial(draw_passages, view, colours, parts), caption=caption)


def _passage(view: View, row: dict[Any, Any], layer: int) -> Passage:
    delta, seq = row["in_points_delta"], row["seq"]
    words = view.say("not_stored" if row["in_window"] else "outside", layer=layer)
    if pd.notna(delta):
        words = view.say("in_points", delta=points(delta / 100))
    tokens = tokens_of(view, seq)["token"].tolist()
    heading = view.say("heading", **{**row, "delta": plain(words)})
    body = marked(tokens, row["source_pos"], row["target_pos"])
    return Passage(heading, body, seq, token=row["target_pos"])


def marked(
    tokens: list[str], source_pos: int, target_pos: int, *, around: int | None = None
) -> str:
    """Text of the tokens with two of them marked, and an arrow along the text between them.

    Args:
        around: number of tokens before and after them that are shown; all if None.
    """
    sides = {source_pos: "source", target_pos: "target"}
    first, last = sorted(sides)
    start = 0 if around is None else max(0, first - around)
    end = len(tokens) if around is None else last + 1 + around
    parts = ["… "] if start else []
    for position, (space, shown) in [*enumerate(readable(tokens))][start:end]:
        text, space = escape(shown), escape(space)
        if side := sides.get(position):
            title = escape(say_here(f"is_{side}", position=position))
            text = f'<span class="an-{side}" title="{title}">{text}</span>'
        if position == first:
            text = f"{text}<u>{'◂' if first == target_pos else ''}"
        elif position == last:
            space = f"{space}{'▸' if last == target_pos else ''}</u>"
        parts.append(f"{space}{text}")
    rest = " …" if end < len(tokens) else ""
    return f'<div class="an-text">{"".join(parts)}{rest}</div>'

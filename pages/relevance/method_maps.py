"""The maps of all rules and methods of one image or text, from the last layer, side by side."""

import streamlit as st

from analysis.tables import image
from analysis.tables.relevance import class_prediction, relevance_map
from pages.relevance.choices import (
    pick_image,
    pick_own_scale,
    pick_underlay,
)
from pages.relevance.image_map import image_maps, map_frame
from pages.relevance.map_layout import Panel
from pages.relevance.pick_text import pick_sequence
from pages.relevance.rules import in_order, rule_meaning, rule_name
from pages.relevance.text_map import STYLE, TextPanel, grid, scale, shares_apart
from pages.relevance.token_maps import stored
from pages.ui.charts.image_ground import ImageGround, ground_of
from pages.ui.figure import figure, markup
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say

_COLUMNS = 4
Maps = dict[str, list[float]]


def image_methods() -> int | None:
    """The maps over an image of the corpus; its number, None where none is kept."""
    images = ask(image.images)
    kept = images[images["kept"]]
    names = {int(seq): name for seq, name in zip(kept["seq"], kept["name"], strict=True)}
    if not names:
        st.info(say("relevance.none_kept"))
        return None
    left, middle, right = st.columns([2, 2, 2])
    with left:
        seq = pick_image(names)
    with middle:
        underlay = pick_underlay()
    with right:
        own_scale = pick_own_scale()
    ground = ground_of(seq)
    maps = _maps(seq)
    if ground is None or not maps:
        return seq
    told = [_predicted(seq), _inside(ground, maps)]
    st.markdown(" ".join(each for each in told if each))
    panels = [Panel(rule, rule_name(rule), relevance) for rule, relevance in maps.items()]
    question = say("relevance_methods.question_image", name=plain(names[seq]))
    figure(
        image_maps(
            ground, panels, columns=_COLUMNS, underlay=underlay, own_scale=own_scale, pictured=True
        ),
        key=f"re_methods_{seq}_{underlay}_{own_scale}",
        question=question,
        caption=_caption("image", own_scale=own_scale),
        frame=map_frame(ground, panels),
        alt=question,
        width="content",
    )
    _meanings(maps)
    return seq


def text_methods() -> int:
    """The shaded text by every method; the number of the text."""
    seq = pick_sequence()
    own_scale = pick_own_scale()
    text, maps = stored(seq), _maps(seq)
    panels = [
        TextPanel(rule_name(rule), relevance, shares_apart(text, relevance))
        for rule, relevance in maps.items()
    ]
    top = max((text.highest(each) for each in maps.values()), default=0.0)
    markup(
        STYLE + scale(top, own_scale=own_scale) + grid(text, panels, own_scale=own_scale),
        key=f"re_methods_text_{seq}",
        question=say("relevance_methods.question_text", seq=seq),
        caption=_caption("text", own_scale=own_scale),
        frame=text.numbers(maps),
    )
    _meanings(maps)
    return seq


def _maps(seq: int) -> Maps:
    """The one map of every rule that is of no single head, from the last layer."""
    found = ask(relevance_map.methods, seq=seq, layer=int(open_store().run["n_layers"]))
    maps = dict(zip(found["rule"], found["relevance"], strict=True))
    return {rule: [float(each) for each in maps[rule]] for rule in in_order(list(maps))}


def _predicted(seq: int) -> str:
    """What the model takes the image for, where it tells classes apart."""
    if not open_store().rows.get(class_prediction.TABLE.name):
        return ""
    found = ask(class_prediction.of_sequence, seq=seq)
    if found.empty:
        return ""
    first = found.iloc[0]
    told = {"label": plain(first["label"]), "probability": percent(float(first["probability"]))}
    return say("relevance.told_class", **told)


def _inside(ground: ImageGround, maps: Maps) -> str:
    """Which method has most inside the mask, where there is one."""
    shares = {rule: _share_inside(ground, relevance) for rule, relevance in maps.items()}
    known = {rule: share for rule, share in shares.items() if share is not None}
    if not known:
        return ""
    most, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    return say(
        "relevance_methods.inside",
        most=rule_name(most),
        of_most=percent(known[most]),
        least=rule_name(least),
        of_least=percent(known[least]),
    )


def _share_inside(ground: ImageGround, relevance: list[float]) -> float | None:
    """Share of the relevance of the patches that the mask tells of which is inside it."""
    if ground.coverage is None:
        return None
    pairs = zip(ground.patches(relevance), ground.coverage, strict=True)
    told = [(value, share) for value, share in pairs if share == share]
    total = sum(value for value, _ in told)
    return float(sum(value * share for value, share in told) / total) if total > 0 else None


def _caption(kind: str, *, own_scale: bool) -> str:
    of_scale = say(f"relevance.{'own' if own_scale else 'shared'}_caption")
    return f"{say(f'relevance_methods.caption_{kind}')} {of_scale}"


def _meanings(maps: Maps) -> None:
    with st.expander(say("relevance_corpus.what_rules")):
        st.markdown("\n".join(f"- **{rule_name(each)}**: {rule_meaning(each)}" for each in maps))

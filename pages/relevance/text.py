"""One text: how much of what a layer puts out comes from each token, by head and by layer."""

import numpy as np
import streamlit as st

from analysis.relevance_rules import RULES
from analysis.tables.relevance import relevance_map, relevance_summary
from pages.relevance.choices import MEAN, head_name, pick_head, pick_own_scale
from pages.relevance.pick_text import Chosen, pick_maps
from pages.relevance.rules import rule_meaning, rule_name
from pages.relevance.text_map import STYLE, TextPanel, grid, scale, shaded, shares_apart
from pages.relevance.token_maps import TokenMaps
from pages.relevance.token_strip import strip_frame, token_strip
from pages.ui.about import about
from pages.ui.figure import figure, markup, table
from pages.ui.store.chosen import require
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain, say

_TOLD = 5  # of the most relevant tokens are named in the sentence
_OF_HEADS = (*RULES, "attention")


def show() -> None:
    require(relevance_map.TABLE)
    st.header(say("relevance_text.title"), anchor=False)
    chosen = pick_maps()
    if chosen is None:
        return
    heads = chosen.heads()
    st.markdown(_finding(chosen.maps, heads[MEAN]))
    if chosen.is_own:
        st.caption(say("relevance_text.own_told"))
    _whole(chosen, heads[MEAN])
    single = [each for each in heads if each != MEAN]
    if single:
        _heads(chosen, {each: heads[each] for each in single})
    _layers(chosen, list(heads))
    _table(chosen, heads)
    about(relevance_map.TABLE, relevance_summary.TABLE)


def _finding(maps: TokenMaps, relevance: list[float]) -> str:
    """What special tokens keep, and which tokens have most."""
    content = maps.content(relevance)
    apart = shares_apart(maps, relevance)
    kept = say("relevance_text.finding_apart", told=plain(apart)) if apart else ""
    if not len(content) or content.sum() <= 0:
        return kept
    order = [at for at in np.argsort(-np.asarray(relevance), kind="stable") if not maps.apart[at]]
    best = say("list.comma").join(
        f"**{plain(maps.names[at])}** {relevance[at]:.2%}" for at in order[:_TOLD]
    )
    even = f"{content.mean():.2%}"
    most = say("relevance_text.finding_most", told=best, even=even, total=percent(content.sum()))
    return f"{kept} {most}"


def _whole(chosen: Chosen, relevance: list[float]) -> None:
    """The text by the mean of the heads, large."""
    kind = "heads" if chosen.rule in _OF_HEADS else "one"
    top = chosen.maps.highest(relevance)
    meaning = rule_meaning(chosen.rule)
    markup(
        STYLE + scale(top) + shaded(chosen.maps, relevance, top),
        key=f"re_text_{chosen.key}",
        question=say(
            f"relevance_text.question_{kind}", rule=rule_name(chosen.rule), layer=chosen.layer
        ),
        caption=say("relevance_text.caption", rule=rule_name(chosen.rule), meaning=meaning),
        frame=chosen.maps.numbers({"relevance": relevance}),
    )


def _heads(chosen: Chosen, heads: dict[str, list[float]]) -> None:
    """Every head by itself, small."""
    own_scale = pick_own_scale()
    panels = [
        TextPanel(head_name(head), relevance, shares_apart(chosen.maps, relevance))
        for head, relevance in heads.items()
    ]
    top = max(chosen.maps.highest(each) for each in heads.values())
    markup(
        STYLE + scale(top, own_scale=own_scale) + grid(chosen.maps, panels, own_scale=own_scale),
        key=f"re_text_heads_{chosen.key}",
        question=say("relevance_text.question_each", rule=rule_name(chosen.rule)),
        caption=say("relevance_text.caption_each"),
        frame=chosen.maps.numbers({f"head_{each}": value for each, value in heads.items()}),
    )


def _layers(chosen: Chosen, heads: list[str]) -> None:
    """The text from every start layer, of one head or of their mean."""
    head = pick_head(heads) if len(heads) > 1 else MEAN
    layers = chosen.maps.source.layers(chosen.rule, head)
    if len(layers) < 2:
        return
    frame = strip_frame(chosen.maps, layers)
    question = say(
        f"relevance_text.question_layers{'' if len(heads) > 1 else '_one'}",
        rule=rule_name(chosen.rule),
        head=head_name(head),
    )
    figure(
        token_strip(frame, marked=chosen.layer),
        key=f"re_text_layers_{chosen.key}_{head}",
        question=question,
        caption=say("relevance_text.caption_layers"),
        frame=frame,
        alt=question,
    )


def _table(chosen: Chosen, heads: dict[str, list[float]]) -> None:
    """Every token with its relevance, to be sorted and searched."""
    number = st.column_config.NumberColumn
    with st.expander(say("relevance_text.numbers")):
        table(
            chosen.maps.numbers(heads),
            key=f"re_text_table_{chosen.key}",
            question=say("relevance_text.table"),
            caption=say("relevance_text.table_caption"),
            columns={
                "pos": number(say("relevance_text.place"), format="%d"),
                "token": say("relevance_text.token"),
                **{each: number(_column(chosen.rule, each), format="%.5f") for each in heads},
            },
            height=320,
        )


def _column(rule: str, head: str) -> str:
    if head == MEAN and rule not in _OF_HEADS:
        return say("relevance_text.share")
    return head_name(head)

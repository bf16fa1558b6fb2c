"""Page on antecedents found by heads, compared with simple rules (Clark et al. 2019)."""

from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.published.heads import numbers
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.corpus import MENTIONS, MERGINGS
from analysis.statistics.probing.accuracy import (
    BASELINES,
    CHOSEN_ON,
    COREFERENCE_ACCURACY,
    COREFERENCE_BEST,
    COREFERENCE_PREDICTION,
    MENTION_TYPES,
    METHODS,
)
from analysis.statistics.question import placed
from pages.charts.colours import ANTECEDENT_COLOURS
from pages.charts.maps import HeadMap
from pages.charts.plots import Bars
from pages.coreference.text_chart import phrase, text_chart
from pages.kit.head_choice import HALF, MIN_WORDS, Head, head_with_most
from pages.kit.kinds import Drawn, Published, Table
from pages.kit.links import link_to_sequence
from pages.kit.page import Page
from pages.kit.published_table import statistic_of
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.lines import beginning, with_capital
from pages.words.numbers import count
from pages.words.say import say
from pages.words.scope import say_here

_FEW, _SHORT = 10, 60  # mentions of which a share is drawn; letters of a text in the picker
_ORDER = placed(MENTION_TYPES, "mention_type")
_BEST = "coreference_best_weighing where merging = $merging and weighing = $weighing"
_GAIN = f"""
    select if(n < {MIN_WORDS}, 'few', 'gain') || if($chosen_on = 'all', '_all', '') as name,
        if(n < {MIN_WORDS}, null, 100 * difference) as value, 100 * difference_low as low,
        100 * difference_high as high, layer, head, n, n_tried, {MIN_WORDS} as least,
        printf('%.0f%%', 100 * accuracy) as share,
        printf('%.0f%%', 100 * baseline_accuracy) as of_rule,
        if($chosen_on = 'first', 'A', 'B') as there, if($chosen_on = 'first', 'B', 'A') as here
    from {_BEST} and mention_type = $type and chosen_on = $chosen_on and baseline = 'sieve'"""
"""Best head over the mentions of a type against the best rule, in points."""


def of_type(kind: str) -> str:
    return say_here(f"mention_type_{kind}")


def best_head(inquiry: Inquiry, choices: Choices) -> Head:
    """The most accurate head over all mentions."""
    return head_with_most(rows_of(_HEADS, inquiry, {**choices, "type": "all"}), "accuracy")


def held_out(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Accuracies of the best head of each type of mention and of the rules, where it is scored."""
    query = f"""
        with best as (from {_BEST} and chosen_on = $chosen_on and n >= {_FEW})
        select mention_type, 'head' as method, n, accuracy, low, high, layer, head
        from best where baseline = 'sieve'
        union all by name
        select mention_type, baseline as method, n, baseline_accuracy as accuracy from best
        order by {_ORDER}, {placed(METHODS, "method")}"""
    frame = rows_of(query, inquiry, choices)
    named = zip(frame["mention_type"], frame["n"], strict=True)
    return frame.assign(type=[say_here("group", type=of_type(of), n=count(n)) for of, n in named])


def published(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Table 2 of the paper beside the file's rules and the same head, over all texts."""
    query = """
        select mention_type, method, coalesce(layer, 0) as layer, coalesce(head, 0) as head,
            accuracy as ours, low, high
        from coreference_accuracy_merging where merging = $merging or method <> 'head'"""
    keys = ["mention_type", "method", "layer", "head"]
    known, rows = rows_of(query, inquiry, choices).set_index(keys).to_dict("index"), []
    for number in numbers("coreference_accuracy"):
        key = (number.mention_type, number.method, number.layer or 0, number.head or 0)
        head = say("published.head", layer=number.layer, head=number.head)
        by = head if number.method == "head" else say_here(f"method_{number.method}")
        of = statistic_of(by, of_type(number.mention_type))
        rows.append({"of": of, "number": number, "ours": None, **known.get(key, {})})
    return pd.DataFrame(rows).astype(object)


WEIGHING = Pick("weighing", kind="weighing")
MERGED = Pick("merging", MERGINGS, is_rare=True)
ONE_HEAD = Pick("head", kind="head", default=best_head)
_ACCURACY: Any = {"value": "accuracy", "axis_word": "accuracy_axis", "format": ".1%"}
_SHARES = dict.fromkeys(("accuracy", "low", "high"), "percent")
_BEST_HEADS: Any = dict.fromkeys(("mention_type", "chosen_on", "name", "n")) | _SHARES
_BEST_HEADS |= dict.fromkeys(("baseline_accuracy", "difference", "difference_low"), "percent")
_BEST_HEADS |= dict.fromkeys(("difference_high", "accuracy_chosen"), "percent")
_BEST_HEADS |= dict.fromkeys(("n_chosen", "n_tried"))
_ALL_HEADS: Any = dict.fromkeys(("layer", "head", "n")) | _SHARES
_ALL_HEADS |= dict.fromkeys((f"more_than_{rule}" for rule in BASELINES), "percent")

RULES = Section(
    "rules",
    (COREFERENCE_ACCURACY, COREFERENCE_BEST),
    picks=(WEIGHING, MERGED, Pick("chosen_on", CHOSEN_ON, HALF)),
    figures=(
        Figure(
            "bars",
            held_out,
            Bars(**_ACCURACY, x="type", colour="method", colours=ANTECEDENT_COLOURS, domain=(0, 1)),
            captions=lambda _, choices: (f"bars_caption_{choices['chosen_on']}", "bars_few"),
        ),
        Figure(
            "table",
            f"""
            select * exclude (weighing, merging), concat('L', layer, '·H', head) as name
            from {_BEST} and baseline = $rule
            order by {_ORDER}, {placed(CHOSEN_ON, "chosen_on")}""",
            Table(columns=_BEST_HEADS, named=("mention_type", "chosen_on")),
            picks=(Pick("rule", BASELINES, "sieve", of="method"),),
        ),
        Figure("antecedents", published, Published(), when={"weighing": (WEIGHT,)}),
    ),
    finding=Finding(_GAIN.replace("$type", "'all'"), format="+.1f", level=0, overview=("gain",)),
    links=("heads",),
)

_HEADS = """
    select *, 1.0 as top from (
        select method, layer::int as layer, head::int as head, n, accuracy, low, high,
            accuracy - max(accuracy) filter (method = 'nearest') over () as more_than_nearest,
            accuracy - max(accuracy) filter (method = 'head_match') over ()
                as more_than_head_match,
            accuracy - max(accuracy) filter (method = 'sieve') over () as more_than_sieve
        from coreference_accuracy_weighing
        where mention_type = $type
            and (method <> 'head' or (merging = $merging and weighing = $weighing)))
    where method = 'head' order by accuracy desc, layer, head"""
HEADS = Section(
    "heads",
    (COREFERENCE_ACCURACY,),
    also=(COREFERENCE_BEST,),
    picks=(WEIGHING, MERGED, Pick("type", MENTION_TYPES, of="mention_type"), ONE_HEAD),
    figures=(
        Figure("map", _HEADS, HeadMap(**_ACCURACY, top="top", more=("n",)), click=HEAD),
        Figure("table", _HEADS, Table(columns=_ALL_HEADS), click=HEAD),
    ),
    finding=Finding(_GAIN.replace("$chosen_on", "'all'"), format="+.1f", level=0, overview=()),
    links=("documents",),
)


_IS_ASKED = """coreference_prediction_weighing where method = $method and ($method <> 'head'
    or (merging = $merging and weighing = $weighing and layer = $layer and head = $head))"""
_TEXTS = f"""
    select seq, len(mentions) as n, len(list_filter(correct, lambda each: each)) as n_right, text
    from (from {_IS_ASKED}) join sequence using (seq) order by n desc, seq"""
_PICKED = f"""
    with picked as (
        select unnest(mentions) as mention, unnest(predicted) as predicted,
            unnest(correct) as correct
        from {_IS_ASKED} and seq = $text)
    select mention.* exclude (seq), predicted, correct, (
        select max(earlier.head_word) from mention as earlier
        where earlier.seq = $text and earlier.cluster = mention.cluster
            and not earlier.is_masked and earlier.head_word < mention.head_word
    ) as antecedent
    from picked
    join mention on mention.seq = $text and mention.mention = picked.mention
    order by mention.mention"""
"""Picks of a head or a rule, with the head word of the nearest correct mention."""
_WORDS = "select * exclude (seq) from word where seq = $seq order by word"
_MENTIONS = "select * exclude (seq) from mention where seq = $seq order by mention"


def texts(inquiry: Inquiry, choices: Choices) -> dict[int, str]:
    """Texts with mentions, the one with most first, with the number that is right."""
    rows: list[dict[Any, Any]] = rows_of(_TEXTS, inquiry, choices).to_dict("records")
    return {
        row["seq"]: say_here("label", **row | {"text": beginning(row["text"], _SHORT)})
        for row in rows
    }


def picked(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Mentions of the text that have an antecedent, with what is picked for each."""
    seq = choices["text"]
    frame = rows_of(_PICKED, inquiry, choices)
    words = rows_of(_WORDS, inquiry, {"seq": seq})
    spans = zip(frame["first_word"], frame["last_word"], strict=True)
    forms = {"head_form": "head_word", "picked_form": "predicted", "antecedent_form": "antecedent"}
    return frame.assign(
        text=[phrase(words, first, last) for first, last in spans],
        **{form: frame[word].map(words["form"]) for form, word in forms.items()},
    )


def found_in_text(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Row of the finding: mentions that are right, in the text and in all."""
    frame = rows_of(_TEXTS, inquiry, choices)
    of_text = frame.loc[frame["seq"] == choices["text"], ["n", "n_right"]]
    every = frame[["n", "n_right"]].sum().add_prefix("all_")
    by = "by_head" if choices["method"] == "head" else f"method_{choices['method']}"
    return of_text.assign(
        name="text", value=None, by=with_capital(say_here(by, **choices)), **every
    )


def show_text(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the text with its mentions and arrows, and a link to its own page."""
    seq, arrows = choices["text"], choices["arrows"]
    shown = frame if arrows == "all" else frame[frame["correct"] == (arrows == "right")]
    words, mentions = (rows_of(of, view, {"seq": seq}) for of in (_WORDS, _MENTIONS))
    view.figure(figure.name, frame, text_chart(words, mentions, shown))
    view.draw(link_to_sequence, seq)


_COLUMNS = ("text", "mention_type", "head_form", "picked_form", "correct", "antecedent_form")
_OF_HEAD = {"method": ("head",)}
TEXTS = Section(
    "documents",
    (COREFERENCE_PREDICTION,),
    also=(MENTIONS,),
    picks=(
        Pick("method", METHODS),
        replace(WEIGHING, is_rare=True, when=_OF_HEAD),
        replace(MERGED, when=_OF_HEAD),
        replace(ONE_HEAD, when=_OF_HEAD),
        Pick("text", texts, kind="select"),
        Pick("arrows", ("all", "right", "wrong")),
    ),
    figures=(
        Figure("chart", picked, Drawn(record=show_text)),
        Figure("table", picked, Table(columns=_COLUMNS, named=("mention_type",))),
    ),
    finding=Finding(found_in_text, overview=()),
    links=("heads",),
)

PAGE = Page("coreference", "co", (RULES, HEADS, TEXTS), {"weighing": "rules"})

if __name__ == "__main__":
    PAGE.show()

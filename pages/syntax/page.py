"""Page on dependency relations in heads and trees from attention (Clark et al. 2019)."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from analysis.published.heads import numbers
from analysis.statistics.base.weighing import WEIGHT
from analysis.statistics.corpus import MERGINGS, WORDS
from analysis.statistics.probing.accuracy import (
    CHOSEN_ON,
    DEPENDENCY_ACCURACY,
    DEPENDENCY_BASELINE,
    DEPENDENCY_BEST,
    DEPENDENCY_PREDICTION,
    DIRECTIONS,
)
from analysis.statistics.probing.parsers import PARSER_ACCURACY
from pages.charts.maps import HeadMap
from pages.charts.plots import Bars, Rows
from pages.kit.head_choice import HALF, MIN_WORDS, head_with_most, short_name
from pages.kit.kinds import Custom, Drawn, Published, Table
from pages.kit.links import link_to_sequence
from pages.kit.page import Page
from pages.kit.section import (
    HEAD,
    Choices,
    Figure,
    Finding,
    Pick,
    Section,
    of_head,
    one_row,
    rows_of,
)
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.syntax import parsers
from pages.syntax.arcs import arc_chart, is_upright
from pages.syntax.charts import accuracy_rows, direction_name, readable
from pages.words.dependencies import relation_label, relation_line, relation_name
from pages.words.lines import beginning
from pages.words.numbers import offset_label
from pages.words.scope import say_here

_LEAST, _FREQUENT = 10, 100  # words of relations that are shown; as in the paper
_COUNTS = """
    select relation, max(n) as n from dependency_accuracy
    group by relation order by relation = 'all_words', relation = 'all', n desc, relation"""
_CLEAREST = f"""
    select relation from dependency_best
    where merging = 'mean' and chosen_on = 'all' and relation not in ('all', 'all_words')
    order by n >= {_FREQUENT} desc, if(n >= {_FREQUENT}, difference, n) desc, n desc, relation
    limit 1"""
"""Frequent relation whose best head exceeds the best fixed offset most.

Without frequent relations, the most frequent one: a few words prove nothing.
"""
_GAIN = """
    100 * difference as value, 100 * difference_low as low, 100 * difference_high as high,
    relation as label, layer, head, n, n_tried, printf('%.0f%%', 100 * accuracy) as share,
    printf('%.0f%%', 100 * offset_accuracy) as of_offset,
    replace(printf('%+d', "offset"), '-', '−') as shift"""
"""Difference of the best head from the best fixed offset, in points, with what it is of."""
_CHOSEN = "dependency_best_weighing where merging = $merging and weighing = $weighing"
_BEST = f"""
    from {_CHOSEN} and chosen_on = $chosen_on and n >= $least
    order by accuracy desc, n desc, relation"""
_HEADS = """
    select layer, head, direction::varchar as direction, n, accuracy, low, high
    from dependency_accuracy_weighing
    where relation = $relation and merging = $merging and weighing = $weighing
        and ($direction = 'either' or direction::varchar = $direction)
    qualify row_number() over (partition by layer, head order by accuracy desc, direction) = 1
    order by layer, head"""


def heads(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Accuracy of every head on a relation; of either direction, in its better one."""
    frame = rows_of(_HEADS, inquiry, choices)
    return frame.assign(direction_named=frame["direction"].map(direction_name))


WEIGHING = Pick("weighing", kind="weighing")
RELATION = Pick(
    "relation",
    lambda inquiry, _: rows_of(_COUNTS, inquiry, {})["relation"].tolist(),
    lambda inquiry, _: next(iter(rows_of(_CLEAREST, inquiry, {})["relation"]), None),
    kind="select",
    format=relation_name,
)
DIRECTION = Pick("direction", ("either", *DIRECTIONS))
MERGED = Pick("merging", MERGINGS, is_rare=True)
ONE_HEAD = Pick(
    "head",
    kind="head",
    default=lambda inquiry, choices: head_with_most(heads(inquiry, choices), "accuracy"),
)


_COLUMNS = dict.fromkeys(("relation", "head_name", "direction", "n"))
_COLUMNS |= dict.fromkeys(("accuracy", "low", "high"), "percent")
_COLUMNS |= {"offset": "%+d", "offset_accuracy": "percent", "difference": "percent"}
_COLUMNS |= dict.fromkeys(("difference_low", "difference_high", "accuracy_chosen"), "percent")
_COLUMNS |= dict.fromkeys(("n_chosen", "n_tried"))


def under_names(inquiry: Inquiry, choices: Choices, query: str) -> pd.DataFrame:
    """Rows of a finding, with the display names of relations."""
    frame = rows_of(query, inquiry, choices)
    return frame.assign(label=frame["label"].map(relation_name, na_action="ignore"))


found_of_relations = partial(
    under_names,
    query=f"""
        with best as (
            select *, if(chosen_on = 'all', 'all', 'half') as part
            from {_CHOSEN} and chosen_on = $chosen_on
                and n >= greatest($least, {MIN_WORDS}) and relation not in ('all', 'all_words')),
        counts as (
            select 1 as sentence, count(*) as "of", count(difference_low) as known,
                count(*) filter (difference_low > 0) as n, greatest($least, {MIN_WORDS}) as least,
                'beyond_' || any_value(part) as beyond from best)
        select sentence, n, least, if(known = 0, "of", known) as "of",
            case when "of" = 0 then 'few' when known = 0 then 'unsure' else beyond end as name
        from counts
        union all by name
        select 2 as sentence, 'gain_' || part as name, {_GAIN},
            if(chosen_on = 'first', 'A', 'B') as there, if(chosen_on = 'first', 'B', 'A') as here
        from best where difference_low is not null
        qualify row_number() over (order by difference desc, relation) = 1
        order by sentence""",
)
_UNIVERSAL = {"all": "all_words", "nn": "compound", "dobj": "obj", "poss": "nmod:poss"}
_UNIVERSAL |= {"auxpass": "aux:pass", "prt": "compound:prt"}
"""Universal relations that are nearest to labels of Stanford Dependencies, where these differ.

`prep` and `pobj` have none: there the preposition governs the noun, in UD the noun governs it.
"""


def published(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Heads and offsets of table 1, with this file's best ones, chosen and scored on all of it."""
    query = f"from {_CHOSEN} and chosen_on = 'all'"
    best = rows_of(query, inquiry, {**choices, "weighing": WEIGHT})
    known = best.set_index("relation").to_dict("index")
    rows: list[dict[str, Any]] = []
    for head in numbers("dependency_accuracy", place=("own_table", 1)):
        (offset,) = numbers("dependency_baseline", place=head.place, relation=head.relation)
        nearest = _UNIVERSAL.get(head.relation, head.relation)
        ours = known.get(nearest, known.get(head.relation, {}))
        label = head.relation if nearest == head.relation else f"{head.relation} (UD {nearest})"
        named = {
            "relation": relation_name(nearest) if head.relation == "all" else label,
            "head": short_name(head.layer, head.head),
            "direction": direction_name(head.direction),
            "offset": offset_label(offset.offset or 0),
        }
        for number, column in ((head, "accuracy"), (offset, "offset_accuracy")):
            ends = {end: ours.get(end) if number is head else None for end in ("low", "high")}
            of = say_here(f"published_{column}", **named)
            rows.append({"of": of, "number": number, "ours": ours.get(column), **ends})
    return pd.DataFrame(rows).astype(object)


RELATIONS = Section(
    "relations",
    (DEPENDENCY_ACCURACY, DEPENDENCY_BEST, DEPENDENCY_BASELINE),
    picks=(
        WEIGHING,
        MERGED,
        Pick("chosen_on", CHOSEN_ON, HALF),
        Pick("least", (1, 100_000), _LEAST, kind="number"),
    ),
    figures=(
        Figure(
            "rows",
            _BEST,
            Custom(chart=accuracy_rows, value="accuracy", format=".1%", marks=("relation",)),
            click={"relation": "relation"},
            captions=lambda _, choices: (f"rows_caption_{choices['chosen_on']}",),
        ),
        Figure(
            "best",
            lambda inquiry, choices: readable(rows_of(_BEST, inquiry, choices)),
            Table(columns=_COLUMNS),
            picks=(RELATION,),
            click={"relation": "relation"},
        ),
        Figure("heads", published, Published(), when={"weighing": (WEIGHT,)}),
    ),
    finding=Finding(found_of_relations, format="+.1f", level=0.0, overview=("gain_half",)),
    links=("heads", "sentences"),
)


def explain(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Explain the chosen relation, and what a causal model cannot see."""
    relation = choices["relation"]
    meaning = relation_line(relation) or view.say("unknown")
    view.note(f"**{relation_label(relation)}**: {meaning}")
    if view.store.is_causal:
        view.note(view.say("causal"))


found_of_heads = partial(
    under_names,
    query=f"""
        select {_GAIN.replace("value", "gain", 1)}, {MIN_WORDS} as least,
            if(n < least, null, gain) as value, if(n < least, 'few', 'gain') as name
        from {_CHOSEN} and relation = $relation and chosen_on = 'all'""",
)
_ACCURACY: Any = {"value": "accuracy", "axis_word": "accuracy_axis", "format": ".1%"}
_MORE = ("direction_named", "n")
HEADS = Section(
    "heads",
    (DEPENDENCY_ACCURACY, DEPENDENCY_BASELINE),
    also=(DEPENDENCY_BEST,),
    picks=(WEIGHING, RELATION, DIRECTION, MERGED, ONE_HEAD),
    figures=(
        Figure("explained", one_row, Drawn(record=explain)),
        Figure("map", heads, HeadMap(**_ACCURACY, more=_MORE), click=HEAD, half=True),
        Figure(
            "offsets",
            """
            select relation, "offset", n, accuracy from dependency_baseline
            where relation = $relation order by "offset" """,
            Bars(**_ACCURACY, x="offset", more=("n",)),
            half=True,
        ),
    ),
    finding=Finding(found_of_heads, format="+.1f", level=0.0, overview=()),
    links=("sentences", "relations"),
)

_MOST, _READABLE, _LONGEST = 500, 70, 110  # sentences; letters
_LIST = ("seq", "n", "n_right", "text")
_WHICH = {
    "every": lambda frame: frame["n"] > 0,
    "mistaken": lambda frame: frame["n_right"] < frame["n"],
    "right": lambda frame: frame["n_right"] == frame["n"],
}
_DIRECTION = f"""
    coalesce((select direction from ({_HEADS}) where layer = $layer and head = $head),
        '{DIRECTIONS[0]}')"""
_SEQ = "split_part($sentence, '-', 1)::int"

SENTENCES_OF_RELATION = f"""
    with decided as (
        select seq, sentence, word, relation, governor, is_masked,
            word + (relation = 'poss' and coalesce(
                lead(form) over (partition by seq, sentence order by word) in ('''s', 's'''),
                false))::int as deciding
        from word where relation is not null),
    counted as (
        select seq, sentence, count(*) as n,
            count(*) filter (where predicted[deciding + 1] = governor) as n_right
        from decided join dependency_prediction_weighing using (seq)
        where weighing = $weighing and layer = $layer and head = $head
            and direction = $direction and merging = $merging and not is_masked
            and (seq, coalesce(governor, -1)) not in (select seq, word from word where is_masked)
            and case $relation when 'all_words' then true
                when 'all' then split_part(relation, ':', 1) not in ('root', 'punct')
                else split_part(relation, ':', 1) not in ('root', 'punct')
                    and $relation in (relation, split_part(relation, ':', 1)) end
        group by seq, sentence order by n desc, seq, sentence limit {_MOST})
    select seq, sentence,
        trim(string_agg(form || if(space_after, ' ', ''), '' order by word)) as text,
        any_value(n) as n, any_value(n_right) as n_right
    from counted join word using (seq, sentence)
    group by seq, sentence order by n desc, seq, sentence"""
"""Sentences with most words of a relation that the head may see, and those that it gets right."""


def listed(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Sentences with most words of a relation, of the kind that is chosen, with their places."""
    asked = {name: choices[name] for name in ("relation", "merging", "weighing", "layer", "head")}
    asked["direction"] = rows_of(f"select {_DIRECTION} as to", inquiry, choices)["to"].iloc[0]
    frame = rows_of(SENTENCES_OF_RELATION, inquiry, asked)
    frame = frame[_WHICH[choices["which"]](frame)]
    return frame.assign(at=frame["seq"].astype(str) + "-" + frame["sentence"].astype(str))


def labels(inquiry: Inquiry, choices: Choices) -> dict[str, str]:
    """Sentences by place, with what the head finds."""
    rows: list[dict[Any, Any]] = listed(inquiry, choices).to_dict("records")
    return {
        row["at"]: say_here("label", **row | {"text": beginning(row["text"], _LONGEST)})
        for row in rows
    }


def readable_one(inquiry: Inquiry, choices: Choices) -> str | None:
    """Sentence of medium length."""
    frame = listed(inquiry, choices).set_index("at")["text"].str.len()
    return None if frame.empty else str((frame - _READABLE).abs().idxmin())


def found_in_sentence(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Row of the finding: words of the relation in a sentence and in all, and those found."""
    frame = listed(inquiry, choices)
    every = heads(inquiry, choices).rename(columns={"n": "every"})
    every["share"] = [f"{share:.0%}" for share in every["accuracy"]]
    found = frame[frame["at"] == choices["sentence"]].assign(**of_head(choices))
    found = found.merge(every[["layer", "head", "every", "share"]], on=["layer", "head"])
    return found.assign(name="sentence", value=None, label=relation_name(choices["relation"]))


def into_text(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record a link to the page on the sentence's text."""
    view.draw(link_to_sequence, int(choices["sentence"].partition("-")[0]))


SENTENCES = Section(
    "sentences",
    (DEPENDENCY_ACCURACY, DEPENDENCY_PREDICTION, WORDS),
    picks=(
        replace(WEIGHING, is_rare=True),
        RELATION,
        replace(DIRECTION, is_rare=True),
        MERGED,
        ONE_HEAD,
        Pick("which", tuple(_WHICH)),
        Pick("sentence", labels, readable_one, kind="select"),
        Pick("arcs", ("relation", "everything"), is_rare=True),
    ),
    figures=(
        Figure("explained", one_row, Drawn(record=explain)),
        Figure(
            "drawing",
            f"""
            with decided as (
                select *, word + (relation = 'poss' and coalesce(
                    lead(form) over (order by word) in ('''s', 's'''), false))::int as deciding
                from word
                where seq = {_SEQ} and sentence = split_part($sentence, '-', 2)::int),
            picked as (
                select predicted as places from dependency_prediction_weighing
                where seq = {_SEQ} and layer = $layer and head = $head and merging = $merging
                    and weighing = $weighing and direction::varchar = {_DIRECTION})
            select word, form, relation, governor, places[deciding + 1] as predicted,
                coalesce(case $relation when 'all_words' then true
                    when 'all' then relation not in ('root', 'punct')
                    else $relation in (relation, split_part(relation, ':', 1)) end, false)
                    as of_relation,
                coalesce(places[deciding + 1] = governor, false) as right
            from decided, picked order by word""",
            Custom(chart=arc_chart),
            captions=lambda frame, _: (
                f"drawing_caption_{'upright' if is_upright(frame) else 'across'}",
            ),
        ),
        Figure("into", "select 1 where $sentence is not null", Drawn(record=into_text)),
        Figure("list", listed, Table(columns=_LIST), click={"sentence": "at"}),
    ),
    finding=Finding(found_in_sentence, overview=()),
    links=("heads",),
)

PARSERS = Section(
    "parsers",
    (PARSER_ACCURACY,),
    figures=(
        Figure(
            "chart",
            parsers.means,
            Rows(y="method_named", colour="kind", colours=parsers.COLOURS, format=".1%"),
        ),
        Figure("table", parsers.means, Table(columns=parsers.COLUMNS)),
        Figure("untrained", parsers.untrained_in_paper, Published()),
        Figure("parsers", parsers.in_paper, Published()),
    ),
    finding=Finding(parsers.found, overview=("attention_words",)),
    lacks=parsers.too_few,
)

PAGE = Page("syntax", "sy", (RELATIONS, HEADS, SENTENCES, PARSERS), {"weighing": "relations"})

if __name__ == "__main__":
    PAGE.show()

"""Page on habits of heads: targets, entropy and importance of attention (Clark et al. 2019)."""

import pandas as pd

from analysis.effects import CHANGES, FILLINGS, LEVELS, MEASURES, RANDOM
from analysis.habits import TOKEN_TYPES
from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from analysis.statistics import norms, sinks
from analysis.statistics.base.weighing import DIFFERENCE, WEIGHINGS, WEIGHT
from analysis.statistics.heads.single_heads import (
    CONTRIBUTION,
    EFFECT_PREDICTION,
    GRADIENT_IMPORTANCE,
    HEAD_EFFECT,
    HEAD_PATTERN,
    HEAD_PATTERN_DIFFERENCE,
    MEASURES_OF_HEADS,
    SEQUENCE_CONTRIBUTION,
    SEQUENCE_GRADIENT_IMPORTANCE,
    SEQUENCE_HEAD_EFFECT,
    SEQUENCE_HEAD_PATTERN,
)
from analysis.statistics.question import placed, quoted
from pages.charts.colours import HABIT_COLOURS, SERIES_COLOURS, TOKEN_TYPE_COLOURS
from pages.charts.maps import HeadMap
from pages.charts.plots import Points, Rows, Spread
from pages.habits.matters import gradients, lacking, of_measure, offer
from pages.kit.behaviours import OTHER, behaviour_name, behaviours_of_heads
from pages.kit.found import MEAN_ENDS
from pages.kit.habits import GROUPS, HABITS, SHARES, of_habits
from pages.kit.head_choice import Head, head_with_most
from pages.kit.kinds import Custom, Drawn, Kind, Published, Table
from pages.kit.page import Page
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, rows_of
from pages.services.inquiry import Inquiry
from pages.words.say import say
from pages.words.scope import say_here

_BREADTH = ("entropy", "entropy_cls", "uniform")
_GROUPS = {**GROUPS, "breadth": _BREADTH}
_GROUP = "case {} end".format(
    " ".join(f"when quantity in ({quoted(*of)}) then '{name}'" for name, of in _GROUPS.items())
)
_HALF, _BROAD = 0.5, 0.9  # of a token's attention; of the entropy of even attention
_LEAST = 0.01  # a hundredth of a token's attention, or of a nat
_SEEN = (*GROUPS["special"], "previous", "next")
_ENTROPIES = tuple(habit for habit in HABITS if habit not in SHARES)
_PARTS = {
    "weight": SERIES_COLOURS[0],
    "gradient": SERIES_COLOURS[1],
    "effect_mean": SERIES_COLOURS[2],
    "effect_zero": SERIES_COLOURS[2],
}
"""Measures of attention to a type of token, with their colours."""


def clearest(inquiry: Inquiry, _: Choices) -> Head:
    """Head with the largest share for one kind of token."""
    rows = f"""
        select layer, head, mean from head_pattern_interval
        where head is not null and quantity in ({quoted(*_SEEN)}) order by layer, head"""
    return head_with_most(rows_of(rows, inquiry, {}), "mean")


def groups(inquiry: Inquiry, _: Choices) -> list[str]:
    held = rows_of(f"select distinct {_GROUP} as name from head_pattern_interval", inquiry, {})
    return [name for name in _GROUPS if name in set(held["name"])]


def entropy_cls(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Entropy of [CLS] in the last layer of BERT-base, and the printed one."""
    name = say("habits.published.entropy_cls", layer=ENTROPY_CLS.layer)
    rows = """
        select mean as ours, low, high from head_pattern_interval
        where head is null and quantity = $habit and layer = $layer"""
    ours = rows_of(rows, inquiry, vars(ENTROPY_CLS)).to_dict("records") or [{"ours": None}]
    return pd.DataFrame([{"of": name, "number": ENTROPY_CLS, **ours[0]}])


def neighbours(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Number of heads with more than half of their attention on a neighbour, and the printed."""
    counts = f"""
        select quantity, count(*) filter (mean > {_HALF})::double as n from head_pattern_interval
        where head is not null group by quantity"""
    found = dict(rows_of(counts, inquiry, {}).itertuples(index=False))
    rows = [
        (say(f"habits.published.heads_{number.habit}"), number, found.get(number.habit))
        for number in NEIGHBOURS
    ]
    return pd.DataFrame(rows, columns=["of", "number", "ours"]).astype(object)


def spread(group: str) -> Figure:
    """Means over layers and every head, of a group of habits."""
    is_share = group in GROUPS
    rows = f"""
        select layer, quantity as habit, mean, low, high, head from head_pattern_weighing
        where weighing = $weighing and {_GROUP} = $group
            and (head is null or quantity <> 'uniform')
        order by head is not null, {placed(HABIT_COLOURS, "quantity")}, layer, head"""
    return Figure(
        f"question_{group}",
        rows,
        Spread(
            colour="habit",
            dashed=None if is_share else "uniform",
            format=".1%" if is_share else ".2f",
            axis_word=f"{'share' if is_share else 'entropy'}_axis_{{weighing}}",
        ),
        when={"group": (group,)},
        click=HEAD,
        notes=(f"paper_{group}",),
    )


LAYERS = Section(
    "layers",
    (HEAD_PATTERN,),
    also=(SEQUENCE_HEAD_PATTERN, sinks.SINK),
    picks=(
        Pick("weighing", kind="weighing"),
        Pick("group", groups),
        Pick("head", kind="head", default=clearest),
    ),
    figures=(
        *map(spread, _GROUPS),
        Figure(
            "neighbours",
            neighbours,
            Published(),
            when={"group": ("neighbours",), "weighing": (WEIGHT,)},
        ),
        Figure(
            "entropy",
            entropy_cls,
            Published(),
            when={"group": ("breadth",), "weighing": (WEIGHT,)},
        ),
    ),
    finding=Finding(
        f"""
        with every as (
            from head_pattern_weighing where weighing = $weighing and {_GROUP} = $group),
        of_layers as (from every where head is null),
        most as (
            select quantity from of_layers where quantity not in ('uniform', 'other_to_sep')
            group by quantity order by quantity = 'entropy' desc, avg(mean) desc limit 1),
        means as (
            select quantity, avg(mean) as value, {MEAN_ENDS} from of_layers group by quantity),
        even as (  -- of one token, or of the tokens of the type; texts without any count as 0
            select 'even' as quantity, mean * part as value, low * part as low, high * part as high
            from (
                select avg(mean) as mean, {MEAN_ENDS},
                    any_value(n_sequences) / (select n_sequences from run) as part
                from sink where quantity = 'even' and head is null
                    and place = if($group = 'neighbours', 'first', (from most))
                    and $group in ('neighbours', 'special'))
            where mean is not null and not exists (
                from provenance where name = 'windows' and regexp_matches(value, '[0-9]'))),
        peaks as (
            select *, row_number() over (order by mean desc) = 1 as is_peak
            from of_layers where quantity = (from most)
            qualify count(*) over () > 1
                and (is_peak or row_number() over (order by mean) = 1)),
        level as (
            select if($group = 'breadth', {_BROAD} * (
                select value from means where quantity = 'uniform'), {_HALF}) as level),
        heads as (
            select layer, head, max(mean) > any_value(level) as is_so,
                max(low) > any_value(level) as is_surely,
                count(low) = 0 as is_unsure
            from every, level
            where head is not null and quantity not in ('uniform', 'entropy_cls') group by all)
        select 1 as sentence, (from most) as habit, value, low, high, null as layer,
            case when quantity = (from most) and $group <> 'from_sep'
                then if($group = 'breadth', 'entropy', 'share') || '_' || $weighing
                else quantity end as name,
            if($group = 'breadth', '.2f', '.1%') as format, null as n, null as "of", null as sure
        from (from means union all from even)
        where quantity in ((from most), 'uniform', 'even', 'other_to_sep')
        union all
        select 2, quantity, mean, low, high, layer, if(is_peak, 'peak', 'lowest'),
            if($group = 'breadth', '.2f', '.1%'), null, null, null
        from peaks
        union all
        select 3, null, null, null, null, null,
            if($group = 'breadth', 'broad', 'half_' || $weighing)
                || if(bool_and(is_unsure), '_unsure', ''), null,
            count(*) filter (is_so), count(*), count(*) filter (is_surely) from heads
        order by sentence, name in ('even', 'uniform', 'other_to_sep', 'lowest')""",
        least=_LEAST,
        overview=(),
    ),
)


def habits(inquiry: Inquiry, choices: Choices) -> list[str]:
    """Habits that heads of the file have, in order."""
    table = (
        "head_pattern_difference" if choices["weighing"] == DIFFERENCE else "head_pattern_weighing"
    )
    held = rows_of(
        f"select distinct quantity from {table} where head is not null", inquiry, choices
    )
    return [habit for habit in HABITS if habit in set(held["quantity"])]


def kept(inquiry: Inquiry, choices: Choices) -> list[str]:
    """Main habits of heads, for the filter of the table."""
    return sorted(set(behaviours_of_heads(inquiry, weighing=choices["weighing"])["behaviour"]))


def table(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Every head with its main habit and all its habits, restricted to some main habits."""
    rows = """
        select layer, head, quantity, mean from head_pattern_weighing
        where weighing = $weighing and head is not null"""
    frame = of_habits(rows_of(rows, inquiry, choices), HABITS)
    wide = frame.pivot(index=["layer", "head"], columns="habit", values="mean").reset_index()
    named = behaviours_of_heads(inquiry, weighing=choices["weighing"])
    wide = named[["layer", "head", "behaviour"]].merge(wide, on=["layer", "head"], how="right")
    chosen = choices["behaviours"] or set(wide["behaviour"])
    wide = wide[wide["behaviour"].isin(chosen)].reset_index(drop=True)
    return wide.assign(behaviour=wide["behaviour"].map(behaviour_name))


def found_of_heads(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on all heads: main habits, and the head with most of a habit."""
    weighing = choices["weighing"]
    if weighing == DIFFERENCE:
        return rows_of(_CHANGES, inquiry, choices)
    main = behaviours_of_heads(inquiry, weighing=weighing)["behaviour"]
    by_low = behaviours_of_heads(inquiry, weighing=weighing, by="low")
    surely = by_low["behaviour"]
    counts = main[main != OTHER].value_counts()
    listed = [f"{behaviour_name(str(name))} {n}" for name, n in counts.items()]
    sure = say_here("known", n=int((surely != OTHER).sum()))
    count = {
        "sentence": 0,
        "name": f"habits_{weighing}" if listed else "no_habits",
        "n": int(counts.sum()),
        "of": len(main),
        "known": sure if by_low["entropy"].notna().any() else say_here("known_unsure"),
        "listed": say("list.comma").join(listed),
    }
    most = rows_of(_MOST, inquiry, choices)
    return pd.concat([pd.DataFrame([count]), most], ignore_index=True)


_FORMAT = f"if(quantity in ({quoted(*_ENTROPIES)}), '.2f', '.0%') as format"
_MOST = f"""
    with heads as (
        select layer, head, quantity, mean, low, high from head_pattern_weighing
        where weighing = $weighing and head is not null and quantity = $quantity)
    select 1 as sentence, 'most_' || $weighing as name, mean as value, low, high, layer, head,
        quantity as habit, {_FORMAT}
    from heads qualify row_number() over (order by mean desc) = 1
    union all by name
    select 1 as sentence, 'median' as name, median(mean) as value, median(mean) as low,
        median(mean) as high, any_value({_FORMAT.removesuffix(" as format")}) as format
    from heads having count(*) > 0
    order by head nulls last"""
_CHANGES = f"""
    select 1 as sentence, weighing || '_mean' as name, quantity as habit, avg(mean) as value,
        {MEAN_ENDS}, {_FORMAT}, null as n, null as less, null as more, null as unclear
    from head_pattern_weighing where head is null and quantity = $quantity group by all
    union all
    select 2, 'changes', quantity, null, null, null, null, count(*), count(*) filter (high < 0),
        count(*) filter (low > 0),
        count(*) filter (low is null or (low <= 0 and high >= 0))
    from head_pattern_difference where head is not null and quantity = $quantity group by all
    order by sentence, name"""


def of_kind(
    name: str, entropy: str, rows: str, *weighings: str, share: Kind, nats: Kind
) -> tuple[Figure, ...]:
    """Maps of every head for some weighings: of a share, or of an entropy."""
    kinds = ((name, SHARES, share), (entropy, _ENTROPIES, nats))
    return tuple(
        Figure(name, rows, chart, when={"weighing": weighings, "quantity": of}, click=HEAD)
        for name, of, chart in kinds
    )


_AS = {"value": "difference", "is_signed": True, "more": ("weight", "norm")}
HEADS = Section(
    "heads",
    (HEAD_PATTERN,),
    also=(SEQUENCE_HEAD_PATTERN, HEAD_PATTERN_DIFFERENCE),
    picks=(
        Pick("weighing", (DIFFERENCE,), kind="weighing"),
        Pick("quantity", habits, of="habit", kind="pills"),
        Pick("head", kind="head", default=clearest),
    ),
    figures=(
        *of_kind(
            "map_share",
            "map_entropy",
            """
            select layer, head, quantity as habit, mean, low, high from head_pattern_weighing
            where weighing = $weighing and quantity = $quantity and head is not null
            order by layer, head""",
            *WEIGHINGS,
            share=HeadMap(format=".1%", axis_word="share_axis_{weighing}"),
            nats=HeadMap(format=".2f", axis_word="entropy_axis_{weighing}"),
        ),
        *of_kind(
            "change",
            "change",
            """
            select * rename (quantity as habit) from head_pattern_difference
            where quantity = $quantity and head is not null order by layer, head""",
            DIFFERENCE,
            share=HeadMap(format=".1%", axis_word="change_axis_share", **_AS),
            nats=HeadMap(format=".2f", axis_word="change_axis_entropy", **_AS),
        ),
        Figure(
            "lacking_change",
            lambda inquiry, _: lacking(inquiry, HEAD_PATTERN_DIFFERENCE),
            Drawn(record=offer),
            when={"weighing": (DIFFERENCE,)},
        ),
        Figure(
            "table",
            table,
            Table(
                columns={
                    **dict.fromkeys(("layer", "head", "behaviour")),
                    **dict.fromkeys(SHARES, "percent"),
                    **dict.fromkeys(_ENTROPIES, "%.2f"),
                }
            ),
            when={"weighing": WEIGHINGS},
            picks=(Pick("behaviours", kept, kind="many", format=behaviour_name),),
            click=HEAD,
        ),
    ),
    finding=Finding(found_of_heads),
)


def fillings(inquiry: Inquiry, _: Choices) -> tuple[str, ...]:
    """Fillings in place of a head, in files that have effects of heads."""
    return FILLINGS if inquiry.store.holds(HEAD_EFFECT) else ()


def changes(inquiry: Inquiry, _: Choices) -> list[str]:
    """Quantities of an effect that the file has."""
    held = rows_of("select distinct quantity from head_effect", inquiry, {})
    return [name for name in CHANGES if name in set(held["quantity"])]


def ranked(inquiry: Inquiry, _: Choices) -> list[str]:
    """Measures by which heads of the file are ranked."""
    held = rows_of("select distinct measure from effect_prediction", inquiry, {})
    return [name for name in MEASURES if name in set(held["measure"])]


def of_every_head(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Effect of every head beside its measures; empty where heads are not ranked."""
    rows = f"""
        select layer, head, mean, low, high, n_sequences, measures.* exclude (layer, head)
        from head_effect join ({MEASURES_OF_HEADS}) as measures using (layer, head)
        where $measure is not null and filling = $filling and quantity = $quantity
            and token_type is null
        order by layer, head"""
    return rows_of(rows, inquiry, choices)


def best(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Measure with the largest ρ in each layer."""
    rows = """
        select layer, measure, spearman, low, high from effect_prediction
        where filling = $filling and quantity = $quantity and level = 'layer'
            and measure <> 'random'
        qualify row_number() over (partition by layer order by spearman desc) = 1 order by layer"""
    frame = rows_of(rows, inquiry, choices)
    return frame.assign(measure=frame["measure"].map(of_measure))


def found_of_effects(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on effects: of token types, of heads, and what foretells them."""
    frame = rows_of(_EFFECTS, inquiry, choices)
    objective = frame["objective"].map(lambda name: say(f"habits.matters.loss_{name}"), "ignore")
    return frame.assign(measure=frame["measure"].map(of_measure, "ignore"), objective=objective)


_TYPES = f"""
    with kinds as (from gradient_importance_objective where head is null),
    gradients as (
        select token_type, 'gradient' as part, avg(mean) as mean, {MEAN_ENDS}, objective
        from (
            select token_type, objective, importance / sum(importance) over layers as mean,
                if(count(low) over layers = count(*) over layers,
                    low / (low + sum(high) over layers - high), null) as low,
                if(count(high) over layers = count(*) over layers,
                    high / (high + sum(low) over layers - low), null) as high
            from kinds window layers as (partition by layer))
        group by all),
    weights as (
        select if(quantity = 'first' and (select bool_or(token_type = 'bos') from kinds),
                'bos', quantity) as token_type, 'weight' as part, avg(mean) as mean, {MEAN_ENDS}
        from head_pattern_interval
        where head is null and quantity in ({quoted(*TOKEN_TYPES)}) group by all),
    effects as (
        select token_type, 'effect_' || filling as part, mean, low, high from head_effect
        where layer is null and quantity = 'length' and filling = $filling)"""
"""By token type: shares of |∂L/∂α| and of the weight, means over layers, and the change of the last
hidden states when f(x) of these tokens is replaced in all layers."""
_EFFECTS = f"""{_TYPES},
    most as (select token_type from weights order by mean desc limit 1),
    heads as (
        from head_effect where filling = $filling and quantity = $quantity
            and token_type is null and head is not null),
    within as (
        select measure, spearman as value, low, high, measure = 'random' as is_chance,
            row_number() over (partition by is_chance order by spearman desc) as place,
            count(*) over (partition by is_chance) as n
        from effect_prediction
        where filling = $filling and quantity = $quantity and level = 'within')
    select 1 as sentence, part as name, mean as value, low, high, '.1%' as format, token_type,
        objective, part like 'effect%' as beside
    from (from gradients union all by name from weights union all by name from effects)
    where token_type = (from most) and (from most) in (select token_type from gradients)
    union all by name
    select 2 as sentence, 'largest_' || $quantity as name, mean as value, low, high, layer, head,
        if($quantity = 'length', '.0%', '.3f') as format
    from heads qualify row_number() over (order by mean desc) = 1
    union all by name
    select 2 as sentence, 'mean_head' as name, avg(mean) as value, {MEAN_ENDS},
        if($quantity = 'length', '.0%', '.3f') as format
    from heads having count(*) > 0
    union all by name
    select 3 as sentence, if(is_chance, 'random', 'foretells') as name, value, low, high, measure,
        n, '+.2f' as format
    from within where place = 1 and (select bool_or(not is_chance) from within)
    order by sentence, list_position(['gradient', 'weight', 'foretells'], name) nulls last,
        layer nulls last"""

MATTERS = Section(
    "matters",
    (),
    also=(
        HEAD_EFFECT,
        SEQUENCE_HEAD_EFFECT,
        EFFECT_PREDICTION,
        CONTRIBUTION,
        SEQUENCE_CONTRIBUTION,
        norms.TOKEN_TYPE_MIXING,
        GRADIENT_IMPORTANCE,
        SEQUENCE_GRADIENT_IMPORTANCE,
    ),
    picks=(
        Pick("quantity", changes, default="length"),
        Pick("filling", lambda inquiry, _: FILLINGS if inquiry.store.holds(HEAD_EFFECT) else ()),
        Pick("measure", ranked, default="norm"),
        Pick("head", kind="head", default=clearest),
    ),
    figures=(
        Figure(
            "types",
            f"""{_TYPES}
            from (from gradients union all by name from weights union all by name from effects)
            order by {placed(TOKEN_TYPE_COLOURS, "token_type")},
                {placed(_PARTS, "part")}""",
            Rows(y="token_type", colour="part", colours=_PARTS, format=".1%"),
            half=True,
        ),
        Figure(
            "scatter",
            of_every_head,
            Points(
                x="{measure}",
                x_scale="linear",
                marks=("layer", "head"),
                more=("layer", "head"),
                colour="layer",
                is_clicked=True,
                size=60,
            ),
            click=HEAD,
            half=True,
            notes=("sum",),
        ),
        Figure(
            "gradients",
            """
            select * rename (importance as mean) from gradient_importance_objective
            order by head nulls first, layer, token_type""",
            Custom(chart=gradients, marks=("objective", "layer", "head", "token_type")),
            picks=(Pick("scale", ("linear", "log")),),
            click=HEAD,
            half=True,
            notes=("no_op",),
            captions=lambda frame, _: (
                "gradients_caption",
                f"objective_{frame['objective'].iloc[0]}",
            ),
        ),
        Figure(
            "measures",
            f"""
            select measure, level, layer, spearman, low, high, n from effect_prediction
            where filling = $filling and quantity = $quantity and level <> 'layer'
            order by {placed((*MEASURES, RANDOM), "measure")}, {placed(LEVELS, "level")}""",
            Rows(
                y="measure",
                colour="level",
                colours=dict(zip(LEVELS[1:], SERIES_COLOURS, strict=False)),
                value="spearman",
                format="+.2f",
                level=0.0,
                more=("n",),
            ),
            half=True,
        ),
        Figure(
            "lacking_effects",
            lambda inquiry, _: lacking(inquiry, HEAD_EFFECT),
            Drawn(record=offer),
        ),
        Figure(
            "lacking_gradients",
            lambda inquiry, _: lacking(inquiry, GRADIENT_IMPORTANCE),
            Drawn(record=offer),
        ),
        Figure("best", best, Table(columns=("layer", "measure", "spearman", "low", "high"))),
    ),
    finding=Finding(found_of_effects, overview=("gradient", "foretells")),
)

PAGE = Page(
    "habits",
    "hh",
    (LAYERS, HEADS, MATTERS),
    moved={
        "breadth": "layers",
        "weighing": "heads",
        "effect": "matters",
        "gradients": "matters",
    },
)

if __name__ == "__main__":
    PAGE.show()

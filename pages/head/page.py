"""Page on a single attention head: what it does, in numbers, texts and charts."""

from collections.abc import Callable

import pandas as pd

from analysis.effects import MEAN
from analysis.published.heads import THRESHOLDS
from analysis.sinks import FIRST, RATE_ROUNDING, USUAL_THRESHOLD
from analysis.statistics import norms, sinks
from analysis.statistics.base.tables import Table as OfFile
from analysis.statistics.heads.single_heads import HEAD_EFFECT, HEAD_PATTERN, SEQUENCE_HEAD_PATTERN
from analysis.statistics.positions import (
    exemplar_attention,
    head_offset,
    patch_offset,
    query_key_correlation,
    query_key_wave,
    relative_position_profile,
    score_share,
    score_sums,
)
from analysis.statistics.positions.head_offset import countings
from analysis.statistics.probing import coreference_accuracy, dependency_accuracy
from pages.charts.colours import HEAD_AND_LAYER_COLOURS, SERIES_COLOURS, SYNTAX_COLOURS
from pages.charts.plots import Lines, Rows
from pages.drawn.patch_map import PATCH_MAP
from pages.head import looks, phases, profile, scores, texts, waves
from pages.kit.behaviours import RULES
from pages.kit.habits import SHARES
from pages.kit.head_choice import MERGING, MIN_WORDS, Head, head_with_most
from pages.kit.kinds import Custom, Drawn, Facts, Table
from pages.kit.page import Page
from pages.kit.section import Choices, Figure, Finding, Pick, Section, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.services.missing import name_files_with
from pages.services.open_file import Store
from pages.words.dependencies import relation_name
from pages.words.quantities import QUANTITIES

_OF_HEAD = "layer = $layer and head = $head"
_SHARES = ", ".join(f"'{name}'" for name in SHARES)
_FACTS = "habit effect arriving sink offset relation coreference value_norm stretch"
_ERRORS = "'score_error', 'trace_error', 'attention_error'"

_RULES = ", ".join(
    f"('{name}', '{quantity}', {THRESHOLDS[threshold]}::double, {at})"
    for at, (name, (quantity, threshold)) in enumerate(RULES.items())
)
_NUMBERS = f"""
    with rules as (from (values {_RULES}) as rule(kind, quantity, level, place)),
    every as (
        select 'habit' as name, quantity as kind, layer, head, mean as value, low, high, level,
            if(mean > level, 1 + place, if(quantity = 'entropy', 0, mean / level)) as telling
        from head_pattern_interval join rules using (quantity) where head is not null
        union all by name
        select 'effect' as name, layer, head, mean as value, low, high from head_effect
        where filling = '{MEAN}' and quantity = 'length' and token_type is null
            and head is not null
        union all by name
        select 'arriving' as name, layer, head, sum(mean) as value from token_type_interval
        where quantity = 'weighted_norm' and head is not null group by all
        union all by name
        select 'value_norm' as name, layer, head, mean as value, std as spread
        from value_norm_dispersion where head is not null
        union all by name
        select 'stretch' as name, layer, head, max(value) as value from singular_value
        where head is not null group by all
        union all by name
        select 'offset' as name, layer, head, dependence as value, attention_offset as spread
        from head_offset
        union all by name
        select 'sink' as name, layer, head,
            avg((attention > {USUAL_THRESHOLD + RATE_ROUNDING})::int) as value
        from sequence_sink where place = '{FIRST}' group by all
        union all by name
        select 'relation' as name, relation || '|' || direction as kind, layer, head,
            accuracy as value, low, high, level, value - level as telling
        from dependency_accuracy_merging join (
            select relation, max(accuracy) as level from dependency_baseline group by relation
        ) using (relation)
        where merging = '{MERGING}' and n >= {MIN_WORDS} and relation not in ('all', 'all_words')
        union all by name
        select 'coreference' as name, layer, head, accuracy as value, low, high, (
            select any_value(accuracy) from coreference_accuracy
            where method = 'nearest' and mention_type = 'all') as level
        from coreference_accuracy where method = 'head' and mention_type = 'all'),
    ranked as (
        select *, median(value) over of_kind as median, count(*) over of_kind as n_heads,
            rank() over (of_kind order by value desc) as rank
        from every where value is not null window of_kind as (partition by name, kind))
    from ranked where layer = $layer and head = $head
    qualify row_number() over (partition by name order by telling desc nulls last) = 1"""
"""Each number of a head; of habits and relations the one that is nearest to, or above, its level.

Of habits above their thresholds the last one names the head, as in Clark et al. (2019).
"""


def telling_head(inquiry: Inquiry, _: Choices) -> Head:
    """Head with most effect; without effects, with most weight on one type of token."""
    effects = """
        select layer, head, mean from head_effect where filling = 'mean' and quantity = 'length'
            and token_type is null and head is not null"""
    weights = """
        select layer, head, mean from token_type_interval where quantity = 'attention'
            and token_type <> 'other' and head is not null"""
    frame = rows_of(effects, inquiry, {})
    frame = frame if len(frame) else rows_of(weights, inquiry, {})
    return head_with_most(frame, "mean")


def holds_any(*tables: OfFile) -> Callable[[Store], bool]:
    """Return the function that says if a file holds one of some tables."""
    return lambda store: any(store.holds(table) for table in tables)


HEAD = Pick("head", kind="head", default=telling_head)
WEIGHING = Pick("weighing", kind="weighing")
TEXT = Pick("text", looks.texts, kind="select")
COUNTING = Pick("counting", lambda inquiry, _: countings(with_kernels=inquiry.store.knows_offsets))

PROFILE = Section(
    "profile",
    (),
    picks=(HEAD, WEIGHING),
    figures=(
        Figure(
            "numbers",
            f"{_NUMBERS} order by instr('{_FACTS}', name)",
            Drawn(record=profile.show),
        ),
        Figure(
            "habits",
            f"""
            select quantity as habit, if(head is null, 'layer', 'this') as whose, mean, low, high
            from head_pattern_weighing
            where weighing = $weighing and layer = $layer and (head is null or head = $head)
                and quantity in ({_SHARES}) and mean is not null
            order by list_position([{_SHARES}], quantity), head nulls last""",
            Rows(
                y="habit",
                colour="whose",
                colours=dict(zip(("this", "layer"), HEAD_AND_LAYER_COLOURS, strict=True)),
                format=".1%",
            ),
        ),
        Figure(
            "types",
            f"""
            select token_type, max(mean) filter (quantity = 'attention') as attention,
                max(mean) filter (quantity = 'value_norm') as value_norm,
                max(mean) filter (quantity = 'weighted_norm') as weighted_norm,
                any_value(spearman) as spearman, any_value(n) as pairs
            from token_type_interval left join attention_norm_correlation
                using (layer, head, token_type)
            where {_OF_HEAD} group by token_type""",
            Table(columns=("token_type", *QUANTITIES, "spearman", "pairs")),
        ),
    ),
    finding=Finding(
        f"""
        with numbers as ({_NUMBERS}),
        nearest as (from numbers where name = 'habit'),
        parts as (
            select 1 as sentence, if(kind = 'entropy', 'entropy', 'habit') as name, value, low,
                high, kind as quantity, 1 as place
            from nearest
            union all
            select 1, 'layer', mean, low, high, quantity, 2 from head_pattern_interval
            where layer = $layer and head is null and quantity = (select kind from nearest)
            union all
            select 1, 'threshold', level, level, level, kind, 3 from nearest
            union all
            select 2, 'effect', value, low, high, null, 1 from numbers where name = 'effect'
            union all
            select 2, 'median', median, median, median, null, 2 from numbers where name = 'effect')
        select *, quantity as habit, $layer as layer, $head as head,
            if(quantity like 'entropy%', '.2f', '.0%') as format
        from parts order by sentence, place""",
        overview=(),
    ),
    also=(
        HEAD_PATTERN,
        HEAD_EFFECT,
        norms.TOKEN_TYPE_MIXING,
        norms.ATTENTION_NORM_CORRELATION,
        norms.VALUE_NORM_DISPERSION,
        norms.SINGULAR_VALUE,
        head_offset.TABLE,
        sinks.SEQUENCE_SINK,
    ),
    links=("head_map/map",),
)

TOKENS = Section(
    "tokens",
    (),
    picks=(
        HEAD,
        Pick("by", texts.chosen_by),
        Pick("least", (1, 10_000), 5, kind="number", when={"by": ("token",)}),
        Pick("token", texts.tokens, kind="select", when={"by": ("token",)}),
        Pick("place", texts.places, kind="select", of="place", when={"by": ("place",)}),
        Pick("order", ("most", "least"), when={"by": ("place",)}),
        Pick("weighing", kind="weighing", when={"by": ("habit",)}),
        Pick("habit", texts.habits, kind="select", of="habit", when={"by": ("habit",)}),
    ),
    figures=(
        Figure("ranked", texts.ranked, Drawn(record=texts.show_ranked), when={"by": ("token",)}),
        Figure(
            "texts",
            texts.chosen_texts,
            Drawn(record=texts.show_texts),
            picks=(
                Pick("ranking", tuple(texts.RANKINGS), of="quantity", when={"by": ("token",)}),
                Pick("texts", (1, 12), 3, kind="number"),
            ),
        ),
    ),
    finding=Finding(
        f"""
        with shares as (
            select seq, token, attention_received / n_tokens as attention, 1 / n_tokens as even
            from head_token join token using (seq, pos, token_type) join sequence using (seq)
            where {_OF_HEAD}),
        best as (
            select token, sum(attention) as attention, sum(even) as even from shares
            group by token order by attention desc, token limit 1),
        texts as (select count(distinct seq) as n from shares)
        select 'token' as name, attention / n as value, token, $layer as layer, $head as head
        from best, texts
        union all by name
        select 'even' as name, even / n as value, token from best, texts""",
        overview=(),
    ),
    also=(norms.HEAD_TOKEN, sinks.SINK, SEQUENCE_HEAD_PATTERN),
    when=holds_any(*texts.CHOSEN_BY.values()),
)

BY_OFFSET = Lines(x="offset", ends=("q25", "q75"), format=".1%", height=420)
OFFSETS = Section(
    "offsets",
    (),
    picks=(HEAD, TEXT),
    figures=(
        Figure(
            "map",
            looks.weights,
            looks.ATTENTION_MAP,
            half=True,
        ),
        Figure("offsets", looks.profile, BY_OFFSET, half=True),
    ),
    finding=Finding(looks.found, overview=()),
    also=(exemplar_attention.TABLE, relative_position_profile.TABLE, head_offset.TABLE),
    when=lambda store: (
        not store.shows_images
        and holds_any(exemplar_attention.TABLE, relative_position_profile.TABLE)(store)
    ),
)
PATCHES = Section(
    "offsets",
    (),
    picks=(HEAD, TEXT, Pick("shown", ("attention", "weighted_norm"))),
    figures=(
        Figure("image", looks.received, Drawn(record=looks.show_image), half=True),
        Figure(
            "patches",
            f"""
            select row_offset, column_offset, n_images, attention, attention_per_pair
            from patch_offset where {_OF_HEAD} order by row_offset, column_offset""",
            PATCH_MAP,
            half=True,
        ),
        Figure(
            "map",
            looks.weights,
            looks.ATTENTION_MAP,
            half=True,
        ),
        Figure("offsets", looks.profile, BY_OFFSET, half=True),
    ),
    finding=Finding(
        f"""
        with cells as (
            select *, avg(attention_per_pair) over () as mean from patch_offset where {_OF_HEAD}),
        best as (from cells order by attention_per_pair desc,
            abs(row_offset) + abs(column_offset), row_offset, column_offset limit 1)
        select 'patch' as name, attention_per_pair as value, $layer as layer, $head as head,
            replace(printf('%+d', row_offset), '-', '−') as rows,
            replace(printf('%+d', column_offset), '-', '−') as columns,
            '.1%' as format
        from best
        union all by name
        select 'every_patch' as name, mean as value, '.1%' as format from best""",
        overview=(),
    ),
    also=(
        exemplar_attention.TABLE,
        norms.HEAD_TOKEN,
        patch_offset.TABLE,
        relative_position_profile.TABLE,
        head_offset.TABLE,
    ),
    when=lambda store: (
        store.shows_images
        and holds_any(exemplar_attention.TABLE, norms.HEAD_TOKEN, patch_offset.TABLE)(store)
    ),
)


def others(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record what the file has no annotation for, with files of the folder that hold it."""
    for name in frame["name"]:
        view.write("info", view.say(f"lacking_{name}"))
        view.draw(name_files_with, _FOUND_IN[name])


_FOUND_IN = {"relations": dependency_accuracy.TABLE, "mentions": coreference_accuracy.TABLE}

_RELATIONS = f"""
    with offsets as (
        select relation, max(accuracy) as accuracy, arg_max("offset", accuracy) as best
        from dependency_baseline group by relation),
    heads as (
        select head.relation, direction, head.n, head.accuracy, low, high,
            offsets.accuracy as of_offset, best
        from dependency_accuracy_weighing as head join offsets using (relation)
        where {_OF_HEAD} and merging = 'mean' and weighing = $weighing
            and head.n >= {MIN_WORDS} and relation not in ('all', 'all_words')
        qualify row_number() over (partition by relation order by head.accuracy desc) = 1
        order by head.accuracy - of_offset desc, relation limit 15)
    select relation, direction as method, n, accuracy as mean, low, high, null as best,
        accuracy - of_offset as gain from heads
    union all
    select relation, 'offset', n, of_offset, null, null, best, accuracy - of_offset
    from heads order by gain desc, relation, mean"""


def relations(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Relations that the head is furthest above the best fixed offset on, under their names."""
    frame = rows_of(_RELATIONS, inquiry, choices)
    return frame.assign(label=frame["relation"].map(relation_name))


WORDS = Section(
    "words",
    (),
    picks=(HEAD, WEIGHING),
    figures=(
        Figure(
            "relations",
            relations,
            Rows(
                y="label",
                colour="method",
                colours=dict(
                    zip(
                        ("dependent_to_head", "head_to_dependent", "offset"),
                        (SYNTAX_COLOURS[0], SYNTAX_COLOURS[2], SYNTAX_COLOURS[1]),
                        strict=True,
                    )
                ),
                more=("n", "best"),
                format=".0%",
            ),
        ),
        Figure(
            "mentions",
            f"""
            select mention_type, method, n, accuracy as mean, low, high
            from coreference_accuracy_weighing
            where method in ('nearest', 'head_match', 'sieve') or
                method = 'head' and {_OF_HEAD} and merging = 'mean' and weighing = $weighing
            order by list_position(['all', 'pronoun', 'proper', 'nominal'], mention_type),
                list_position(['head', 'nearest', 'head_match', 'sieve'], method)""",
            Rows(
                y="mention_type",
                colour="method",
                colours=dict(
                    zip(("head", "nearest", "head_match", "sieve"), SERIES_COLOURS, strict=False)
                ),
                more=("n",),
                format=".0%",
            ),
        ),
        Figure(
            "lacking",
            """
            select 'relations' as name where not exists (from dependency_accuracy)
            union all
            select 'mentions' where not exists (from coreference_accuracy)""",
            Drawn(record=others),
        ),
    ),
    finding=Finding(
        f"""
        with numbers as ({_NUMBERS})
        select name as sentence, name, value, low, high, layer, head,
            split_part(kind, '|', 1) as label
        from numbers where name in ('relation', 'coreference')
        union all by name
        select name as sentence, 'of_' || name as name, level as value, level as low, level as high,
        from numbers where name in ('relation', 'coreference')
        order by sentence desc, head nulls last""",
        overview=(),
    ),
    also=(dependency_accuracy.TABLE, dependency_accuracy.BASELINE, coreference_accuracy.TABLE),
    when=lambda store: not store.shows_images,
    links=("syntax/relations", "coreference/heads"),
)

SCORE = Figure(
    "score",
    scores.curves,
    Drawn(record=scores.show),
    picks=(Pick("reach", (10, 30, 64), 30, format=lambda offset: f"±{offset}"),),
)
WAVES = Section(
    "waves",
    (query_key_correlation.TABLE,),
    picks=(HEAD, COUNTING),
    figures=(
        SCORE,
        Figure(
            "phases",
            phases.planes,
            Drawn(record=phases.show),
            picks=(
                Pick("amplitude", ("relative", "amplitude")),
                Pick("frequency", phases.HIGHEST),
            ),
            notes=("phases_meaning",),
        ),
        Figure(
            "wave",
            waves.one_direction,
            Lines(x="pos", value="component", colour="side", colours=waves.SIDES, zero=False),
            picks=(TEXT, Pick("direction", waves.directions, kind="select")),
        ),
        Figure("strongest", waves.strongest, Custom(chart=waves.small_charts)),
        Figure(
            "values",
            f"""
            with squares as (
                select max(value) as largest, sum(value ** 2) as sum,
                    list_sum(list_sort(list(value ** 2), 'desc')[:4]) as four
                from query_key_singular_value where {_OF_HEAD})
            select largest, four / nullif(sum, 0) as share, score_error, trace_error,
                attention_error
            from squares, (
                select max(columns([{_ERRORS}])) from query_key_error where layer = $layer)
            where largest is not null or score_error is not null""",
            Facts(
                formats={"largest": ".2f", "share": ".0%"}
                | dict.fromkeys(("score_error", "trace_error", "attention_error"), ".0e")
            ),
        ),
    ),
    finding=Finding(waves.found, overview=()),
    also=(
        query_key_correlation.ERRORS,
        query_key_wave.TABLE,
        query_key_wave.AMPLITUDES,
        query_key_wave.SINGULAR_VALUES,
        query_key_wave.ROTATION,
    ),
    when=lambda store: store.adds_positions,
)
PLANES = Section(
    "waves",
    (query_key_correlation.TABLE, score_share.KERNEL),
    picks=(HEAD, COUNTING),
    figures=(
        SCORE,
        Figure(
            "shares",
            f"""
            select position, "query", key, content from score_share
            where {_OF_HEAD} and position is not null""",
            Facts(formats=dict.fromkeys(("position", "query", "key", "content"), ".0%")),
        ),
        Figure("planes", waves.planes, Drawn(record=waves.show_planes)),
        Figure(
            "plane_table",
            waves.planes,
            Table(
                columns={"plane": "%d", "period": "%.1f", "preferred_offset": "%.2f"}
                | {"strength": "%.3g", "coherence": "%.2f"}
            ),
        ),
    ),
    finding=Finding(waves.found, overview=()),
    also=(score_share.TABLE, query_key_correlation.ERRORS, score_sums.PLANES),
    when=lambda store: store.knows_offsets,
)

PAGE = Page("head", "he", (PROFILE, TOKENS, OFFSETS, PATCHES, WORDS, WAVES, PLANES))

if __name__ == "__main__":
    PAGE.show()

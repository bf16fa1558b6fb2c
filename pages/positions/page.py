"""Page on the position dependence of attention (Yamamoto and Matsuzaki 2023)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from analysis.statistics.positions.attention import (
    HEAD_OFFSET,
    MIN_DEPENDENCES,
    OFFSET_AGREEMENT,
    PATCH_OFFSET,
    REACH,
    RELATIVE_POSITION_CENTRE,
    RELATIVE_POSITION_CLUSTER,
    RELATIVE_POSITION_PROFILE,
    countings,
)
from analysis.statistics.positions.scores import (
    EMBEDDING_SPECTRUM,
    POSITION_VARIANCE,
    STATE_SPECTRUM,
)
from analysis.statistics.positions.sums import PARTS, SCORE_SHARE
from pages.charts.colours import CONTROL_COLOURS, NEUTRAL, SERIES_COLOURS
from pages.charts.maps import HeadMap
from pages.charts.plots import Lines
from pages.drawn.patch_map import PATCH_MAP
from pages.kit.kinds import Custom, Drawn, Table
from pages.kit.page import Page
from pages.kit.published_table import show_published
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section, rows_of, when
from pages.kit.view import View
from pages.positions import clusters
from pages.positions.head_grid import profile_grid, share_grid
from pages.positions.offset_map import offset_map
from pages.positions.offsets import heads_compared, most_positional, printed_offsets
from pages.positions.shares import share_bars
from pages.positions.spectra import files, waves
from pages.positions.spectra.charts import layer_map
from pages.services.absences import order_of_patches
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.numbers import offset_label

DEPENDS = 0.1
"""Least share of a head's variance explained by the offset for a position-dependent head."""
_HEAD = Pick("head", kind="head", default=most_positional)
_OF_EMBEDDINGS, _OF_STATES = {"carrier": ("embeddings",)}, {"carrier": ("states",)}


def of_texts(store: Store) -> bool:
    return not store.shows_images


def printed(view: View, figure: Figure, frame: pd.DataFrame, _: Choices) -> None:
    show_published(view, figure.name, *frame["row"])


CLAIM = Section(
    "claim",
    (OFFSET_AGREEMENT, HEAD_OFFSET),
    picks=(
        Pick("counting", lambda inquiry, _: countings(with_kernels=inquiry.store.knows_offsets)),
        Pick("least", tuple(f"{least:g}" for least in MIN_DEPENDENCES)),
        _HEAD,
    ),
    figures=(
        Figure(
            "map",
            heads_compared,
            Custom(chart=offset_map, value="dependence", format=".1%", marks=("layer", "head")),
            click=HEAD,
            captions=lambda _, choices: ("map_caption", f"map_caption_{choices['counting']}"),
            notes=("sides",),
        ),
        Figure(
            "layers",
            """
            with rows as (
                from offset_agreement where layer is not null and counting = $counting
                    and min_dependence = try_cast($least as double))
            select layer, n_heads, 'agreement' as compared, agreement as mean,
                agreement_low as low, agreement_high as high from rows
            union all
            select layer, n_heads, 'chance', chance, chance, chance from rows
            order by compared, layer""",
            Lines(
                colour="compared",
                colours={"agreement": SERIES_COLOURS[0], "chance": NEUTRAL},
                dashed=("chance",),
                format=".0%",
            ),
            half=True,
        ),
        Figure(
            "correlation",
            """
            select layer, n_heads, spearman as mean, spearman_low as low, spearman_high as high
            from offset_agreement where layer is not null and spearman is not null
                and counting = $counting and min_dependence = try_cast($least as double)
            order by layer""",
            Lines(level=0.0, format=".2f"),
            half=True,
        ),
        Figure(
            "table",
            heads_compared,
            Table(
                columns=dict.fromkeys(("layer", "head", "dependence", "score"))
                | {"attention": "%d", "distance": None, "agree": None}
            ),
        ),
        Figure("heads", printed_offsets, Drawn(record=printed)),
    ),
    finding=Finding(
        f"""
        with rows as (
            select *, if(min_dependence = try_cast($least as double), 'agreement', 'dependent')
                as name
            from offset_agreement where layer is null and counting = $counting and (
                min_dependence = try_cast($least as double)
                or min_dependence = {DEPENDS} and $least = '0')),
        heads as (
            select case $counting when 'sum' then score_offset
                when 'per_pair' then score_offset_per_pair
                when 'centred' then score_offset_centred else kernel_offset end as score,
                if($counting in ('sum', 'centred'), attention_offset, attention_offset_per_pair)
                as attention
            from head_offset where dependence >= try_cast($least as double)),
        parts as (
            select name as sentence, 1 as place, name, agreement as value, agreement_low as low,
                agreement_high as high, n_heads as n from rows
            union all by name
            select name as sentence, 2 as place, 'chance' as name, chance as value,
                chance as low, chance as high from rows
            union all by name
            select 'zero' as sentence, 3 as place, 'zero' as name,
                count(*) filter (attention = 0) as n, count(*) as of
            from heads where score = attention having n > 0)
        from parts order by sentence, place"""
    ),
    when=lambda store: store.has_offsets,
)

_PROFILES = Figure(
    "profiles",
    f"""
    with shares as (
        select layer, head, unnest(range(-{REACH}, {REACH + 1}))
                as "offset", unnest(profile)::double / n_tokens as attention
        from sequence_relative_position)
    select layer, head, "offset", avg(attention) as attention, any_value(dependence) as dependence
    from shares join head_offset using (layer, head) where attention is not null
    group by all order by all""",
    Custom(chart=profile_grid, value="attention", format=".1%", marks=("layer", "head", "offset")),
    click=HEAD,
    picks=(Pick("height", ("own", "shared")),),
    captions=lambda _, choices: ("profiles_caption", f"profiles_caption_{choices['height']}"),
    notes=("sides",),
)
_DEPENDENCE = f"""
    with most as (from head_offset where dependence is not null order by dependence desc limit 1)
    select 1 as sentence, 'dependence' as name, dependence as value, layer, head, '.2f' as format
    from most
    union all by name
    select 1 as sentence, 'median' as name, median(dependence) as value, value as low,
        value as high, '.2f' as format
    from head_offset having count(dependence) > 0
    union all by name
    select 2 as sentence, 'dependent' as name, count(*) filter (dependence >= {DEPENDS}) as n,
        count(*) as of, {DEPENDS} as least
    from head_offset having count(*) > 0"""

HEADS = Section(
    "heads",
    (RELATIVE_POSITION_PROFILE, HEAD_OFFSET),
    picks=(_HEAD,),
    figures=(_PROFILES,),
    finding=Finding(_DEPENDENCE, overview=()),
    when=of_texts,
)

_PREFERRED = """
    select layer, head, row_offset, column_offset, attention_per_pair,
        avg(attention_per_pair) over (partition by layer, head) as mean_per_pair, n_images
    from patch_offset
    qualify row_number() over (
        partition by layer, head order by attention_per_pair desc,
            abs(row_offset) + abs(column_offset), row_offset, column_offset) = 1
    order by layer, head"""
"""Offset of each head with the highest attention per pair, of equal ones the nearest."""


def ways(inquiry: Inquiry, _: Choices) -> Sequence[str]:
    """Offsets of patches: rows and columns, or along their order if the file has these."""
    held = inquiry.store.holds(RELATIVE_POSITION_PROFILE, HEAD_OFFSET)
    return ("patches", "order") if held else ("patches",)


def preferred(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Preferred rows and columns of every head, with the ratio to the mean over all offsets."""
    frame = rows_of(_PREFERRED, inquiry, {})
    return frame.assign(ratio=frame["attention_per_pair"] / frame["mean_per_pair"])


def found_patches(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Attention of a pair at the preferred offset of the chosen head, against the mean."""
    frame = preferred(inquiry, choices)
    best = frame[(frame["layer"] == choices["layer"]) & (frame["head"] == choices["head"])]
    signs = {name: best[f"{name}_offset"].map(offset_label) for name in ("row", "column")}
    values = {"patch": "attention_per_pair", "patch_mean": "mean_per_pair"}
    rows = [best.assign(name=name, value=best[of], **signs) for name, of in values.items()]
    return pd.concat(rows)[["name", "value", *signs, "layer", "head"]]


def found_heads(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    if choices["offsets"] == "patches":
        return found_patches(inquiry, choices).assign(format=".1%")
    return rows_of(_DEPENDENCE, inquiry, choices)


PATCHES = Section(
    "heads",
    (PATCH_OFFSET,),
    picks=(Pick("offsets", ways), _HEAD),
    figures=(
        *when(
            {"offsets": ("patches",)},
            Figure(
                "preferred",
                preferred,
                HeadMap(
                    value="ratio",
                    format=".1f",
                    more=("row_offset", "column_offset", "attention_per_pair"),
                ),
                click=HEAD,
            ),
            Figure(
                "patches",
                """
                select row_offset, column_offset, n_images, attention, attention_per_pair
                from patch_offset where layer = $layer and head = $head
                order by row_offset, column_offset""",
                replace(PATCH_MAP, width="content"),
            ),
        ),
        *when({"offsets": ("order",)}, _PROFILES),
    ),
    finding=Finding(found_heads, overview=()),
    also=(HEAD_OFFSET, RELATIVE_POSITION_PROFILE),
    when=lambda store: store.shows_images,
)

_BY_CONTROL = {name: CONTROL_COLOURS[name] for name in ("kept", *waves.CONTROLS)}
_FREQUENCIES = partial(Lines, x="frequency", points=False, format=".3~g")

WAVES = Section(
    "waves",
    (EMBEDDING_SPECTRUM, POSITION_VARIANCE),
    picks=(
        Pick("carrier", ("embeddings", "states")),
        Pick("length", waves.lengths, default=waves.commonest_length, when=_OF_STATES),
        Pick("amount", ("max", "mean"), when=_OF_STATES),
        Pick("source", ("hidden", "query", "key"), default="query", when=_OF_STATES),
        Pick("scale", ("linear", "log"), when=_OF_EMBEDDINGS),
    ),
    figures=(
        *when(
            _OF_EMBEDDINGS,
            Figure(
                "spectrum",
                """
                with usual as (
                    select length from position_spectrum_control
                    where control = 'kept' and source = 'hidden' group by length
                    order by max(n_sequences) desc, length desc limit 1),
                words as (
                    select *, sqrt((select round(512 / min(frequency)) from embedding_spectrum
                        where frequency > 0) / length) as scale
                    from position_spectrum_control
                    where source = 'word_embedding' and control = 'kept'
                        and length = (from usual))
                select control::varchar as series, frequency, 512 / frequency as period, mean,
                    q25, q75
                from embedding_spectrum where frequency > 0 and mean > 0
                union all
                select 'words', frequency, 512 / frequency, mean * scale, q25 * scale, q75 * scale
                from words where frequency > 0 order by series, frequency""",
                _FREQUENCIES(
                    scale="scale",
                    colour="series",
                    colours={name: CONTROL_COLOURS[name] for name in ("kept", "words", "permuted")},
                    ends=("q25", "q75"),
                    height=380,
                ),
            ),
            Figure(
                "components",
                """
                select component, ratio, cumulative from position_variance
                where component <= 24 or cumulative - ratio < 0.95 order by component""",
                Lines(x="component", value="cumulative", format=".0%"),
            ),
            Figure("embeddings", waves.printed, Drawn(record=printed)),
            Figure(
                "other_files",
                files.embeddings,
                _FREQUENCIES(scale="scale", value="relative", colour="file", level=1.0),
                picks=(
                    Pick(
                        "files",
                        files.names_of_files,
                        kind="many",
                        default=files.first_files,
                        most=files.MOST,
                    ),
                ),
            ),
            Figure(
                "file_table",
                files.peaks_of_files,
                Table(
                    columns={"file": None, "positions": "%d", "peaks": None, "largest": "%.3g"}
                    | {"half": "%d", "most": "%d"}
                ),
            ),
        ),
        *when(
            _OF_STATES,
            Figure(
                "wave",
                waves.wave,
                Lines(
                    value="amplitude",
                    colour="control",
                    colours=_BY_CONTROL,
                    dashed=waves.CONTROLS[1:],
                    format=".1f",
                ),
            ),
            Figure(
                "maps",
                f"""
                select layer, frequency, period,
                    max(amplitude) filter (control = 'kept') as amplitude,
                    max(amplitude) filter (control = 'compared')
                        / nullif(max(amplitude) filter (control = 'removed'), 0) as ratio,
                    max(n_sequences) as n_sequences
                from ({waves.STATES}) group by all
                having if($shown = 'ratio', ratio, amplitude) > 0 order by all""",
                Custom(chart=layer_map),
                picks=(Pick("shown", ("amplitude", "ratio")),),
                captions=lambda _, choices: (f"maps_caption_{choices['shown']}",),
            ),
            Figure(
                "layer",
                f"""
                from ({waves.STATES}) where layer = $states_layer and amplitude > 0
                qualify (control = 'kept') = (count(*) filter (control <> 'kept') over () = 0)
                order by control, frequency""",
                _FREQUENCIES(value="amplitude", colour="control", colours=_BY_CONTROL),
                picks=(
                    Pick("states_layer", lambda inquiry, _: inquiry.store.layers, kind="select"),
                ),
                captions=lambda frame, _: (
                    "layer_caption" if "removed" in set(frame["control"]) else "layer_alone",
                ),
            ),
        ),
    ),
    finding=Finding(waves.found),
    also=(STATE_SPECTRUM,),
    when=lambda store: store.adds_positions,
)

_CLUSTERS = (RELATIVE_POSITION_CLUSTER, RELATIVE_POSITION_CENTRE)
_NUMBER = Pick("k", clusters.numbers_of_clusters, default=clusters.default_number)
_CLUSTERED = (
    Figure("grid", clusters.shares, Custom(chart=share_grid), click=HEAD),
    Figure("centres", clusters.centres, Custom(chart=clusters.centre_lines), notes=("sides",)),
    Figure(
        "explained",
        """
        select k, any_value(explained) as explained from relative_position_centre
        group by k order by k""",
        Lines(x="k", value="explained", format=".0%"),
    ),
)
_LONG = " union all ".join(
    f"""
    select layer, head, '{part}' as part, {place} as place, "{part}" as share,
        {part}_low as low, {part}_high as high from score_share where position is not null"""
    for place, part in enumerate(PARTS)
)

CONTENT = Section(
    "content",
    _CLUSTERS,
    picks=(_NUMBER, _HEAD),
    figures=_CLUSTERED,
    finding=Finding(clusters.found, overview=()),
    also=(HEAD_OFFSET,),
    when=lambda store: of_texts(store) and not store.knows_offsets,
)


_SHARES_FOUND = f"""
    with layers as (from ({_LONG}) where head is null),
    most as (select layer from layers where part = 'position' order by share desc limit 1)
    select 1 as sentence, place, part as name, avg(share) as value, avg(low) as low,
        avg(high) as high, any_value(null::int) as layer
    from layers group by part, place
    union all
    select 2, place, part || '_most', share, low, high, layer from layers
    where layer = (from most) and part in ('position', 'content')
    order by sentence, place"""

SCORES = Section(
    "content",
    (SCORE_SHARE,),
    picks=(_HEAD,),
    figures=(
        Figure(
            "layers",
            f"select * exclude (head, place) from ({_LONG}) where head is null "
            "order by place, layer",
            Custom(chart=share_bars, value="share", format=".1%", marks=("layer", "part")),
        ),
        Figure(
            "map",
            f"from ({_LONG}) where head is not null and part = $part order by layer, head",
            HeadMap(value="share", format=".1%", is_signed=True),
            picks=(Pick("part", PARTS),),
            click=HEAD,
            captions=lambda _, choices: (f"part_{choices['part']}_help",),
        ),
        Figure(
            "table",
            "from score_share where head is not null order by position desc, layer, head",
            Table(
                columns=(
                    *("layer", "head"),
                    *(name for part in PARTS for name in (part, f"{part}_low", f"{part}_high")),
                    "deviation",
                )
            ),
        ),
        replace(_CLUSTERED[0], picks=(_NUMBER,)),
        *_CLUSTERED[1:],
    ),
    finding=Finding(_SHARES_FOUND),
    also=(*_CLUSTERS, HEAD_OFFSET),
    when=lambda store: store.knows_offsets,
)

PAGE = Page(
    "positions",
    "po",
    (CLAIM, HEADS, PATCHES, WAVES, CONTENT, SCORES),
    moved={"patches": "heads", "states": "waves", "embeddings": "waves", "shares": "content"},
    before=(order_of_patches,),
)

if __name__ == "__main__":
    PAGE.show()

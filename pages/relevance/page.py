"""Page on relevance propagated to the input (Sawaki and Murata 2025)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil, isqrt
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.relevance_rules import ALL, MEAN_WEIGHTS, MOST_BYTES, RULES
from analysis.statistics import relevance
from analysis.statistics.base.tables import Table as OfFile
from analysis.statistics.corpus import IMAGES
from analysis.statistics.question import placed, quoted
from pages.charts.colours import LOW_TO_HIGH, NEUTRAL, RELEVANCE_RULE_COLOURS
from pages.charts.maps import HeadMap, Matrix, Ramp
from pages.charts.plots import Lines
from pages.drawn.image_ground import CLASS_TOKENS, Numbers
from pages.kit.kinds import Custom, Drawn, Facts, Table, value_said
from pages.kit.links import link_to_sequence
from pages.kit.page import Page
from pages.kit.section import Choices, Figure, Finding, Options, Pick, Section, rows_of
from pages.relevance.image_maps import ImageMaps
from pages.relevance.maps import MEAN, OWN, Maps, Panel, chosen_maps
from pages.relevance.text_maps import TextMaps, strip, strip_rows
from pages.services.absences import SPECIAL
from pages.services.inquiry import Inquiry
from pages.words.lines import beginning
from pages.words.numbers import count
from pages.words.say import plain, say
from pages.words.scope import optional_word, say_here

_WITH_HEADS = (*RULES, "attention")
"""Rules with separate maps for heads."""
_USUAL = "iv"
_BEGINNING, _LISTED = 90, 20  # letters of a text in the picker; rows of a list
_NAMED, _TOP = 3, 0.05  # most relevant tokens, in the sentence; share of them, rounded up
_LARGE, _HALF = 330, 315  # pixels of a map, and of a curve
_HARDLY = 1e-6  # the width of a scale where all agree
_Z = 1.96  # standard errors of an interval of 95%
_ENDS = ("mean", "low", "high")
_KEPT_TEXTS = """
    select seq, text from sequence where seq in (select seq from relevance_map) order by seq"""
_SHARES = ("cls_share", "special_share", "top5_share", "evenness")
_ORDER = ("mask_share", "mask_gain", "pointing", "pointing_gain", *_SHARES, "entropy")
"""Quantities in the order of the picker; those that need a mask come first."""
rule_name = partial(value_said, "rule")
_FORMATS = {"entropy": ".3f", **dict.fromkeys(relevance.GAINS, "+.1%")}


def too_long(inquiry: Inquiry) -> str:
    """Say that every sequence is too long to be carried back through; empty if one is not."""
    store = inquiry.store
    if store.holds(relevance.RELEVANCE_MAP) or store.holds(relevance.SEQUENCE_RELEVANCE):
        return ""
    n_heads = int(store.run["n_layers"]) * int(store.run["n_heads"])
    most = isqrt(MOST_BYTES // (n_heads * 4))  # bytes of a weight
    shortest = rows_of("select min(n_tokens) as n from sequence", inquiry, {})["n"][0]
    if shortest <= most:
        return ""
    values = {"limit": MOST_BYTES // 2**20, "most": count(most), "shortest": count(shortest)}
    return say("relevance.too_long", corpus=plain(store.run["corpus"]), **values)


def rule_short(rule: str) -> str:
    return optional_word(f"short_{rule}") or rule.replace("_mean_weights", f" {say_here('short')}")


def inputs(*more: str, texts: bool) -> Pick:
    """Pick of an image or a text whose maps are kept, and of `more`; none in files of the other."""

    def options(inquiry: Inquiry, _: Choices) -> dict[Any, str]:
        if inquiry.store.shows_images == texts:
            return {}
        kept = rows_of(_KEPT_TEXTS, inquiry, {}).set_index("seq")["text"]
        names = {seq: f"{seq} · {beginning(text, _BEGINNING)}" for seq, text in kept.items()}
        return names | {name: say_here(name) for name in more}

    return Pick("seq" if texts else "image", options, kind="select")


def head_titles(names: Iterable[Any]) -> dict[Any, str]:
    """Display names of heads and their mean; a rule with a single map has no mean."""
    mean = say_here("together" if len(names := [*names]) == 1 else "mean")
    return {name: mean if name == MEAN else say_here("head_name", head=name) for name in names}


def layers(_: Inquiry, choices: Choices) -> list[int]:
    return [*choices["maps"].layers(choices["rule"])]


MAPS = Pick("maps", kind=chosen_maps)
ONE_MAP = (
    MAPS,
    Pick(
        "rule",
        lambda _, choices: [*choices["maps"].rules],
        lambda _, choices: _USUAL if _USUAL in choices["maps"].rules else None,
        kind="select",
    ),
    Pick("layer", layers, lambda _, choices: [None, *layers(_, choices)][-1], kind="select"),
    Pick("head", lambda _, choices: head_titles(of_heads(choices)), kind="select"),
)
UNDER, SCALE = Pick("under", ("outlined", "plain")), Pick("scale", ("shared", "own"))


def of_heads(choices: Choices) -> dict[Any, Numbers]:
    """Maps of the chosen rule and start layer, the mean first."""
    return choices["maps"].heads(choices["rule"], choices["layer"])


def one(choices: Choices) -> list[Panel]:
    """Map of the chosen rule, start layer and head."""
    titles, chosen = head_titles(of_heads(choices)), choices["head"]
    return [Panel(str(chosen), titles[chosen], of_heads(choices)[chosen])] if titles else []


def every_head(choices: Choices) -> list[Panel]:
    """Map of each head by the chosen rule."""
    maps, titles = of_heads(choices), head_titles(of_heads(choices))
    return [Panel(f"head_{head}", titles[head], maps[head]) for head in maps if head != MEAN]


def every_rule_and_head(choices: Choices) -> list[Panel]:
    """Maps of the mean and of each head, by each rule that follows heads."""
    return [
        Panel(
            f"{rule} {head}",
            f"{rule_short(rule)} · {say_here('short') if head == MEAN else head}",
            relevance,
            {"rule": rule, "head": head},
        )
        for rule in _WITH_HEADS
        for head, relevance in choices["maps"].heads(rule, choices["layer"]).items()
    ]


def every_layer(choices: Choices) -> list[Panel]:
    """Map from each start layer, if there are several."""
    maps = choices["maps"].layers(choices["rule"], choices["head"])
    return [
        Panel(str(layer), say("published.layer", layer=layer), relevance, {"layer": layer})
        for layer, relevance in maps.items()
        if len(maps) > 1
    ]


def every_method(choices: Choices) -> list[Panel]:
    """Map of each chosen rule and method from the last layer."""
    maps = choices["maps"].rules
    chosen = [rule for rule in maps if rule in choices["curve_rules"]]
    return [Panel(rule, rule_name(rule), maps[rule], {"rule": rule}) for rule in chosen]


def maps_figure(name: str, chart: ImageMaps | TextMaps, *clicked: str, **figure: Any) -> Figure:
    """Maps over the input; a click chooses what one is of."""
    click = {choice: choice for choice in clicked} or None
    return Figure(name, chart.rows, chart, click=click, notes=("what_rules",), **figure)


LINK = Figure(
    "sequence",
    lambda _, choices: pd.DataFrame({"seq": [choices["maps"].seq]}).dropna(),
    Drawn(record=lambda view, _, frame, __: view.draw(link_to_sequence, int(frame["seq"][0]))),
)


def found_of_map(_: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding on one map."""
    maps = choices["maps"]
    found = _found_of_image if maps.ground.n_patches else _found_of_text
    return pd.DataFrame([row for panel in one(choices) for row in found(maps, panel.relevance)])


def _against(
    name: str, value: float, even: float, level: str = "even", **of: Any
) -> Iterator[dict[str, Any]]:
    """Rows of a share and of what an even map has."""
    for part, number in ((name, value), (level, even)):
        yield {"sentence": name, "name": part, "value": number, **of}


def _found_of_image(maps: Maps, relevance: Numbers) -> Iterator[dict[str, Any]]:
    """Rows on the mask, or else on the most relevant patches; on [CLS]; on predicted classes."""
    ground, patches = maps.ground, maps.ground.patches(relevance)
    inside = np.array(ground.coverage or np.nan, dtype=float)
    known = ~np.isnan(inside)
    if known.any() and patches[known].sum() > 0:
        share = patches[known] @ inside[known] / patches[known].sum()
        yield from _against("mask", share, inside[known].mean())
    elif patches.sum() > 0:
        n = ceil(_TOP * len(patches))
        share = np.sort(patches)[-n:].sum() / patches.sum()
        yield from _against("top", share, n / len(patches), n=n)
    if tokens := ground.class_tokens:
        value, even = ground.share(relevance, CLASS_TOKENS), 1 / len(relevance)
        yield from _against("cls", value, even, "cls_even", tokens=tokens)
    for (label, probability), name in zip(maps.prediction, ("class", "next_class"), strict=False):
        yield {"sentence": "class", "name": name, "value": probability, "label": label}


def _found_of_text(maps: Maps, relevance: Numbers) -> Iterator[dict[str, Any]]:
    """Rows on the most relevant tokens of the text, and on the tokens that are set apart."""
    tokens = maps.tokens.assign(value=relevance)
    content, apart = tokens[~tokens["apart"]], tokens[tokens["apart"]]
    if content["value"].sum() > 0:
        first, *others = content.nlargest(_NAMED, "value")[["name", "value"]].to_numpy()
        even = content["value"].mean()
        yield from _against("token", first[1], even, "token_even", token=first[0], format=".2%")
        yield from (_beside("token", other[0], other[1], ".2%") for other in others)
    if len(apart):
        even = len(apart) / len(tokens)
        yield from _against("special", apart["value"].sum(), even, "special_even")
        kept = apart.groupby("name", sort=False)["value"].sum()
        yield from (_beside("special", name, value, ".1%") for name, value in kept.items())


def _beside(sentence: str, token: Any, value: Any, format: str) -> dict[str, Any]:
    given = {"value": value, "token": token, "format": format}
    return {"sentence": sentence, "name": "next", "beside": True, **given}


ONE_INPUT = partial(
    Section,
    needs=(relevance.RELEVANCE_MAP,),
    finding=Finding(found_of_map, format=".1%", overview=()),
    lacks=too_long,
)
IMAGE = ONE_INPUT(
    "map",
    picks=(inputs(OWN, texts=False), *ONE_MAP),
    figures=(
        maps_figure(
            "one",
            ImageMaps(panels=one, columns=2, pictured=True, side=_LARGE),
            captions=lambda _, choices: (
                ("one_caption", "mask_caption")
                if len(choices["maps"].ground.outline())
                else ("one_caption",)
            ),
        ),
        maps_figure(
            "grid", ImageMaps(panels=every_rule_and_head), "rule", "head", picks=(UNDER, SCALE)
        ),
        maps_figure("layers", ImageMaps(panels=every_layer, columns=6), "layer"),
        LINK,
    ),
    also=(relevance.SEQUENCE_RELEVANCE, IMAGES),
    when=lambda store: store.shows_images,
)
TEXT = ONE_INPUT(
    "text",
    picks=(inputs(OWN, texts=True), *ONE_MAP),
    figures=(
        maps_figure("one", TextMaps(panels=one, small=False), half=True),
        Figure("layers", strip_rows, Custom(chart=strip), half=True),
        maps_figure("heads", TextMaps(panels=every_head), picks=(SCALE,)),
        LINK,
    ),
    also=(relevance.RELEVANCE_SUMMARY,),
    when=lambda store: not store.shows_images,
)


def compared(inquiry: Inquiry, _: Choices) -> list[str]:
    """Rules and methods that a file compares, and the random order of curves."""
    sql = "select rule_a as rule from relevance_agreement union select rule from perturbation"
    held = set(rows_of(sql, inquiry, {})["rule"])
    return [rule for rule in relevance.ORDERS if rule in held]


COMPARED = Pick(
    "curve_rules",
    compared,
    lambda _, choices: [rule for rule in compared(_, choices) if rule not in MEAN_WEIGHTS],
    kind="many",
    of="rules",
    format=rule_name,
)


def for_images(*options: str, table: OfFile) -> Options:
    """Options in files that hold a table, and none in others."""
    return lambda inquiry, _: options if inquiry.store.holds(table) else ()


_CURVE = Lines(
    x="share",
    colour="rule",
    colours=RELEVANCE_RULE_COLOURS,
    dashed=(*MEAN_WEIGHTS, relevance.RANDOM),
    x_format="%",
    format=".0%",
)


def curves(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw deletion beside insertion."""
    panels = [
        _CURVE.draw(frame[frame["curve"] == curve], name, choices).properties(
            width=_HALF, title=say_here(f"curve_{curve}")
        )
        for curve in relevance.CURVES
    ]
    return alt.hconcat(*panels, spacing=28)


_AGREEMENT = Matrix(
    x="other",
    y="one",
    ramp=lambda rho: Ramp(LOW_TO_HIGH, min(float(rho.min()), 1.0 - _HARDLY), 1.0),
    more=("n_sequences",),
    format=".2f",
)


def agreement(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
    """Draw the matrix of rank correlations."""
    rules = frame[["rule_a", "rule_b"]].astype("category")  # so that a name is looked up once
    names = {"one": rules["rule_a"].map(rule_name), "other": rules["rule_b"].map(rule_short)}
    return _AGREEMENT.draw(frame.assign(**names), name, choices)


def named_rules(sql: str, inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of a finding, with display names of rules, methods and quantities."""
    frame = rows_of(sql, inquiry, choices)
    for column in {"rule", "other"} & set(frame):
        frame[column] = frame[column].map(rule_name, "ignore")
    if quantity := choices.get("quantity"):
        frame["quantity"] = say_here(f"quantity_{quantity}")
        frame["format"] = _FORMATS.get(quantity, ".1%")
    return frame


_LAST = "head is null and layer = (select n_layers from run)"
_RESULTS = ("least_alike", "deletion", "even", "inside")
_PICKED = "list_contains($curve_rules, rule)"
_BARE = "replace(rule_{}, '_mean_weights', '')"
_AREA_COLUMNS = [f"area_{curve}_{end}" for end in _ENDS for curve in relevance.CURVES]
_AREAS = ", ".join(
    f"max({end}) filter (curve = '{curve}') as area_{curve}_{end}"
    for end in _ENDS
    for curve in relevance.CURVES
)
METHODS = Section(
    "methods",
    (relevance.RELEVANCE_MAP, relevance.RELEVANCE_AGREEMENT),
    picks=(
        inputs(texts=False),
        inputs(texts=True),
        MAPS,
        COMPARED,
        Pick("under", for_images("outlined", "plain", table=IMAGES)),
        SCALE,
    ),
    figures=(
        maps_figure(
            "over_image",
            ImageMaps(panels=every_method, columns=4, pictured=True),
            "rule",
            clicked={"view": "map"},
        ),
        Figure(
            "agreement",
            f"""
            from relevance_agreement
            where list_contains($curve_rules, rule_a) and list_contains($curve_rules, rule_b)
            order by {placed(ALL, "rule_a")}, {placed(ALL, "rule_b")}""",
            Custom(chart=agreement),
        ),
        maps_figure("over_text", TextMaps(panels=every_method)),
        Figure(
            "change",
            f"""
            select rule, curve, share, mean, low, high, n_sequences from perturbation
            where $curves = 'all' and share is not null and {_PICKED}
            union all by name
            select rule, curve, (step - 1) / {relevance.STEPS} as share,
                probability[step]::double as mean
            from sequence_perturbation, range(1, {relevance.STEPS} + 2) as steps(step)
            where $curves = 'one' and seq = $image and {_PICKED}
            order by {placed(relevance.ORDERS, "rule")}, curve, share""",
            Custom(chart=curves),
            picks=(Pick("curves", for_images("all", "one", table=relevance.PERTURBATION)),),
            notes=("curves_meaning",),
        ),
        Figure(
            "areas",
            f"""
            select rule, {_AREAS} from perturbation where share is null and {_PICKED}
            group by rule order by {placed(relevance.ORDERS, "rule")}""",
            Table(columns=("rule", *_AREA_COLUMNS), named=("rule",)),
        ),
    ),
    finding=Finding(
        partial(
            named_rules,
            f"""
            with masks as (
                select rule, mask_share as share, mask_chance, row_number() over (
                    order by share desc) as place, count(*) over () as n
                from sequence_relevance
                where seq = $image and {_LAST} and share is not null and {_PICKED}),
            areas as (
                select rule, mean as value, low, high, rule = '{relevance.RANDOM}' as is_random,
                    row_number() over (partition by is_random order by mean) as place,
                    count(*) over (partition by is_random) as n
                from perturbation where share is null and curve = 'deletion' and {_PICKED}),
            pairs as (
                select rule_a as rule, rule_b as other, mean as value, low, high,
                    row_number() over (order by mean) as place, count(*) over () as n
                from relevance_agreement
                where list_contains($curve_rules, rule_a) and list_contains($curve_rules, rule_b)
                    and {_BARE.format("a")} < {_BARE.format("b")})
            select 1 as sentence, if(place = 1, 'inside', 'least_inside') as name, share as value,
                rule, '.0%' as format from masks where place in (1, n)
            union all by name
            select 1 as sentence, 'even' as name, mask_chance as value, '.0%' as format
            from masks where place = 1
            union all by name
            select 2 as sentence, if(is_random, 'random', 'deletion') as name, value, low, high,
                rule, n, '.0%' as format
            from areas where place = 1 and (select not bool_and(is_random) from areas)
            union all by name
            select 3 as sentence, if(place = 1, 'least', 'most') || '_alike' as name, value, low,
                high, rule, other, '.2f' as format
            from pairs where place in (1, n)
            order by sentence, list_position({[*_RESULTS]}, name) desc nulls last""",
        ),
        overview=("deletion",),
    ),
    also=(relevance.PERTURBATION, relevance.SEQUENCE_PERTURBATION),
    lacks=too_long,
)

_SPECIAL = f"token_type not in ({quoted(*SPECIAL)})"
_EVEN = f"""
    with lengths as (
        select seq, count(*) as tokens, count(*) filter ({_SPECIAL}) as content,
            count(*) filter (token_type = 'cls') as cls
        from token group by seq),
    masks as (
        select seq, any_value(mask_chance) as chance from sequence_relevance group by seq)
    select avg(value) as value, avg(value) - {_Z} * stddev_samp(value) / sqrt(count(value)) as low,
        avg(value) + {_Z} * stddev_samp(value) / sqrt(count(value)) as high
    from (
        select case $quantity when 'cls_share' then cls / tokens
            when 'special_share' then 1 - content / tokens
            when 'top5_share' then ceil({_TOP} * content) / nullif(content, 0)
            when 'evenness' then 1 when 'entropy' then ln(nullif(content, 0))
            when 'mask_share' then chance when 'pointing' then chance else 0 end as value
        from lengths join masks using (seq))
    having count(value) > 0"""
"""Mean over texts or images of what an even map has, with an interval of it."""
_OF_QUANTITY = "from relevance_interval where quantity = $quantity"


def quantities(inquiry: Inquiry, _: Choices) -> list[str]:
    """Quantities in the file; the share of special tokens only if it differs from that of [CLS]."""
    sql = f"""
        with kinds as (
            select quantity, list(mean order by rule, layer, head) as means, sum(mean) as total
            from relevance_interval group by quantity)
        select quantity from kinds where quantity <> 'special_share' or (total > 0 and
            means is distinct from (select means from kinds where quantity = 'cls_share'))
        order by {placed(_ORDER, "quantity")}"""
    return rows_of(sql, inquiry, {})["quantity"].tolist()


def of_corpus(inquiry: Inquiry, _: Choices) -> list[str]:
    held = rows_of("select distinct rule from relevance_interval", inquiry, {})
    return sorted(held["rule"], key=ALL.index)


def with_heads(inquiry: Inquiry, _: Choices) -> list[str]:
    return [rule for rule in of_corpus(inquiry, _) if rule in _WITH_HEADS]


def most(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Images or texts in which a map has most of the quantity; of a gain, of its share."""
    share = relevance.GAINS.get(choices["quantity"], choices["quantity"])
    rows = f"""select seq, {share}::double as value, text, rule
        from sequence_relevance join sequence using (seq)
        where rule = $head_rule and layer = $layer and value is not null
            and coalesce(head::text, '{MEAN}') = $head::text
        order by value desc, seq limit {_LISTED}"""
    return rows_of(rows, inquiry, choices)


def all_heads(inquiry: Inquiry, _: Choices) -> dict[Any, str]:
    return head_titles([MEAN, *range(1, int(inquiry.store.run["n_heads"]) + 1)])


def formatted(chart: Lines | HeadMap) -> Custom:
    """Chart in the format of the chosen quantity."""

    def draw(frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        quantity = choices["quantity"]
        look: dict[str, Any] = {"format": _FORMATS.get(quantity, ".1%")}
        if isinstance(chart, HeadMap):
            look["is_signed"] = quantity in relevance.GAINS
        return replace(chart, axis_word=f"quantity_{quantity}", **look).draw(frame, name, choices)

    return Custom(chart=draw)


CORPUS = Section(
    "corpus",
    (relevance.RELEVANCE_SUMMARY, relevance.SEQUENCE_RELEVANCE),
    picks=(
        Pick("quantity", quantities, kind="pills"),
        Pick("rules", of_corpus, with_heads, kind="many", format=rule_name),
    ),
    figures=(
        Figure(
            "layers",
            f"""
            select rule, layer, quantity, mean, low, high, n_sequences {_OF_QUANTITY}
                and head is null and list_contains($rules, rule)
            union all by name
            select 'even' as rule, layer, value as mean
            from ({_EVEN}), (select distinct layer {_OF_QUANTITY})
            order by {placed(ALL, "rule")}, layer""",
            formatted(
                Lines(
                    colour="rule",
                    colours=RELEVANCE_RULE_COLOURS | {"even": NEUTRAL},
                    dashed=(*MEAN_WEIGHTS, "even"),
                    zero=False,
                    height=380,
                )
            ),
            notes=("what_quantities", "what_rules"),
        ),
        Figure(
            "head_map",
            f"""
            select * {_OF_QUANTITY} and rule = $head_rule and head is not null
            order by layer, head""",
            formatted(HeadMap(low=None)),
            picks=(
                Pick("head_rule", with_heads, _USUAL, format=rule_name),
                Pick(
                    "layer",
                    lambda inquiry, _: inquiry.store.layers,
                    lambda inquiry, _: inquiry.store.layers[-1],
                    kind="select",
                ),
                Pick("head", all_heads, kind="select"),
            ),
            click={"layer": "layer", "head": "head"},
        ),
        Figure(
            "most",
            most,
            Table(columns={"seq": None, "value": "%.4f", "text": None}),
            click={"image": "seq", "seq": "seq", "rule": "rule"},
            clicked={"view": "map"},
        ),
        Figure(
            "conservation",
            f"""select max(conservation_error)::double as worst, sum(n_in_place) filter (
                head is not null or rule in ({quoted(*MEAN_WEIGHTS)}))::bigint as n_in_place
            from sequence_relevance""",
            Facts(formats={"worst": ".1e", "n_in_place": ",.0f"}),
        ),
    ),
    finding=Finding(
        partial(
            named_rules,
            f"""
            with last as (
                select *, row_number() over (order by mean desc) as place, count(*) over () as n
                {_OF_QUANTITY} and {_LAST} and list_contains($rules, rule)),
            results as (from (values (1, 'most'), (2, 'least')) as result(sentence, name)),
            parts as (
                select sentence, name, mean as value, low, high, rule, n, 1 as part
                from last, results where place = if(name = 'most', 1, n) and sentence <= n
                union all by name
                select sentence, 'even' as name, value, low, high, 2 as part
                from ({_EVEN}), results
                union all by name
                select sentence, 'rollout' as name, mean as value, low, high, 3 as part
                from last, results where rule = 'i' and place <> if(name = 'most', 1, n))
            select *, (select n_layers from run) as start from parts
            where sentence in (select sentence from parts where part = 1)
            order by sentence, part""",
        )
    ),
    also=(relevance.RELEVANCE_MAP,),
    lacks=too_long,
)

PAGE = Page("relevance", "re", (IMAGE, TEXT, METHODS, CORPUS))

if __name__ == "__main__":
    PAGE.show()

"""Statements of the papers, each tested on the open file by numbers with intervals or by counts.

A statement says that something is above or below something else, or holds in most heads or layers,
so that it can be asked of every model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pandas as pd

from pages.kit.found import MEAN_ENDS, rows_of
from pages.kit.grammar import groups, verdict
from pages.kit.recorded import findings
from pages.kit.section import Finding
from pages.kit.section import rows_of as answer
from pages.kit.sections import section_of
from pages.services.inquiry import Inquiry
from pages.words.interval import Side, Written, with_interval
from pages.words.names import effect_name, token_type_name
from pages.words.numbers import count, percent, signed, three_decimals
from pages.words.say import say

Direction = Literal["same", "other", "unclear"]
Rule = Literal["interval", "seeds", "numbers", "most", "some", "test"]
Frames = Mapping[str, pd.DataFrame]
"""Data of the figures of a section, by name."""
_SEP, _MARKS = "sep", "comma_period"
_ENDS = ["mean", "low", "high"]
_STRETCH = 1.8  # least ratio of the largest to the smallest singular value, as printed
_SURE = 0.9  # least share of texts in one cluster for a head independent of the text
_HALF = 0.5
_COMPONENTS = 12  # printed: these hold 92.23% of the variance
_MUCH = 0.9
_LEVEL = 0.05
_RELATED = ("word_pieces", "same_word", "adjacent")


@dataclass(frozen=True)
class Evidence:
    """Numbers of the open file on a statement.

    Attributes:
        text: its numbers.
        direction: whether they are as the paper states.
        rule: how that was decided.
    """

    text: str
    direction: Direction
    rule: Rule


Claim = Callable[[Inquiry, Frames], Evidence | None]
"""Test of a statement; None if the file cannot be asked."""


def _compared(
    rows: pd.DataFrame,
    baseline: float | str,
    expected: Side,
    written: Written = signed,
    *,
    rule: Rule = "interval",
) -> Evidence:
    """Verdict of the grammar on the first row, held against another row, or against a number."""
    others = rows[rows["name"] == baseline] if isinstance(baseline, str) else rows.iloc[:0]
    shown = pd.concat([rows.head(1), others])
    level = None if isinstance(baseline, str) else baseline
    side = verdict(groups(shown)[0], Finding("", level=level))
    values = [
        f"{name} {written(value) if low == high else with_interval(value, low, high, written)}"
        for name, value, low, high in shown[["name", "value", "low", "high"]].itertuples(
            index=False
        )
    ]
    known = side in ("above", "below")
    direction = "unclear" if not known else "same" if side == expected else "other"
    return Evidence(
        say("list.comma").join(values), direction, "numbers" if side == "unsure" else rule
    )


def _most(name: str, n: int, of: int, reverse: int | None = None) -> Evidence | None:
    """Count the heads or layers in which a statement holds; `papers.counted.NAME` says of what.

    Args:
        reverse: number of those in which its reverse holds; all others if None.
    """
    if not of:
        return None
    reverse = of - n if reverse is None else reverse
    direction = "same" if 2 * n > of else "other" if 2 * reverse > of else "unclear"
    text = say(f"papers.counted.{name}", n=count(n), of=count(of), reverse=count(reverse))
    return Evidence(text, direction, "most")


def _found(inquiry: Inquiry, page: str, stem: str, expected: Side) -> Evidence | None:
    """Test a statement by the finding of a section and its baseline, if the file has it."""
    section = section_of(inquiry.store, page, stem)
    held = inquiry.store.holds(*section.needs)
    finding = next(findings(section, page, inquiry), None) if held else None
    if finding is None or finding.baseline is None:
        return None
    found = _compared(finding.evidence, finding.baseline, expected, _written_as(finding.format))
    return replace(found, text=f"{finding.label} ({found.text})")


def _written_as(form: str) -> Written:
    return percent if form == ".0%" else lambda value: f"{value:{form}}".replace("-", "−")


def _norms_vary(inquiry: Inquiry, _: Frames) -> Evidence | None:
    asked = """
        select count(*) filter (heads.cv > inputs.cv) as n_above, count(*) as n_heads
        from value_norm_dispersion as heads join input_norm_dispersion as inputs using (layer)
        where heads.cv is not null and inputs.cv is not null"""
    [(n_above, n_heads)] = answer(asked, inquiry, {}).to_numpy()
    return _most("norms_vary", int(n_above), int(n_heads))


def _transforms_stretch(inquiry: Inquiry, _: Frames) -> Evidence | None:
    asked = """
        select max(value) as largest, min(value) as smallest from singular_value
        group by layer, head order by layer, head"""
    values = answer(asked, inquiry, {})
    ratio = (values["largest"] / values["smallest"].where(values["smallest"] > 0)).dropna()
    return _most("transforms_stretch", int((ratio >= _STRETCH).sum()), len(ratio))


def _correlated(inquiry: Inquiry, number: str) -> Evidence | None:
    """Test that a correlation of weight and norm is negative over [SEP]."""
    asked = "from attention_norm_correlation where layer is null and head is null"
    frame = answer(f"{asked} order by token_type", inquiry, {})
    frame = frame.dropna(subset=number).set_index("token_type")
    if _SEP not in frame.index:
        return None
    ends = [name for name in (number, f"{number}_low", f"{number}_high") if name in frame]
    row = (f"ρ {token_type_name(_SEP)}", *frame.loc[_SEP, ends])
    return _compared(rows_of([row]), 0.0, "below")


def _network_changes_mixing(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare the similarity around the feed-forward network with that around the next step."""
    rows = "select scope_a, scope_b, spearman, low, high from scope_similarity_interval"
    steps = answer(f"{rows} where layer is null", inquiry, {}).itertuples(index=False)
    of_scopes: dict[Any, Any] = {(one, other): numbers for one, other, *numbers in steps}
    effects = {effect: inquiry.store.layer_order.effects.get(effect) for effect in ("ff", "ff_res")}
    if not set(effects.values()) <= set(of_scopes):
        return None
    rows = rows_of((effect_name(name), *of_scopes[scopes]) for name, scopes in effects.items())
    return _compared(rows, effect_name("ff_res"), "below", three_decimals)


def _listed(
    name: str, _inquiry: Inquiry, frames: Frames, relations: tuple[str, ...]
) -> Evidence | None:
    """Count the layers whose list in one direction has more of some relations than the other."""
    frame = frames.get("relations")
    if frame is None:
        return None
    some = frame[frame["relation"].isin(relations)].groupby(["layer", "direction"])["share"].sum()
    wide = some.unstack().reindex(columns=["amplified", "attenuated"]).fillna(0.0)
    more = wide["amplified"] - wide["attenuated"]
    n, reverse = int((more > 0).sum()), int((more < 0).sum())
    if name == "attenuated":
        n, reverse = reverse, n
    return _most(name, n, frame["layer"].nunique(), reverse)


def _heads_keep_direction(_: Inquiry, frames: Frames) -> Evidence | None:
    shares = frames["grid"].groupby(["layer", "head"])["share"].max()
    return _most("heads_keep_direction", int((shares >= _SURE).sum()), len(shares))


def _embeddings_wave(inquiry: Inquiry, _: Frames) -> Evidence | None:
    found = _found(inquiry, "positions", "waves", "above")
    return found or Evidence(say("papers.counted.no_peak"), "other", "some")


def _waves_fade(_: Inquiry, frames: Frames) -> Evidence | None:
    """Compare the clearest wave of the queries in the last layer with that in the first.

    Each by how many times as high it is with position embeddings as without.
    """
    if "wave" not in frames:
        return None
    wide = frames["wave"].pivot(index="layer", columns="control", values="amplitude")
    ratio = (wide["compared"] / wide["removed"]).iloc[[-1, 0]]
    names = [say("published.layer", layer=layer) for layer in ratio.index]
    rows = rows_of(zip(names, ratio, strict=True))
    times = _compared(rows, names[1], "below", _written_as(".1f"))
    return replace(times, text=f"{say('papers.counted.waves')} ({times.text})")


def _few_components(inquiry: Inquiry, _: Frames) -> Evidence | None:
    sql = "select max(cumulative) as held from position_variance where component <= $most"
    held = answer(sql, inquiry, {"most": _COMPONENTS})["held"].iloc[0]
    name = say("papers.counted.components", n=_COMPONENTS)
    return _compared(rows_of([(name, held, held, held)]), _MUCH, "above", percent)


def _heads_on_neighbours(inquiry: Inquiry, _: Frames) -> Evidence | None:
    rows = f"""
        select count(*) filter (most > {_HALF}) as n, count(*) as "of" from (
            select max(mean) filter (quantity in ('previous', 'next')) as most
            from head_pattern_interval where head is not null group by layer, head)"""
    [(n, of)] = answer(rows, inquiry, {}).to_numpy()
    text = say("papers.counted.heads_on_neighbours", n=count(n), of=count(of))
    return Evidence(text, "same" if n else "other", "some")


def _habits(inquiry: Inquiry) -> pd.DataFrame:
    """Means over layers of every habit: mean, low, high, by habit."""
    rows = f"""
        select quantity, avg(mean) as mean, {MEAN_ENDS} from head_pattern_interval
        where head is null and mean is not null group by quantity"""
    return answer(rows, inquiry, {}).set_index("quantity")


def _separators_over_marks(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare attention to [SEP] with that to commas and periods."""
    habits = _habits(inquiry)
    if not {_SEP, _MARKS} <= set(habits.index):
        return None
    rows = rows_of((token_type_name(kind), *habits.loc[kind, _ENDS]) for kind in (_SEP, _MARKS))
    return _compared(rows, token_type_name(_MARKS), "above", percent)


def _separators_matter_little(_: Inquiry, frames: Frames) -> Evidence | None:
    """Compare the shares of [SEP] in the gradient of the loss and in the weight."""
    if "types" not in frames:
        return None
    shares = frames["types"].set_index(["token_type", "part"])
    if any((_SEP, part) not in shares.index for part in ("gradient", "weight")):
        return None
    names = {part: say(f"habits.matters.part_{part}") for part in ("gradient", "weight")}
    rows = rows_of((name, *shares.loc[(_SEP, part), _ENDS]) for part, name in names.items())
    return _compared(rows, names["weight"], "below", percent)


def _low_layers_broad(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare the entropy of attention in the first layer with the mean over layers."""
    rows = """
        from head_pattern_interval where head is null and quantity = 'entropy'
        order by layer limit 1"""
    entropy = answer(rows, inquiry, {})
    if entropy.empty:
        return None
    first, every = entropy.iloc[0], _habits(inquiry).loc["entropy"]
    names = (say("published.layer", layer=first["layer"]), say("papers.counted.every_layer"))
    rows = zip(names, (first[_ENDS], every[_ENDS]), strict=True)
    return _compared(rows_of((name, *values) for name, values in rows), names[1], "above")


def _head_beats_same_word(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare the best head with the nearest mention that has the same head word."""
    sql = """
        from coreference_best where merging = 'mean' and chosen_on = 'all'
            and mention_type = 'all' and baseline = 'head_match' """
    best = answer(sql, inquiry, {})
    if best.empty:
        return None
    ends = ["difference", "difference_low", "difference_high"]
    name = say("papers.counted.beyond_same_word")
    return _compared(rows_of([(name, *best.iloc[0][ends])]), 0.0, "above", _written_as("+.1%"))


def _heads_beat_distances(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare parsers on all heads with those on distances; the ends are of different seeds."""
    sql = """
        select method, avg(uas) as mean, min(uas) as low, max(uas) as high
        from parser_accuracy group by method"""
    seeds = answer(sql, inquiry, {}).set_index("method")
    methods = ("attention_words", "distances_words")
    if any(method not in seeds.index for method in methods):
        return None
    names = {method: say(f"syntax.parsers.method_{method}") for method in methods}
    rows = rows_of((name, *seeds.loc[method]) for method, name in names.items())
    return _compared(rows, names["distances_words"], "above", percent, rule="seeds")


def _layers_alike(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare distances within layers with those between layers, by a permutation test."""
    frame = answer("from layer_cohesion where layer is null", inquiry, {})
    if frame.empty:
        return None
    row = frame.iloc[0]
    values = {side: _written_as(".3f")(row[side]) for side in ("within", "between")}
    text = say("papers.counted.layers_alike", **values, p=_written_as(".4f")(row["p_value"]))
    if row["p_value"] >= _LEVEL:
        return Evidence(text, "unclear", "test")
    return Evidence(text, "same" if row["difference"] > 0 else "other", "test")


def _values_beat_rollout(inquiry: Inquiry, _: Frames) -> Evidence | None:
    """Compare rule ii with rollout by the share of relevance inside the masks of images."""
    rows = """
        from relevance_interval where quantity = 'mask_share' and head is null
        qualify layer = max(layer) over ()"""
    last = answer(rows, inquiry, {}).set_index("rule")
    if not {"i", "ii"} <= set(last.index):
        return None
    names = {rule: say(f"relevance.rule_{rule}") for rule in ("ii", "i")}
    rows = rows_of((name, *last.loc[rule, _ENDS]) for rule, name in names.items())
    return _compared(rows, names["i"], "above", percent)


def _of_finding(page: str, stem: str, expected: Side) -> Claim:
    return lambda inquiry, _: _found(inquiry, page, stem, expected)


CLAIMS: Mapping[str, Claim] = {
    "norms_vary": _norms_vary,
    "transforms_stretch": _transforms_stretch,
    "weight_against_norm": lambda inquiry, _: _correlated(inquiry, "spearman"),
    "heads_against_norm": lambda inquiry, _: _correlated(inquiry, "between_heads_spearman"),
    "special_tokens_bring_little": _of_finding("norms", "layers", "below"),
    "residual_keeps_tokens": _of_finding("layer_mixing", "ratio", "below"),
    "network_changes_mixing": _network_changes_mixing,
    "amplified": partial(_listed, "amplified", relations=_RELATED),
    "attenuated": partial(_listed, "attenuated", relations=("special",)),
    "heads_keep_direction": _heads_keep_direction,
    "embeddings_wave": _embeddings_wave,
    "waves_fade": _waves_fade,
    "shift_predicts_attention": _of_finding("positions", "claim", "above"),
    "few_components": _few_components,
    "heads_on_neighbours": _heads_on_neighbours,
    "separators_over_marks": _separators_over_marks,
    "separators_matter_little": _separators_matter_little,
    "low_layers_broad": _low_layers_broad,
    "relations_beat_offsets": _of_finding("syntax", "relations", "above"),
    "head_beats_same_word": _head_beats_same_word,
    "heads_beat_distances": _heads_beat_distances,
    "layers_alike": _layers_alike,
    "values_beat_rollout": _values_beat_rollout,
}

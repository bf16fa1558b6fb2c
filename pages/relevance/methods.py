"""Rules and published methods compared: on one input, by rank correlation, and by perturbation."""

import pandas as pd

from analysis.statistics import image
from analysis.statistics.relevance import perturbation, relevance_map, relevance_summary
from pages.relevance.absence import too_long
from pages.relevance.choices import pick_image, pick_own_scale, pick_text
from pages.relevance.curves import curves, summary
from pages.relevance.image_facts import predicted_class
from pages.relevance.maps.image_map import OUTLINES, image_maps, map_frame
from pages.relevance.maps.layout import Panel
from pages.relevance.maps.text_map import small_texts, stored_text
from pages.relevance.rules import in_order, rule_meanings, rule_name, rule_short
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.say import plain

_TITLED = ("one", "other", "mean", "low", "high", "n_sequences")
_HARDLY = 1e-6  # the width of a scale where all agree


@section(
    "methods",
    relevance_map.TABLE,
    also=(relevance_map.AGREEMENT, perturbation.TABLE, perturbation.PER_SEQUENCE),
    lacking=too_long,
    findings=summary,
)
def methods(view: View) -> None:
    missing, store = [], view.store
    seq = _over_image(view) if store.shows_images else None
    if store.holds(relevance_map.AGREEMENT):
        _agreement(view)
    else:
        missing.append(relevance_map.AGREEMENT)
    if not store.shows_images:  # an image comes before the agreement of methods, a text after it
        seq = _over_text(view)
    if store.holds(perturbation.TABLE):
        curves(view, seq)
    elif view.store.shows_images and store.holds(perturbation.CLASSES):
        missing.append(perturbation.TABLE)
    else:
        view.write("caption", view.say("no_curves"))
    view.require(*missing)


def _over_image(view: View) -> int | None:
    """Draw the maps over an image of the corpus; return its number, or None if none is stored."""
    source = pick_image(view)
    if source is None:
        return None
    outline, own_scale = view.pick("under", OUTLINES), pick_own_scale(view)
    seq, ground, maps = source.seq, source.ground, source.rules
    view.finding(f"{predicted_class(source)} {_inside(view, seq)}".strip())
    panels = [Panel(rule, rule_name(rule), relevance) for rule, relevance in maps.items()]
    drawn = {"outline": outline, "own_scale": own_scale, "pictured": True}
    scales = view.say("own_scales" if own_scale else "one_scale")
    names = view.ask(image.images).set_index("seq")["name"]
    view.figure(
        "over_image",
        map_frame(ground, panels),
        image_maps(ground, panels, columns=4, **drawn),
        state=f"{seq}_{outline}_{own_scale}",
        caption=f"{view.say('over_image_caption')} {scales}",
        width="content",
        image=plain(names[seq]),
    )
    rule_meanings(view, maps)
    return seq


def _over_text(view: View) -> int:
    """Draw the shaded text by every method; return its number."""
    seq, own_scale = pick_text(view), pick_own_scale(view)
    text = stored_text(view, seq)
    maps = text.source.rules
    named = {rule_name(rule): relevance for rule, relevance in maps.items()}
    body = small_texts(text, named, own_scale=own_scale)
    view.markup("over_text", text.numbers(maps), body, state=seq, seq=seq)
    rule_meanings(view, maps)
    return seq


def _inside(view: View, seq: int) -> str:
    """Name the methods with most and least relevance inside the mask; empty without a mask."""
    if not view.store.holds(relevance_summary.PER_SEQUENCE):
        return ""
    rows = view.ask(relevance_summary.of_sequence, seq=seq).dropna(subset="mask_share")
    rows = rows[rows["head"].isna() & (rows["layer"] == view.store.run["n_layers"])]
    if rows.empty:
        return ""
    shares = rows.set_index("rule")["mask_share"]
    most, least = str(shares.idxmax()), str(shares.idxmin())
    return view.say(
        "inside",
        most=rule_name(most),
        of_most=percent(shares[most]),
        least=rule_name(least),
        of_least=percent(shares[least]),
    )


def _agreement(view: View) -> None:
    """Draw the matrix of rank correlations with its finding."""
    pairs = view.ask(relevance_map.agreement)
    shown = pairs.assign(one=pairs["rule_a"].map(rule_name), other=pairs["rule_b"].map(rule_short))
    order = in_order(pairs["rule_a"])
    view.write("header", view.say("agreement_title"), anchor=False)
    view.finding(_agreement_finding(view, shown))
    chart = number_map(
        shown,
        x="other",
        y="one",
        value="mean",
        titles={column: "ρ" if column == "mean" else title(column) for column in _TITLED},
        orders={"one": list(map(rule_name, order)), "other": list(map(rule_short, order))},
        colours=Ramp(LOW_TO_HIGH, min(float(shown["mean"].min()), 1.0 - _HARDLY), 1.0),
        format=".2f",
    )
    view.figure("agreement", shown, chart)


def _agreement_finding(view: View, pairs: pd.DataFrame) -> str:
    """Name the pairs of rules that agree least and most.

    A rule and its variant on mean weights are not compared.
    """
    bare_a, bare_b = (pairs[f"rule_{side}"].str.removesuffix("_mean_weights") for side in "ab")
    others = pairs[(bare_a != bare_b) & (pairs["rule_a"] < pairs["rule_b"])].sort_values("mean")
    if others.empty:
        return view.say("agreement_alone")
    least, most = others.to_dict("records")[0], others.to_dict("records")[-1]
    return view.say(
        "finding_agreement",
        least_a=least["one"],
        least_b=rule_name(least["rule_b"]),
        least=row_with_interval(least),
        most_a=most["one"],
        most_b=rule_name(most["rule_b"]),
        most=row_with_interval(most),
    )

"""Maps of relevance, their numbers, how far rules agree, and curves of deletion and insertion."""

from dataclasses import replace

from analysis.needs import Need, Setting
from analysis.relevance_rules import ALL
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    correlation,
    named,
    nats,
    numbers,
    pooled,
    share,
    signed,
    small,
    text,
    whole,
    with_names,
)
from analysis.statistics.base.means import means, wide_view
from analysis.statistics.base.tables import UNSTABLE_ARGMAX, Table
from analysis.statistics.corpus import HAS_SINK_LOGITS

ROUNDING = 0.02
"""Largest deviation from 1 of a row of attention in bfloat16."""
MOST = 1 + 1e-5
"""Largest share, with round-off."""
RULE = named("rule or method by which relevance is carried back", ALL, "rule")
OF_MAP = (
    RULE,
    replace(LAYER, meaning="layer after which relevance starts, from 1"),
    pooled(
        replace(HEAD, meaning="head, counted from 1, the same in every layer"),
        "for the mean of the heads, or of no single head",
    ),
)
RELEVANCE_MAP = Table(
    "relevance_map",
    key=(SEQ, *OF_MAP),
    source="sawaki-2025",
    note="of kept sequences",
    needs=(Need.EVERY_LAYER,),
    laws=(
        "list_min(relevance) >= 0",
        f"abs(list_sum(relevance) - 1) <= if(rule = 'attention', {ROUNDING}, 1e-4) "
        f"or rule = 'attention' and list_sum(relevance) < 1 and {HAS_SINK_LOGITS}",
    ),
    depends_on=(Setting.KEPT,),
    values={
        "relevance": numbers(
            "relevance of every token of the input, special ones included; 1 in sum, of attention "
            "less what goes to no token"
        )
    },
)
_MAPS = {
    "cls_share": share(
        "share of the relevance on [CLS] and, where there is one, [DIST]", null="without [CLS]"
    ),
    "special_share": share("share of the relevance on all special tokens"),
    "entropy": nats(
        "entropy of the relevance of content, made to sum to 1", least=0, null="if content has none"
    ),
    "evenness": share(
        "that entropy, over the largest that there can be",
        null="if content has none, or is one token",
    ),
    "top5_share": share(
        "share of the relevance of content on its most relevant 5% of tokens",
        null="if content has none",
    ),
    "mask_share": share(
        "share of the relevance of patches that is inside the mask", null="without a mask"
    ),
    "mask_chance": share("share of the patches that is inside the mask", null="without a mask"),
    "pointing": share(
        "share of the most relevant patch that is inside the mask", null="without a mask"
    ),
}
OF_MAPS = {name: replace(one, most=one.most and MOST) for name, one in _MAPS.items()}
_CARRIED = "where no rule carries it back"
SEQUENCE_RELEVANCE = Table(
    "sequence_relevance",
    key=(*OF_MAP, SEQ),
    source="sawaki-2025",
    needs=(Need.EVERY_LAYER,),
    round_off=("conservation_error",),
    laws=(
        "cls_share is null or cls_share <= special_share + 1e-5",
        "mask_share is null or mask_chance is not null",
        "(pointing is null) = (mask_share is null)",
        "(entropy is null) = (top5_share is null)",
        "(conservation_error is null) = (n_in_place is null)",
    ),
    depends_on=(Setting.KEPT,),
    values={
        **OF_MAPS,
        "conservation_error": share("largest |Σ R − 1| on the way down", most=1e-5, null=_CARRIED),
        "n_in_place": whole(
            "tokens, over all layers, whose relevance stayed where it was because its denominator "
            "was 0",
            "tokens",
            null=_CARRIED,
        ),
    },
)
GAINS = {"mask_gain": "mask_share", "pointing_gain": "pointing"}
"""Quantity to compare with `mask_chance`, the value of an even map."""
_OF_MEANS = {name: one for name, one in OF_MAPS.items() if name != "mask_chance"} | {
    name: signed(
        f"{OF_MAPS[of].meaning}, less the share of patches that is inside the mask",
        sql=f"avg({of} - mask_chance)",
        least=-MOST,
        most=MOST,
    )
    for name, of in GAINS.items()
}
RELEVANCE_SUMMARY = means(
    "relevance_summary",
    of=SEQUENCE_RELEVANCE,
    shown_as="relevance_interval",
    views=(
        wide_view(
            "relevance_summary",
            "relevance_summary",
            OF_MAP,
            tuple(
                one
                for one in with_names(OF_MAPS)
                if one.name in ("cls_share", "entropy", "top5_share", "mask_share")
            ),
            n="n",
        ),
    ),
    depends_on=(),
    values=_OF_MEANS,
)
_TWO_RULES = (
    named("one rule or method by which relevance is carried back", ALL, "rule_a"),
    named("the rule or method it is compared with", ALL, "rule_b"),
)
_ALIKE = correlation(
    "Spearman's ρ of the two maps over the tokens that are not special; relevance starts after the "
    "last layer, heads are averaged",
    least=-1 - 1e-6,
    most=1 + 1e-6,
)
SEQUENCE_RELEVANCE_AGREEMENT = Table(
    "sequence_relevance_agreement",
    key=(*_TWO_RULES, SEQ),
    source="sawaki-2025",
    note="of rules or methods in whose maps there is something to rank",
    needs=(Need.EVERY_LAYER,),
    laws=("rule_a <> rule_b",),
    depends_on=(Setting.KEPT,),
    values={"spearman": _ALIKE},
)
RELEVANCE_AGREEMENT = means(
    "relevance_agreement",
    of=SEQUENCE_RELEVANCE_AGREEMENT,
    rows="""(
        with pair as (select seq, rule_a, rule_b, spearman from sequence_relevance_agreement)
        from pair union all select seq, rule_b, rule_a, spearman from pair
        union all select distinct seq, unnest([rule_a, rule_b]) as rule, rule, 1 from pair)""",
    note="in either order, each with itself too; means over sequences",
    laws=("rule_a <> rule_b or mean = 1",),
    depends_on=(),
    values={"mean": replace(_ALIKE, sql="avg(spearman)")},
)
RANKS = 5
"""Number of classes stored for each sequence, the likeliest first."""
CLASS_PREDICTION = Table(
    "class_prediction",
    key=(SEQ, small("rank of the class by its probability, from 1", name="rank", most=RANKS)),
    source="petsiuk-2018",
    note=f"of the {RANKS} likeliest classes; none without a classifier",
    declared=UNSTABLE_ARGMAX,
    needs=(Need.CLASSES,),
    values={
        "label": text("what the model's configuration calls the class"),
        "probability": share("how likely the model finds the class", "probability", most=MOST),
    },
)
RANDOM = "random"
"""Name in place of a rule: patches in random order, the baseline of every map."""
ORDERS = (*ALL, RANDOM)
DELETION, INSERTION = CURVES = ("deletion", "insertion")
STEPS = 10
"""Number of steps of a curve, from no patch to all of them."""
_OF_CURVE = (
    named(
        "rule or method whose most relevant patches come first, carried back from the last layer "
        "with heads averaged; or random",
        ORDERS,
        "rule",
    ),
    named(
        "deletion (patches turn to the image's mean colour) or insertion (from an image of that "
        "colour alone, patches come back)",
        CURVES,
        "curve",
    ),
)
SEQUENCE_PERTURBATION = Table(
    "sequence_perturbation",
    key=(SEQ, *_OF_CURVE),
    source="petsiuk-2018",
    note="of images that curves are drawn of",
    needs=(Need.IMAGES, Need.CLASSES, Need.EVERY_LAYER),
    laws=(
        f"list_min(probability) >= 0 and list_max(probability) <= {MOST}",
        "area between list_min(probability) - 1e-5 and list_max(probability) + 1e-5",
    ),
    depends_on=(Setting.KEPT,),
    values={
        "probability": numbers(
            "probability of the class predicted for the whole image, after 0, 10, …, 100% of the "
            "patches",
            "probability",
            least=STEPS + 1,
            most=STEPS + 1,
        ),
        "area": share("area under the curve: the mean probability on the way", "probability"),
    },
)
PERTURBATION = means(
    "perturbation",
    of=SEQUENCE_PERTURBATION,
    rows=f"""(
        select seq, rule, curve, unnest(range(0, {STEPS + 1})) / {STEPS} as share,
            unnest(probability) as probability from sequence_perturbation
        union all select seq, rule, curve, null, area from sequence_perturbation)""",
    by=(
        *_OF_CURVE,
        pooled(
            share("share of the patches that are gone, or have come", name="share"),
            "for the area under the curve",
        ),
    ),
    note="means over images",
    depends_on=(),
    values={
        "mean": share(
            "probability of the class predicted for the whole image",
            "probability",
            sql="avg(probability)",
            most=MOST,
        )
    },
)

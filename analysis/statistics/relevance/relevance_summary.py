"""Maps of relevance in a few numbers."""

from analysis.needs import Need, Setting
from analysis.statistics.columns import count, mean_values, number, quantity, single, whole
from analysis.statistics.means import Means, mean_of
from analysis.statistics.relevance.relevance_map import HEAD_OR_MEAN, RULE, START_LAYER
from analysis.statistics.table import SEQUENCE, Table, View

_SHARE, _NATS, _TOKENS = "share", "nats", "tokens"
MEANINGS = {
    "cls_share": ("share of the relevance on [CLS] and, where there is one, [DIST]", _SHARE),
    "special_share": ("share of the relevance on all special tokens", _SHARE),
    "entropy": ("entropy of the relevance of content, made to sum to 1", _NATS),
    "evenness": ("that entropy, over the largest that there can be", _SHARE),
    "top5_share": ("share of the relevance of content on its most relevant 5% of tokens", _SHARE),
    "mask_share": ("share of the relevance of patches that is inside the mask", _SHARE),
    "mask_chance": ("share of the patches that is inside the mask", _SHARE),
    "pointing": ("share of the most relevant patch that is inside the mask", _SHARE),
}
ABSENT = {
    "cls_share": "NULL without [CLS]",
    "entropy": "NULL if content has none",
    "evenness": "NULL if content has none, or is one token",
    "top5_share": "NULL if content has none",
    "mask_share": "NULL without a mask",
    "mask_chance": "NULL without a mask",
    "pointing": "NULL without a mask",
}
OF_MAPS = tuple(MEANINGS)
_CARRIED = "NULL where no rule carries it back"
PER_SEQUENCE = Table(
    name="sequence_relevance",
    grain="one row per sequence, rule, layer and head (or their mean)",
    key=(SEQUENCE, RULE, START_LAYER, HEAD_OR_MEAN),
    values=(
        *(
            single(
                name,
                f"{meaning}; {ABSENT[name]}" if name in ABSENT else meaning,
                unit,
                nullable=name in ABSENT,
            )
            for name, (meaning, unit) in MEANINGS.items()
        ),
        single(
            "conservation_error",
            f"largest |Σ R − 1| on the way down; {_CARRIED}",
            _SHARE,
            nullable=True,
        ),
        whole(
            "n_in_place",
            "tokens, over all layers, whose relevance stayed where it was because its denominator "
            f"was 0; {_CARRIED}",
            _TOKENS,
            nullable=True,
        ),
    ),
    source="sawaki-2025",
    needs=(Need.EVERY_LAYER,),
    round_off=("conservation_error",),
    laws=(
        *(
            f"{name} is null or {name} between 0 and 1 + 1e-5"
            for name, (_, unit) in MEANINGS.items()
            if unit == _SHARE
        ),
        "cls_share is null or cls_share <= special_share + 1e-5",
        "entropy is null or entropy >= 0",
        "(mask_share is null) or (mask_chance is not null)",
        "(pointing is null) = (mask_share is null)",
        "(entropy is null) = (top5_share is null)",
        "conservation_error is null or conservation_error between 0 and 1e-5",
        "(conservation_error is null) = (n_in_place is null)",
        "n_in_place is null or n_in_place >= 0",
    ),
    order=("rule", "layer", "head", "seq"),
    depends_on=(Setting.KEPT,),
)
GAINS = {"mask_gain": "mask_share", "pointing_gain": "pointing"}
"""Quantity to compare with `mask_chance`, the value of an even map."""
QUANTITIES = (
    "cls_share",
    "special_share",
    "entropy",
    "evenness",
    "top5_share",
    "mask_share",
    "mask_gain",
    "pointing",
    "pointing_gain",
)
_GAINED = [
    number(name, f"{MEANINGS[share][0]}, less {MEANINGS['mask_chance'][0]}")
    for name, share in GAINS.items()
]
_UNIT = "share or nats"
_KEY = (RULE, START_LAYER, HEAD_OR_MEAN)
_WIDE = {name: MEANINGS[name] for name in ("cls_share", "entropy", "top5_share", "mask_share")}
_GAINS = ", ".join(f"{share} - mask_chance as {name}" for name, share in GAINS.items())
_LONG = f"""
    unpivot (
        select seq, layer, head, columns([{", ".join(map(repr, QUANTITIES))}])::double
        from (select *, {_GAINS} from sequence_relevance where rule = $rule)
    )
    on {", ".join(QUANTITIES)} into name quantity value mean
"""
_RULES = "select distinct rule from sequence_relevance order by all"
TABLE = Table(
    name="relevance_summary",
    grain="one row per rule, layer, head (or their mean) and quantity",
    key=(
        *_KEY,
        quantity(
            QUANTITIES,
            (*PER_SEQUENCE.values, *_GAINED),
            meaning=f"{', '.join(QUANTITIES)}; a gain is the difference to the share of patches "
            "that is inside the mask",
        ),
    ),
    values=mean_values(_UNIT),
    source="sawaki-2025",
    needs=(Need.EVERY_LAYER,),
    requires=("sequence_relevance",),
    made_by=mean_of(Means(_LONG, ["layer", "head", "quantity"], per=_RULES)),
    laws=(
        "low <= high",
        "n_sequences > 0",
        "mean >= 0 or quantity in ('mask_gain', 'pointing_gain')",
        "quantity = 'entropy' or abs(mean) <= 1 + 1e-5",
    ),
    order=("quantity", "rule", "layer", "head"),
    shown_as="relevance_interval",
    views=(
        View(
            "relevance_summary",
            "one row per rule, layer and head (or their mean); means over sequences",
            (
                *_KEY,
                *(
                    number(name, f"{meaning}; NULL if none has it", unit, nullable=True)
                    for name, (meaning, unit) in _WIDE.items()
                ),
                count("n", "sequences averaged over", "sequences"),
            ),
            f"""
            select rule, layer, head,
                {", ".join(f"max(mean) filter (quantity = '{name}') as {name}" for name in _WIDE)},
                max(n_sequences) as n
            from stored.relevance_summary
            group by rule, layer, head
            """,
        ),
    ),
    depends_on=(),
)

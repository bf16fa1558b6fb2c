"""Attention of single heads by kind of token, their effect, and their share of updates."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.effects import CHANGES, FILLINGS, LEVELS, MEASURES, PARTS, RANDOM
from analysis.habits import HABITS, OBJECTIVES, QUANTITIES
from analysis.habits import TOKEN_TYPES as OF_TYPES
from analysis.measures.heads.effect_prediction import Draws, OfHeads, chance, rank_correlations
from analysis.needs import Setting
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    TOKEN_TYPE,
    averaged,
    correlation,
    count,
    interval,
    length,
    named,
    nats,
    number,
    pooled,
    ratio,
    share,
    whole,
    with_names,
)
from analysis.statistics.base.means import N_SEQUENCES, means, wide_view
from analysis.statistics.base.tables import FitContext, Table, View
from analysis.statistics.base.weighing import WEIGHING, of_weights
from analysis.statistics.question import quoted
from analysis.token_types import TOKEN_TYPES

ROUNDING = 0.02
"""Largest violation of a bound in bfloat16, whose rows of attention do not quite sum to 1."""
_NO_PAIR = "where there is no such pair of tokens"
_HABITS = {
    name: replace(
        share(meaning, most=1 + ROUNDING, null="" if name == "self" else _NO_PAIR),
        absent=0 if name in OF_TYPES else None,
    )
    for name, meaning in {
        "self": "attention of a token to itself",
        "previous": "attention to the previous token, over all tokens",
        "next": "attention to the next token, over all tokens",
        "cls": "attention to [CLS]",
        "sep": "attention to [SEP]",
        "comma_period": "attention to commas and periods",
        "sep_to_sep": "attention of [SEP] to [SEP]",
        "other_to_sep": "attention of all tokens but [SEP] to [SEP]",
        "first": "attention to BOS or the first token of a causal model",
    }.items()
} | {
    "entropy": nats("entropy of a token's attention, smoothed", least=0),
    "entropy_cls": nats("entropy of the attention of [CLS], smoothed", least=0, null=_NO_PAIR),
    "uniform": nats(
        "entropy of a head that attends to everything alike, to no token too with a sink logit",
        least=0,
    ),
}
OF_HABITS = {name: _HABITS[name] for name in QUANTITIES}
SEQUENCE_HEAD_PATTERN = Table(
    "sequence_head_pattern",
    key=(WEIGHING, LAYER, HEAD, SEQ),
    source="clark-2019",
    shown_as="sequence_head_pattern_weighing",
    views=(of_weights("sequence_head_pattern"),),
    laws=(
        f"entropy <= uniform + {ROUNDING}",
        f"entropy_cls is null or entropy_cls <= ln(n_tokens + 1) + {ROUNDING}",
        "(entropy_cls is null) = (cls is null)",
        "(sep_to_sep is null) = (sep is null)",
        "uniform <= ln(n_tokens + 1) + 1e-5",
    ),
    version=3,
    values={
        "n_tokens": whole("tokens, special ones included", "tokens", least=1),
        **OF_HABITS,
    },
)
HEAD_PATTERN = means(
    "head_pattern",
    of=SEQUENCE_HEAD_PATTERN,
    rows="sequence_head_pattern_weighing",
    over=(HEAD,),
    views=(
        wide_view(
            "head_pattern",
            "head_pattern",
            (LAYER, HEAD),
            tuple(column for column in with_names(OF_HABITS) if column.name in HABITS),
            n="",
            where="head is not null and weighing = 'weight'",
        ),
        of_weights("head_pattern_interval"),
    ),
    shown_as="head_pattern_weighing",
    note="means over sequences, of attention to a type of token over all of them",
    version=5,
    values=OF_HABITS,
)
_MEANS = """
    select layer, head, quantity, any_value(mean) filter (weighing = 'weight') as weight,
        any_value(mean) filter (weighing = 'norm') as norm
    from head_pattern_weighing group by layer, head, quantity
"""


def _differences(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return means of differences of the same sequences, beside the means that they are between;
    by hand, since means of one kind have no columns of another."""
    changes = means(
        table.name,
        of=SEQUENCE_HEAD_PATTERN,
        rows="""sequence_head_pattern_weighing as norm
            join sequence_head_pattern as weight using (seq, layer, head)""",
        by=(LAYER, HEAD),
        over=(HEAD,),
        values={
            name: replace(
                OF_HABITS[name],
                sql=f"""avg(norm."{name}" - weight."{name}") filter (weighing = 'norm')""",
            )
            for name in HABITS
        },
    )
    found = changes.made_by(changes, store, context).to_pandas()  # type: ignore[misc]
    found = found.astype({"quantity": object}).rename(columns={"mean": "difference"})
    return table.rows([found.merge(store.sql(_MEANS).df(), on=["layer", "head", "quantity"])])


_UNIT = "share or nats"
HEAD_PATTERN_DIFFERENCE = Table(
    "head_pattern_difference",
    key=(LAYER, averaged(HEAD), named(", ".join(HABITS), HABITS, "quantity")),
    source="kobayashi-2020",
    note="the same sequences by weights and by norms",
    laws=("abs(difference - (norm - weight)) < 1e-6",),
    version=4,
    requires=("sequence_head_pattern", "head_pattern"),
    made_by=_differences,
    values={
        "weight": number("mean over sequences by weights", _UNIT, least=0),
        "norm": number("mean over sequences by norms", _UNIT, least=0),
        "difference": number("by norms minus by weights", _UNIT),
        **interval(_UNIT),
        "n_sequences": N_SEQUENCES,
    },
)
OBJECTIVE = named(
    "the loss L: masked_lm (mean cross-entropy at masked tokens), next_token (the same at every "
    "token but the first), or, in a model that predicts no tokens, pooled_length (squared length "
    "of the mean of the last hidden states)",
    OBJECTIVES,
    "objective",
)
_IMPORTANCE = ratio(
    "|∂L/∂α| summed over the tokens of the type, mean over queries", "unit of L", name="importance"
)
SEQUENCE_GRADIENT_IMPORTANCE = Table(
    "sequence_gradient_importance",
    key=(OBJECTIVE, LAYER, HEAD, TOKEN_TYPE, SEQ),
    source="clark-2019",
    note="of sequences that have a loss",
    values={"importance": _IMPORTANCE},
)
GRADIENT_IMPORTANCE = means(
    "gradient_importance",
    of=SEQUENCE_GRADIENT_IMPORTANCE,
    over=(HEAD,),
    shown_as="gradient_importance_objective",
    views=(
        View(
            "gradient_importance",
            "one row per layer, head and token type; means over sequences",
            (LAYER, HEAD, TOKEN_TYPE, _IMPORTANCE.typed(single=False)),
            "select layer, head, token_type, importance from stored.gradient_importance "
            "where head is not null",
        ),
    ),
)
_OF_UPDATE = (
    LAYER,
    named(
        "what brings it: a head, or all heads from the tokens of a type; the network with its "
        "biases, what normalisations change of the token itself (residual), and biases of "
        "attention and of normalisations; either of the first two and the last three sum to 1",
        PARTS,
        "part",
    ),
    pooled(HEAD, "where the part is no head"),
    pooled(TOKEN_TYPE, "where the part is no type of token"),
)
SEQUENCE_CONTRIBUTION = Table(
    "sequence_contribution",
    key=(*_OF_UPDATE, SEQ),
    source="cunningham-2026",
    note="of the layer's update",
    laws=(
        "(part = 'head') = (head is not null)",
        "(part = 'token_type') = (token_type is not null)",
        "abs(share) <= length * (1 + 1e-4) + 1e-6",
    ),
    values={
        "share": number(
            "⟨part, u⟩ / ‖u‖² of the update u = output − input, mean over tokens; below 0 where "
            "the part is against the update",
            "share",
        ),
        "length": length("‖part‖ / ‖u‖, mean over tokens", "share"),
        "norm": length(
            "‖Σ α f(x)‖ before any normalisation, mean over tokens", null="where it is no attention"
        ),
    },
)
CONTRIBUTION = means(
    "contribution",
    of=SEQUENCE_CONTRIBUTION,
    laws=SEQUENCE_CONTRIBUTION.laws[:2],
)
_OF_EFFECT = (
    named(
        "what stands in place: the mean of a head (or of f(x)) over texts of the corpus, by the "
        "type of the token, or zero",
        FILLINGS,
        "filling",
    ),
    pooled(LAYER, "for all layers at once"),
    pooled(HEAD, "for all heads of the layer"),
    pooled(
        replace(TOKEN_TYPE, meaning="type of the tokens whose f(x) is replaced in all heads"),
        "where heads are replaced, whole",
    ),
)
SEQUENCE_HEAD_EFFECT = Table(
    "sequence_head_effect",
    key=(*_OF_EFFECT, SEQ),
    source="michel-2019",
    note="of texts that are run again; a head, all heads of a layer, or f(x) of the tokens of a "
    "type, in a layer or in all, is replaced",
    laws=("layer is not null or token_type is not null", "head is null or token_type is null"),
    depends_on=(Setting.RUN_AGAIN,),
    version=2,
    values={
        "cosine_distance": share(
            "1 − cos(h, h′) of the last hidden states, mean over tokens",
            least=-1e-6,
            most=2 + 1e-6,
        ),
        "length": length("‖h′ − h‖ / ‖h‖ of the last hidden states, mean over tokens", "share"),
        "divergence": nats(
            "KL(p‖p′) of what the model predicts, mean over the tokens that are asked",
            least=-1e-4,
            null="where it predicts nothing",
        ),
        "loss": nats(
            "rise of the cross-entropy, mean over the tokens that are asked",
            null="where what stands there is not known",
        ),
    },
)
HEAD_EFFECT = means(
    "head_effect",
    of=SEQUENCE_HEAD_EFFECT,
    depends_on=(),
)
SINKS = tuple(name for name in TOKEN_TYPES if name not in ("comma_period", "other"))
MEASURES_OF_HEADS = f"""
    with weights as (
        select layer, head,
            sum(attention) filter (token_type not in ({quoted(*SINKS)})) as weight,
            sum(weighted_norm) as weighted_norm
        from token_type_mixing where head is not null group by layer, head
    ),
    parts as (
        pivot (select layer, head, quantity, mean from contribution where head is not null)
        on quantity in ('norm', 'share', 'length') using any_value(mean) group by layer, head
    ),
    slopes as (
        select layer, head, sum(importance) as gradient
        from gradient_importance where head is not null group by layer, head
    )
    select layer, head, {", ".join(f"{name}::double as {name}" for name in MEASURES)}
    from weights join parts using (layer, head)
    left join slopes using (layer, head)
"""
"""Every head with all of `MEASURES`, NULL where the file lacks one, as SQL."""
_EFFECTS = """
    select filling::varchar as filling, quantity::varchar as quantity, layer, head, mean
    from head_effect where head is not null
"""


def _predictions(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return rank correlations over heads, which are units of their own and redrawn by layer."""
    heads, effects = store.sql(MEASURES_OF_HEADS).df(), store.sql(_EFFECTS).df()
    if effects.empty:
        return table.rows([])
    layers = sorted(heads["layer"].unique())
    draws = Draws.of((len(layers), heads["head"].nunique()), seed=context.seed)

    def of_heads(frame: pd.DataFrame, column: str) -> OfHeads:
        return OfHeads(frame.pivot(index="layer", columns="head", values=column).to_numpy(), draws)

    measures = {name: of_heads(heads, name) for name in MEASURES if heads[name].notna().all()}
    frames = []
    for (filling, quantity), of_kind in effects.groupby(["filling", "quantity"]):
        effect = of_heads(of_kind, "mean")
        found = {name: rank_correlations(of, effect) for name, of in measures.items()}
        for name, correlations in {**found, RANDOM: chance(effect)}.items():
            n_heads, n_all = effect.values.shape[1], effect.values.size
            frame = pd.DataFrame(
                {
                    "level": ["layer"] * len(layers) + [*LEVELS[1:]],
                    "layer": pd.array([*layers, None, None, None], dtype="UInt8"),
                    "spearman": correlations.spearman,
                    "low": correlations.low,
                    "high": correlations.high,
                    "n": [n_heads] * len(layers) + [n_all, len(layers), n_all],
                }
            )
            frame = frame.assign(filling=filling, quantity=quantity, measure=name)
            frames.append(frame[np.isfinite(frame["spearman"])])
    return table.rows(frames)


EFFECT_PREDICTION = Table(
    "effect_prediction",
    key=(
        named(f"what stands in place of a head: {' or '.join(FILLINGS)}", FILLINGS, "filling"),
        named(f"quantity of the effect: {', '.join(CHANGES)}", CHANGES, "quantity"),
        named(
            "weight (mean attention weight on tokens that are not special, registers or the "
            "first), weighted_norm (Σ‖αf(x)‖), norm (‖Σαf(x)‖), share and length (of what it "
            "brings in the layer's update, signed and not), gradient (|∂L/∂α| summed over "
            "tokens), and random (the effect of a random head of the layer)",
            (*MEASURES, RANDOM),
            "measure",
        ),
        named(
            "heads of one layer; the mean of these over layers (within); layers by the mean of "
            "their heads (between); or all heads",
            LEVELS,
            "level",
        ),
        pooled(LAYER, "where the level has no single layer"),
    ),
    source="michel-2019",
    laws=("(level = 'layer') = (layer is not null)",),
    requires=("head_effect", "contribution", "token_type_mixing", "gradient_importance"),
    made_by=_predictions,
    version=2,
    values={
        "spearman": correlation("Spearman's ρ of measure and effect over heads or layers"),
        **interval("ρ"),
        "n": count("heads or layers that are ranked", "heads or layers"),
    },
)

"""What has come together in a token by vectors that are followed, beside maps that are multiplied
(after Modarressi et al. 2023)."""

import pandas as pd
import streamlit as st

from analysis.tables.mixing import vector_agreement, vector_completeness, vector_rollout
from analysis.tables.mixing.sequence_rollout import ATTENTION_ROLLOUT
from analysis.tables.mixing.sequence_vector_rollout import VECTORS
from pages.layer_mixing.origins import by_distance, by_type, own_place
from pages.ui.about import about
from pages.ui.charts.colours import SCOPE_COLOURS
from pages.ui.charts.standard import lines
from pages.ui.choices.pick import pick
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, layer_order, require
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import percent, scientific, signed
from pages.ui.words.say import say

_ROLLOUT_COLOUR = "#a3872c"


def show() -> None:
    require(vector_rollout.TABLE, vector_agreement.TABLE, vector_completeness.TABLE)
    st.header(say("layer_mixing.vectors.title"), anchor=False)
    sums = ask(vector_completeness.by_layer)
    st.markdown(say("layer_mixing.vectors.meaning", n=int(sums["n_sequences"].max())))
    scope = pick(
        "lm_vectors",
        say("layer_mixing.vectors.beside"),
        (*layer_order().scopes, ATTENTION_ROLLOUT),
        default=layer_order().whole,
        format=scope_name,
    )
    scopes = list(dict.fromkeys([VECTORS, layer_order().whole, ATTENTION_ROLLOUT, scope]))
    shares = ask(vector_rollout.shares, scopes=scopes)
    distances, types = (shares[shares[each].notna()] for each in ("distance", "token_type"))
    distances = distances.astype({"distance": int})
    st.markdown(f"{_finding(distances, scope)} {_class_token(types)} {_sums(sums)}")
    _agreement(ask(vector_agreement.by_layer))
    for kind, draw, frame in (("distance", by_distance, distances), ("type", by_type, types)):
        draw(
            frame[frame["scope"].isin([scope, VECTORS])],
            (scope, VECTORS),
            key=f"lm_vectors_{kind}_{scope}",
            caption=say(f"layer_mixing.vectors.caption_{kind}", scope=scope_name(scope)),
        )
    _table(own_place(distances, scope), own_place(distances, VECTORS), scope)
    about(vector_rollout.TABLE, vector_agreement.TABLE, vector_completeness.TABLE)


def _finding(distances: pd.DataFrame, scope: str) -> str:
    """What is left of a token's own place after the last layer, by three ways of asking."""
    last = distances[distances["layer"] == distances["layer"].max()]
    found = {each: own_place(last, each).iloc[0] for each in (VECTORS, ATTENTION_ROLLOUT, scope)}
    compared = found[scope]
    low, high = compared["difference_low"], compared["difference_high"]
    told = say(
        "layer_mixing.vectors.finding",
        layer=int(compared["layer"]),
        vectors=_share(found[VECTORS]),
        scope=scope_name(scope),
        rolled=_share(compared),
        difference=_points(compared["difference"]),
        interval=_interval(_points(low), _points(high)) if low == low else "",
    )
    clear = "clear" if low > 0 or high < 0 else "unclear" if low == low else "unknown"
    also = "" if scope == ATTENTION_ROLLOUT else _also(found[ATTENTION_ROLLOUT])
    return f"{told} {say(f'layer_mixing.vectors.{clear}') if clear != 'unknown' else ''} {also}"


def _also(rolled: pd.Series) -> str:
    return say("layer_mixing.vectors.finding_attention", weights=_share(rolled))


def _class_token(types: pd.DataFrame) -> str:
    """What comes from [CLS] after the last layer, by vectors and by both rollouts."""
    last = types[(types["layer"] == types["layer"].max()) & types["token_type"].eq("cls")]
    found = {row["scope"]: _share(row) for _, row in last.iterrows()}
    if not found:
        return ""
    whole = layer_order().whole
    return say(
        "layer_mixing.vectors.finding_cls",
        vectors=found[VECTORS],
        scope=scope_name(whole),
        rolled=found[whole],
        weights=found[ATTENTION_ROLLOUT],
    )


def _sums(sums: pd.DataFrame) -> str:
    """Whether the vectors add up, and what of them is of no token."""
    worst = sums.nlargest(1, "error").iloc[0]
    return say(
        "layer_mixing.vectors.sums",
        worst=scientific(worst["error"]),
        layer=int(worst["layer"]),
        bias=percent(sums["bias"].iloc[-1]),
        last=int(sums["layer"].iloc[-1]),
    )


def _share(row: pd.Series) -> str:
    """A share with its interval, if it has one."""
    low, high = row["low"], row["high"]
    return f"{_tenths(row['mean'])} %" + (
        _interval(_tenths(low), _tenths(high)) if low == low else ""
    )


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "−")


def _interval(low: str, high: str) -> str:
    return f" [{low}, {high}]"


def _agreement(frame: pd.DataFrame) -> None:
    """How well each rollout ranks what vectors rank, layer by layer."""
    layers, means = frame[frame["layer"].notna()], frame[frame["layer"].isna()]
    mean = means.set_index("scope")["spearman"]
    order = (*layer_order().scopes, ATTENTION_ROLLOUT)
    if mean.empty:
        st.info(say("layer_mixing.nothing_varies"))
        return
    question = say("layer_mixing.vectors.question")
    colours = {**SCOPE_COLOURS, ATTENTION_ROLLOUT: _ROLLOUT_COLOUR}
    chart = lines(
        layers.assign(layer=layers["layer"].astype(int), name=layers["scope"].map(scope_name)),
        x="layer",
        y="spearman",
        colour="name",
        low="low",
        high="high",
        x_title=say("axis.layer"),
        y_title=say("layer_mixing.rho"),
        colour_title=" ",
        colours={scope_name(each): colours[each] for each in order},
        height=360,
    )
    best = str(mean.idxmax())
    figure(
        chart,
        key="lm_vectors_agreement",
        question=question,
        caption=say(
            "layer_mixing.vectors.caption",
            best=scope_name(best),
            of_best=signed(mean[best]),
            weights=signed(mean.get(ATTENTION_ROLLOUT, float("nan"))),
        ),
        frame=frame,
        alt=question,
    )


def _table(rolled: pd.DataFrame, vectors: pd.DataFrame, scope: str) -> None:
    """What is left of a token's own place by both, and how far they are apart."""
    frame = rolled.merge(vectors[["layer", "mean"]], on="layer", suffixes=("", "_vectors"))
    number = st.column_config.NumberColumn
    table(
        frame.sort_values("layer"),
        key=f"lm_vectors_table_{scope}",
        question=say("layer_mixing.rollout.table"),
        caption=say("layer_mixing.vectors.table_caption", scope=scope_name(scope)),
        columns={
            "layer": number(say("axis.layer"), format="%d"),
            "mean_vectors": number(scope_name(VECTORS), format="%.4f"),
            "mean": number(scope_name(scope), format="%.4f"),
            "difference": number(say("layer_mixing.vectors.difference"), format="%.4f"),
            "difference_low": number(say("layer_mixing.low"), format="%.4f"),
            "difference_high": number(say("layer_mixing.high"), format="%.4f"),
        },
    )

"""Origins of a token by vectors propagated through the layers, compared with rollouts.

After Modarressi et al. 2023.
"""

from functools import partial

import pandas as pd

from analysis.statistics.mixing import vector_rollout
from analysis.statistics.mixing.rollout import ATTENTION_ROLLOUT
from analysis.statistics.mixing.vector_rollout import VECTORS
from pages.layer_mixing.rollout import origins, own_place
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.store.missing import show_more_checks
from pages.ui.view import View
from pages.ui.words.interval import beside_0, with_interval
from pages.ui.words.names import scope_name, token_type_name
from pages.ui.words.numbers import percent, points, scientific, signed

_OPENING = ("cls", "bos", "first")


@section("vectors", vector_rollout.TABLE, vector_rollout.AGREEMENT, vector_rollout.COMPLETENESS)
def vectors(view: View) -> None:
    whole, sums = view.store.layer_order.whole, view.ask(vector_rollout.errors)
    maps = (*view.store.layer_order.scopes, ATTENTION_ROLLOUT)
    scope = view.pick("vectors", maps, default=whole, of="scope")
    scopes = list(dict.fromkeys([VECTORS, whole, ATTENTION_ROLLOUT, scope]))
    shares = view.ask(vector_rollout.shares, scopes=scopes)
    distances, types = (shares.dropna(subset=column) for column in ("distance", "token_type"))
    distances = distances.astype({"distance": int})
    sentences = (_own(view, distances, scope), _opening(view, types), _sums(view, sums))
    view.finding(" ".join(sentences))
    _agreement(view, view.ask(vector_rollout.agreement), n=int(sums["n_sequences"].max()))
    origins(view, distances, types, (scope, VECTORS), scope)
    _table(view, distances, scope)
    view.draw(show_more_checks, view.store, vector_rollout.TABLE, vector_rollout.AGREEMENT)


def _own(view: View, distances: pd.DataFrame, scope: str) -> str:
    """Compare the share of a token's own position at the end, by vectors and by two rollouts."""
    last = distances[distances["layer"] == distances["layer"].max()]
    shares = {
        of_scope: own_place(last, of_scope).iloc[0]
        for of_scope in (VECTORS, ATTENTION_ROLLOUT, scope)
    }
    row = shares[scope]
    low, high = row["difference_low"], row["difference_high"]
    sentences = [
        view.say(
            "finding",
            layer=int(row["layer"]),
            vectors=_share(shares[VECTORS]),
            scope=scope_name(scope),
            rolled=_share(row),
            difference=with_interval(row["difference"], low, high, partial(points, digits=1)),
        )
    ]
    sentences.append(beside_0(low, high))
    if scope != ATTENTION_ROLLOUT:
        sentences.append(view.say("finding_attention", weights=_share(shares[ATTENTION_ROLLOUT])))
    return " ".join(sentences)


def _opening(view: View, types: pd.DataFrame) -> str:
    """Report the share of the first token after the last layer, by vectors and by both rollouts.

    Empty unless the token that opens a sequence has a type of its own.
    """
    last = types[types["layer"] == types["layer"].max()]
    kind = next((kind for kind in _OPENING if last["token_type"].eq(kind).any()), None)
    if kind is None:
        return ""
    of_kind = last[last["token_type"] == kind]
    shares = {row["scope"]: _share(row) for _, row in of_kind.iterrows()}
    whole = view.store.layer_order.whole
    return view.say(
        "finding_opening",
        type=token_type_name(kind),
        vectors=shares[VECTORS],
        scope=scope_name(whole),
        rolled=shares[whole],
        weights=shares[ATTENTION_ROLLOUT],
    )


def _sums(view: View, sums: pd.DataFrame) -> str:
    """Report the largest error of the sum of vectors, and the share due to biases only."""
    worst, last = sums.nlargest(1, "error").iloc[0], sums.iloc[-1]
    return view.say(
        "sums",
        worst=scientific(worst["error"]),
        layer=int(worst["layer"]),
        bias=percent(last["bias"]),
        last=int(last["layer"]),
    )


def _share(row: pd.Series) -> str:
    """Format a share with its interval, if it has one."""
    ends = (row["mean"], row["low"], row["high"])
    return with_interval(*ends, lambda share: f"{100 * share:.1f}", unit="%")


def _agreement(view: View, frame: pd.DataFrame, n: int) -> None:
    """Draw the rank correlation of each rollout with the vectors, layer by layer."""
    mean = frame[frame["layer"].isna()].set_index("scope")["spearman"]
    if mean.empty:
        return view.nothing("nothing_varies")
    layers = frame.dropna(subset="layer").astype({"layer": int})
    chart = lines(layers, y="spearman", colour="scope", height=360)
    best = str(mean.idxmax())
    view.figure(
        "agreement",
        frame,
        chart,
        n=n,
        best=scope_name(best),
        of_best=signed(mean[best]),
        weights=signed(mean.get(ATTENTION_ROLLOUT, float("nan"))),
    )


def _table(view: View, distances: pd.DataFrame, scope: str) -> None:
    """Tabulate the share of a token's own position, by vectors and by rollout."""
    by_vectors, by_rollout = (
        own_place(distances, of_scope).rename(columns={"mean": name})
        for of_scope, name in ((VECTORS, "by_vectors"), (scope, "by_rollout"))
    )
    frame = by_rollout.merge(by_vectors[["layer", "by_vectors"]], on="layer")
    numbers = ("by_vectors", "by_rollout", "difference", "difference_low", "difference_high")
    columns = {"layer": None} | dict.fromkeys(numbers, "%.4f")
    view.table("own_place", frame.sort_values("layer"), columns, scope=scope_name(scope))

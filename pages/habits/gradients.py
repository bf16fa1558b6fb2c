"""Gradient of the loss with respect to attention, by type of the token attended to (figure 3)."""

import pandas as pd

from analysis.habits import TOKEN_TYPES
from analysis.statistics.heads import gradient_importance, head_pattern
from pages.habits.layer_chart import draw_layers
from pages.ui.finding import Finding, Findings, compared, over_layers, rows_of, share_of
from pages.ui.head.habits import importance_shares
from pages.ui.page import section
from pages.ui.store.absences import FIRST, types_apart
from pages.ui.store.commands import run_command
from pages.ui.store.folder import folder
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import verdict
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import ABSENT, percent
from pages.ui.words.quantities import in_type_order
from pages.ui.words.say import plain, say

_MASKED = "masked_lm"
_RATE = 0.15
_STAND_IN = "pooled_length"


def _summary(inquiry: Inquiry) -> Findings:
    """Share of |∂L/∂α| of the token type with most attention."""
    if not inquiry.store.holds(gradient_importance.TABLE):
        return
    frame = _importance(inquiry)
    found = _weight_and_importance(inquiry, frame[frame["head"].isna()])
    if found is None:
        return
    (most, evidence), objective = found, str(frame["objective"].iloc[0])
    share, weight = evidence["value"].map(percent)
    kind = "_stand_in" if objective == _STAND_IN else ""
    yield Finding(
        say(f"finding.label_gradients{kind}", token_type=token_type_name(most)),
        f"{weight} → {share}",
        f"{_importance_sentence(inquiry, most, evidence)} {say(f'finding.objective_{objective}')}",
        evidence,
        baseline=say("finding.of_weight"),
    )


@section(
    "gradients",
    also=(gradient_importance.TABLE, gradient_importance.PER_SEQUENCE),
    findings=_summary,
)
def gradients(view: View) -> None:
    store = view.store
    is_unmasked = store.facts.get("gradient_objective") == _MASKED and not store.run["mask_rate"]
    if is_unmasked and not store.holds(gradient_importance.TABLE):
        return _offer_masking(view)
    view.require(gradient_importance.TABLE)
    frame = in_type_order(_importance(view))
    of_heads = frame["head"].notna()
    means, heads = frame[~of_heads], frame[of_heads].astype({"head": "int64"})
    objective = frame["objective"].iloc[0]
    view.note(view.say(f"objective_{objective}"))
    view.finding(_finding(view, means))
    scale = view.pick("scale", ["linear", "log"])
    draw_layers(
        view,
        "question",
        means,
        heads,
        y_title=view.say("axis", loss=view.say(f"loss_{objective}")),
        format=".2e",
        state=scale,
        colour="token_type",
        y_format=".2~g",
        y_scale=scale,
    )


def _offer_masking(view: View) -> None:
    """Explain that a masked-language loss needs masked tokens, with a command that masks some."""
    store, missing = view.store, [gradient_importance.TABLE.name]
    view.nothing("unmasked", name=plain(store.name))
    run = store.run.copy()
    run["mask_rate"] = _RATE
    path = folder() / f"{store.label}-masked.duckdb"
    command = run_command(run, store.facts, path, statistics=missing)
    view.write("code", command, language="bash", wrap_lines=True)


def _finding(view: View, means: pd.DataFrame) -> str:
    """Give the importance by token type and the layers with most and least of it."""
    shares = [
        f"{token_type_name(str(token_type))} {percent(share)}"
        for token_type, share in importance_shares(means).items()
    ]
    total = means.groupby("layer")["mean"].sum()
    finding = view.say(
        "finding",
        shares=say("list.comma").join(shares),
        most=total.idxmax(),
        least=total.idxmin(),
        times=f"{total.max() / total.min():.1f}" if total.min() else ABSENT,
    )
    found = _weight_and_importance(view, means)
    if found is None:
        return finding
    side = compared(found[1], say("finding.of_weight"))
    return f"{finding} {_importance_sentence(view, *found)} {verdict(side)}"


def _importance(inquiry: Inquiry) -> pd.DataFrame:
    return inquiry.ask(gradient_importance.by_layer).rename(columns={"importance": "mean"})


def _weight_and_importance(
    inquiry: Inquiry, means: pd.DataFrame
) -> tuple[str, pd.DataFrame] | None:
    """Token type with most attention, with its share of |∂L/∂α| compared with that of the weight.

    Both are means over layers, with evidence. None if the file lacks the shares of attention.

    Args:
        means: rows layer, token_type, mean, low, high of the importance, means over heads.
    """
    if not inquiry.store.holds(head_pattern.TABLE):
        return None
    patterns = inquiry.ask(head_pattern.by_layer)
    weights = patterns[patterns["quantity"].isin(TOKEN_TYPES)].groupby("quantity")["mean"].mean()
    if weights.empty:
        return None
    most = str(weights.idxmax())
    kinds = ("bos", FIRST) if most == FIRST else (most,)  # the habit is of both
    layers = (part for _, part in means.groupby("layer"))
    importance = over_layers(
        pd.DataFrame([share_of(part, part["token_type"].isin(kinds)) for part in layers])
    )
    weight = over_layers(patterns[patterns["quantity"] == most])
    rows = [(say("finding.of_importance"), *importance), (say("finding.of_weight"), *weight)]
    return next((kind for kind in kinds if kind in set(means["token_type"])), most), rows_of(rows)


def _importance_sentence(inquiry: Inquiry, most: str, evidence: pd.DataFrame) -> str:
    """Sentence on the result of `_weight_and_importance`."""
    share, weight = evidence["value"].map(percent)
    return say(
        "finding.gradients",
        types=types_apart(inquiry),
        token_type=token_type_name(most),
        weight=weight,
        share=share,
    )

"""Gradient of the loss with respect to attention, by type of the token attended to (figure 3)."""

import pandas as pd

from analysis.statistics.heads import gradient_importance
from pages.head_habits.findings import importance_sentence, weight_and_importance
from pages.head_habits.layer_chart import draw_layers
from pages.ui.finding import compared
from pages.ui.head.habits import importance_shares
from pages.ui.page import section
from pages.ui.store.chosen import ask, open_store
from pages.ui.store.commands import run_command
from pages.ui.store.folder import folder
from pages.ui.store.missing import require
from pages.ui.view import View
from pages.ui.words.interval import verdict
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import ABSENT, percent
from pages.ui.words.quantities import in_type_order
from pages.ui.words.say import plain, say

_MASKED = "masked_lm"
_RATE = 0.15


@section("gradients", also=(gradient_importance.TABLE, gradient_importance.PER_SEQUENCE))
def gradients(view: View) -> None:
    store = open_store()
    is_unmasked = store.facts.get("gradient_objective") == _MASKED and not store.run["mask_rate"]
    if is_unmasked and not store.holds(gradient_importance.TABLE):
        return _offer_masking(view)
    require(gradient_importance.TABLE)
    frame = in_type_order(ask(gradient_importance.by_layer).rename(columns={"importance": "mean"}))
    of_heads = frame["head"].notna()
    means, heads = frame[~of_heads], frame[of_heads].astype({"head": "int64"})
    view.note(view.say(f"objective_{frame['objective'].iloc[0]}"))
    view.finding(_finding(view, means))
    scale = view.pick("scale", ["linear", "log"])
    draw_layers(
        view,
        "question",
        means,
        heads,
        y_title=view.say("axis"),
        format=".2e",
        state=scale,
        colour="token_type",
        y_format=".2~g",
        y_scale=scale,
    )


def _offer_masking(view: View) -> None:
    """Explain that a masked-language loss needs masked tokens, with a command that masks some."""
    store, missing = open_store(), [gradient_importance.TABLE.name]
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
    found = weight_and_importance(means)
    if found is None:
        return finding
    side = compared(found[1], say("finding.of_weight"))
    return f"{finding} {importance_sentence(*found)} {verdict(side)}"

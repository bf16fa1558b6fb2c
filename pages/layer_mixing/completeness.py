"""Check that the vectors whose norms are stored sum to the model's own output."""

from analysis.error_limits import LIMITS
from analysis.statistics.corpus import sequence_texts
from analysis.statistics.mixing import completeness as largest_errors
from pages.ui.charts.error_chart import error_chart, worst_errors
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.numbers import scientific

_WHOLE = 8  # most rows shown without scrolling


@section("completeness", largest_errors.TABLE, largest_errors.WHOLE_LAYERS)
def completeness(view: View) -> None:
    errors = worst_errors(view.ask(largest_errors.by_layer))
    worst, limit = errors.iloc[0], LIMITS[view.store.run["dtype"]]
    holds = worst["error"] <= limit
    view.write(
        "success" if holds else "warning",
        view.say(
            "yes" if holds else "no",
            worst=scientific(worst["error"]),
            limit=scientific(limit),
            percentile=scientific(errors["percentile_99"].max(skipna=False)),
            **worst[["layer", "part", "seq", "pos"]],
        ),
    )
    view.figure("question", errors, error_chart(errors, limit), limit=scientific(limit))
    texts = view.ask(sequence_texts, sequences=sorted({int(seq) for seq in errors["seq"]}))
    columns = dict.fromkeys(("layer", "part", "error", "percentile_99", "seq", "pos"))
    columns |= {"error": "%.1e", "percentile_99": "%.1e", "n_tokens": None, "text": None}
    view.table(
        "table",
        errors.merge(texts, on="seq", how="left"),
        columns,
        options={"height": 318 if len(errors) > _WHOLE else "content"},
    )

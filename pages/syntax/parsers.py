"""Accuracy of dependency parsers on attention alone (Clark et al. 2019, table 3)."""

import pandas as pd

from analysis.published.heads import RANDOM_INIT, numbers
from analysis.statistics import annotation
from analysis.statistics.probing import dependency_accuracy, parser_accuracy
from analysis.statistics.probing.parser_accuracy import METHODS
from analysis.statistics.probing.parser_input import INPUT_EMBEDDING
from pages.syntax.row_charts import CONTROL_COLOUR, HEAD_COLOUR, OFFSET_COLOUR, parser_rows
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.store.chosen import other_stores
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import plain, say
from pages.ui.words.scope import say_here

_COLOURS = {"attention": HEAD_COLOUR, "baseline": OFFSET_COLOUR, "control": CONTROL_COLOUR}
_KINDS = {
    **dict.fromkeys(("attention_words", "attention"), "attention"),
    **dict.fromkeys(("distances_words", "right_branching"), "baseline"),
}
"""Kinds of parsers that are no controls."""
_OF_OVERVIEW = (*_KINDS, "attention_words_shuffled")
_WITHOUT_HEADS = "distances_words"
_SHARES, _COUNTS = ("mean", "std", "min", "max"), ("n", "n_train", "n_test")
PREFIX = "untrained_"
_OF_UNTRAINED = ("attention_words", "attention")
_SAME = (
    *("family", "n_layers", "n_heads", "hidden_size"),
    *("corpus_sha256", "n_sequences", "n_tokens", "mask_rate", "seed"),
)
"""Columns that agree between runs with the same words and splits."""


def _too_few(inquiry: Inquiry) -> str:
    """Reason why a file with trees has no parsers although they were requested."""
    store = inquiry.store
    no_trees = store.found_nothing(dependency_accuracy.TABLE)
    few = store.found_nothing(parser_accuracy.TABLE) and store.holds(annotation.WORDS)
    return say_here("too_few", name=plain(store.name)) if few and not no_trees else ""


def _summary(inquiry: Inquiry) -> Findings:
    """Compare the accuracy of parsers on all heads with parsers that need no heads.

    Values are means over seeds.
    """
    splits = inquiry.ask(parser_accuracy.accuracies).pivot(
        index="seed", columns="method", values="uas"
    )
    if not set(_OF_OVERVIEW) <= set(splits):
        return
    means, ours = splits[list(_OF_OVERVIEW)].mean(), splits[_OF_OVERVIEW[0]]
    shares = means.map(percent)
    names = {method: say(f"syntax.parsers.method_{method}") for method in _OF_OVERVIEW}
    yield Finding(
        say("finding.label_parsers"),
        shares.iloc[0],
        say("finding.parsers", **shares),
        rows_of((name, means[method]) for method, name in names.items()),
        known_by=say(
            "finding.parsers_known_by",
            low=percent(ours.min()),
            high=percent(ours.max()),
            n=int((ours > splits[_WITHOUT_HEADS]).sum()),
            of=len(splits),
            baseline=names[_WITHOUT_HEADS],
        ),
    )


@section("parsers", parser_accuracy.TABLE, lacking=_too_few, findings=_summary)
def parsers(view: View) -> None:
    trained, untrained = view.ask(parser_accuracy.accuracies), _untrained(view)
    seeds = _named(view, pd.concat([trained, *untrained], ignore_index=True))
    means = _spread(seeds)
    spread = means.set_index("method")
    sentences = (_untrained_finding(view, rows) for rows in untrained)
    view.finding(" ".join((_finding(view, spread), *sentences)))
    view.figure(
        "chart",
        seeds.merge(means[["method_named", "mean"]], on="method_named").drop(
            columns=["method_named", "kind", "seed_of_weights"], errors="ignore"
        ),
        parser_rows(seeds, means, {view.say(f"kind_{kind}"): _COLOURS[kind] for kind in _COLOURS}),
        **means[list(_COUNTS)].mean().map(count),
    )
    _methods(view, trained)
    formats = dict.fromkeys(("method", *_SHARES, "n_seeds", *_COUNTS, "vectors"))
    formats |= dict.fromkeys(_SHARES, "percent") | dict.fromkeys(_COUNTS, "%.0f")
    view.table("table", means, formats, options={"height": "content"})
    ours = spread[["mean", "min", "max"]].T
    if view.store.random_weights is not None:
        name = view.say(f"method_{RANDOM_INIT.method}")
        show_published(view, "untrained", Row(name, RANDOM_INIT, *ours["attention_words"]))
    rows = [
        Row(view.say(f"method_{number.method}"), number, *ours.get(number.method, (None,)))
        for number in numbers("parser_accuracy")
    ]
    show_published(view, "parsers", *rows)


def _named(view: View, accuracies: pd.DataFrame) -> pd.DataFrame:
    """Add display names of methods, with the file for those of other files, and their kind."""
    files = accuracies["file"] if "file" in accuracies else pd.Series(index=accuracies.index)
    places = zip(accuracies["method"], files, strict=True)
    return accuracies.assign(
        method_named=[view.say(f"method_{method}", file=file) for method, file in places],
        kind=[view.say(f"kind_{_KINDS.get(method, 'control')}") for method in accuracies["method"]],
    )


def _spread(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of every method over its seeds.

    Returns:
        method, method_named, kind, mean, std (missing of one seed), min, max, n_seeds, n,
        n_train, n_test, vectors.
    """
    grouped = accuracies.groupby(["method", "method_named", "kind"], sort=False)
    return grouped.agg(
        **{share: ("uas", share) for share in _SHARES},
        n_seeds=("seed", "nunique"),
        **{name: (name, "mean") for name in _COUNTS},
        vectors=("vectors", "first"),
    ).reset_index()


def _finding(view: View, spread: pd.DataFrame) -> str:
    """Compare parsers on attention alone with those that need no model."""
    sentence = view.say(
        "finding",
        n=int(spread["n_seeds"]["attention"]),
        low=percent(spread["min"]["attention"]),
        high=percent(spread["max"]["attention"]),
        **{f"{method}_uas": percent(spread["mean"][method]) for method in METHODS},
    )
    better = spread["min"]["attention"] > spread["max"]["distances_words"]
    worse = spread["max"]["attention"] < spread["min"]["distances_words"]
    verdict = "better" if better else "worse" if worse else "alike"
    return f"{sentence} {view.say(f'verdict_{verdict}')}"


def _methods(view: View, accuracies: pd.DataFrame) -> None:
    """Explain the input of each parser in one line, and the source of its word vectors."""
    lines = [
        f"- **{view.say(f'method_{method}')}**: {view.say(f'meaning_{method}')}"
        for method in METHODS
    ]
    view.write("markdown", "\n".join(lines))
    for row in accuracies.dropna(subset="vectors").head(1).to_dict("records"):
        of_model = "input" if view.store.random_weights is None else "random"
        kind = of_model if row["vectors"] == INPUT_EMBEDDING else "file"
        share = percent(row["known_share"])
        view.write("caption", view.say(f"vectors_{kind}", name=plain(row["vectors"]), share=share))


def _untrained(view: View) -> list[pd.DataFrame]:
    """Accuracies of parsers on untrained attention, file by file.

    Empty if the open file is untrained itself.

    Returns:
        As `parser_accuracy.accuracies`, with the file and its seed_of_weights; the names of methods
        begin with `PREFIX`.
    """
    opened = view.store
    return [
        view.asked.ask(store, parser_accuracy.accuracies)
        .query("method in @_OF_UNTRAINED")
        .assign(method=lambda rows: PREFIX + rows["method"])
        .assign(file=store.name, seed_of_weights=store.random_weights)
        for store in (other_stores(opened) if opened.random_weights is None else ())
        if store.random_weights is not None
        and store.holds(parser_accuracy.TABLE)
        and _alike(opened, store)
    ]


def _alike(first: Store, other: Store) -> bool:
    given = (store.facts.get("segments_given") for store in (first, other))
    return len(set(given)) == 1 and all(first.run[name] == other.run[name] for name in _SAME)


def _untrained_finding(view: View, rows: pd.DataFrame) -> str:
    """Sentence on one file of an untrained model."""
    means = rows.groupby("method")["uas"].mean()
    shares = {method: percent(means[PREFIX + method]) for method in _OF_UNTRAINED}
    name, seed = rows[["file", "seed_of_weights"]].iloc[0]
    return view.say("finding_untrained", file=plain(name), seed=seed, **shares)

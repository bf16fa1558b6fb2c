"""Parsers made of attention, beside those of untrained models in other files and of the paper."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.published.heads import RANDOM_INIT, numbers
from analysis.statistics.corpus import WORDS
from analysis.statistics.probing.accuracy import DEPENDENCY_ACCURACY
from analysis.statistics.probing.parsers import METHODS, PARSER_ACCURACY
from analysis.statistics.question import placed
from pages.charts.colours import SERIES_COLOURS, SYNTAX_COLOURS
from pages.kit.section import Choices, query
from pages.services.chosen import other_stores
from pages.services.inquiry import Asked, Inquiry
from pages.services.open_file import Store
from pages.words.say import plain
from pages.words.scope import say_here

_ACCURACIES = f"from parser_accuracy_setting order by {placed(METHODS, 'method')}, seed"
_AGAINST = {
    "attention": ("distances_words", "attention_shuffled"),
    "attention_words": ("distances_words", "attention_words_shuffled"),
}
"""Parsers that see attention, and those that they are held against."""
_KINDS = dict.fromkeys(_AGAINST, "attention")
_KINDS |= dict.fromkeys(("distances_words", "right_branching"), "baseline")
_PREFIX = "untrained_"
COLOURS = dict(
    zip(("attention", "baseline", "control"), (*SYNTAX_COLOURS[:2], SERIES_COLOURS[4]), strict=True)
)
_SHARES = {"mean": "mean", "std": "std", "low": "min", "high": "max"}
_COUNTS = ("n", "n_train", "n_test")
_FOUND = ("name", "file", "value", "low", "high", "splits")
COLUMNS = {"method": None, **dict.fromkeys(_SHARES, "percent"), "n_seeds": None, "sees": None}
COLUMNS |= dict.fromkeys(_COUNTS, "%.0f") | {"vectors": None, "known_share": "percent"}
_SAME = (
    *("family", "n_layers", "n_heads", "hidden_size"),
    *("corpus_sha256", "n_sequences", "n_tokens", "mask_rate", "seed"),
)
"""Columns that agree between runs with the same words and splits."""


def too_few(inquiry: Inquiry) -> str:
    """Reason why a file with trees has no parsers although they were requested."""
    store = inquiry.store
    no_trees = store.found_nothing(DEPENDENCY_ACCURACY)
    few = store.found_nothing(PARSER_ACCURACY) and store.holds(WORDS)
    return say_here("too_few", name=plain(store.name)) if few and not no_trees else ""


def is_alike(first: Store, other: Store) -> bool:
    """Return True if two runs have models of one shape, and the same words and splits."""
    given = (store.facts.get("segments_given") for store in (first, other))
    return len(set(given)) == 1 and all(first.run[name] == other.run[name] for name in _SAME)


def means(inquiry: Inquiry, _: Choices) -> pd.DataFrame:
    """Accuracy of every parser over its splits: mean, and low and high for all of them.

    Parsers on the attention of untrained models come from other files of the folder; none if the
    open file is untrained itself.
    """
    opened = inquiry.store
    untrained = [
        store
        for store in (other_stores(opened) if opened.random_weights is None else ())
        if store.random_weights is not None
        and store.holds(PARSER_ACCURACY)
        and is_alike(opened, store)
    ]
    frame = inquiry.ask_together(_over_splits, opened, *untrained)
    bare = frame["method"].str.removeprefix(_PREFIX)
    places = zip(frame["method"], frame["file"], strict=True)
    return frame.assign(
        method_named=[say_here(f"method_{method}", file=file) for method, file in places],
        kind=[_KINDS.get(method, "control") for method in frame["method"]],
        sees=[say_here(f"meaning_{method}") for method in bare],
    ).sort_values("mean", ascending=False, ignore_index=True)


def _over_splits(asked: Asked, opened: Store, *untrained: Store) -> pd.DataFrame:
    """Accuracies over splits by method and file, which is empty for the open one."""
    frames = [asked.ask(opened, query, sql=_ACCURACIES, values={}).assign(file="")]
    for store in untrained:
        frame = asked.ask(store, query, sql=_ACCURACIES, values={})
        frame = frame[frame["method"].isin(_AGAINST)]
        frames.append(frame.assign(method=_PREFIX + frame["method"], file=store.name))
    grouped = pd.concat(frames, ignore_index=True).groupby(["method", "file"], sort=False)
    return grouped.agg(
        **{name: ("uas", of) for name, of in _SHARES.items()},
        n_seeds=("seed", "nunique"),
        **{name: (name, "mean") for name in _COUNTS},
        **{name: (name, "first") for name in ("vectors", "known_share")},
    ).reset_index()


def found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding: parsers that see attention, each against those that do not."""
    names = [(of, name) for of in _AGAINST for name in (of, *_AGAINST[of], _PREFIX + of)]
    frame = means(inquiry, choices).rename(columns={"mean": "value", "n_seeds": "splits"})
    frame = frame.rename(columns={"method": "name"})[[*_FOUND]]
    return pd.DataFrame(names, columns=["sentence", "name"]).merge(frame, on="name")


def in_paper(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Table 3 of the paper, beside the means of this file."""
    methods = {number: number.method for number in numbers("parser_accuracy")}
    return _printed(means(inquiry, choices), methods)


def untrained_in_paper(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Row of table 3 on an untrained model, for files of such a model."""
    is_untrained = inquiry.store.random_weights is not None
    return _printed(means(inquiry, choices), {RANDOM_INIT: METHODS[0]} if is_untrained else {})


def _printed(frame: pd.DataFrame, methods: Mapping[Any, str]) -> pd.DataFrame:
    known = frame.rename(columns={"mean": "ours"}).set_index("method")[["ours", "low", "high"]]
    return pd.DataFrame(
        {"of": say_here(f"method_{number.method}"), "number": number, "ours": None}
        | known.to_dict("index").get(method, {})
        for number, method in methods.items()
    ).astype(object)

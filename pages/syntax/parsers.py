"""Table 3 of Clark et al. on this file: parsers that see attention and nothing else."""

import pandas as pd
import streamlit as st

from analysis.tables.probing import parser_accuracy
from analysis.tables.probing.parser_accuracy import INPUT_EMBEDDING, METHODS
from pages.syntax.parser_chart import parser_chart
from pages.syntax.published import parsers_beside
from pages.syntax.trees import computed_to_nothing, has_trees, require_trees
from pages.syntax.untrained import untrained_accuracies, untrained_told
from pages.ui.about import about
from pages.ui.figure import figure, table
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import plain, say


def show() -> None:
    st.header(say("syntax.parsers.title"), anchor=False)
    _require()
    accuracies = ask(parser_accuracy.accuracies)
    accuracies = accuracies.assign(name=accuracies["method"].map(method_name))
    untrained = untrained_accuracies()
    spread = _spread(accuracies)
    st.markdown(say("syntax.parsers.meaning"))
    st.markdown(f"{_finding(spread.set_index('method'))} {untrained_told(untrained)}")
    every = pd.concat([accuracies, _named(untrained)])
    _chart(every, _spread(every))
    _methods(accuracies)
    _table(_spread(every))
    parsers_beside(spread.set_index("method")["mean"])
    about(parser_accuracy.TABLE)


def _require() -> None:
    """Stop where there are no trees, too few of them, or no such statistic."""
    store = open_store()
    if has_trees() and computed_to_nothing(parser_accuracy.TABLE):
        st.info(say("syntax.parsers.too_few", name=plain(store.name)))
        st.stop()
    require_trees(parser_accuracy.TABLE)


def method_name(method: str) -> str:
    return say(f"syntax.parsers.{method}")


def _named(untrained: pd.DataFrame) -> pd.DataFrame:
    """The rows of other files, named by the file too."""
    names = [
        say(f"syntax.parsers.{each.method}", file=each.file) for each in untrained.itertuples()
    ]
    return untrained.assign(name=names)


def _spread(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Every method over its seeds.

    Returns:
        method, name, mean, std (missing of one seed), low, high, n_seeds, n, n_train, n_test,
        vectors, known_share.
    """
    grouped = accuracies.groupby(["method", "name"], sort=False)
    spread = grouped.agg(
        mean=("uas", "mean"),
        std=("uas", "std"),
        low=("uas", "min"),
        high=("uas", "max"),
        n_seeds=("seed", "nunique"),
        n=("n", "mean"),
        n_train=("n_train", "mean"),
        n_test=("n_test", "mean"),
        vectors=("vectors", "first"),
        known_share=("known_share", "first"),
    )
    return spread.reset_index()


def _finding(spread: pd.DataFrame) -> str:
    """What attention alone tells of trees, and whether that is more than needs no model."""
    shares = {f"{each}_uas": percent(spread["mean"][each]) for each in METHODS}
    told = say(
        "syntax.parsers.finding",
        n=int(spread["n_seeds"]["attention"]),
        low=percent(spread["low"]["attention"]),
        high=percent(spread["high"]["attention"]),
        **shares,
    )
    better = spread["low"]["attention"] > spread["high"]["distances_words"]
    worse = spread["high"]["attention"] < spread["low"]["distances_words"]
    verdict = "better" if better else "worse" if worse else "alike"
    return f"{told} {say(f'syntax.parsers.verdict_{verdict}')}"


def _chart(accuracies: pd.DataFrame, spread: pd.DataFrame) -> None:
    question = say("syntax.parsers.question")
    figure(
        parser_chart(accuracies, spread),
        key="sy_parsers",
        question=question,
        caption=say(
            "syntax.parsers.caption",
            train=count(spread["n_train"].mean()),
            test=count(spread["n_test"].mean()),
            n=count(spread["n"].mean()),
        ),
        frame=accuracies.drop(columns=["name", "seed_of_weights"], errors="ignore"),
        alt=question,
    )


def _methods(accuracies: pd.DataFrame) -> None:
    """What each parser sees, in one line, and where its word vectors come from."""
    lines = [
        f"- **{method_name(method)}**: {say(f'syntax.parsers.{method}_meaning')}"
        for method in METHODS
        if method in set(accuracies["method"])
    ]
    st.markdown("\n".join(lines))
    known = accuracies.dropna(subset="vectors")
    if known.empty:
        return
    row = known.iloc[0]
    own = "input" if open_store().random_weights is None else "random"
    kind = own if row["vectors"] == INPUT_EMBEDDING else "file"
    told = {"name": plain(row["vectors"]), "share": percent(row["known_share"])}
    st.caption(say(f"syntax.parsers.vectors_{kind}", **told))


def _table(spread: pd.DataFrame) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn

    def share(key: str) -> object:
        return number(say(f"syntax.parsers.{key}"), format="percent")

    table(
        spread,
        key="sy_parser_table",
        question=say("syntax.parsers.table"),
        caption=say("syntax.parsers.table_caption"),
        columns={
            "name": text(say("syntax.parsers.method")),
            "mean": share("mean"),
            "std": share("std"),
            "low": share("low"),
            "high": share("high"),
            "n_seeds": number(say("syntax.parsers.n_seeds"), format="%d"),
            "n": number(say("syntax.parsers.n"), format="%.0f"),
            "n_train": number(say("syntax.parsers.n_train"), format="%.0f"),
            "n_test": number(say("syntax.parsers.n_test"), format="%.0f"),
            "vectors": text(say("syntax.parsers.vectors")),
        },
        height="content",
        placeholder="—",
    )

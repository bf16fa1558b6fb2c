"""Parsers of files of the same architecture and corpus whose weights were never trained."""

from collections.abc import Iterator

import pandas as pd

from analysis.tables.probing import parser_accuracy
from pages.ui.store.chosen import ask_file, files_with, open_store, readable
from pages.ui.store.open_file import Store
from pages.ui.words.numbers import percent
from pages.ui.words.place import said
from pages.ui.words.say import plain

PREFIX = "untrained_"
_METHODS = ("attention_words", "attention")
_SAME = (
    *("family", "n_layers", "n_heads", "hidden_size"),
    *("corpus_sha256", "n_sequences", "n_tokens", "mask_rate", "seed"),
)
"""What two runs have in common whose parsers saw the same words in the same splits."""


def untrained_accuracies() -> pd.DataFrame:
    """What parsers made of untrained attention find; no rows where the open file is untrained.

    Returns:
        As `parser_accuracy.accuracies`, with the file and its seed_of_weights; the names of methods
        begin with `PREFIX`.
    """
    found = [
        ask_file(store_path, parser_accuracy.accuracies)
        .query("method in @_METHODS")
        .assign(file=store.name, seed_of_weights=store.random_weights)
        for store_path, store in _others()
    ]
    every = pd.concat(found) if found else pd.DataFrame({"method": [], "uas": []}, dtype=object)
    return every.assign(method=PREFIX + every["method"])


def _others() -> Iterator[tuple]:
    own = open_store()
    if own.random_weights is not None:
        return
    for path in files_with(parser_accuracy.TABLE):
        store = readable(path)
        if isinstance(store, Store) and store.random_weights is not None and _alike(own, store):
            yield path, store


def _alike(one: Store, other: Store) -> bool:
    given = (each.facts.get("segments_given") for each in (one, other))
    return len(set(given)) == 1 and all(one.run[each] == other.run[each] for each in _SAME)


def untrained_finding(accuracies: pd.DataFrame) -> str:
    """A sentence for each file of an untrained model."""
    sentences = []
    for name, rows in accuracies.groupby("file", sort=False) if len(accuracies) else ():
        means = rows.groupby("method")["uas"].mean()
        shares = {each: percent(means[PREFIX + each]) for each in _METHODS}
        seed = rows["seed_of_weights"].iloc[0]
        sentences.append(said("finding_untrained", file=plain(name), seed=seed, **shares))
    return " ".join(sentences)

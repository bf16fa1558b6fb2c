"""Syntactic heads and antecedents that attention heads and rules pick, and their accuracy."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from jaxtyping import Float, Int

from analysis.measures.bootstrap import Redraws
from analysis.measures.probing.governors import (
    by_offset,
    deciding_words,
    is_right,
    words_by_relation,
)
from analysis.measures.probing.probe_accuracy import (
    accuracy_interval,
    best_probe,
    parts,
    right_by_sequence,
    scores_against,
)
from analysis.needs import Need
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    Column,
    count,
    interval,
    named,
    place,
    places,
    pooled,
    share,
    signed,
    text,
)
from analysis.statistics.base.tables import UNSTABLE_ARGMAX, Fit, FitContext, Part, Table, view
from analysis.statistics.base.weighing import WEIGHING, WEIGHINGS, WEIGHT, of_weights
from analysis.statistics.corpus import MERGING, MERGINGS

# what heads and rules predict

DIRECTIONS = ("dependent_to_head", "head_to_dependent")
OFFSETS = (-3, -2, -1, 1, 2, 3)
BASELINES = ("nearest", "head_match", "sieve")
METHODS = ("head", *BASELINES)
MENTION_TYPES = ("all", "pronoun", "proper", "nominal")
CHOSEN_ON = ("all", "first", "second")
DIRECTION = named(
    "who attends: dependent_to_head or head_to_dependent", DIRECTIONS, name="direction"
)
METHOD = named(
    "head: the attention of one head; else a rule: nearest, head_match or sieve",
    METHODS,
    name="method",
)
_CELL = (pooled(LAYER, "for a rule"), pooled(HEAD, "for a rule"))
_BY_HEAD = tuple(pooled(column, "for a rule") for column in (WEIGHING, MERGING))
_IS_OF_HEAD = tuple(
    f"(method = 'head') = ({name} is not null)" for name in ("weighing", "merging", "layer", "head")
)
_NOT_BY_NORMS = f"coalesce(weighing, '{WEIGHT}') = '{WEIGHT}'"
"""Rows by weights, and those of rules, which have no weighing."""
_PREDICTED = {
    "predicted": places(
        "of each word of the sequence the word taken for its syntactic head; −1: no candidate",
        least=1,
    )
}
DEPENDENCY_PREDICTION = Table(
    "dependency_prediction",
    key=(WEIGHING, MERGING, LAYER, HEAD, DIRECTION, SEQ),
    values=_PREDICTED,
    source="clark-2019",
    note="sequences with trees",
    declared=UNSTABLE_ARGMAX,
    needs=(Need.TREES,),
    laws=("list_min(predicted) >= -1",),
    shown_as="dependency_prediction_weighing",
    views=(
        view(
            "dependency_prediction",
            (SEQ, LAYER, HEAD, DIRECTION, MERGING),
            _PREDICTED,
            sql="select seq, layer, head, direction, merging, predicted "
            "from stored.dependency_prediction where weighing = 'weight'",
        ),
    ),
    version=2,
)
_PICKED = {
    "mentions": places(
        "mentions that have an antecedent: an earlier mention of the same cluster; of neither "
        "a word is masked",
        least=1,
    ),
    "predicted": places(
        "of each of them the head word of the earlier mention that is picked; -1: none"
    ),
    "correct": Column(
        "whether it is the head word of an antecedent", "yes or no", type=pa.list_(pa.bool_())
    ),
}
COREFERENCE_PREDICTION = Table(
    "coreference_prediction",
    key=(SEQ, METHOD, *_BY_HEAD, *_CELL),
    values=_PICKED,
    source="clark-2019",
    note="sequences where a mention has an antecedent",
    declared=UNSTABLE_ARGMAX,
    needs=(Need.COREFERENCE,),
    laws=(
        "len(predicted) = len(mentions) and len(correct) = len(mentions)",
        "list_min(predicted) >= if(method = 'head_match', -1, 0)",
        *_IS_OF_HEAD,
    ),
    shown_as="coreference_prediction_weighing",
    views=(Part("coreference_prediction", ("weighing",), _NOT_BY_NORMS, ""),),
    version=2,
)

# accuracies, of governors by relation and of antecedents by type of mention


class Cases(NamedTuple):
    """Words of a relation, or mentions of a type, by block, and those that each probe gets right.

    `rows` are indices among the blocks of the annotated sequences.
    """

    name: str
    rows: Int[np.ndarray, " row"]
    n: Int[np.ndarray, " row"]
    right: Float[np.ndarray, "row cell"]

    def rows_of(self, cells: pd.DataFrame, drawn: Redraws) -> pd.DataFrame:
        """Return number of cases, accuracy and interval of every cell."""
        low, high = accuracy_interval(self.right, self.n, drawn.of(self.rows))
        n = int(self.n.sum())
        return cells.assign(n=n, accuracy=self.right.sum(axis=0) / n, low=low, high=high)


class Probes(NamedTuple):
    """Heads and rules that are scored on the same cases.

    `cases` is the column with the names of cases. `heads` returns a row for every head, and `rules`
    has one for every rule; `by_head` returns the cases by weighing and merging.
    """

    cases: str
    blocks: Int[np.ndarray, " block"]
    heads: Callable[[], pd.DataFrame]
    rules: pd.DataFrame
    by_rule: list[Cases]
    by_head: Callable[..., Iterable[Cases]]


_TREES = """
    select block, seq, sentence, word, form, relation, coalesce(governor, -1) as governor,
        word.is_masked or coalesce(head.is_masked, false) as is_masked
    from word
    join blocks using (seq)
    left join (select seq, word as governor, is_masked from word) as head using (seq, governor)
    where relation is not null
    order by block, seq, word
"""
"""A head sees no word where the word or its governor is masked; −1 is the governor of roots."""
_PREDICTIONS = """
    select predicted from dependency_prediction_weighing join blocks using (seq)
    where weighing = $weighing and merging = $merging and direction = $direction
    order by layer, head, block, seq
"""


def _governors(store: DuckDBPyConnection) -> Probes | None:
    """Read governors, and who predicts them: heads in each direction, and offsets."""
    words = store.execute(_TREES).df()
    if words.empty:
        return None
    relations, governors = words["relation"].tolist(), words["governor"].to_numpy()
    blocks, block = np.unique(words["block"], return_inverse=True)
    sentence = (words["seq"].to_numpy(np.int64) << 16) + words["sentence"].to_numpy(np.int64)
    deciding = deciding_words(relations, words["form"].tolist(), sentence)
    is_read, members = ~words["is_masked"].to_numpy(bool), words_by_relation(relations)

    def by_relation(*predicted: Int[np.ndarray, "cell word"]) -> Iterator[Cases]:
        right = np.concatenate([is_right(some, governors, deciding) for some in predicted])
        for relation, of_relation in members.items():
            chosen = of_relation & is_read
            rows, n, n_right = right_by_sequence(right[:, chosen], block[chosen])
            if len(rows):
                yield Cases(relation, rows, n, n_right)

    def by_head(**way: str) -> Iterator[Cases]:
        lists = (
            store.sql(_PREDICTIONS, params=way | {"direction": direction}).to_arrow_table()
            for direction in DIRECTIONS
        )
        flat = (rows["predicted"].combine_chunks().flatten().to_numpy() for rows in lists)
        return by_relation(*(predicted.reshape(-1, len(words)) for predicted in flat))

    at = words["word"].to_numpy(np.int64)
    nearby = np.stack([by_offset(sentence, at, offset) for offset in OFFSETS])
    rules = pd.DataFrame({"offset": OFFSETS})

    def heads() -> pd.DataFrame:
        cells = "select distinct layer, head from dependency_prediction order by layer, head"
        found = store.sql(cells).df()
        return pd.concat([found.assign(direction=to) for to in DIRECTIONS], ignore_index=True)

    return Probes("relation", blocks, heads, rules, list(by_relation(nearby)), by_head)


_MENTIONS = """
    with picked as (
        select seq, method, weighing, merging, layer, head, unnest(mentions) as mention,
            unnest(correct) as correct
        from coreference_prediction_weighing
    ),
    typed as (
        select picked.*, unnest(['all', mention_type::varchar]) as mention_type
        from picked join mention using (seq, mention)
    )
    select block, mention_type, method::varchar as method, weighing::varchar as weighing,
        merging::varchar as merging, layer, head, sum(correct::int)::double as n_right,
        count(*) as n
    from typed join blocks using (seq)
    group by all
"""


def _antecedents(store: DuckDBPyConnection) -> Probes | None:
    """Read mentions that have an antecedent, and who picks one: heads and rules."""
    rows = store.execute(_MENTIONS).df()
    if rows.empty:
        return None
    blocks = np.unique(rows["block"])
    every = np.arange(len(blocks))
    ways = (rows[name].fillna("") for name in ("weighing", "merging"))
    groups = dict(list(rows.groupby(["mention_type", *ways])))

    def by_type(cells: list[str], *way: str) -> Iterator[Cases]:
        for kind in MENTION_TYPES:
            if (some := groups.get((kind, *way))) is not None:
                right = some.pivot(index="block", columns=cells, values="n_right")
                n = some.groupby("block")["n"].first().reindex(blocks, fill_value=0)
                yield Cases(kind, every, n.to_numpy(), right.reindex(blocks).fillna(0).to_numpy())

    def by_head(*, weighing: str, merging: str) -> Iterator[Cases]:
        return by_type(["layer", "head"], weighing, merging)

    def heads() -> pd.DataFrame:
        cells = rows[["layer", "head"]].dropna().drop_duplicates().astype(int)
        return cells.sort_values(["layer", "head"], ignore_index=True)

    rules = pd.DataFrame({"baseline": sorted(BASELINES)})
    by_rule = list(by_type(["method"], "", ""))
    return Probes("mention_type", blocks, heads, rules, by_rule, by_head)


_WAYS = [{"weighing": way, "merging": merging} for way, merging in product(WEIGHINGS, MERGINGS)]


def _of_rules(table: Table, probes: Probes, context: FitContext) -> Iterator[pd.DataFrame]:
    """Yield the accuracies of rules alone."""
    drawn = context.redraws(probes.blocks)
    for cases in probes.by_rule:
        yield cases.rows_of(probes.rules, drawn).assign(**{probes.cases: cases.name})


def _accuracies(table: Table, probes: Probes, context: FitContext) -> Iterator[pd.DataFrame]:
    """Yield the accuracies of heads, and of rules if these have no table of theirs."""
    drawn = context.redraws(probes.blocks)
    heads = probes.heads().assign(method="head")
    for way in _WAYS:
        for cases in probes.by_head(**way):
            yield cases.rows_of(heads, drawn).assign(**way, **{probes.cases: cases.name})
    if "method" in table.schema.names:
        for rules in _of_rules(table, probes, context):
            yield rules.rename(columns={"baseline": "method"}).assign(weighing=None, merging=None)


def _best(table: Table, probes: Probes, context: FitContext) -> Iterator[pd.DataFrame]:
    """Yield the best heads, each held against rules on the cases it is scored on."""
    heads, ((rule, rules),) = probes.heads(), probes.rules.items()
    halves = _halves(probes, context)
    for way in _WAYS:
        chosen = []
        for cases, of_rules in zip(probes.by_head(**way), probes.by_rule, strict=True):
            for name, half in halves(cases):
                head = best_probe(cases.right, half["chosen"])
                known = way | heads.iloc[head].to_dict() | {"chosen_on": name}
                tried = range(len(rules))
                if rule == "offset":
                    tried = [best_probe(of_rules.right, half["chosen"])]
                for at in tried:
                    of_both = of_rules.right[:, at], cases.right[:, head]
                    scores = scores_against(*of_both, cases.n, **half)
                    scores[f"{rule}_accuracy"] = scores.pop("baseline_accuracy")
                    known |= {probes.cases: cases.name, rule: rules[at]}
                    chosen.append({**known, "n_tried": len(heads), **scores})
        yield pd.DataFrame(chosen)


def _differences(table: Table, probes: Probes, context: FitContext) -> Iterator[pd.DataFrame]:
    """Yield the best heads of both weighings, compared on the same cases."""
    heads, halves = probes.heads(), _halves(probes, context)
    for merging in MERGINGS:
        by_way = (probes.by_head(weighing=way, merging=merging) for way in WEIGHINGS)
        compared = []
        for of_ways in zip(*by_way, strict=True):
            for name, half in halves(of_ways[0]):
                row = {"merging": merging, probes.cases: of_ways[0].name, "chosen_on": name}
                n, right = of_ways[0].n[half["scored"]], {}
                for way, cases in zip(WEIGHINGS, of_ways, strict=True):
                    best = best_probe(cases.right, half["chosen"])
                    right[way] = cases.right[half["scored"], best]
                    of_way = heads.iloc[best].to_dict()
                    of_way["accuracy"] = right[way].sum() / n.sum()
                    row |= {f"{column}_{way}": value for column, value in of_way.items()}
                more = right["norm"] - right["weight"]
                (low,), (high,) = accuracy_interval(more[:, None], n, half["drawn"])
                row |= {"n": n.sum(), "difference": more.sum() / n.sum()}
                compared.append(row | {"low": low, "high": high})
        yield pd.DataFrame(compared)


def _made_of(
    read: Callable[[DuckDBPyConnection], Probes | None],
    rows: Callable[[Table, Probes, FitContext], Iterator[pd.DataFrame]],
) -> Fit:
    """Return a fit of what is read; there are no rows where nothing is annotated."""

    def fit(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
        probes = read(store)
        return table.rows([] if probes is None else rows(table, probes, context))

    return fit


def _halves(
    probes: Probes, context: FitContext
) -> Callable[[Cases], Iterator[tuple[str, dict[str, Any]]]]:
    """Return a function that cuts cases into those to choose on and those to score on, with
    resamples of the latter: all for both, and each half against the other."""
    halves = parts(len(probes.blocks), seed=context.seed)
    redraws = {name: context.redraws(probes.blocks[half[1]]) for name, half in halves.items()}

    def of(cases: Cases) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, masks in halves.items():
            chosen, scored = (mask[cases.rows] for mask in masks)
            if cases.n[chosen].any() and cases.n[scored].any():
                among_scored = np.searchsorted(np.flatnonzero(masks[1]), cases.rows[scored])
                drawn = redraws[name].of(among_scored)
                yield name, {"chosen": chosen, "scored": scored, "drawn": drawn}

    return of


def _scored(what: str, unit: str, right: str) -> dict[str, Column]:
    """Return the columns of an accuracy."""
    return {"n": count(what, unit), "accuracy": share(right), **interval("share")}


_GOVERNED = _scored("words", "words", "share of them whose governor is the predicted one")
_RESOLVED = _scored(
    "mentions that have an antecedent",
    "mentions",
    "share of them for which the picked earlier mention is an antecedent",
)
_RELATION = text(
    "relation to the governor, its subtypes included, or a subtype; all: every word but root and "
    "punct; all_words: every word",
    "name",
    name="relation",
)
_OFFSET = place("how many words further on the governor is looked for", "words", least=-3, most=3)
_MENTION_TYPE = named(
    "type of the mention: pronoun, proper, nominal, or all", MENTION_TYPES, name="mention_type"
)
_CHOSEN_ON = named(
    "the part of the sequences the head is chosen on: first or second, random half A or B, and "
    "scored on the other; or all, and scored on all",
    CHOSEN_ON,
    name="chosen_on",
)


def _compared(scored: dict[str, Column], rule: str, place: dict[str, Column]) -> dict[str, Column]:
    """Return the columns of the best head, and of the rule that it is held against."""
    n, unit = scored["n"], "probes" if "direction" in place else "heads"
    return {
        **place,
        "n_tried": count(f"{unit} the best was chosen from", unit),
        "n_chosen": replace(n, meaning=f"{n.meaning} it was chosen on"),
        "accuracy_chosen": share("accuracy of the head where it was chosen"),
        **scored,
        f"{rule}_accuracy": share("accuracy of the rule where the head is scored"),
        "difference": signed("accuracy of the head less that of the rule"),
        **interval("share", of="difference"),
    }


_PLACE = {column.name: replace(column, name="") for column in (LAYER, HEAD, DIRECTION)}
_PLACE_OF_ANY = {name: _PLACE[name] for name in ("layer", "head")}


def _differing(scored: dict[str, Column], place: dict[str, Column]) -> dict[str, Column]:
    """Return the columns of the best heads of both weighings, and of their difference."""
    of_head = {**place, "accuracy": scored["accuracy"]}
    return {
        "n": scored["n"],
        **{f"{name}_{way}": column for way in WEIGHINGS for name, column in of_head.items()},
        "difference": signed("by norms minus by weights"),
        **interval("share"),
    }


_CHOSEN: Any = {"source": "clark-2019", "declared": UNSTABLE_ARGMAX, "version": 2}
_COMPARED: Any = {
    "source": "kobayashi-2020",
    "declared": UNSTABLE_ARGMAX,
    "laws": ("abs(difference - (accuracy_norm - accuracy_weight)) < 1e-9",),
}
_OF_GOVERNORS: Any = {"needs": (Need.TREES,), "requires": ("dependency_prediction",)}
_OF_ANTECEDENTS: Any = {"needs": (Need.COREFERENCE,), "requires": ("coreference_prediction",)}
_IS_SHARE = "coalesce(low, 0) >= 0 and coalesce(high, 1) <= 1"
DEPENDENCY_ACCURACY = Table(
    "dependency_accuracy",
    key=(WEIGHING, MERGING, _RELATION, LAYER, HEAD, DIRECTION),
    values=_GOVERNED,
    laws=(_IS_SHARE,),
    shown_as="dependency_accuracy_weighing",
    views=(
        of_weights(
            "dependency_accuracy",
            "merging",
            where="merging = 'mean'",
            note="means over the pieces of words",
        ),
        of_weights("dependency_accuracy_merging"),
    ),
    made_by=_made_of(_governors, _accuracies),
    **_CHOSEN,
    **_OF_GOVERNORS,
)
DEPENDENCY_BASELINE = Table(
    "dependency_baseline",
    key=(_RELATION, replace(_OFFSET, name="offset")),
    values={name: _GOVERNED[name] for name in ("n", "accuracy")},
    source="clark-2019",
    needs=(Need.TREES,),
    version=2,
    made_by=_made_of(_governors, _of_rules),
)
_BEST_OF_RELATION = (MERGING, _RELATION, _CHOSEN_ON)
DEPENDENCY_BEST = Table(
    "dependency_best",
    key=(WEIGHING, *_BEST_OF_RELATION),
    values=_compared({"offset": _OFFSET, **_GOVERNED}, "offset", _PLACE),
    laws=(
        "abs(difference - (accuracy - offset_accuracy)) < 1e-9",
        "chosen_on <> 'all' or (n = n_chosen and accuracy = accuracy_chosen)",
    ),
    shown_as="dependency_best_weighing",
    views=(of_weights("dependency_best"),),
    made_by=_made_of(_governors, _best),
    **_CHOSEN,
    **_OF_GOVERNORS,
)
DEPENDENCY_DIFFERENCE = Table(
    "dependency_difference",
    key=_BEST_OF_RELATION,
    values=_differing(_GOVERNED, _PLACE),
    made_by=_made_of(_governors, _differences),
    **_COMPARED,
    **_OF_GOVERNORS,
)
COREFERENCE_ACCURACY = Table(
    "coreference_accuracy",
    key=(*_BY_HEAD, _MENTION_TYPE, METHOD, *_CELL),
    values=_RESOLVED,
    laws=(_IS_SHARE, *_IS_OF_HEAD),
    shown_as="coreference_accuracy_weighing",
    views=(
        Part(
            "coreference_accuracy",
            ("weighing", "merging"),
            f"{_NOT_BY_NORMS} and coalesce(merging, 'mean') = 'mean'",
        ),
        Part("coreference_accuracy_merging", ("weighing",), _NOT_BY_NORMS),
    ),
    made_by=_made_of(_antecedents, _accuracies),
    **_CHOSEN,
    **_OF_ANTECEDENTS,
)
_BEST_OF_TYPE = (MERGING, _MENTION_TYPE, _CHOSEN_ON)
COREFERENCE_BEST = Table(
    "coreference_best",
    key=(
        WEIGHING,
        *_BEST_OF_TYPE,
        named("the rule: nearest, head_match or sieve", BASELINES, name="baseline"),
    ),
    values=_compared(_RESOLVED, "baseline", _PLACE_OF_ANY),
    laws=(
        "abs(accuracy - baseline_accuracy - difference) < 1e-9",
        "chosen_on <> 'all' or accuracy = accuracy_chosen",
    ),
    shown_as="coreference_best_weighing",
    views=(of_weights("coreference_best"),),
    made_by=_made_of(_antecedents, _best),
    **_CHOSEN,
    **_OF_ANTECEDENTS,
)
COREFERENCE_DIFFERENCE = Table(
    "coreference_difference",
    key=_BEST_OF_TYPE,
    values=_differing(_RESOLVED, _PLACE_OF_ANY),
    made_by=_made_of(_antecedents, _differences),
    **_COMPARED,
    **_OF_ANTECEDENTS,
)

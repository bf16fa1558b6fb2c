"""Display names and meanings of dependency relations."""

from pages.words.say import catalogue, plain, say

EVERYTHING = ("all", "all_words")
"""Pseudo-relations: all words but `root` and `punct`, and all words."""


def relation_name(relation: str) -> str:
    """Label of the treebank with its name, if there is one; not escaped."""
    name = _known(relation, "name")
    if relation in EVERYTHING:
        return name
    return f"{relation} · {name}" if name else relation


def relation_line(relation: str) -> str:
    """Explanation of a relation in one line of markdown; empty for unknown labels."""
    return _known(relation, "meaning")


def relation_label(relation: str) -> str:
    """Label for sentences, escaped: a treebank may contain any label."""
    return relation_name(relation) if relation in EVERYTHING else plain(relation)


def names_of_relation(relation: str) -> list[str]:
    """Label of the treebank, and the relation's names in all languages."""
    key = _key(relation, "name")
    return [relation, *(catalogue()[key].values() if key else ())]


def _known(relation: str, word: str) -> str:
    key = _key(relation, word)
    return say(key) if key else ""


def _key(relation: str, word: str) -> str | None:
    """Key of a word for a relation's subtype, or else for its universal relation."""
    names = (relation.replace(":", "_"), relation.partition(":")[0])
    keys = (f"dependency.{name}.{word}" for name in names)
    return next((key for key in keys if key in catalogue()), None)

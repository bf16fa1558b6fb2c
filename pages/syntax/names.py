"""What relations and directions are called and what they mean, in the reader's language."""

from pages.ui.words.say import catalogue, plain, say

EVERYTHING = ("all", "all_words")
"""Not relations: every word but `root` and `punct`, and every word."""
LEFT_OUT = ("root", "punct")


def relation_name(relation: str) -> str:
    """The label as the treebank writes it, and its name where there is one; not escaped."""
    if relation in EVERYTHING:
        return say(f"syntax.relation.{relation}")
    key = _known(relation)
    return f"{relation} · {say(f'dependency.{key}.name')}" if key else relation


def relation_line(relation: str) -> str:
    """What a relation is, in one line of markdown; empty for a label that nobody has explained."""
    if relation in EVERYTHING:
        return say(f"syntax.relation.{relation}_meaning")
    key = _known(relation)
    return say(f"dependency.{key}.meaning") if key else ""


def told_relation(relation: str) -> str:
    """The label in sentences, escaped: a treebank may call a relation anything."""
    return say(f"syntax.relation.{relation}") if relation in EVERYTHING else plain(relation)


def direction_name(direction: str) -> str:
    return say(f"syntax.direction.{direction}")


def base(relation: str) -> str:
    """The universal relation of a label."""
    return relation.partition(":")[0]


def is_of(relation: str, label: str) -> bool:
    """Whether a word with this label counts among those of a relation: a universal relation has
    the words of its subtypes too."""
    if relation in EVERYTHING:
        return relation == "all_words" or label not in LEFT_OUT
    return relation in (label, base(label))


def _known(relation: str) -> str | None:
    """The relation's name in the catalogue: that of its subtype, else of what it is a type of."""
    names = (relation.replace(":", "_"), base(relation))
    return next((each for each in names if f"dependency.{each}.name" in catalogue()), None)

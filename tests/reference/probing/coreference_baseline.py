"""clark-2019, section 4.3 and lee-2011: rules for antecedents, walking back mention by mention."""


def backwards(heads: list[int], mention: int) -> list[int]:
    """The mentions before a mention, the nearest first."""
    earlier = [index for index in range(len(heads)) if heads[index] < heads[mention]]
    return sorted(earlier, key=lambda index: -heads[index])


def nearest(heads: list[int]) -> list[int]:
    return [next((heads[e] for e in backwards(heads, m)), -1) for m in range(len(heads))]


def head_match(heads: list[int], head_texts: list[str]) -> list[int]:
    antecedents = []
    for mention in range(len(heads)):
        same = [e for e in backwards(heads, mention) if head_texts[e] == head_texts[mention]]
        antecedents.append(heads[same[0]] if same else -1)
    return antecedents


def values(features: str, name: str) -> set[str] | None:
    """Possible values of an attribute; None if nothing is known of it."""
    pairs = [part.split("=", 1) for part in features.split("|") if "=" in part]
    keys = {key: set(value.split(",")) for key, value in pairs}
    if "VerbForm" in keys:
        return None
    if f"{name}[psor]" in keys:
        return keys[f"{name}[psor]"]
    if name in keys:
        return keys[name]
    return {"3"} if name == "Person" and keys and "PronType" not in keys else None


def agree(one: str, other: str) -> bool:
    for name in ("Number", "Gender", "Person"):
        first, second = values(one, name), values(other, name)
        if first is not None and second is not None and not first.intersection(second):
            return False
    return True


def sieve(
    heads: list[int], texts: list[str], head_texts: list[str], features: list[str]
) -> list[int]:
    antecedents = []
    for mention in range(len(heads)):
        before = backwards(heads, mention)
        sieves = [
            [e for e in before if texts[e] == texts[mention]],
            [e for e in before if head_texts[e] == head_texts[mention]],
            [e for e in before if agree(features[e], features[mention])],
            before,
        ]
        caught = [candidates[0] for candidates in sieves if candidates]
        antecedents.append(heads[caught[0]] if caught else -1)
    return antecedents

"""clark-2019, section 4.2: how often predicted governors are right, one word after the other."""

Word = tuple[str, str, int, int]
"""The form of a word, its relation, its governor (−1: root) and its sentence."""


def counts_for(relation: str, asked: str) -> bool:
    """Return True if a word with this relation counts among those of `asked`."""
    base = relation.split(":")[0]
    if asked == "all_words":
        return True
    if base in ("root", "punct"):
        return False
    return asked in ("all", relation, base)


def is_right(words: list[Word], predicted: list[int], word: int) -> bool:
    """Return True if a word's governor is found; a possessor is judged by the word that follows."""
    form_and_sentence = [(form, sentence) for form, _, _, sentence in words]
    _, relation, governor, sentence = words[word]
    judged = word
    if relation == "poss" and word + 1 < len(words):
        following, its_sentence = form_and_sentence[word + 1]
        if its_sentence == sentence and following in ("'s", "s'"):
            judged = word + 1
    return governor != -1 and predicted[judged] == governor


def score(words: list[Word], predicted: list[int], asked: str) -> tuple[int, int]:
    """Number of words that count, and number of those that are right."""
    members = [place for place, word in enumerate(words) if counts_for(word[1], asked)]
    return len(members), sum(is_right(words, predicted, place) for place in members)


def by_offset(words: list[Word], offset: int) -> list[int]:
    """Word at an offset from each word; −1 outside the sentence."""
    targets = []
    for place, word in enumerate(words):
        target = place + offset
        inside = 0 <= target < len(words) and words[target][3] == word[3]
        targets.append(target if inside else -1)
    return targets

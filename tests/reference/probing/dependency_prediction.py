"""clark-2019, section 4.2: the governor a head predicts, looking at one word after the other."""

Matrix = list[list[float]]


def by_dependent(attention: Matrix, sentences: list[int], *, is_causal: bool) -> list[int]:
    """Word of the sentence that each word attends to most, other than itself."""
    governors = []
    for word, row in enumerate(attention):
        best, place = float("-inf"), -1
        for other, weight in enumerate(row):
            behind = is_causal and other > word
            if other == word or behind or sentences[other] != sentences[word]:
                continue
            if weight > best:
                best, place = weight, other
        governors.append(place)
    return governors


def by_governor(attention: Matrix, sentences: list[int], *, is_causal: bool) -> list[int]:
    """Word of the sentence that attends most to each word, other than itself."""
    governors = []
    for word in range(len(attention)):
        best, place = float("-inf"), -1
        for other in range(len(attention)):
            blind = is_causal and other < word
            if other == word or blind or sentences[other] != sentences[word]:
                continue
            if attention[other][word] > best:
                best, place = attention[other][word], other
        governors.append(place)
    return governors

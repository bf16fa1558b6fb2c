"""clark-2019, section 4.3: the antecedent a head picks, one mention and one candidate at a time."""


def picked(attention: list[list[float]], heads: list[int]) -> list[int]:
    """Earlier head word with most attention, for every mention; −1 if there is none."""
    antecedents = []
    for mention in heads:
        best, most = -1, 0.0
        for word in range(mention):
            weight = attention[mention][word]
            if word in heads and (best == -1 or weight > most):
                best, most = word, weight
        antecedents.append(best)
    return antecedents

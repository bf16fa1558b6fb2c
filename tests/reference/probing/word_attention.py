"""clark-2019, section 4.1: attention between words, one pair of words and one piece at a time."""

Matrix = list[list[float]]
Spans = list[tuple[int, int]]


def received(row: list[float], span: tuple[int, int]) -> float:
    """What a word receives from one token: the sum over its pieces."""
    return sum(row[key] for key in range(*span))


def by_mean(attention: Matrix, spans: Spans) -> Matrix:
    """What each word gives to each: the mean over its pieces."""
    return [
        [
            sum(received(attention[query], to) for query in range(*of)) / (of[1] - of[0])
            for to in spans
        ]
        for of in spans
    ]


def by_first(attention: Matrix, spans: Spans) -> Matrix:
    """What the first piece of each word gives to each word."""
    return [[received(attention[of[0]], to) for to in spans] for of in spans]


def to_kind(attention: Matrix, spans: Spans, of_kind: list[bool]) -> list[float]:
    """What each word gives to the tokens of one kind, the mean over its pieces."""
    return [
        sum(
            weight
            for query in range(*of)
            for weight, wanted in zip(attention[query], of_kind, strict=True)
            if wanted
        )
        / (of[1] - of[0])
        for of in spans
    ]

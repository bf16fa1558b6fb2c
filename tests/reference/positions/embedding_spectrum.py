"""yamamoto-2023, figure 3: column by column, coefficient by coefficient."""

from tests.reference.positions.amplitude_spectrum import amplitude, spread


def of_frequency(embedding: list[list[float]], k: int) -> list[float]:
    """Mean, quartiles and largest of all columns' amplitudes."""
    columns = zip(*embedding, strict=True)
    return spread([amplitude(list(column), k) for column in columns])

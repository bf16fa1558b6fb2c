"""Amplitude spectra along positions of hidden states, queries and keys."""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.amplitude_spectrum import amplitude_spectrum, spread
from analysis.measures.positions.query_key_factors import QueryKeyFactors
from analysis.measures.positions.query_key_wave import query_key_waves


def wave_spread(waves: Float[Tensor, "position column"]) -> Float[Tensor, "frequency 4"]:
    """Mean, quartiles and largest amplitude of the columns, for every frequency.

    Source:
        yamamoto-2023, section 3.2, and figure 3.
    """
    return spread(amplitude_spectrum(waves))


def state_spreads(
    inputs: Float[Tensor, "position width"], factors: QueryKeyFactors
) -> Mapping[str, Float[Tensor, "frequency 4"]]:
    """Spread of amplitudes of a layer's hidden states, queries and keys.

    Over the coordinates of the hidden states, and over the directions of all heads for queries and
    keys.

    Args:
        inputs: the vectors that queries and keys are projected from.

    Source:
        yamamoto-2023, section 3.3, and figure 5, which shows the largest.
    """
    sides = zip(("query", "key"), query_key_waves(inputs, factors), strict=True)
    spectra = {"hidden": wave_spread(inputs)}
    for name, waves in sides:
        amplitudes = amplitude_spectrum(waves)
        spectra[name] = spread(amplitudes.transpose(0, 1).flatten(1))
    return spectra

"""How far the interval of a pair's mean change stays away from 0, as a query computes it."""

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.measures.pairs.pair_delta import LEAST_DEGREES

_DEGREE = 16
_LEAST_REACH = 1.9  # standard errors: no interval reaches less far, whatever the degrees of freedom


def _log_reach(inverse_degrees: np.ndarray) -> np.ndarray:
    """Logarithm of how many standard errors the interval reaches."""
    return np.log(stdtrit(1 / np.maximum(inverse_degrees, 1e-12), (1 + LEVEL) / 2))


def _reach() -> str:
    """Standard errors to either end of the interval: the quantile of t, which SQL does not have.

    Its logarithm is a polynomial of the inverse of `degrees`, to 2e-11 of the quantile, so that
    pairs are ranked in the query. The intervals that are shown are those of `mean_interval`.
    """
    domain = [0, 1 / LEAST_DEGREES]
    fitted = Chebyshev.interpolate(_log_reach, _DEGREE, domain=domain)
    first, *others = fitted.convert(kind=Polynomial, domain=domain).coef[::-1]
    place = f"({2 * LEAST_DEGREES:.17e} / degrees - 1)"
    terms = "".join(f" * {place} + {coefficient:.17e})" for coefficient in others)
    return f"exp({'(' * len(others)}{first:.17e}{terms})"


NEAR = f"""
    case when degrees::double >= {LEAST_DEGREES:.17e} and abs(mean) > {_LEAST_REACH} * error
    then nullif(greatest(abs(mean::double) - {_reach()} * error, 0), 0) end
"""
"""Of `mean`, `error` and `degrees`: the distance from 0 to the nearer end of the interval; NULL if
the interval holds 0 or there is none."""

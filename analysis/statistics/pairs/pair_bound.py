"""Distance from 0 of the interval of a pair's mean change, as SQL."""

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.measures.pairs.pair_delta import LEAST_DEGREES

_DEGREE = 16
_LEAST_REACH = 1.9  # standard errors: the least reach of any interval, whatever the degrees


def _log_reach(inverse_degrees: np.ndarray) -> np.ndarray:
    """Logarithm of the number of standard errors that the interval reaches."""
    return np.log(stdtrit(1 / np.maximum(inverse_degrees, 1e-12), (1 + LEVEL) / 2))


def _reach() -> str:
    """Standard errors to either end of the interval: the quantile of t, which SQL lacks.

    Its logarithm is a polynomial of the inverse of `degrees`, to 2e-11 of the quantile, so that the
    query can rank pairs. The intervals on display are those of `mean_interval`.
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
"""Distance from 0 to the nearer end of the interval, as SQL over `mean`, `error` and `degrees`;
NULL if the interval holds 0 or is absent."""

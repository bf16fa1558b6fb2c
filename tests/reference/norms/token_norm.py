"""kobayashi-2020, section 5.2: ‖x‖, one token at a time."""

import math


def input_norm(x: list[float]) -> float:
    return math.sqrt(sum(value * value for value in x))

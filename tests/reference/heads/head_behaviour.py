"""clark-2019, section 6: what a head mostly does, rule by rule; a later rule wins.

The rule on the first token, the earliest, is none of the paper's.
"""


def behaviour(head: dict[str, float], neighbour: float, entropy: float, token_type: float) -> str:
    """The name of one head; NaN exceeds nothing."""
    if head["comma_period"] > token_type:
        return "comma_period"
    if head["sep"] > token_type:
        return "sep"
    if head["cls"] > token_type:
        return "cls"
    if head["entropy"] > entropy:
        return "broad"
    if head["previous"] > neighbour:
        return "previous"
    if head["next"] > neighbour:
        return "next"
    if head["first"] > token_type:
        return "first"
    return "other"

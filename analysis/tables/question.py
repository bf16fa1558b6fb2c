"""A question to a file: SQL whose parameters are the arguments of the function that asks it."""

import re
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec

import pandas as pd

Arguments = ParamSpec("Arguments")
Question = Callable[Arguments, pd.DataFrame]


def asks(sql: str, **given: object) -> Callable[[Question[Arguments]], Question[Arguments]]:
    """Makes a question of a signature and its docstring; what has no body here is asked in SQL.

    Args:
        sql: each `$name` in it is an argument, or is given.
        given: what is the same at every call, such as the order of names.
    """
    names = set(re.findall(r"\$(\w+)", sql)) - set(given)

    def question(declared: Question[Arguments]) -> Question[Arguments]:
        arguments = signature(declared)

        @wraps(declared)
        def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> pd.DataFrame:
            bound = arguments.bind(*args, **kwargs)
            bound.apply_defaults()
            values = {name: bound.arguments[name] for name in names} | given
            return bound.arguments["store"].execute(sql, values).df()

        return answer

    return question

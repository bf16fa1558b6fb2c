"""A question to a file: SQL whose parameters are the arguments of the function that asks it."""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import ParamSpec

import pandas as pd

Arguments = ParamSpec("Arguments")
Question = Callable[Arguments, pd.DataFrame]


def quoted(*texts: str) -> str:
    """Texts as SQL writes them, with commas between."""
    return ", ".join("'" + each.replace("'", "''") + "'" for each in texts)


def placed(names: Iterable[str], column: str) -> str:
    """The place of a column's value in an order of names, as SQL; NULL if it is none of them."""
    return f"list_position([{quoted(*names)}], {column})"


def asks(sql: str) -> Callable[[Question[Arguments]], Question[Arguments]]:
    """Makes a question of a signature and its docstring; what has no body here is asked in SQL.

    Args:
        sql: each `$name` in it is an argument.
    """
    names = set(re.findall(r"\$(\w+)", sql))

    def question(declared: Question[Arguments]) -> Question[Arguments]:
        arguments = signature(declared)

        @wraps(declared)
        def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> pd.DataFrame:
            bound = arguments.bind(*args, **kwargs)
            bound.apply_defaults()
            values = {name: bound.arguments[name] for name in names}
            return bound.arguments["store"].execute(sql, values).df()

        return answer

    return question

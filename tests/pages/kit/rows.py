"""Rows of a frame as the file itself would answer them."""

import pandas as pd


def rows_of(frame: pd.DataFrame, columns: list[str]) -> list[tuple]:
    """The rows of some columns as a query would answer them: None where there is no number."""
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in frame[columns].itertuples(index=False, name=None)
    ]

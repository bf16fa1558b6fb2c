"""Compare two folders that `tests.freeze` made, and name what moved.

    python -m tests.compare_frozen BEFORE AFTER

Prints a line for each frame that is only in one of them or holds other rows, with the columns that
differ and by how much, relative to the largest value of the column; then headlines that differ
above equal frames. Exit status 1 if anything moved.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

CONTENT = re.compile(r"%3A[0-9a-f]{8}")
ROUND_OFF = 1e-9
"""Relative differences up to this are those of sums in another order."""


def moved(before: Path, after: Path) -> list[str]:
    """Return a line for each frame and headline that is not the same in both folders."""
    old, new = map(frozen_in, (before, after))
    lines = [f"only before: {at}" for at in old if at not in new]
    lines += [f"only after: {at}" for at in new if at not in old]
    for at in (at for at in old if at in new):
        if old[at][1] != new[at][1]:
            frames = [
                pd.read_parquet(folder / f"{frames[at][0]}.parquet")
                for folder, frames in ((before, old), (after, new))
            ]
            if difference := difference_of(*frames):
                lines.append(f"{at}: {difference}")
                continue
        if old[at][2] != new[at][2]:
            lines.append(f"headline of {at}:\n    {old[at][2]}\n    {new[at][2]}")
    return lines


def frozen_in(folder: Path) -> dict[str, tuple[str, str, str]]:
    """Path, digest and headline of each frame, by its path without the contents of other files."""
    frozen = json.loads((folder / "frozen.json").read_text())
    return {CONTENT.sub("", at): (at, *parts) for at, parts in frozen.items()}


def difference_of(one: pd.DataFrame, two: pd.DataFrame) -> str:
    """Difference of two frames in words; empty if it is round-off or the order of rows."""
    if set(one) != set(two):
        return f"columns {sorted(map(str, set(one) ^ set(two)))}"
    if len(one) != len(two):
        return f"{len(one)} rows before, {len(two)} after"
    texts = [str(name) for name in one if not pd.api.types.is_numeric_dtype(one[name])]
    order = texts + [str(name) for name in one if name not in texts]
    one, two = (frame.sort_values(order, ignore_index=True) for frame in (one, two))
    parts = [f"{name} differs" for name in texts if not one[name].equals(two[name])]
    for name in order[len(texts) :]:
        a, b = (frame[name].to_numpy(float, na_value=np.nan) for frame in (one, two))
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            parts.append(f"{name} is absent elsewhere")
            continue
        kept = ~np.isnan(a) & (a != b)
        largest = np.abs(a[~np.isnan(a)]).max(initial=0)
        if (worst := np.abs(a - b)[kept].max(initial=0)) > ROUND_OFF * largest:
            parts.append(f"{name} by {worst / largest if largest else worst:.2g}")
    return ", ".join(parts)


if __name__ == "__main__":
    found = moved(*map(Path, sys.argv[1:]))
    print("\n".join(found) or "nothing moved")
    sys.exit(bool(found))

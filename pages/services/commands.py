"""Commands that make a file, from its own records."""

import shlex
from pathlib import Path

import pandas as pd

_DEFAULTS = {
    "mask": "0.0",
    "seed": "0",
    "max-tokens": "128",
    "limit": "none",
    "check-sequences": "none",
    "dtype": "float32",
    "packing": "paragraphs",
    "column": "text",
    "segments": "read",
    "random-weights": "none",
    "part": "none",
    "frequencies": "none",
}


def run_command(
    run: pd.Series, facts: dict[str, str], output: Path, *, statistics: list[str] | None = None
) -> str:
    """Command that makes the file again, or that adds statistics to it, if some are named.

    Settings are repeated, since a run with other settings replaces the file.
    """
    settings = {
        "mask": str(run["mask_rate"]),
        "seed": str(run["seed"]),
        "dtype": run["dtype"],
    } | {name.replace("_", "-"): value for name, value in facts.items()}
    words = ["python", "-m", "precompute", "run"]
    words += ["--model", run["model"], "--corpus", run["corpus"], "--output", str(output)]
    for name, default in _DEFAULTS.items():
        if settings.get(name, default) != default:
            words += [f"--{name}", settings[name]]
    if statistics:
        words += ["--statistics", ",".join(statistics)]
    return shlex.join(words)

"""Folder of statistics, and its files."""

import os
from pathlib import Path


def folder() -> Path:
    """Return `$MIXSCOPE_STATISTICS`, else `statistics` in the working directory."""
    return Path(os.environ.get("MIXSCOPE_STATISTICS") or "statistics")


def is_read_only() -> bool:
    """Return True if readers may build nothing in the folder, as under `mixscope serve`."""
    return bool(os.environ.get("MIXSCOPE_READ_ONLY"))


def files() -> list[Path]:
    """Files of statistics in the folder, by name: demo before demo-treebank."""
    return [path for path in _paths() if _text_of(path) == path.name]


def odd_names() -> list[str]:
    """Names of files that are left out because they are not UTF-8, with escapes for their bytes."""
    return [name for path in _paths() if (name := _text_of(path)) != path.name]


def _paths() -> list[Path]:
    paths = (path for path in folder().glob("*.duckdb") if not path.name.startswith("."))
    return sorted((path for path in paths if path.is_file()), key=lambda path: path.stem)


def _text_of(path: Path) -> str:
    """Name of a file, with escapes for bytes that are not UTF-8 and that no address can hold."""
    return os.fsencode(path.name).decode(errors="backslashreplace")

"""Folders of Arrow files as the `datasets` library saves them (`save_to_disk`)."""

import json
from pathlib import Path
from typing import Any

from analysis.errors import BadCorpus
from precompute.corpora.wording import listed, path_as_given, shown

_STATE, _SPLITS = "state.json", "dataset_dict.json"
_FILES, _INDICES = "_data_files", "_indices_data_files"


def saved_files(folder: Path) -> tuple[Path, ...]:
    """The Arrow files of a saved data set in its order; none if the folder is no such.

    Raises:
        BadCorpus: it holds several splits, rows that are chosen by indices, or no list of files.
    """
    place = path_as_given(folder)
    if (folder / _SPLITS).is_file():
        splits = _read(folder / _SPLITS).get("splits")
        named = listed(splits) if isinstance(splits, list) else "none named"
        raise BadCorpus(
            place, f"holds the splits of a data set ({named}); give the folder of one of them"
        )
    if not (folder / _STATE).is_file():
        return ()
    state = _read(folder / _STATE)
    if state.get(_INDICES):
        raise BadCorpus(
            place,
            f"is a data set whose rows are chosen by indices ({_INDICES} of {_STATE}); save it "
            "again with a `datasets` that writes the rows themselves",
        )
    files = state.get(_FILES)
    if not isinstance(files, list) or not files:
        raise BadCorpus(place, f"{_STATE} lists no files ({_FILES}); save the data set again")
    names = [entry.get("filename") if isinstance(entry, dict) else None for entry in files]
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise BadCorpus(
                place,
                f"{_STATE} lists {shown(name)}; each of {_FILES} must be a file of this folder",
            )
    return tuple(folder / str(name) for name in names)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadCorpus(
            path_as_given(path), f"is no JSON ({error}); save the data set again"
        ) from error
    if not isinstance(value, dict):
        raise BadCorpus(path_as_given(path), "is no JSON object; save the data set again")
    return value

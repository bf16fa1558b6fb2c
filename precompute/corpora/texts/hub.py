"""Parquet files of a data set on the hub: `hf://datasets/OWNER/NAME[@REVISION]/PATH`."""

from fnmatch import fnmatchcase
from pathlib import Path

import huggingface_hub
from huggingface_hub import errors
from huggingface_hub.errors import HfHubHTTPError, HfUriError, HFValidationError

from analysis.errors import BadCorpus
from precompute.corpora.wording import listed

HUB = "hf://"
_PARQUET = ".parquet"
_NO_ANSWER: type[Exception] = vars(errors)["HTTPError"]
"""Error of the HTTP library below the hub's client, in any of its versions."""
_FORM = "is no data set of the hub; write hf://datasets/OWNER/NAME/PATH, or NAME@REVISION/PATH"


def hub_files(address: str) -> tuple[str, tuple[Path, ...]]:
    """Return the commit of an address, and its files, downloaded if they are not here yet.

    PATH is a file, a folder, or a pattern such as `data/train-*`; its files are read in
    alphabetical order.

    Raises:
        BadCorpus: the address is invalid, the hub cannot be reached or has no such data set or
            revision, or no Parquet file is there.
    """
    try:
        uri = huggingface_hub.parse_hf_uri(address)
    except HfUriError as error:
        raise BadCorpus(address, _FORM) from error
    if uri.type != "dataset":
        raise BadCorpus(address, _FORM)
    try:
        known = huggingface_hub.HfApi().dataset_info(uri.id, revision=uri.revision)
        there = [file.rfilename for file in known.siblings or ()]
        chosen = _chosen(address, uri.path_in_repo.rstrip("/"), there)
        files = [
            huggingface_hub.hf_hub_download(uri.id, file, repo_type="dataset", revision=known.sha)
            for file in chosen
        ]
    except (HFValidationError, HfHubHTTPError) as error:
        raise BadCorpus(
            address,
            f"is not on the hub, or not for you ({_first_line(error)}); check owner, name and "
            "revision, and log in if it is private",
        ) from error
    except (OSError, _NO_ANSWER) as error:
        raise BadCorpus(
            address,
            f"needs the hub, which cannot be reached ({_first_line(error)}); go online, or fetch "
            "its Parquet files elsewhere and give their folder",
        ) from error
    return str(known.sha), tuple(map(Path, files))


def _chosen(address: str, path: str, there: list[str]) -> list[str]:
    """The Parquet files that are named by a path, lie below it, or fit it as a pattern."""
    parquet = sorted(file for file in there if file.endswith(_PARQUET))
    if not parquet:
        raise BadCorpus(address, "holds no Parquet; fetch its files and give them as --corpus")
    chosen = [
        file
        for file in parquet
        if file == path or file.startswith(f"{path}/") or fnmatchcase(file, path)
    ]
    if not chosen:
        what = f"has no Parquet at {path}" if path else "names no file"
        raise BadCorpus(
            address,
            f"{what}; end it with a file, a folder or a pattern such as data/train-*, of these: "
            f"{listed(parquet)}",
        )
    return chosen


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__

"""Findings of a file as JSON, for programs: `python -m pages.overview.as_json FILE`."""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from analysis.errors import UserError
from pages.charts.headline import unmarked
from pages.kit.contents import PAGES
from pages.kit.found import Found
from pages.kit.links import VIEWS
from pages.overview.ranked_findings import findings, how_sure
from pages.services.chosen import readable, speak_of_file, why_unreadable
from pages.services.open_file import Store, seen_once

VERSION = 1
"""Raised when a field changes its name or meaning, or goes."""


def account(file: Path) -> dict[str, Any]:
    """Findings of a file, the clearest first.

    Returns:
        version; file, content, model and corpus; and findings: page, section, label, number,
        sentence, certainty, interval (low and high of the first row of the evidence, or None, for
        which the certainty gives the reason), baseline (a value, the name of a row of the evidence,
        or None), evidence (rows of name, value, low, high), link, relative to the
        address of the dashboard, and queries, the SQL behind the numbers.

    Raises:
        UserError: if the file cannot be read.
    """
    os.environ["MIXSCOPE_STATISTICS"] = str(file.parent)
    with seen_once():
        store = opened(file)
        speak_of_file(store)
        about = {"file": store.name, "content": store.content, "model": store.model_name}
        about["corpus"] = str(store.run["corpus"])
        found = [_entry(finding, store) for finding in findings(store)]
        return {"version": VERSION, **about, "findings": found}


def opened(file: Path) -> Store:
    """Return a file as it is now.

    Raises:
        UserError: if it cannot be read.
    """
    outcome = readable(file.absolute())
    if isinstance(outcome, Store):
        return outcome
    raise UserError(unmarked(why_unreadable(file, outcome)))


def _entry(of: Found, store: Store) -> dict[str, Any]:
    asked = {"file": store.name, "content": store.content, VIEWS[of.page]: of.view}
    evidence = of.evidence.astype(object).where(of.evidence.notna(), None).to_dict("records")
    ends = [row[end] for row in evidence[:1] for end in ("low", "high")]
    return {
        "page": of.page,
        "section": of.view,
        "label": of.label,
        "number": of.number,
        "sentence": unmarked(of.sentence),
        "certainty": unmarked(how_sure(of)),
        "interval": None if None in ends else ends,
        "baseline": of.baseline,
        "evidence": evidence,
        "link": f"/{PAGES[of.page]}?{urlencode(asked)}",
        "queries": list(of.queries),
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, that there is no reader
    try:
        made = account(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(str(error))
    json.dump(made, sys.stdout, ensure_ascii=False, indent=1, default=float)

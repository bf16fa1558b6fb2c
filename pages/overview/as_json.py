"""Findings of a file as JSON, for programs: `python -m pages.overview.as_json FILE`."""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pages.overview.ranked_findings import findings, how_sure
from pages.ui.charts.headline import unmarked
from pages.ui.choices.links import VIEWS
from pages.ui.contents import PAGES
from pages.ui.finding import Finding
from pages.ui.store.chosen import readable, speak_of_file, why_unreadable
from pages.ui.store.open_file import Store, seen_once

VERSION = 1
"""Raised when a field changes its name or meaning, or goes."""


def account(file: Path) -> dict[str, Any]:
    """Findings of a file, the clearest first.

    Returns:
        version; file, content, model and corpus; and findings: page, section, label, number,
        sentence, certainty, baseline, evidence (rows of name, value, low, high, by layer in some)
        and link, relative to the address of the dashboard.
    """
    os.environ["MIXSCOPE_STATISTICS"] = str(file.parent)
    with seen_once():
        return _account(file)


def _account(file: Path) -> dict[str, Any]:
    store = readable(file.absolute())
    if not isinstance(store, Store):
        return {"version": VERSION, "error": why_unreadable(file, store)}
    speak_of_file(store)
    about = {"file": store.name, "content": store.content, "model": store.model_name}
    about["corpus"] = str(store.run["corpus"])
    told = [_entry(finding, store) for finding in findings(store)]
    return {"version": VERSION, **about, "findings": told}


def _entry(of: Finding, store: Store) -> dict[str, Any]:
    asked = {"file": store.name, "content": store.content, VIEWS[of.page]: of.view, **of.choices}
    evidence = of.evidence.astype(object).where(of.evidence.notna(), None)
    return {
        "page": of.page,
        "section": of.view,
        "label": of.label,
        "number": of.number,
        "sentence": unmarked(of.sentence),
        "certainty": unmarked(how_sure(of)),
        "baseline": of.baseline,
        "evidence": evidence.to_dict("records"),
        "link": f"/{PAGES[of.page]}?{urlencode(asked)}",
    }


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, that there is no reader
    made = account(Path(sys.argv[1]))
    if "error" in made:
        sys.exit(unmarked(made["error"]))
    json.dump(made, sys.stdout, ensure_ascii=False, indent=1, default=float)

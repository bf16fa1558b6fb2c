"""Findings of all pages on the open file, each with its numbers and a link to its section."""

import numpy as np
import streamlit as st

from pages.kit.found import Found
from pages.kit.grammar import written
from pages.kit.links import VIEWS
from pages.kit.sections import page_of
from pages.services.open_file import Store, Version
from pages.words.say import Language, plain, say
from pages.words.say import language as said_in


def findings(store: Store) -> list[Found]:
    """Findings of all pages whose statistics a file holds, the clearest first.

    Findings without intervals come last. In image files, relevance precedes ties.
    """
    return _findings(store.version, said_in(), store)


@st.cache_data(max_entries=64, max_size="64MB", show_spinner=False)
def _findings(version: Version, language: Language, _store: Store) -> list[Found]:
    pages = sorted(VIEWS, key=lambda page: _store.shows_images and page != "relevance")
    results = [finding for page in pages for finding in page_of(page).findings(_store)]
    return sorted(results, key=lambda finding: -finding.strength if finding.strength > 0 else 1.0)


def how_sure(finding: Found) -> str:
    """Describe the certainty of a finding.

    Gives the number, its interval and its baseline, if it has them.
    """
    level = finding.baseline
    if level is None or np.isnan(finding.strength):
        return say("overview.no_interval")
    baseline = level if isinstance(level, str) else f"{level:g}"
    value, low, high = written(
        finding.evidence[["value", "low", "high"]].iloc[0].tolist(), finding.format
    )
    side = "unclear" if finding.side == "unsure" else finding.side
    return say(
        f"overview.interval_{side}", value=value, low=low, high=high, baseline=plain(baseline)
    )

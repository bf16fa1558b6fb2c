"""An image that a reader brings: its maps are computed while they wait, and kept nowhere."""

import streamlit as st

from pages.relevance.map_source import LiveMaps
from pages.ui.live import door as live
from pages.ui.words.say import say


def own_image() -> LiveMaps | None:
    """The maps of an image that was uploaded; None, with the reason, where there are none yet."""
    if not live.reachable():
        return None
    upload = live.upload_box(
        say("relevance.own.upload"),
        key="re_upload",
        help=say("relevance.own.help", limit=live.MAX_UPLOAD),
    )
    if upload is None:
        st.caption(say("relevance.own.empty"))
        return None
    found = live.relevance_of_image(upload)
    return None if found is None else LiveMaps(upload.file_id, found)

"""The text or image to examine: one of the file, or the reader's own; and the maps of its heads."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.errors import UserError
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.positions.attention import EXEMPLAR_ATTENTION
from pages.drawn.image_ground import ImageGround, ground_of
from pages.drawn.pieces import unique_names
from pages.kit.address import FreeChoice
from pages.kit.head_choice import Head
from pages.kit.items import Control
from pages.kit.search import SEQUENCES_WITH
from pages.kit.section import TEXTS_OF, Choices, rows_of, tokens_of
from pages.kit.source import SectionEnds
from pages.kit.view import View
from pages.services import live_model as live
from pages.services.absences import SPECIAL
from pages.services.inquiry import Inquiry
from pages.words.lines import beginning

_OWN = ("text", "second")  # the reader's texts, in the address
_MOST = 500  # texts that a picker lists
_SHORT = 60  # letters of a text that stand in it
_TALL = 100  # pixels of a field for a text
_NUMBER = re.compile(r"[0-9]{1,9}")
_STORED = """
    select n, attention from exemplar_attention where seq = $seq order by layer, head"""


@dataclass(frozen=True, eq=False)
class Subject:
    """Sequence to examine, with its input of the model, unless that cannot be run here.

    `special` is True for tokens such as [CLS]. `seq` is its number in the file.
    """

    key: str
    tokens: tuple[str, ...]
    token_ids: tuple[int, ...]
    special: tuple[bool, ...]
    reading: live.Reading | None
    seq: int | None = None
    ground: ImageGround | None = None
    _maps: dict[Head | None, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.key

    @property
    def names(self) -> list[str]:
        """Unique names: tokens with their positions, patches by row and column."""
        if self.ground is None:
            return unique_names(list(self.tokens))
        places = self.ground.places().itertuples(index=False)
        return [*self.ground.special, *(f"{row}·{column}" for row, column in places)]

    def maps(self, inquiry: Inquiry, without: Head | None = None) -> Mapping[str, np.ndarray]:
        """Shares by layer, head, query and key, by `weight` and by `norm`; weights of the first
        tokens, or none, of what only the file knows."""
        if without not in self._maps:
            self._maps[without] = self._found(inquiry, without)
        return self._maps[without]

    def _found(self, inquiry: Inquiry, without: Head | None) -> Mapping[str, np.ndarray]:
        if self.reading is not None:
            with suppress(UserError):  # too long for all heads at once
                made = live.run_on(inquiry.store, "head_maps", self.reading, without=without)
                return {WEIGHT: made.weights, NORM: made.norms}
        elif self.seq is not None and inquiry.store.holds(EXEMPLAR_ATTENTION):
            rows = rows_of(_STORED, inquiry, {"seq": self.seq})
            for n in rows["n"].head(1):
                shape = (len(inquiry.store.layers), -1, n, n)
                return {WEIGHT: np.stack(rows["attention"].tolist()).reshape(shape)}
        return {}


def shared_tokens(first: Subject, second: Subject) -> list[tuple[int, int]]:
    """Positions, in both texts, of the tokens that they share in order."""
    matcher = SequenceMatcher(None, first.token_ids, second.token_ids, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return [(block.a + at, block.b + at) for block in blocks for at in range(block.size)]


def pick_subject(view: View, _: Choices) -> dict[str, Any]:
    """Let the reader pick a sequence of the file, or enter one or two; end without any."""
    if view.pick("whose", ("file", "own")) == "file":
        subjects = [_of_file(view, _pick_sequence(view))]
    elif not view.store.shows_images:
        subjects = _own_texts(view)
    elif live.reachable(view):
        help = view.say("own_image_help", limit=live.MAX_UPLOAD)
        upload = live.upload_box(view, view.say("own_image"), help=help)
        subjects = [_own(None if upload is None else live.of_image(view, upload))]
    else:
        raise SectionEnds
    return dict(zip(("subject", "second"), [*subjects, None], strict=False))


def _pick_sequence(view: View) -> int:
    is_long = int(view.store.run["n_sequences"]) > _MOST
    text = view.text("find") if is_long else ""
    sequences = rows_of(SEQUENCES_WITH, view, {"text": text, "limit": _MOST})
    asked = filter(_NUMBER.fullmatch, view.choices.asked(view.key("seq")))
    if is_long and not text and (linked := [int(number) for number in asked]):
        more = rows_of(TEXTS_OF, view, {"sequences": linked})
        sequences = pd.concat([sequences, more])
    if sequences.empty:
        view.end("none_found")
    texts = (beginning(" ".join(str(text).split()), _SHORT) for text in sequences["text"])
    pairs = zip(sequences["seq"].tolist(), texts, strict=True)
    labels = {seq: view.say("label", seq=seq, text=text) for seq, text in pairs}
    return view.pick("seq", labels, kind="select")


def _of_file(view: View, seq: int) -> Subject:
    tokens, ground = tokens_of(view, seq), ground_of(view, seq)
    picture = ground.picture if ground else None
    can_run = (picture is not None or not view.store.shows_images) and live.reachable(view)
    return Subject(
        str(seq),
        tokens=tuple(tokens["token"]),
        token_ids=tuple(tokens["token_id"].tolist()),
        special=tuple(tokens["token_type"].isin(SPECIAL).tolist()),
        reading=live.of_file(tokens, picture) if can_run else None,
        seq=seq,
        ground=ground,
    )


def _own_texts(view: View) -> list[Subject]:
    """Text that the reader types or a link brings, and a second one; both stand in the address."""
    texts = []
    with view.place("form", view.key("own_form"), border=False):
        for name, place in zip(_OWN, view.split(len(_OWN)), strict=True):
            key, help = view.key(name), view.say("own_help", most=f"{live.LONGEST:,}")
            settings = {"height": _TALL, "max_chars": live.MAX_CHARACTERS}
            with place:
                view.add(Control(key, view.say(name), "sql", help=help, settings=settings))
            texts.append(view.choices.value(FreeChoice(key, longest=live.LONGEST + 1)).strip())
        view.draw(st.form_submit_button, view.say("own_start"), type="primary")
    if any(len(text) > live.LONGEST for text in texts):
        view.end("own_long", most=f"{live.LONGEST:,}")
    if not texts[0] or not live.reachable(view):
        raise SectionEnds
    subjects = [_own(live.of_text(view, text)) for text in texts if text]
    for subject in subjects:
        if subject.reading and subject.reading.is_cut:
            view.write("caption", view.say("own_cut", n=len(subject.tokens)))
    return subjects


def _own(reading: live.Reading | None) -> Subject:
    """Sequence of the reader's own, which is stored nowhere; ends the section without one."""
    if reading is None:
        raise SectionEnds
    sequence, ground = reading.sequence, None
    if grid := reading.grid:
        special = sequence.tokens[: grid["first_patch"]]
        ground = ImageGround(grid["rows"], grid["columns"], special, grid["picture"])
    ids, special = tuple(sequence.ids.tolist()), (of in SPECIAL for of in sequence.named_types)
    return Subject(reading.key, sequence.tokens, ids, tuple(special), reading, ground=ground)

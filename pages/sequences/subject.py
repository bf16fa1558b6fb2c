"""The text or image to examine: one of the file, or the reader's own; and the maps of its heads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.errors import UserError
from analysis.statistics.corpus import matching_sequences, sequence_texts
from analysis.statistics.norms.weighing import NORM, WEIGHT
from analysis.statistics.pairs import pair_occurrence
from analysis.statistics.positions import exemplar_attention
from pages.kit.section import Choices, rows_of
from pages.ui.charts.image_ground import ImageGround, ground_of
from pages.ui.charts.pieces import unique_names
from pages.ui.choices.address import FreeChoice
from pages.ui.choices.source import SectionEnds
from pages.ui.head.choice import Head
from pages.ui.items import Control
from pages.ui.live import live_model as live
from pages.ui.store.absences import SPECIAL
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.lines import beginning

LONGEST = 2_000
"""Characters of a text that a link carries."""
_OWN = ("text", "second")  # the reader's texts, in the address
_MOST = 500  # texts that a picker lists
_SHORT = 60  # letters of a text that stand in it
_TALL = 100  # pixels of a field for a text
_NUMBER = re.compile(r"[0-9]{1,9}")
_STORED = """
    select n, attention from exemplar_attention where seq = $seq order by layer, head"""


@dataclass(frozen=True, eq=False)
class Subject:
    """Sequence to examine.

    `special` is True for tokens such as [CLS]. `reading` is the input of the model, None if that
    cannot be run here. `seq` is the number in the file, None for the reader's own. `ground` is the
    picture of an image.
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
        """Shares of every key in each query by layer and head, by `weight` and by `norm`.

        Args:
            without: head whose output is replaced by zero.

        Returns:
            Weights alone, of the first tokens, of a text that only the file knows; empty if there
            are none.
        """
        if without not in self._maps:
            self._maps[without] = self._found(inquiry, without)
        return self._maps[without]

    def _found(self, inquiry: Inquiry, without: Head | None) -> Mapping[str, np.ndarray]:
        if self.reading is not None:
            try:
                made = live.run_on(inquiry.store, "head_maps", self.reading, without=without)
                return {WEIGHT: made.weights, NORM: made.norms}
            except UserError:  # too long for all heads at once
                return {}
        if self.seq is None or not inquiry.store.holds(exemplar_attention.TABLE):
            return {}
        rows = rows_of(_STORED, inquiry, {"seq": self.seq})
        if rows.empty:
            return {}
        n, layers = int(rows["n"].iloc[0]), len(inquiry.store.layers)
        return {WEIGHT: np.stack(rows["attention"].tolist()).reshape(layers, -1, n, n)}


def shared_tokens(first: Subject, second: Subject) -> tuple[list[int], list[int]]:
    """Positions, in each of two texts, of the tokens that they share in order."""
    matcher = SequenceMatcher(None, first.token_ids, second.token_ids, autojunk=False)
    blocks = matcher.get_matching_blocks()
    return (
        [block.a + at for block in blocks for at in range(block.size)],
        [block.b + at for block in blocks for at in range(block.size)],
    )


def pick_subject(view: View, _: Choices) -> dict[str, Any]:
    """Let the reader pick a sequence of the file, or enter one or two; end without any.

    The choices `subject` and `second` are of the class `Subject`, or None.
    """
    if view.pick("whose", ("file", "own")) == "file":
        return {"subject": _of_file(view, _pick_sequence(view)), "second": None}
    if view.store.shows_images:
        return {"subject": _own_image(view), "second": None}
    return dict(zip(("subject", "second"), _own_texts(view), strict=True))


def _pick_sequence(view: View) -> int:
    is_long = int(view.store.run["n_sequences"]) > _MOST
    text = view.text("find") if is_long else ""
    sequences = view.ask(matching_sequences, text=text, limit=_MOST)
    asked = filter(_NUMBER.fullmatch, view.choices.asked(view.key("seq")))
    if is_long and not text and (linked := [int(number) for number in asked]):
        sequences = pd.concat([sequences, view.ask(sequence_texts, sequences=linked)])
    if sequences.empty:
        view.end("none_found")
    texts = (beginning(" ".join(str(text).split()), _SHORT) for text in sequences["text"])
    labels = {
        seq: view.say("label", seq=seq, text=text)
        for seq, text in zip(sequences["seq"].tolist(), texts, strict=True)
    }
    return view.pick("seq", labels, kind="select")


def _of_file(view: View, seq: int) -> Subject:
    tokens = view.ask(pair_occurrence.sequence, seq=seq)
    ground = ground_of(view, seq)
    picture = ground.picture if ground else None
    can_run = (picture is not None or not view.store.shows_images) and live.reachable(view)
    return Subject(
        key=str(seq),
        tokens=tuple(tokens["token"]),
        token_ids=tuple(tokens["token_id"].tolist()),
        special=tuple(tokens["token_type"].isin(SPECIAL).tolist()),
        reading=live.of_file(tokens, picture) if can_run else None,
        seq=seq,
        ground=ground,
    )


def _own_image(view: View) -> Subject:
    """Image that the reader uploads; it is stored nowhere."""
    if not live.reachable(view):
        raise SectionEnds
    help = view.say("own_image_help", limit=live.MAX_UPLOAD)
    upload = live.upload_box(view, view.say("own_image"), help=help)
    reading = None if upload is None else live.of_image(view, upload)
    if reading is None:
        raise SectionEnds
    grid = reading.grid
    special = reading.sequence.tokens[: grid["first_patch"]]
    ground = ImageGround(grid["rows"], grid["columns"], special, grid["picture"])
    return _typed(reading, ground)


def _own_texts(view: View) -> tuple[Subject, Subject | None]:
    """Text that the reader types or a link brings, and a second one; both stand in the address."""
    choices = [FreeChoice(view.key(name), longest=LONGEST + 1) for name in _OWN]
    texts = [view.choices.value(choice).strip() for choice in choices]
    with view.place("form", view.key("own_form"), border=False):
        for name, place in zip(_OWN, view.split(len(_OWN)), strict=True):
            settings = {"height": _TALL, "max_chars": live.MAX_CHARACTERS}
            with place:
                label, help = view.say(name), view.say("own_help", most=f"{LONGEST:,}")
                view.add(Control(view.key(name), label, "sql", help=help, settings=settings))
        view.draw(st.form_submit_button, view.say("own_start"), type="primary")
    if any(len(text) > LONGEST for text in texts):
        view.end("own_long", most=f"{LONGEST:,}")
    if not texts[0] or not live.reachable(view):
        raise SectionEnds
    readings = [live.of_text(view, text) if text else None for text in texts]
    first, second = (_typed(reading) if reading else None for reading in readings)
    if first is None:
        raise SectionEnds
    for subject in filter(None, (first, second)):
        if subject.reading and subject.reading.is_cut:
            view.write("caption", view.say("own_cut", n=len(subject.tokens)))
    return first, second


def _typed(reading: live.Reading, ground: ImageGround | None = None) -> Subject:
    sequence = reading.sequence
    return Subject(
        key=reading.key,
        tokens=sequence.tokens,
        token_ids=tuple(sequence.ids.tolist()),
        special=tuple(kind in SPECIAL for kind in sequence.named_types),
        reading=reading,
        ground=ground,
    )

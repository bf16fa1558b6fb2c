"""Choice of the text or image to examine: one of the file, or the reader's own."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from analysis.statistics.corpus import matching_sequences, sequence_texts
from analysis.statistics.pairs import pair_occurrence
from pages.ui.charts.image_ground import ImageGround, ground_of
from pages.ui.charts.pieces import written
from pages.ui.choices.source import SectionEnds
from pages.ui.live import live_model as live
from pages.ui.live import readings
from pages.ui.store.absences import SPECIAL
from pages.ui.view import View
from pages.ui.words.lines import beginning

_MOST = 500  # texts that a picker lists
_SHORT = 60  # letters of a text that stand in it
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Subject:
    """Sequence to examine.

    `special` is True for tokens such as [CLS]. `seq` is the number in the file, None for the
    reader's own. `read` prepares the sequence for the model. `ground` is the picture of an image.
    """

    key: str
    tokens: tuple[str, ...]
    token_ids: tuple[int, ...]
    special: tuple[bool, ...]
    read: Callable[[], readings.Reading | None]
    seq: int | None = None
    ground: ImageGround | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def reading(self) -> readings.Reading | None:
        """Input of the model; None, with a notice to the reader, if the model cannot be run."""
        return self.read()

    @property
    def names(self) -> list[str]:
        """Unique names: tokens with their positions, patches by row and column."""
        if self.ground is None:
            pieces = enumerate(written(list(self.tokens)))
            return [f"{name}{str(place).translate(_LOWERED)}" for place, name in pieces]
        places = self.ground.places().itertuples(index=False)
        return [*self.ground.special, *(f"{row}·{column}" for row, column in places)]


def pick_subject(view: View) -> Subject:
    """Let the reader pick a sequence of the file, by number or search, or enter one.

    Ends the section if there is none.
    """
    if view.pick("whose", ("file", "own")) == "own":
        return _own(view)
    text = view.text("find")
    sequences = view.ask(matching_sequences, text=text, limit=_MOST)
    if not text:  # a link may lead beyond the first ones
        linked = [
            int(number)
            for number in view.choices.asked(view.key("seq"))
            if _NUMBER.fullmatch(number)
        ]
        sequences = pd.concat([sequences, view.ask(sequence_texts, sequences=linked)])
    if sequences.empty:
        view.end("none_found")
    texts = (beginning(" ".join(str(text).split()), _SHORT) for text in sequences["text"])
    labels = {
        seq: view.say("label", seq=seq, text=text)
        for seq, text in zip(sequences["seq"].tolist(), texts, strict=True)
    }
    return of_file(view, view.pick("seq", labels, kind="select"))


def of_file(view: View, seq: int) -> Subject:
    """Sequence of the file."""
    tokens = view.ask(pair_occurrence.sequence, seq=seq)
    ground = ground_of(view, seq)
    picture = ground.picture if ground else None

    def read() -> readings.Reading | None:
        can_run = (picture is not None or not view.store.shows_images) and live.reachable(view)
        return readings.of_file(tokens, picture) if can_run else None

    return Subject(
        key=str(seq),
        tokens=tuple(tokens["token"]),
        token_ids=tuple(tokens["token_id"].tolist()),
        special=tuple(tokens["token_type"].isin(SPECIAL).tolist()),
        read=read,
        seq=seq,
        ground=ground,
    )


def _own(view: View) -> Subject:
    """Sequence that the reader types or uploads; it is stored nowhere."""
    reading = _own_image(view) if view.store.shows_images else _own_text(view)
    if reading is None:
        raise SectionEnds
    if reading.is_cut:
        view.write("caption", view.say("own_cut", n=len(reading.tokens)))
    return Subject(
        key=reading.key,
        tokens=reading.tokens,
        token_ids=reading.token_ids,
        special=tuple(kind in SPECIAL for kind in reading.token_types),
        read=lambda: reading,
        ground=_ground(reading) if view.store.shows_images else None,
    )


def _own_image(view: View) -> readings.Reading | None:
    if not live.reachable(view):
        return None
    help = view.say("own_image_help", limit=live.MAX_UPLOAD)
    upload = live.upload_box(view, view.say("own_image"), help=help)
    return readings.of_image(view, upload) if upload is not None else None


def _own_text(view: View) -> readings.Reading | None:
    text = live.text_box(view)
    return readings.of_text(view, text) if text and live.reachable(view) else None


def _ground(reading: readings.Reading) -> ImageGround:
    grid = reading.grid
    return ImageGround(
        rows=grid["rows"],
        columns=grid["columns"],
        special=reading.tokens[: grid["first_patch"]],
        picture=grid["picture"],
    )

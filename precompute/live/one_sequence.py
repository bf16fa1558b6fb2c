"""Live runs on one sequence: maps that no file keeps, and readers' own inputs."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace

import numpy as np

from analysis.errors import UserError
from analysis.statistics.corpus import Identity
from precompute.corpora.images.images import image_sequence
from precompute.corpora.images.uploads import read_upload
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.live.answers import HeadMaps, HeadVectors, LayerMaps, LiveRelevance, WithoutHead
from precompute.live.head_maps import Head, head_maps, without_head
from precompute.live.head_vectors import head_vectors
from precompute.live.layer_maps import layer_maps
from precompute.live.live_relevance import grid, relevance_of, text_of
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel

_COMMIT = 40  # letters of a hub's commit


Kept = tuple[SequenceOf[int], SequenceOf[int]] | bytes
"""Stored form of a sequence: ids and segments of a text, or the picture of an image."""


class OtherModel(UserError):
    """The model under the name in the file is not the one that made the file."""


@dataclass(frozen=True)
class Rerun:
    """The model of a file; one thread at a time runs it, since a trace hooks its modules."""

    model: LoadedModel

    def ready(self) -> None:
        """Return at once: the model is loaded."""

    def layer_maps(self, sequence: Sequence | Kept, *, layer: int) -> LayerMaps:
        """Shares of every key for every query in one layer, counted from 1."""
        return layer_maps(self.model, self._whole(sequence), layer=layer)

    def head_vectors(
        self, sequence: Sequence | Kept, *, layer: int, head: int, query: int
    ) -> HeadVectors:
        """α and f(x) of every key for one query; layer and head count from 1, the query from 0."""
        place = {"layer": layer, "head": head, "query": query}
        return head_vectors(self.model, self._whole(sequence), **place)

    def head_maps(self, sequence: Sequence | Kept, *, without: Head | None = None) -> HeadMaps:
        """Maps of all heads; with a head, those that are left without its output."""
        return head_maps(self.model, self._whole(sequence), without)

    def without_head(self, sequence: Sequence | Kept, *, layer: int, head: int) -> WithoutHead:
        """Run of a sequence without a head; layer and head count from 1."""
        return without_head(self.model, self._whole(sequence), (layer, head))

    def _whole(self, sequence: Sequence | Kept) -> Sequence:
        if isinstance(sequence, bytes):
            return self.kept(sequence)
        return sequence if isinstance(sequence, Sequence) else _sequence(*sequence)

    def typed(self, text: str, *, max_tokens: int) -> tuple[Sequence, bool]:
        """Encode a reader's text; return it and whether it was cut off, or raise as `text_of`."""
        return text_of(self.model, text, max_tokens)

    def uploaded(self, data: bytes, *, name: str) -> tuple[Sequence, dict]:
        """Read a reader's image; return it and its `grid`, or raise as `relevance_of_image`."""
        reader = self.model.image_reader
        sequence = image_sequence(0, read_upload(data, name=name), reader)
        return sequence, grid(reader, sequence)

    def kept(self, picture: bytes) -> Sequence:
        """Build a sequence from the picture that a file stores of the model's input."""
        seen = replace(read_upload(picture, name="image.png"), is_seen=True)
        return image_sequence(0, seen, self.model.image_reader)

    def relevance_of_image(self, data: bytes, *, name: str) -> LiveRelevance:
        """Relevance of a reader's image; nothing of it is written anywhere.

        Args:
            name: its name in messages.

        Raises:
            UnfitModel: the model reads text.
            BadCorpus: it holds too many bytes or pixels, or is no readable image.
        """
        sequence, _ = self.uploaded(data, name=name)
        return relevance_of(self.model, sequence)

    def relevance_of_text(self, text: str, *, max_tokens: int) -> LiveRelevance:
        """Relevance of a reader's text.

        Args:
            max_tokens: the length that the text is cut to.

        Raises:
            UnfitModel: the model reads images.
            BadCorpus: the text is too long, or holds nothing.
        """
        sequence, is_cut = text_of(self.model, text, max_tokens)
        return relevance_of(self.model, sequence, is_cut=is_cut)


def rerun(
    name: str,
    *,
    revision: str,
    identity: Identity,
    dtype: str,
    segments: str = "read",
    random_weights: int | None = None,
    part: str | None = None,
) -> Rerun:
    """Load the model that made a file by facts of its run, without the hub.

    Raises:
        OtherModel: if the files under this name, or the packages that read them, have changed.
        UserError: if there is no such model here, or it cannot be loaded.
    """
    model = load_model(
        _pinned(name, revision),
        device="cpu",
        dtype=dtype,
        fetch=False,
        segments=segments,
        random_weights=random_weights,
        part=part,
    )
    if model.identity != identity:
        raise OtherModel(
            f"{name!r} here is another model than the one of the file: "
            f"{differences(model.identity, identity)}. Put that one back, or build the file again."
        )
    return Rerun(model)


def _pinned(name: str, revision: str) -> str:
    """Return the name with the hub's commit, for models from the hub."""
    commit = revision.partition("+")[0]
    return f"{name.partition('@')[0]}@{commit}" if len(commit) == _COMMIT else name


def _sequence(ids: SequenceOf[int], segments: SequenceOf[int]) -> Sequence:
    """Build the input of a forward pass, without words and text."""
    n_tokens = len(ids)
    return Sequence(
        index=0,
        ids=np.array(ids, dtype=np.int32),
        segments=np.array(segments, dtype=np.uint8),
        token_types=np.zeros(n_tokens, dtype=np.uint8),
        words=np.full(n_tokens, NO_WORD, dtype=np.int32),
        masked=np.zeros(n_tokens, dtype=bool),
        tokens=("",) * n_tokens,
        text="",
        place="",
    )

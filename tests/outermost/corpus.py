"""The sequences of a file, by its table `token` alone, gone through the bare model."""

from dataclasses import dataclass
from functools import cached_property

import duckdb
import numpy as np
import pandas as pd

from tests.outermost.bare_model import BareModel, Reading
from tests.outermost.layer_parts import Parts, layer_parts

SPECIAL = ("bos", "cls", "sep")


@dataclass(frozen=True)
class Corpus:
    """A model, and every sequence that went through it."""

    model: BareModel
    readings: list[Reading]

    @cached_property
    def parts(self) -> list[list[Parts]]:
        """Every layer of every sequence taken apart: slow, so done once."""
        return [
            [layer_parts(self.model, reading, layer) for layer in range(len(self.model.layers))]
            for reading in self.readings
        ]

    @property
    def has_segments(self) -> bool:
        return getattr(self.model.model.config, "type_vocab_size", 0) > 1

    def is_masked(self, identity: int) -> bool:
        return identity == self.model.tokenizer.mask_token_id


def read_corpus(store: duckdb.DuckDBPyConnection, model: BareModel) -> Corpus:
    """All sequences of a file in the order of the file; the model gets segments unless all 0."""
    segmenting = store.execute("select value from provenance where name = 'segments'").fetchall()
    ignored = segmenting == [("zero",)]
    tokens = store.execute("select seq, pos, token_id, segment from token order by seq, pos").df()
    readings = []
    for seq, rows in tokens.groupby("seq", sort=True):
        ids = rows["token_id"].astype(int).tolist()
        segments = (rows["segment"].astype(int) * (not ignored)).tolist()
        types = [type_of(model.tokenizer, identity) for identity in ids]
        if model.is_causal and types[0] not in SPECIAL and ids[0] != model.tokenizer.mask_token_id:
            types[0] = "first"
        readings.append(model.read(int(str(seq)), ids, segments, types))
    return Corpus(model, readings)


def type_of(tokenizer, identity: int) -> str:
    """Token type: bos, cls, sep, comma_period or other, by the tokenizer's token."""
    if tokenizer.cls_token_id != tokenizer.sep_token_id:
        if identity == tokenizer.cls_token_id:
            return "cls"
        if identity == tokenizer.sep_token_id:
            return "sep"
    if identity == tokenizer.bos_token_id != tokenizer.eos_token_id:
        return "bos"
    token = tokenizer.convert_ids_to_tokens(identity)
    return "comma_period" if token.lstrip("Ġ▁") in {",", "."} else "other"


def frame_of(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame.from_records(rows)


def sequence(corpus: Corpus) -> pd.DataFrame:
    return frame_of([{"seq": reading.seq, "n_tokens": len(reading)} for reading in corpus.readings])


def token(corpus: Corpus) -> pd.DataFrame:
    """The text and the type of every id; segments are 0 up to and including the first [SEP]."""
    frames = []
    for reading in corpus.readings:
        separators = np.cumsum([kind == "sep" for kind in reading.types])
        segments = [0, *(separators[:-1] > 0).astype(int)] if corpus.has_segments else 0
        place = {"seq": reading.seq, "pos": range(len(reading)), "segment": segments}
        names = corpus.model.tokenizer.convert_ids_to_tokens(reading.ids)
        frames.append(pd.DataFrame(place | {"token": names, "token_type": reading.types}))
    return pd.concat(frames)

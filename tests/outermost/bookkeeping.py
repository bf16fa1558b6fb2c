"""Facts on the corpus of a file, from its token ids, the tokenizer and the model's files."""

import numpy as np
import pandas as pd

from tests.outermost.corpus import SPECIAL, Corpus, frame_of


def run(corpus: Corpus) -> pd.DataFrame:
    model = corpus.model
    return frame_of(
        [
            {
                "family": model.family,
                "n_layers": len(model.layers),
                "n_heads": model.heads,
                "hidden_size": model.width,
                "n_sequences": len(corpus.readings),
                "n_tokens": sum(map(len, corpus.readings)),
            }
        ]
    )


def sequence(corpus: Corpus) -> pd.DataFrame:
    return frame_of([{"seq": reading.seq, "n_tokens": len(reading)} for reading in corpus.readings])


def token(corpus: Corpus) -> pd.DataFrame:
    """The text and the type of every id; segments are 0 up to and including the first [SEP]."""
    frames = []
    for reading in corpus.readings:
        separators = np.cumsum([kind == "sep" for kind in reading.types])
        segments = [0, *(separators[:-1] > 0).astype(int)] if corpus.has_segments else 0
        frames.append(
            pd.DataFrame(
                {
                    "seq": reading.seq,
                    "pos": range(len(reading)),
                    "token": corpus.model.tokenizer.convert_ids_to_tokens(reading.ids),
                    "token_type": reading.types,
                    "segment": segments,
                }
            )
        )
    return pd.concat(frames)


def masked_share(corpus: Corpus, rate: float) -> bool:
    """Return True if every sequence has max(1, ⌊rate · k⌋) masks among its k non-special tokens."""
    for reading in corpus.readings:
        places = [i for i, kind in enumerate(reading.types) if kind not in SPECIAL]
        n_masked = sum(corpus.is_masked(reading.ids[place]) for place in places)
        if n_masked != (max(1, int(rate * len(places))) if rate else 0):
            return False
    return True

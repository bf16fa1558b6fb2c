"""Padding among tokens, as in dumps of padded batches."""

from collections import Counter
from dataclasses import replace

from transformers import PreTrainedTokenizerBase

from analysis.errors import BadCorpus
from precompute.corpora.left_out import BlankRow
from precompute.corpora.sequence import Entry, Tokens
from precompute.corpora.wording import shown


def without_padding(
    entry: Entry, tokenizer: PreTrainedTokenizerBase, *, counts: Counter[str]
) -> Entry:
    """Return the entry without the padding before and after its tokens, as if a mask had hidden it.

    Args:
        counts: its `padding_tokens_left_out` grows by their number.

    Raises:
        BlankRow: there is nothing but padding.
        BadCorpus: padding stands between tokens; or a token that also marks the end or start of a
            text occurs there several times, so that padding cannot be told from marks.
    """
    if not isinstance(entry, Tokens):
        return entry
    frames = (tokenizer.bos_token, tokenizer.eos_token, tokenizer.cls_token, tokenizer.sep_token)
    for end in (entry.tokens[:2], entry.tokens[-2:]):
        if len(end) == 2 and end[0] == end[1] and end[0] in frames:
            raise BadCorpus(
                entry.place,
                f"begins or ends with {shown(end[0])} several times, as padded batches do; leave "
                "the padding out",
            )
    if tokenizer.pad_token in (None, tokenizer.unk_token, *frames):
        return entry
    return _without(str(tokenizer.pad_token), entry, counts)


def _without(pad: str, entry: Tokens, counts: Counter[str]) -> Tokens:
    read = [place for place, token in enumerate(entry.tokens) if token != pad]
    if not read:
        raise BlankRow(entry.place, f"holds nothing but padding, {shown(pad)}")
    kept = slice(read[0], read[-1] + 1)
    tokens = entry.tokens[kept]
    if pad in tokens:
        raise BadCorpus(
            entry.place,
            f"token {read[0] + tokens.index(pad) + 1} is {shown(pad)}, padding between tokens, "
            "which the model would read; leave it out",
        )
    counts["padding_tokens_left_out"] += len(entry.tokens) - len(tokens)
    return replace(entry, tokens=tokens, segments=entry.segments and entry.segments[kept])

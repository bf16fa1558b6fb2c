"""Checks of texts, tokens and segments from corpora of any format."""

from unicodedata import category

from analysis.errors import BadCorpus
from precompute.corpora.left_out import BlankRow
from precompute.corpora.wording import shown

_UNSEEN = ("Cc", "Cf")  # control and format characters, such as a zero-width space


def is_blank(text: str) -> bool:
    """Return True if a text has no visible character."""
    return all(letter.isspace() or category(letter) in _UNSEEN for letter in text)


def checked_text(value: object, *, key: str, place: str) -> str:
    """Return the value if it is a valid text."""
    if value is None:
        raise BlankRow(place, f"`{key}` is null; it must hold some text")
    if not isinstance(value, str):
        raise BadCorpus(place, f"`{key}` is {shown(value)}; it must be a string")
    if is_blank(value):
        raise BlankRow(place, f"`{key}` is {shown(value)}; it must hold some text")
    _refuse_surrogates(value, key=key, place=place)
    return value


def checked_tokens(value: object, *, place: str) -> tuple[str, ...]:
    """Return the value as a tuple, if it is a list of at least one token."""
    if not isinstance(value, list):
        raise BadCorpus(place, f"`tokens` is {shown(value)}; it must be a list of strings")
    if not value:
        raise BlankRow(place, "`tokens` is empty; it must hold at least one token")
    for position, token in enumerate(value, start=1):
        if not isinstance(token, str) or not token:
            raise BadCorpus(
                place, f"token {position} is {shown(token)}; each token must be a string, not empty"
            )
        _refuse_surrogates(token, key=f"token {position}", place=place)
    return tuple(value)


def checked_segments(value: object, *, n_tokens: int, place: str) -> tuple[int, ...]:
    """Return the value as a tuple, if it is a list of one segment id for each token."""
    if not isinstance(value, list):
        raise BadCorpus(place, f"`segments` is {shown(value)}; it must be a list of integers")
    if len(value) != n_tokens:
        raise BadCorpus(
            place, f"{n_tokens} token(s) but {len(value)} segment id(s); give one for each token"
        )
    for position, segment in enumerate(value, start=1):
        if type(segment) is not int or segment < 0:  # True is an int to isinstance
            raise BadCorpus(
                place, f"segment id {position} is {shown(segment)}; it must be an integer from 0 on"
            )
    return tuple(value)


def check_some_tokens(n_tokens: int, text: str, *, place: str) -> None:
    """Raise BadCorpus if a tokenizer returned no token for a text."""
    if not n_tokens:
        raise BadCorpus(place, f"the tokenizer makes no token of {shown(text)}; leave it out")


def check_length(n_tokens: int, positions: int, *, place: str) -> None:
    """Raise BadCorpus if given tokens do not fit into the model."""
    if n_tokens > positions:
        raise BadCorpus(
            place, f"{n_tokens} tokens, but the model reads at most {positions}; make it shorter"
        )


def _refuse_surrogates(text: str, *, key: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadCorpus(
            place,
            f"`{key}` holds {shown(text[error.start])}, half of a UTF-16 pair and no character "
            "by itself; write the text anew as UTF-8",
        ) from error

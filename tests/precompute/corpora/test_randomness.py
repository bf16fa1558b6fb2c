from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import UserError
from precompute.corpora.randomness import PURPOSES, generator
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused

keys = st.tuples(st.integers(0, 2**40), st.sampled_from(PURPOSES), st.integers(0, 2**20))


def stream(key):
    seed, purpose, index = key
    return generator(seed, purpose=purpose, index=index).integers(2**62, size=4).tolist()


@unhurried()
@given(keys, keys)
def test_no_two_sequences_purposes_or_seeds_share_a_stream(key, other):
    assert (stream(key) == stream(other)) == (key == other)


def test_small_and_large_seeds_share_no_stream_by_what_stands_beside_them():
    keys = list(product((0, 1, 2**32, 2**32 + 1), PURPOSES, range(4)))
    assert len({tuple(stream(key)) for key in keys}) == len(keys)


def test_negative_seed_is_refused():
    message = refused(UserError, generator, -1, purpose="masking", index=0)
    assert message == "--seed is -1; it must be 0 or more."

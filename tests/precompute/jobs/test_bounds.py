"""Blocks and samples are drawn from the index of a sequence, documents whole."""

import numpy as np
import pytest

from precompute.jobs.bounds import (
    again_within_budget,
    block_of,
    checked_within_budget,
    sample_order,
)

BLOCKS = 16


def test_few_sequences_are_blocks_by_themselves():
    documents = np.repeat(np.arange(4, dtype=np.int32), 4)
    assert block_of(documents, BLOCKS).tolist() == list(range(16))


def test_few_documents_are_blocks():
    documents = np.repeat(np.arange(5, dtype=np.int32), 7)
    assert block_of(documents, BLOCKS).tolist() == documents.tolist()


def test_documents_stay_whole_and_blocks_are_few_and_alike():
    documents = np.repeat(np.arange(4000, dtype=np.int32), 3)
    blocks = block_of(documents, BLOCKS)
    assert all(len(set(blocks[first : first + 3])) == 1 for first in range(0, len(blocks), 3))
    sizes = np.bincount(blocks)
    assert len(sizes) == BLOCKS
    assert abs(sizes - len(blocks) / BLOCKS).max() < 4 * np.sqrt(9 * 4000 / BLOCKS)


def test_a_block_is_drawn_from_the_index_alone():
    few, many = (block_of(np.arange(n, dtype=np.int32), BLOCKS) for n in (99, 5000))
    assert few.tolist() == many[:99].tolist()


def test_a_sample_takes_what_must_be_there_first_and_then_as_it_is_drawn():
    order = sample_order(1000, {3, 998})
    assert sorted(order.tolist()) == list(range(1000))
    assert order[:2].tolist() == [3, 998]
    assert order[2:].tolist() != sorted(order[2:].tolist())
    longer = sample_order(2000, {3, 998}).tolist()
    assert [place for place in longer if place < 1000] == order.tolist()


@pytest.mark.parametrize(
    ("n_sequences", "n_checked"),
    [(1, 1), (2, 2), (24, 2), (89, 2), (90, 3), (960, 32), (9999, 32)],
)
def test_checks_read_what_a_tenth_of_the_run_pays_for(n_sequences, n_checked):
    assert checked_within_budget(n_sequences) == n_checked


@pytest.mark.parametrize(
    ("n_sequences", "shape", "n_again"),
    [
        (1, (1, 1), 0),
        (70, (6, 12), 0),
        (71, (6, 12), 2),
        (1000, (6, 12), 32),
        (9999, (6, 12), 32),
        (24, (30, 9), 0),
        (280, (30, 9), 2),
        (1000, (30, 9), 9),
        (360, (4, 4), 12),
    ],
)
def test_few_of_the_checked_are_run_again_and_rather_none_than_one(n_sequences, shape, n_again):
    n_layers, n_heads = shape
    assert again_within_budget(n_sequences, n_layers=n_layers, n_heads=n_heads) == n_again

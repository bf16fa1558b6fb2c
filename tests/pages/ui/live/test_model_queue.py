"""Sessions run the model one at a time, know how many come first, and may leave."""

from threading import Event, Thread

import pytest

from pages.ui.live.model_queue import NotYourTurn, Turns

PATIENCE = 60  # seconds


class _Left(BaseException):
    """Ends a run that waits, as Streamlit does."""


def _holding(turns: Turns, done: Event) -> Thread:
    """Thread that holds its turn until it is released."""
    begun = Event()

    def hold() -> None:
        with turns.turn(lambda _: None):
            begun.set()
            done.wait(PATIENCE)

    thread = Thread(target=hold)
    thread.start()
    assert begun.wait(PATIENCE)
    return thread


def test_one_at_a_time_runs_in_the_order_they_came():
    turns, done, order = Turns(most=9), Event(), []
    first = _holding(turns, done)
    running: list[int] = []

    def run(number: int, is_queued: Event) -> None:
        def note(_: int) -> None:
            is_queued.set()

        with turns.turn(note):
            running.append(number)
            assert running == [number]
            order.append(number)
            running.remove(number)

    threads = []
    for number in range(5):
        is_queued = Event()
        threads.append(Thread(target=run, args=(number, is_queued)))
        threads[-1].start()
        assert is_queued.wait(PATIENCE)
    done.set()
    for thread in (first, *threads):
        thread.join(PATIENCE)
    assert order == [0, 1, 2, 3, 4]


def test_who_waits_is_told_how_many_come_first_and_leaves_by_an_exception():
    turns, done, places = Turns(most=9), Event(), []
    first = _holding(turns, done)

    def leave(before: int) -> None:
        places.append(before)
        raise _Left

    for _ in range(2):
        with pytest.raises(_Left), turns.turn(leave):
            pytest.fail("it is another's turn")
    assert places == [1, 1], "who left still waits"
    done.set()
    first.join(PATIENCE)
    with turns.turn(leave):
        turns.check()


def test_nothing_runs_but_in_turn_and_a_turn_ends_with_an_error():
    turns = Turns(most=1)
    with pytest.raises(NotYourTurn):
        turns.check()
    with pytest.raises(_Left):
        _leave_in_the_midst(turns)
    with pytest.raises(NotYourTurn):
        turns.check()
    with turns.turn(lambda _: None):
        turns.check()


def _leave_in_the_midst(turns: Turns) -> None:
    with turns.turn(lambda _: None):
        turns.check()
        raise _Left

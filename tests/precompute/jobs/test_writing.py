"""Shards are written in order by a background thread, whose errors are reported."""

from threading import Event, Timer, current_thread

import pytest

from precompute.jobs.runner import MOST_WAITING, beside

SECONDS = 60


def test_everything_is_written_in_order_and_in_another_thread():
    written = []
    with beside() as write:
        for n in range(20):
            write(lambda n=n: written.append((n, current_thread().name.startswith("writing"))))
    assert written == [(n, True) for n in range(20)]


def test_computing_goes_on_meanwhile_and_waits_where_much_is_not_written_yet():
    may_write, started = Event(), Event()

    def slow():
        started.set()
        assert may_write.wait(SECONDS)

    with beside() as write:
        for _ in range(MOST_WAITING):
            write(slow)
        assert started.wait(SECONDS), "it is written while this goes on"
        Timer(0.2, may_write.set).start()
        write(lambda: None)
        assert may_write.is_set(), "as many pieces as may wait were there, so this one had to"


def test_what_goes_wrong_stops_the_run_and_nothing_after_it_is_begun():
    failed, after = Event(), []

    def fail():
        failed.set()
        raise OSError("disk")

    def went_on():
        with beside() as write:
            write(fail)
            assert failed.wait(SECONDS)
            write(lambda: after.append("written"))
            after.append("computed")

    with pytest.raises(OSError, match="disk"):
        went_on()
    assert not after
    with pytest.raises(OSError, match="disk"), beside() as write:
        write(fail)


def test_where_computing_fails_what_was_begun_is_finished():
    may_write, started, written = Event(), Event(), []

    def slow():
        started.set()
        assert may_write.wait(SECONDS)
        written.append(1)

    def interrupted():
        with beside() as write:
            write(slow)
            assert started.wait(SECONDS)
            may_write.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert written == [1]

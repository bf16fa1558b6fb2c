"""Jobs start when the jobs that they depend on are done, and no later."""

from precompute.jobs.plan import Job
from precompute.jobs.waiting import Waiting

NEEDS: dict[Job, set[Job]] = {"grid": {"norm"}, "tree": {"grid", "norm"}, "map": {"there before"}}


def waiting(*jobs):
    return Waiting(jobs, lambda job: NEEDS.get(job, set()))


def test_a_job_is_handed_out_once_what_it_needs_is_done():
    left = waiting("norm", "grid", "tree", "map")
    assert left.take(9) == ["norm", "map"], "what is no job is there"
    assert left.take(9) == []
    left.finish("map")
    assert left.take(9) == []
    left.finish("norm")
    assert left.take(9) == ["grid"]
    assert len(left) == 2
    left.finish("grid")
    assert left.take(9) == ["tree"]
    left.finish("tree")
    assert not left


def test_no_more_are_handed_out_than_asked_for_and_each_once():
    left = waiting(*range(5))
    assert left.take(2) == [0, 1]
    assert left.take(0) == []
    assert left.take(9) == [2, 3, 4]


def test_what_was_begun_in_vain_is_handed_out_again_and_still_needed():
    left = waiting("norm", "grid")
    assert left.take(1) == ["norm"]
    left.put_back("norm")
    assert left.take(9) == ["norm"]
    assert left.take(9) == []

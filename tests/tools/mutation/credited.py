"""A pytest plugin: every test is credited with what the tests before it have run.

mutmut tries a mutant against the tests that have run its function, and what a session's fixture
runs is run in the first test that asks for it. All others look at what it has made too.
"""

import pytest
from mutmut.state import state


class Credited:
    """The functions that ran in any test so far."""

    def __init__(self) -> None:
        self.ran: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Before mutmut writes down what this test has run."""
        self.ran |= state()._stats
        state()._stats |= self.ran


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Credited())

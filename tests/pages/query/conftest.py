"""Opens the page with a question."""

from tests.pages.conftest import section_of

section = section_of("query", "qu")

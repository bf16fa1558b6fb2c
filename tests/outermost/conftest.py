"""The small files, for all tests of this folder."""

from tests.outermost.small_files import small

__all__ = ["small"]

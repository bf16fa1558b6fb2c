"""The small files, for all tests of this folder."""

from tests.outermost.small_files import small, small_files

__all__ = ["small", "small_files"]

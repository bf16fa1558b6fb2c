"""The sections of the page on token pairs, one file each with a function `show`; beside them what
several of them draw. A new section is a file here and a line in the page."""

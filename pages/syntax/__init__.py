"""The sections of the page on syntax, one file each with a function `show`; beside them what
several of them share. A new section is a file here and a line in the page."""

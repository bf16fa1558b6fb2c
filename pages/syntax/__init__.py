"""The sections of the page on syntax, one file each; beside them what several of them share.
A new section is a file here and a name in the page."""

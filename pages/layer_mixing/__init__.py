"""The sections of the page on whole layers, one file each; beside them what several of them draw.
A new section is a file here and a name in the page."""

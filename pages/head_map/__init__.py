"""The sections of the page on which heads attend alike, one file each; beside them what several of
them draw. A new section is a file here and a line in the page."""

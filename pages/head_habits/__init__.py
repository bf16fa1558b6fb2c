"""The sections of the page on what heads look at, one file each; beside them what several share."""

"""The sections of the page on where attention rests; each shows itself with `show`."""

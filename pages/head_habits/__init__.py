"""The sections of the page on what heads look at; each shows itself with `show`."""

"""Sections of the page on habits of heads, one file each, with what several of them share."""

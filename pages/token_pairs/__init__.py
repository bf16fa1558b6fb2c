"""Sections of the page on token pairs, one file each, with what several of them draw.

Each has a function `show`. A new section is a file here and a line in the page.
"""

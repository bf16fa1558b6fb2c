"""Sections of the page on heads that attend alike, one file each, with what several of them draw.

A new section is a file here and a line in the page.
"""

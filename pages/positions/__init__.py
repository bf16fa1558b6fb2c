"""Sections of the page on positions, with what several of them draw.

A new section is a file here and a line in the page.
"""

"""Sections of the page on whole layers, one file each, with what several of them draw.

A new section is a file here and a name in the page.
"""

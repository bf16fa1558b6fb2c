"""Sections of the page on syntax, one file each, with what several of them share.

A new section is a file here and a name in the page.
"""

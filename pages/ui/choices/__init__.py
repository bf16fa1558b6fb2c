"""Choices of the reader: pickers, clicks and links, all part of the address."""

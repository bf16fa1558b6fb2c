"""Choices of the reader by pickers, clicks and links, all stored in the address."""

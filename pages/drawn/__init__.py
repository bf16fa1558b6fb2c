"""Texts and images as charts and markup, for several pages."""

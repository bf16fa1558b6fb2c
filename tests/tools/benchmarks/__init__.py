"""Measurements, run by hand: each prints its figures and the ratio it was made for."""

"""Slow twin: all distances of one profile, and the first of the smallest."""

from tests.reference.positions.relative_position_centre import nearest


def nearest_centres(profiles, centres):
    return [nearest(profile, centres) for profile in profiles]

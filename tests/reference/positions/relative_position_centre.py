"""Slow twin: Lloyd's algorithm from given centres, one profile after the other."""

import math


def distance(first, second):
    return math.fsum((a - b) ** 2 for a, b in zip(first, second, strict=True))


def nearest(profile, centres):
    return min(range(len(centres)), key=lambda place: distance(profile, centres[place]))


def mean(profiles):
    return [math.fsum(column) / len(profiles) for column in zip(*profiles, strict=True)]


def moved(profiles, centres):
    """Each centre's own profiles averaged."""
    groups = [[] for _ in centres]
    for profile in profiles:
        groups[nearest(profile, centres)].append(profile)
    return [mean(group) for group in groups]


def explained(profiles, centres):
    middle = mean(profiles)
    within = math.fsum(
        distance(profile, centres[nearest(profile, centres)]) for profile in profiles
    )
    return 1 - within / math.fsum(distance(profile, middle) for profile in profiles)

"""kruskal-1964: how badly distances of points tell dissimilarities, one pair at a time."""

from math import dist, sqrt


def stress(points: list[list[float]], dissimilarities: list[list[float]]) -> float:
    """Stress-1 of a configuration."""
    missed = squared = 0.0
    for one in range(len(points)):
        for other in range(one):
            distance = dist(points[one], points[other])
            missed += (distance - dissimilarities[one][other]) ** 2
            squared += distance**2
    return sqrt(missed / squared)

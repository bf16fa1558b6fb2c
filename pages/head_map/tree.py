"""Dendrogram of heads: its leaves in order, its groups at a cut, its branches as lines."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Tree:
    """Merge steps of `head_linkage.steps`, read as a dendrogram."""

    steps: pd.DataFrame

    @property
    def n_heads(self) -> int:
        return len(self.steps) + 1

    @cached_property
    def children(self) -> dict[int, tuple[int, int]]:
        """The two merged nodes of every inner node."""
        pairs = zip(self.steps["left"].tolist(), self.steps["right"].tolist(), strict=True)
        return dict(enumerate(pairs, start=self.n_heads))

    @cached_property
    def heads_of(self) -> dict[int, list[int]]:
        """Heads of every node, in an order in which heads merged early are neighbours."""
        heads = {head: [head] for head in range(self.n_heads)}
        for node, (left, right) in self.children.items():
            heads[node] = heads[left] + heads[right]
        return heads

    @property
    def leaves(self) -> list[int]:
        return self.heads_of[2 * self.n_heads - 2]

    def groups(self, k: int) -> np.ndarray:
        """Group number of every head when the last k − 1 merge steps are undone.

        Groups count from 1 in the order of the leaves.
        """
        group_of = self._group_of_nodes(k)
        return np.array([group_of[head] for head in range(self.n_heads)])

    def cut(self, k: int) -> float:
        """Height at which the tree is cut into k groups: midway between two merge steps."""
        heights = [0.0, *self.steps["height"]]
        kept, undone = self.n_heads - k, self.n_heads - k + 1
        return (heights[kept] + heights[undone]) / 2 if undone < len(heights) else heights[-1]

    def branches(self, k: int) -> pd.DataFrame:
        """Lines of the dendrogram: two branches and their joint for every merge step.

        Returns:
            x, x2 (heights), y, y2 (places among the leaves), group (0 above the cut).
        """
        place = {head: float(number) for number, head in enumerate(self.leaves)}
        height = dict.fromkeys(range(self.n_heads), 0.0)
        group_of = self._group_of_nodes(k)
        rows = []
        for (node, pair), top in zip(self.children.items(), self.steps["height"], strict=True):
            place[node], height[node] = sum(place[child] for child in pair) / 2, float(top)
            rows += [
                (height[child], top, place[child], place[child], group_of.get(child, 0))
                for child in pair
            ]
            rows.append((top, top, place[pair[0]], place[pair[1]], group_of.get(node, 0)))
        return pd.DataFrame(rows, columns=["x", "x2", "y", "y2", "group"])

    def _group_of_nodes(self, k: int) -> dict[int, int]:
        """Group number of every head and of every node below the cut."""
        kept = range(2 * self.n_heads - k)
        root_of = {head: node for node in kept for head in self.heads_of[node]}  # the largest last
        roots = dict.fromkeys(root_of[head] for head in self.leaves)
        number = {root: place for place, root in enumerate(roots, start=1)}
        return {node: number[root_of[self.heads_of[node][0]]] for node in kept}

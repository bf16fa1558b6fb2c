"""Score terms of the distance between two tokens, beside the product of query and key."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class OffsetTerms:
    """Terms added to (query) · (key) for the offset t = j − i of a key j from a query i.

    With r the bucket of t: bias[r] + query · of_queries[r] + key · of_keys[r], each if its table
    exists. All offsets of a bucket share one term. T5 has the first; DeBERTa's "c2p" is the second
    and its "p2c" the third.

    `buckets` are those of the offsets from −reach to reach; larger offsets share the last ones.
    """

    buckets: Int[Tensor, " offset"]
    bias: Float[Tensor, "head bucket"] | None = None
    of_queries: Float[Tensor, "head bucket head_width"] | None = None
    of_keys: Float[Tensor, "head bucket head_width"] | None = None

    @property
    def reach(self) -> int:
        return len(self.buckets) // 2

    def bucket_of(self, offsets: Int[Tensor, "*any"]) -> Int[Tensor, "*any"]:
        """The bucket of each offset."""
        return self.buckets[offsets.clamp(-self.reach, self.reach) + self.reach]

    def of_pairs(self, n_tokens: int) -> Int[Tensor, "query key"]:
        """The bucket of every pair of tokens."""
        places = torch.arange(n_tokens, device=self.buckets.device)
        return self.bucket_of(places - places[:, None])

    def by_part(
        self,
        queries: Float[Tensor, "*batch head token head_width"],
        keys: Float[Tensor, "*batch head token head_width"],
        rows: slice = slice(None),
    ) -> tuple[
        Float[Tensor, "*batch head query key"],
        Float[Tensor, "*batch head query key"],
        Float[Tensor, "*batch head query key"],
    ]:
        """Terms of queries, of keys and of the bias for every pair; zeros for an absent table.

        Args:
            rows: the queries that are asked for.
        """
        pairs = self.of_pairs(queries.shape[-2])[rows]
        shape = (*queries.shape[:-2], *pairs.shape)
        nothing = queries.new_zeros(()).expand(shape)
        of_query = of_key = bias = nothing
        if self.of_queries is not None:
            of_query = (queries[..., rows, :] @ self.of_queries.mT).gather(-1, pairs.expand(shape))
        if self.of_keys is not None:
            of_keys = keys @ self.of_keys.mT
            by_key = pairs.mT.expand(*shape[:-2], *pairs.mT.shape)
            of_key = of_keys.gather(-1, by_key).mT
        if self.bias is not None:
            bias = self.bias[:, pairs].expand(shape)
        return of_query, of_key, bias

    def added(
        self,
        queries: Float[Tensor, "*batch head token head_width"],
        keys: Float[Tensor, "*batch head token head_width"],
        rows: slice = slice(None),
    ) -> Float[Tensor, "*batch head query key"]:
        """Sum of all terms of every pair, on the scale of (query) · (key); see `by_part`."""
        of_query, of_key, bias = self.by_part(queries, keys, rows)
        return of_query + of_key + bias

"""clark-2019, section 4.3: right and wrong, mention by mention."""


def antecedents(heads: list[int], clusters: list[int], mention: int) -> set[int]:
    """The head words of the earlier mentions of the same cluster."""
    return {
        head
        for head, cluster in zip(heads, clusters, strict=True)
        if cluster == clusters[mention] and head < heads[mention]
    }


def right(picked: list[int], heads: list[int], clusters: list[int]) -> list[bool]:
    return [word in antecedents(heads, clusters, m) for m, word in enumerate(picked)]

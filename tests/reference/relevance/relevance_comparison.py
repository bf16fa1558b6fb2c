"""clark-2019, abnar-2020 and chefer-2021, each as its paper writes it, entry by entry."""

Vector = list[float]
Matrix = list[Vector]


def weighed_rows(start: Vector, matrix: Matrix) -> Vector:
    """Sum of the rows of a matrix, weighted by `start`."""
    n = len(matrix[0])
    return [sum(start[i] * row[j] for i, row in enumerate(matrix)) for j in range(n)]


def rolled_back(layers: list[Matrix], start: Vector) -> Vector:
    """Shares of the input tokens in the start after the last layer, by rollout downwards."""
    share = start
    for matrix in reversed(layers):
        rows = [[value / sum(row) for value in row] for row in matrix]
        share = weighed_rows(share, rows)
    return share


def gradient_attention(
    attention: list[list[Matrix]], gradients: list[list[Matrix]], start: Vector
) -> Vector:
    """R = I, then R = R + E_h((∇A ⊙ A)⁺) R in every layer; the start's rows, 1 in sum."""
    n = len(start)
    relevance = [[float(i == j) for j in range(n)] for i in range(n)]
    for heads, slopes in zip(attention, gradients, strict=True):
        mean = [
            [
                sum(
                    max(0.0, weights[i][j] * slope[i][j])
                    for weights, slope in zip(heads, slopes, strict=True)
                )
                / len(heads)
                for j in range(n)
            ]
            for i in range(n)
        ]
        relevance = [
            [
                relevance[i][j] + sum(mean[i][k] * relevance[k][j] for k in range(n))
                for j in range(n)
            ]
            for i in range(n)
        ]
    row = weighed_rows(start, relevance)
    return [value / sum(row) for value in row]

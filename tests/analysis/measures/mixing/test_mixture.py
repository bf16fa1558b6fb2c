import torch

from analysis.measures.mixing.linear_layer import LinearNorm
from analysis.measures.mixing.mixture import Mixture, attended
from analysis.models.norm import LayerNormWeights
from tests.reference.mixing import mixture as reference


def _mixture(seed: int = 0) -> Mixture:
    torch.manual_seed(seed)
    return Mixture(torch.randn(4, 3, 6).double(), torch.rand(4, 4, 3).double())


def _vectors(mixture: Mixture) -> torch.Tensor:
    return reference.vectors(mixture.terms.tolist(), mixture.shares.tolist())


def test_norms_sums_and_own_vectors_are_those_of_the_vectors_written_out():
    mixture = _mixture()
    scope, vectors = mixture.scope(), _vectors(mixture)
    torch.testing.assert_close(scope.map, vectors.norm(dim=-1))
    torch.testing.assert_close(scope.sums, vectors.sum(dim=1))
    torch.testing.assert_close(scope.own, vectors.diagonal().T)


def test_a_tokens_own_vector_reaches_nobody_else():
    mixture = _mixture()
    own = torch.randn(4, 6).double()
    added = _vectors(mixture.with_own(own)) - _vectors(mixture)
    torch.testing.assert_close(added.diagonal().T, own)
    assert added[~torch.eye(4, dtype=torch.bool)].abs().max() < 1e-12


def test_a_norm_goes_through_every_vector():
    mixture = _mixture()
    norm = LayerNormWeights(torch.rand(6).double(), torch.rand(6).double(), 1e-5)
    given = LinearNorm(norm, torch.rand(4, 1).double() + 0.5)
    expected = given.norm.linear(_vectors(mixture)) / given.deviation[:, None]
    torch.testing.assert_close(_vectors(mixture.normed(given)), expected)


def test_what_attention_brings_together_adds_up_to_what_it_puts_out(traced_alone):
    for layer in traced_alone[0].layers:
        output = attended(layer).scope().sums + layer.weights.output_bias
        torch.testing.assert_close(output, layer.attention_output[0])

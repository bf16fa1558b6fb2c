"""clark-2019, section 5: scores, losses and counts pair by pair; planted trees; chance level."""

import numpy as np
import pytest
import torch

from analysis.measures.probing.parsers import (
    HIDDEN,
    Parameters,
    ParserSentence,
    attention_scores,
    attention_words_scores,
    distances_words_scores,
    fresh_attention,
    fresh_attention_words,
    fresh_distances_words,
    parser_loss,
    possible,
    right_words,
    shuffled,
    train,
)
from analysis.statistics.probing import parsers
from tests.small_store import build_store, fetched


def random_sentence(n_words: int, *, heads: int = 3, values: int = 4, fits: int = 2, seed: int = 0):
    draw = torch.Generator().manual_seed(seed)
    shares = torch.softmax(
        torch.randn(n_words, n_words + 2, heads, generator=draw, dtype=torch.float64), dim=1
    )
    vectors = torch.randn(n_words, values - 1, generator=draw, dtype=torch.float64)
    governors = torch.randint(0, n_words + 1, (n_words, fits), generator=draw)
    return ParserSentence(
        attention=shares[:, :n_words],
        cls=shares[:, n_words],
        sep=shares[:, n_words + 1],
        vectors=torch.cat([vectors, torch.ones(n_words, 1, dtype=torch.float64)], dim=1),
        governors=governors,
        is_scored=torch.rand(n_words, generator=draw) < 0.8,
    )


def drawn(start: Parameters, *, seed: int = 0) -> Parameters:
    """Random values in place of those that a parser starts with."""
    draw = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(value.shape, generator=draw, dtype=torch.float64)
        for name, value in start.items()
    }


def planted_sentence(draw: np.random.Generator, *, fits: int = 1) -> ParserSentence:
    """A random tree: head 0 looks up, head 1 down, and the root looks at [CLS] in head 2."""
    n_words = int(draw.integers(4, 10))
    order = draw.permutation(n_words)
    governors = np.full(n_words, n_words)
    for place in range(1, n_words):
        governors[order[place]] = order[draw.integers(0, place)]
    attention = torch.from_numpy(draw.dirichlet(np.ones(n_words), (n_words, 4)))
    attention = 0.3 * attention.movedim(2, 1).float()
    cls = torch.from_numpy(draw.uniform(0, 0.1, (n_words, 4))).float()
    for word, governor in enumerate(governors):
        if governor == n_words:
            cls[word, 2] += 0.6
        else:
            attention[word, governor, 0] += 0.6
            attention[governor, word, 1] += 0.6
    return ParserSentence(
        attention=attention.contiguous(),
        cls=cls,
        sep=torch.zeros(n_words, 4),
        vectors=torch.ones(n_words, 1),
        governors=torch.from_numpy(np.stack([governors] * fits, axis=1)),
        is_scored=torch.ones(n_words, dtype=torch.bool),
    )


Vector = list[float]


def slow_loss(scores: torch.Tensor, governors: torch.Tensor, scored: torch.Tensor) -> float:
    """−ln of the governor's share among all candidates but the word itself, a mean of words."""
    places = torch.arange(len(scores))
    candidates = scores.masked_fill(torch.eye(*scores.shape).bool(), -torch.inf)
    losses = -candidates.log_softmax(dim=1)[places, governors]
    return losses[scored & (governors != places)].sum().item() / max(int(scored.sum()), 1)


def slow_right(scores: torch.Tensor, governors: torch.Tensor, scored: torch.Tensor) -> int:
    """Number of scored words whose governor has the first largest score."""
    candidates = scores.masked_fill(torch.eye(*scores.shape).bool(), -torch.inf)
    return int((scored & (candidates.argmax(dim=1) == governors)).sum())


def slow_features(n_words: int, dependent: int, candidate: int) -> Vector:
    """Share of the sentence behind and before, whether 1 or 2 away, whether the root."""
    if candidate == n_words:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    step = candidate - dependent
    behind, before = (step / n_words, 0.0) if step > 0 else (0.0, -step / n_words)
    return [behind, before, *(float(step == distance) for distance in (1, -1, 2, -2)), 0.0]


@pytest.mark.parametrize("n_words", [1, 4])
@pytest.mark.parametrize("with_words", [False, True])
def test_scores_of_attention_are_sums_over_heads(n_words, with_words):
    """Weights of a pair are parameters, or linear in the vectors of its two words."""
    sentence = random_sentence(n_words)
    fresh = fresh_attention_words if with_words else fresh_attention
    of = drawn(fresh(sentence, 2))
    scores = (attention_words_scores if with_words else attention_scores)(of, sentence)
    assert scores.shape == (n_words, n_words + 1, 2)
    vectors, attention = sentence.vectors, sentence.attention

    def weights(name: str, fit: int, dependent: int, governor: int | None = None) -> torch.Tensor:
        if not with_words:
            return of[name][..., fit]
        if governor is None:
            return vectors[dependent] @ of[name][..., fit]
        ends = (("dependent", dependent), ("governor", governor))
        return torch.stack(
            [vectors[word] @ of[f"{name}_by_{whose}"][..., fit] for whose, word in ends]
        ).sum(dim=0)

    for fit in range(2):
        for i in range(n_words):
            for j in range(n_words):
                expected = weights("dependent", fit, i, j) @ attention[i, j]
                expected = expected + weights("governor", fit, i, j) @ attention[j, i]
                assert scores[i, j, fit].item() == pytest.approx(expected.item())
            special = (("cls", sentence.cls), ("sep", sentence.sep))
            expected = sum(weights(name, fit, i) @ given[i] for name, given in special)
            expected = expected + weights("root", fit, i)
            assert scores[i, n_words, fit].item() == pytest.approx(expected.item())


def test_scores_of_distances_and_words_are_those_of_a_network_of_one_layer():
    sentence = random_sentence(4)
    of = drawn(fresh_distances_words(sentence, [0, 1]))
    of["distance"] = of["distance"].float()
    scores = distances_words_scores(of, sentence)
    nothing = torch.zeros_like(sentence.vectors[0])
    governors = [*sentence.vectors, nothing]
    for fit in range(2):
        part = {name: value[..., fit] for name, value in of.items()}
        for i in range(4):
            for j, governor in enumerate(governors):
                inside = sentence.vectors[i] @ part["dependent"] + governor @ part["governor"]
                distance = torch.tensor(slow_features(4, i, j)) @ part["distance"]
                expected = part["output"] @ torch.tanh(inside + distance)
                assert scores[i, j, fit].item() == pytest.approx(expected.item(), rel=1e-4)


def test_every_seed_starts_by_itself_and_sums_of_many_inputs_as_small_as_those_of_few():
    sentence = random_sentence(3)
    both, alone = (fresh_distances_words(sentence, seeds) for seeds in ([3, 4], [4]))
    for name, value in both.items():
        assert torch.equal(value[..., 1:], alone[name])
        assert not torch.equal(value[..., 0], value[..., 1])
    start = fresh_distances_words(random_sentence(3, values=400), [0])
    for name, n in {"dependent": 400, "governor": 400, "output": HIDDEN}.items():
        assert start[name].std().item() * n**0.5 == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize("seed", range(5))
def test_loss_and_right_words_are_those_of_the_twin(seed):
    sentence = random_sentence(5, seed=seed)
    scores = attention_scores(drawn(fresh_attention(sentence, 2), seed=seed), sentence)
    losses = []
    for fit in range(2):
        given = scores[..., fit], sentence.governors[:, fit], sentence.is_scored
        losses.append(slow_loss(*given))
        only = torch.arange(2) == fit
        assert parser_loss(scores, sentence, only).item() == pytest.approx(losses[-1])
        assert right_words(lambda *_: scores, {}, sentence)[fit].item() == slow_right(*given)
    both = torch.ones(2, dtype=torch.bool)
    assert parser_loss(scores, sentence, both).item() == pytest.approx(sum(losses))


def test_a_word_does_not_govern_itself_and_would_teach_nothing():
    assert possible(torch.zeros(3, 4, 1))[..., 0].isinf().equal(torch.eye(3, 4).bool())
    sentence = random_sentence(3, fits=1)
    sentence.governors[:, 0] = torch.arange(3)
    start = fresh_attention(sentence, 1)
    start = {name: value.double() for name, value in start.items()}
    learnt = train(attention_scores, start, [sentence], learns=np.ones((1, 1), bool), seed=0)
    assert all(torch.equal(learnt[name], start[name]) for name in start)


def _held_out(sentences, learns) -> float:
    learnt = train(
        attention_scores, fresh_attention(sentences[0], 1), sentences, learns=learns, seed=0
    )
    held_out = [sentence for sentence, (seen,) in zip(sentences, learns, strict=True) if not seen]
    right = sum(int(right_words(attention_scores, learnt, sentence)) for sentence in held_out)
    return right / sum(len(sentence.is_scored) for sentence in held_out)


def test_trees_that_stand_in_a_head_are_learnt_and_found_in_other_sentences():
    draw = np.random.default_rng(0)
    sentences = [planted_sentence(draw) for _ in range(40)]
    learns = (np.arange(40) < 30)[:, None]
    assert _held_out(sentences, learns) > 0.99


def test_dealt_out_governors_teach_nothing_of_who_depends_on_whom():
    draw = np.random.default_rng(0)
    sentences = [planted_sentence(draw) for _ in range(40)]
    for place, sentence in enumerate(sentences):
        dealt = shuffled(sentence.governors[:, 0].numpy(), seed=0, sentence=place)
        sentence.governors[:, 0] = torch.from_numpy(dealt)
    assert _held_out(sentences, (np.arange(40) < 30)[:, None]) < 0.4


def test_a_parser_sees_only_what_it_may_learn_from():
    draw = np.random.default_rng(1)
    sentences = [planted_sentence(draw, fits=2) for _ in range(6)]
    learns = np.ones((6, 2), dtype=bool)
    learns[2:4, 1] = False
    start = fresh_attention(sentences[0], 2)
    first = train(attention_scores, start, sentences, learns=learns, seed=0)
    for hidden in (2, 3):
        n_words = len(sentences[hidden].is_scored)
        sentences[hidden].governors[:, 1] = torch.arange(n_words).flip(0)
    second = train(attention_scores, start, sentences, learns=learns, seed=0)
    assert all(torch.equal(first[name], second[name]) for name in start)


def test_dealing_keeps_who_governs_and_depends_on_seed_and_sentence():
    governors = np.array([1, 2, 8, 6, 5, 6, 2, 2])
    dealt = shuffled(governors, seed=0, sentence=0)
    assert sorted(dealt) == sorted(governors)
    for seed in range(50):
        assert (shuffled(governors, seed=seed, sentence=0) != np.arange(8)).all()
    assert shuffled(np.array([1, 2]), seed=0, sentence=0).tolist() == [1, 2]
    assert (dealt == shuffled(governors, seed=0, sentence=0)).all()
    assert (dealt != shuffled(governors, seed=1, sentence=0)).any()
    assert (dealt != shuffled(governors, seed=0, sentence=1)).any()


def test_wide_vectors_keep_their_first_components_and_a_common_length():
    draw = np.random.default_rng(0)
    forms = [f"word {n}" for n in range(150)]
    scales = np.r_[np.full(100, 3.0), np.full(60, 0.01)]
    vectors = {form: draw.normal(size=160) * scales for form in forms}
    reduced = np.stack(list(parsers._reduced(vectors, forms).values()))
    assert reduced.shape == (150, 101)
    assert (reduced[:, :-1] ** 2).sum(axis=1).mean() == pytest.approx(1, rel=1e-5)
    assert np.abs(reduced[:, :-1].mean(axis=0)).max() < 1e-6
    matrix = np.stack(list(vectors.values()))
    matrix -= matrix.mean(axis=0)
    gram = matrix @ matrix.T / (matrix**2).sum(axis=1).mean()
    np.testing.assert_allclose(reduced[:, :-1] @ reduced[:, :-1].T, gram, atol=1e-3)


@pytest.mark.slow
def test_one_sequence_is_too_little_to_train_and_to_score(tmp_path):
    path = build_store(tmp_path, annotated=True, statistics=["parser_accuracy"], limit=1)
    assert fetched(path, "from parser_accuracy") == []

"""Plant faults in formulas, and see that the tests of today catch each: a program, not the suite.

    python -m tests.planted [WORD ...]    # faults of files with one of the words in their path; all

Plants one fault at a time, runs the test that is named with it, takes the fault out again, and
prints what was caught and what not. Exit status 1 if anything was not caught. Whoever takes a test
away plants faults that it caught here first, with a test that stays.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASURES, TESTS = "analysis/measures", "tests/statistics"
FAULTS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("heads/contribution", "heads/test_contribution"): (
        ("(part * update).sum(-1) / size**2", "(part * update).sum(-1) / size"),
        ("bias, is_bias=True)", "bias, is_bias=False)"),
    ),
    ("heads/head_distances", "heads/test_head_distance"): (
        ("even = SMOOTHING / n_keys[places]", "even = SMOOTHING * n_keys[places]"),
        ("diagonal) / 2 - upper", "diagonal) / 2 + upper"),
    ),
    ("heads/permutation_tests", "heads/test_head_distance_agreement"): (
        ("centred = ranks - ranks.mean()", "centred = ranks"),
        (
            "(_standardised(distances[pairs]) for distances in (one, other))\n    fixed",
            "(_standardised(distances[pairs]) for distances in (one, one))\n    fixed",
        ),
    ),
    ("mixing/layer_mixing", "mixing/test_layer_mixing"): (
        ("sums[queries] += parts.sum(dim=0)", "sums[queries] = parts.sum(dim=0)"),
        ("own = attention.diagonal().unsqueeze(1)", "own = attention.diagonal()[:, None] / 2"),
    ),
    ("mixing/vector_rollout", "mixing/test_vector_rollout"): (
        ("values = values + weights.value_bias[::step, None, None]", "values = 1 * values"),
        ("return sent + weights.output_bias if is_bias else sent", "return sent"),
        ("output = layer.output[0]\n", "output = sums + self.bias\n"),
    ),
    ("pairs/mixing_change", "pairs/test_pair_delta"): (
        ("stdtrit(sure, (1 + LEVEL) / 2)", "stdtrit(sure, LEVEL)"),
        ("LEAST_SEQUENCES = 3", "LEAST_SEQUENCES = 4"),
    ),
    ("pairs/rank_correlation", "pairs/test_rank_correlation"): (
        ("return max(shared, (influence**2).sum())", "return min(shared, (influence**2).sum())"),
        ("influence = one * other - correlation / 2", "influence = one * other - correlation"),
    ),
    ("pairs/token_relation", "pairs/test_relation_share"): (
        ("both = ~np.isnan(shares) & ~np.isnan(before)", "both = ~np.isnan(shares)"),
        ("where=below > 0)", "where=below >= 0)"),
    ),
    ("positions/offset_agreement", "positions/test_head_offset"): (
        ("drawn.weights @ same / len(same)", "drawn.weights @ same / (len(same) - 1)"),
        ("(counts.cumsum(axis=1) - counts / 2)", "(counts.cumsum(axis=1) - counts)"),
    ),
    ("positions/query_key_form", "positions/test_query_key_form"): (
        ("phases[first + 1] = -phases[first]", "phases[first + 1] = phases[first]"),
        ("@ -towards @", "@ towards @"),
    ),
    ("positions/query_key_wave", "positions/test_query_key_wave"): (
        ("torch.fft.irfft(query.conj() * key", "torch.fft.irfft(query * key.conj()"),
        ("centred = covariance - covariance.mean(dim=-2, keepdim=True)", "centred = covariance"),
    ),
    ("positions/relative_position_profile", "positions/test_relative_position_profile"): (
        ("(of_offset**2 / n_pairs).sum(axis=1) - rest", "(of_offset**2).sum(axis=1) - rest"),
    ),
    ("positions/score_share", "positions/test_offset_term"): (
        ("np.where(totals.whole > 0,", "np.where(totals.whole > 1,"),
        ("return query + key + bias, of_query - query", "return query + key, of_query - query"),
    ),
    ("positions/score_share ", "positions/test_score_share"): (
        ("_covariance(query, totals.key_turn) - position", "_covariance(query, totals.key_turn)"),
        ("totals.query / n_pairs, totals.key.conj()", "totals.query / n_pairs, totals.key"),
    ),
    ("positions/score_sums", "positions/test_rotary_plane"): (
        ("query=_total(query * turn.conj() * n_keys)", "query=_total(query * turn * n_keys)"),
        ("turn=_total(turn * by_query)", "turn=_total(turn.conj() * by_query)"),
    ),
    ("positions/score_sums ", "positions/test_offset_term"): (
        ("deviations * of_query * weights.score_scale", "deviations * of_query"),
        ("visible = scores.masked_fill(hidden, 0)", "visible = scores"),
    ),
    ("probing/probe_accuracy", "probing/test_probe_accuracy"): (
        ("first[order[: (n_sequences + 1) // 2]]", "first[order[: n_sequences // 2]]"),
        ('"second": (~first, first)', '"second": (first, ~first)'),
    ),
    ("relevance/relevance", "relevance/test_relevance"): (
        ("there.sum(dim=2, keepdim=True)", "there.shape[2]"),
        ("torch.where(largest > 0, deviation / largest, deviation)", "deviation.round(decimals=1)"),
    ),
    ("sinks/attention_sinks", "sinks/test_sink_score"): (
        ("keys = keys - weights.key_bias[:, None]", "keys = keys"),
        ("given / sees.sum(dim=1)[:, None, :, None]", "given / sees.shape[1]"),
    ),
    ("sinks/largest_activations", "sinks/test_massive_activation"): (
        (
            "of_tokens, coordinates = sizes.max(dim=-1)",
            "of_tokens, coordinates = sizes.min(dim=-1)",
        ),
    ),
}
"""By formula and by the test that catches them: what stands there, and what is planted instead."""


def caught(path: Path, old: str, new: str, test: str) -> bool:
    """Plant a fault while a test runs; return True if it fails.

    Raises:
        ValueError: if what is to be changed does not stand there exactly once.
    """
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{path.name} has {text.count(old)} times {old!r}")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    try:
        path.write_text(text.replace(old, new), encoding="utf-8")
        run = subprocess.run([*command, test], cwd=ROOT, capture_output=True, text=True)
    finally:
        path.write_text(text, encoding="utf-8")
    if run.returncode not in (0, 1):
        raise ValueError(f"{test} did not run:\n{run.stdout[-2000:]}")
    return run.returncode == 1


def main(words: list[str]) -> int:
    """Plant all faults of the files that are asked for; return how many were not caught."""
    missed = 0
    of_formulas = {
        (f"{MEASURES}/{formula.strip()}.py", f"{TESTS}/{test}.py"): faults
        for (formula, test), faults in FAULTS.items()
    }
    for (file, test), faults in (of_formulas | PAGES).items():
        for old, new in faults if not words or any(word in file for word in words) else ():
            is_caught = caught(ROOT / file, old, new, test)
            missed += not is_caught
            print(f"{'caught' if is_caught else 'MISSED':7} {file}: {old} -> {new}", flush=True)
    return missed


PLANTS, BY_HAND = "tests/pages/test_plants.py", "tests/pages/test_by_hand.py"
NUMBERS, ABSENCES = "tests/pages/test_numbers.py", "tests/pages/test_absences.py"
PAGES: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("pages/norms/page.py", PLANTS): (
        ("sum(mean) filter (own) / count(distinct layer) as value", "sum(mean) as value"),
        ("high < 0 and spearman <= -{_WEAK}, false) desc", "false, false) desc"),
    ),
    ("pages/norms/page.py", BY_HAND): (("norm_rank - norm as norm_rank", "norm_rank"),),
    ("pages/habits/page.py", PLANTS): (
        ("count(*) filter (low > 0)", "count(*) filter (high > 0)"),
        ("and level = 'within')", "and level = 'layer')"),
    ),
    ("pages/habits/page.py", BY_HAND): (
        ("count(*) filter (mean > {_HALF})", "count(*) filter (mean >= {_HALF})"),
    ),
    ("pages/syntax/page.py", PLANTS): (
        ("count(*) filter (difference_low > 0) as n", "count(*) filter (difference > 0) as n"),
    ),
    ("pages/syntax/page.py", NUMBERS): (
        ("order by accuracy desc, direction) = 1", "order by accuracy, direction) = 1"),
    ),
    ("pages/coreference/page.py", BY_HAND): (("and n >= {_FEW})", "and n >= 0)"),),
    ("pages/sinks/page.py", PLANTS): (
        ("count(*) filter (mean > $threshold) as n", "count(*) filter (mean < $threshold) as n"),
        ("order by abs(mean) desc limit 1)", "order by abs(mean) limit 1)"),
    ),
    ("pages/layer_mixing/page.py", PLANTS): (
        (
            'where {_OF_LAYER} order by spearman limit 1"',
            'where {_OF_LAYER} order by spearman desc limit 1"',
        ),
    ),
    ("pages/layer_mixing/page.py", NUMBERS): (
        ("token_type not in ('bos', 'cls', 'sep')", "token_type not in ('bos', 'cls')"),
    ),
    ("pages/positions/page.py", PLANTS): (
        ("count(*) filter (attention = 0) as n", "count(*) as n"),
    ),
    ("pages/positions/offsets.py", BY_HAND): (
        ('heads["dependence"] >= float(choices["least"])', 'heads["dependence"] > 0'),
    ),
    ("pages/positions/clusters.py", PLANTS): (
        ("count(*) filter (share >= 0.9) as n", "count(*) filter (share >= 0.5) as n"),
    ),
    ("pages/head_map/page.py", PLANTS): (
        (
            "from rows where layer is null\n        union",
            "from rows where layer = 1\n        union",
        ),
    ),
    ("pages/relevance/page.py", PLANTS): (
        ("np.sort(patches)[-n:].sum()", "np.sort(patches)[:n].sum()"),
    ),
    ("pages/services/missing.py", ABSENCES): (
        ('return "coreference.no_mentions", "coreference.no_mentions_remedy"', "return None"),
    ),
    ("pages/kit/page.py", ABSENCES): (
        (
            'refused = [Text("info", reason)] if reason else absence(store, *shown.needs)',
            "refused = absence(store, *shown.needs)",
        ),
    ),
}
"""By whole paths of the file and of the test."""


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))

"""Plant faults, and see that tests catch each: a program, not the suite.

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
CORPORA = "precompute/corpora"
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


READERS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("texts/rows", "texts/test_rows"): (
        ("if len(fields) < len(pairs):", "if len(fields) < 0:"),
        ("parse_constant=_no_constant", "parse_constant=float"),
        ('if any(" " in token.strip() for token in entry.tokens):', "if not entry.tokens:"),
        ('"quoting": quoting, "strict": True', '"quoting": quoting, "strict": False'),
        ("file_name(path), path.absolute()", "file_name(path), path"),
        ("total_uncompressed_size > most:", "total_uncompressed_size > 100 * most:"),
        ("unfinished.unlink(missing_ok=True)", "pass"),
    ),
    ("left_out", "texts/test_rows"): (
        ("> max(1, self.n_rows / ONE_IN)", ">= max(1, self.n_rows / ONE_IN)"),
        ("== self.n_rows >= ONE_IN:", "== self.n_rows < 0:"),
        ('_UNSEEN = ("Cc", "Cf")', '_UNSEEN = ("Cc",)'),
        ("type(segment) is not int or segment < 0", "not isinstance(segment, int) or segment < 0"),
    ),
    ("load", "texts/test_rows"): (
        ("in (entry.tokens[:2], entry.tokens[-2:]):", "in (entry.tokens[:2],):"),
        ("segments=entry.segments and entry.segments[kept]", "segments=entry.segments"),
        ("column != TEXT and form not in", "not column and form not in"),
    ),
    ("load", "test_load"): (
        ("    check_masking(tokenizer, mask_rate)\n", ""),
        ("by_sentence=packing == TREES", "by_sentence=False"),
    ),
    ("source", "test_source"): (
        ("if self._read > max(LEAST_UNPACKED,", "if self._read < min(0,"),
        ("while _SKIPPABLE.match(", "if _SKIPPABLE.match("),
        ("not isinstance(name, str) or Path(name).name != name", "not isinstance(name, str)"),
        ("if state.get(_INDICES):", "if not state:"),
        ('file.startswith(f"{path}/")', "file.startswith(path)"),
        ("parquet = sorted(", "parquet = list("),
    ),
    ("source", "test_index"): (("state.st_mtime_ns, state.st_ctime_ns) for", "1) for"),),
    ("recognition", "test_recognition"): (
        ('if b"\\0" in head:', "if not head:"),
        ("return len(lines) > 1 and all(", "return all("),
        ("isinstance(value, str | list) and JSON_GOES_ON", "JSON_GOES_ON"),
    ),
    ("texts/rows", "test_recognition"): (
        ("and not all(_MARK.match(row[0]) for row in rows)", ""),
        ("return has_quotes or any(", "return any("),
    ),
    ("texts/unlabeled_pickle", "texts/test_pickles"): (
        ("if (module, name) not in ARRAY_NAMES:", "if module not in dict(ARRAY_NAMES):"),
        ("_REFUSED = (pickle.EXT1,", "_REFUSED = ("),
        ("if len(data) < n_bytes:", "if not data:"),
        ("if handle.read(1):", "if not handle:"),
        ("n_bytes -= len(self.read(min(n_bytes, CHUNK)))", "n_bytes -= len(self.read(n_bytes))"),
    ),
    ("texts/packing", "texts/test_packing"): (
        ("[end for end in ends_of_lines if end in within] or within", "list(within)"),
        ("if draws.random() < 0.5:", "if not draws:"),
        ("len(sides[0]) > len(sides[1])", "len(sides[0]) >= len(sides[1])"),
        ("goes_on=index > 0", "goes_on=False"),
    ),
    ("annotated/conllu", "annotated/test_conllu"): (
        ("    _refuse_cycles(governors, lines)\n", ""),
        ("[not spelt] * (end - 1 - first)", "[False] * (end - 1 - first)"),
        ("column.isascii() and column.isdigit()", "column.isdecimal()"),
    ),
    ("annotated/conllu", "annotated/test_left_out"): (
        ("raise UnreadCoreference(self.faults[0])", "raise self.faults[0]"),
    ),
    ("annotated/entities", "annotated/test_entities"): (
        ("self._words_before[node] + is_word", "self._words_before[node] + 1"),
        ("if not _PART.search(bracket.label)", "if bracket.label"),
        ("_OLDER_NAMES.get(field, field)", "field"),
        ("span.name in named for span in spans if", "0 for span in spans if"),
    ),
    ("annotated/coreference_columns", "annotated/test_columns"): (
        ("return breaks - inside", "return breaks"),
        ('"-LRB-": "(",', '"-LRB-": "[",'),
        ("begins = head in starts", "begins = False"),
    ),
    ("annotated/mentions", "annotated/test_columns"): (
        ("set(self._found)", "self._found"),
        ("if self._n_open > MOST_OPEN:", "if not self._n_open:"),
    ),
    ("annotated/mentions", "annotated/test_mention_heads"): (
        ("and words[word] not in _POSSESSIVE", ""),
        ("for word in preferred if word in tops", "for word in preferred"),
    ),
    ("annotated/documents", "annotated/test_windows"): (
        ("space=before.spaces[-1]", "space=False"),
        ("[mention for mention in inside if mention.last < end]", "inside"),
        ("if len(sentence) > room:", "if not sentence:"),
    ),
    ("annotated/documents", "annotated/test_left_out"): (
        ("len(forms) > 1 and set(forms)", "set(forms)"),
    ),
    ("images/pictures", "images/test_pictures"): (
        ("65535 - greys if is_turned else greys", "greys"),
        ("if max(opened.size) > MAX_RATIO * min(opened.size):", "if not opened.size:"),
        ('in SIDEWAYS and opened.format != "TIFF"', "in SIDEWAYS"),
        ("if sha256_of(content) != self.sha256:", "if not content:"),
    ),
    ("images/images", "images/test_pictures"): (
        ("file_name(Path(name)) or", "name or"),
        ("pixels=UPLOAD_PIXELS", "pixels=2 * UPLOAD_PIXELS"),
    ),
    ("images/images", "images/test_images"): (
        ("if n_read == limit:", "if n_read == 99:"),
        ("{sequence.image.name}\\0{sequence.image.sha256}", "{sequence.image.name}"),
    ),
    ("images/image_reader", "images/test_masks"): (
        ("is_exact = mask.kind not in _LOSSY", "is_exact = True"),
        ("if not is_known and seen == stored:", "if not seen:"),
        ("known = FULL - unknown", "known = FULL + 0 * unknown"),
        ("**_PLAIN, **_AVERAGED", "**_PLAIN"),
    ),
    ("images/image_folder", "images/test_image_folder"): (
        ('unicodedata.normalize("NFC", name)', "name"),
        ('for ending in ("", *MASK_ENDINGS):', "for ending in MASK_ENDINGS:"),
        ("(_composed(path.name), path.name)", "path.stat().st_mtime_ns"),
    ),
    ("encode", "test_encode"): (
        ("- separators > 0) & (self._segment_types > 1)", "- separators > 0)"),
        ("masked = ids == self._mask", "masked = self._tokens[0] == ids"),
    ),
    ("tokenizing/encoded", "test_encode"): (
        ("min(lengths[1], max(room // 2, room - lengths[0]))", "min(lengths[1], room // 2)"),
    ),
    ("token_types", "test_encode"): (
        ("if tokenizer.cls_token != tokenizer.sep_token:", "if tokenizer:"),
        ("return token.removesuffix(WORD_END)", "return token"),
    ),
    ("token_types", "test_masking"): (
        ("max(1, math.floor(rate * len(maskable)))", "max(1, round(rate * len(maskable)))"),
        ("np.where(masked[positions], NO_TARGET, ids[positions])", "ids[positions]"),
    ),
    ("randomness", "test_masking"): (("spawn_key=beside", "spawn_key=beside[1:]"),),
    ("tokenizing/words", "test_words"): (
        ("2 * word + (side or 0)", "word"),
        ("or _JOINER.fullmatch(before)", ""),
    ),
    ("tokenizing/word_pieces", "test_words"): (
        ("MARK * space + chunks[0].lstrip(MARK)", "MARK * space + chunks[0]"),
    ),
    ("tokenizing/encoded", "tokenizing/test_fitting"): (
        ("len(of_side) < room + 2 ", "len(of_side) < 1 "),
        ("return expression in _LOCAL_EXPRESSIONS", "return bool(expression)"),
    ),
    ("tokenizing/kind", "tokenizing/test_literal"): (
        ("for part in (token[:1], token[1:])", "for part in (token,)"),
    ),
    ("tokenizing/kind", "test_japanese"): (("text[-1:].isascii() and ", ""),),
    ("index/corpus", "test_index"): (
        ('    reading.counts["truncated"] += before.truncated\n', ""),
        ("unit += sequence.document is None or", "unit += sequence.document is not None and"),
        ("if list(corpus.parts) == parts:", "if not parts:"),
    ),
    ("word_files", "test_wording"): (("ranks.max() + 1", "ranks.max()"),),
}
"""As `FAULTS`, by file of `precompute/corpora` and test of `tests/precompute/corpora`."""
DOCUMENTATION: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("docs/findings.md", "test_commands"): (
        ("`--mask 0.12`", "`--masks 0.12`"),
        ("`--mask 0.12`", "`--mask none`"),
        ("`--check-sequences 32`", "`--check-sequence`"),
        ("as `make demo` builds", "as `make demos` builds"),
    ),
    ("docs/findings.md", "test_queries"): (
        ("from value_norm_dispersion order", "from value_norm_dispersions order"),
        ("quantity = 'change'`", "quantity = 'changes'`"),
        ("source = 'position_embedding'`,", "source = 'position_embeddings'`,"),
    ),
    ("docs/index.md", "test_site"): (
        ("](running.md)", "](runs.md)"),
        ("](running.md)", "](running.md#nothing)"),
    ),
    ("tests/docs/same_numbers.sql", "test_queries"): (
        ("head, self from head_pattern;", "head, self + 1e-3 from head_pattern;"),
    ),
    ("docs/costs.md", "test_commands"): (
        ("tests.benchmark --threads 1", "tests.benchmark --thread"),
    ),
    ("docs/reliability.md", "test_commands"): (("jobs/test_claim.py", "jobs/test_claims.py"),),
    ("docs/cluster.md", "test_commands"): (
        ("ray start --head\n", "ray start --heads\n"),
        ("-e '.[cluster]'", "-e '.[clusters]'"),
    ),
    ("README.md", "test_commands"): (
        ("install chromium chromium-driver", "install firefox"),
        ("`streamlit run app.py`", "`streamlit run apps.py`"),
    ),
    ("requirements.txt", "test_lock"): (("torch==", "torch==9"), ("pyarrow==", "markupsafe>")),
    ("requirements.lock", "test_lock"): (("markupsafe==", "markup-safe=="),),
}
"""As `FAULTS`, by file of the documentation and test of `tests/docs`."""


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
    rooms = [
        (MEASURES, TESTS, FAULTS),
        (CORPORA, f"tests/{CORPORA}", READERS),
        (".", "tests/docs", DOCUMENTATION),
    ]
    every = [(room, *names, of) for *room, faults in rooms for names, of in faults.items()]
    for (folder, tests), name, test, faults in every:
        path = ROOT / folder / (name if "." in name else f"{name.strip()}.py")
        for old, new in faults if not words or any(word in str(path) for word in words) else ():
            is_caught = caught(path, old, new, f"{tests}/{test}.py")
            missed += not is_caught
            print(f"{'caught' if is_caught else 'MISSED':7} {name}: {old} -> {new}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))

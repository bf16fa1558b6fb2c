"""A corpus of any form into JSON Lines."""

from pathlib import Path

from analysis.errors import BadCorpus
from precompute.corpora.images.image_folder import holds_images
from precompute.corpora.load import entries
from precompute.corpora.recognition import NAMES, one_format_of
from precompute.corpora.source import DEMO_DIGITS, source_of
from precompute.corpora.texts.jsonl import write_jsonl
from precompute.models.load_models import load_tokenizer


def convert_corpus(
    corpus: list[str],
    output: Path,
    *,
    packing: str,
    column: str,
    model: str | None,
    max_tokens: int,
    seed: int,
) -> int:
    """Write the corpus's entries as JSON Lines; return their number.

    Raises:
        UserError: for any error in the corpus, or if sentences are packed without a model.
    """
    for name in corpus:
        if name == DEMO_DIGITS or (Path(name).is_dir() and holds_images(Path(name))):
            raise BadCorpus(
                name,
                "holds images, which JSON Lines has no place for; give the folder itself as "
                "--corpus of a run",
            )
    tokenizer = load_tokenizer(model) if model else None
    source = source_of(corpus)
    print(f"{source.name} is read as {NAMES[one_format_of(source.files)]}.")
    all_entries = entries(
        source,
        packing=packing,
        column=column,
        tokenizer=tokenizer,
        max_tokens=max_tokens,
        seed=seed,
    )
    return write_jsonl(all_entries, output)

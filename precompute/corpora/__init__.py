"""Corpora: a file on disk to the `Sequence`s that a model reads.

A format is one file here that turns a path into rows (`texts.rows.Row`), which all become entries
alike, or into documents for `packing` or `windows`. It reads and checks the file and nothing else:
tokenizing, truncation, masking and counting come after it and are the same for all. What cannot be
read is a `BadCorpus`: raised for a file, one among the others for a row. To add a format: write its
file, let `recognition` tell it from the others by content, and give it a line in `load.READERS`, or
in `load.ANNOTATED` if its words are annotated.
"""

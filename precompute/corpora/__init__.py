"""Corpora: a file on disk to the `Sequence`s that a model reads.

A format is one file here that turns a path into entries (`Text`, `Pair`, `Tokens`), or into
documents that `packing` or `windows` makes entries of. It judges the file and nothing else:
tokenizing, cutting to length, masking and counting come after it and are the same for all. To add a
format: write its file, let `recognition` tell it from the others by content, and give it a line in
`load.READERS`, or in `load.ANNOTATED` if its words are annotated.
"""

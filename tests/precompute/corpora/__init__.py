"""Tests of the readers of corpora, and of the sequences made from their entries."""

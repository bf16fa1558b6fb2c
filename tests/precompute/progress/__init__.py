"""Tests of how a run tells how far it is."""

"""Tables on syntax and coreference against annotated corpora."""

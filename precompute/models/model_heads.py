"""Heads of models: to predict tokens or classes."""

from analysis.models.adapter import adapter_for
from analysis.models.trace import Model


def loader_of_head(configuration: dict) -> str | None:
    """Return the loader of the model with its head, if the configuration names one that is read."""
    adapter = adapter_for(configuration["model_type"])
    known = adapter.LANGUAGE_MODELS | adapter.CLASSIFIERS
    named = (known[name] for name in configuration.get("architectures") or () if name in known)
    return next(named, None)


def loader_of_body(configuration: dict) -> str:
    """Return the loader of the model without a head, or of the part that is read."""
    family = configuration["model_type"]
    return getattr(adapter_for(family), "LOADERS", {}).get(family, "AutoModel")


def if_named(with_head: Model | None, known: dict[str, str]) -> Model | None:
    """Return the model with its head, if its class is among `known`."""
    return with_head if type(with_head).__name__ in known else None


def if_exclusive(classifier: Model | None) -> Model | None:
    """Return the classifier; None for regression and for several independent labels."""
    if classifier is None:
        return None
    config = classifier.config
    exclusive = config.problem_type in (None, "single_label_classification")
    return classifier if exclusive and config.num_labels > 1 else None

"""Which head a model has around it: one that predicts tokens, one that predicts classes."""

from analysis.models.adapter import adapter_for
from analysis.models.trace import Model


def loader_of_head(configuration: dict) -> str | None:
    """What loads the model with its head, if its configuration names one that is read."""
    adapter = adapter_for(configuration["model_type"])
    known = adapter.LANGUAGE_MODELS | adapter.CLASSIFIERS
    named = (known[name] for name in configuration.get("architectures") or () if name in known)
    return next(named, None)


def loader_of_body(configuration: dict) -> str:
    """What loads the model without a head: of a family of which a part is read, that part."""
    family = configuration["model_type"]
    return getattr(adapter_for(family), "LOADERS", {}).get(family, "AutoModel")


def if_named(with_head: Model | None, known: dict[str, str]) -> Model | None:
    """The model with its head, if that is of a kind."""
    return with_head if type(with_head).__name__ in known else None


def if_exclusive(classifier: Model | None) -> Model | None:
    """The classifier, unless it answers with one number or with a yes or no for every class."""
    if classifier is None:
        return None
    config = classifier.config
    exclusive = config.problem_type in (None, "single_label_classification")
    return classifier if exclusive and config.num_labels > 1 else None

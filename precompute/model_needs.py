"""Which statistics ask for more of a model than attention and hidden vectors."""

from collections.abc import Iterable

from analysis.errors import UserError
from precompute.models.loaded_model import LoadedModel

_OF_CLASSES = ("class_prediction", "sequence_perturbation", "perturbation")
_OF_IMAGES = {
    "sequence_perturbation": "hides patches of images",
    "perturbation": "hides patches of images",
    "patch_offset": "counts rows and columns between patches of images",
}


def check_model(statistics: Iterable[str], model: LoadedModel) -> None:
    """Raises if a statistic was asked for by name that the model has nothing for.

    Raises:
        UserError: naming the statistic, what it needs, and what to do.
    """
    for statistic in statistics:
        if statistic in _OF_IMAGES and model.images is None:
            raise UserError(
                f"--statistics {statistic} {_OF_IMAGES[statistic]}, and {model.name} reads "
                f"text: leave {statistic} out, or give a model that reads images, such as "
                "demo-digits."
            )
        if statistic in _OF_CLASSES and model.classifier is None:
            raise UserError(
                f"--statistics {statistic} needs a model that tells classes apart, and the weights "
                f"of {model.name} have no such head: leave {statistic} out, or give a model "
                "trained to classify, such as demo-digits."
            )


def check_segments(model: LoadedModel) -> None:
    """Refuse to zero segment ids where that would have no effect.

    Raises:
        UserError: naming the option.
    """
    if model.segments == "zero" and model.images is None and model.segment_types < 2:
        raise UserError(
            f"--segments zero gives every token segment id 0, and model {model.name!r} tells no "
            f"segments apart (its segment types: {model.segment_types}). Leave --segments out."
        )

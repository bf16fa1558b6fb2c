"""What a model cannot give is refused when it is asked for by name, and left empty otherwise."""

from dataclasses import replace

import pytest

from analysis.errors import UserError
from precompute.jobs.plan import chosen_statistics
from precompute.jobs.runner import run_local
from precompute.model_needs import check_model
from precompute.run import run
from tests.small_store import request
from tests.tiny import tiny_model

OF_CURVES = ("sequence_perturbation", "perturbation")
OF_CLASSES = ("class_prediction", *OF_CURVES)


@pytest.mark.parametrize("statistic", OF_CURVES)
def test_a_text_has_no_patches_to_hide(statistic):
    with pytest.raises(UserError) as error:
        check_model([statistic], tiny_model("bert"))
    assert str(error.value) == (
        f"--statistics {statistic} hides patches of images, and bert reads text: leave {statistic} "
        "out, or give a model that reads images, such as demo-digits."
    )


def test_a_text_has_no_rows_of_patches():
    with pytest.raises(UserError) as error:
        check_model(["patch_offset"], tiny_model("bert"))
    assert str(error.value) == (
        "--statistics patch_offset counts rows and columns between patches of images, and bert "
        "reads text: leave patch_offset out, or give a model that reads images, such as "
        "demo-digits."
    )
    check_model(["patch_offset"], replace(tiny_model("vit"), classifier=None))


@pytest.mark.parametrize("statistic", OF_CLASSES)
def test_a_model_without_a_classifier_predicts_nothing(statistic):
    model = tiny_model("vit")
    check_model([statistic], model)
    with pytest.raises(UserError, match="no such head"):
        check_model([statistic], replace(model, classifier=None))


def test_all_other_statistics_are_of_any_model():
    others = set(chosen_statistics(None)) - {"patch_offset", *OF_CLASSES}
    check_model(sorted(others), tiny_model("bert"))


def test_a_run_is_refused_before_it_computes_anything(tmp_path):
    asked = request(tmp_path, "bert", statistics=["perturbation"])
    with pytest.raises(UserError, match="hides patches"):
        run(asked, run_local)
    assert not list(tmp_path.glob("**/*.parquet"))

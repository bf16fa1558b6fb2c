"""Text classifiers: the head is loaded with its model."""

import pytest
import torch
import transformers

from precompute.models.load_models import load_model
from tests.tiny import save_tiny, tiny_sequences

CLASSIFIERS = {
    "bert": transformers.BertForSequenceClassification,
    "roberta": transformers.RobertaForSequenceClassification,
}


@pytest.mark.parametrize("family", CLASSIFIERS)
def test_a_head_that_tells_texts_apart_comes_with_the_model(tmp_path, family):
    folder = save_tiny(family, tmp_path)
    config = transformers.AutoConfig.from_pretrained(folder, num_labels=3)
    config.id2label = {0: "good", 1: "bad", 2: "neither"}
    CLASSIFIERS[family](config).save_pretrained(folder)
    loaded = load_model(str(folder), device="cpu")
    assert loaded.language_model is None
    classes = loaded.classification
    assert classes is not None
    assert classes.labels == ("good", "bad", "neither")
    texts = tiny_sequences(family)
    inputs = loaded.inputs(texts)
    if family == "roberta":  # which has one type of segments
        inputs["token_type_ids"] *= 0
    assert loaded.classifier is not None
    whole = loaded.classifier(**inputs).logits.softmax(dim=-1)
    torch.testing.assert_close(classes.probabilities(texts), whole)
    found = classes.gradients(texts)
    assert torch.equal(found.predicted, whole.argmax(dim=1))
    assert all(layer.abs().max() > 0 for layer in found.layers)

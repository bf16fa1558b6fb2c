"""Uploaded images have the same numbers as the same files in a folder."""

from pathlib import Path

import numpy as np
import pandas as pd

from precompute.live.one_sequence import Rerun
from precompute.models.load_models import load_model
from tests.small_images import SIZES


def test_uploads_have_the_maps_predictions_and_pictures_of_a_folder(curves_run, curves_store):
    asked, _ = curves_run
    again = Rerun(load_model(asked.model, device="cpu"))
    names = dict(curves_store.execute("select seq, name from image order by seq").fetchall())
    assert sorted(names.values()) == sorted(SIZES)
    for seq, name in names.items():
        upload = again.relevance_of_image(Path(asked.corpus, name).read_bytes(), name=name)
        rows = curves_store.execute(
            "select rule, layer, head, relevance from relevance_map where seq = ?", [seq]
        ).df()
        for rule, layer, head, relevance in rows.itertuples(index=False):
            of_rule = upload.maps[rule]
            place = layer - 1 - (3 - len(of_rule))
            values = of_rule[place, -1 if pd.isna(head) else int(head) - 1]
            np.testing.assert_allclose(values, relevance, atol=1e-6)
        assert len(rows) == sum(maps.shape[0] * maps.shape[1] for maps in upload.maps.values())
        stored = curves_store.execute(
            "select label, probability from class_prediction where seq = ? order by rank", [seq]
        ).df()
        assert [label for label, _ in upload.prediction] == stored["label"].tolist()
        np.testing.assert_allclose([p for _, p in upload.prediction], stored["probability"], 1e-5)
        image = curves_store.execute("from image where seq = ?", [seq]).df().iloc[0]
        assert upload.picture == bytes(image["picture"])
        grid = (image["grid_rows"], image["grid_columns"], image["first_patch"])
        assert (upload.rows, upload.columns, upload.first_patch) == grid
    kept = curves_store.sql("select distinct seq from relevance_map order by seq").fetchall()
    assert [seq for (seq,) in kept] == list(names)

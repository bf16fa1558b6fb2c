"""A file of masked sequences."""

from pathlib import Path

import pytest

from tests.pages.kit.copies import changed_copy


@pytest.fixture(scope="session")
def masked_folder(store_folder, tmp_path_factory) -> Path:
    """A store in which every third token is masked."""
    tables = ("mixing_ratio", "rollout", "vector_rollout")
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("masked"),
        "update stored.token set is_masked = true where pos % 3 = 1",
        *(
            f"insert into stored.{table} select * replace ('mask' as token_type) "
            f"from stored.{table} where token_type = 'sep'"
            for table in tables
        ),
    )

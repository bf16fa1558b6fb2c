"""Cache of valid charts: repeated validation takes half of the time of opening a page."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import pytest
from altair.utils import schemapi
from altair.vegalite.v6.schema.core import VegaLiteSchema


@contextmanager
def validated_once() -> Iterator[None]:
    """Make Altair validate each distinct specification once."""
    valid: set[bytes] = set()
    validate, wrappers = schemapi._get_errors_from_spec, schemapi._FromDict

    def errors(spec: Any, schema: dict[str, Any], rootschema: Any = None) -> Any:
        text = json.dumps([spec, schema], sort_keys=True, default=repr)
        key = blake2b(text.encode()).digest()
        faults = [] if key in valid else validate(spec, schema, rootschema)
        if not faults:
            valid.add(key)
        return faults

    known = wrappers(VegaLiteSchema._default_wrapper_classes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemapi, "_get_errors_from_spec", errors)
        patch.setattr(schemapi, "_FromDict", lambda classes: known)
        yield

"""The lock holds all that `requirements.txt` brings with it, by hash and in the same versions."""

import re
from importlib.metadata import requires, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.docs.written import text_of

LOCK = text_of("requirements.lock")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(text: str) -> list[Requirement]:
    """Requirements of a file, without hashes, options and comments."""
    joined = HASH.sub("", text.replace("\\\n", " ")).splitlines()
    named = (line.partition("#")[0].strip() for line in joined)
    return [Requirement(line) for line in named if line and not line.startswith("-")]


def locked(text: str = LOCK) -> dict[str, Version]:
    """Name and version of what the lock installs here."""
    here = [pin for pin in pins(text) if pin.marker is None or pin.marker.evaluate()]
    return {
        canonicalize_name(pin.name): Version(str(pin.specifier).removeprefix("==")) for pin in here
    }


def missing(asked: list[Requirement], lock: dict[str, Version]) -> list[str]:
    """Requirements that are not locked, or locked in another version."""
    named = [(need, lock.get(canonicalize_name(need.name))) for need in asked]
    return [str(need) for need, found in named if found is None or found not in need.specifier]


def brought(name: str, lock: dict[str, Version]) -> list[Requirement]:
    """Requirements of a locked package on this platform, from its installed metadata.

    If another version is installed, as happens from the day of its release, its requirements are
    those of the locked one as far as the lock holds them.
    """
    needs = [Requirement(need) for need in requires(name) or ()]
    here = [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    if lock.get(name) in (None, Version(version(name))):
        return here
    known = [canonicalize_name(need.name) for need in here]
    return [Requirement(package) for package in known if package in lock]


def test_the_lock_holds_the_requirements_and_what_they_bring_with_them():
    asked = pins(text_of("requirements.txt"))
    seen, left = set(), asked
    while left:
        assert not missing(left, locked())
        names = {canonicalize_name(need.name) for need in left} - seen
        seen |= names
        left = [need for name in names for need in brought(name, locked())]
    assert len(seen) > 2 * len(asked), "this test could not have failed"


def test_all_that_is_locked_has_a_hash_and_neither_a_host_nor_a_path():
    entries = LOCK.replace("\\\n", " ").splitlines()
    assert len(entries) == len(pins(LOCK)) > 90
    assert not [entry for entry in entries if not HASH.search(entry)]
    assert not re.search(r"://|/|@|--(?!hash)", HASH.sub("", LOCK))

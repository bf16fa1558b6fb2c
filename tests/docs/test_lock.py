"""The lock holds all that `requirements.txt` brings with it, by hash and in the same versions."""

import re
from importlib.metadata import requires, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.docs.written import ROOT

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
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


def pinned(file: str) -> list[Requirement]:
    return pins((ROOT / file).read_text(encoding="utf-8"))


def missing(asked: list[Requirement], lock: dict[str, Version]) -> list[str]:
    """Requirements that are not locked, or locked in another version."""
    return [
        str(need)
        for need in asked
        if canonicalize_name(need.name) not in lock
        or lock[canonicalize_name(need.name)] not in need.specifier
    ]


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


def test_the_lock_agrees_with_the_requirements():
    assert not missing(pinned("requirements.txt"), locked())


def test_the_lock_holds_what_the_requirements_bring_with_them():
    seen, left = set(), [pin.name for pin in pinned("requirements.txt")]
    while left:
        name = canonicalize_name(left.pop())
        if name not in seen:
            seen.add(name)
            needs = brought(name, locked())
            assert not missing(needs, locked()), name
            left += [need.name for need in needs]
    assert len(seen) > 2 * len(pinned("requirements.txt")), "this test could not have failed"


@pytest.mark.parametrize("name", ["pillow", "torch", "markupsafe"])
def test_a_lock_that_lags_would_be_seen(name):
    assert missing([Requirement(f"{name}>9999")], locked()) == [f"{name}>9999"]
    without = re.sub(rf"^{name}==.*\n(    --hash.*\n)+", "", LOCK, flags=re.MULTILINE)
    assert missing([Requirement(name)], locked(without)) == [name]


def test_all_that_is_locked_has_a_hash():
    entries = LOCK.replace("\\\n", " ").splitlines()
    assert len(entries) == len(pins(LOCK)) > 90
    assert not [entry for entry in entries if not HASH.search(entry)]


def test_the_lock_names_neither_a_host_nor_a_path():
    left = HASH.sub("", LOCK)
    assert "==" in left
    assert not re.search(r"://|/|@|--(?!hash)", left)

"""Files with the ending of a file of statistics that are none."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb


def _cut(path: Path, secret: Path) -> None:
    path.write_bytes(path.read_bytes()[:300_000])


def _damage(path: Path, secret: Path) -> None:
    """Flip a bit in every data block of the file."""
    content = bytearray(path.read_bytes())
    for place in range(3 * 4096 + 50_000, len(content), 262_144):
        content[place] ^= 1
    path.write_bytes(content)


def _newer(path: Path, secret: Path) -> None:
    content = bytearray(path.read_bytes())
    content[13] += 1
    path.write_bytes(content)


def _link(path: Path, secret: Path) -> None:
    path.unlink()
    path.symlink_to(secret)


def _other_database(path: Path, secret: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as store:
        store.execute("create table run (schema_version text)")
        store.execute("insert into run values ('5')")
    store.close()


def _encrypted(path: Path, secret: Path) -> None:
    path.unlink()
    with duckdb.connect() as store:
        store.execute("set force_mbedtls_unsafe = true")
        store.execute(f"attach '{path}' as hidden (encryption_key 'key')")
        store.execute("create table hidden.run as select 5 as schema_version")


def _empty_database(path: Path, secret: Path) -> None:
    path.unlink()
    duckdb.connect(str(path)).close()


def _folder(path: Path, secret: Path) -> None:
    path.unlink()
    path.mkdir()


def _log_elsewhere(path: Path, secret: Path) -> None:
    _empty_database(path, secret)
    path.with_name(f"{path.name}.wal").symlink_to(secret)


def _write(content: bytes) -> Callable[[Path, Path], None]:
    def write(path: Path, secret: Path) -> None:
        path.write_bytes(content)

    return write


NO_FILE_OF_OURS: dict[str, Callable[[Path, Path], None]] = {
    "an empty file": _write(b""),
    "a text": _write(b"once upon a time " * 1000),
    "a picture": _write(b"\x89PNG\r\n\x1a\n" + bytes(20_000)),
    "a file that was cut off": _cut,
    "a file with flipped bits": _damage,
    "a file of a later storage format": _newer,
    "a link to another file": _link,
    "a database of another program": _other_database,
    "an encrypted database": _encrypted,
    "an empty database": _empty_database,
    "a folder": _folder,
    "a log that is another file": _log_elsewhere,
}
"""What is done to a file, and refused for whatever reason DuckDB or this program gives."""

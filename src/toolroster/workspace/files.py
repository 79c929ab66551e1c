"""Reading and writing files, whole and exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolroster.errors import WorkspaceError


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        WorkspaceError: The file can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkspaceError(
            f"can't read {path.as_posix()}: {error.strerror}. Check that it exists and is readable."
        ) from error


def write_bytes(path: Path, data: bytes) -> bool:
    """Write a file in one step, so that no reader sees half of it; return whether anything changed.

    A file that already holds the bytes is left alone, its time of change included. Missing folders are made.

    Raises:
        WorkspaceError: The file can't be written.
    """
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:32]}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            _copy_mode(path, Path(temporary))
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WorkspaceError(f"can't write {path.as_posix()}: {error.strerror}. Nothing of it was changed.") from error
    return True


def make_folder(path: Path) -> None:
    """Make a folder and those that it stands in, where they are missing.

    Raises:
        WorkspaceError: There is a file in its place, or it can't be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"can't make the folder {path.as_posix()}: {error.strerror}.") from error


def delete_file(path: Path) -> None:
    """Delete a file, and its folder when that leaves it empty.

    Raises:
        WorkspaceError: The file can't be deleted.
    """
    try:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    except OSError as error:
        raise WorkspaceError(f"can't delete {path.as_posix()}: {error.strerror}.") from error


def list_files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder by its POSIX path, by code point; a missing folder has none.

    Links to folders are followed, except those that lead back to a folder that they stand in.

    Raises:
        WorkspaceError: A folder can't be listed.
    """
    if not folder.is_dir():
        return

    def fail(error: OSError) -> None:
        raise WorkspaceError(f"can't list {folder.as_posix()}: {error.strerror}.") from error

    found: list[Path] = []
    for base, folders, names in os.walk(folder, onerror=fail, followlinks=True):
        here = Path(base).resolve()
        folders[:] = [name for name in folders if not here.is_relative_to((here / name).resolve())]
        found += [Path(base) / name for name in names]
    yield from sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _copy_mode(existing: Path, temporary: Path) -> None:
    """Give a new file the mode of the one it replaces, or the mode that the process gives new files."""
    if existing.is_file():
        temporary.chmod(existing.stat().st_mode & 0o777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)

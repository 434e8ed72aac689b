"""Files that are written: whole or not at all, and tried before the work that fills them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def _is_special(path: Path) -> bool:
    """An existing path that is not a plain file, such as /dev/stdout: it cannot be replaced."""
    return path.exists() and not path.is_file()


def check_folder(folder: Path) -> None:
    """Make a folder, and check that files can be made in it.

    Raises:
      OSError: they cannot.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def check(path: Path) -> None:
    """Check that a file can be written, without a change to it.

    Raises:
      OSError: it cannot.
    """
    if path.exists() or path.is_symlink():
        path.open("ab").close()
    if not _is_special(path):
        try:
            with tempfile.TemporaryFile(dir=path.resolve().parent):
                pass
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


def write(path: Path, content: str | bytes) -> None:
    """Write a file; on failure the old one stays.

    Text is UTF-8; other characters become ``\\udcXX``.

    Raises:
      OSError: with the name of the file.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if _is_special(path):
        path.write_bytes(data)
        return
    target = path.resolve()
    made = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with made.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            made.chmod(path.stat().st_mode & 0o777)
        made.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        made.unlink(missing_ok=True)

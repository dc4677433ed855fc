"""What the calls of the C library share: texts, and its statuses as exceptions."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from srcfind._library import ffi as ffi, lib as lib  # which the other modules have from here


class Error(Exception):
    """What the library could not do. The message is the library's: one line, with the remedy."""


class OptionError(Error, ValueError):
    """An option or an argument is not valid."""


class InputError(Error, OSError):
    """The image cannot be read, or is not an image."""


class OutputError(Error, OSError):
    """A file cannot be written."""


class DeviceError(Error, RuntimeError):
    """The CUDA device cannot be used."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class SrcfindWarning(UserWarning):
    """What looks wrong in an image that was searched, and which option of the command cures it."""


_ERRORS = {
    lib.SRCFIND_ERROR_OPTIONS: OptionError,
    lib.SRCFIND_ERROR_INPUT: InputError,
    lib.SRCFIND_ERROR_OUTPUT: OutputError,
    lib.SRCFIND_ERROR_DEVICE: DeviceError,
    lib.SRCFIND_ERROR_MEMORY: OutOfMemoryError,
}


def check(status: int, message: Any, named: Callable[[str], str] = str) -> None:
    """Raises the exception of a status, with what named() makes of the message, a C text, unless the status is SRCFIND_OK."""
    if status != lib.SRCFIND_OK:
        raise _ERRORS[status](named(text(message)))


def text(chars: Any) -> str:
    """A text of the library; "" for NULL."""
    return os.fsdecode(ffi.string(chars)) if chars else ""


def chars(value: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """A text or path for the library."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"{value!r}: a text has no NUL characters")
    return encoded


def listed(call: Callable[[int], Any]) -> list[Any]:
    """All that a call of the library describes, which takes a number from 0 and returns NULL after the last."""
    items: list[Any] = []
    while item := call(len(items)):
        items.append(item)
    return items

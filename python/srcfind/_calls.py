"""What the calls of the C library share: texts, its statuses as exceptions, and signals that end
them."""
from __future__ import annotations

import os
import threading
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


_ERRORS: dict[int, type[BaseException]] = {
    lib.SRCFIND_ERROR_OPTIONS: OptionError,
    lib.SRCFIND_ERROR_INPUT: InputError,
    lib.SRCFIND_ERROR_OUTPUT: OutputError,
    lib.SRCFIND_ERROR_DEVICE: DeviceError,
    lib.SRCFIND_ERROR_MEMORY: OutOfMemoryError,
    lib.SRCFIND_INTERRUPTED: KeyboardInterrupt,
}

_raised: list[BaseException] = []  # by the handler of a signal, during a call of the main thread


def check(status: int, message: Any, named: Callable[[str], str] = str) -> None:
    """Raises the exception of a status, with what named() makes of the message, a C text, unless
    the status is SRCFIND_OK."""
    if status != lib.SRCFIND_OK:
        raise _ERRORS[status](named(text(message)))


def _interrupted(user: Any) -> bool:
    """What the library calls now and then: before its first line, Python runs the handlers of the
    signals that have come."""
    return False


def _keep(kind: type[BaseException], raised: BaseException, traceback: Any) -> bool:
    """Keeps what a handler raised (Ctrl-C: KeyboardInterrupt) until the call has ended, as it is to
    do now."""
    _raised.append(raised)
    return True


ffi.def_extern("interrupted_in_python", error=True, onerror=_keep)(_interrupted)


def call_with_signals(function: Callable[..., int], finder: Any, *arguments: Any) -> int:
    """Calls the library with a finder, and returns the status. Handlers of signals run meanwhile,
    and what they raise ends the call.

    They run in the main thread alone: calls of the others need not ask for them.
    """
    is_main = threading.current_thread() is threading.main_thread()
    lib.srcfind_set_interrupted(
        finder, lib.interrupted_in_python if is_main else ffi.NULL, ffi.NULL
    )
    if is_main:
        _raised.clear()
    status = function(finder, *arguments)
    if is_main and _raised:
        raise _raised.pop()
    return status


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
    """All that a call of the library describes, which takes a number from 0 and returns NULL after
    the last."""
    items: list[Any] = []
    while item := call(len(items)):
        items.append(item)
    return items

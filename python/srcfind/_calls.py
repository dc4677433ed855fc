"""Calls of the C library: texts, statuses as exceptions, and signals that end a call."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from srcfind._library import ffi as ffi, lib as lib  # other modules import these names from here
from srcfind._spelling import TABLES, Spelled, Spelling


class Error(Exception):
    """The library could not do something. Its message is one line, with the remedy."""

    __module__ = "srcfind"  # as tracebacks show it


class OptionError(Error, ValueError):
    """An option or an argument is not valid."""

    __module__ = "srcfind"  # as tracebacks show it


class InputError(Error, OSError):
    """The image cannot be read, or is not an image."""

    __module__ = "srcfind"  # as tracebacks show it


class OutputError(Error, OSError):
    """A file cannot be written."""

    __module__ = "srcfind"  # as tracebacks show it


class DeviceError(Error, RuntimeError):
    """The CUDA device cannot be used."""

    __module__ = "srcfind"  # as tracebacks show it


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""

    __module__ = "srcfind"  # as tracebacks show it


class SrcfindWarning(UserWarning):
    """Something looks wrong in an image; the text names the option that helps."""

    __module__ = "srcfind"  # as tracebacks show it


_ERRORS: dict[int, type[BaseException]] = {
    lib.SRCFIND_ERROR_OPTIONS: OptionError,
    lib.SRCFIND_ERROR_INPUT: InputError,
    lib.SRCFIND_ERROR_OUTPUT: OutputError,
    lib.SRCFIND_ERROR_DEVICE: DeviceError,
    lib.SRCFIND_ERROR_MEMORY: OutOfMemoryError,
    lib.SRCFIND_INTERRUPTED: KeyboardInterrupt,
}

# raised by the handler of a signal, during a call of the main thread
_raised: list[BaseException] = []


def check(status: int, message: Any, named: Callable[[str], str] = str) -> None:
    """Raises the exception of a status, unless the status is SRCFIND_OK. named() changes the
    message, a C text."""
    if status != lib.SRCFIND_OK:
        raise _ERRORS[status](named(in_python(text(message))))


def _interrupted(user: Any) -> bool:
    """The library calls this function now and then. Python runs the handlers of pending signals
    before its first line."""
    return False


def _keep(kind: type[BaseException], raised: BaseException, traceback: Any) -> bool:
    """Keeps the exception of a handler (Ctrl-C: KeyboardInterrupt) until the call has ended. The
    call ends soon."""
    _raised.append(raised)
    return True


ffi.def_extern("interrupted_in_python", error=True, onerror=_keep)(_interrupted)


def call_with_signals(function: Callable[..., int], finder: Any, *arguments: Any) -> int:
    """Calls the library with a finder, and returns the status. Handlers of signals run during the
    call, and an exception of a handler ends it. Python runs handlers in the main thread alone:
    calls of other threads need not ask for them.
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


def _text_or_none(chars: Any) -> str | None:
    return text(chars) if chars else None


@lru_cache(maxsize=None)
def _spelling() -> Spelling:
    """Made for the first message."""
    options = [
        Spelled(text(each.name), _text_or_none(each.argument), _text_or_none(each.values))
        for each in listed(lib.srcfind_option)
    ]
    maps = "|".join([text(name) for name in listed(lib.srcfind_map)] + list(TABLES))
    formats = "|".join(text(each.name) for each in listed(lib.srcfind_format))
    saved = [Spelled("save", "NAMES", maps), Spelled("format", "NAME", formats)]
    return Spelling([*options, *saved])


def in_python(message: str) -> str:
    """A message of the library, with the options as Python has them."""
    return _spelling()(message)


def chars(value: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """A text or path for the library."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"{value!r}: a text has no NUL characters")
    return encoded


def listed(call: Callable[[int], Any]) -> list[Any]:
    """A list of what a function of the library returns for 0, 1, ...; the function returns NULL
    after the last."""
    items: list[Any] = []
    while item := call(len(items)):
        items.append(item)
    return items

"""The options of a search: from keyword arguments to texts of the library."""
from __future__ import annotations

import functools
import inspect
import numbers
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from srcfind._calls import OutOfMemoryError, chars, check, ffi, lib, listed, text
from srcfind._files import MAPS, TemporaryFiles
from srcfind._near import near_names
from srcfind._quantities import plain

_F = TypeVar("_F", bound=Callable[..., Any])

# By their names in Python: rms_box for rms-box.
_KNOWN = {text(option.name).replace("-", "_"): option for option in listed(lib.srcfind_option)}


# Options of the command, and what Python has instead.
_ELSEWHERE = {
    "cpu": 'device="cpu"',
    "gpu": "device=0",
    "output": "Catalogue.write",
    "format": "Catalogue.write",
    "columns": "Catalogue.write",
    "save": "Catalogue.map and Catalogue.picture",
}


# What an option is that takes one number, where this one takes a file.
_OF_NUMBERS = {"rms_map": "rms", "background_map": "background"}


def _way_out(name: str, value: Any) -> str:
    """What to give in place of a value that is no file; "" if that is not known."""
    if isinstance(value, numbers.Real) and name in _OF_NUMBERS:
        return f": {_OF_NUMBERS[name]}={value} is one number for the whole image"
    if isinstance(value, (tuple, list)) and name in MAPS:
        return f": give numpy.array({name})"
    return ": write it to a file, and give its path" if hasattr(value, "write") else ""


def _check_path(name: str, value: Any) -> None:
    """Raises TypeError for numbers and lists in place of a path, or of several paths."""
    if isinstance(value, (tuple, list)) and text(_KNOWN[name].argument) == "FILES":
        for each in value:
            _check_path(name, each)
    elif not isinstance(value, (str, bytes, os.PathLike)):
        ways = "a path"
        if name in MAPS:
            ways = "a path, or an array of NumPy"
        elif name in ("at", "inject"):
            ways = "a path, a table or positions"
        raise TypeError(f"{name}: {ways}, not {type(value).__name__}{_way_out(name, value)}")


def _value(name: str, value: Any) -> str | bytes | os.PathLike[str] | os.PathLike[bytes]:
    """A value as the command takes it: 60,20 for (60, 20), yes for True, a,b.fits for [Path("a"),
    Path("b.fits")]."""
    if re.search("FILE|CATALOGUE", text(_KNOWN[name].argument)):
        _check_path(name, value)
    if text(_KNOWN[name].argument) == "FILES" and not isinstance(value, (str, bytes)):
        paths = [
            os.fsencode(path) for path in (value if isinstance(value, (tuple, list)) else [value])
        ]
        return b",".join(
            (b"./" * path.startswith(b"@") + path).replace(b",", b",,") for path in paths
        )
    if isinstance(value, (str, bytes, os.PathLike)):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not _KNOWN[name].argument:
        raise TypeError(f"{name}: True or False, not {value!r}")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (tuple, list)):
        return ",".join(str(_value(name, item)) for item in value)
    file = ": write it to a file, and give its path" if hasattr(value, "write") else ""
    raise TypeError(
        f"{name}: an option is a number, a text, a path or a tuple, not {type(value).__name__}{file}"
    )


def with_known_names(function: _F) -> _F:
    """A function whose TypeError of an unknown option names the option that is meant. Python's own
    has only the wrong name."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        for name in options:
            if name in _ELSEWHERE:
                raise TypeError(f"there is no option {name} in Python: see {_ELSEWHERE[name]}")
            if name not in names:
                near = near_names(name, names) or _KNOWN
                raise TypeError(f"there is no option {name}: did you mean {', '.join(near)}?")
        return function(*arguments, **options)

    return cast(_F, call)


def given_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options among the arguments of a function, without those that are None."""
    return {n: value for n, value in arguments.items() if n in _KNOWN and value is not None}


def make_options(given: Mapping[str, object], files: TemporaryFiles) -> Any:
    """Makes the options of the library. Arrays and tables
    are written to `files`. Raises TypeError for a wrong type, and OptionError for a wrong value.
    """
    options = ffi.gc(lib.srcfind_options_create(), lib.srcfind_options_destroy)
    if not options:
        raise OutOfMemoryError("out of memory while making options")
    # survey first: local=False undoes a part of it, wherever it stands.
    for name, value in sorted(given.items(), key=lambda item: item[0] != "survey"):
        text_of = _value(name, plain(name, files.value(name, value)))
        status = lib.srcfind_options_set(options, _KNOWN[name].name, chars(text_of))
        check(status, lib.srcfind_options_message(options))
    return options


def _value_of(options: Any, name: Any) -> str:
    size = lib.srcfind_options_get(options, name, ffi.NULL, 0) + 1
    value = ffi.new("char[]", size)
    lib.srcfind_options_get(options, name, value, size)
    return text(value)


def shaping_options(options: Any, files: TemporaryFiles) -> dict[str, str]:
    """The options that shape a catalogue, with the texts of their values; without those not set."""
    values = {
        name: _value_of(options, option.name)
        for name, option in _KNOWN.items()
        if option.shapes_catalogue
    }
    return {name: files.named(value) for name, value in values.items() if value}

"""The extension that cffi makes, for type checkers: what it calls is checked by the compiler and
cffi."""
from typing import Any

ffi: Any
lib: Any

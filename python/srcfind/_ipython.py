"""Completion in IPython and Jupyter of what they do not find by themselves: `catalogue.map("`. Jedi,
which they ask, does not complete texts."""
from __future__ import annotations

import re
import sys
from typing import Any, get_args

from srcfind._catalogue import Catalogue
from srcfind._signatures import MapName

_CALL = re.compile(r"(?<![\w.])(\w+)\.map\(\s*(?:name\s*=\s*)?[\"'](\w*)$")


def _names(shell: Any, text: str) -> list[str]:
    """The names of maps with which a text may go on, where a catalogue is asked for one."""
    call = _CALL.search(text)
    if not call or not isinstance(shell.user_ns.get(call[1]), Catalogue):
        return []
    return [name for name in get_args(MapName) if name.startswith(call[2])]


def complete_maps() -> None:
    """Makes the shell of IPython complete names of maps, if there is one. Does not import
    IPython."""
    completer: Any = sys.modules.get("IPython.core.completer")
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython and completer else None
    if not hasattr(completer, "context_matcher") or not hasattr(shell, "Completer"):
        return

    @completer.context_matcher()  # type: ignore[untyped-decorator]
    def srcfind_map_matcher(context: Any) -> Any:
        until = context.text_until_cursor
        found = [completer.SimpleCompletion(text=n, type="map") for n in _names(shell, until)]
        return {
            "completions": found,
            "matched_fragment": re.split(r"\W", until)[-1],
            "suppress": bool(found),
        }

    shell.Completer.custom_matchers.append(srcfind_map_matcher)

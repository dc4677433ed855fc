"""Where a file goes, and what is told on the screen instead of writing it, as PyBDSF does."""
from __future__ import annotations

import os
from typing import Any

from srcfind.bdsf._options import Error


def failed(why: str) -> bool:
    """Tells why nothing was written; False."""
    print(f"ERROR: {why}")
    return False


def path_of(outfile: Any, default: str) -> str:
    """The path that a call names, or the default. Raises Error for SAMP, where PyBDSF sends files
    to other programs."""
    if str(outfile).upper() == "SAMP":
        raise Error("outfile='SAMP': there is no SAMP: write a file, and load it")
    return os.fspath(outfile) if outfile else default

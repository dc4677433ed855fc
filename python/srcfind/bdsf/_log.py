"""The log of a search, beside the image, and what it says on the screen."""
from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

import srcfind
from srcfind.bdsf._options import OPTIONS, Opts

if TYPE_CHECKING:
    from srcfind.bdsf.image import Image


class Log:
    """A log file. Each search adds to it. Without quiet its lines are on the screen, too."""

    def __init__(self, path: str, opts: Opts) -> None:
        self._path, self._quiet = path, opts.quiet
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError:
            pass  # a directory that cannot be written to has no log
        self.line(
            f"{datetime.now():%Y-%m-%d %H:%M:%S} srcfind {srcfind.__version__}: {opts.filename}"
        )
        for name, value in sorted(opts.to_dict().items()):
            if name in OPTIONS and name not in ("filename", "quiet"):
                if repr(value) != repr(OPTIONS[name].default):
                    self.line(f"    {name} = {value!r}")

    def line(self, text: str) -> None:
        """Adds a line."""
        if not self._quiet:
            print(text)
        try:
            with open(self._path, "a", encoding="utf-8") as stream:
                stream.write(text + "\n")
        except OSError:
            pass

    def result(self, img: Image) -> None:
        """Adds what was found."""
        if img.opts.stop_at == "read":
            return
        found = img.catalogue
        self.line("    srcfind: " + " ".join(f"{k}={v}" for k, v in found.options.items()))
        self.line(f"    rms {found.background.rms:.4g}, beam {img.beam}, {img.frequency:.5e} Hz")
        self.line(f"    {img.nisl} islands, {img.nsrc} sources")
        for note in found.notes:
            self.line(f"    {note}")

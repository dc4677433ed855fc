"""What people look at: the picture of an image with its sources, and the page of a catalogue."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from srcfind._calls import Error, OutputError

if TYPE_CHECKING:
    from srcfind._catalogue import Catalogue

#: A notebook shows pictures of images of so many pixels at most: they cost some 0.2 s.
_MOST_PIXELS = 2**25
_NOTEBOOK_SIZE = 800  # pixels of the longer side of the map

_PACKAGES = "a page needs Jinja2, astropy and Pillow: pip install 'srcfind[page]'"


class Picture(bytes):
    """A picture as PNG, which notebooks show: the bytes of its file."""

    def __repr__(self) -> str:
        width, height = (int.from_bytes(self[i : i + 4], "big") for i in (16, 20))
        return f"<srcfind.Picture of {width} x {height} pixels>"

    def __str__(self) -> str:  # that of bytes is the whole file
        return repr(self)

    def _repr_png_(self) -> bytes:
        return bytes(self)


def picture_of(catalogue: Catalogue, size: int | None) -> Picture:
    """The picture of a catalogue. The library writes files: it is in one for a moment."""
    with tempfile.TemporaryDirectory(prefix="srcfind-") as directory:
        path = Path(directory, "picture.png")
        catalogue.picture(path, size=size)
        return Picture(path.read_bytes())


def picture_for_notebook(catalogue: Catalogue) -> bytes | None:
    """A small picture; None where there can be none, or where it would take long."""
    if catalogue.image.width * catalogue.image.height > _MOST_PIXELS:
        return None
    try:
        return picture_of(catalogue, _NOTEBOOK_SIZE)
    except (Error, OSError):  # without cairo, of a file that has gone, or without room in /tmp
        return None


def write_page(catalogue: Catalogue, page: str | os.PathLike[str]) -> None:
    """Writes the page of a catalogue: that of srcfind-page, of files in a temporary directory."""
    try:
        from astropy.io import fits
        from srcfind.page._catalogue import write_catalogue_page
        from srcfind.page._read import PageError
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}. {_PACKAGES}", name=error.name) from error
    target = Path(os.fsdecode(page))
    with tempfile.TemporaryDirectory(prefix="srcfind-") as directory:
        stem = os.path.join(directory, target.stem)
        catalogue.write(f"{stem}.json")
        try:
            catalogue.picture(f"{stem}.picture.png")
            if catalogue.background.box:
                fits.PrimaryHDU(catalogue.map("rms")).writeto(f"{stem}.rms.fits")
        except Error:  # the page says what is missing
            pass
        try:
            image = catalogue.image
            name = os.path.basename(image.path) or f"an array of the shape {image.shape}"
            write_catalogue_page(Path(f"{stem}.json"), target, of=name)
        except PageError as error:
            raise OutputError(str(error).replace(" with -o", "")) from error

"""Merging: the catalogues of many images in one."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from srcfind._calls import OptionError, chars, check, ffi, lib
from srcfind._catalogue import Catalogue, _read


@dataclass(frozen=True)
class Merged:
    """The numbers of a merge. images and rows: in the merged catalogue. duplicates: rows that were
    left out or marked. artefacts: positive rows that may be artefacts (flag 2048). without_beam and without_sky: images in which duplicates cannot be found,
    because they have no beam (and no radius is given), or no sky coordinates.
    """

    images: int
    rows: int
    duplicates: int
    artefacts: int
    without_beam: int
    without_sky: int


def merge(
    catalogues: Iterable[Catalogue | str | os.PathLike[str]]
    | Mapping[str, Catalogue | str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    radius: float | None = None,
    duplicates: Literal["drop", "keep"] = "drop",
    sort: Literal["flux", "snr", "ra", "dec"] | None = None,
    threads: int | None = None,
) -> Merged:
    """Merges the catalogues of images into one file. A source of several images has one row.

    catalogues has catalogues of `srcfind.find`, and paths of files that srcfind wrote as csv, ecsv,
    json or fits. Rows are in the order of the catalogues, and then of Source_id; sort="flux" or "snr"
    orders all rows by falling flux or S/N, "ra" or "dec" by rising RA or DEC. The column Image has the keys of a dict. Without a dict, it
    has the path of the image; the path of the catalogue's file if two images have the same path, or
    if the file does not have it. Catalogues of arrays need a dict.

    The suffix of output tells the format: csv (also without a suffix), json, vot, fits or ecsv. The
    file is written whole or not at all. It replaces an existing file, but none of the catalogues,
    and no FITS file that is no catalogue.

    Rows of different images within radius arcseconds are one source. None stands for half of the
    beam's major axis; CSV files need a radius, since they do not have the beam. Duplicates are rows
    that another image has better: duplicates="drop" leaves them out, "keep" gives them flag 256
    (`man srcfind`, MERGED CATALOGUES). Python's other threads run during the merge.

    Raises InputError for a file that cannot be read, and for images of different units, frames or
    columns; OptionError for a wrong option or a radius that is needed; OutputError and
    OutOfMemoryError.

    >>> first, second = find(image, beam=10), find(image + 1, beam=10)
    >>> merge({"first": first, "second": second}, "/dev/null")
    Merged(images=2, rows=2, duplicates=0, artefacts=0, without_beam=0, without_sky=2)
    """
    if isinstance(catalogues, (str, bytes, os.PathLike, Catalogue)):
        raise TypeError("catalogues: a list of catalogues and paths, or a dict of these")
    if duplicates not in ("drop", "keep"):
        raise OptionError(f"duplicates: {duplicates!r} is not drop or keep")
    if radius is not None and not radius > 0:
        raise OptionError(
            f"radius: {radius!r} is not a number of arcseconds above 0; None stands for half of the beam"
        )
    path = ffi.new("char[]", chars(output))
    order = ffi.NULL if sort is None else ffi.new("char[]", chars(sort))
    settings = ffi.new(
        "struct srcfind_merge_settings *",
        {
            "size": ffi.sizeof("struct srcfind_merge_settings"),
            "path": path,
            "radius": radius or 0,
            "keep_duplicates": duplicates == "keep",
            "threads": threads or 0,
            "sort": order,
        },
    )
    place = ffi.new("struct srcfind_merge **")
    status = lib.srcfind_merge_create(settings, place)
    merging = ffi.gc(place[0], lib.srcfind_merge_destroy)
    check(status, lib.srcfind_merge_message(merging))
    named = (
        catalogues.items()
        if isinstance(catalogues, Mapping)
        else ((None, each) for each in catalogues)
    )
    for name, catalogue in named:
        _add(merging, catalogue, name)
    counts = ffi.new("struct srcfind_merge_counts **")
    check(lib.srcfind_merge_finish(merging, counts), lib.srcfind_merge_message(merging))
    return _read(Merged, counts[0])


def _add(merging: Any, catalogue: Catalogue | str | os.PathLike[str], name: str | None) -> None:
    encoded = ffi.NULL if name is None else chars(name)
    if not isinstance(catalogue, Catalogue):
        status = lib.srcfind_merge_add_file(merging, chars(catalogue), encoded)
    elif not catalogue._catalogue:
        raise OptionError(
            "a catalogue that was pickled cannot be merged: search the image again, or merge its file"
        )
    elif name is None and not catalogue.image.path:
        raise OptionError(
            "catalogues of arrays need names to be merged: give a dict {name: catalogue}"
        )
    else:
        status = lib.srcfind_merge_add(merging, catalogue._catalogue, encoded)
    check(status, lib.srcfind_merge_message(merging))

"""The command srcfind-page."""
from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from srcfind.page._frames import EQUATORIAL
from srcfind.page._read import OtherTable, PageError
from srcfind.page._votable import is_votable

if TYPE_CHECKING:
    from srcfind.page._reference import ReferenceOptions

_PACKAGES = "srcfind-page needs Jinja2, astropy and Pillow: pip install 'srcfind[page]', or Debian's python3-jinja2, python3-astropy, python3-pil"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="srcfind-page",
        description="Writes a page for a browser from a catalogue of srcfind, or from the report of a batch.",
        epilog="More is shown of a catalogue if srcfind wrote it with --save picture,rms --negative --completeness. "
        "man srcfind-page describes the page.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a catalogue (c.json or, with less to show, c.vot), or a report (r.csv)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PAGE",
        help="the page; by default it stands beside FILE: c.html",
    )
    parser.add_argument(
        "--tiles", action="store_true", help="of a report, write the pages of its tiles, too"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="without a line for each page")
    parser.add_argument(
        "-V", "--version", action="version", version=f"srcfind-page {metadata.version('srcfind')}"
    )
    _add_reference(parser)
    return parser


# --- the options of references ---

_FREQUENCY = re.compile(r"([\d.eE+-]+)\s*([kMG]?Hz)?")
_HERTZ = {None: 1.0, "Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}


def _positive(text: str) -> float:
    """A number above 0; ValueError for others."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def _frequency(text: str) -> float:
    """A frequency in Hz: 1.4e9, 1400MHz, 1.4GHz."""
    parts = _FREQUENCY.fullmatch(text.strip())
    if not parts:
        raise ValueError(text)
    return _positive(parts.group(1)) * _HERTZ[parts.group(2)]


# in the messages of argparse
_frequency.__name__, _positive.__name__ = "frequency", "positive number"


def _add_reference(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a catalogue beside a reference")
    group.add_argument(
        "--reference",
        type=Path,
        metavar="TABLE",
        help="another catalogue of this field: VOTable, FITS, CSV, ...",
    )
    group.add_argument(
        "--reference-flux", metavar="NAME[:UNIT]", help="its column of fluxes, as S1.4:mJy"
    )
    group.add_argument(
        "--reference-frame",
        choices=EQUATORIAL,
        help="of its RA and DEC [what the table says, else ICRS]",
    )
    group.add_argument(
        "--radius",
        type=_positive,
        metavar="ARCSEC",
        help="sources within it are the same [the beam]",
    )
    group.add_argument(
        "--reference-frequency",
        type=_frequency,
        metavar="FREQUENCY",
        help="of the reference, as 1.4GHz",
    )
    group.add_argument("--frequency", type=_frequency, help="of the catalogue [that of its image]")
    group.add_argument(
        "--spectral-index",
        type=float,
        metavar="A",
        help="of the sources, as -0.7, to compare fluxes at one frequency",
    )


def _check_reference(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if not options.reference:
        for name in (
            "reference_flux",
            "reference_frame",
            "radius",
            "reference_frequency",
            "frequency",
            "spectral_index",
        ):
            if getattr(options, name) is not None:
                parser.error(f"--{name.replace('_', '-')} needs --reference TABLE")
    elif any(path.suffix == ".csv" for path in options.files):
        parser.error("--reference is for catalogues (c.json), not for a report")
    if (options.reference_frequency is None) != (options.spectral_index is None):
        parser.error(
            "--reference-frequency and --spectral-index go together: both are needed for fluxes at one frequency"
        )


def _reference(options: argparse.Namespace) -> ReferenceOptions | None:
    from srcfind.page._reference import ReferenceOptions

    return options.reference and ReferenceOptions(
        options.reference,
        options.reference_flux,
        options.reference_frequency,
        options.frequency,
        options.spectral_index,
        options.radius,
        options.reference_frame,
    )


# --- pages ---


def _say(message: str) -> None:
    """Writes a line. Names of files may have newlines and control characters: these are
    replaced."""
    print("srcfind-page:", "".join(c if c.isprintable() else "?" for c in message), file=sys.stderr)


def _write_catalogue(path: Path, page: Path, options: argparse.Namespace) -> None:
    """Writes the page of a catalogue, and a message about each part that is missing."""
    from srcfind.page._catalogue import write_catalogue_page

    messages = write_catalogue_page(path, page, _reference(options))
    _say_page(page, options)
    for message in messages:
        _say(message)


def _write_night(path: Path, page: Path, options: argparse.Namespace) -> None:
    """Writes the page of a report, and on request the pages of its tiles."""
    from srcfind.page._night import write_night_page

    def write_tile(catalogue: Path, beside: Path) -> None:
        _write_catalogue(catalogue, beside, options)

    messages = write_night_page(path, page, write_tile if options.tiles else None)
    _say_page(page, options)
    for message in messages:
        _say(message)


def _say_page(page: Path, options: argparse.Namespace) -> None:
    if not options.quiet:
        _say(f"{page}: {page.stat().st_size / 1e6:.2g} MB")


def _page_of(options: argparse.Namespace, path: Path) -> Path:
    given: Path | None = options.output
    return given or path.with_suffix(".html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Exit status 0: all pages are written, 1: some are not, 2: wrong usage (from
    argparse)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.output and len(options.files) > 1:
        parser.error("-o names the page of one FILE: without it each page stands beside its file")
    if options.output == Path("-"):
        parser.error("-o -: a page goes to a file: name it, or leave -o out")
    if options.tiles and not any(path.suffix == ".csv" for path in options.files):
        parser.error("--tiles is for a report (r.csv), whose tiles have pages")
    for path in options.files:
        if path.suffix not in (".json", ".csv") and not is_votable(path):
            parser.error(
                f"{path}: a catalogue ends in .json or .vot (srcfind -o c.json), a report in .csv (srcfind --report r.csv)"
            )
    _check_reference(parser, options)
    try:
        import astropy, jinja2, PIL  # noqa
    except ModuleNotFoundError as error:
        _say(f"{error}. {_PACKAGES}")
        return 1
    status = 0
    for path in options.files:
        page = _page_of(options, path)
        try:
            (_write_night if path.suffix == ".csv" else _write_catalogue)(path, page, options)
        except OtherTable as error:
            _say(str(error))
            status = status if len(options.files) > 1 else 1  # out/*.json also matches such tables
        except PageError as error:
            _say(str(error))
            status = 1
    return status

"""The command srcfind-page."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

_PACKAGES = "srcfind-page needs Jinja2, astropy and Pillow: pip install '.[page]', or Debian's python3-jinja2, python3-astropy, python3-pil"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="srcfind-page", description="Writes a page for a browser from a catalogue of srcfind, or from the report of a batch.",
        epilog="More is shown of a catalogue if srcfind wrote it with --save picture,rms --negative --completeness. "
               "man srcfind-page describes the page.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a catalogue (c.json), or a report (r.csv)")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="the page; by default it stands beside FILE: c.html")
    parser.add_argument("-q", "--quiet", action="store_true", help="without a line for each page")
    parser.add_argument("-V", "--version", action="version", version=f"srcfind-page {metadata.version('srcfind')}")
    return parser


def _write(path: Path, page: Path) -> None:
    """Writes the page of a file."""
    from srcfind.page._catalogue import write_catalogue_page

    write_catalogue_page(path, page)


def _page_of(options: argparse.Namespace, path: Path) -> Path:
    given: Path | None = options.output
    return given or path.with_suffix(".html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 0: all pages are written, 1: one at least is not, 2: wrong usage (by argparse)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.output and len(options.files) > 1:
        parser.error("-o names the page of one FILE: without it each page stands beside its file")
    for path in options.files:
        if path.suffix not in (".json", ".csv"):
            parser.error(f"{path}: a catalogue ends in .json (srcfind -o c.json), a report in .csv (srcfind --report r.csv)")
    try:
        import astropy, jinja2, PIL  # noqa
    except ModuleNotFoundError as error:
        print(f"srcfind-page: {error}. {_PACKAGES}", file=sys.stderr)
        return 1
    status = 0
    for path in options.files:
        page = _page_of(options, path)
        try:
            _write(path, page)
        except OtherTable as error:
            print(f"srcfind-page: {error}", file=sys.stderr)
            status = status if len(options.files) > 1 else 1  # out/*.json names such tables, too
        except PageError as error:
            print(f"srcfind-page: {error}", file=sys.stderr)
            status = 1
        else:
            if not options.quiet:
                print(f"srcfind-page: {page}: {page.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    return status

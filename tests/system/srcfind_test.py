"""What the system tests share: running the command, and reading what it writes.

SRCFIND            the command under test
SRCFIND_SANITIZED  set (to threads with ThreadSanitizer) where the command is slowed down by
                   sanitizers: large images are left out
SRCFIND_TEST_DATA  a directory with data/ (images with references) and tools/ (reference.py), for
                   test_references, which is skipped where it is not set
"""
import contextlib
import csv
import functools
import glob
import gzip
import importlib
import inspect
import json
import operator
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

import jsonschema
import numpy as np
from astropy.io import fits

COMMAND = os.environ.get("SRCFIND", "srcfind")
SANITIZED = bool(os.environ.get("SRCFIND_SANITIZED"))
# by ThreadSanitizer: it is far slower, and one image shows a race
THREADS_WATCHED = os.environ.get("SRCFIND_SANITIZED") == "threads"
SHARED = os.environ.get("SRCFIND_TEST_DATA", "")
HANG = 600  # seconds: only a process that hangs takes so long, on whichever machine
# Columns that a negated image turns; those of fits, too.
TURNED = (
    "Isl_Total_flux",
    "Total_flux",
    "Peak_flux",
    "Pixel_sum",
    "Resid_Isl_mean",
    "Isl_mean",
    "SNR",
    "Pix_SNR",
)
warnings.simplefilter("ignore")  # the headers of real images are seldom faultless
SOURCE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(SOURCE_ROOT, "tests"))  # for sky.py


@functools.lru_cache
def tool(name):
    """A module of SRCFIND_TEST_DATA's tools."""
    sys.path.append(os.path.join(SHARED, "tools"))
    return importlib.import_module(name)


def schema():
    with open(os.path.join(SOURCE_ROOT, "schema", "srcfind.schema.json")) as stream:
        return json.load(stream)


@functools.lru_cache
def validator():
    return jsonschema.Draft202012Validator(schema())


def form(value):
    """The type of a cell; of a text, itself with all digits alike."""
    return re.sub("[0-9]", "0", value) if isinstance(value, str) else type(value)


def representatives(rows):
    """Some of the rows of a catalogue, which break the schema if any of them does, since it takes
    long for each: the schema knows texts of digits in any places, and intervals of numbers. So of
    the rows whose cells have the same names and forms these are the first one, and those with the
    least and the greatest number of each column."""
    alike = {}
    for row in rows:
        alike.setdefault(tuple((name, form(value)) for name, value in row.items()), []).append(row)
    chosen = [group[0] for group in alike.values()]
    for group in alike.values():
        for name in (name for name, value in group[0].items() if isinstance(value, (int, float))):
            chosen += [choose(group, key=operator.itemgetter(name)) for choose in (min, max)]
    return list({id(row): row for row in chosen}.values())


@functools.lru_cache(maxsize=8)  # the same text comes again from other threads and devices
def check_json(text):
    """What the command wrote as JSON follows the schema: a catalogue, or the lines of a report."""
    is_catalogue = text.startswith('{"srcfind"')
    for document in [text] if is_catalogue else text.splitlines():
        document = json.loads(document)
        if is_catalogue:
            names = [column["name"] for column in document["columns"]]
            (rows,) = {
                "sources",
                "gaussians",
                "islands",
                "covariances",
                "planes",
                "completeness_bins",
                "reliability_bins",
                "injections",
            } & document.keys()
            assert all(list(row) == names for row in document[rows]), names
            document[rows] = representatives(document[rows])
        validator().validate(document)


def run(*arguments, **options):
    """Runs the command; returns what subprocess.run does, with text. JSON on standard output must
    follow the schema."""
    options.setdefault("capture_output", True)
    result = subprocess.run([COMMAND, *map(str, arguments)], text=True, **options)
    if (result.stdout or "").startswith("{"):
        check_json(result.stdout)
    return result


@contextlib.contextmanager
def running(*arguments):
    """A run of the command, with its standard error as text; killed if a test fails in the midst of
    it, which may be all it waits for."""
    with subprocess.Popen(
        [COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def check_json_files(directory):
    """All JSON in a directory follows the schema."""
    for path in glob.glob(os.path.join(glob.escape(directory), "**", "*.json*"), recursive=True):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as stream:
            text = stream.read()
        if text.startswith("{"):
            check_json(text)


# addresses that faults.c notes of a call; those that say where it is, and who called that
CALLERS, NEAREST = 32, 6
# what is in a library has an address that is higher, and that differs between runs
LIBRARIES = 1 << 40
had_fault = set()


def places(path):
    """From what faults.c notes of the calls of a kind: numbers of some, by which a fault comes to
    all places in the program that have such calls. These are the first call and the last one of
    each way that leads to a place and had no fault in the runs before (which other tests made), and
    the last one of one in three of the other ways. Sanitizers, which look for leaks on the way out,
    take long: they get the last call of each place that had no fault before, and of one in eight of
    the others.
    """
    ways = {}
    for n, callers in enumerate(
        np.fromfile(path, np.uint64).reshape(-1, CALLERS) if os.path.exists(path) else (), 1
    ):
        way = np.where(callers < LIBRARIES, callers, 0)[: NEAREST if SANITIZED else CALLERS]
        ways.setdefault(way.tobytes(), []).append(n)
    new, others = [
        [calls for way, calls in ways.items() if (way in had_fault) == had] for had in (False, True)
    ]
    had_fault.update(ways)
    return sorted(
        {calls[-1] for calls in new + others[:: 8 if SANITIZED else 3]}
        | {calls[0] for calls in new if not SANITIZED}
    )


def numbers(row):
    """A CSV row with numbers for texts, and None for empty cells."""

    def value(text):
        try:
            return float(text) if text else None
        except ValueError:
            return text

    return {name: value(text) for name, text in row.items()}


def read_csv(path):
    with open(path, newline="") as stream:
        return [numbers(row) for row in csv.DictReader(stream)]


def find(image, *options, **more):
    """The JSON catalogue of an image, which must succeed."""
    result = run(image, "-f", "json", "-q", *options, **more)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(
            "srcfind %s: exit status %d: %s" % (image, result.returncode, result.stderr)
        )
    return json.loads(result.stdout)


def noise(height, width, seed=1, n_sources=20, sigma=1.0):
    """White noise with Gaussian sources, as float32."""
    random = np.random.default_rng(seed)
    image = random.normal(0, sigma, (height, width))
    for _ in range(n_sources):
        cx, cy = random.uniform(0, width), random.uniform(0, height)
        peak = sigma * random.uniform(6, 60)
        top, left = max(int(cy) - 15, 0), max(int(cx) - 15, 0)
        stamp = image[top : int(cy) + 16, left : int(cx) + 16]
        y, x = np.mgrid[top : top + stamp.shape[0], left : left + stamp.shape[1]]
        stamp += peak * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 8)
    return image.astype(np.float32)


def sky_header(**cards):
    """Header cards of a small radio image around RA 150, DEC 2."""
    header = fits.Header()
    values = {
        "BUNIT": "Jy/beam",
        "CTYPE1": "RA---SIN",
        "CTYPE2": "DEC--SIN",
        "CRPIX1": 50.0,
        "CRPIX2": 60.0,
        "CRVAL1": 150.0,
        "CRVAL2": 2.0,
        "CDELT1": -5e-4,
        "CDELT2": 5e-4,
        "CUNIT1": "deg",
        "CUNIT2": "deg",
        "BMAJ": 2.5e-3,
        "BMIN": 2e-3,
        "BPA": 30.0,
        "RADESYS": "ICRS",
    }
    values.update(cards)
    for name, value in values.items():
        if value is not None:
            header[name] = value
    return header


def tiled(image, compression, tile=None, header=None, **options):
    """A tile-compressed HDU; tile is (width, height) or None. Since astropy 5.3, tile_size is
    called tile_shape, and turned round; before, tile_shape would be taken for some other option,
    and ignored."""
    if tile and "tile_shape" in inspect.signature(fits.CompImageHDU.__init__).parameters:
        options["tile_shape"] = tile[::-1]
    elif tile:
        options["tile_size"] = tile
    return fits.CompImageHDU(image, header, compression_type=compression, **options)


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="srcfind-")
        self.addCleanup(self.directory.cleanup)
        self.addCleanup(lambda: check_json_files(self.directory.name))

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, image, header=None, hdu=fits.PrimaryHDU):
        """Writes an image, and returns its path."""
        path = self.path(name)
        fits.HDUList([hdu(image, header)]).writeto(path, overwrite=True)
        return path

    def assert_error(self, status, message, *arguments, **options):
        """A run that ends with this status, writes nothing, and says one line with these words."""
        result = run(*arguments, **options)
        self.assertEqual(
            [result.returncode, result.stdout, result.stderr.count("\n")],
            [status, "", 1],
            result.stderr,
        )
        self.assertIn(message, result.stderr)
        return result.stderr


def main():
    """Runs the tests of a file: exit status 77 (skipped) where none of them could run."""
    program = unittest.main(module="__main__", exit=False, verbosity=2, warnings="ignore")
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)

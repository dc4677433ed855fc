"""--completeness: sources that are added to an image, and which of them the same search finds.
Against a program of its own that draws the same places, adds the same Gaussians with NumPy,
searches files, and counts; the tables and the JSON; the same bytes however the work is done; odd
images; merged tables."""
import csv
import json
import math
import os
import shutil
import subprocess

import numpy as np
from astropy.io import fits
from astropy.table import Table
from scipy import ndimage

import srcfind_test as t
import sky  # which that finds

FAKE = os.environ.get("FAKE_CUDA", "")
MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
BEAM = (5.0, 4.0, 30.0)  # pixels, degrees
AREA = math.pi * BEAM[0] * BEAM[1] / (4 * math.log(2))
LEAST, MOST = 3, 60  # S/N
EDGES = (3, 4, 5, 6, 8, 10, 20, 60)
COLUMNS = {
    "Kind": None,
    "Width": "width",
    "Low": "low",
    "High": "high",
    "Injected": "injected",
    "Found": "found",
    "Completeness": "completeness",
    "E_Completeness": "error",
    "Flux_ratio": "flux_ratio",
    "Flux_scatter": "flux_scatter",
    "Position_scatter": "position_scatter",
    "Flux_pull": "flux_pull",
    "Position_pull": "position_pull",
}
BITS = (1 << 64) - 1


# --- the same sources, by a program of its own ---


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def number(seed, item, attempt, which):
    return (mix(mix(mix(mix(seed) ^ item) ^ attempt) ^ which) >> 11) * 2.0**-53


class Source:
    """An added source; peaks in the image and in the one where sources are detected."""

    def __init__(self, width, snr, x, y, rms, elsewhere, same_snr=False):
        self.width, self.snr, self.x, self.y = width, snr, x, y
        self.detected = snr * elsewhere / width
        self.peak = snr * rms / width if same_snr else self.detected
        self.flux = self.peak * width**2
        self.row = self.before = None


def draw(images, seed, item, width, same_snr):
    """A source of which all images, pairs of pixels and rms, have a pixel; None: after many tries
    there was none."""
    height, wide = images[0][0].shape
    snr = LEAST * math.exp(math.log(MOST / LEAST) * number(seed, item, 0, 0))
    for attempt in range(5000):
        x, y = (
            number(seed, item, attempt, 1) * wide - 0.5,
            number(seed, item, attempt, 2) * height - 0.5,
        )
        at = min(math.floor(y + 0.5), height - 1), min(math.floor(x + 0.5), wide - 1)
        if all(np.isfinite(pixels[at]) and rms[at] > 0 for pixels, rms in images):
            return Source(width, snr, x, y, images[0][1][at], images[-1][1][at], same_snr)
    return None


def form():
    """The beam: exp(-(xx dx^2 + 2 xy dx dy + yy dy^2) / 2) of pixels."""
    xx, xy, yy = sky.covariance(BEAM)
    return np.linalg.inv(np.array([[xx, xy], [xy, yy]]))


def square(source, x, y):
    dx, dy, f = x - source.x, y - source.y, form() / source.width**2
    return f[0][0] * dx**2 + 2 * f[0][1] * dx * dy + f[1][1] * dy**2


def with_sources(pixels, sources, peak):
    y, x = np.indices(pixels.shape)
    added = sum(
        getattr(source, peak) * np.where((s := square(source, x, y)) < 36, np.exp(-s / 2), 0)
        for source in sources
    )
    return (pixels.astype(np.float64) + added).astype(np.float32)


def nearest(source, rows, x, y, accepts):
    """The nearest row within half of the FWHM."""

    def distance(row):
        moved = Source(source.width, 1, x, y, 1, 1)
        return square(moved, row["Xposn"], row["Yposn"])

    near = [row for row in rows if distance(row) <= 2 * math.log(2) and accepts(row)]
    return min(near, key=distance, default=None)


def look_for(source, rows, before):
    def earlier(row):
        return nearest(
            source,
            before,
            row["Xposn"],
            row["Yposn"],
            lambda other: other.get("Scale") == row.get("Scale"),
        )

    def is_new(row):
        old = earlier(row)
        if source.width > 1:
            return row["Total_flux"] - (old["Total_flux"] if old else 0) >= source.flux / 2
        return old is None or row["Peak_flux"] - old["Peak_flux"] >= source.peak / 2

    source.row = nearest(source, rows, source.x, source.y, is_new)
    source.before = earlier(source.row) if source.row else None


# --- bins ---


def spread(values):
    return 1.4826 * np.median(np.abs(values - np.median(values))) if len(values) else None


def of_bin(chosen):
    """What a bin says of its sources."""
    found = [source for source in chosen if source.row]
    ratio = [
        (s.row["Total_flux"] - (s.before["Total_flux"] if s.before else 0)) / s.flux for s in found
    ]
    axes = (("Xposn", "x"), ("Yposn", "y"))
    off = [s.row[c] - getattr(s, a) for s in found for c, a in axes]
    pulls = [(r - 1) * s.flux / s.row["E_Total_flux"] for r, s in zip(ratio, found)]
    offsets = [(s.row[c] - getattr(s, a)) / s.row["E_" + c] for s in found for c, a in axes]
    n, share = len(chosen), len(found) / len(chosen) if chosen else None
    return {
        "injected": n,
        "found": len(found),
        "completeness": share,
        "error": math.sqrt(share * (1 - share) / n + 0.25 / n**2) / (1 + 1 / n) if n else None,
        "flux_ratio": np.median(ratio) if found else None,
        "flux_scatter": spread(ratio) if len(found) > 1 else None,
        "position_scatter": spread(off) if len(found) > 1 else None,
        "flux_pull": spread(pulls) if len(found) > 1 else None,
        "position_pull": spread(offsets) if len(found) > 1 else None,
    }


def weighted_quantile(values, weights, share):
    order = np.argsort(values, kind="stable")
    values, sums = np.array(values)[order], np.cumsum(np.array(weights)[order])
    i = np.searchsorted(sums, share * sums[-1])
    return (
        (values[i] + values[i + 1]) / 2
        if sums[i] == share * sums[-1] and i + 1 < len(values)
        else values[i]
    )


def flux_completeness(sources, weights):
    """(low, high, completeness) of the ten bins of flux."""
    one = np.array([source.flux / source.snr for source in sources])
    is_found, flux, weights = (
        np.array([bool(s.row) for s in sources]),
        np.array([s.flux for s in sources]),
        np.array(weights, float),
    )
    snr = flux / one
    edges = np.geomspace(
        3 * weighted_quantile(one, weights, 0.1), 20 * weighted_quantile(one, weights, 0.9), 11
    )
    bright = (snr >= 20) & (snr < 60)
    for low, high in zip(edges, edges[1:]):
        below = (
            np.clip(np.log(LEAST * one / low) / math.log(high / low), 0, 1)
            @ weights
            / weights.sum()
        )
        above = (
            1
            - np.clip(np.log(MOST * one / low) / math.log(high / low), 0, 1)
            @ weights
            / weights.sum()
        )
        here = (flux >= low) & (flux < high)
        share = (weights * is_found)[here].sum() / weights[here].sum() if here.any() else math.nan
        most = (weights * is_found)[bright].sum() / weights[bright].sum()
        yield low, high, (1 - below - above) * share + (above * most if above > 0 else 0)


# --- tests ---


class Completeness(t.Case):
    def sky(self, name="sky.fits", shape=(240, 260), seed=1, rise=1.0, n_sources=25, **cards):
        """Noise as wide as the beam, which rises to the right, with sources, and blank pixels in a
        corner."""
        random = np.random.default_rng(seed)
        noise = ndimage.gaussian_filter(
            random.normal(0, 1, shape), math.sqrt(BEAM[0] * BEAM[1]) / sky.FWHM / math.sqrt(2)
        )
        noise *= 1e-3 / noise.std() * np.linspace(1, 1 + rise, shape[1])
        sources = [
            Source(
                1,
                random.uniform(5, 40),
                random.uniform(0, shape[1]),
                random.uniform(0, shape[0]),
                1e-3,
                1e-3,
            )
            for _ in range(n_sources)
        ]
        image = with_sources(noise, sources, "peak")
        image[:20, :30] = np.nan
        return self.write(name, image, self.header(**cards))

    def header(self, **cards):
        return t.sky_header(
            **{"BMAJ": BEAM[0] * 5e-4, "BMIN": BEAM[1] * 5e-4, "BPA": BEAM[2], **cards}
        )

    def run_here(self, *arguments, **more):
        """A run whose tables go to the directory of the test, also where the catalogue goes to
        standard output."""
        return t.run(*arguments, cwd=self.directory.name, **more)

    def catalogue(self, path, *options):
        return json.loads(self.run_here(path, "-f", "json", "-q", *options, check=True).stdout)

    def injected(
        self, path, *options, n, seed=1, widths=(1,), detected=None, more=(), same_snr=False
    ):
        """The sources that are added to an image, and what a search of files finds of them; more:
        options of images, which are no files for the changed ones."""
        images = []
        for image in filter(None, (path, detected)):
            noise = self.path("noise.csv")
            self.run_here(image, "-q", *options, *more, "--save", "rms", "-o", noise, check=True)
            images.append((fits.getdata(image), fits.getdata(self.path("noise.rms.fits"))))
        before = self.catalogue(
            path, *options, *more, *(["--detect-on", detected] if detected else [])
        )["sources"]
        sources = []
        left = 64
        for i, width in enumerate(widths):
            n_pixels = np.isfinite(images[0][0]).sum()
            each = int(min(max(n_pixels // (400 * width**2 * AREA), 1), n))
            trials = min(-(-n // each), left // (len(widths) - i))
            left -= trials
            its = [
                draw(images, seed, (i << 32) + k, width, same_snr)
                for k in range(min(n, trials * each))
            ]
            for first in range(0, len(its), each):
                trial = [source for source in its[first : first + each] if source]
                self.search(images, trial, before, path, detected, options, more)
                sources += trial
        return sources

    def search(self, images, trial, before, path, detected, options, more):
        header = fits.getheader(path)
        changed = self.write("changed.fits", with_sources(images[0][0], trial, "peak"), header)
        if detected:
            more = [
                *more,
                "--detect-on",
                self.write(
                    "other.fits",
                    with_sources(images[1][0], trial, "detected"),
                    fits.getheader(detected),
                ),
            ]
        rows = self.catalogue(changed, *options, *more)["sources"]
        for source in trial:
            look_for(source, rows, before)

    def check_bins(
        self, path, *options, n, seed=1, widths=(1,), detected=None, more=(), same_snr=False
    ):
        """The JSON has what a program of its own finds. Returns the JSON."""
        sources = self.injected(
            path,
            *options,
            n=n,
            seed=seed,
            widths=widths,
            detected=detected,
            more=more,
            same_snr=same_snr,
        )
        asked = [
            *options,
            *more,
            *(["--detect-on", detected] if detected else []),
            "--completeness=%d" % n,
            "--seed",
            seed,
        ]
        found = json.loads(self.run_here(path, "-f", "json", *asked, check=True).stdout)[
            "completeness"
        ]
        snr = iter(found["snr"])
        flux = iter(found["flux"])
        for width in widths:
            its = [source for source in sources if source.width == width]
            self.assertGreater(sum(bool(source.row) for source in its), len(its) / 4)
            for low, high in zip(EDGES, EDGES[1:]):
                self.check_bin(
                    next(snr), width, low, high, of_bin([s for s in its if low <= s.snr < high])
                )
            for low, high, share in flux_completeness(its, np.ones(len(its))):
                bin_, expected = next(flux), of_bin([s for s in its if low <= s.flux < high])
                expected.update(
                    completeness=None if math.isnan(share) else share, error=bin_["error"]
                )
                self.check_bin(bin_, width, low, high, expected)
        self.assertEqual([next(snr, None), next(flux, None)], [None, None])
        return found

    def check_bin(self, found, width, low, high, expected):
        expected = {"width": width, "low": low, "high": high, **expected}
        self.assertEqual(list(found), list(expected))
        for name, value in expected.items():
            with self.subTest(low=low, name=name):
                if value is None:
                    self.assertIsNone(found[name])
                else:
                    # a trial has the noise of the image, and this program that of its own image
                    most = 2.5e-2 if name.endswith("_pull") else 2e-4
                    least = 1 if name.endswith("_pull") else 0
                    self.assertLessEqual(
                        abs(found[name] - value),
                        most * max(abs(value), least),
                        (found[name], value),
                    )

    def test_against_a_program(self):
        image = self.sky()
        mask = np.ones((240, 260), np.float32)
        mask[150:, 200:] = 0
        for options, more in (
            (("--local", "-i", "3", "--fit"), ()),
            ((), ()),
            (("--deblend", "-i", "2.5", "--negative"), ()),
            (("--local", "--fit"), ("--mask", self.write("mask.fits", mask, self.header()))),
        ):
            with self.subTest(options=options):
                self.check_bins(image, *options, n=150, more=more)
        crowded = self.sky("crowded.fits", n_sources=600)
        self.check_bins(crowded, "--local", "-i", "3", "--fit", n=150)
        self.check_bins(crowded, "--local", "--scales=2", n=60, widths=(1, 2))
        bins = [self.check_bins(image, n=40, seed=seed) for seed in (0, 1, 2, 3)]
        self.assertTrue(all(a != b for i, a in enumerate(bins) for b in bins[:i]))
        for seed in (0, 1):  # a catalogue tells its seed, also 0
            self.assertEqual(
                self.catalogue(image, "--completeness=5", "--seed", seed)["options"]["seed"], seed
            )
        self.assertIsNone(self.catalogue(image, "--completeness=5")["options"]["seed"])

    def test_scales(self):
        """Also sources of each scale, whose rows are of any scale."""
        self.check_bins(
            self.sky(shape=(400, 420)),
            "--local",
            "-i",
            "3",
            "--scales=2,3.5",
            n=60,
            widths=(1, 2, 3.5),
        )

    def test_detect_on(self):
        """Sources of one flux are added to both images; S/N is that of the image where they are
        detected."""
        image, deep = self.sky(), self.sky("deep.fits", seed=5, rise=0.2)
        found = self.check_bins(image, "--local", "-i", "3", "--fit", n=100, detected=deep)
        alone = self.check_bins(image, "--local", "-i", "3", "--fit", n=100)
        self.assertNotEqual(found, alone)
        self.check_units(image, deep, found)

    def check_units(self, image, deep, expected):
        """The image for detection may have another unit of flux density, and no beam."""
        pixels, header = 1000 * fits.getdata(deep), fits.getheader(deep)
        for name, cards in (("mjy", {}), ("no-beam", {"BMAJ": None, "BMIN": None, "BPA": None})):
            other = self.write(name + ".fits", pixels, self.header(BUNIT="mJy/beam", **cards))
            found = json.loads(
                self.run_here(
                    image,
                    "-f",
                    "json",
                    "-q",
                    "--local",
                    "-i",
                    "3",
                    "--fit",
                    "--detect-on",
                    other,
                    "--completeness=100",
                    "--seed",
                    1,
                    check=True,
                ).stdout
            )["completeness"]
            for bin_, one in zip(found["flux"], expected["flux"], strict=True):
                self.assertEqual(
                    [bin_[count] for count in ("injected", "found")],
                    [one[count] for count in ("injected", "found")],
                )
                self.assertLess(abs(bin_["low"] - one["low"]), 1e-5 * one["low"])

    def test_blanks_of_two_images(self):
        """Sources are added where both images have pixels: bright ones are found."""
        paths = []
        for name, seed, blank in (("image", 1, np.s_[:, 120:]), ("deep", 5, np.s_[60:180])):
            path = self.sky(name + ".fits", seed=seed, rise=0.2)
            pixels, header = fits.getdata(path), fits.getheader(path)
            pixels[blank] = np.nan
            paths.append(self.write(name + "-cut.fits", pixels, header))
        for image, deep in (paths, paths[::-1]):
            found = self.catalogue(
                image, "-i", "3", "--fit", "--detect-on", deep, "--completeness=60"
            )["completeness"]["snr"]
            self.assertEqual(sum(bin_["injected"] for bin_ in found), 60)
            for count in ("injected", "found"):
                self.assertGreaterEqual(sum(bin_[count] for bin_ in found[-2:]), 30)
            self.assertGreaterEqual(found[-1]["found"], found[-1]["injected"] - 1)

    def test_corrected_for_the_primary_beam(self):
        """Of one image that is there in two ways, also in units of the noise, S/N is the same at
        each place."""
        flat = self.sky("flat.fits", rise=0)
        pixels = fits.getdata(flat)
        y, x = np.indices(pixels.shape)
        beam = np.exp(-((x - 130) ** 2 + (y - 120) ** 2) / (2 * 120**2))
        corrected = self.write("corrected.fits", (pixels / beam).astype(np.float32), self.header())
        noise = self.write("noise.fits", 1000 * pixels, self.header(BUNIT=""))
        for detected in (flat, noise):
            self.check_bins(
                corrected, "--local", "-i", "3", "--fit", n=100, detected=detected, same_snr=True
            )

    def test_the_catalogue_stays(self):
        """Rows, maps and tables are those without the option."""
        image = self.sky()
        options = [
            "--local",
            "-i",
            "3",
            "--fit",
            "--negative",
            "--save",
            "islands,sources,model,gaussians",
        ]
        for name, more in (("without", []), ("with", ["--completeness=50"])):
            self.run_here(image, "-q", *options, *more, "-o", self.path(name + ".csv"), check=True)
        for end in (".csv", ".gaussians.csv"):
            self.assertEqual(*(self.text(name + end) for name in ("with", "without")))
        for end in (".islands.fits", ".sources.fits", ".model.fits"):
            np.testing.assert_array_equal(
                *(fits.getdata(self.path(name + end)) for name in ("with", "without"))
            )
        self.assertFalse(os.path.exists(self.path("without.completeness.csv")))

    def text(self, name):
        with open(self.path(name)) as stream:
            return stream.read()

    def test_tables(self):
        """Tables in all formats have what the JSON has; what is no table has CSV beside it."""
        image = self.sky()
        for end in ("json", "csv", "vot", "fits", "ecsv", "csv.gz", "reg", "crtf"):
            options = ["--local", "--fit", "--completeness=60"]
            self.run_here(
                image, "-q", *options, "--negative", "-o", self.path("c." + end), check=True
            )
        catalogue = json.loads(self.text("c.json"))
        expected = {
            "completeness": [("snr", row) for row in catalogue["completeness"]["snr"]]
            + [("flux", row) for row in catalogue["completeness"]["flux"]],
            "reliability": catalogue["reliability"],
        }
        self.assertEqual([len(rows) for rows in expected.values()], [17, 8])
        for table, rows in expected.items():
            names = (
                COLUMNS
                if table == "completeness"
                else {name.capitalize(): name for name in rows[0]}
            )
            rows = [
                {
                    name: row[0]
                    if name == "Kind"
                    else (row[1] if table == "completeness" else row)[member]
                    for name, member in names.items()
                }
                for row in rows
            ]
            self.assertEqual(json.loads(self.text("c.%s.json" % table))[table + "_bins"], rows)
            for end in ("csv", "vot", "fits", "ecsv", "csv.gz"):
                read = Table.read(
                    self.path("c.%s.%s" % (table, end)),
                    **({"format": "ascii.csv"} if "csv" in end and end != "ecsv" else {}),
                )
                self.assertEqual(read.colnames, list(names))
                for row, found in zip(rows, read, strict=True):
                    for name, value in row.items():
                        cell = found[name]
                        if value is None:
                            self.assertTrue(np.ma.is_masked(cell) or np.isnan(cell))
                        else:
                            self.assertEqual(cell.strip() if name == "Kind" else float(cell), value)
        self.assertFalse(os.path.exists(self.path("c.reliability.reg")))
        with open(self.path("c.completeness.csv")) as stream:
            self.assertEqual(len(list(csv.DictReader(stream))), 17)

    def test_true_fluxes(self):
        """Bright sources have the flux that was added: with the units of fluxes, and in a slanted
        projection."""
        image = self.sky()
        images = [os.path.join(t.SOURCE_ROOT, "data", "maps", "parkes.fits")]
        for unit in ("Jy/pixel", "MJy/sr", "K"):
            images.append(
                self.write(
                    "%s.fits" % unit.replace("/", "-"), fits.getdata(image), self.header(BUNIT=unit)
                )
            )
        for path in images:
            with self.subTest(path):
                found = self.catalogue(path, "--local", "-i", "3", "--fit", "--completeness=200")
                self.assertLess(abs(found["completeness"]["snr"][-1]["flux_ratio"] - 1), 0.03)

    def test_beside_standard_output(self):
        """Tables stand in the working directory, which a note says, and so does a message where
        they cannot."""
        image = self.sky()
        result = self.run_here(image, "--completeness=5", "--negative", check=True)
        for table in ("completeness", "reliability"):
            self.assertIn(
                "srcfind: %s: its table of %s is sky.%s.csv\n" % (image, table, table),
                result.stderr,
            )
            self.assertTrue(os.path.exists(self.path("sky.%s.csv" % table)))
        self.assertNotIn(
            "its table",
            self.run_here(image, "--completeness=5", "-o", self.path("c.csv"), check=True).stderr,
        )
        merging = [image, "--completeness=5", "--merge", self.path("m.csv")]
        self.assertIn(
            "its table of completeness is sky.completeness.csv\n",
            self.run_here(*merging, check=True).stderr,
        )
        os.mkdir(self.path("d.completeness.csv"))
        self.assert_error(
            1,
            "d.completeness.csv: the table cannot be written: ",
            image,
            "-q",
            "--completeness=5",
            "-o",
            self.path("d.csv"),
        )

    def test_scales_that_are_too_wide(self):
        """None is added of the width of a scale that is left out of the search."""
        found = self.catalogue(self.sky(), "--local", "--scales=2,100", "--completeness=5")
        self.assertEqual(
            [
                found["quality"]["widest_left_out"],
                {bin_["width"] for bin_ in found["completeness"]["snr"]},
            ],
            [100, {1, 2}],
        )

    def test_reliability_needs_both(self):
        """Its table stands beside a catalogue with --negative and --completeness."""
        image = self.sky()
        for options, tables in (
            (["--negative"], []),
            (["--completeness=5"], ["completeness"]),
            (["--completeness=5", "--negative"], ["completeness", "reliability"]),
        ):
            self.run_here(image, "-q", *options, "-o", self.path("c.csv"), check=True)
            found = [
                table
                for table in ("completeness", "reliability")
                if os.path.exists(self.path("c.%s.csv" % table))
            ]
            self.assertEqual(found, tables)

    def test_same_bytes(self):
        """For threads, a GPU (whose work another program does here), and a compressed image."""
        image = self.sky(shape=(400, 420))
        options = [
            "-f",
            "json",
            "-q",
            "--local",
            "-i",
            "3",
            "--fit",
            "--completeness=70",
            "--seed=9",
        ]
        expected = self.run_here(image, *options, "-j1", "--cpu", check=True).stdout
        self.assertIn('"found":', expected)
        for threads in (2, 3, 8):
            self.assertEqual(
                self.run_here(image, *options, "-j", threads, "--cpu", check=True).stdout, expected
            )
        if FAKE:
            env = {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
            self.assertEqual(
                self.run_here(image, *options, "--gpu", env=env, check=True).stdout, expected
            )
        pixels, header = fits.getdata(image), fits.getheader(image)
        packed = self.path("packed.fits")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(pixels, "GZIP_2", (64, 50), header, quantize_level=0)]
        ).writeto(packed)
        counts = [
            [json.loads(text)["completeness"]]
            for text in (self.run_here(packed, *options, check=True).stdout, expected)
        ]
        self.assertEqual(*counts)

    def test_beam_below_a_pixel(self):
        """A note says that the table means nothing."""
        path = self.write("image.fits", t.noise(200, 200, seed=3), t.sky_header())
        for beam, is_noted in (
            ("2.7,0.9,20", True),
            ("1.78", True),
            ("1.82", False),
            ("9,7,0", False),
        ):
            with self.subTest(beam):
                found = json.loads(
                    self.run_here(
                        path, "-f", "json", "--beam", beam, "--completeness=100", check=True
                    ).stdout
                )
                self.assertEqual(
                    any(
                        "and the table of --completeness means nothing" in note
                        for note in found["notes"]
                    ),
                    is_noted,
                )
        without = self.run_here(path, "--beam", "0.9", check=True).stderr
        self.assertNotIn("completeness", without)

    def test_no_place(self):
        """Images of which no pixel has noise have no sources added; those of few pixels have few,
        which a note says."""
        blank = np.full((60, 50), np.nan, np.float32)
        blank[20:40, 20:40] = np.random.default_rng(1).normal(0, 1, (20, 20))
        small = self.write("small.fits", blank, self.header())
        found = json.loads(
            self.run_here(small, "-f", "json", "--completeness=100", check=True).stdout
        )
        self.assertEqual(sum(bin_["injected"] for bin_ in found["completeness"]["snr"]), 64)
        self.assertEqual(
            [note for note in found["notes"] if "--completeness" in note],
            [
                "64 of 100 sources of --completeness had room: each of at most 64 searches has one source per 400 source areas, "
                "and none where pixels are blank or have no noise"
            ],
        )
        constant = self.write("constant.fits", np.full((60, 50), 7, np.float32), self.header())
        result = self.run_here(constant, "-f", "json", "--completeness=100", check=True)
        self.assertIn("0 of 100 sources of --completeness had room", result.stderr)
        for bins in json.loads(result.stdout)["completeness"].values():
            for bin_ in bins:
                self.assertEqual([bin_["injected"], bin_["found"]], [0, 0])
                self.assertEqual(
                    [bin_[name] for name in ("completeness", "error", "flux_ratio")], [None] * 3
                )
        self.run_here(
            constant,
            "-q",
            "--completeness=100",
            "--scales",
            "--negative",
            "-o",
            self.path("constant.fits.csv"),
            check=True,
        )

    def test_few_places(self):
        """A source whose first 512 places are all blank is not added; the others are where the
        first place is that is none."""
        few = np.full((300, 400), np.nan, np.float32)
        few[100:120, 300:320] = np.random.default_rng(1).normal(0, 1, (20, 20))
        image = self.write("few.fits", few, self.header())
        found = json.loads(
            self.run_here(image, "-f", "json", "--completeness=64", "--seed=5", check=True).stdout
        )["completeness"]

        def is_added(k):
            return any(
                99.5 <= number(5, k, i, 2) * 300 - 0.5 < 119.5
                and 299.5 <= number(5, k, i, 1) * 400 - 0.5 < 319.5
                for i in range(512)
            )

        added = [k for k in range(64) if is_added(k)]
        self.assertTrue(40 < len(added) < 60, len(added))
        snr = [LEAST * math.exp(math.log(MOST / LEAST) * number(5, k, 0, 0)) for k in added]
        self.assertEqual(
            [bin_["injected"] for bin_ in found["snr"]],
            [sum(low <= value < high for value in snr) for low, high in zip(EDGES, EDGES[1:])],
        )

    def test_errors(self):
        image, no_beam = self.sky(), self.sky("no-beam.fits", BMAJ=None, BMIN=None, BPA=None)
        self.assert_error(
            1,
            "no-beam.fits: --completeness needs the beam, and no beam is known: give --beam MAJ,MIN,PA, or leave "
            "--completeness out",
            no_beam,
            "--completeness",
        )
        self.run_here(
            no_beam, "-q", "--completeness=5", "--beam", "9", "-o", self.path("c.csv"), check=True
        )
        at = self.path("c.csv")
        for message, *options in (
            (
                "--completeness: '0' is not a whole number of sources from 1 to 1000000",
                "--completeness=0",
            ),
            ("--completeness: '1000001' is not a whole number", "--completeness=1000001"),
            ("--completeness: '' is not a whole number", "--completeness="),
            (
                "--completeness 200: its value stands behind `=`: --completeness=200",
                "--completeness",
                "200",
            ),
            (
                "--seed: '-1' is not a whole number from 0 to 9223372036854775807",
                "--completeness",
                "--seed=-1",
            ),
            ("--seed: it goes with --completeness", "--seed=0"),
            ("--seed: it goes with --completeness", "--seed=3"),
            (
                "--at: nothing is detected, and so nothing is missed: leave --completeness out",
                "--at",
                at,
                "--completeness",
            ),
            (
                "--bench measures a plain search: leave --completeness out",
                "--bench",
                "--completeness",
            ),
            (
                "--compare-cpu measures a plain search: leave --completeness out",
                "--compare-cpu",
                "--completeness",
            ),
            (
                "--merge - with --completeness: the merged table of completeness is written beside the merged catalogue, so that must be a file: name one",
                "--completeness",
                "--merge",
                "-",
            ),
        ):
            with self.subTest(options):
                self.assert_error(2, message, image, *options)

    def test_merged(self):
        """By flux, weighted by area: of two images, one of which is larger and noisier."""
        images = self.sky("a.fits"), self.sky("b.fits", shape=(300, 350), seed=4, rise=3)
        options = ["--local", "-i", "3", "--fit"]
        merged = self.path("m.csv")
        self.run_here(
            *images,
            "-q",
            *options,
            "--completeness=150",
            "-o",
            self.path("out"),
            "--merge",
            merged,
            check=True,
        )
        rows = t.read_csv(self.path("m.completeness.csv"))
        lists = [self.injected(image, *options, n=150) for image in images]
        areas = [np.isfinite(fits.getdata(image)).sum() for image in images]
        sources = [source for its in lists for source in its]
        weights = [area / len(its) for area, its in zip(areas, lists) for _ in its]
        self.assertEqual([row["Kind"] for row in rows], 10 * ["flux"])
        for row, (low, high, share) in zip(rows, flux_completeness(sources, weights), strict=True):
            for name, value in (("Low", low), ("High", high), ("Completeness", share)):
                self.assertLess(abs(row[name] - value), 2e-4 * value, name)
            self.assertEqual(row["Injected"], sum(low <= source.flux < high for source in sources))
        for end in ("json", "fits", "vot", "ecsv"):
            self.run_here(
                *images,
                "-q",
                *options,
                "--completeness=150",
                "-o",
                self.path("out"),
                "--merge",
                self.path("m." + end),
                check=True,
            )
        table = json.loads(self.text("m.completeness.json"))
        self.assertEqual([{**row, "Kind": "flux"} for row in table["completeness_bins"]], rows)
        self.assertEqual([entry["image"]["path"] for entry in table["images"]], list(images))
        self.assertEqual(len(Table.read(self.path("m.completeness.fits"))), 10)
        self.check_beside_others(images, options, merged)

    def check_beside_others(self, images, options, merged):
        """Images that are skipped have the list of their sources beside the catalogue; merging
        files reads it, and leaves tables out."""
        before = self.text("m.completeness.csv")
        os.remove(self.path(os.path.join("out", "a.completeness.csv")))
        again = self.run_here(
            *images,
            *options,
            "--completeness=150",
            "-o",
            self.path("out"),
            "--merge",
            merged,
            "--skip-existing",
            check=True,
        )
        self.assertIn("2 images: ", again.stderr)
        self.assertIn("0 failed, 1 skipped", again.stderr)
        self.assertEqual(self.text("m.completeness.csv"), before)
        out = self.path("out")
        names = [name for name in sorted(os.listdir(out)) if name.endswith(".csv")]
        self.assertEqual(
            names,
            [
                name + end
                for name in "ab"
                for end in (".completeness.csv", ".csv", ".injections.csv")
            ],
        )
        files = self.merge_files(
            *(os.path.join(out, name) for name in names), "-o", self.path("n.csv"), "--radius", "5"
        )
        self.assertEqual(files.returncode, 0, files.stderr)
        self.assertIn("2 tables of completeness and reliability are left out\n", files.stderr)
        self.assertIn(
            "n.completeness.csv: how complete these catalogues are together\n", files.stderr
        )
        self.assertEqual(self.text("n.completeness.csv"), before)
        for name, what in (
            ("completeness", "a table of completeness or reliability"),
            ("injections", "a list of injected sources"),
        ):
            alone = self.merge_files(os.path.join(out, "a.%s.csv" % name), "-o", self.path("n.csv"))
            self.assertEqual(alone.returncode, 1)
            self.assertIn(what + ": name the catalogue of the image instead", alone.stderr)

    # --- merged tables ---

    def merge_files(self, *arguments):
        return subprocess.run([MERGE, *arguments], capture_output=True, text=True)

    def merged_bins(self, lists):
        """The rows of a merged table, from the lists of images: by a program of its own."""
        rows = []
        for width in sorted({row["Width"] for its in lists for row in its}):
            its = [[row for row in one if row["Width"] == width] for one in lists]
            its = [one[: max(200000 // sum(map(bool, its)), 1)] for one in its]
            added = [[row for row in one if row["True_flux"] is not None] for one in its]
            weights = np.array([row["Area"] / len(one) for one in added for row in one])
            rows += self.bins_of_width(width, [row for one in added for row in one], weights)
        return rows

    def bins_of_width(self, width, sources, weights):
        flux, snr, found = (
            np.array([row[name] for row in sources], float)
            for name in ("True_flux", "SNR", "Found")
        )
        one = flux / snr
        edges = np.geomspace(
            3 * weighted_quantile(one, weights, 0.1), 20 * weighted_quantile(one, weights, 0.9), 11
        )
        bright = self.share((snr >= 20) & (snr < 60), found, weights)
        for low, high in zip(edges, edges[1:]):
            below = (
                np.clip(np.log(LEAST * one / low) / math.log(high / low), 0, 1)
                @ weights
                / weights.sum()
            )
            above = (
                1
                - np.clip(np.log(MOST * one / low) / math.log(high / low), 0, 1)
                @ weights
                / weights.sum()
            )
            here = (flux >= low) & (flux < high)
            within = 1 - below - above if below + above < 1 - 1e-9 else 0
            share = self.share(here, found, weights) if within else (0, 0)
            chosen, its = [
                row for row, is_here in zip(sources, here & (found == 1)) if is_here
            ], weights[here & (found == 1)]
            ratio = self.robust([row["Flux_ratio"] for row in chosen], its)
            offset, offset_pull = (
                self.robust([row[name] for row in chosen for name in names], np.repeat(its, 2))
                for names in (("X_offset", "Y_offset"), ("X_pull", "Y_pull"))
            )
            pull = self.robust([row["Flux_pull"] for row in chosen], its)
            yield {
                "Kind": "flux",
                "Width": width,
                "Low": low,
                "High": high,
                "Injected": here.sum(),
                "Found": (found[here] == 1).sum(),
                "Completeness": within * share[0] + (above * bright[0] if above > 0 else 0),
                "E_Completeness": math.hypot(
                    within * share[1], above * bright[1] if above > 0 else 0
                ),
                "Flux_ratio": ratio[0],
                "Flux_scatter": ratio[1],
                "Position_scatter": offset[1] if len(chosen) > 1 else None,
                "Flux_pull": pull[1],
                "Position_pull": offset_pull[1] if len(chosen) > 1 else None,
            }

    @staticmethod
    def share(here, found, weights):
        """The share that is found, and its error."""
        its = weights[here]
        if not len(its):
            return math.nan, math.nan
        share, n = (its @ found[here]) / its.sum(), its.sum() ** 2 / (its @ its)
        return share, math.sqrt(share * (1 - share) / n + 0.25 / n**2) / (1 + 1 / n)

    @staticmethod
    def robust(values, weights):
        """Median and scatter of weighted values."""
        if not len(values):
            return None, None
        median = weighted_quantile(values, weights, 0.5)
        return (
            median,
            1.4826 * weighted_quantile(np.abs(values - median), weights, 0.5)
            if len(values) > 1
            else None,
        )

    def assert_bins(self, name, lists):
        rows = t.read_csv(self.path(name))
        for row, expected in zip(rows, self.merged_bins(lists), strict=True):
            self.assertEqual(
                [row["Kind"], row["Width"], row["Injected"], row["Found"]],
                [expected[name] for name in ("Kind", "Width", "Injected", "Found")],
            )
            for column in list(expected)[2:]:
                with self.subTest(width=row["Width"], low=row["Low"], column=column):
                    if expected[column] is None or math.isnan(expected[column]):
                        self.assertIsNone(row[column])
                    else:
                        self.assertLessEqual(
                            abs(row[column] - expected[column]),
                            1e-8 * abs(expected[column]) + 1e-13,
                        )

    def made_list(self, path, widths, n, area, rms, seed):
        """Writes a list of injected sources, some of which had no room; returns it."""
        random = np.random.default_rng(seed)
        rows = []
        for width in widths:
            snr = LEAST * (MOST / LEAST) ** random.uniform(size=n)
            is_added, noise = random.uniform(size=n) < 0.9, random.uniform(1, 2, n) * rms
            found = is_added & (random.uniform(size=n) < np.clip((snr - 2) / 6, 0, 1))
            ratio, dx, dy = random.normal(1, 2 / snr), *random.normal(0, 1 / snr, (2, n))
            flux_pull, x_pull, y_pull = random.normal(0, 1, (3, n))
            for i in range(n):
                rows.append(
                    {
                        "Width": width,
                        "SNR": float(snr[i]),
                        "True_flux": float(snr[i] * noise[i] * width) if is_added[i] else None,
                        "Xposn": 5.0 if is_added[i] else None,
                        "Yposn": 6.0 if is_added[i] else None,
                        "Found": int(found[i]),
                        "Flux_ratio": float(ratio[i]) if found[i] else None,
                        "X_offset": float(dx[i]) if found[i] else None,
                        "Y_offset": float(dy[i]) if found[i] else None,
                        "Flux_pull": float(flux_pull[i]) if found[i] else None,
                        "X_pull": float(x_pull[i]) if found[i] else None,
                        "Y_pull": float(y_pull[i]) if found[i] else None,
                        "Area": area,
                    }
                )
        self.write_list(path, rows)
        return rows

    def write_list(self, path, rows):
        with open(path, "w", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def test_merged_lists(self):
        """Of images of other areas, noise, numbers and widths, each width is that of the images
        which have it; of many sources the first."""
        names = [self.path(name + ".csv") for name in "abcd"]
        for name in names:
            self.run_here(self.sky(), "-q", "-o", name, check=True)
        lists = [
            self.made_list(name[:-3] + "injections.csv", widths, n, area, rms, seed)
            for seed, (name, widths, n, area, rms) in enumerate(
                zip(
                    names,
                    ([1.0, 2.0], [1.0, 2.0, 8.0], [1.0, 3.5, 8.0], [1.0]),
                    (300, 500, 40, 1),
                    (0.25, 7.0, 0.01, 1.5),
                    (1e-3, 3e-3, 2e-4, 1e-3),
                )
            )
        ]
        for order in ([0, 1, 2, 3], [2, 3, 0, 1], [1, 1, 1], [3, 0]):
            order = list(dict.fromkeys(order))
            result = self.merge_files(
                *(names[i] for i in order), "--radius", "5", "-q", "-o", self.path("m.csv")
            )
            self.assertEqual([result.returncode, result.stderr], [0, ""])
            self.assert_bins("m.completeness.csv", [lists[i] for i in order])
        many = [
            self.made_list(self.path("%s.injections.csv" % name), widths, n, area, 1e-3, seed)
            for seed, (name, widths, n, area) in enumerate(
                (
                    ("a", [1.0, 4.0], 101000, 2.0),
                    ("b", [1.0, 4.0], 102000, 1.0),
                    ("c", [1.0], 67000, 1.0),
                )
            )
        ]
        self.assertEqual(
            self.merge_files(
                *names[:3], "--radius", "5", "-q", "-o", self.path("m.csv")
            ).returncode,
            0,
        )
        self.assert_bins("m.completeness.csv", many)

    def test_merged_lists_that_are_wrong(self):
        """Without a list that can be read there is no merged table, which a note says; the
        catalogue is written."""
        names = [self.path(name + ".csv") for name in "ab"]
        for name in names:
            self.run_here(self.sky(), "-q", "-o", name, check=True)
            rows = self.made_list(name[:-3] + "injections.csv", [1.0, 2.0], 5, 1.0, 1e-3, 1)
        path = self.path("b.injections.csv")
        reason = "b.injections.csv: this is no list of injected sources as srcfind writes it: make it and the catalogue beside it again"
        for change in (
            {"Width": 1.5},
            {"Width": None},
            {"Width": -1.0},
            {"SNR": 0.0},
            {"True_flux": -1.0},
            {"True_flux": "x"},
            {"Area": 0.0},
            {"True_flux": None, "Found": 1},
            {"Area": None},
            None,
            {"Left": 0},
        ):
            with self.subTest(change):
                wrong = [{**rows[0], **change}, *rows[1:]] if change else rows[:-1]
                self.write_list(
                    path,
                    [{name: value for name, value in row.items() if name != "SNR"} for row in rows]
                    if change == {"Left": 0}
                    else wrong,
                )
                with open(self.path("m.completeness.csv"), "w", encoding="ascii") as stream:
                    stream.write("Kind,Width,Low,High,Injected,\n")  # of an earlier run
                result = self.merge_files(*names, "--radius", "5", "-o", self.path("m.csv"))
                self.assertEqual(
                    [
                        result.returncode,
                        os.path.exists(self.path("m.csv")),
                        os.path.exists(self.path("m.completeness.csv")),
                    ],
                    [0, True, False],
                )
                self.assertIn(
                    "m.completeness.csv: not written: " + self.path(reason), result.stderr
                )
                os.remove(self.path("m.csv"))
        os.remove(path)
        result = self.merge_files(*names, "--radius", "5", "-o", self.path("m.csv"))
        self.assertIn(
            "%s: no list of its injected sources beside it, but 1 of 2 catalogues have one: no completeness is merged: search it with --completeness\n"
            % names[1],
            result.stderr,
        )
        self.assertEqual(
            [result.returncode, os.path.exists(self.path("m.completeness.csv"))], [0, False]
        )
        self.write_list(path, [{**row, "Width": 1.0 + i} for i, row in enumerate(rows[:1] * 64)])
        result = self.merge_files(*names, "--radius", "5", "-o", self.path("m.csv"))
        self.assertEqual([result.returncode, "not written" in result.stderr], [0, False])
        self.write_list(path, [{**row, "Width": 3.0 + i} for i, row in enumerate(rows[:1] * 64)])
        result = self.merge_files(*names, "--radius", "5", "-o", self.path("m.csv"))
        self.assertEqual(result.returncode, 0)
        self.assertIn(
            "m.completeness.csv: not written: the images have injected sources of more than 64 widths\n",
            result.stderr,
        )

    def read_lists(self, *names):
        return [
            t.read_csv(self.path(os.path.join("out", name + ".injections.csv"))) for name in names
        ]

    @staticmethod
    def widths(path):
        """Those of a list of injected sources."""
        if path.endswith(".json"):
            with open(path) as stream:
                return sorted({row["Width"] for row in json.load(stream)["injections"]})
        return sorted({float(width) for width in Table.read(path)["Width"]})

    def test_merged_of_two_sizes(self):
        """A scale that is too wide for some images is that of the others; tables of an interrupted
        batch, of shards and of files are the same bytes."""
        small, large = self.sky("a.fits", (70, 64), seed=2), self.sky("b.fits", seed=4, rise=3)
        wide = self.sky("c.fits", (90, 160), seed=5, BMAJ=6e-3)
        images, out = [small, large, wide], self.path("out")
        options = [
            "--local",
            "-i",
            "3",
            "--scales=2,8",
            "--completeness=40",
            "--save",
            "gaussians",
            "-o",
            out,
        ]
        ends = ("csv",) if t.SANITIZED else ("csv", "fits", "json", "ecsv")
        for end in ends:
            with self.subTest(end):
                words = [*images, "-q", *options, "-f", end, "--merge", self.path("m." + end)]
                self.run_here(*words, check=True)
                expected = self.take_merged(end)
                widths = [
                    self.widths(os.path.join(out, "%s.injections.%s" % (name, end)))
                    for name in "abc"
                ]
                self.assertEqual(widths, [[1, 2], [1, 2, 8], [1, 2]])
                for name in ("b." + end, "c.injections." + end, "a.gaussians." + end):
                    os.remove(os.path.join(out, name))
                    self.run_here(*words, "--skip-existing", check=True)
                    self.assertEqual(self.take_merged(end), expected)
                shutil.rmtree(out)
                for shard in ("1/2", "2/2"):
                    self.run_here(*images, "-q", *options, "-f", end, "--shard", shard, check=True)
                self.run_here(*words, "--skip-existing", check=True)
                self.assertEqual(self.take_merged(end), expected)
                if end != "csv":  # which tells neither beams nor images
                    result = self.merge_files(
                        *(os.path.join(out, name) for name in sorted(os.listdir(out))),
                        "-q",
                        "-o",
                        self.path("m." + end),
                    )
                    self.assertEqual([result.returncode, result.stderr], [0, ""])
                    self.assertEqual(self.take_merged(end), expected)
                shutil.rmtree(out)

    def take_merged(self, end):
        """The merged catalogue and its tables, which are removed."""
        if end == "csv" and os.path.exists(self.path("m.completeness.csv")):
            self.assert_bins("m.completeness.csv", self.read_lists("a", "b", "c"))
        files = []
        for part in ("", "gaussians.", "completeness."):
            with open(self.path("m.%s%s" % (part, end)), "rb") as stream:
                files.append(stream.read())
            os.remove(self.path("m.%s%s" % (part, end)))
        return files

    def test_no_output_replaces_the_merged_table(self):
        table = self.path("m.completeness.csv")
        self.assert_error(
            2,
            "report and merged table of completeness would both write %s: name another" % table,
            self.sky("a.fits"),
            self.sky("b.fits", seed=2),
            "--completeness=5",
            "--merge",
            self.path("m.csv"),
            "--report",
            table,
        )

    def test_merged_table_that_cannot_be_written(self):
        """The merged catalogue is written, and the exit status says that a table is not."""
        os.mkdir(self.path("m.completeness.csv"))
        words = [
            self.sky("a.fits"),
            self.sky("b.fits", seed=2),
            "--completeness=5",
            "-q",
            "-o",
            self.path("out"),
        ]
        result = self.run_here(*words, "--merge", self.path("m.csv"))
        self.assertEqual([result.returncode, os.path.exists(self.path("m.csv"))], [1, True])
        self.assertIn("m.completeness.csv: the table cannot be written: ", result.stderr)
        os.remove(self.path("m.csv"))
        result = self.merge_files(
            self.path("out/a.csv"),
            self.path("out/b.csv"),
            "-o",
            self.path("m.csv"),
            "--radius",
            "5",
        )
        self.assertEqual([result.returncode, os.path.exists(self.path("m.csv"))], [1, True])
        self.assertIn("m.completeness.csv: the table cannot be written: ", result.stderr)


if __name__ == "__main__":
    t.main()

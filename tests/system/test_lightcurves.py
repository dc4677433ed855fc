"""docs/lightcurves.md: its commands give the light curves of sources in six epochs, and its script
finds the one that varies."""
import contextlib
import glob
import importlib.util
import io
import math
import os
import re
import subprocess
import sys
import types

import numpy as np
from astropy.io import fits
from astropy.table import Table

import srcfind_test as t
import sky  # which srcfind_test finds

sys.path.append(os.path.join(t.SOURCE_ROOT, "examples"))
import lightcurve  # noqa: E402

MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
SIDE, BEAM, NOISE = 128, (6.0, 5.0, 0.0), 1e-4  # pixels, Jy/beam
PEAKS = [5e-3, 3e-3, 2e-3, 2e-3, 1.5e-3, 1e-3, 1e-3, 8e-4, 8e-4]  # of sources in a grid
VARIABLE, FLARE = 3, [1.0, 1.1, 2.0, 3.0, 1.6, 1.0]
BLANKED, BLANK_EPOCH = 5, 4  # a source that is blank in one epoch


def write_epochs(directory):
    """Six epochs of a sky; the noise has the beam's autocorrelation. Also run to make the picture
    of the page."""
    random, (xx, xy, yy) = np.random.default_rng(20), sky.covariance(BEAM)
    y, x = np.mgrid[:SIDE, :SIDE]
    places = [(24.0 + 40 * (i % 3), 25.3 + 39 * (i // 3)) for i in range(len(PEAKS))]
    for epoch, factor in enumerate(FLARE):
        image = NOISE * sky.noise(
            types.SimpleNamespace(side=SIDE, beam=BEAM, white=False), random
        ).astype(np.float64)
        for i, ((cx, cy), peak) in enumerate(zip(places, PEAKS)):
            square = ((x - cx) ** 2 * yy - 2 * xy * (x - cx) * (y - cy) + (y - cy) ** 2 * xx) / (
                xx * yy - xy * xy
            )
            image += peak * (factor if i == VARIABLE else 1) * np.exp(-square / 2)
        if epoch == BLANK_EPOCH:
            cx, cy = map(int, places[BLANKED])
            image[cy - 12 : cy + 13, cx - 12 : cx + 13] = np.nan
        header = t.sky_header(
            BMAJ=BEAM[0] * 5e-4,
            BMIN=BEAM[1] * 5e-4,
            BPA=BEAM[2],
            OBJECT="a test",
            **{"DATE-OBS": "2026-11-%02dT03:30:00" % (2 + 4 * epoch)},
        )
        fits.writeto(
            os.path.join(directory, "epoch%d.fits" % (epoch + 1)), image.astype(np.float32), header
        )


def page():
    with open(os.path.join(t.SOURCE_ROOT, "docs", "lightcurves.md")) as stream:
        return stream.read()


class LightCurves(t.Case):
    def setUp(self):
        """The epochs, and the files that the commands of the page make."""
        super().setUp()
        write_epochs(self.directory.name)
        epochs = sorted(
            name for name in os.listdir(self.directory.name) if name.startswith("epoch")
        )
        commands = re.findall(r"(?m)^    srcfind (.*)$", page())[:2]
        for command in commands:
            arguments = [
                word
                for part in command.split()
                for word in (epochs if part == "epoch*.fits" else [part])
            ]
            result = t.run(*arguments, "-q", cwd=self.directory.name)
            self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertEqual(
            [command.split()[-1] for command in commands], ["reference.fits", "light.vot"]
        )
        self.table = Table.read(self.path("light.vot"))

    def test_rows(self):
        """Each entry has a row in each epoch, with its date; the one that is blank there has an
        empty flux and flag 512."""
        self.assertEqual(len(self.table), 6 * len(PEAKS))
        for entry in set(self.table["Entry_id"]):
            rows = self.table[self.table["Entry_id"] == entry]
            self.assertEqual(
                list(rows["Date_obs"]),
                ["2026-11-%02dT03:30:00" % (2 + 4 * epoch) for epoch in range(6)],
            )
        empty = self.table[self.table["Flags"] & 512 != 0]
        self.assertEqual(list(empty["Date_obs"]), ["2026-11-%02dT03:30:00" % (2 + 4 * BLANK_EPOCH)])
        self.assertTrue(
            np.ma.getmaskarray(empty["Total_flux"]).all() or np.isnan(empty["Total_flux"]).all()
        )

    def test_help(self):
        """The script says what it takes, on standard output if it was asked."""

        def run(*arguments):
            return subprocess.run(
                [sys.executable, lightcurve.__file__, *arguments],
                capture_output=True,
                text=True,
                cwd=self.directory.name,
            )

        for arguments in (["--help"], ["-h"], ["light.vot", "--help"]):
            self.assertEqual(
                [run(*arguments).returncode, run(*arguments).stdout, run(*arguments).stderr],
                [0, lightcurve.__doc__ + "\n", ""],
            )
        for arguments in ([], ["a", "b", "c"]):
            self.assertEqual(
                [run(*arguments).returncode, run(*arguments).stdout, run(*arguments).stderr],
                [1, "", lightcurve.__doc__ + "\n"],
            )
        self.assertEqual(run("light.vot").stdout.count("\n"), 1 + len(PEAKS))

    def test_measures(self):
        """V and eta are those of plain sums; the source that varies stands out, and eta of the
        others is that of their noise."""
        curves = {entry: more for entry, *more in lightcurve.light_curves(self.table)}
        self.assertEqual(len(curves), len(PEAKS))
        for entry, (V, eta, dates, flux, error) in curves.items():
            n = len(dates)
            self.assertEqual(
                n, 6 - np.count_nonzero(self.table["Flags"][self.table["Entry_id"] == entry] & 512)
            )
            mean = math.fsum(flux) / n
            self.assertAlmostEqual(
                V, math.sqrt(math.fsum((f - mean) ** 2 for f in flux) / (n - 1)) / mean, 12
            )
            weighted = math.fsum(f / e**2 for f, e in zip(flux, error)) / math.fsum(
                1 / e**2 for e in error
            )
            self.assertAlmostEqual(
                eta, math.fsum(((f - weighted) / e) ** 2 for f, e in zip(flux, error)) / (n - 1), 8
            )
        (first, (V, eta, _, flux, error)), *others = curves.items()
        self.assertLess(np.max(np.abs(flux - PEAKS[VARIABLE] * np.array(FLARE)) / error), 4)
        self.assertGreater(eta, 30)
        self.assertGreater(V, 0.4)
        self.assertLess(max(more[1] for _, more in others), 4)
        self.assertLess(max(more[0] for _, more in others), 0.25)

    def test_page(self):
        """It has the script's output."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            lightcurve.main(self.path("light.vot"))
        self.assertIn(
            "".join("    " + line for line in printed.getvalue().splitlines(True)), page()
        )

    @t.unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_no_dates(self):
        """A merged catalogue from CSV has no dates: the script draws against the number of the epoch,
        and says so."""

        def draw(catalogue):
            result = subprocess.run(
                [sys.executable, lightcurve.__file__, catalogue, "light.png"],
                capture_output=True,
                text=True,
                cwd=self.directory.name,
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(os.path.exists(self.path("light.png")))
            os.remove(self.path("light.png"))
            return result

        with_dates = draw("light.vot")
        self.assertEqual(with_dates.stderr, "")
        epochs = sorted(glob.glob(self.path("epoch*.fits")))
        given = ["--at", self.path("reference.fits"), "--fit", "-q"]
        self.assertEqual(t.run(*given, *epochs, "-o", self.path("light")).returncode, 0)
        catalogues = sorted(glob.glob(self.path("light/*.csv")))
        self.assertEqual(len(catalogues), 6)
        for merged in ("m.vot", "m.csv"):
            result = subprocess.run(
                [MERGE, *catalogues, "--radius", "3", "-q", "-o", self.path(merged)],
                capture_output=True,
                text=True,
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            without = draw(merged)
            self.assertIn("the number of the epoch", without.stderr)
            self.assertEqual(without.stderr.count("\n"), 1, without.stderr)
            self.assertEqual(without.stdout, with_dates.stdout)
            curves = {
                entry: epochs
                for entry, _, _, epochs, *_ in lightcurve.light_curves(
                    Table.read(self.path(merged))
                )
            }
            missing = [entry for entry, numbers in curves.items() if len(numbers) == 5]
            self.assertEqual(list(map(int, curves[missing[0]])), [1, 2, 3, 4, 6])

    def test_single_image(self):
        """The catalogue of one image is not merged: an error that says what to do."""
        given = ["--at", self.path("reference.fits"), "--fit", "-q"]
        self.assertEqual(
            t.run(*given, self.path("epoch1.fits"), "-o", self.path("one.csv")).returncode, 0
        )
        with self.assertRaisesRegex(SystemExit, "--merge LIGHT.vot"):
            lightcurve.light_curves(Table.read(self.path("one.csv")))

    def test_single_epoch(self):
        """One epoch is no curve."""
        self.assertEqual(
            lightcurve.light_curves(self.table[self.table["Image"] == "epoch1.fits"]), []
        )


if __name__ == "__main__":
    t.main()

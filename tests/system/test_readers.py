"""Catalogues, maps and regions, as the programs read them that users have: each without a
complaint."""
import glob
import os
import shutil
import subprocess
import warnings

import numpy as np
from astropy.io import fits
from astropy.io.votable import parse
from astropy.table import Table

import srcfind_test as t

try:
    from regions import Regions  # not on Debian: where it is installed
except ImportError:
    Regions = None

STILTS_JAR = "/usr/share/java/starlink-ttools.jar"


def needs(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    return t.unittest.skipIf(missing, "there is no " + ", ".join(missing))


def images():
    """The images of this tree, and those of SRCFIND_TEST_DATA."""
    paths = [
        os.path.join(t.SOURCE_ROOT, "data", "sample.fits"),
        *glob.glob(os.path.join(t.SOURCE_ROOT, "data", "maps", "*.fits")),
    ]
    for suffix in ("fits", "fits.gz", "fits.fz"):
        paths += glob.glob(os.path.join(t.SHARED, "data", "*", "*." + suffix)) if t.SHARED else []
    return sorted(paths)


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
class Readers(t.Case):
    @classmethod
    def setUpClass(cls):
        """Every format of every image that can be searched; and tables with the columns of
        --deblend and --fit."""
        cls.place = t.tempfile.TemporaryDirectory(prefix="srcfind-")
        cls.addClassCleanup(cls.place.cleanup)
        for name in ("csv", "votable", "fits", "ecsv", "reg", "crtf"):
            t.run(*images(), "-q", "-i", "3", "--negative", "-f", name, "-o", cls.place.name + "/")
        t.run(*images(), "-q", "-o", os.path.join(cls.place.name, "maps/"), "--save", "rms,islands")
        for option in ("--deblend", "--fit"):
            for name in ("csv", "votable", "fits", "ecsv"):
                t.run(
                    *images(),
                    "-q",
                    "-i",
                    "3",
                    option,
                    "-f",
                    name,
                    "-o",
                    os.path.join(cls.place.name, "columns" + option + "/"),
                )

    def catalogues(self, suffix):
        paths = sorted(
            path
            for place in ("", "columns*")
            for path in glob.glob(os.path.join(self.place.name, place, "*" + suffix))
        )
        self.assertGreater(len(paths), 3)
        return paths

    def check_each(self, suffix, check):
        """Calls check with the path and the CSV rows of each catalogue of a suffix."""
        for path in self.catalogues(suffix):
            with self.subTest(os.path.basename(path)), warnings.catch_warnings():
                warnings.simplefilter("error")
                check(path, t.read_csv(path[: -len(suffix)] + ".csv"))

    def check_table(self, path, rows):
        table = Table.read(path)
        self.assertEqual(len(table), len(rows))
        for name in table.colnames:
            # a masked one is None
            cells = [None if v == "" or v != v else v for v in table[name].tolist()]
            self.assertEqual(cells, [row[name] for row in rows], name)

    def test_astropy(self):
        for suffix in (".vot", ".fits", ".ecsv"):
            self.check_each(suffix, self.check_table)

    def test_astropy_validates(self):
        self.check_each(".vot", lambda path, rows: parse(path, verify="exception"))

    def check_by_program(self, *command):
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout + result.stderr

    @needs("stilts", "javac")
    @t.unittest.skipUnless(os.path.exists(STILTS_JAR), "STILTS is not where Debian has it")
    def test_votlint(self):
        """One STILTS reads all, since it takes long to start."""
        program, paths = os.path.join(os.path.dirname(__file__), "Votlint.java"), self.catalogues(
            ".vot"
        )
        text = self.check_by_program("java", "-cp", STILTS_JAR, program, *paths)
        self.assertEqual(text.splitlines(), ["votlint: " + path for path in paths])

    @needs("fitsverify")
    def test_fitsverify(self):
        """Catalogues without a warning; maps have the coordinates of their images, whose cards may
        deserve one."""
        self.check_each(".fits", lambda path, rows: self.check_by_program("fitsverify", path))
        maps = glob.glob(os.path.join(self.place.name, "maps", "*.fits"))
        self.assertGreaterEqual(
            len(maps), 2 * len(glob.glob(os.path.join(self.place.name, "*.fits")))
        )
        for path in maps:
            with self.subTest(os.path.basename(path)):
                self.check_by_program("fitsverify", "-e", path)

    def check_region(self, region, row):
        lon, lat = ("RA", "DEC") if "RA" in row else ("GLON", "GLAT")
        np.testing.assert_allclose(
            [region.center.spherical.lon.deg, region.center.spherical.lat.deg],
            [row[lon], row[lat]],
            rtol=0,
            atol=1e-9,
        )
        sizes = sorted([region.width.to_value("deg"), region.height.to_value("deg")])
        np.testing.assert_allclose(sizes, [row["Min"], row["Maj"]], rtol=1e-9)
        # the angle is that of the width, from west; PA is that of the longer axis, from north
        longer = region.angle.to_value("deg") + (90 if region.height > region.width else 0) - 90
        is_round = row["Maj"] - row["Min"] < 1e-6 * row["Maj"]
        self.assertTrue(is_round or abs((longer - row["PA"] + 90) % 180 - 90) < 1e-6, row)

    def check_regions(self, suffix, format):
        checked = []

        def check(path, rows):
            regions = Regions.read(path, format=format)
            self.assertEqual(len(regions), len(rows))
            for region, row in zip(regions, rows):
                if hasattr(region.center, "spherical") and row["Maj"] is not None:
                    self.check_region(region, row)
                    checked.append(row)

        self.check_each(suffix, check)
        self.assertGreater(len(checked), 20)

    @t.unittest.skipUnless(Regions, "needs the Python package regions")
    def test_regions_of_ds9(self):
        self.check_regions(".reg", "ds9")

    @t.unittest.skipUnless(Regions, "needs the Python package regions")
    def test_regions_of_casa(self):
        self.check_regions(".crtf", "crtf")

    def image_of(self, path):
        """The image of a catalogue, if it is in the primary HDU: DS9 does not look for others."""
        stem = os.path.basename(path)[:-4]
        image = next(i for i in images() if os.path.basename(i).split(".fits")[0] == stem)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return image if fits.getheader(image, 0)["NAXIS"] >= 2 else None

    def check_in_ds9(self, path, rows):
        with open(path + ".saved") as stream:
            places = [
                line[len("ellipse(") :].split(",")[:2]
                for line in stream
                if line.startswith("ellipse(")
            ]
        self.assertEqual(len(places), len(rows))
        expected = [[row["Xposn"] + 1, row["Yposn"] + 1] for row in rows]
        np.testing.assert_allclose(np.array(places, float), expected, rtol=0, atol=0.1)

    @needs("ds9", "xvfb-run")
    def test_ds9(self):
        """Each ellipse is where the catalogue has it. One DS9 loads all images, since it takes long
        to start."""
        commands, loaded = [], set()
        for path in self.catalogues(".reg"):
            image = self.image_of(path)
            if image and t.read_csv(path[: -len(".reg")] + ".csv"):
                loaded.add(path)
                commands += [
                    "-frame",
                    "delete",
                    "all",
                    "-frame",
                    "new",
                    image,
                    "-regions",
                    "load",
                    path,
                    "-regions",
                    "system",
                    "image",
                    "-regions",
                    "save",
                    path + ".saved",
                ]
        self.check_by_program("xvfb-run", "-a", "ds9", *commands, "-exit")
        self.check_each(".reg", lambda path, rows: path in loaded and self.check_in_ds9(path, rows))


if __name__ == "__main__":
    t.main()

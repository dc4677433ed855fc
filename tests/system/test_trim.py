"""--trim: a part of an image is searched as if it had been cut out of the file; X and Y are those of
the whole image."""
import gzip
import math
import os
import shutil
import subprocess

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t

MERGE = os.path.join(os.path.dirname(os.environ["SRCFIND"]), "srcfind-merge")
FAKE = os.environ.get("FAKE_CUDA", "")
SHAPE = (300, 410)
X0, X1, Y0, Y1 = 61, 340, 21, 250
PART = np.s_[Y0 - 1 : Y1, X0 - 1 : X1]
TRIM = "--trim=%d,%d,%d,%d" % (X0, X1, Y0, Y1)
IN_PIXELS = {
    **dict.fromkeys(("Xposn", "X_min", "X_max", "Xpeak"), X0 - 1),
    **dict.fromkeys(("Yposn", "Y_min", "Y_max", "Ypeak"), Y0 - 1),
}
OPTIONS = (
    [],
    ["-i", "3", "--local"],
    ["--deblend", "--negative", "-i", "2.5"],
    ["-i", "3", "--fit", "--rms-box", "60,20"],
    ["--scales", "--local", "-i", "3"],
)


def cut_out(header):
    """The header of the part."""
    header = header.copy()
    header["CRPIX1"] -= X0 - 1
    header["CRPIX2"] -= Y0 - 1
    return header


class Trim(t.Case):
    def setUp(self):
        super().setUp()
        self.pixels = t.noise(*SHAPE, seed=4, n_sources=70)
        self.pixels *= np.linspace(1, 2, SHAPE[1], dtype=np.float32)
        self.pixels[100:140, 200:230] = np.nan
        self.header = t.sky_header()
        self.whole = self.write("whole.fits", self.pixels, self.header)
        self.part = self.write("part.fits", self.pixels[PART], cut_out(self.header))

    def csv(self, *options, **environment):
        return t.run(*options, "-q", check=True, env={**os.environ, **environment}).stdout

    def rows(self, *options):
        path = self.path("rows.csv")
        with open(path, "w") as stream:
            stream.write(self.csv(*options))
        return t.read_csv(path)

    def assert_moved(self, found, expected, least=10):
        """Rows of the whole image are those of the part, but for their pixels."""
        self.assertEqual(len(found), len(expected))
        self.assertGreater(len(expected), least)
        for row, e in zip(found, expected):
            for name, value in e.items():
                if value is None or isinstance(value, str):
                    self.assertEqual(row[name], value)
                    continue
                value += IN_PIXELS.get(name, 0)
                close = math.isclose(row[name], value, rel_tol=1e-7, abs_tol=1e-9)
                self.assertTrue(
                    close or (math.isnan(value) and math.isnan(row[name])), (name, row[name], value)
                )

    # --- rows ---

    def test_as_a_cut_out(self):
        """The rows of the part in a file of its own; not those of the whole image."""
        for options in OPTIONS:
            with self.subTest(options=options):
                found = self.rows(self.whole, TRIM, *options)
                self.assert_moved(found, self.rows(self.part, *options))
                self.assertNotEqual(
                    {row["Isl_rms"] for row in found},
                    {row["Isl_rms"] for row in self.rows(self.whole, *options)},
                )

    def test_gaussians_and_injections(self):
        """Tables beside the catalogue have the pixels of the whole image, too."""
        for path, name in ((self.whole, "whole"), (self.part, "part")):
            t.run(
                *(path, "-i", "3", "--completeness=60", "--save", "gaussians", "--fit"),
                *("--group", "island", "-o", self.path(name + ".csv"), "-q"),
                *([TRIM] if name == "whole" else []),
                check=True,
            )
        self.assertIn("M", {row["S_Code"] for row in t.read_csv(self.path("part.csv"))})
        for table in ("gaussians", "injections"):
            found, expected = (
                t.read_csv(self.path("%s.%s.csv" % (name, table))) for name in ("whole", "part")
            )
            self.assert_moved(found, expected)

    def test_edges_of_the_image(self):
        """The whole image, a pixel, a row and a column."""
        height, width = SHAPE
        whole = "--trim=1,%d,1,%d" % (width, height)
        self.assertEqual(self.csv(self.whole, whole), self.csv(self.whole))
        for trim in ((width, width, height, height), (1, width, 7, 7), (410, 410, 1, 300)):
            x0, x1, y0, y1 = trim
            given = "--trim=" + ",".join(map(str, trim))
            image = t.find(self.whole, given)["image"]
            self.assertEqual(image["shape"], [y1 - y0 + 1, x1 - x0 + 1])
            self.assertEqual(image["axes"], [410, 300])

    def test_kinds_of_files(self):
        """Compressed, gzipped, scaled and big images, planes of cubes, extensions, and --blank."""
        numbers = np.nan_to_num(self.pixels * 10).astype(np.int16)
        cube = np.stack([self.pixels[::-1], self.pixels, self.pixels[:, ::-1]])[None]
        files = {
            "gz": self.path("whole.fits.gz"),
            "i2": self.write("i2.fits", numbers, self.header),
            "f8": self.write("f8.fits", self.pixels.astype(float), self.header),
            "cube": self.write("cube.fits", cube, self.header),
            "hdu": self.path("hdu.fits"),
        }
        with open(self.whole, "rb") as source, gzip.open(files["gz"], "wb") as stream:
            shutil.copyfileobj(source, stream)
        fits.HDUList(
            [fits.PrimaryHDU(np.ones((9, 9))), fits.ImageHDU(self.pixels, self.header, name="SCI")]
        ).writeto(files["hdu"])
        for tile in (None, (100, 64), (410, 16)):
            path = files["rice%s" % (tile,)] = self.path("rice%d.fits" % len(files))
            fits.HDUList(
                [fits.PrimaryHDU(), t.tiled(numbers, "RICE_1", tile, self.header)]
            ).writeto(path)
        small = self.write("i2_part.fits", numbers[PART], cut_out(self.header))
        for options in ([], ["-i", "3", "--local", "--fit", "-j", "2"]):
            expected = self.rows(self.part, *options), self.rows(small, "--blank=0", *options)
            for name, path in files.items():
                with self.subTest(name=name, options=options):
                    of_numbers = name == "i2" or name.startswith("rice")
                    choice = {"cube": ["--plane", "2"], "hdu": ["--hdu", "SCI"]}.get(name, [])
                    choice += ["--blank=0"] if of_numbers else []
                    self.assert_moved(
                        self.rows(path, TRIM, *choice, *options), expected[of_numbers]
                    )

    def test_threads_and_devices(self):
        environments = [{}]
        if os.path.exists(FAKE):
            environments += [{"SRCFIND_CUDA_MODULE": FAKE}]
        for options in OPTIONS[1::2]:
            expected = self.csv(self.whole, TRIM, *options, "-j", "1", "--cpu")
            for environment in environments:
                for more in (["-j", "3"], ["-j", "2", "--gpu"] if environment else []):
                    self.assertEqual(
                        self.csv(self.whole, TRIM, *options, *more, **environment), expected
                    )

    def test_only_the_part_is_read(self):
        """A tenth of the rows and columns has a hundredth of the bytes, and they are read a few
        times."""
        pixels = t.noise(2000, 2000, seed=9)
        path = self.write("large.fits", pixels, self.header)

        def bytes_read(*options):
            before = self.bytes_read_by_children()
            t.run(*options, "-q", "-j", "1", "--cpu", "-o", self.path("c.csv"), check=True)
            return self.bytes_read_by_children() - before

        usual = bytes_read(self.write("small.fits", pixels[:9, :9], self.header))
        self.assertLess(bytes_read(path, "--trim=901,1100,501,700") - usual, pixels.nbytes / 20)

    @staticmethod
    def bytes_read_by_children():
        with open("/proc/self/io", encoding="ascii") as stream:
            return int(stream.readline().split()[1])

    def test_projections(self):
        """Positions of other projections, and of a header without a reference pixel."""
        for cards in (
            {"CTYPE1": "RA---ZPN", "CTYPE2": "DEC--ZPN", "PV2_1": 1.0, "PV2_3": 20.0},
            {"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR", "CRVAL1": 359.99, "CRVAL2": 0.0},
            {"CTYPE1": "RA---TAN-SIP", "CTYPE2": "DEC--TAN-SIP", "A_ORDER": 2, "A_2_0": 1e-5}
            | {"B_ORDER": 2, "B_1_1": -1e-5},
            {"CTYPE1": "RA---CAR", "CTYPE2": "DEC--CAR", "CRVAL2": 0.0, "CRPIX1": None},
        ):
            header = t.sky_header(**cards)
            path = self.write("projected.fits", self.pixels, header)
            rows = {(row["X_min"], row["Y_min"]): row for row in t.find(path, "--rms=1")["sources"]}
            found = t.find(path, TRIM, "--rms=1")["sources"]
            names = [name for name in found[0] if name in ("RA", "DEC", "GLON", "GLAT")]
            self.assertEqual(len(names), 2)
            n_same = 0
            for row in found:
                other = rows.get((row["X_min"], row["Y_min"]))
                if not other or other["N_pix"] != row["N_pix"] or row["Flags"] & 1:
                    continue
                n_same += 1
                for name in names:
                    self.assertAlmostEqual(row[name], other[name], delta=1e-6)
            self.assertGreater(n_same, 10)

    def test_no_coordinates(self):
        """Pixels alone: regions, too, count from the corner of the whole image."""
        path = self.write("plain.fits", self.pixels)
        part = self.write("plain_part.fits", self.pixels[PART])
        self.assert_moved(self.rows(path, TRIM), self.rows(part))
        lines = [
            [line.split("(")[1].split(",")[:2] for line in text.splitlines() if "ellipse" in line]
            for text in (self.csv(path, TRIM, "-f", "reg"), self.csv(part, "-f", "reg"))
        ]
        for (x, y), (x_part, y_part) in zip(*lines):
            self.assertAlmostEqual(float(x), float(x_part) + X0 - 1, delta=1e-6)
            self.assertAlmostEqual(float(y), float(y_part) + Y0 - 1, delta=1e-6)
        self.assertGreater(len(lines[0]), 10)

    # --- maps ---

    MAPS = ("rms", "background", "snr", "islands", "sources", "model", "residual", "mask")

    def saved(self, name, *options):
        t.run(
            *options,
            *("-i", "3", "--scales", "--local", "--save", ",".join(self.MAPS)),
            *("-o", self.path(name + ".csv"), "-q"),
            check=True,
        )
        return {each: self.path("%s.%s.fits" % (name, each)) for each in self.MAPS}

    def test_maps(self):
        """The maps of the part, bit by bit, with its pixels at the same places on the sky."""
        found, expected = self.saved("w", self.whole, TRIM), self.saved("p", self.part)
        for name in self.MAPS:
            with fits.open(found[name]) as map_of, fits.open(expected[name]) as other:
                self.assertEqual(map_of[0].shape, (Y1 - Y0 + 1, X1 - X0 + 1))
                np.testing.assert_array_equal(map_of[0].data, other[0].data)
                for card in ("CRPIX1", "CRPIX2"):
                    self.assertEqual(map_of[0].header[card], other[0].header[card])
                self.assertEqual(
                    sorted(card for card in map_of[0].header if card != "HISTORY"),
                    sorted(card for card in other[0].header if card != "HISTORY"),
                )

    def test_maps_of_a_cube(self):
        """Also without CRPIX, whose default is 0."""
        header = t.sky_header(CTYPE3="FREQ", CRVAL3=1e9, CDELT3=1e6, CRPIX3=1.0, CRPIX1=None)
        path = self.write("c.fits", np.stack([self.pixels, self.pixels]), header)
        t.run(path, TRIM, "--plane=2", "--save", "rms", "-o", self.path("m.csv"), check=True)
        with fits.open(self.path("m.rms.fits")) as map_of:
            self.assertEqual(map_of[0].shape, (1, Y1 - Y0 + 1, X1 - X0 + 1))
            self.assertEqual(map_of[0].header["CRPIX1"], 1 - X0)
            found = WCS(map_of[0].header).all_pix2world([[3, 4, 0]], 0)
        expected = WCS(header).all_pix2world([[3 + X0 - 1, 4 + Y0 - 1, 1]], 0)
        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_skip_existing(self):
        """A part is not another one; its maps are known again."""
        out = ["-o", self.path("c.csv"), "--save", "rms", "--report", self.path("report.csv")]
        for trim, n in ((TRIM, 0), (TRIM, 1), ("--trim=1,200,1,200", 0), (TRIM, 0)):
            result = t.run(self.whole, trim, *out, "--skip-existing", check=True)
            self.assertEqual("skipped" in result.stderr, n == 1, result.stderr)

    @t.unittest.skipUnless(os.environ.get("PICTURES"), "built without cairo")
    def test_picture(self):
        """Ellipses are on the sources: the picture is that of the part, but for rounding."""
        from PIL import Image

        pictures = []
        for name, options in (("whole", [self.whole, TRIM]), ("part", [self.part])):
            out = self.path(name + "/image.csv")
            os.makedirs(os.path.dirname(out))
            t.run(*options, "--fit", "--save", "picture", "-o", out, "-q", check=True)
            with Image.open(self.path(name + "/image.picture.png")) as picture:
                pictures.append(np.asarray(picture.convert("RGB")).astype(int))
        self.assertEqual(pictures[0].shape, pictures[1].shape)
        rows = slice(60, -60)  # without the title, which names the file
        differs = np.abs(pictures[0][rows] - pictures[1][rows]).max(-1) > 40
        self.assertLess(differs.mean(), 1e-3)

    # --- other files ---

    def test_maps_of_the_noise(self):
        """Maps of the whole image are trimmed; those of the part are taken as they are."""
        rms = np.tile(np.linspace(0.5, 2, SHAPE[1]), (SHAPE[0], 1)).astype(np.float32)
        mask = np.ones(SHAPE, np.float32)
        mask[60:90] = 0
        given = {"rms-map": rms, "background-map": rms / 10, "mask": mask}
        options = {"whole": [], "part": []}
        for name, values in given.items():
            for kind, cut, header in (
                ("whole", values, self.header),
                ("part", values[PART], cut_out(self.header)),
            ):
                path = self.write("%s.%s.fits" % (kind, name), cut, header)
                options[kind] += ["--" + name, path]
        for more in ([], ["--fit", "-i", "3"]):
            expected = self.csv(self.whole, TRIM, *options["part"], *more)
            self.assertEqual(self.csv(self.whole, TRIM, *options["whole"], *more), expected)
            self.assert_moved(
                self.rows(self.whole, TRIM, *options["whole"], *more),
                self.rows(self.part, *options["part"], *more),
            )
        result = t.run(self.whole, TRIM, *options["whole"], "-o", self.path("c.csv"))
        self.assertNotIn("sky coordinates differ", result.stderr)

    def test_two_images(self):
        """--detect-on, its maps, and --measure-in."""
        flat = self.write("flat.fits", self.pixels * 0.5, self.header)
        planes = self.write("planes.fits", np.stack([self.pixels, self.pixels * 0.7]), self.header)
        small = {
            flat: self.write("flat_part.fits", self.pixels[PART] * 0.5, cut_out(self.header)),
            planes: self.write(
                "planes_part.fits",
                np.stack([self.pixels[PART], self.pixels[PART] * 0.7]),
                cut_out(self.header),
            ),
        }
        rms = np.full(SHAPE, 0.6, np.float32)
        rms_map = self.write("rms.fits", rms, self.header)
        small[rms_map] = self.write("rms_part.fits", rms[PART], cut_out(self.header))
        for given in (
            ["--detect-on", flat, "-i", "3", "--fit"],
            ["--detect-on", flat, "--detect-rms-map", rms_map],
            ["--measure-in", planes, "-i", "3"],
        ):
            of_part = [small.get(text, text) for text in given]
            found = self.rows(self.whole, TRIM, *given)
            self.assert_moved(found, self.rows(self.part, *of_part))
            self.assertEqual(
                self.csv(self.whole, TRIM, *given), self.csv(self.whole, TRIM, *of_part)
            )

    def test_wrong_files(self):
        other = self.write("other.fits", np.ones((50, 60), np.float32), self.header)
        for option in ("--mask", "--rms-map"):
            self.assert_error(
                1,
                "60 x 50 pixels, where the image has 410 x 300, and its part is smaller",
                *(self.whole, TRIM, option, other),
            )
        for option in ("--detect-on", "--measure-in"):
            self.assert_error(
                1, "NAXIS1 is 60, but 410 in the image", self.whole, TRIM, option, other
            )

    def test_positions(self):
        """--at: positions on the sky, and pixels of the whole image; the point-spread function is
        taken by its positions."""
        at = self.path("at.csv")
        with open(at, "w") as stream:
            stream.write(self.csv(self.whole, TRIM, "-i", "3", "--fit"))
        found = self.rows(self.whole, TRIM, "--at", at, "--fit", "--at-all")
        ratios = []
        for row, e in zip(found, t.read_csv(at)):
            self.assertAlmostEqual(row["Xposn"], e["Xposn"], delta=1e-6)
            if row["Total_flux"]:
                ratios.append(row["Total_flux"] / e["Total_flux"])
        self.assertGreater(len(ratios), 10)
        self.assertAlmostEqual(np.median(ratios), 1, delta=0.1)
        plain = self.write("plain.fits", self.pixels)
        places = self.path("places.csv")
        rows = [row for row in self.rows(plain, TRIM) if row["N_pix"] > 9]
        with open(places, "w") as stream:
            stream.write("Xposn,Yposn\n")
            stream.writelines("%d,%d\n" % (row["Xpeak"], row["Ypeak"]) for row in rows)
        self.assertGreater(len(rows), 5)
        measured = self.rows(plain, TRIM, "--at", places, "--background", "zero")
        for row, e in zip(measured, rows):
            self.assertEqual([row["Xposn"], row["Yposn"]], [e["Xpeak"], e["Ypeak"]])
            value = self.pixels[int(e["Ypeak"]), int(e["Xpeak"])]
            self.assertAlmostEqual(row["Peak_flux"], value, delta=1e-6 * value)

    # --- many images ---

    def test_merged(self):
        """Two parts that overlap: their merged catalogue is that of two files."""
        halves = ("1,230,1,300", "181,410,1,300")
        catalogues = {"trimmed": [], "cut": []}
        for i, half in enumerate(halves):
            x0, x1, _, _ = map(int, half.split(","))
            header = self.header.copy()
            header["CRPIX1"] -= x0 - 1
            cut = self.write("half%d.fits" % i, self.pixels[:, x0 - 1 : x1], header)
            for kind, options in (("trimmed", [self.whole, "--trim", half]), ("cut", [cut])):
                out = self.path("%s%d.fits" % (kind, i))
                t.run(*options, "-i", "3", "--rms", "1", "-o", out, "-f", "fits", "-q", check=True)
                catalogues[kind].append(out)
        merged = {}
        for kind, paths in catalogues.items():
            out = self.path(kind + ".csv")
            subprocess.run([MERGE, *paths, "-o", out, "-q"], check=True)
            merged[kind] = sorted(t.read_csv(out), key=lambda row: (row["RA"], row["DEC"]))
        self.assertEqual(len(merged["trimmed"]), len(merged["cut"]))
        alone = sum(len(fits.getdata(path)) for path in catalogues["cut"])
        self.assertLess(len(merged["cut"]), alone)
        for row, e in zip(merged["trimmed"], merged["cut"]):
            self.assertAlmostEqual(row["RA"], e["RA"], delta=1e-9)
            self.assertAlmostEqual(row["Peak_flux"], e["Peak_flux"], delta=1e-9)

    def test_images_of_several_shapes(self):
        """An image that does not have the part fails, and the others are searched."""
        small = self.write("a_small.fits", self.pixels[:100, :100], self.header)
        result = t.run(small, self.whole, TRIM, "-o", self.path("out"), "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "srcfind: %s: --trim %d,%d,%d,%d is not in the image, which has 100 columns and 100 "
            "rows\n" % (small, X0, X1, Y0, Y1),
            result.stderr,
        )
        self.assertEqual(os.listdir(self.path("out")), ["whole.csv"])

    # --- wrong usage ---

    def test_wrong_parts(self):
        for wrong in (
            *("", "1", "1,2,3", "1,2,3,4,5", "0,5,1,5", "1,5,0,5", "-3,5,1,5", "5,4,1,5"),
            *("1,5,5,4", "1,5,1,x", "1.5,5,1,5", "1,5,1,5,", "1:5,1:5", "1,99999999999,1,5"),
        ):
            message = self.assert_error(2, "--trim", self.whole, "--trim=" + wrong)
            if wrong:
                self.assertIn("X0,X1,Y0,Y1: the first and the last column", message)
        for wrong in ("1,411,1,300", "1,410,1,301", "411,411,1,1", "1000,2000,1,1"):
            self.assert_error(
                1,
                "%s: --trim %s is not in the image, which has 410 columns and 300 rows"
                % (self.whole, wrong),
                self.whole,
                "--trim=" + wrong,
            )

    def test_sections(self):
        """CFITSIO's section of an image is no path: the message has the option for it."""
        for section, hint in (
            ("[1:100,20:30]", ": --trim 1,100,20,30 chooses this part of an image"),
            (
                "[1:100,20:30,2:2]",
                ": --trim 1,100,20,30 chooses this part of an image, and --plane",
            ),
            ("[1]", ": --hdu, --plane and --trim choose a part of a file"),
            ("[*,1:5]", ": --hdu, --plane and --trim choose a part of a file"),
        ):
            self.assert_error(1, hint, self.whole + section)
        name = self.write(
            "odd[1:100,20:30]", self.pixels, self.header
        )  # a file of this name is one
        self.assertEqual(self.csv(name), self.csv(self.whole))


if __name__ == "__main__":
    t.main()

"""Noise and masks that were made elsewhere (--rms-map, --background-map, --mask): the same sources
as SciPy finds with them."""
import os
import shutil

import numpy as np
from astropy.io import fits

import oracle
import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")


def wave(shape, low, high):
    """Values between low and high that change from place to place, as float32."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    return (low + (high - low) * (0.5 + 0.25 * np.sin(x / 37) + 0.25 * np.cos(y / 23))).astype(
        np.float32
    )


def find(image, background, rms, threshold=5, island=5, connectivity=4):
    """The islands above any background and rms, as oracle.find gives them, with both at their
    peaks."""
    blank = ~(np.isfinite(image) & np.isfinite(background) & np.isfinite(rms) & (rms > 0))
    above = np.where(blank, np.nan, image.astype(np.float64) - background)
    noise = np.where(blank, np.nan, rms).astype(np.float64)
    with np.errstate(invalid="ignore"):
        rows = oracle.find(above, island * noise, connectivity, core=above > threshold * noise)
    for row in rows:
        at = row["Ypeak"], row["Xpeak"]
        row.update(
            Isl_rms=np.broadcast_to(rms, image.shape)[at],
            Isl_mean=np.broadcast_to(background, image.shape)[at],
        )
    return rows


class Given(t.Case):
    def setUp(self):
        super().setUp()
        self.image = t.noise(300, 410, seed=4, n_sources=40)
        self.rms, self.background = wave(self.image.shape, 0.7, 2.5), wave(
            self.image.shape, -0.5, 1
        )
        self.path_of = {
            "image": self.write("image.fits", self.image, t.sky_header()),
            "rms": self.write("rms.fits", self.rms, t.sky_header()),
            "background": self.write("background.fits", self.background),
        }
        self.given = [
            "--rms-map",
            self.path_of["rms"],
            "--background-map",
            self.path_of["background"],
        ]

    def assert_sources(self, found, expected):
        self.assertGreater(len(expected), 5)
        self.assertEqual(
            [[row[name] for name in oracle.EXACT] for row in found],
            [[e[name] for name in oracle.EXACT] for e in expected],
        )
        for row, e in zip(found, expected):
            for name in ("Isl_rms", "Isl_mean"):
                self.assertLessEqual(abs(row[name] - e[name]), 1e-12)
            self.assertLessEqual(abs(row["Peak_flux"] - e["Peak_flux"]), 1e-12 * e["Peak_flux"])
            self.assertLessEqual(abs(row["Pixel_sum"] - e["Pixel_sum"]), 1e-6 * e["Pixel_sum"])
            for name in ("Xposn", "Yposn"):
                self.assertLessEqual(abs(row[name] - e[name]), 1e-6)

    def sources(self, *options, image=None):
        return t.find(image or self.path_of["image"], *options)["sources"]

    def test_both_maps(self):
        for island, connectivity in ((5, 4), (3, 8), (2, 4)):
            with self.subTest(island=island):
                found = self.sources(*self.given, "-i", island, "--connectivity", connectivity)
                self.assert_sources(
                    found, find(self.image, self.background, self.rms, 5, island, connectivity)
                )

    def test_one_of_them(self):
        """The other one is given as a value, or is that of the whole image, or local."""
        clip = oracle.clip(self.image)
        nodes = oracle.noise_nodes(self.image, 48, 16, beam=oracle.beam_squared(t.sky_header()))
        local = [oracle.interpolate(nodes[:, :, i], self.image.shape, 16) for i in (0, 1)]
        rms, background = self.given[:2], self.given[2:]
        for options, with_background, with_rms in (
            (rms, clip["median"], self.rms),
            (background, self.background, clip["rms"]),
            ([*rms, "--background", "0.25"], 0.25, self.rms),
            ([*rms, "--background", "zero"], 0, self.rms),
            ([*background, "--rms", "1.25"], self.background, 1.25),
            ([*rms, "--rms-box", "48,16"], local[0], self.rms),
            ([*background, "--rms-box", "48,16"], self.background, local[1]),
            ([*self.given, "--rms-box", "48,16"], self.background, self.rms),
        ):
            for island in (5, 3):
                with self.subTest(options=[o for o in options if "/" not in o], island=island):
                    found = self.sources(*options, "-i", island)
                    self.assert_sources(
                        found,
                        find(
                            self.image,
                            np.float64(with_background),
                            np.asarray(with_rms, np.float64),
                            5,
                            island,
                        ),
                    )

    def test_local_noise_given_back(self):
        """The maps of --local, rounded to float32, find what --local finds."""
        out = self.path("c.csv")
        t.run(
            self.path_of["image"],
            "--rms-box",
            "48,16",
            "-i",
            "3",
            "--save",
            "rms,background",
            "-q",
            "-o",
            out,
            check=True,
        )
        maps = [
            "--rms-map",
            self.path("c.rms.fits"),
            "--background-map",
            self.path("c.background.fits"),
        ]
        again = self.sources(*maps, "-i", "3")
        for row, e in zip(again, t.read_csv(out), strict=True):
            for name in oracle.EXACT:
                self.assertEqual(row[name], e[name])
            for name in ("Isl_rms", "Isl_mean"):
                self.assertEqual(row[name], np.float64(np.float32(e[name])))
            for name in ("Peak_flux", "Total_flux", "Pixel_sum", "SNR", "Maj"):
                self.assertLessEqual(abs(row[name] - e[name]), 1e-5 * e[name], name)
        again = self.path("again.csv")
        t.run(
            self.path_of["image"],
            *maps,
            "-i",
            "3",
            "--save",
            "rms,background,snr,islands",
            "-q",
            "-o",
            again,
            check=True,
        )
        for name in ("rms", "background"):
            one, other = (
                fits.getdata(self.path("%s.%s.fits" % (stem, name))) for stem in ("c", "again")
            )
            self.assertTrue(np.array_equal(one, other))
        history = str(fits.getheader(self.path("again.rms.fits"))["HISTORY"])
        self.assertIn("srcfind option rms-map: a file\n", history)
        self.assertNotIn(self.directory.name, history)
        rms, background, snr, islands = (
            fits.getdata(self.path("again.%s.fits" % name))
            for name in ("rms", "background", "snr", "islands")
        )
        expected = (self.image.astype(np.float64) - background.astype(np.float64)) / rms.astype(
            np.float64
        )
        self.assertTrue(np.array_equal(snr, expected.astype(np.float32)))
        self.assertEqual(islands.max(), len(t.read_csv(again)))

    def test_blanks(self):
        """Where a map is blank, or the rms is not above 0, and where a mask is 0 or blank, the
        pixel is blank in every respect."""
        rms, background, mask = (
            self.rms.copy(),
            self.background.copy(),
            np.ones(self.image.shape, np.float32),
        )
        rms[:40], rms[40:60, :100], rms[100:110, 200:] = 0, -1, np.nan
        background[:, :20], background[200:230, 90:120] = np.nan, np.inf
        mask[250:, 30:90], mask[:, 400:] = 0, np.nan
        paths = [
            self.write(name, values)
            for name, values in (("r.fits", rms), ("b.fits", background), ("m.fits", mask))
        ]
        options = ["--rms-map", paths[0], "--background-map", paths[1], "--mask", paths[2]]
        blanked = np.where(
            (mask != 0) & np.isfinite(mask) & (rms > 0) & np.isfinite(background),
            self.image,
            np.nan,
        )
        image = self.write("blanked.fits", blanked, t.sky_header())
        one, other = t.find(self.path_of["image"], *options, "-i", "3"), t.find(
            image, *self.given, "-i", "3"
        )
        self.assertEqual(
            [one["background"], one["sources"]], [other["background"], other["sources"]]
        )
        self.assertEqual(one["background"]["n_blank"], np.isnan(blanked).sum())
        self.assert_sources(one["sources"], find(blanked, background, rms, 5, 3))
        # a mask alone, with one noise and with local noise
        blanked = np.where((mask != 0) & np.isfinite(mask), self.image, np.nan)
        image = self.write("masked.fits", blanked, t.sky_header())
        for noise in ([], ["--rms-box", "48,16"], ["--blank", "0"]):
            one, other = t.find(self.path_of["image"], "--mask", paths[2], *noise), t.find(
                image, *noise
            )
            self.assertEqual(
                [one["background"], one["sources"]], [other["background"], other["sources"]]
            )
            self.assertGreater(len(one["sources"]), 5)
        saved = self.path("m.csv")
        t.run(
            self.path_of["image"],
            "--mask",
            paths[2],
            "--save",
            "rms",
            "-q",
            "-o",
            saved,
            check=True,
        )
        self.assertTrue(
            np.array_equal(np.isnan(fits.getdata(self.path("m.rms.fits"))), np.isnan(blanked))
        )

    def test_kinds_of_files(self):
        """Maps may have other types and axes than the image, and may be packed."""
        mask = (wave(self.image.shape, 0, 1) > 0.4).astype(np.uint8)
        expected = self.sources(*self.given, "--mask", self.write("mask.fits", mask))
        wide = self.write("wide.fits", self.rms.astype(np.float64)[None, None])
        packed = self.path("packed.fits.fz")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(self.background, "GZIP_1", (64, 50), quantize_level=0)]
        ).writeto(packed)
        masks = [
            self.write("mask.fits.gz", mask),
            self.path("plio.fits"),
            self.write("bits.fits", mask.astype(np.int16) * -3),
        ]
        fits.HDUList([fits.PrimaryHDU(), t.tiled(mask.astype(np.int32), "PLIO_1")]).writeto(
            masks[1]
        )
        image = self.path("image.fits.fz")
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(self.image, "GZIP_2", (100, 7), t.sky_header(), quantize_level=0),
            ]
        ).writeto(image)
        for path in masks:
            for given in (image, self.path_of["image"]):
                with self.subTest(os.path.basename(path), image=os.path.basename(given)):
                    self.assertEqual(
                        self.sources(
                            "--rms-map",
                            wide,
                            "--background-map",
                            packed,
                            "--mask",
                            path,
                            image=given,
                        ),
                        expected,
                    )

    def test_same_bytes(self):
        mask = self.write("mask.fits", (wave(self.image.shape, 0, 1) > 0.3).astype(np.uint8))
        tiles = self.path("tiles.fits.fz")
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(self.image, "GZIP_1", (90, 33), t.sky_header(), quantize_level=0),
            ]
        ).writeto(tiles)
        for noise in (self.given, [*self.given[:2], "--rms-box", "40,13"]):

            def catalogue(path, *options, **environment):
                return t.run(
                    path,
                    "-q",
                    "-i",
                    "2.5",
                    *noise,
                    "--mask",
                    mask,
                    *options,
                    check=True,
                    env={**os.environ, **environment},
                ).stdout

            expected = catalogue(self.path_of["image"], "--threads", 1)
            self.assertGreater(expected.count("\n"), 10)
            for path in (self.path_of["image"], tiles):
                for threads in (1, 2, 7):
                    self.assertEqual(catalogue(path, "--threads", threads), expected)
            for variant in ("AVX2", "SSE2", "plain"):
                self.assertEqual(catalogue(tiles, SRCFIND_SIMD=variant), expected)

    def test_large_islands(self):
        """Islands that reach over many bands, on several threads."""
        image = t.noise(1100, 1000, seed=9)
        image[:, 300:320] += 6
        image[500:520] += 6
        rms, background = wave(image.shape, 0.9, 1.1), wave(image.shape, -0.1, 0.1)
        options = [
            "--rms-map",
            self.write("r.fits", rms),
            "--background-map",
            self.write("b.fits", background),
            "-i",
            "2",
        ]
        path = self.write("large.fits", image, t.sky_header())
        expected = find(image, background, rms, 5, 2)
        for threads in (1, 4):
            self.assert_sources(self.sources(*options, "--threads", threads, image=path), expected)

    def test_several_images(self):
        """A directory holds the map of each image, under its name."""
        for name in ("rms", "mask", "images", "bane"):
            os.mkdir(self.path(name))
        images, expected = [], {}
        for i in range(3):
            image = t.noise(80, 90, seed=i)
            images.append(self.write("images/%d.fits" % i, image, t.sky_header()))
            self.write("rms/%d.fits" % i, wave(image.shape, 0.8, 1 + i))
            self.write("bane/%d_rms.fits" % i, wave(image.shape, 0.8, 1 + i))
            self.write("bane/%d_bkg.fits" % i, wave(image.shape, -0.5, 0.5))
            self.write("mask/%d.fits" % i, (wave(image.shape, 0, 1) > 0.1 * i).astype(np.int16))
            expected[str(i)] = t.run(
                images[i],
                "-q",
                "--rms-map",
                self.path("rms/%d.fits" % i),
                "--mask",
                self.path("mask/%d.fits" % i),
            ).stdout
        shutil.move(images[2], images[2] + ".gz")
        images[2] += ".gz"
        options = ["--rms-map", self.path("rms"), "--mask", self.path("mask") + "/"]
        t.run(*images, "-q", *options, "-o", self.path("out"), check=True)
        for i in range(3):
            self.assertEqual(open(self.path("out/%d.csv" % i)).read(), expected[str(i)])
        self.assertEqual(t.run(images[0], "-q", *options).stdout, expected["0"])
        of_bane = t.run(
            images[0], "-q", "--rms-map", self.path("bane"), "--background-map", self.path("bane")
        ).stdout
        self.assertEqual(
            of_bane,
            t.run(
                images[0],
                "-q",
                "--rms-map",
                self.path("rms/0.fits"),
                "--background-map",
                self.path("bane/0_bkg.fits"),
            ).stdout,
        )
        os.remove(self.path("rms/1.fits"))
        result = t.run(*images, "-q", *options, "-o", self.path("other"))
        self.assertEqual(
            [result.returncode, sorted(os.listdir(self.path("other")))], [1, ["0.csv", "2.csv"]]
        )
        self.assertRegex(
            result.stderr,
            r"\Asrcfind: .*1.fits: .*rms: there is no 1.rms.fits or 1_rms.fits or 1.fits in this directory\n"
            r"srcfind: 3 images: \d+ sources, 1 failed, 0 skipped, [0-9.]+ s\n\Z",
        )
        for arguments in ([*images], ["--files-from", self.write_list(images[:1])]):
            result = t.run(*arguments, "-o", self.path("third"), "--mask", self.path("mask/0.fits"))
            self.assertEqual(result.returncode, 2)
            self.assertIn("is no directory", result.stderr)

    def write_list(self, images):
        with open(self.path("list"), "w") as stream:
            stream.write("".join(path + "\n" for path in images))
        return self.path("list")

    def test_wrong_maps(self):
        shape = self.write("shape.fits", self.rms[1:])
        turned = self.write("turned.fits", self.rms.T)
        cube = self.write("cube.fits", np.stack([self.rms, self.rms]))
        unit = self.write("unit.fits", self.rms, t.sky_header(BUNIT="mJy/beam"))
        other = self.write("other.fits", self.rms, t.sky_header(BUNIT="K"))
        flat = self.write("flat.fits", np.full(self.image.shape, np.nan, np.float32))
        zeros = self.write("zeros.fits", np.zeros(self.image.shape, np.int16))
        os.mkdir(self.path("empty"))
        with open(self.path("text.fits"), "w") as stream:
            stream.write("no FITS")
        needed = {
            "--rms-map": "value in the image, a finite value above 0 in ",
            "--background-map": "value in the image, a finite value in ",
            "--mask": "value in the image, a value other than 0 in ",
        }
        for option in needed:
            cases = [
                (shape, "410 x 299 pixels, where the image has 410 x 300"),
                (turned, "300 x 410 pixels"),
                (cube, "cube"),
                (self.path("none.fits"), "No such file"),
                (self.path("text.fits"), "not a FITS file"),
                (self.path("empty"), "fits or image.fits in this directory"),
                (flat, needed[option] + flat),
            ]
            cases += [(zeros, needed[option] + zeros)] if option != "--background-map" else []
            cases += (
                [
                    (unit, "its unit is mJy/beam, but the unit of the image is Jy/beam"),
                    (other, "its unit is K"),
                ]
                if option != "--mask"
                else []
            )
            for path, message in cases:
                with self.subTest(option, path=os.path.basename(path)):
                    result = t.run(self.path_of["image"], option, path, "-q")
                    self.assertEqual(
                        [result.returncode, result.stdout, len(result.stderr.splitlines())],
                        [1, "", 1],
                    )
                    self.assertIn(message, result.stderr)
        self.assertEqual(
            self.sources(
                "--rms-map", self.write("jy.fits", self.rms, t.sky_header(BUNIT="JY/BEAM"))
            ),
            self.sources(*self.given[:2]),
        )

    def test_maps_of_other_places(self):
        """A note where the sky coordinates of a map are more than a pixel from those of the image,
        and none where a map has none, or says the same in another way."""
        pixel, image = 5e-4, self.path_of["image"]
        same = dict(BUNIT=None, BMAJ=None, BMIN=None, BPA=None)
        os.mkdir(self.path("maps"))

        def notes(header, option="--mask", name="map.fits", given="map.fits"):
            path = self.write(name, self.rms, header)
            lines = t.run(image, option, self.path(given)).stderr.splitlines()
            return [
                line.split(path)[1]
                for line in lines
                if "coordinates" in line and option + " " + path in line
            ]

        for cards, text in (
            ({}, None),
            ({"CRVAL1": 150.0 - 360}, None),
            ({"CRPIX1": 50.9}, None),
            ({"CRVAL2": 2 + 0.9 * pixel}, None),
            ({"RADESYS": "FK5", "EQUINOX": 2000.0}, None),
            ({"CTYPE1": None, "CTYPE2": None, "CRVAL1": 20.0}, None),
            ({"CRPIX1": 51.2}, ", up to 1.2 pixels apart: CRPIX1 is 51.2 (in the image: 50)"),
            ({"CRVAL2": 2.2}, ", up to 400 pixels apart: CRVAL2 is 2.2 (in the image: 2)"),
            ({"CDELT1": pixel}, ": CDELT1 is"),
            ({"CDELT2": 1.02 * pixel}, " pixels apart: CDELT2 is"),
            ({"CRVAL1": 330.0}, ": CRVAL1 is 330 (in the image: 150)"),
            ({"CTYPE1": "GLON-TAN", "CTYPE2": "GLAT-TAN"}, ": CTYPE1 is GLON-TAN"),
            ({"RADESYS": "FK4", "EQUINOX": 1950.0}, ": RADESYS is FK4"),
        ):
            for option in ("--mask", "--rms-map", "--background-map"):
                with self.subTest(option, **cards):
                    found = notes(t.sky_header(**same, **cards), option)
                    self.assertEqual(len(found), text is not None)
                    for note in found:
                        self.assertRegex(
                            note,
                            "^: its sky coordinates differ from those of the image.*: is it of another image\\?$",
                        )
                        self.assertIn(text, note)
        self.assertEqual(notes(t.sky_header(**same, CRVAL2=2.2, SRCFGRID="IMAGE")), [])
        for option, name in (
            ("--rms-map", "image.rms.fits"),
            ("--background-map", "image_bkg.fits"),
            ("--mask", "image.fits"),
        ):
            self.assertEqual(
                len(notes(t.sky_header(**same, CRVAL2=2.2), option, "maps/" + name, "maps")), 1
            )
        path = self.write("map.fits", self.rms, t.sky_header(**same, CRVAL2=2.2))
        self.assertEqual(t.run(image, "-q", "--mask", path).stderr, "")
        self.assertIn(
            "srcfind: %s: --mask %s: its sky coordinates differ" % (image, path),
            t.run(image, "--mask", path).stderr,
        )
        self.assertTrue(any("--mask" in note for note in t.find(image, "--mask", path)["notes"]))

    def test_maps_of_the_whole_sky(self):
        """No note of an image's own coordinates, though places on the seam have several pixels; one
        where the map is elsewhere."""

        def header(code, shift=0.0, **cards):
            reference = {"CEA": 30.0}.get(code, 46.0)
            of_cube = code in ("TSC", "CSC", "QSC")
            return t.sky_header(
                **{
                    "CTYPE1": "GLON-" + code,
                    "CTYPE2": "GLAT-" + code,
                    "CRVAL1": 0.0,
                    "CRVAL2": 0.0,
                    "CDELT1": -2.0,
                    "CDELT2": 2.0,
                    "CRPIX1": (136.0 if of_cube else 91.0) + shift,
                    "CRPIX2": reference,
                    "BMAJ": 8.0,
                    "BMIN": 8.0,
                    **cards,
                }
            )

        def notes(pixels, cards):
            image, path = self.write("sky.fits", pixels, header(code)), self.write(
                "ones.fits", np.ones_like(pixels), cards
            )
            return [
                line
                for line in t.run(image, "--mask", path).stderr.splitlines()
                if "sky coordinates differ" in line
            ]

        for code, width in [
            (code, 181) for code in "CAR HPX SFL CEA MER TSC CSC QSC PAR PCO ARC AIT ZEA".split()
        ] + [("CAR", 201)]:
            with self.subTest(code, width=width):
                pixels = np.random.default_rng(5).normal(size=(91, width)).astype(np.float32)
                pixels[40:45, 80:85] += 30
                self.assertEqual(notes(pixels, header(code)), [])
                if code not in ("PCO", "ARC"):  # whose edges are far from each other
                    self.assertEqual(notes(pixels, header(code, 0.7)), [])
                for shift in (1.3, -1.3, 40.0):
                    self.assertEqual(len(notes(pixels, header(code, shift))), 1)
                image = self.path("sky.fits")
                alone = t.run(image, check=True).stdout
                self.assertEqual(t.run(image, "--detect-on", image, check=True).stdout, alone)
                t.run(image, "--measure-in", image, "-o", self.path("c.csv"), check=True)
                near = self.write("other.fits", pixels, header(code, -0.005))
                if code not in ("PCO", "ARC"):
                    self.assertEqual(t.run(image, "--detect-on", near, check=True).stdout, alone)
                for shift in (0.02, -0.02, 40.0):
                    other = self.write("other.fits", pixels, header(code, shift))
                    for option in ("--detect-on", "--measure-in"):
                        self.assertIn("sky coordinates differ", t.run(image, option, other).stderr)
        self.assertEqual(notes(pixels, header("CAR", CRVAL1=360.0)), [])

    def test_image_is_no_map(self):
        """Not as its own map, by whichever name, nor in a directory; another HDU of its file may be
        one."""
        image = self.path_of["image"]
        os.symlink(image, self.path("link.fits"))
        os.link(image, self.path("hard.fits"))
        for option in ("--rms-map", "--background-map", "--mask"):
            for path in (
                image,
                self.path("link.fits"),
                self.path("hard.fits"),
                self.directory.name,
            ):
                result = t.run(image, option, path)
                self.assertEqual([result.returncode, result.stdout], [1, ""])
                self.assertIn(
                    "this is the image itself: %s needs another file, as image." % option,
                    result.stderr,
                )
        both = self.path("both.fits")
        fits.HDUList(
            [fits.PrimaryHDU(self.rms), fits.ImageHDU(self.image, t.sky_header())]
        ).writeto(both)
        self.assertEqual(
            self.sources("--hdu", "1", "--rms-map", both, image=both), self.sources(*self.given[:2])
        )

    def test_saved_maps(self):
        """A directory with saved maps gives them back, and a map of another kind is no rms."""
        image, out = self.path_of["image"], self.path("out")
        for name in ("rms", "background"):  # what is named by the kind comes first
            os.rename(self.path_of[name], self.path("image.%s.fits" % name))
        self.write("image.mask.fits", (wave(self.image.shape, 0, 1) > 0.4).astype(np.uint8))
        files = [
            word
            for name, option in (
                ("rms", "rms-map"),
                ("background", "background-map"),
                ("mask", "mask"),
            )
            for word in ("--" + option, self.path("image.%s.fits" % name))
        ]
        directories = [word if word.startswith("--") else self.directory.name for word in files]
        self.assertGreater(len(self.sources(*files)), 5)
        self.assertEqual(self.sources(*directories), self.sources(*files))
        t.run(
            image, "-q", *files, "--save", "rms,background,snr,islands", "-o", out + "/", check=True
        )
        self.assertEqual(
            self.sources("--rms-map", out, "--background-map", out), self.sources(*files)
        )
        for option in ("rms", "background"):
            for name in {"rms", "background", "snr", "islands"} - {option}:
                result = t.run(
                    image, "--%s-map" % option, os.path.join(out, "image.%s.fits" % name)
                )
                self.assertEqual([result.returncode, result.stdout], [1, ""])
                self.assertIn(
                    "this is a map of %s: --%s-map needs one of %s\n" % (name, option, option),
                    result.stderr,
                )

    def test_masks_that_leave_little(self):
        """As those of CLEAN do: a note says that they mean the opposite."""
        image = self.path_of["image"]
        shape = fits.getdata(image).shape
        for rows, is_noted in ((shape[0] // 20, True), (shape[0] // 2, False)):
            pixels = np.zeros(shape, np.float32)
            pixels[:rows] = 1
            result = t.run(image, "--mask", self.write("clean.fits", pixels), check=True)
            self.assertEqual(
                "a mask of --mask is 0 where the image is bad, but a CLEAN mask is 0 where there is no source"
                in result.stderr,
                is_noted,
            )

    def test_own_maps_are_no_masks(self):
        """They are 0 where there is no source: no mask of --mask, which has to be 0 where the image
        is bad."""
        image, out = self.path_of["image"], self.path("out")
        t.run(image, "-q", "--save", "mask,islands", "-o", out + "/", check=True)
        for name in ("mask", "islands"):
            self.assert_error(
                1,
                "srcfind made this map (%s), and its masks are 0 where there is no source" % name,
                image,
                "--mask",
                os.path.join(out, "image.%s.fits" % name),
            )
        self.assert_error(1, "srcfind made this map (mask)", image, "--mask", out)

    def test_wrong_usage(self):
        for options, name in (
            ([*self.given, "--rms", "1"], "rms-map"),
            ([*self.given, "--background", "zero"], "background-map"),
            ([*self.given, "--background", "1"], "background-map"),
            (["--mask", ""], "mask"),
        ):
            result = t.run(self.path_of["image"], *options)
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn("srcfind: --" + name, result.stderr)
            if "map" in name:
                self.assertIn(": --%s gives" % name[:-4], result.stderr)

    def test_no_output_replaces_a_map(self):
        before = open(self.path_of["rms"], "rb").read()
        os.symlink(self.path_of["rms"], self.path("c.rms.fits"))
        for options in (
            ["-f", "csv", "-o", self.path_of["rms"]],
            ["--save", "rms", "-o", self.path("c.csv")],
        ):
            result = t.run(self.path_of["image"], *self.given, *options)
            self.assertEqual(result.returncode, 2)
            self.assertIn("would replace a mask or map that is read", result.stderr)
        self.assertEqual(open(self.path_of["rms"], "rb").read(), before)

    def test_what_is_said_of_maps(self):
        result = t.run(self.path_of["image"], *self.given, "--local")
        self.assertIn("rms from the map", result.stderr)
        self.assertNotIn("too small", result.stderr)
        self.assertEqual(t.run(self.path_of["image"], *self.given, "-q").stderr, "")
        detection = t.find(self.path_of["image"], *self.given)["detection"]
        self.assertEqual([detection["background"], detection["rms"]], ["map", "map"])

    def test_nothing_to_measure(self):
        """Where rms and background are given, by values or maps, there are no boxes, and no word of
        an image too small for them."""
        small = self.write("small.fits", self.image[:60, :70])
        maps = {
            name: self.write(name + "-small.fits", fits.getdata(path)[:60, :70])
            for name, path in self.path_of.items()
            if name in ("rms", "background")
        }
        for given in (
            ["--rms", "1", "--background", "0"],
            ["--rms", "1", "--background-map", maps["background"]],
            ["--rms-map", maps["rms"], "--background", "0.5"],
        ):
            result = t.run(small, "--local", *given, "-o", self.path("c.csv"))
            self.assertEqual(
                [result.returncode, result.stderr.count("\n"), "boxes" in result.stderr],
                [0, 1, False],
                result.stderr,
            )
            self.assertNotIn("local", t.find(small, "--rms-box", "20", *given)["background"])

    def test_name_that_is_not_utf_8(self):
        mask = os.fsencode(self.path("mask-")) + b"\xff.fits"
        os.rename(self.write("mask.fits", np.ones_like(self.image)), mask)
        options = t.find(self.path_of["image"], "--mask", os.fsdecode(mask))["options"]
        self.assertEqual(options["mask"], self.path("mask-") + "?.fits")

    def test_compared_with_a_gpu(self):
        result = t.run(self.path_of["image"], *self.given, "--compare-cpu")
        self.assertEqual(result.returncode, 2)
        self.assertIn("leave --rms-map, --background-map and those of", result.stderr)

    def test_bench(self):
        report = t.run(self.path_of["image"], *self.given, "--bench=1", "--cpu", check=True).stdout
        self.assertIn("islands", report)

    def test_flat_image(self):
        """With an rms from elsewhere sources are found, too, where the clip leaves none."""
        image = np.full(self.image.shape, 3, np.float32)
        image[100:103, 200] = 40
        path = self.write("flat.fits", image)
        self.assertEqual(len(self.sources(*self.given[:2], image=path)), 1)
        self.assertEqual(self.sources(*self.given[2:], image=path), [])

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device(self):
        """Maps of the noise are used on the CPU; a mask is not: it makes pixels blank before
        anybody sees them."""
        environment = {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
        for given in (self.given[:2], self.given[2:]):
            result = t.run(self.path_of["image"], *given, "--gpu", env=environment)
            self.assertEqual([result.returncode, result.stdout], [3, ""])
            self.assertIn(
                "maps of the noise: on the CPU only: leave --gpu and --device out", result.stderr
            )
            self.assertIn(
                "on the CPU (maps of the noise",
                t.run(self.path_of["image"], *given, env=environment, check=True).stderr,
            )


if __name__ == "__main__":
    t.main()

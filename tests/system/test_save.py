"""Maps that are saved (--save): the values, headers and names, and what happens where they cannot
be written."""
import filecmp
import gzip
import os
import shutil

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy import ndimage

import oracle
import srcfind_test as t

MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
NAMES = ("rms", "background", "snr", "islands")
ALL = ",".join(NAMES)


def noise_of(image, header, box=None):
    """Background and rms of every pixel: of the whole image, or between the nodes of SIZE,STEP."""
    if not box:
        clip = oracle.clip(image)
        return [np.full(image.shape, clip[name]) for name in ("median", "rms")]
    nodes = oracle.noise_nodes(image, *box, beam=oracle.beam_squared(header))
    return [oracle.interpolate(nodes[:, :, i], image.shape, box[1]) for i in (0, 1)]


def labels(image, background, rms, island=5, connectivity=4):
    """The number of the island of each pixel, or 0."""
    above = np.where(np.isfinite(image), image.astype(np.float64), np.nan) - background
    found, n = ndimage.label(above > island * rms, np.ones((3, 3)) if connectivity == 8 else None)
    core = np.bincount(found.ravel(), (above > 5 * rms).ravel(), n + 1) > 0
    core[0] = False
    number = np.where(core, np.cumsum(core), 0)
    return number[found]


class Save(t.Case):
    def save(self, image, *options, names=ALL):
        """The maps of an image, by their names."""
        catalogue = self.path("saved.csv")
        t.run(image, "-q", "-o", catalogue, "--save", names, *options, check=True)
        maps = {}
        for name in names.split(","):
            with fits.open(self.path("saved.%s.fits" % name), memmap=False) as hdus:
                hdus.verify("exception")
                maps[name] = hdus[0].data.copy(), hdus[0].header.copy()
        return maps

    def check_values(self, path, box=None, island=5, connectivity=4):
        image, header = oracle.read(path)
        options = ["--island", island, "--connectivity", connectivity] + (
            ["--rms-box", "%d,%d" % box] if box else []
        )
        maps = self.save(path, *options)
        background, rms = noise_of(image, header, box)
        blank = ~np.isfinite(image)
        expected = {
            "background": background,
            "rms": rms,
            "snr": (image.astype(np.float64) - background) / rms,
        }
        for name, values in expected.items():
            saved = maps[name][0]
            self.assertEqual(saved.dtype, np.dtype(">f4"))
            self.assertTrue(np.array_equal(np.isnan(saved), blank))
            # the nearest float32, where the oracle's own error in float64 does not lead to another
            # one
            error = np.abs(saved.astype(np.float64) - values)[~blank]
            most = 2.0**-24 * np.abs(values) + 1e-11 * (1 if name == "snr" else rms)
            self.assertTrue((error <= most[~blank]).all())
            self.assertGreater(np.mean(saved[~blank] == values.astype(np.float32)[~blank]), 0.999)
        self.assertEqual(maps["islands"][0].dtype, np.dtype(">i4"))
        self.assertTrue(
            np.array_equal(maps["islands"][0], labels(image, background, rms, island, connectivity))
        )
        rows = t.read_csv(self.path("saved.csv"))
        self.assertEqual(maps["islands"][0].max(), len(rows))
        for row in rows:
            self.assertEqual(
                maps["islands"][0][int(row["Ypeak"]), int(row["Xpeak"])], row["Isl_id"]
            )
            self.assertEqual(
                maps["rms"][0][int(row["Ypeak"]), int(row["Xpeak"])], np.float32(row["Isl_rms"])
            )
        return len(rows)

    def test_values(self):
        with_blanks = t.noise(211, 307, seed=2)
        with_blanks[:9, :] = np.nan
        with_blanks[100:110, 200:220] = np.inf
        n = 0
        for image in (with_blanks, t.noise(70, 1000, seed=3), t.noise(400, 41, seed=4)):
            path = self.write("image.fits", image, t.sky_header())
            for box in (None, (24, 8)):
                for island, connectivity in ((5, 4), (3, 8)):
                    with self.subTest(shape=image.shape, box=box, island=island):
                        n += self.check_values(path, box, island, connectivity)
        self.assertGreater(n, 40)

    def test_real_maps(self):
        for name in ("lofar", "magpis", "parkes"):
            for box in (None, (51, 10)):
                with self.subTest(name, box=box):
                    self.check_values(os.path.join(MAPS, name + ".fits"), box)

    @t.unittest.skipUnless(t.SHARED, "needs SRCFIND_TEST_DATA")
    def test_reference(self):
        """The maps of a program that stands beside: every pixel is the nearest float32, or that of
        a double next to it."""
        path = os.path.join(MAPS, "lofar.fits")
        maps = self.save(path, "--rms-box", "48,16", names="rms,background")
        tool = os.path.join(t.SHARED, "tools", "local_reference.py")
        t.subprocess.run(
            [t.sys.executable, tool, path, "48,16", "--leave-out", "--maps", self.path("ref")],
            check=True,
            capture_output=True,
        )
        for name, (saved, _) in maps.items():
            expected = np.load(self.path("ref.%s.npy" % name))
            self.assertGreater(np.mean(saved == expected.astype(np.float32)), 0.999)
            self.assertTrue(np.allclose(saved, expected, rtol=2.0**-23, atol=0))

    def expected_mask(self, path, islands, radius=0, fill=False):
        """The pixels of islands, by SciPy."""
        mask = islands > 0
        if radius and mask.any():
            nearest = ndimage.distance_transform_edt(
                ~mask, return_distances=False, return_indices=True
            )
            mask = ((nearest - np.indices(mask.shape)) ** 2).sum(0) <= radius * radius
        if fill:
            mask = ndimage.binary_fill_holes(mask)
        return (mask & np.isfinite(fits.getdata(path))).astype(np.float32)

    def test_mask(self):
        """1 in islands, after discs and holes; 0 in blank pixels at the end, also in those that a
        disc or a hole has."""
        ring = np.hypot(*(np.indices((150, 170)) - np.array([70, 80])[:, None, None]))
        with_ring = t.noise(150, 170, seed=7, sigma=0.1) + np.where(
            abs(ring - 30) < 3, 5, 0
        ).astype(np.float32)
        with_ring[68:72, 78:82] = with_ring[:8] = with_ring[140, 3:9] = np.nan
        ring_at_edge = t.noise(150, 170, seed=8, sigma=0.1) + np.where(
            abs(np.hypot(*(np.indices((150, 170)) - np.array([10, 80])[:, None, None])) - 30) < 3,
            5,
            0,
        )
        filled = 0
        for image in (with_ring, ring_at_edge.astype(np.float32), t.noise(60, 200, seed=9)):
            path = self.write("image.fits", image, t.sky_header())
            for options in ([], ["--connectivity", "8"], ["--min-pixels", "9", "--local"]):
                for radius, fill in (
                    (0, False),
                    (1, False),
                    (4, True),
                    (0, True),
                    (200, False),
                    (6, True),
                ):
                    with self.subTest(shape=image.shape, options=options, radius=radius, fill=fill):
                        maps = self.save(
                            path,
                            "-i",
                            "3",
                            *options,
                            "--mask-dilate",
                            radius,
                            *["--mask-fill"] * fill,
                            names="mask,islands",
                        )
                        mask, header = maps["mask"]
                        expected = self.expected_mask(path, maps["islands"][0], radius, fill)
                        self.assertEqual(mask.dtype, np.dtype(">f4"))
                        self.assertTrue(np.array_equal(mask, expected))
                        self.assertEqual(
                            "srcfind option mask-fill: yes" in str(header["HISTORY"]), fill
                        )
                        filled += (
                            fill
                            and (
                                expected > self.expected_mask(path, maps["islands"][0], radius)
                            ).sum()
                        )
        self.assertGreater(filled, 1000)
        for turns in range(4):  # what an edge opens is no hole
            path = self.write(
                "image.fits", np.rot90(ring_at_edge, turns).astype(np.float32), t.sky_header()
            )
            maps = self.save(path, "-i", "3", "--mask-fill", names="mask,islands")
            self.assertTrue(
                np.array_equal(
                    maps["mask"][0], self.expected_mask(path, maps["islands"][0], 0, True)
                )
            )

    def test_mask_of_positive_sources(self):
        """Of all scales; negative sources are not in it."""
        y, x = np.indices((300, 300))
        image = (
            t.noise(300, 300, n_sources=0)
            + 3 * np.exp(-((x - 150) ** 2 + (y - 150) ** 2) / 800)
            - 30 * np.exp(-((x - 60) ** 2 + (y - 60) ** 2) / 8)
        )
        path = self.write("image.fits", image.astype(np.float32), t.sky_header())
        maps = self.save(path, "--negative", "--scales=4", names="mask,islands")
        rows = t.read_csv(self.path("saved.csv"))
        positive = [row["Isl_id"] for row in rows if row["Peak_flux"] > 0]
        self.assertTrue(
            positive
            and max(row["Scale"] for row in rows) == 4
            and any(row["Peak_flux"] < 0 for row in rows)
        )
        self.assertTrue(
            np.array_equal(
                maps["mask"][0], np.isin(maps["islands"][0], positive).astype(np.float32)
            )
        )
        self.assertEqual([maps["mask"][0][150, 150], maps["mask"][0][60, 60]], [1, 0])

    def test_mask_without_sources(self):
        self.assertFalse(
            self.save(
                self.write("flat.fits", np.full((30, 40), 3, np.float32)),
                "--mask-dilate",
                9,
                "--mask-fill",
                names="mask",
            )["mask"][0].any()
        )

    def test_given_noise(self):
        image = t.noise(80, 90)
        maps = self.save(self.write("image.fits", image), "--rms", "0.7", "--background", "0.25")
        self.assertTrue((maps["rms"][0] == np.float32(0.7)).all())
        self.assertTrue((maps["background"][0] == 0.25).all())
        self.assertTrue(
            np.array_equal(
                maps["snr"][0], ((image.astype(np.float64) - 0.25) / 0.7).astype(np.float32)
            )
        )

    def test_flat_image(self):
        """Without noise there is no SNR, and no island."""
        maps = self.save(self.write("flat.fits", np.full((30, 40), 3, np.float32)))
        self.assertTrue((maps["rms"][0] == 0).all())
        self.assertTrue(np.isnan(maps["snr"][0]).all())
        self.assertTrue((maps["islands"][0] == 0).all())

    def saved_bytes(self, image, *options, **environment):
        t.run(
            image,
            "-q",
            "-o",
            self.path("saved.csv"),
            "--save",
            ALL,
            *options,
            check=True,
            env={**os.environ, **environment},
        )
        result = []
        for name in NAMES:
            with open(self.path("saved.%s.fits" % name), "rb") as stream:
                result.append(stream.read())
        return result

    def test_same_bytes(self):
        """On any number of threads, with any variant of the scan, and from tiles and gzip."""
        image = t.noise(500, 610, seed=2)
        image[:60, :] = np.nan
        plain, packed, tiles = (
            self.path("image.fits"),
            self.path("image.fits.gz"),
            self.path("tiled.fits"),
        )
        for path in (plain, packed):
            fits.PrimaryHDU(image, t.sky_header()).writeto(path)
        hdu = t.tiled(image, "GZIP_1", (100, 70), t.sky_header(), quantize_level=0)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(tiles)
        for options in ([], ["--rms-box", "40,13", "-i", "3"]):
            expected = self.saved_bytes(plain, "--threads", 1, *options)
            for path in (plain, packed, tiles):
                for threads in (1, 2, 7):
                    with self.subTest(path, threads=threads):
                        self.assertEqual(
                            self.saved_bytes(path, "--threads", threads, *options), expected
                        )
            for variant in ("AVX2", "SSE2", "plain"):
                with self.subTest(variant):
                    self.assertEqual(
                        self.saved_bytes(plain, *options, SRCFIND_SIMD=variant), expected
                    )

    def test_plane(self):
        cube = np.stack([t.noise(60, 70, seed=s) for s in range(6)]).reshape(2, 3, 60, 70)
        cards = dict(
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CDELT3=1e6,
            CRPIX3=1.0,
            CTYPE4="STOKES",
            CRVAL4=1.0,
            CDELT4=1.0,
            CRPIX4=1.0,
        )
        path = self.path("cube.fits")
        fits.HDUList(
            [fits.PrimaryHDU(), fits.ImageHDU(cube, t.sky_header(**cards), name="S" * 60)]
        ).writeto(path)
        plane = self.write("plane.fits", cube[1, 2], t.sky_header())
        one, other = self.save(path, "--hdu", "S" * 60, "--plane", "3,2"), self.save(plane)
        for name in NAMES:
            self.assertTrue(np.array_equal(one[name][0][0, 0], other[name][0]))
            self.assertEqual(one[name][1]["FREQ"], 1.002e9)
            self.assertEqual(
                [one[name][1][key] for key in ("NAXIS", "NAXIS1", "NAXIS2", "NAXIS3", "NAXIS4")],
                [4, 70, 60, 1, 1],
            )
            self.assert_plane_wcs(path, 1, one[name][1], (2, 1))
            # in two cards
            self.assertIn("srcfind option hdu: " + "S" * 60, "".join(one[name][1]["HISTORY"]))

    def test_header(self):
        path = self.write(
            "image.fits",
            t.noise(100, 120),
            t.sky_header(**{"DATE-OBS": "25/11/86"}, FREQ=1.4e9, TELESCOP="WSRT", OBJECT="M 31"),
        )
        for name, (_, header) in self.save(
            path, "--blank=-1", "--beam", "12,9,-5", "-j", "2"
        ).items():
            self.assertEqual(
                header.get("BUNIT"), "Jy/beam" if name in ("rms", "background") else None
            )
            self.assertEqual(
                [header[key] for key in ("BMAJ", "BMIN", "BPA", "FREQ")],
                [12 / 3600, 9 / 3600, -5, 1.4e9],
            )
            self.assertEqual(
                [header[key] for key in ("DATE-OBS", "TELESCOP", "OBJECT")],
                ["25/11/86", "WSRT", "M 31"],
            )
            history = str(header["HISTORY"])
            self.assertRegex(history, r"\Asrcfind [0-9.]+ map: %s\n" % name)
            for option in (
                "kappa: 3",
                "threshold: 5",
                "background: median",
                "blank: -1",
                "beam: 12,9,-5",
            ):
                self.assertIn("srcfind option " + option + "\n", history + "\n")
            for word in ("thread", "device", self.directory.name, "image"):
                self.assertNotIn(word, history)
        odd = self.write("odd.fits", t.noise(50, 60), t.sky_header(BUNIT="it's"))
        self.assertEqual(self.save(odd, names="rms")["rms"][1]["BUNIT"], "it's")

    def assert_wcs(self, path, header):
        with fits.open(path) as hdus:
            whole = WCS(next(h.header for h in hdus if h.header["NAXIS"] >= 2)).celestial
        saved = WCS(header).celestial
        x, y = np.meshgrid(
            np.linspace(0, header["NAXIS1"] - 1, 7), np.linspace(0, header["NAXIS2"] - 1, 5)
        )
        self.assertTrue(
            np.array_equal(
                saved.all_pix2world(x, y, 0), whole.all_pix2world(x, y, 0), equal_nan=True
            )
        )
        self.assertEqual(
            [saved.wcs.radesys, saved.wcs.lngtyp], [whole.wcs.radesys, whole.wcs.lngtyp]
        )

    def assert_plane_wcs(self, path, hdu, header, plane):
        """The map is the plane of these indices, from 0, in all coordinates."""
        with fits.open(path) as hdus:
            whole = WCS(hdus[hdu].header)
        saved = WCS(header)
        self.assertEqual(list(saved.wcs.ctype), list(whole.wcs.ctype))
        for x, y in ((0, 0), (40, 7), (69, 59)):
            self.assertEqual(
                [float(v) for v in saved.all_pix2world(x, y, *(0 for _ in plane), 0)],
                [float(v) for v in whole.all_pix2world(x, y, *plane, 0)],
            )

    def test_coordinates_of_planes(self):
        """Also where an axis has no reference pixel, depends on others, or is a velocity."""
        cube = np.stack([t.noise(60, 70, seed=s) for s in range(6)]).reshape(2, 3, 60, 70)
        stokes = dict(CTYPE4="STOKES", CRVAL4=1.0, CDELT4=1.0, CRPIX4=1.0)
        for cards in (
            dict(CTYPE3="FREQ", CRVAL3=1e9, CDELT3=1e6),
            dict(
                CTYPE3="VRAD",
                CRVAL3=1e4,
                CDELT3=-10.0,
                CRPIX3=-7.5,
                RESTFRQ=1.42e9,
                SPECSYS="BARYCENT",
            ),
            dict(
                CTYPE3="FREQ",
                CRVAL3=1e9,
                CDELT3=1e6,
                CRPIX3=2.0,
                PC1_3=0.5,
                PC3_4=0.25,
                PC3_1=0.125,
            ),
            {
                "CTYPE3": "FREQ",
                "CD3_3": 2e6,
                "CRPIX3": 1.0,
                "CD4_4": 1.0,
                "CDELT1": None,
                "CDELT2": None,
                "CD1_1": -5e-4,
                "CD2_2": 5e-4,
            },
        ):
            path = self.write("cube.fits", cube, t.sky_header(**cards, **stokes))
            for plane in ((0, 0), (2, 0), (1, 1)):
                with self.subTest(cards=cards, plane=plane):
                    header = self.save(
                        path, "--plane", "%d,%d" % tuple(np.add(plane, 1)), names="rms"
                    )["rms"][1]
                    self.assert_plane_wcs(path, 0, header, plane)
                    self.assertEqual(header.get("SPECSYS"), cards.get("SPECSYS"))
                    pixels = [
                        card.image.split("=")[1].split()[0]
                        for card in header.cards
                        if card.keyword in ("CRPIX3", "CRPIX4")
                    ]
                    # casacore complains of integers
                    self.assertEqual([pixel for pixel in pixels if "." not in pixel], [])

    def test_coordinates(self):
        """astropy finds the same positions in the map as in the image."""
        for name in ("lofar", "magpis", "parkes"):
            path = os.path.join(MAPS, name + ".fits")
            self.assert_wcs(path, self.save(path, names="rms")["rms"][1])
        image, no = t.noise(60, 70), {"CDELT1": None, "CDELT2": None}
        sip = {
            "CTYPE1": "RA---TAN-SIP",
            "CTYPE2": "DEC--TAN-SIP",
            "A_ORDER": 2,
            "A_2_0": 1e-6,
            "B_ORDER": 2,
            "B_0_2": -2e-6,
        }
        for cards in (
            {},
            {"CROTA2": 30.0},
            {"PC1_2": 0.1, "PC2_1": -0.1},
            sip,
            {"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR"},
            {**no, "CD1_1": -5e-4, "CD1_2": 1e-5, "CD2_1": 2e-5, "CD2_2": 5e-4},
            {"LONPOLE": 170.0},
            {"PC01_01": 0.9, "PC01_02": 0.3, "PC02_01": -0.3, "PC02_02": 0.9},
            {**no, "CD01_01": -5e-4, "CD02_02": 5e-4, "CD01_02": 1e-5},
            {"CTYPE1": "RA---ZPN", "CTYPE2": "DEC--ZPN", "PV02_1": 1.0, "PV02_03": 40.0},
            {"CTYPE1": "RA---ZPN", "CTYPE2": "DEC--ZPN", "PV2_1": 1.0, "PV2_3": 40.0},
            {"CTYPE1": "DEC--SIN", "CTYPE2": "RA---SIN", "CRVAL1": 2.0, "CRVAL2": 150.0},
            {"RADESYS": None, "EQUINOX": 1950.0},
        ):
            path = self.write("image.fits", image, t.sky_header(**cards))
            with self.subTest(**{key: str(value) for key, value in cards.items()}):
                self.assert_wcs(path, self.save(path, names="rms")["rms"][1])

    def test_coordinates_of_plates(self):
        """Images of the Digitized Sky Survey have cards of their own."""
        plate = {
            "PLTRAH": 2,
            "PLTRAM": 32,
            "PLTRAS": 4.26,
            "PLTDECSN": "+",
            "PLTDECD": 18,
            "PLTDECM": 38,
            "PLTDECS": 40.8,
            "CNPIX1": 1376,
            "CNPIX2": 6313,
            "XPIXELSZ": 25.284,
            "YPIXELSZ": 25.284,
            "PPO1": 0.0,
            "PPO2": 0.0,
            "PPO3": 177474.7,
            "PPO4": 0.0,
            "PPO5": 0.0,
            "PPO6": 177474.7,
            "CTYPE1": "RA---TAN",
            "CTYPE2": "DEC--TAN",
        }
        for axis, values in (
            ("X", (67.2378, 0.511, 48.719, 2.5e-5, 6e-6, -7e-7)),
            ("Y", (67.2553, -0.505, -19.23, -2.2e-5, 1.7e-5, -9e-6)),
        ):
            plate.update(
                {"AMD%s%d" % (axis, i + 1): values[i] if i < 6 else 0.0 for i in range(20)}
            )
        path = self.write("plate.fits", t.noise(60, 70), t.sky_header(**plate))
        with fits.open(path) as hdus:
            # not 150, as CRVAL1
            self.assertLess(float(WCS(hdus[0].header).all_pix2world(3, 4, 0)[0]), 60)
        self.assert_wcs(path, self.save(path, names="rms")["rms"][1])

    def test_coordinates_that_are_none(self):
        """Half of a position, or one that srcfind could not read, is not handed on; other axes
        are."""
        image = t.noise(60, 70)
        for cards in ({"CTYPE2": "FREQ"}, {"CRVAL1": "somewhere"}):
            header = self.save(self.write("image.fits", image, t.sky_header(**cards)), names="rms")[
                "rms"
            ][1]
            self.assertNotIn("CTYPE1", header)
        # of an axis that the image does not have
        for matrix, is_kept in (({"PC1_3": 0.1}, False), ({"PC1_3": 0.0, "PC3_1": 0.1}, True)):
            header = self.save(
                self.write("image.fits", image, t.sky_header(WCSAXES=3, **matrix)), names="rms"
            )["rms"][1]
            self.assertEqual("CTYPE1" in header, is_kept)
        header = self.save(
            self.write("image.fits", image, t.sky_header(CTYPE1="OFFSET", CTYPE2="FREQ")),
            names="rms",
        )["rms"][1]
        self.assertEqual(
            [header["CTYPE1"], header["CTYPE2"], header["CRVAL1"]], ["OFFSET", "FREQ", 150]
        )

    def test_names(self):
        path = self.write("field.v2.fits", t.noise(60, 70), t.sky_header())
        shutil.copy(path, self.path("b.fits.gz"))
        out = self.path("out")
        for arguments, names in (
            ([path, "-o", out + "/"], ["field.v2.csv", "field.v2.rms.fits"]),
            ([path, "-o", out + "/c.json"], ["c.json", "c.rms.fits"]),
            ([path, "-o", out + "/c"], ["c", "c.rms.fits"]),
            ([path, "-f", "csv", "-o", out + "/c.txt"], ["c.txt", "c.rms.fits"]),
            ([path], ["field.v2.rms.fits"]),
            ([path, "-o", "/dev/null"], ["field.v2.rms.fits"]),
            (
                [path, self.path("b.fits.gz"), "-o", out],
                ["b.csv", "b.rms.fits", "field.v2.csv", "field.v2.rms.fits"],
            ),
        ):
            shutil.rmtree(out, ignore_errors=True)
            os.mkdir(out)
            with self.subTest(arguments[1:]):
                t.run(*arguments, "--save", "rms", "-q", check=True, cwd=out)
                self.assertEqual(sorted(os.listdir(out)), sorted(names))

    def test_catalogue_is_as_ever(self):
        path = self.write("image.fits", t.noise(100, 120), t.sky_header())
        self.assertEqual(
            t.run(path, "--save", ALL, "-q", cwd=self.directory.name).stdout,
            t.run(path, "-q").stdout,
        )

    def test_wrong_usage(self):
        path = self.write("image.fits", t.noise(60, 70))
        for name in ("models", "rms,", ",rms", "", "RMS", "rms,image", "rms;snr"):
            result = t.run(path, "--save", name)
            self.assertEqual([result.returncode, result.stdout], [2, ""], name)
            self.assertIn(
                "rms, background, snr, islands, sources, model, residual, injected, mask, picture",
                result.stderr,
            )
        for option in ("--bench", "--compare-cpu"):
            result = t.run(path, option, "--save", "rms")
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn("--save", result.stderr)

    def test_again(self):
        """The maps of a run are skipped by the next one, and replaced; where they are really
        searched, or read, they are not."""
        os.mkdir(self.path("d"))
        for directory in ("", "d/"):
            self.write(directory + "a.fits", t.noise(60, 70), t.sky_header())
        self.write("b.fits", t.noise(60, 70, seed=2), t.sky_header())

        def search(*options):
            images = sorted(
                name for name in os.listdir(self.directory.name) if name.endswith(".fits")
            )
            return t.run(*images, "--save", "rms,snr", "-o", ".", *options, cwd=self.directory.name)

        def saved():
            return {
                name: os.stat(self.path(name)).st_mtime
                for name in os.listdir(self.directory.name)
                if ".rms." in name
            }

        self.assertEqual(search().returncode, 0)
        for name in saved():
            os.utime(self.path(name), (1, 1))
        again = search()
        self.assertEqual([again.returncode, sorted(saved())], [0, ["a.rms.fits", "b.rms.fits"]])
        self.assertIn("4 maps that srcfind made are skipped (a.rms.fits, ...)", again.stderr)
        self.assertGreater(min(saved().values()), 1)
        self.assertIn("would replace a mask or map that is read", search("--rms-map", ".").stderr)
        shutil.copy(self.path("a.rms.fits"), self.path("d"))
        several = t.run(
            self.path("d/a.rms.fits"),
            self.path("a.rms.fits"),
            self.path("b.fits"),
            "-o",
            self.path("out"),
        )
        self.assertEqual(several.returncode, 0, several.stderr)
        os.remove(self.path("d/a.fits"))
        alone = t.run("a.rms.fits", "--save", "rms", "-o", "a.csv", cwd=self.directory.name)
        self.assertEqual(alone.returncode, 2)
        self.assertRegex(
            alone.stderr, "would replace an image: name another file or directory with -o\n"
        )

    def test_nothing_is_replaced(self):
        """Neither an image nor a list, and no other output, whatever names they have."""
        image = t.noise(60, 70)
        path, victim = self.write("c.fits", image), self.write("c.rms.fits", image)
        before = open(victim, "rb").read()
        cases = [
            ([path, victim, "-o", self.directory.name], "an image"),
            ([victim, "-o", self.path("c.csv")], "an image"),
        ]
        os.symlink(path, self.path("link.rms.fits"))
        cases.append(([path, "-o", self.path("link.csv")], "an image"))
        with open(self.path("list.rms.fits"), "w") as stream:
            stream.write(path + "\n")
        os.mkdir(self.path("d"))
        os.symlink(self.path("list.rms.fits"), self.path("d/c.rms.fits"))
        cases.append(
            (
                ["--files-from", self.path("list.rms.fits"), "-o", self.path("d")],
                "the list of images",
            )
        )
        open(self.path("both.csv"), "w").close()
        os.symlink(self.path("both.csv"), self.path("both.rms.fits"))
        cases.append(([path, "-o", self.path("both.csv")], "catalogue"))
        for arguments, what in cases:
            result = t.run(*arguments, "--save", "rms")
            with self.subTest(what, arguments=arguments):
                self.assertEqual([result.returncode, result.stdout], [2, ""])
                self.assertIn("would replace", result.stderr)
                self.assertIn(what, result.stderr)
                self.assertIn("with -o", result.stderr)
                self.assertEqual(
                    "leave it out of the images" in result.stderr, arguments[1] == victim
                )
        self.assertEqual(open(victim, "rb").read(), before)

    def test_maps_replace_maps_only(self):
        """A map replaces a map, whole or damaged, but no other file, not even one that is no FITS
        file."""
        image = t.noise(60, 70)
        path, other, saved = (
            self.write("c.fits", image),
            self.write("d.fits", image),
            self.path("c.rms.fits"),
        )

        def save(*images, out=self.directory.name):
            return t.run(*images or [path], "--save", "rms", "-o", out + "/")

        with open(self.path("text"), "w") as stream:
            stream.write("notes\n" * 1000)
        for theirs in (other, self.path("text")):
            shutil.copy(theirs, saved)
            result = save()
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertRegex(
                result.stderr,
                r"\Asrcfind: .*c.rms.fits: the map of .* is no map of srcfind: .* -o, or remove it\n\Z",
            )
            self.assertFalse(os.path.exists(self.path("c.csv")))
            self.assertTrue(filecmp.cmp(theirs, saved, shallow=False))
        os.remove(saved)
        whole = None
        for size in (None, 2880, 0):
            if whole:
                os.truncate(saved, size)
            self.assertEqual(save().returncode, 0)
            whole = whole or os.path.getsize(saved)
            self.assertEqual(os.path.getsize(saved), whole)
        self.write("c.rms.rms.fits", image)  # would be the map of a map, which is skipped
        self.assertEqual(save(path, saved).returncode, 0)
        self.assertEqual(save(saved).returncode, 2)

    def test_skip_existing(self):
        """With --save, an image is left only where its maps are there, too, and whole."""
        path, out = self.write("image.fits", t.noise(60, 70), t.sky_header()), self.path("out")
        saved = os.path.join(out, "image.rms.fits")

        def skips(*options):
            return (
                "skipped"
                in t.run(path, "-o", out + "/", "--skip-existing", *options, check=True).stderr
            )

        self.assertFalse(skips())
        self.assertTrue(skips())
        self.assertFalse(skips("--save", "rms"))
        self.assertTrue(skips("--save", "rms"))
        self.assertFalse(skips("--save", "rms,snr"))
        whole = os.path.getsize(saved)
        # within the padding, too
        for size in (0, 2880, whole - 2880, 2880 + 4 * 60 * 70, whole - 1, whole + 1, whole + 2880):
            os.truncate(saved, size)
            self.assertFalse(skips("--save", "rms,snr"), size)
        self.assertTrue(skips("--save", "rms,snr"))

    @t.unittest.skipIf(t.SANITIZED, "what it runs is tested with sanitizers by itself")
    def test_skip_existing_maps_of_other_images(self):
        """A map whose header is that of another image, or another map, is not that of the image;
        one of other options is."""
        names = "rms,snr,islands,sources,residual"

        def image(name, height, width, **cards):
            return self.write(name + ".fits", t.noise(height, width), t.sky_header(**cards))

        def skips(name, *options):
            return (
                "skipped"
                in t.run(
                    self.path(name + ".fits"),
                    "-o",
                    self.path("out/"),
                    "--fit",
                    "--skip-existing",
                    "--save",
                    names,
                    *options,
                    check=True,
                ).stderr
            )

        def saved(name, of):
            return self.path("out/%s.%s.fits" % (name, of))

        image("a", 60, 70)
        image("b", 70, 60)
        image("c", 60, 71)
        for name, cards in (
            ("d", {"CRVAL1": 150.5}),
            ("e", {"CRPIX2": 61.0}),
            ("f", {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN"}),
            ("g", {"CTYPE1": None, "CTYPE2": None, "CRVAL1": None}),
            ("h", {"RADESYS": "FK5"}),
            ("i", {"PC1_1": 0.9}),
            ("j", {"BMAJ": 3e-3}),
            ("k", {"RESTFRQ": 1.4e9}),
        ):
            image(name, 60, 70, **cards)
        for name in "abcdefghijk":
            self.assertFalse(skips(name))
            self.assertTrue(skips(name), name)
        for other in "bcdefghijk":
            for of in names.split(","):
                for one, its in (("a", other), (other, "a")):
                    with self.subTest(one, other=its, map=of):
                        shutil.copy(saved(its, of), saved(one, of))
                        self.assertFalse(skips(one))
        for of, other in (
            ("rms", "snr"),
            ("snr", "residual"),
            ("islands", "sources"),
            ("sources", "rms"),
        ):
            shutil.copy(saved("a", other), saved("a", of))
            self.assertFalse(skips("a"), of)
        for options in (["-n", "7"], ["--local"], ["--mask", self.path("none.fits")]):
            self.assertTrue(skips("a", *options), options)
        # an image that cannot be read, or would have to be unpacked, is not compared with its maps
        with open(self.path("a.fits"), "rb") as stream, gzip.open(
            self.path("z.fits.gz"), "wb"
        ) as packed:
            packed.write(stream.read())
        run = [self.path("z.fits.gz"), "-o", self.path("out/"), "--skip-existing", "--save", "rms"]
        self.assertNotIn("skipped", t.run(*run, check=True).stderr)
        self.assertIn("skipped", t.run(*run, check=True).stderr)
        os.remove(self.path("a.fits"))
        self.assertTrue(skips("a"))

    def test_skip_existing_of_cubes_and_extensions(self):
        """The coordinates of the plane that is searched are those of its maps."""
        cube = np.stack([t.noise(60, 70, seed=seed) for seed in (1, 2)])
        header = t.sky_header(CTYPE3="FREQ", CRVAL3=1.4e9, CDELT3=1e6, CRPIX3=1.0)
        hdus = fits.HDUList(
            [
                fits.PrimaryHDU(cube, header),
                fits.ImageHDU(cube[0], t.sky_header(CRVAL2=3.0), name="SCI"),
                t.tiled(cube[1], "RICE_1", None, t.sky_header(CRVAL2=4.0)),
            ]
        )
        hdus.writeto(self.path("i.fits"))
        for options in ([], ["--plane", "2"], ["--hdu", "SCI"], ["--hdu", "2"]):
            run = [
                self.path("i.fits"),
                "-o",
                self.path("out%d/" % len(os.listdir(self.directory.name))),
                "--save",
                "rms,islands",
                "--skip-existing",
                *options,
            ]
            self.assertNotIn("skipped", t.run(*run, check=True).stderr)
            self.assertIn("skipped", t.run(*run, check=True).stderr)

    def test_maps_go_with_a_catalogue(self):
        """Where the catalogue or a later map cannot be written, the maps do not stay, and no
        temporary file does."""
        path, out = self.write("image.fits", t.noise(60, 70), t.sky_header()), self.path("out")
        for blocked in ("image.csv", "image.snr.fits"):
            os.makedirs(os.path.join(out, blocked))
            result = t.run(path, "-o", out + "/", "--save", "rms,snr")
            self.assertEqual([result.returncode, result.stdout], [1, ""])
            self.assertIn(
                "the %s cannot be written" % ("map" if "snr" in blocked else "catalogue"),
                result.stderr,
            )
            self.assertEqual(os.listdir(out), [blocked])
            os.rmdir(os.path.join(out, blocked))


if __name__ == "__main__":
    t.main()

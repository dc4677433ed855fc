"""What stands in a catalogue: columns, units, positions, fluxes, shapes, beams."""
import csv
import math
import os

import numpy as np
from astropy.io import fits
from astropy.time import Time
from astropy.wcs import WCS

import srcfind_test as t

COLUMNS = [
    "Source_id",
    "Isl_id",
    "Source_Name",
    "RA",
    "DEC",
    "E_RA",
    "E_DEC",
    "Xposn",
    "Yposn",
    "E_Xposn",
    "E_Yposn",
    "Isl_Total_flux",
    "E_Isl_Total_flux",
    "Total_flux",
    "E_Total_flux",
    "Peak_flux",
    "E_Peak_flux",
    "Xpeak",
    "Ypeak",
    "Pixel_sum",
    "N_pix",
    "X_min",
    "X_max",
    "Y_min",
    "Y_max",
    "Maj",
    "Min",
    "PA",
    "Isl_rms",
    "Isl_mean",
    "SNR",
    "Flags",
]
EDGE, SINGLE_PIXEL, NO_BEAM, NO_SHAPE, UNCERTAIN_TOTAL = 1, 2, 4, 8, 16


def gaussian(shape, x, y, peak, major, minor, angle, sign=-1):
    """A Gaussian of FWHM major, minor (pixels); angle in degrees from +y towards east, which is -x
    (sign -1)."""
    yy, xx = np.mgrid[0 : shape[0], 0 : shape[1]]
    a = np.radians(angle)
    along = sign * (xx - x) * np.sin(a) + (yy - y) * np.cos(a)
    across = (xx - x) * np.cos(a) - sign * (yy - y) * np.sin(a)
    return peak * np.exp(-4 * np.log(2) * ((along / major) ** 2 + (across / minor) ** 2))


def faint_noise(shape, sigma=1e-3, seed=1):
    return np.random.default_rng(seed).normal(0, sigma, shape)


def lines_of(path, *options):
    """The summary and the notes, but for that of sources at edges and of one pixel, of which small
    images of white noise have many."""
    return [
        line
        for line in t.run(path, *options).stderr.splitlines()
        if "sources touch the edge" not in line
    ]


class Catalogues(t.Case):
    def test_csv_and_json_hold_the_same(self):
        path = self.write("image.fits", t.noise(200, 220), t.sky_header())
        output = self.path("catalogue.csv")
        t.run(path, "-o", output, check=True)
        with open(output, newline="") as stream:
            rows = list(csv.reader(stream))
        self.assertEqual(rows[0], COLUMNS)
        catalogue = t.find(path)
        self.assertEqual([column["name"] for column in catalogue["columns"]], COLUMNS)
        self.assertEqual(len(catalogue["sources"]), len(rows) - 1)
        self.assertEqual(catalogue["detection"]["n_sources"], len(rows) - 1)
        for cells, source in zip(rows[1:], catalogue["sources"]):
            self.assertEqual(list(source), COLUMNS)
            for cell, value in zip(cells, source.values()):
                self.assertEqual(
                    cell, "" if value is None else value if isinstance(value, str) else cell
                )
                if isinstance(value, (int, float)):
                    self.assertEqual(float(cell), value)
        self.assertEqual(
            [source["Source_id"] for source in catalogue["sources"]], list(range(1, len(rows)))
        )

    def test_many_rows(self):
        """More than are measured at a time: each has its own number, place and position."""
        image, header, side = faint_noise((1000, 900)), t.sky_header(), 10
        brightness = 1 + np.arange(9000).reshape(100, 90) % 7
        for dy, dx, value in (0, 0, 2), (0, 1, 1), (1, 0, 1):
            image[4 + dy :: side, 3 + dx :: side] = value * brightness
        rows = t.find(self.write("many.fits", image, header), "-n", "20")["sources"]
        y, x = np.mgrid[4:1000:side, 3:900:side]
        np.testing.assert_array_equal(
            [(row["Source_id"], row["Xpeak"], row["Ypeak"]) for row in rows],
            np.transpose([np.arange(1, x.size + 1), x.ravel(), y.ravel()]),
        )
        positions = [[row["Xposn"], row["Yposn"]] for row in rows]
        np.testing.assert_allclose(
            positions, np.transpose([x.ravel(), y.ravel()]) + 0.25, atol=0.01
        )
        pixels = [row["E_DEC"] / row["E_Yposn"] for row in rows]
        np.testing.assert_allclose(pixels, pixels[0], rtol=1e-3)
        np.testing.assert_allclose(
            [[row["RA"], row["DEC"]] for row in rows],
            WCS(header).all_pix2world(positions, 0),
            rtol=0,
            atol=1e-9,
        )

    def test_json_describes_the_run(self):
        path = self.write("image.fits", t.noise(200, 220), t.sky_header(EXTNAME="SCI", FREQ=1.4e9))
        catalogue = t.find(
            path,
            "-n",
            "6",
            "-i",
            "4",
            "--kappa",
            "2.5",
            "--connectivity",
            "8",
            "--min-pixels",
            "3",
            "--background",
            "zero",
        )
        self.assertEqual(
            list(catalogue),
            [
                "srcfind",
                "image",
                "options",
                "background",
                "noise",
                "detection",
                "quality",
                "notes",
                "columns",
                "sources",
            ],
        )
        self.assertEqual(
            catalogue["options"],
            {
                "patches": None,
                "spectral-index": None,
                "kappa": 2.5,
                "threshold": 6,
                "island": 4,
                "background": "zero",
                "rms": None,
                "local": None,
                "rms-box": None,
                "rms-map": None,
                "background-map": None,
                "mask": None,
                "mask-noise": None,
                "regions-as": None,
                "detect-on": None,
                "detect-rms-map": None,
                "detect-background-map": None,
                "measure-in": None,
                "blank": None,
                "connectivity": 8,
                "min-pixels": 3,
                "negative": None,
                "completeness": None,
                "seed": None,
                "inject": None,
                "deblend": None,
                "fit": None,
                "contrast": None,
                "group": None,
                "shapes": None,
                "psf": None,
                "flux-error": None,
                "position-error": None,
                "scales": None,
                "at": None,
                "at-all": None,
                "at-fixed": None,
                "at-positive": None,
                "at-search": None,
                "beam": None,
                "hdu": None,
                "plane": None,
                "trim": None,
                "mask-dilate": None,
                "mask-fill": None,
                "sort": None,
            },
        )
        image = catalogue["image"]
        self.assertEqual(image["path"], path)
        self.assertEqual(image["shape"], [200, 220])
        self.assertEqual([image["hdu"], image["hdu_name"], image["bitpix"]], [0, "SCI", -32])
        self.assertEqual(
            [image["unit"], image["flux_unit"], image["frame"]], ["Jy/beam", "Jy", "ICRS"]
        )
        self.assertEqual(image["frequency_hz"], 1.4e9)
        self.assertEqual(image["beam"]["source"], "keywords")
        self.assertAlmostEqual(image["pixel_area_deg2"], 25e-8, 18)
        detection = catalogue["detection"]
        self.assertEqual(
            [
                detection[name]
                for name in ("threshold", "island", "background", "connectivity", "min_pixels")
            ],
            [6, 4, "zero", 8, 3],
        )
        self.assertEqual(catalogue["background"]["kappa"], 2.5)
        self.assertEqual(catalogue["background"]["n_pixels"], 200 * 220)
        self.assertTrue(all(source["N_pix"] >= 3 for source in catalogue["sources"]))
        units = {column["name"]: column["unit"] for column in catalogue["columns"]}
        self.assertEqual(
            [units["Peak_flux"], units["Total_flux"], units["RA"], units["Flags"]],
            ["Jy/beam", "Jy", "deg", None],
        )

    def test_numbers_follow_from_each_other(self):
        catalogue = t.find(
            self.write("image.fits", t.noise(200, 220) + np.float32(5), t.sky_header())
        )
        beam, background = catalogue["image"]["beam"]["area_pixels"], catalogue["background"]
        self.assertAlmostEqual(beam, math.pi * 2.5e-3 * 2e-3 / (4 * math.log(2)) / 25e-8, 9)
        for s in catalogue["sources"]:
            self.assertAlmostEqual(s["Isl_Total_flux"], s["Pixel_sum"] / beam, 12)
            self.assertAlmostEqual(s["SNR"], s["Peak_flux"] / background["rms"], 12)
            self.assertEqual(s["E_Peak_flux"], background["rms"])
            self.assertEqual(
                [s["Isl_rms"], s["Isl_mean"]], [background["rms"], background["median"]]
            )
            if s["Flags"] & UNCERTAIN_TOTAL:
                self.assertAlmostEqual(
                    s["Total_flux"], max(s["Peak_flux"], s["Isl_Total_flux"]), 12
                )
                self.assertGreater(s["E_Total_flux"], abs(s["Peak_flux"] - s["Isl_Total_flux"]))
            else:
                self.assertLess(
                    abs(s["Total_flux"] * (1 - 5 / s["SNR"]) / s["Isl_Total_flux"] - 1), 1e-9
                )
        self.assertEqual(
            {bool(s["Flags"] & UNCERTAIN_TOTAL) for s in catalogue["sources"]}, {True, False}
        )

    def test_gaussians_come_back(self):
        """Position, flux and shape of a bright Gaussian, at every angle and in both parities."""
        shape, beam = (101, 111), {"BMAJ": 4 / 3600, "BMIN": 3 / 3600, "BPA": 0.0}
        for step in (-1, 1):
            for angle in (0, 25, 60, 90, 120, 179):
                header = t.sky_header(CDELT1=step / 3600, CDELT2=1 / 3600, **beam)
                image = faint_noise(shape) + gaussian(shape, 51.3, 47.8, 50, 12, 7, angle, step)
                (source,) = t.find(self.write("image.fits", image.astype(np.float32), header))[
                    "sources"
                ]
                with self.subTest(step=step, angle=angle):
                    self.assertAlmostEqual(source["Xposn"], 51.3, 3)
                    self.assertAlmostEqual(source["Yposn"], 47.8, 3)
                    self.assertAlmostEqual(source["Maj"] * 3600, 12, 2)
                    self.assertAlmostEqual(source["Min"] * 3600, 7, 2)
                    self.assertLess(abs((source["PA"] - angle + 90) % 180 - 90), 0.2)
                    self.assertTrue(0 <= source["PA"] < 180)
                    self.assertLess(abs(source["Total_flux"] / (50 * 12 * 7 / (4 * 3)) - 1), 1e-3)

    def test_shapes_everywhere(self):
        """Where longitudes begin again, beside the poles, and with pixels of any size."""
        shape, x, y = (101, 111), 51.3, 47.8
        image = (faint_noise(shape) + gaussian(shape, x, y, 50, 12, 7, 25, -1)).astype(np.float32)
        c, d = math.cos(math.radians(30)), math.sin(math.radians(30))  # the image is turned, too
        for lon, lat, step in (
            (0, 2, 1),
            (359.99999, -60, 1),
            (0, 89.999, 1),
            (200, 89.9999, 1),
            (50, -89.9999, 1),
            (0, 0, 1800),
            (90, 70, 1800),
            (90, 89.8, 1800),
        ):
            header = t.sky_header(
                CRPIX1=x + 1,
                CRPIX2=y + 1,
                CRVAL1=lon,
                CRVAL2=lat,
                CDELT1=-step / 3600,
                CDELT2=step / 3600,
                PC1_1=c,
                PC1_2=-d,
                PC2_1=d,
                PC2_2=c,
                BMAJ=4 * step / 3600,
                BMIN=3 * step / 3600,
            )
            (source,) = t.find(self.write("image.fits", image, header))["sources"]
            with self.subTest(lon=lon, lat=lat, step=step):
                self.assertAlmostEqual(source["Maj"] * 3600 / step, 12, 2)
                self.assertAlmostEqual(source["Min"] * 3600 / step, 7, 2)
                self.assertLess(abs((source["PA"] - 25 - 30 + 90) % 180 - 90), 0.5)

    def test_sizes_are_right_to_a_millionth(self):
        """By the width in pixels of small fields on the equator, where pixels are as the header
        says."""
        image = t.noise(60, 60, n_sources=6)
        expected = None
        for pixel in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
            header = t.sky_header(
                CDELT1=-pixel,
                CDELT2=pixel,
                CRVAL1=187.7,
                CRVAL2=0.0,
                BMAJ=4 * pixel,
                BMIN=4 * pixel,
            )
            sources = t.find(self.write("image.fits", image, header))["sources"]
            sizes = np.array(
                [
                    [s[name] / pixel for name in ("Maj", "Min", "E_RA", "E_DEC")]
                    for s in sources
                    if s["Maj"] is not None
                ]
            )
            expected = sizes if expected is None else expected
            self.assertGreater(len(sizes), 2)
            np.testing.assert_allclose(sizes, expected, rtol=1e-6, err_msg=f"pixels of {pixel} deg")

    def test_positions_by_astropy(self):
        """Centroids in every projection, and their errors on the sky."""
        projections = (
            "TAN",
            "SIN",
            "ARC",
            "STG",
            "ZEA",
            "CAR",
            "AIT",
            "MOL",
            "SFL",
            "CEA",
            "MER",
            "NCP",
            "GLS",
        )
        image = t.noise(150, 160)
        for lon, lat in (("RA---", "DEC--"), ("GLON-", "GLAT-")):
            for projection in projections:
                latitude = (
                    0.0
                    if projection in ("CAR", "AIT", "MOL", "SFL", "CEA", "MER", "GLS")
                    else -40.0
                )
                header = t.sky_header(
                    CTYPE1=lon + projection, CTYPE2=lat + projection, CRVAL1=0.01, CRVAL2=latitude
                )
                header["RADESYS"] = "FK5"
                catalogue = t.find(self.write("image.fits", image, header))
                names = ("RA", "DEC") if lon == "RA---" else ("GLON", "GLAT")
                wcs = WCS(header)
                with self.subTest(lon + projection):
                    self.assertGreater(len(catalogue["sources"]), 5)
                    for s in catalogue["sources"]:
                        expected = wcs.all_pix2world([[s["Xposn"], s["Yposn"]]], 0)[0]
                        self.assertAlmostEqual(s[names[0]], expected[0], 9)
                        self.assertAlmostEqual(s[names[1]], expected[1], 9)
                        # has another scale along x than CDELT, also at its centre
                        if projection == "MOL":
                            continue
                        self.assertLess(abs(s["E_" + names[0]] / (5e-4 * s["E_Xposn"]) - 1), 0.01)
                        self.assertLess(abs(s["E_" + names[1]] / (5e-4 * s["E_Yposn"]) - 1), 0.01)

    def test_names_are_cut(self):
        image = faint_noise((41, 41))
        image[20, 20] = 9
        for lon, lat, frame, name in (
            (188.736541, -1.396277, "ICRS", "J123456.76-012346.5"),
            (188.7361917, -1.3960278, "ICRS", "J123456.68-012345.7"),
            (0.0, 89.99999, "ICRS", "J000000.00+895959.9"),
            (359.999999, 0.0, "FK5", "J235959.99+000000.0"),
            (-179.528593, -18.876343, "ICRS", "J120153.13-185234.8"),
            (400.0, 10.0, "ICRS", "J024000.00+100000.0"),
            (10.0, -0.0001, "FK4", "B004000.00-000000.3"),
        ):
            header = t.sky_header(CRPIX1=21.0, CRPIX2=21.0, CRVAL1=lon, CRVAL2=lat, RADESYS=frame)
            (source,) = t.find(self.write("image.fits", image.astype(np.float32), header))[
                "sources"
            ]
            with self.subTest(name):
                self.assertEqual(source["Source_Name"], name)
        header = t.sky_header(
            CRPIX1=21.0,
            CRPIX2=21.0,
            CRVAL1=8.12345678,
            CRVAL2=-1.98765432,
            CTYPE1="GLON-TAN",
            CTYPE2="GLAT-TAN",
        )
        (source,) = t.find(self.write("image.fits", image.astype(np.float32), header))["sources"]
        self.assertEqual(source["Source_Name"], "G008.1234-01.9876")

    def test_flags(self):
        image = faint_noise((60, 60))
        image[0, 10:13] = 5  # edge
        image[30, 30] = 5  # one pixel
        image[40:43, 20:23] = 5  # in the middle
        image[10:12, 40:42] = 5  # as small as can have a shape
        image[50:53, 40:43] = 5  # beside a blank pixel, at a corner
        image[53, 43] = np.nan
        path = self.write("image.fits", image.astype(np.float32), t.sky_header())
        flags = {
            (s["Xpeak"], s["Ypeak"]): s["Flags"] & ~UNCERTAIN_TOTAL for s in t.find(path)["sources"]
        }
        self.assertEqual(
            flags,
            {
                (10, 0): EDGE | NO_SHAPE,
                (30, 30): SINGLE_PIXEL | NO_SHAPE,
                (20, 40): 0,
                (40, 10): 0,
                (40, 50): EDGE,
            },
        )
        for s in t.find(path)["sources"]:
            for name in ("Maj", "Min", "PA"):
                self.assertEqual(s[name] is None, bool(s["Flags"] & NO_SHAPE))
        path = self.write("image.fits", image.astype(np.float32), t.sky_header(BMAJ=None))
        self.assertTrue(all(s["Flags"] & NO_BEAM for s in t.find(path)["sources"]))

    def test_uncertain_total(self):
        """Faint sources, of which little is above the threshold, say so."""
        path = self.write("image.fits", t.noise(500, 500, n_sources=60), t.sky_header())
        sources = t.find(path, "-n", "3")["sources"]
        for s in sources:
            self.assertEqual(
                bool(s["Flags"] & UNCERTAIN_TOTAL), s["E_Total_flux"] > s["Total_flux"] / 2
            )
        self.assertTrue(0 < sum(s["Flags"] & UNCERTAIN_TOTAL > 0 for s in sources) < len(sources))

    def test_without_a_sky(self):
        for cards in (
            {"CTYPE1": None, "CTYPE2": None},
            {"CTYPE1": "JY/BEAM"},
            {"CTYPE1": "LINEAR", "CTYPE2": "LINEAR"},
            {"CDELT1": 0.0},
            {"CTYPE1": "RA---XYZ", "CTYPE2": "DEC--XYZ"},
        ):
            header = t.sky_header()
            on_sky = t.find(self.write("sky.fits", t.noise(100, 100), header))["sources"]
            catalogue = t.find(self.write("image.fits", t.noise(100, 100), t.sky_header(**cards)))
            with self.subTest(cards=cards):
                self.assertGreater(len(catalogue["sources"]), 3)
                self.assertIsNone(catalogue["image"]["frame"])
                self.assertEqual(
                    [
                        column["unit"]
                        for column in catalogue["columns"]
                        if column["name"] in ("Maj", "Min", "PA")
                    ],
                    ["pix", "pix", "deg"],
                )
                for s, other in zip(catalogue["sources"], on_sky, strict=True):
                    self.assertEqual(
                        [s[name] for name in ("Source_Name", "RA", "DEC", "E_RA")], [None] * 4
                    )
                    self.assertIsNotNone(s["E_Xposn"])
                    if other["Maj"] is not None:  # north is up
                        self.assertAlmostEqual(s["Maj"] * header["CDELT2"] / other["Maj"], 1, 4)
                        self.assertAlmostEqual(abs((s["PA"] - other["PA"] + 90) % 180 - 90), 0, 1)

    def test_other_systems(self):
        for lon, lat, names, frame in (
            ("ELON", "ELAT", ("ELON", "ELAT"), "ECLIPTIC"),
            ("SLON", "SLAT", ("SLON", "SLAT"), "SUPERGALACTIC"),
            ("HPLN", "HPLT", ("LON", "LAT"), "HPLN"),
        ):
            header = t.sky_header(CTYPE1=lon + "-TAN", CTYPE2=lat + "-TAN")
            catalogue = t.find(self.write("image.fits", t.noise(100, 100), header))
            with self.subTest(lon):
                self.assertEqual(catalogue["image"]["frame"], frame)
                self.assertEqual(
                    [c["name"] for c in catalogue["columns"]][3:7],
                    [names[0], names[1], "E_" + names[0], "E_" + names[1]],
                )

    def test_frequency(self):
        cube = np.stack([t.noise(40, 50, seed=s) for s in range(3)])
        cards = {"CTYPE3": "FREQ", "CRVAL3": 1e9, "CDELT3": 1e6, "CRPIX3": 1.0, "CUNIT3": "Hz"}
        for more in ({}, {"CTYPE1": "RA---XYZ"}):
            path = self.write("cube.fits", cube, t.sky_header(**cards, **more))
            self.assertEqual(t.find(path, "--plane", "3")["image"]["frequency_hz"], 1.002e9)
        path = self.write("image.fits", cube[0], t.sky_header(RESTFRQ=1.4e9))
        self.assertEqual(t.find(path)["image"]["frequency_hz"], 1.4e9)

    def test_frequency_of_other_axes(self):
        """Each plane has its own, as astropy converts the axis, in JSON, maps and metadata; RESTFRQ
        is not that of a plane."""
        cube = np.stack([t.noise(40, 50, seed=s) for s in range(3)])
        line = {"RESTFRQ": 1.42e9, "CRPIX3": -1.5}
        for kind, unit, value, step, more in (
            ("VRAD", "km/s", 1e3, 500.0, line),
            ("VOPT", "m/s", 1e7, 5e5, line),
            ("VELO-LSR", "m/s", 1e7, 5e5, {**line, "VELREF": 257}),
            ("FELO-HEL", "m/s", 1e7, 5e5, line),
            ("VOPT-F2W", "m/s", 1e7, 5e5, line),
            ("WAVE", "cm", 21.0, 0.5, {}),
            ("AWAV", "Angstrom", 5000.0, 10.0, {}),
            ("ENER", "eV", 1e-5, 1e-6, {"RESTFRQ": 1.42e9}),
            ("ZOPT", "", 0.1, 0.01, {"RESTWAV": 0.21}),
        ):
            cards = {
                "CTYPE3": kind,
                "CUNIT3": unit,
                "CRVAL3": value,
                "CDELT3": step,
                "CRPIX3": 1.0,
                **more,
            }
            path = self.write("cube.fits", cube, t.sky_header(**cards))
            wcs = WCS(t.sky_header(**cards))
            wcs.wcs.sptr("FREQ-???")
            for plane in range(3):
                frequency = wcs.wcs_pix2world(0, 0, plane, 0)[2]
                found = self.path("found.fits")
                with self.subTest(kind, plane=plane):
                    self.assertEqual(
                        t.run(path, "--plane", plane + 1, "-o", found, "--save", "rms").returncode,
                        0,
                    )
                    self.assertAlmostEqual(
                        t.find(path, "--plane", str(plane + 1))["image"]["frequency_hz"]
                        / frequency,
                        1,
                        12,
                    )
                    self.assertAlmostEqual(
                        t.find(self.path("found.rms.fits"))["image"]["frequency_hz"] / frequency,
                        1,
                        12,
                    )
                    with fits.open(found) as hdus, fits.open(self.path("found.rms.fits")) as saved:
                        self.assertEqual(
                            [h.header["FREQ"] / frequency for h in (hdus[1], saved[0])],
                            [hdus[1].header["FREQ"] / frequency] * 2,
                        )
                        self.assertAlmostEqual(hdus[1].header["FREQ"] / frequency, 1, 12)
        for cards in (
            {"CTYPE3": "VRAD", "CUNIT3": "m/s"},
            *(
                {"CTYPE3": kind, "RESTFRQ": 1.42e9}
                for kind in ("VELOCITY", "FREQ-TAB", "VLSR", "VEL", "CHANNEL", None)
            ),
        ):
            path = self.write(
                "cube.fits", cube, t.sky_header(CRVAL3=1e6, CDELT3=1e3, CRPIX3=1.0, **cards)
            )
            self.assertIsNone(t.find(path)["image"]["frequency_hz"])
        for cards in (
            {"CTYPE3": "STOKES", "CRVAL3": 1.0},
            {"CTYPE3": "FREQ", "CRVAL3": 0.0, "CRPIX3": -1419.0, "CDELT3": 1e6},
        ):
            path = self.write("cube.fits", cube, t.sky_header(RESTFRQ=1.42e9, **cards))
            self.assertEqual(t.find(path)["image"]["frequency_hz"], 1.42e9)

    def test_observation(self):
        """DATE-OBS is a text as it stands there, if it is a date of FITS; MJD-OBS is a date by
        astropy, to the millisecond, if it has four digits of a year."""
        random = np.random.default_rng(2)
        days = [
            *random.uniform(-678941, 2973483, 12),
            -678941.0,
            -0.25,
            0.0,
            51603.0,
            88127.5,
            60000.123456789,
            59999.9999999999,
        ]
        known = [
            ({"DATE-OBS": text, "MJD-OBS": 6e4}, text)
            for text in ("2026-11-25T22:00:00.25", "2016-12-31T23:59:60", "1998-01-02", "25/11/86")
        ]
        known += [
            ({"DATE-OBS": text, "MJD-OBS": 6e4}, "2023-02-25T00:00:00.000")
            for text in (
                'it\'s "so", perhaps',
                "0000-00-00",
                " 26/09/8",
                "25/13/86",
                "25/11/1986",
                "2026-11-25 22:00:00",
                "2026-11-25T24:00:00",
                "2026-11-25T22:00:00.2x",
            )
        ]
        known += [
            ({"DATE-OBS": " ", "MJD-OBS": day}, Time(day, format="mjd", scale="tai").isot.zfill(23))
            for day in days
        ]
        known += [
            ({"MJD-OBS": value}, None) for value in (-678942.0, 2973484.0, 1e300, "60000")
        ] + [({"DATE-OBS": 2026}, None), ({}, None)]
        image = t.noise(20, 20)
        for cards, expected in known:
            with self.subTest(cards):
                described = t.find(self.write("image.fits", image, t.sky_header(**cards)))["image"]
                self.assertEqual(
                    [described[name] for name in ("date_obs", "telescope", "object")],
                    [expected, None, None],
                )
        path = self.write(
            "image.fits", image, t.sky_header(TELESCOP="ASKAP", OBJECT="RACS 0034-46")
        )
        with open(path, "r+b") as stream:
            cards = stream.read(2880).replace(b"RACS 0034", b"R\x1bCS\t0034")
            stream.seek(0)
            stream.write(cards)
        described = t.find(path)["image"]
        self.assertEqual(
            [described[name] for name in ("date_obs", "telescope", "object")],
            [None, "ASKAP", "R?CS?0034-46"],
        )

    def test_off_the_sky(self):
        """Pixels outside of an all-sky projection have a place in the image and none on the sky."""
        image = faint_noise((100, 200))
        image[2:5, 2:5] = 5
        image[50:53, 100:103] = 5
        header = t.sky_header(
            CTYPE1="RA---AIT",
            CTYPE2="DEC--AIT",
            CDELT1=-1.8,
            CDELT2=1.8,
            CRPIX1=100.0,
            CRPIX2=50.0,
            CRVAL2=0.0,
        )
        corner, centre = t.find(self.write("image.fits", image.astype(np.float32), header))[
            "sources"
        ]
        self.assertEqual([corner["RA"], corner["DEC"], corner["Source_Name"]], [None, None, None])
        self.assertIsNotNone(centre["RA"])

        path = self.path("image.fits")
        self.assertIn(
            "srcfind: %s: 1 of 2 sources has no position on the sky" % path, t.run(path).stderr
        )
        self.assertEqual(t.run(path, "-q").stderr, "")

    def test_further_axes(self):
        """Whatever they are, the sky stays, and so do fluxes."""
        image = t.noise(60, 70, n_sources=9)
        plain = t.find(self.write("plain.fits", image, t.sky_header()))
        stokes = {"CTYPE4": "STOKES", "CRVAL4": 1.0, "CRPIX4": 1.0, "CDELT4": 0.0}
        spectral = {"CTYPE3": "FREQ", "CRVAL3": 1.4, "CRPIX3": 1.0, "CDELT3": 1e-3, "CUNIT3": "GHz"}
        for name, cards, frequency in (
            ("frequency", spectral, 1.4e9),
            ("no step", {**spectral, "CDELT3": 0.0}, 1.4e9),
            ("no unit", {**spectral, "CUNIT3": "GHz/x"}, None),
            ("text", {**spectral, "CRVAL3": "1.4"}, None),
            ("velocity", {**spectral, "CTYPE3": "VOPT", "CUNIT3": "KM/S"}, None),
            ("logarithm", {**spectral, "CTYPE3": "FREQ-LOG", "CRVAL3": 0.0}, None),
        ):
            path = self.write("cube.fits", image[None, None], t.sky_header(**cards, **stokes))
            catalogue = t.find(path)
            with self.subTest(name):
                self.assertEqual(catalogue["sources"], plain["sources"])
                self.assertEqual(catalogue["image"]["frequency_hz"], frequency)
                self.assertEqual(len(t.run(path).stderr.splitlines()), 1)

    def test_why_there_is_no_sky(self):
        for cards, words in (
            (
                {"CTYPE1": "RA---XYZ", "CTYPE2": "DEC--XYZ"},
                "WCSLIB says: Unrecognized projection code (XYZ in CTYPE1): "
                "axis 1 is RA---XYZ, axis 2 DEC--XYZ: correct the header\n",
            ),
            ({"CRVAL1": "150.0"}, "CRVAL1 is no number: '150.0': correct the header\n"),
            (
                {"CTYPE1": "ra---sin", "CTYPE2": "dec--sin"},
                "axis 1 is ra---sin, axis 2 dec--sin: write CTYPE1 and CTYPE2 in capital letters\n",
            ),
            ({"CDELT2": None}, "there is no CDELT2"),
            (
                {"CTYPE1": "FREQ", "CTYPE2": "RA---SIN", "CTYPE3": "DEC--SIN"},
                "its plane is not the sky: axis 1 is FREQ, axis 2 RA---SIN, axis 3 DEC--SIN\n",
            ),
        ):
            path = self.write("image.fits", t.noise(60, 60)[None], t.sky_header(**cards))
            with self.subTest(cards):
                self.assertIn(
                    "srcfind: %s: no sky coordinates: %s" % (path, words), t.run(path).stderr
                )
                self.assertEqual(t.run(path, "-q").stderr, "")

    def test_distortions(self):
        """SCAMP's polynomials on TAN are those of TPV; beside SIP they are nothing. By astropy."""
        tpv = {
            "PV1_0": 1e-3,
            "PV1_1": 1.001,
            "PV1_2": 2e-3,
            "PV1_7": 2e-3,
            "PV2_0": -1e-3,
            "PV2_1": 0.999,
            "PV2_5": 2e-3,
        }
        sip = {"A_ORDER": 2, "A_2_0": 1e-5, "B_ORDER": 2, "B_0_2": -2e-5}
        for more, code, as_code in ((tpv, "TAN", "TPV"), ({**tpv, **sip}, "TAN-SIP", "TAN-SIP")):

            def header(name, cards):
                return t.sky_header(CTYPE1="RA---" + name, CTYPE2="DEC--" + name, **cards)

            # where astropy has TPV of degrees
            cd = {"CDELT1": None, "CDELT2": None, "CD1_1": -5e-4, "CD2_2": 5e-4}
            wcs = WCS(header(as_code, sip if "SIP" in code else {**cd, **tpv}))
            sources = t.find(self.write("image.fits", t.noise(150, 160), header(code, more)))[
                "sources"
            ]
            with self.subTest(code):
                self.assertGreater(len(sources), 5)
                for s in sources:
                    np.testing.assert_allclose(
                        [s["RA"], s["DEC"]],
                        wcs.all_pix2world([[s["Xposn"], s["Yposn"]]], 0)[0],
                        atol=1e-9,
                    )

    def test_distortions_of_one_scale(self):
        """Polynomials are of degrees, however the scale is spelt; what another projection left over
        is none. By astropy."""
        full = {
            "PV1_0": 0.0,
            "PV1_1": 1.001,
            "PV1_4": 0.3,
            "PV1_5": 0.2,
            "PV2_0": 0.0,
            "PV2_1": 0.999,
            "PV2_4": 0.4,
        }
        scales = {
            "CD": {"CDELT1": None, "CDELT2": None, "CD1_1": -5e-4, "CD2_2": 5e-4},
            "CDELT": {"CDELT1": -5e-4, "CDELT2": 5e-4},
            "PC": {"CDELT1": 1.0, "CDELT2": 1.0, "PC1_1": -5e-4, "PC2_2": 5e-4},
        }

        def header(name, cards):
            return t.sky_header(CTYPE1="RA---" + name, CTYPE2="DEC--" + name, **cards)

        for more, as_code in (
            (full, "TPV"),
            ({"PV2_1": 1.0, "PV2_2": 0.0}, None),
            ({"PV2_1": 1.0, "PV2_3": -50.0}, None),
            ({"PV2_1": 45.0, "PV2_2": 25.0}, None),
        ):
            wcs = WCS(header(as_code or "TAN", {**scales["CD"], **(more if as_code else {})}))
            for name, scale in scales.items():
                path = self.write("image.fits", t.noise(150, 160), header("TAN", {**scale, **more}))
                sources = t.find(path)["sources"]
                with self.subTest(name, more=more):
                    self.assertGreater(len(sources), 5)
                    for s in sources:
                        np.testing.assert_allclose(
                            [s["RA"], s["DEC"]],
                            wcs.all_pix2world([[s["Xposn"], s["Yposn"]]], 0)[0],
                            atol=1e-9,
                        )

    def test_beyond_half_a_turn(self):
        """A strip of a galactic survey, 200 degrees from its reference point; --at finds its way
        back."""
        image = faint_noise((40, 50))
        image[20, 30] = 5
        for projection in ("CAR", "CEA", "MER"):
            header = t.sky_header(
                CTYPE1="GLON-" + projection,
                CTYPE2="GLAT-" + projection,
                CRVAL1=0.0,
                CRVAL2=0.0,
                CDELT1=-0.01,
                CDELT2=0.01,
                CRPIX1=20001.0,
                CRPIX2=1.0,
            )
            path = self.write("strip.fits", image.astype(np.float32), header)
            (source,) = t.find(path)["sources"]
            with self.subTest(projection):
                self.assertAlmostEqual(source["GLON"], 199.7, 9)
                self.assertAlmostEqual(source["GLAT"], 0.2, 4)
                self.assertAlmostEqual(source["E_GLON"] / (0.01 * source["E_Xposn"]), 1, 4)
                at = self.path("at.csv")
                with open(at, "w") as stream:
                    stream.write("GLON,GLAT\n%r,%r\n" % (source["GLON"] - 360, source["GLAT"]))
                (again,) = t.find(path, "--at", at)["sources"]
                self.assertEqual(
                    [again["Flags"] & 512, again["Xpeak"], again["Ypeak"]], [0, 30, 20]
                )
                self.assertAlmostEqual(again["Xposn"], source["Xposn"], 8)

    def test_longitude_without_digits(self):
        """A number so large that nothing is left of where in the circle it is."""
        for longitude, known in (
            (150.0, True),
            (150.0 + 360e3, True),
            (1e10, False),
            (1e300, False),
            (-1e300, False),
        ):
            header = t.sky_header(CRVAL1=longitude)
            source = t.find(self.write("image.fits", t.noise(80, 80), header))["sources"][0]
            for name in ("RA", "DEC", "E_RA", "E_DEC", "Source_Name", "Maj", "PA"):
                self.assertEqual(source[name] is not None, known, (longitude, name))
            if known:
                self.assertAlmostEqual(source["RA"], 150, delta=0.1)

    def test_fortran_exponents(self):
        path = self.write("image.fits", t.noise(100, 100), t.sky_header())
        expected = t.run(path, "-f", "json").stdout
        with open(path, "rb") as stream:
            data = stream.read()
        changed = data.replace(b"0.0005", b"5.D-04").replace(b"0.0025", b"25.D-4")
        self.assertNotEqual(changed, data)
        with open(path, "wb") as stream:
            stream.write(changed)
        self.assertEqual(t.run(path, "-f", "json").stdout, expected)


class Beams(t.Case):
    def beam_of(self, header, *options):
        return t.find(self.write("image.fits", t.noise(60, 60), header), *options)["image"]["beam"]

    def test_order_of_sources(self):
        header = t.sky_header()
        for line in (
            "AIPS   CLEAN BMAJ=  9.0000E-03 BMIN=  8.0000E-03 BPA=  1.00",
            "AIPS   CLEAN BMAJ=  4.0000E-03 BMIN=  3.0000E-03 BPA=  -2.61 some text",
            "nothing",
        ):
            header["HISTORY"] = line
        beam = self.beam_of(header, "--beam", "10,5,20")
        self.assertEqual(
            [beam["source"], beam["major_deg"], beam["minor_deg"], beam["angle_deg"]],
            ["option", 10 / 3600, 5 / 3600, 20],
        )
        self.assertEqual(self.beam_of(header)["major_deg"], 2.5e-3)
        for name in ("BMAJ", "BMIN", "BPA"):
            del header[name]
        beam = self.beam_of(header)
        self.assertEqual(
            [beam["source"], beam["major_deg"], beam["minor_deg"], beam["angle_deg"]],
            ["history", 4e-3, 3e-3, -2.61],
        )

    def test_incomplete_and_absurd_beams(self):
        self.assertEqual(self.beam_of(t.sky_header(BMIN=None, BPA=None))["minor_deg"], 2.5e-3)
        tiny = float(np.finfo("f4").tiny)
        for cards in (
            {"BMAJ": 0.0},
            {"BMAJ": -1.0},
            {"BMIN": 0.0},
            {"BMAJ": "wide"},
            {"BMAJ": tiny, "BMIN": tiny},
            {"BMIN": tiny},
            {"BMAJ": -1.0, "BMIN": -1.0},
            {"BMIN": 4.9e-7},
            {"CTYPE1": None, "BMAJ": tiny, "BMIN": tiny},
        ):
            with self.subTest(cards=cards):
                self.assertIsNone(self.beam_of(t.sky_header(**cards)))
        # a thousandth of a pixel
        self.assertEqual(self.beam_of(t.sky_header(BMIN=5.1e-7))["minor_deg"], 5.1e-7)

    def test_absurd_beam_of_the_option(self):
        path = self.write("image.fits", t.noise(60, 60), t.sky_header())
        for beam in ("1e-38", "9,0.0017,0", "0.0017"):
            result = t.run(path, "--beam", beam)
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.split(": --beam")[0]],
                [1, "", "srcfind: " + path],
            )
        self.assertIn(
            "--beam 0.0017,0.0017,0 is no beam of this image: axes are in arcsec, and at least a thousandth of a pixel, 0.0018 "
            "arcsec",
            result.stderr,
        )
        self.assertEqual(self.beam_of(t.sky_header(), "--beam", "0.0019")["source"], "option")

    def test_units_of_a_casa_table(self):
        """arcsec where there is none; what is no angle is no beam."""
        for unit, a_degree in (
            (None, 3600),
            ("arcsec", 3600),
            ("deg", 1),
            ("DEGREES", 1),
            ("arcmin", 60),
            ("rad", np.pi / 180),
            ("Jy", None),
        ):
            columns = [
                fits.Column(name, "D", unit=unit, array=[value])
                for name, value in (("BMAJ", 9.0), ("BMIN", 6.0))
            ]
            path = self.path("beams.fits")
            image = fits.PrimaryHDU(
                t.noise(60, 60), t.sky_header(BMAJ=None, BMIN=None, BPA=None, CASAMBM=True)
            )
            fits.HDUList([image, fits.BinTableHDU.from_columns(columns, name="BEAMS")]).writeto(
                path, overwrite=True
            )
            beam = t.find(path)["image"]["beam"]
            with self.subTest(unit=unit):
                if a_degree is None:
                    self.assertIsNone(beam)
                else:
                    self.assertAlmostEqual(beam["major_deg"] * a_degree, 9, delta=1e-12)
                    self.assertAlmostEqual(beam["minor_deg"] * a_degree, 6, delta=1e-12)

    def test_casa_table(self):
        """The row of the plane."""
        cube = np.stack([t.noise(40, 50, seed=s) for s in range(6)]).reshape(2, 3, 40, 50)
        header = t.sky_header(
            BMAJ=None,
            BMIN=None,
            BPA=None,
            CASAMBM=True,
            CTYPE3="FREQ",
            CTYPE4="STOKES",
            CRVAL3=1e9,
            CDELT3=1e6,
            CRPIX3=1.0,
            CRVAL4=1.0,
            CDELT4=1.0,
            CRPIX4=1.0,
        )
        rows = [(10 + c + 5 * p, 5 + c, 30 + p, c, p) for p in range(2) for c in range(3)]
        path = self.path("cube.fits")
        for real, integer in (("E", "J"), ("D", "K"), ("E", "I"), ("D", "B")):
            columns = [
                ("BMAJ", real, "arcsec"),
                ("BMIN", real, "arcsec"),
                ("BPA", real, "deg"),
                ("CHAN", integer, None),
                ("POL", integer, None),
            ]
            table = fits.BinTableHDU.from_columns(
                [
                    fits.Column(name, kind, unit=unit, array=[row[i] for row in rows])
                    for i, (name, kind, unit) in enumerate(columns)
                ],
                name="BEAMS",
            )
            for first in ((0, 0), (1, 1), (1, 0), (0, 1)):  # CASA counts from 0, others from 1
                for name, number in zip(("CHAN", "POL"), first):
                    table.data[name] = (
                        np.array([row[{"CHAN": 3, "POL": 4}[name]] for row in rows]) + number
                    )
                fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
                for major, minor, angle, channel, stokes in rows[:: 1 if first == (0, 0) else 2]:
                    beam = t.find(path, "--plane", "%d,%d" % (channel + 1, stokes + 1))["image"][
                        "beam"
                    ]
                    with self.subTest(real + integer, first=first, channel=channel, stokes=stokes):
                        self.assertEqual(
                            [
                                beam["source"],
                                beam["major_deg"],
                                beam["minor_deg"],
                                beam["angle_deg"],
                            ],
                            ["table", major / 3600, minor / 3600, angle],
                        )

    def test_table_without_frequencies(self):
        """The row of the plane, whatever the spectral axis is, also where nothing announces the
        table."""
        cube = np.stack([t.noise(40, 50, seed=s) for s in range(3)])
        table = fits.BinTableHDU.from_columns(
            [fits.Column(name, "E", unit="arcsec", array=[12, 18, 21]) for name in ("BMAJ", "BMIN")]
            + [fits.Column("CHAN", "J", array=range(3))],
            name="BEAMS",
        )
        path = self.path("cube.fits")
        for kind in ("AWAV", "VOPT-F2W", "", "CHANNEL"):
            for flag in (True, None):
                header = t.sky_header(
                    BMAJ=None,
                    BMIN=None,
                    BPA=None,
                    CASAMBM=flag,
                    CTYPE3=kind,
                    CRVAL3=1e6,
                    CDELT3=1e3,
                    CRPIX3=1.0,
                )
                fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
                for plane, major in ((1, 12), (2, 18), (3, 21)):
                    with self.subTest(kind, flag=flag, plane=plane):
                        beam = t.find(path, "--plane", str(plane))["image"]["beam"]
                        self.assertAlmostEqual(beam["major_deg"] * 3600, major, 4)
        header = t.sky_header(
            BMAJ=12 / 3600,
            BMIN=12 / 3600,
            BPA=0.0,
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CDELT3=1e6,
            CRPIX3=1.0,
        )
        fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
        self.assertNotIn("BEAMS", t.run(path).stderr)
        self.assertIn(
            "srcfind: %s: the beam of the keywords, 12 x 12 arcsec at 0 degrees, is used; the BEAMS table has another one "
            "for this plane: --beam 21,21,0\n" % path,
            t.run(path, "--plane", "3").stderr,
        )
        self.assertEqual(t.find(path, "--plane", "3")["image"]["beam"]["source"], "keywords")
        self.assertNotIn("BEAMS", t.run(path, "--plane", "3", "--beam", "21,21,0").stderr)
        self.assertEqual(t.run(path, "-q", "--plane", "3").stderr, "")

    def test_table_without_the_row(self):
        """The note says that the table has no row of the plane, or no usable one."""
        cube = np.stack([t.noise(80, 80, seed=s) for s in range(3)])
        path = self.path("cube.fits")
        header = t.sky_header(
            BMAJ=None, BMIN=None, BPA=None, CTYPE3="FREQ", CRVAL3=1e9, CDELT3=1e6, CRPIX3=1.0
        )
        table = fits.BinTableHDU.from_columns(
            [fits.Column(name, "E", unit="arcsec", array=[12, np.nan]) for name in ("BMAJ", "BMIN")]
            + [fits.Column("CHAN", "J", array=range(2))],
            name="BEAMS",
        )
        fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
        words = "the BEAMS table has no usable row of this plane"
        tiny = np.finfo("f4").tiny
        for plane, is_known in (("1", True), ("2", False), ("3", False)):
            with self.subTest(plane):
                lines = lines_of(path, "--plane", plane)
                self.assertEqual(
                    lines[1:],
                    []
                    if is_known
                    else [
                        "srcfind: %s: fluxes are in Jy/beam.pixel, not in Jy: %s; --beam gives the beam"
                        % (path, words)
                    ],
                )
        for absurd in (tiny, -1, 0):
            with self.subTest(absurd):
                for name in ("BMAJ", "BMIN"):
                    table.data[name][1] = absurd
                fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
                self.assertIn(words, lines_of(path, "--plane", "2")[1])
                fits.HDUList([fits.PrimaryHDU(cube, t.sky_header(CTYPE3="FREQ")), table]).writeto(
                    path, overwrite=True
                )
                self.assertIn(
                    "srcfind: %s: the beam of the keywords, 9 x 7.2 arcsec at 30 degrees, is used; the BEAMS table has no usable "
                    "beam for this plane: --beam gives another" % path,
                    lines_of(path, "--plane", "2"),
                )
                self.assertNotIn("no usable", "".join(lines_of(path, "--plane", "3")))
        fits.HDUList([fits.PrimaryHDU(cube, header), table]).writeto(path, overwrite=True)
        at = self.path("at.csv")
        with open(at, "w") as stream:
            stream.write("Xposn,Yposn\n30,30\n")
        self.assertIn(
            words + ": give --beam",
            t.run(path, "--plane", "3", "--at", at, "--fit", check=False).stderr,
        )

    def test_axes_that_are_exchanged(self):
        header = t.sky_header(BMAJ=2e-3, BMIN=3e-3, BPA=70.0)
        beam = self.beam_of(header)
        self.assertEqual(
            [beam["major_deg"], beam["minor_deg"], beam["angle_deg"]], [3e-3, 2e-3, 160]
        )
        self.assertIn(
            "the beam's major axis was given as the smaller one",
            t.run(self.path("image.fits")).stderr,
        )
        same = t.sky_header(BMAJ=3e-3, BMIN=2e-3, BPA=160.0)
        self.assertEqual(
            t.find(self.path("image.fits"))["sources"],
            t.find(self.write("same.fits", t.noise(60, 60), same))["sources"],
        )

    def test_history_of_casa(self):
        header = t.sky_header(BMAJ=None, BMIN=None, BPA=None)
        header["HISTORY"] = "restoration: 9.3 by 7.2 (arcsec) at pa 82 (deg)"
        beam = self.beam_of(header)
        self.assertEqual(beam["source"], "history")
        np.testing.assert_allclose(
            [beam["major_deg"], beam["minor_deg"], beam["angle_deg"]],
            [9.3 / 3600, 7.2 / 3600, 82],
            rtol=1e-12,
        )


class Units(t.Case):
    def check(self, unit, flux_unit, factor, beam=True):
        header = t.sky_header(BUNIT=unit, **({} if beam else {"BMAJ": None}))
        catalogue = t.find(self.write("image.fits", t.noise(80, 80), header))
        area = catalogue["image"]["beam"]["area_pixels"] if beam else 1
        self.assertEqual(catalogue["image"]["unit"], unit)
        self.assertEqual(catalogue["image"]["flux_unit"], flux_unit)
        for s in catalogue["sources"]:
            self.assertAlmostEqual(s["Isl_Total_flux"] / (s["Pixel_sum"] * factor / area), 1, 12)

    def test_units(self):
        for unit, flux_unit, factor in (
            ("Jy/beam", "Jy", 1),
            ("JY/BEAM", "Jy", 1),
            ("mJy/beam", "Jy", 1e-3),
            ("uJy/beam", "Jy", 1e-6),
            ("mJy/Beam", "Jy", 1e-3),
            ("UJY/BEAM", "Jy", 1e-6),
            ("KJY/BEAM", "Jy", 1e3),
            ("mjy/beam", "Jy", 1e-3),
            ("MJy/beam", "Jy", 1e6),
            ("MJy/BEAM", "Jy", 1e6),
            ("MJY/BEAM", "MJY/BEAM.beam", 1),
            ("MJY/Beam", "MJY/Beam.beam", 1),
            ("Jy beam-1", "Jy", 1),
            ("K", "K.beam", 1),
            (None, None, 1),
        ):
            with self.subTest(unit):
                self.check(unit, flux_unit, factor)

    def test_ambiguous_unit_is_said(self):
        for unit, n in (("MJY/BEAM", 2), ("MJy/beam", 1)):
            lines = lines_of(self.write("image.fits", t.noise(80, 80), t.sky_header(BUNIT=unit)))
            self.assertEqual(len(lines), n, lines)
            self.assertEqual("MJY/BEAM may be MJy or mJy" in lines[-1], n == 2)

    def test_surface_brightness(self):
        """Sums of pixels times their solid angle; no beam is needed."""
        square = (5e-4) ** 2
        for unit, factor in (
            ("Jy/sr", np.radians(1) ** 2),
            ("MJy/sr", 1e6 * np.radians(1) ** 2),
            ("kJy sr-1", 1e3 * np.radians(1) ** 2),
            ("Jy/arcsec2", 3600**2),
            ("mJy/arcsec^2", 3600**2 / 1e3),
            ("uJy arcsec-2", 3600**2 / 1e6),
            ("Jy/deg**2", 1),
            ("JY/ARCMIN2", 60**2),
        ):
            for cards in ({}, {"BMAJ": None}, {"CDELT2": 1e-3}):
                path = self.write("image.fits", t.noise(80, 80), t.sky_header(BUNIT=unit, **cards))
                catalogue = t.find(path)
                with self.subTest(unit, cards=cards):
                    self.assertEqual(catalogue["image"]["flux_unit"], "Jy")
                    self.assertGreater(len(catalogue["sources"]), 3)
                    for s in catalogue["sources"]:
                        expected = (
                            s["Pixel_sum"] * factor * square * (2 if "CDELT2" in cards else 1)
                        )
                        self.assertAlmostEqual(s["Isl_Total_flux"] / expected, 1, 12)
                        self.assertFalse(s["Flags"] & NO_BEAM)
                    self.assertEqual(len(lines_of(path)), 1)
        path = self.write("image.fits", t.noise(80, 80), t.sky_header(BUNIT="MJy/sr"))
        fit = t.find(path, "-i", "3", "--fit")["sources"]
        for s in fit:
            if s["S_Code"] == "S" and not s["Flags"] & 64:
                area = 2 * np.pi / (8 * np.log(2)) * s["Maj"] * s["Min"]
                self.assertAlmostEqual(
                    s["Total_flux"] / (s["Peak_flux"] * 1e6 * np.radians(1) ** 2 * area), 1, 4
                )

    def test_moments(self):
        for unit, factor in (
            ("Jy/beam km/s", 1),
            ("Jy/beam.km/s", 1),
            ("Jy/beam*km/s", 1),
            ("JY/BEAM.KM/S", 1),
            ("Jy beam-1 km s-1", 1),
            ("mJy/beam m/s", 1e-6),
            ("Jy/beam.m/s", 1e-3),
        ):
            with self.subTest(unit):
                self.check(unit, "Jy km/s", factor)
                self.assertEqual(len(lines_of(self.path("image.fits"))), 1)
        catalogue = t.find(self.path("image.fits"))
        (column,) = [c for c in catalogue["columns"] if c["name"] == "Total_flux"]
        self.assertEqual(column["unit"], "Jy km/s")
        votable = t.run(self.path("image.fits"), "-f", "votable").stdout
        self.assertIn(
            b'unit="Jy.km/s"' if isinstance(votable, bytes) else 'unit="Jy.km/s"', votable
        )
        self.check("Jy/beam.km/s", "Jy/beam.km/s.pixel", 1, beam=False)

    def test_fluxes_that_are_not_in_jansky(self):
        sky = {"CTYPE1": None, "CTYPE2": None}
        for cards, words in (
            (
                {"BUNIT": "K"},
                "fluxes are in K.beam, not in Jy: write BUNIT as a multiple of Jy/beam",
            ),
            (
                {"BUNIT": "counts", "BMAJ": None},
                "fluxes are in counts.pixel, not in Jy: write BUNIT",
            ),
            (
                {"BMAJ": None},
                "fluxes are in Jy/beam.pixel, not in Jy: no beam is known; --beam gives it",
            ),
            (sky, "fluxes are in Jy/beam.pixel, not in Jy: without sky coordinates the area"),
            (
                {"BUNIT": "MJy/sr", **sky},
                "fluxes are in MJy/sr.pixel, not in Jy: without sky coordinates the area",
            ),
            ({"BUNIT": "Jy/pixel", "BMAJ": None, **sky}, None),
            (
                {"BUNIT": None},
                "fluxes are in the unit of the pixels, not in Jy: there is no BUNIT; write it, such as Jy/beam",
            ),
            (
                {"BUNIT": None, "BMAJ": None},
                "fluxes are in the unit of the pixels, not in Jy: there is no BUNIT; write it, such as Jy/beam, and add --beam",
            ),
            ({"BUNIT": None, "BMAJ": None, **sky}, None),
        ):
            path = self.write("image.fits", t.noise(80, 80), t.sky_header(**cards))
            with self.subTest(cards):
                lines = lines_of(path)
                self.assertEqual(lines[1:2], [line for line in lines if "not in Jy" in line])
                if words:
                    self.assertIn("srcfind: %s: %s" % (path, words), lines[1])
                self.assertEqual(len(lines), 2 if words else 1)
                self.assertEqual(t.run(path, "-q").stderr, "")

    def test_without_a_beam(self):
        self.check("Jy/beam", "Jy/beam.pixel", 1, beam=False)
        self.check("K", "K.pixel", 1, beam=False)

    def test_jansky_a_pixel_need_no_beam(self):
        header = t.sky_header(BUNIT="Jy/pixel", BMAJ=None)
        catalogue = t.find(self.write("image.fits", t.noise(80, 80), header))
        self.assertEqual(catalogue["image"]["flux_unit"], "Jy")
        for s in catalogue["sources"]:
            self.assertEqual(s["Isl_Total_flux"], s["Pixel_sum"])
            self.assertFalse(s["Flags"] & NO_BEAM)


class FlatImages(t.Case):
    def test_flat_images_have_no_source(self):
        flat, spike = np.full((50, 60), 2.5, np.float32), np.full((50, 60), 2.5, np.float32)
        spike[20, 30] = 99
        for image in (flat, spike):
            path = self.write("flat.fits", image)
            result = t.run(path)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stdout, ",".join(COLUMNS) + "\n")
            self.assertIn("pixels of one value only, 2.5", result.stderr)
            catalogue = t.find(path)
            self.assertTrue(catalogue["background"]["empty"])
            self.assertEqual(catalogue["sources"], [])

    def test_kappa_that_leaves_nothing(self):
        result = t.run(self.write("noise.fits", t.noise(50, 50)), "--kappa", "1e-6")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--kappa too small", result.stderr)

    def test_no_source_is_a_success(self):
        result = t.run(self.write("noise.fits", t.noise(50, 50, n_sources=0), t.sky_header()))
        self.assertEqual([result.returncode, result.stdout], [0, ",".join(COLUMNS) + "\n"])


if __name__ == "__main__":
    t.main()

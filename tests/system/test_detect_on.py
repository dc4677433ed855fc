"""--detect-on: sources that are found in one image, and measured in another (SPEC: flat noise and
primary beam)."""
import json
import os
import shutil

import numpy as np
from astropy.io import fits

import srcfind_test as t
import sky  # which that finds

FAKE = os.environ.get("FAKE_CUDA", "")
SHAPE = (300, 410)
NOISES = ([], ["--local"], ["--rms-box", "60,20"])
DIVIDED = ([], ["--deblend"], ["--fit"])


def primary_beam(shape, sigma=150):
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.exp(-((x - shape[1] / 2) ** 2 + (y - shape[0] / 2) ** 2) / 2 / sigma**2)


class DetectOn(t.Case):
    def setUp(self):
        super().setUp()
        self.flat_pixels, self.beam = t.noise(*SHAPE, seed=4, n_sources=50), primary_beam(SHAPE)
        self.true_pixels = (self.flat_pixels / self.beam).astype(np.float32)
        self.flat, self.true = (
            self.write(name, pixels, t.sky_header())
            for name, pixels in (("flat.fits", self.flat_pixels), ("true.fits", self.true_pixels))
        )

    def csv(self, *options, **environment):
        return t.run(*options, "-q", check=True, env={**os.environ, **environment}).stdout

    def sources(self, *options, image=None, on=None):
        return t.find(image or self.true, "--detect-on", on or self.flat, *options)["sources"]

    def maps(self, names, *options, stem="m"):
        t.run(*options, "-q", "--save", ",".join(names), "-o", self.path(stem + ".csv"), check=True)
        return [fits.getdata(self.path("%s.%s.fits" % (stem, name))) for name in names]

    # --- reads ---

    def reads(self, *options):
        """How many bytes a run reads, but for those that any run reads: Linux adds those of a
        process to its parent's when it has ended."""

        def count(*arguments):
            before = self.bytes_read()
            t.run(*arguments, "-q", "-j", "1", "--cpu", "-o", self.path("c.csv"), check=True)
            return self.bytes_read() - before

        small = self.write("small.fits", self.flat_pixels[:50, :50], t.sky_header())
        return count(*options) - count(small)

    @staticmethod
    def bytes_read():
        with open("/proc/self/io", encoding="ascii") as stream:
            return int(stream.readline().split()[1])

    def test_images_are_read_seldom(self):
        """Two images are read at most 10 times in all, 18 with scales, and twice more each for what is
        left out of the boxes of their noise; a mask once or twice. Masks and the other image are not
        read to learn what is blank."""
        shape = (1500, 1500)
        pixels, beam = t.noise(*shape, seed=9, n_sources=60), primary_beam(shape, 800)
        beam[:100] = np.nan
        flat = self.write("wide_flat.fits", pixels, t.sky_header())
        true = self.write("wide_true.fits", (pixels / beam).astype(np.float32), t.sky_header())
        mask = self.write("wide_mask.fits", np.ones(shape, "f4"), t.sky_header())
        size, usual = os.path.getsize(flat), ("--local", "-i", "3", "--fit")
        for most, options in (
            (8.3, (flat, *usual)),
            (14, (true, "--detect-on", flat, *usual)),
            (22, (true, "--detect-on", flat, "--scales", *usual)),
            (16, (true, "--detect-on", flat, "--mask", mask, *usual)),
            (10.3, (flat, "--mask", mask, "--save", "rms,snr,mask,model", *usual)),
        ):
            with self.subTest(options=options):
                self.assertLess(self.reads(*options) / size, most)

    # --- one image ---

    def test_the_image_itself(self):
        """FILE equal to IMAGE: the bytes of the search without the option; FILE may be the image's
        own file."""
        same = self.path("same.fits")
        shutil.copy(self.flat, same)
        for noise in NOISES + (["--background", "zero"], ["--mask", self.true]):
            for options in DIVIDED + (
                ["--negative", "--fit"],
                ["--min-pixels", "4", "--connectivity", "8"],
            ):
                with self.subTest(noise=noise, options=options):
                    expected = self.csv(self.flat, "-i", "2.5", *noise, *options)
                    self.assertGreater(expected.count("\n"), 30)
                    self.assertEqual(
                        self.csv(self.flat, "--detect-on", same, "-i", "2.5", *noise, *options),
                        expected,
                    )
        self.assertEqual(self.csv(self.flat, "--detect-on", self.flat), self.csv(self.flat))

    def test_another_unit(self):
        """An image that is FILE times a power of two has the same islands and fits as a search of
        its own, bit for bit."""
        image = self.write("four.fits", self.flat_pixels * np.float32(4), t.sky_header())
        for noise in NOISES:
            for options in DIVIDED:
                with self.subTest(noise=noise, options=options):
                    self.assertEqual(
                        self.csv(image, "--detect-on", self.flat, "-i", "3", *noise, *options),
                        self.csv(image, "-i", "3", *noise, *options),
                    )

    # --- flat noise and a primary beam ---

    def test_primary_beam(self):
        """The islands are those of FILE, pixel for pixel; peaks over the beam, within 0.2%; SNR and
        Isl_rms are the image's."""
        for noise in NOISES:
            for options in DIVIDED[:2]:
                with self.subTest(noise=noise, options=options):
                    options = ["-i", "3", *noise, *options]
                    islands, rms, background = self.maps(
                        ["islands", "rms", "background"],
                        self.true,
                        "--detect-on",
                        self.flat,
                        *options,
                    )
                    (expected,) = self.maps(["islands"], self.flat, *options, stem="flat")
                    self.assertTrue(np.array_equal(islands, expected))
                    self.assertGreater(islands.max(), 40)
                    flat, true = t.find(self.flat, *options)["sources"], self.sources(*options)
                    names = (
                        "Source_id",
                        "Isl_id",
                        "N_pix",
                        "X_min",
                        "X_max",
                        "Y_min",
                        "Y_max",
                        "Xpeak",
                        "Ypeak",
                        "Flags",
                    )
                    self.assertEqual(
                        [[row[name] for name in names] for row in true],
                        [[row[name] for name in names] for row in flat],
                    )
                    ratios = [
                        row["Peak_flux"]
                        * self.beam[row["Ypeak"], row["Xpeak"]]
                        / of_flat["Peak_flux"]
                        for row, of_flat in zip(true, flat)
                    ]
                    self.assertLessEqual(
                        np.abs(np.percentile(ratios, (16, 50, 84)) - 1).max(), 0.002
                    )
                    for row in true:
                        at = row["Ypeak"], row["Xpeak"]
                        self.assertLessEqual(abs(row["Isl_rms"] / rms[at] - 1), 1e-6)
                        self.assertLessEqual(abs(row["Isl_mean"] - background[at]), 1e-6)
                        self.assertLessEqual(
                            abs(row["SNR"] * row["Isl_rms"] / row["Peak_flux"] - 1), 1e-12
                        )
                        self.assertEqual(row["E_Peak_flux"], row["Isl_rms"])
        for row, of_flat in zip(
            self.sources("--background", "zero"),
            t.find(self.flat, "--background", "zero")["sources"],
        ):
            self.assertLessEqual(
                abs(
                    row["Peak_flux"] * self.beam[row["Ypeak"], row["Xpeak"]] / of_flat["Peak_flux"]
                    - 1
                ),
                1e-6,
            )

    def test_moments(self):
        """Sums and centroids are those of the image's pixels in FILE's islands; T / peak in
        Total_flux is FILE's."""
        options = ["-i", "3"]
        (islands,) = self.maps(["islands"], self.flat, *options)
        for noise in ([], ["--local"]):
            rms, background = (
                plane.astype(float)
                for plane in self.maps(
                    ["rms", "background"], self.true, "--detect-on", self.flat, *options, *noise
                )
            )
            (islands,) = self.maps(["islands"], self.flat, *options, *noise)
            flat = t.find(self.flat, *options, *noise)["sources"]
            self.assertGreater(len(flat), 40)
            for row, of_flat in zip(self.sources(*options, *noise), flat):
                y, x = np.nonzero(islands == row["Isl_id"])
                above = self.true_pixels[y, x] - background[y, x]
                self.assertLessEqual(abs(row["Pixel_sum"] / above.sum() - 1), 1e-5)
                self.assertLessEqual(abs(row["Xposn"] - (x * above).sum() / above.sum()), 1e-4)
                self.assertLessEqual(abs(row["Yposn"] - (y * above).sum() / above.sum()), 1e-4)
                kept = of_flat["Isl_Total_flux"] / of_flat["Total_flux"]
                self.assertLessEqual(
                    abs(row["Isl_Total_flux"] / row["Total_flux"] / kept - 1), 1e-12
                )

    def test_fit(self):
        """Fits are those of the image; Pix_SNR and where the peaks are found is FILE's."""
        for noise in NOISES:
            options = ["-i", "3", "--fit", *noise]
            flat, true = t.find(self.flat, *options)["sources"], self.sources(*options)
            alone = [
                {row["Isl_id"]: row for row in rows if row["S_Code"] == "S"}
                for rows in (true, flat)
            ]
            pairs = [
                (row, alone[1][island]) for island, row in alone[0].items() if island in alone[1]
            ]
            names = ("Pix_SNR", "Xpeak", "Ypeak", "N_pix")
            self.assertEqual(
                *([[row[name] for name in names] for row in rows] for rows in zip(*pairs))
            )
            ratios = [
                row["Peak_flux"]
                * self.beam[int(row["Yposn"] + 0.5), int(row["Xposn"] + 0.5)]
                / of_flat["Peak_flux"]
                for row, of_flat in pairs
                if of_flat["SNR"] > 15
                and min(row["Xposn"], row["Yposn"]) > 0
                and row["Xposn"] < 409
                and row["Yposn"] < 299
            ]
            self.assertGreater(len(ratios), 20)
            self.assertLess(np.percentile(np.abs(np.array(ratios) - 1), 90), 0.02)
            for row in true:
                self.assertLessEqual(abs(row["SNR"] * row["Isl_rms"] / row["Peak_flux"] - 1), 1e-12)

    def test_margins_are_those_of_file(self):
        """What is in another island of FILE is not fitted, however low it is in the noise of the
        image."""
        y, x = np.mgrid[:200, :200]
        random, header = np.random.default_rng(5).normal(0, 1, x.shape), t.sky_header(
            BMAJ=5e-3, BMIN=5e-3
        )
        first, second = (1000 * np.exp(-((x - at) ** 2 + (y - 100) ** 2) / 8) for at in (90, 107))
        flat = self.write("pair.fits", (first + second + random).astype(np.float32), header)
        rows = []
        self.assertEqual(t.find(flat, "-i", "3")["sources"][-1]["Isl_id"], 2)
        for factor in (1, 9):
            image = (first + second + random) * np.where(second > 8, factor, 1)
            path = self.write("pair%d.fits" % factor, image.astype(np.float32), header)
            found = t.find(
                path,
                "--detect-on",
                flat,
                "-i",
                "3",
                "--fit",
                "--rms",
                "300",
                "--background",
                "zero",
            )["sources"]
            rows.append(sorted(found, key=lambda row: row["Xpeak"]))
        self.assertEqual([len(found) for found in rows], [2, 2])
        # but for errors, holes and degrees of freedom, by the noise of the whole image
        by_noise = ("Hole", "Chi2", "Dof")
        measured = [
            {name: row[name] for name in row if not name.startswith("E_") and name not in by_noise}
            for row in (rows[0][0], rows[1][0])
        ]
        self.assertEqual(*measured)
        self.assertNotEqual(rows[0][1], rows[1][1])

    def test_maps(self):
        """rms, background, model and residual are the image's; snr, islands and sources FILE's."""
        options = ["-i", "3", "--local", "--fit"]
        names = ["rms", "background", "snr", "islands", "sources", "model", "residual"]
        rms, background, snr, islands, sources, model, residual = self.maps(
            names, self.true, "--detect-on", self.flat, *options
        )
        for found, expected in zip(
            (rms, background), self.maps(["rms", "background"], self.true, *options, stem="t")
        ):
            self.assertTrue(np.array_equal(found, expected))
        of_flat = self.maps(["snr", "islands"], self.flat, *options, stem="f")
        self.assertTrue(np.array_equal(snr, of_flat[0]))
        self.assertTrue(np.array_equal(islands, of_flat[1]))
        self.assertTrue(np.array_equal(sources > 0, islands > 0))
        self.assertLess(np.abs(self.true_pixels - background - model - residual).max(), 1e-4)
        self.assertGreater(model.max(), 1.5 * (self.flat_pixels * (islands > 0)).max() * 0.5)
        (alone,) = self.maps(["snr"], self.true, "--detect-on", self.flat, *options, stem="alone")
        self.assertTrue(np.array_equal(snr, alone))
        self.assertIn(
            "srcfind option detect-on: a file",
            str(fits.getheader(self.path("m.snr.fits"))["HISTORY"]),
        )
        (divided,) = self.maps(
            ["sources"], self.true, "--detect-on", self.flat, "-i", "2", "--deblend", stem="d"
        )
        (expected,) = self.maps(["sources"], self.flat, "-i", "2", "--deblend", stem="e")
        self.assertTrue(np.array_equal(divided, expected))

    # --- an image in which the sources are not ---

    def test_image_without_the_sources(self):
        """In noise, fluxes of either sign: Peak_flux is the value at Xpeak, Ypeak, which has no
        bias."""
        noise = np.random.default_rng(7).normal(0, 1, SHAPE).astype(np.float32)
        image = self.write("noise.fits", noise, t.sky_header())
        for options in ([], ["--local"], ["--deblend"], ["--fit", "--negative"]):
            rows = self.sources(*options, image=image)
            self.assertGreater(len(rows), 40)
            self.assertLess(abs(np.mean([row["SNR"] for row in rows])), 0.8)
            if "--fit" in options:
                continue
            for row in rows:
                self.assertLessEqual(
                    abs(row["Peak_flux"] + row["Isl_mean"] - noise[row["Ypeak"], row["Xpeak"]]),
                    1e-6,
                )
                self.assertGreater(row["E_Total_flux"], 0)
                self.assertTrue(row["X_min"] - 0.5 <= row["Xposn"] <= row["X_max"] + 0.5)
            lost = [row for row in rows if row["Total_flux"] <= 0]
            self.assertGreater(len(lost), 5)
            self.assertTrue(
                all(
                    row["Flags"] & 8 and row["E_RA"] is None and row["Xposn"] == row["Xpeak"]
                    for row in lost
                )
            )

    def test_large_values_of_the_other_sign(self):
        """A sum has room for each pixel, also for those that are far below the highest one."""
        row = max(t.find(self.flat, "--local")["sources"], key=lambda row: row["N_pix"])
        image = self.true_pixels.copy()
        image[row["Ypeak"], row["Xpeak"]] = -1e30
        path = self.write("hole.fits", image, t.sky_header())
        for options in ([], ["--local"], ["--deblend", "--local"]):
            (found,) = (
                other
                for other in self.sources(*options, image=path)
                if (other["Xpeak"], other["Ypeak"]) == (row["Xpeak"], row["Ypeak"])
            )
            self.assertLessEqual(abs(found["Pixel_sum"] / -1e30 - 1), 1e-6)

    def test_image_without_noise(self):
        """A constant image has no rms: its cells are empty."""
        image = self.write("constant.fits", np.full(SHAPE, 3, np.float32), t.sky_header())
        for options in ([], ["--fit"]):
            rows = self.sources(*options, image=image)
            self.assertGreater(len(rows), 40)
            self.assertEqual(
                {(row["Isl_rms"], row["SNR"], row["Peak_flux"]) for row in rows}, {(None, None, 0)}
            )
        self.assertEqual({row["Isl_rms"] for row in self.sources("--rms", "2", image=image)}, {2})

    def test_negative(self):
        """Negative sources are those of FILE negated, measured in the image negated; positive rows
        come first."""
        flat, image = self.flat_pixels.copy(), self.true_pixels.copy()
        flat[:, ::2], image[:, ::2] = flat[:, ::2], image[:, ::2]
        flat[SHAPE[0] // 2 :] *= -1
        image[SHAPE[0] // 2 :] *= -1
        paths = [
            self.write(name, pixels, t.sky_header())
            for name, pixels in (
                ("a.fits", image),
                ("b.fits", flat),
                ("c.fits", -image),
                ("d.fits", -flat),
            )
        ]
        for options in (
            ["--local", "-i", "3", "--fit"],
            ["-i", "3"],
            ["--deblend", "--background", "zero"],
        ):
            both = t.find(paths[0], "--detect-on", paths[1], "--negative", *options)["sources"]
            positive = t.find(paths[0], "--detect-on", paths[1], *options)["sources"]
            negative = t.find(paths[2], "--detect-on", paths[3], *options)["sources"]
            self.assertGreater(min(len(positive), len(negative)), 12)
            self.assertEqual(both[: len(positive)], positive)
            self.assertEqual(len(both), len(positive) + len(negative))
            for row, turned in zip(both[len(positive) :], negative):
                self.assertEqual(
                    [row[name] for name in ("N_pix", "Xpeak", "Isl_rms", "RA")],
                    [turned[name] for name in ("N_pix", "Xpeak", "Isl_rms", "RA")],
                )
                self.assertEqual(
                    [row["Total_flux"], row["SNR"]], [-turned["Total_flux"], -turned["SNR"]]
                )

    # --- what holds for which ---

    def test_blanks(self):
        """A pixel that is blank in either is blank in both; --mask and --blank hold for both, maps
        of the noise make blank, too."""
        in_flat, in_true, mask = (
            self.flat_pixels.copy(),
            self.true_pixels.copy(),
            np.ones(SHAPE, np.float32),
        )
        in_flat[:40], in_flat[100:110, 200:230] = np.nan, np.inf
        in_true[:, :30], in_true[200:260, 90:120] = np.nan, np.nan
        mask[260:, 300:] = 0
        blank = ~(np.isfinite(in_flat) & np.isfinite(in_true) & (mask > 0))
        paths = [
            self.write(name, pixels, t.sky_header())
            for name, pixels in (
                ("t.fits", in_true),
                ("f.fits", in_flat),
                ("bt.fits", np.where(blank, np.nan, self.true_pixels)),
                ("bf.fits", np.where(blank, np.nan, self.flat_pixels)),
            )
        ]
        mask = self.write("mask.fits", mask)
        for options in ([], ["--local", "--fit"], ["--deblend", "--negative"]):
            found = t.find(paths[0], "--detect-on", paths[1], "--mask", mask, "-i", "3", *options)
            expected = t.find(paths[2], "--detect-on", paths[3], "-i", "3", *options)
            self.assertEqual(
                [found["background"], found["sources"]],
                [expected["background"], expected["sources"]],
            )
            self.assertEqual(found["background"]["n_blank"], blank.sum())
            self.assertGreater(len(found["sources"]), 20)
        for name in ("rms", "snr", "residual"):
            (plane,) = self.maps([name], paths[0], "--detect-on", paths[1], "--mask", mask, "--fit")
            self.assertTrue(np.array_equal(np.isnan(plane), blank))
        zeros = [
            self.write(name, np.where(np.isfinite(pixels), pixels, 0), t.sky_header())
            for name, pixels in (("zt.fits", in_true), ("zf.fits", in_flat))
        ]
        found = t.find(zeros[0], "--detect-on", zeros[1], "--mask", mask, "--blank", "0")
        self.assertEqual(found["sources"], t.find(paths[2], "--detect-on", paths[3])["sources"])
        rms = self.write("rms.fits", np.where(blank, 0, 1).astype(np.float32))
        (islands,) = self.maps(["islands"], self.true, "--detect-on", self.flat, "--rms-map", rms)
        (expected,) = self.maps(["islands"], paths[3])
        self.assertTrue(np.array_equal(islands, expected))
        nothing = self.write("nothing.fits", np.full(SHAPE, np.nan, np.float32), t.sky_header())
        self.assert_error(
            1,
            "none of the %d pixels is left to search: a pixel needs a finite value in the image, a finite value in %s"
            % (blank.size, nothing),
            self.true,
            "--detect-on",
            nothing,
        )

    def test_given_noise(self):
        """--rms, --background VALUE and maps are the image's alone; --background zero is of
        both."""
        (islands,) = self.maps(["islands"], self.flat, "-i", "3")
        rms, background = np.full(SHAPE, 0.25, np.float32), np.full(SHAPE, 5, np.float32)
        maps = [
            "--rms-map",
            self.write("rms.fits", rms),
            "--background-map",
            self.write("background.fits", background),
        ]
        for given in (
            ["--rms", "0.25", "--background", "5"],
            maps,
            maps[:2] + ["--background", "5"],
            maps[2:] + ["--rms", "0.25"],
        ):
            with self.subTest(given=given):
                (found,) = self.maps(
                    ["islands"], self.true, "--detect-on", self.flat, "-i", "3", *given
                )
                self.assertTrue(np.array_equal(found, islands))
                rows = self.sources("-i", "3", *given)
                self.assertEqual({(row["Isl_rms"], row["Isl_mean"]) for row in rows}, {(0.25, 5)})
                for row in rows:
                    self.assertLessEqual(
                        abs(row["Peak_flux"] + 5 - self.true_pixels[row["Ypeak"], row["Xpeak"]]),
                        1e-5,
                    )
                found, expected = (
                    self.maps(["islands"], *options, "--rms-box", "60,20")[0]
                    for options in ((self.true, "--detect-on", self.flat, *given), (self.flat,))
                )
                self.assertTrue(np.array_equal(found, expected))
        shifted = self.write("shifted.fits", self.flat_pixels + np.float32(2), t.sky_header())
        (zero,) = self.maps(["islands"], shifted, "--background", "zero", "-i", "4")
        (found,) = self.maps(
            ["islands"], self.true, "--detect-on", shifted, "--background", "zero", "-i", "4"
        )
        self.assertTrue(np.array_equal(found, zero))
        self.assertFalse(np.array_equal(zero, self.maps(["islands"], shifted, "-i", "4")[0]))

    # --- maps of the noise of FILE ---

    def noise_maps(self):
        """Maps of a noise that rises to the right, in the unit of FILE."""
        rms = np.tile(np.linspace(0.5, 3, SHAPE[1]), (SHAPE[0], 1)).astype(np.float32)
        return {
            "rms": self.write("noise.rms.fits", rms, t.sky_header()),
            "background": self.write("noise.background.fits", rms / 4, t.sky_header()),
        }

    def test_own_maps(self):
        """The islands, and the map of the SNR, are those that a search of FILE finds with the maps;
        the noise of the rows is that of the image."""
        path_of = self.noise_maps()
        plain, rows = self.maps(["islands"], self.flat, "-i", "3")[0], self.sources("-i", "3")
        for kinds in (("rms",), ("background",), ("rms", "background")):
            for noise in NOISES:
                with self.subTest(kinds=kinds, noise=noise):
                    of_file, of_other = (
                        [text for kind in kinds for text in (option % kind, path_of[kind])]
                        for option in ("--%s-map", "--detect-%s-map")
                    )
                    expected = self.maps(["islands", "snr"], self.flat, "-i", "3", *of_file, *noise)
                    self.assertFalse(np.array_equal(expected[0], plain))
                    self.assertGreater(expected[0].max(), 10)
                    options = ["--detect-on", self.flat, "-i", "3", *of_other, *noise]
                    found = self.maps(["islands", "snr"], self.true, *options)
                    np.testing.assert_array_equal(found, expected)
        found = self.sources("-i", "3", *of_other)
        self.assertEqual({row["Isl_rms"] for row in found}, {row["Isl_rms"] for row in rows})

    def test_same_maps_of_both(self):
        """FILE equal to IMAGE, with the same maps for both: the bytes of the search without FILE,
        on any number of threads."""
        path_of, same = self.noise_maps(), self.path("same.fits")
        shutil.copy(self.flat, same)
        given = ["--rms-map", path_of["rms"], "--background-map", path_of["background"]]
        both = ["--detect-rms-map", path_of["rms"], "--detect-background-map"]
        both += [path_of["background"], "--detect-on", same]
        for options in (
            [],
            ["--deblend", "--min-pixels", "3"],
            ["--fit", "--negative"],
            ["--scales", "--local"],
            ["--completeness=40", "--fit"],
        ):
            with self.subTest(options=options):
                expected = self.csv(self.flat, "-i", "2.5", *given, *options)
                self.assertGreater(expected.count("\n"), 10)
                for threads in ("1", "3"):
                    self.assertEqual(
                        self.csv(self.flat, "-i", "2.5", *given, *both, *options, "-j", threads),
                        expected,
                    )

    def test_blanks_of_own_maps(self):
        """What a map of FILE makes blank is blank in both images."""
        rms = np.ones(SHAPE, np.float32)
        rms[100:200], rms[:, :40], rms[:, 380:] = np.nan, 0, np.inf
        given = ["--detect-rms-map", self.write("holes.fits", rms)]
        mask = self.write("mask.fits", 1 * (np.isfinite(rms) & (rms > 0)))
        for options in ([], ["--local"]):
            islands, noise = self.maps(
                ["islands", "rms"], self.true, "--detect-on", self.flat, *given, *options
            )
            (expected,) = self.maps(
                ["rms"], self.true, "--detect-on", self.flat, "--mask", mask, *options
            )
            np.testing.assert_array_equal(noise, expected)
            self.assertGreater(islands.max(), 3)
            self.assertFalse(islands[~(rms > 0) | ~np.isfinite(rms)].any())

    def test_wrong_own_maps(self):
        path_of = self.noise_maps()
        given = [self.true, "--detect-on", self.flat]
        for kind in ("rms", "background"):
            option = "--detect-%s-map" % kind
            self.assert_error(
                2,
                "%s: it is for the image of --detect-on: add --detect-on; for the image itself there is --%s-map"
                % (option, kind),
                self.true,
                option,
                path_of[kind],
            )
            for image, text in (
                (self.flat, "this is the image itself"),
                (self.true, "this is the image itself"),
                (self.write("small.fits", np.ones((9, 9), "f4")), "9 x 9 pixels, where the image"),
                (self.write("cube.fits", np.ones((2, *SHAPE), "f4")), "a map has two axes"),
                (self.path("missing.fits"), "missing.fits: "),
            ):
                self.assert_error(1, text, *given, option, image)
        own = self.path("own.csv")
        t.run(self.flat, "--save", "rms", "-o", own, "-q", check=True)
        self.assert_error(
            1,
            "this is a map of rms: --detect-background-map needs one of background",
            *given,
            "--detect-background-map",
            self.path("own.rms.fits"),
        )
        self.assert_error(
            2,
            "--detect-background-map: --background zero is for both images: leave one of them out",
            *given,
            "--background",
            "0",
            "--detect-background-map",
            path_of["background"],
        )
        self.assert_error(
            2,
            "would replace a mask or map that is read",
            *given,
            "--detect-rms-map",
            path_of["rms"],
            "-f",
            "fits",
            "-o",
            path_of["rms"],
        )
        t.run(
            *given,
            "--rms",
            "1",
            "--background",
            "1",
            "--detect-rms-map",
            path_of["rms"],
            check=True,
        )

    def test_unit_of_own_maps(self):
        """It is that of FILE, not that of the image."""
        header = t.sky_header()
        units = {"flat": "mJy/beam", "true": "Jy/beam"}
        path_of = {}
        for name, pixels in (("flat", self.flat_pixels), ("true", self.true_pixels)):
            header["BUNIT"] = units[name]
            path_of[name] = self.write("unit_%s.fits" % name, pixels, header)
            path_of[units[name]] = self.write("rms_%s.fits" % name, np.ones(SHAPE, "f4"), header)
        given = [path_of["true"], "--detect-on", path_of["flat"], "--detect-rms-map"]
        self.assertIn("\n1,", self.csv(*given, path_of["mJy/beam"]))
        self.assert_error(
            1,
            "its unit is Jy/beam, but the unit of the image is mJy/beam: convert the map",
            *given,
            path_of["Jy/beam"],
        )

    def test_directories_of_own_maps(self):
        """Several images have theirs in a directory, under the names of --rms-map."""
        for folder, pixels in (("true", self.true_pixels), ("flat", self.flat_pixels)):
            os.makedirs(self.path(folder))
            for stem, turned in (("a", pixels), ("b", pixels[::-1])):
                self.write("%s/%s.fits" % (folder, stem), turned, t.sky_header())
        os.makedirs(self.path("noise"))
        path_of = self.noise_maps()
        for end, name in (("a.rms.fits", "rms"), ("b_rms.fits", "rms"), ("a.fits", "background")):
            shutil.copy(path_of[name], self.path("noise/" + end))
        shutil.copy(path_of["background"], self.path("noise/b_bkg.fits"))
        t.run(
            *(self.path("true/%s.fits" % stem) for stem in "ab"),
            *("--detect-on", self.path("flat"), "--detect-rms-map", self.path("noise")),
            *("--detect-background-map", self.path("noise"), "-o", self.path("out"), "-q"),
            check=True,
        )
        maps = ["--detect-rms-map", path_of["rms"], "--detect-background-map"]
        for stem in "ab":
            with open(self.path("out/%s.csv" % stem)) as stream:
                self.assertEqual(
                    stream.read(),
                    self.csv(
                        *(self.path("true/%s.fits" % stem), "--detect-on"),
                        *(self.path("flat/%s.fits" % stem), *maps, path_of["background"]),
                    ),
                )

    def test_own_maps_and_devices(self):
        """Maps of the noise are used on the CPU."""
        maps = ["--detect-on", self.flat, "--detect-rms-map", self.noise_maps()["rms"]]
        result = t.run(self.true, *maps, "--compare-cpu")
        self.assertEqual(result.returncode, 2)
        self.assertIn("maps of the noise are used on the CPU only", result.stderr)
        self.assertIn("islands", t.run(self.true, *maps, "--bench=1", "--cpu", check=True).stdout)
        if os.path.exists(FAKE):
            environment = {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
            self.assertIn(
                "on the CPU (maps of the noise",
                t.run(self.true, *maps, env=environment, check=True).stderr,
            )

    def test_planes(self):
        """--plane is of the image and, on axes of which FILE has several planes, of FILE."""
        noise = np.random.default_rng(8).normal(0, 1, SHAPE).astype(np.float32)
        cube = self.write(
            "cube.fits", np.stack([noise, self.true_pixels, noise])[None], t.sky_header()
        )
        flats = self.write(
            "flats.fits", np.stack([noise, self.flat_pixels, noise])[None], t.sky_header()
        )
        one = self.write("one.fits", self.flat_pixels[None, None], t.sky_header())
        two = self.write("two.fits", np.stack([noise, self.flat_pixels])[None], t.sky_header())
        expected = self.csv(self.true, "--detect-on", self.flat)
        for on in (flats, one, two, self.flat):
            self.assertEqual(self.csv(cube, "--detect-on", on, "--plane", "2"), expected)
        self.assertEqual(
            self.csv(cube, "--detect-on", flats, "--plane", "1"),
            self.csv(cube, "--detect-on", flats),
        )
        self.assert_error(
            1, "%s: there is no plane 3 on axis 3" % two, cube, "--detect-on", two, "--plane", "3"
        )
        self.assertEqual(self.csv(self.true, "--detect-on", one), expected)

    def test_kinds_of_files(self):
        """FILE may have another type, byte order and compression."""
        expected = self.csv(self.true, "--detect-on", self.flat)
        packed, double = self.path("packed.fits.fz"), self.flat_pixels.astype(np.float64)
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(self.flat_pixels, "GZIP_1", (64, 50), t.sky_header(), quantize_level=0),
            ]
        ).writeto(packed)
        for path in (
            packed,
            self.write("flat.fits.gz", self.flat_pixels, t.sky_header()),
            self.write("double.fits", double, t.sky_header()),
        ):
            self.assertEqual(self.csv(self.true, "--detect-on", path), expected)

    # --- the same bytes ---

    def test_threads_and_variants(self):
        options = [self.true, "--detect-on", self.flat, "-i", "3", "--negative"]
        for more in ([], ["--local", "--fit"], ["--deblend"]):
            expected = self.csv(*options, *more, "--threads", 1)
            self.assertGreater(expected.count("\n"), 40)
            for threads in (2, 7):
                self.assertEqual(self.csv(*options, *more, "--threads", threads), expected)
            for variant in () if t.THREADS_WATCHED else ("AVX2", "SSE2", "plain"):
                self.assertEqual(self.csv(*options, *more, SRCFIND_SIMD=variant), expected)

    # --- errors ---

    def test_another_shape(self):
        other = self.write("other.fits", self.flat_pixels[:, :400], t.sky_header())
        self.assert_error(
            1, "%s: NAXIS1 is 400, but 410 in the image" % other, self.true, "--detect-on", other
        )
        other = self.write("other.fits", self.flat_pixels[:299], t.sky_header())
        self.assert_error(
            1, "%s: NAXIS2 is 299, but 300 in the image" % other, self.true, "--detect-on", other
        )

    def test_another_wcs(self):
        """The message has the card that differs, if a corner is more than 0.01 pixel elsewhere."""
        for cards, message in (
            ({"CRPIX1": 50.02}, "up to 0.02 pixels apart: CRPIX1 is 50.02 (in the image: 50)"),
            ({"CRVAL2": 2.00001}, "up to 0.02 pixels apart: CRVAL2 is 2.00001 (in the image: 2)"),
            ({"CDELT1": -5.001e-4}, "CDELT1 is -0.0005001 (in the image: -0.0005)"),
            ({"CROTA2": 0.1}, "CROTA2 is 0.1 (in the image: none)"),
            ({"RADESYS": "FK5"}, "image: RADESYS is FK5 (in the image: ICRS)"),
            ({"CTYPE1": "GLON-SIN", "CTYPE2": "GLAT-SIN"}, "CTYPE1 is GLON-SIN"),
            ({"CTYPE1": None, "CTYPE2": None}, "CTYPE1 is none (in the image: RA---SIN)"),
        ):
            with self.subTest(cards=cards):
                other = self.write("other.fits", self.flat_pixels, t.sky_header(**cards))
                self.assert_error(1, message, self.true, "--detect-on", other)
                self.assert_error(
                    1,
                    "%s: its sky coordinates differ from those of the image" % self.true,
                    other,
                    "--detect-on",
                    self.true,
                )
        expected = self.csv(self.true, "--detect-on", self.flat)
        for cards in (
            {"CRPIX1": 50.005},
            {"CRVAL1": 510.0},
            {"BMAJ": None, "BMIN": None, "BPA": None, "BUNIT": "K"},
            {"CDELT1": None, "CDELT2": None, "CD1_1": -5e-4, "CD2_2": 5e-4},
        ):
            other = self.write("other.fits", self.flat_pixels, t.sky_header(**cards))
            self.assertEqual(self.csv(self.true, "--detect-on", other), expected)
        plain = [
            self.write(name, pixels)
            for name, pixels in (("x.fits", self.true_pixels), ("y.fits", self.flat_pixels))
        ]
        self.assertGreater(self.csv(plain[0], "--detect-on", plain[1]).count("\n"), 40)
        whole = t.sky_header(
            CTYPE1="RA---AIT",
            CTYPE2="DEC--AIT",
            CRPIX1=205.5,
            CRPIX2=150.5,
            CDELT1=-1.0,
            CDELT2=1.0,
            CRVAL2=0.0,
        )
        sky = [
            self.write(name, pixels, whole)
            for name, pixels in (("x.fits", self.true_pixels), ("y.fits", self.flat_pixels))
        ]
        self.assertGreater(self.csv(sky[0], "--detect-on", sky[1]).count("\n"), 40)
        wide = [
            self.write(
                name,
                self.flat_pixels,
                t.sky_header(
                    CTYPE1="RA---" + name[:3], CTYPE2="DEC--" + name[:3], CDELT1=-0.05, CDELT2=0.05
                ),
            )
            for name in ("SIN.fits", "TAN.fits")
        ]
        self.assert_error(
            1,
            "CTYPE1 is RA---TAN (in the image: RA---SIN), CTYPE2",
            wide[0],
            "--detect-on",
            wide[1],
        )
        whole["CRPIX1"] += 1
        self.assert_error(
            1,
            "CRPIX1 is 206.5 (in the image: 205.5)",
            sky[0],
            "--detect-on",
            self.write("z.fits", self.flat_pixels, whole),
        )

    def test_no_file(self):
        missing, text = self.path("missing.fits"), self.path("text.fits")
        with open(text, "w") as stream:
            stream.write("no image")
        self.assert_error(1, missing, self.true, "--detect-on", missing)
        self.assert_error(1, text, self.true, "--detect-on", text)
        self.assert_error(
            1,
            "%s: there is no true.fits in this directory"
            % os.path.join(self.directory.name, "empty"),
            self.true,
            "--detect-on",
            os.makedirs(self.path("empty")) or self.path("empty"),
        )
        self.assert_error(
            2,
            "would replace a mask or map that is read",
            self.true,
            "--detect-on",
            self.flat,
            "-f",
            "fits",
            "-o",
            self.flat,
        )

    def test_what_does_not_go_together(self):
        given = [self.true, "--detect-on", self.flat]
        self.assert_error(
            2,
            "--detect-on: nothing is detected with --at: leave one of them out",
            *given,
            "--at",
            self.path("c.csv"),
        )

    # --- several images ---

    def test_several(self):
        """A directory has FILE for each image; the report and the catalogues name it."""
        for folder, pixels in (("true", self.true_pixels), ("flat", self.flat_pixels)):
            os.makedirs(self.path(folder))
            for stem, turned in (("a", pixels), ("b", pixels[::-1])):
                self.write("%s/%s.fits" % (folder, stem), turned, t.sky_header())
        images = [self.path("true/%s.fits" % stem) for stem in "ab"]
        run = [
            "--detect-on",
            self.path("flat"),
            "-o",
            self.path("out"),
            "--report",
            self.path("report.csv"),
        ]
        t.run(*images, *run, "-q", check=True)
        for stem, image in zip("ab", images):
            with open(self.path("out/%s.csv" % stem)) as stream:
                self.assertEqual(
                    stream.read(), self.csv(image, "--detect-on", self.path("flat/%s.fits" % stem))
                )
        self.assertEqual(
            t.find(images[0], "--detect-on", self.path("flat"))["options"]["detect-on"],
            self.path("flat"),
        )
        self.assertIn("2 skipped", t.run(*images, *run, "--skip-existing", check=True).stderr)
        self.write("flat/b.fits", self.flat_pixels, t.sky_header())
        self.assertIn("1 skipped", t.run(*images, *run, "--skip-existing", check=True).stderr)
        self.assert_error(
            2,
            "--detect-on: %s is no directory: several images need a directory" % self.flat,
            *images,
            "--detect-on",
            self.flat,
            "-o",
            self.path("out"),
        )
        os.remove(self.path("flat/b.fits"))
        result = t.run(*images, *run, "-q")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no b.fits in this directory", result.stderr)

    def test_json(self):
        catalogue = json.loads(
            t.run(
                self.true,
                "--detect-on",
                self.flat,
                "--fit",
                "--negative",
                "-f",
                "json",
                "-q",
                check=True,
            ).stdout
        )
        self.assertEqual(catalogue["options"]["detect-on"], self.flat)
        self.assertEqual(catalogue["image"]["path"], self.true)
        self.assertEqual(catalogue["background"], t.find(self.true)["background"])


BEAM = (5.0, 4.0, 30.0)  # pixels, degrees
SCALES = ("--local", "-i", "3", "--scales")


def fluxes(rows, beam=None):
    """The flux of each island, as seen through a primary beam."""
    found = {}
    for row in rows:
        seen = 1 if beam is None else beam[int(row["Yposn"] + 0.5), int(row["Xposn"] + 0.5)]
        found[row["Isl_id"]] = found.get(row["Isl_id"], 0) + row["Total_flux"] * seen
    return found


def scales(rows):
    """The scale of each island."""
    return {row["Isl_id"]: row["Scale"] for row in rows}


class Scales(t.Case):
    """--scales: both images are smoothed, each less its own model; the samples of FILE have the
    islands, and those of IMAGE are measured."""

    def setUp(self):
        super().setUp()
        self.flat = self.path("flat.fits")
        sky.make(["400", self.flat, "--beam=%g,%g,%g" % BEAM, "--density", "300", "--wide", "40"])
        with fits.open(self.flat) as hdus:
            self.pixels, self.header = hdus[0].data.astype(np.float64), hdus[0].header
        self.beam = primary_beam(self.pixels.shape, 250)
        self.true = self.image("true.fits", self.pixels / self.beam)

    def image(self, name, pixels, **cards):
        header = self.header.copy()
        for card, value in cards.items():
            header[card] = value
        return self.write(name, pixels.astype(np.float32), header)

    def noise(self, seed):
        return sky.NOISE * sky.noise(
            sky.arguments(["400", "x.fits", "--beam=%g,%g,%g" % BEAM]), np.random.default_rng(seed)
        )

    def gaussian(self, x, y, peak, fwhm):
        rows, columns = np.mgrid[:400, :400]
        return (
            peak
            * sky.NOISE
            * np.exp(-4 * np.log(2) * ((columns - x) ** 2 + (rows - y) ** 2) / fwhm**2)
        )

    def csv(self, *options, **environment):
        return t.run(*options, "-q", check=True, env={**os.environ, **environment}).stdout

    def search(self, *options):
        """The sources of a search, and the islands of its pixels."""
        t.run(*options, "-q", "--save", "islands", "-o", self.path("c.csv"), check=True)
        return t.read_csv(self.path("c.csv")), fits.getdata(self.path("c.islands.fits"))

    def test_the_image_itself(self):
        """FILE equal to IMAGE, or IMAGE a power of two times FILE: the bytes of the search without
        the option."""
        image = self.image("four.fits", 4 * self.pixels)
        for options in (
            SCALES,
            ("--scales=1.5,5", "--negative", "--shapes", "free"),
            ("--scales=3", "--shapes", "beam", "--min-pixels", "9"),
            ("--scales=2.5", "--shapes", "beam", "--beam", "13,11,20"),
        ):
            with self.subTest(options=options):
                expected = self.csv(self.flat, *options)
                self.assertGreater(len({line.split(",")[2] for line in expected.splitlines()}), 2)
                self.assertEqual(self.csv(self.flat, "--detect-on", self.flat, *options), expected)
                self.assertEqual(
                    self.csv(image, "--detect-on", self.flat, *options), self.csv(image, *options)
                )

    def test_primary_beam(self):
        """The islands of all scales are those of FILE alone, pixel for pixel; fluxes are those of
        FILE over the beam."""
        for options in (SCALES, ("-i", "3", "--negative", "--scales=2,5")):
            with self.subTest(options=options):
                flat, expected = self.search(self.flat, *options)
                true, islands = self.search(self.true, "--detect-on", self.flat, *options)
                self.assertTrue(np.array_equal(islands, expected))
                self.assertEqual(scales(true), scales(flat))
                of_flat, of_true = fluxes(flat), fluxes(true, self.beam)
                ratios = [
                    of_true[island] / flux
                    for island, flux in of_flat.items()
                    if scales(flat)[island] > 0
                ]
                self.assertGreater(len(ratios), 4)
                self.assertLess(abs(np.median(ratios) - 1), 0.03)
                self.assertLess(np.abs(np.array(ratios) - 1).max(), 0.3)
                extents = (
                    {
                        (row["Isl_id"], row["Xpeak"], row["Ypeak"], row["N_pix"])
                        for row in rows
                        if row["Scale"] > 0 and row["S_Code"] == "S"
                    }
                    for rows in (flat, true)
                )
                self.assertEqual(*extents)

    def test_rows(self):
        """Noise, SNR and errors of a scale are those of the smoothed IMAGE; Pix_SNR is that of the
        smoothed FILE."""
        pairs = [
            [
                {
                    row["Isl_id"]: row
                    for row in t.find(*images, *SCALES)["sources"]
                    if row["Scale"] > 0 and row["S_Code"] == "S"
                }
            ]
            for images in ((self.true, "--detect-on", self.flat), (self.flat,))
        ]
        (true,), (flat,) = pairs
        self.assertGreater(len(true), 3)
        for island, row in true.items():
            self.assertEqual(row["Pix_SNR"], flat[island]["Pix_SNR"])
            seen = self.beam[row["Ypeak"], row["Xpeak"]]
            self.assertLess(abs(row["Isl_rms"] * seen / flat[island]["Isl_rms"] - 1), 0.25)
            self.assertLess(
                abs(row["E_Total_flux"] * seen / flat[island]["E_Total_flux"] - 1), 0.35
            )
            self.assertLess(abs(row["SNR"] / flat[island]["SNR"] - 1), 0.25)

    def test_own_model(self):
        """Each image is smoothed less its own Gaussians: without those of FILE, however little of
        them is in IMAGE, and the reverse."""
        halo, noise = self.gaussian(200, 200, 3, 40), self.noise(3)
        points = sum(
            self.gaussian(x, y, 40, 5)
            for x in range(20, 400, 60)
            for y in range(20, 400, 60)
            if np.hypot(x - 200, y - 200) > 60
        )
        round_beam = {"BMAJ": 5 * sky.CELL, "BMIN": 5 * sky.CELL, "BPA": 0}
        flat = self.image("points.fits", halo + points + noise, **round_beam)
        expected = t.find(flat, *SCALES)["sources"]
        self.assertGreater(sum(row["Scale"] == 0 for row in expected), 36)
        flux = 3 * sky.NOISE * (40 / 5) ** 2
        for factor in (0, 0.2, 8):
            image = self.image("factor.fits", halo + factor * points + self.noise(4), **round_beam)
            found = t.find(image, "--detect-on", flat, *SCALES)["sources"]
            self.assertEqual(scales(found), scales(expected))
            total = sum(
                row["Total_flux"]
                for row in found
                if row["Scale"] > 0 and np.hypot(row["Xposn"] - 200, row["Yposn"] - 200) < 25
            )
            self.assertLess(abs(total / flux - 1), 0.2, factor)

    def test_another_beam(self):
        """FILE's Gaussians have the beam of its header; where it tells none, that of IMAGE."""
        points, noise = [(x, y) for x in (100, 200, 300) for y in (100, 200, 300)], self.noise(5)
        nothing = self.image("nothing.fits", noise)
        sizes = {name: value * sky.CELL for name, value in (("BMAJ", 10), ("BMIN", 10), ("BPA", 0))}
        image = self.image(
            "sharp.fits",
            sum(self.gaussian(*point, 60, 5) for point in points) + noise,
            **{name: value / 2 for name, value in sizes.items()},
        )
        pixels = sum(self.gaussian(*point, 60, 10) for point in points) + noise
        options = (
            image,
            "--detect-on",
            self.image("wide.fits", pixels, **sizes),
            "--shapes",
            "beam",
            "-i",
            "3",
            "--scales=2",
        )
        found = t.find(*options)["sources"]
        self.assertEqual([len(found), {row["Scale"] for row in found}], [9, {0}])
        sizes = {"BMAJ": 20 * sky.CELL, "BMIN": 20 * sky.CELL, "BPA": 0}
        faint = self.image(
            "faint.fits", sum(self.gaussian(*point, 3, 20) for point in points) + noise, **sizes
        )
        of_scales = [
            row
            for row in t.find(
                nothing, "--detect-on", faint, "--shapes", "beam", "-i", "3", "--scales=3,6"
            )["sources"]
            if row["Scale"] > 0
        ]
        self.assertGreater(sum(row["Scale"] == 3 for row in of_scales), 2)
        for row in of_scales:  # what scale 3 found is not found again
            self.assertEqual(
                sum(
                    np.hypot(row["Xpeak"] - other["Xpeak"], row["Ypeak"] - other["Ypeak"]) < 30
                    for other in of_scales
                ),
                1,
            )
        for card in ("BMAJ", "BMIN", "BPA"):
            self.header.remove(card)
        self.image("wide.fits", pixels)
        found = t.find(*options)["sources"]
        self.assertGreaterEqual(sum(row["Scale"] == 2 for row in found), 9)

    def test_the_same_bytes(self):
        """On any number of threads, in every SIMD variant, and with samples in a file."""
        options = [self.true, "--detect-on", self.flat, *SCALES, "--negative"]
        expected = self.csv(*options, "--threads", 1)
        self.assertEqual(self.csv(*options, "--threads", 3), expected)
        self.assertEqual(self.csv(*options, SRCFIND_SAMPLES_HELD="0"), expected)
        for variant in () if t.THREADS_WATCHED else ("SSE2", "plain"):
            self.assertEqual(self.csv(*options, SRCFIND_SIMD=variant), expected)

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device(self):
        """A device gives the bytes of the CPU, whether it keeps images or not: catalogues and
        maps."""
        images = [self.true, "--detect-on", self.flat]
        for options in (
            ["--deblend"],
            ["--local", "-i", "3", "--fit", "--negative"],
            [*SCALES, "--negative"],
            ["--mask", self.flat, "--scales=3"],
        ):
            names = "rms,snr,islands" + (
                ",sources,model,residual" if "--deblend" not in options else ""
            )
            for way in ("--cpu", "0"), ("--gpu", "0"), ("--gpu", "1"):
                folder = self.path("%s-%s" % way)
                os.makedirs(folder, exist_ok=True)
                result = t.run(
                    *images,
                    *options,
                    way[0],
                    "-o",
                    os.path.join(folder, "c.json"),
                    "--save",
                    names,
                    check=True,
                    env={**os.environ, "SRCFIND_CUDA_MODULE": FAKE, "FAKE_CUDA_KEEPS": way[1]},
                )
                self.assertIn("on the %s (as asked" % way[0][2:].upper(), result.stderr)
            for name in ["c.json"] + ["c.%s.fits" % name for name in names.split(",")]:
                texts = []
                for folder in ("--cpu-0", "--gpu-0", "--gpu-1"):
                    with open(os.path.join(self.path(folder), name), "rb") as stream:
                        texts.append(stream.read())
                self.assertEqual(
                    [texts[1] == texts[0], texts[2] == texts[0]], [True, True], (name, options)
                )

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device_and_blanks(self):
        """Where FILE has blank pixels, the noise of IMAGE is found twice: the device then has
        IMAGE again."""
        pixels = self.pixels.copy()
        pixels[:60] = np.nan
        blank = self.image("blank.fits", pixels)
        environment = {"SRCFIND_CUDA_MODULE": FAKE, "FAKE_CUDA_KEEPS": "1"}
        for options in ("-i", "3", "--fit"), SCALES:
            images = [self.true, "--detect-on", blank, *options]
            expected = self.csv(*images, "--cpu")
            self.assertGreater(expected.count("\n"), 20)
            self.assertEqual(self.csv(*images, "--gpu", **environment), expected)

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_lost_device(self):
        """Whichever search loses the device, the CPU does all again."""
        options = [self.true, "--detect-on", self.flat, "--scales=2,4", "-i", "3"]
        expected, n_lost = self.csv(*options), 0
        for n in range(1, 20):
            environment = {
                **os.environ,
                "SRCFIND_CUDA_MODULE": FAKE,
                "FAKE_CUDA_KEEPS": "1",
                "SRCFIND_PIXELS_BEFORE_GPU": "0",
                "FAKE_CUDA_LOST": str(n),
            }
            result = t.run(*options, env=environment, check=True)
            self.assertEqual(result.stdout, expected)
            n_lost += "on the CPU (CUDA device 0 (fake)" in result.stderr
            if n_lost < n:
                break
        self.assertEqual([n_lost, "on the GPU (many pixels" in result.stderr], [10, True])

    def test_blanks_and_odd_values(self):
        """What is blank or overflows in one image is in no island of a scale; a constant image has
        no scale."""
        flat, true = self.pixels + self.gaussian(170, 170, 4, 60), self.pixels / self.beam
        flat[:60], true[:, 330:] = np.nan, np.nan
        for value in np.array([1, 0.25]) * np.finfo(np.float32).max:
            true[100:240, 100:240] = value
            rows, islands = self.search(
                self.image("t.fits", true),
                "--detect-on",
                self.image("f.fits", flat),
                "--scales=2.5",
            )
            self.assertFalse(islands[:60].any() or islands[:, 330:].any())
            self.assertTrue(all(np.isfinite(row["Total_flux"]) for row in rows))
            self.assertTrue(any(row["Scale"] > 0 for row in rows))
        constant = self.image("constant.fits", np.full((400, 400), 3.0))
        for image, on in ((constant, self.flat), (self.flat, constant)):
            found = t.find(image, "--detect-on", on, "--scales")["sources"]
            self.assertEqual(
                [len(found) > 20, {row["Scale"] for row in found} <= {0}], [image is constant, True]
            )


if __name__ == "__main__":
    t.main()

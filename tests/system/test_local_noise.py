"""Local noise (--local, --rms-box): the same sources as SciPy finds above noise that is computed
box by box."""
import os
import subprocess
import sys
import unittest

import numpy as np
from astropy.io import fits

import oracle
import srcfind_test as t

MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
SKY = os.path.join(t.SOURCE_ROOT, "tests", "sky.py")
MOST_BYTES = 600000  # of an image with a reference, which takes its time
WAYS = (
    ("48,16", []),
    ("51,10", ["--connectivity", "8"]),
    ("30", ["--island", "3"]),
    ("200,70", ["--background", "zero"]),
)


class LocalNoise(t.Case):
    def assert_close(self, value, expected, error):
        self.assertLessEqual(abs(value - expected), error, "%r is not %r" % (value, expected))

    def assert_sources(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for row, e in zip(found, expected):
            self.assertEqual(
                [row[name] for name in oracle.EXACT], [e[name] for name in oracle.EXACT]
            )
            self.assert_close(row["Isl_rms"], e["Isl_rms"], 1e-12 * e["Isl_rms"])
            self.assert_close(row["Isl_mean"], e["Isl_mean"], 1e-12 * e["Isl_rms"])
            self.assert_close(
                row["Peak_flux"], e["Peak_flux"], 1e-12 * (abs(e["Isl_mean"]) + e["Peak_flux"])
            )
            self.assert_close(row["SNR"], e["Peak_flux"] / e["Isl_rms"], 1e-6 * row["SNR"])
            self.assert_close(row["Pixel_sum"], e["Pixel_sum"], 1e-6 * e["Pixel_sum"])
            for name in ("Xposn", "Yposn"):
                self.assert_close(row[name], e[name], 1e-6)

    def check(self, path, ways=WAYS):
        image, header = oracle.read(path)
        beam = oracle.beam_squared(header)
        n_found = 0
        for box, options in ways:
            size, step = map(int, box.split(",")) if "," in box else (int(box), int(box) // 3)
            how = dict(
                zip(
                    (name[2:] for name in options[::2]),
                    (int(v) if v.isdigit() else v for v in options[1::2]),
                )
            )
            with self.subTest(os.path.basename(path), box=box, **how):
                found = t.find(path, "--cpu", "--rms-box", box, *options)
                self.assertEqual(
                    [found["background"]["local"][name] for name in ("size", "step")], [size, step]
                )
                expected = oracle.find_locally(image, size, step, beam, **how)
                self.assert_sources(found["sources"], expected)
                n_found += len(found["sources"])
        self.assertGreater(n_found, 3)

    def sky(self, *options):
        path = self.path("sky.fits")
        subprocess.run([sys.executable, SKY, "400", path, *options], check=True)
        return path

    def test_maps(self):
        for name in ("lofar", "magpis", "parkes"):
            self.check(os.path.join(MAPS, name + ".fits"))

    def test_rising_noise(self):
        self.check(self.sky("--noise-rise", "2", "--slope", "1", "--extended", "0.4"))

    def test_blank_border_and_holes(self):
        path = self.sky("--border", "10", "--corner", "150")
        image, _ = oracle.read(path)
        image[200:300, 180:320] = np.nan
        self.check(self.write("holes.fits", image, t.sky_header()))

    def test_integers(self):
        self.check(self.sky("--bitpix", "16"))

    def test_zero_padding(self):
        image, _ = oracle.read(self.sky("--white"))
        image[:170] = 0
        self.check(self.write("padded.fits", image, t.sky_header()))

    def test_bright_source_and_pedestal(self):
        """Where sums in two doubles do not tell the last bit of an rms, the pixels of the box are
        sorted."""
        image = t.noise(150, 160, seed=3)
        image[70:74, 60:66] = 3e12
        image[:, 100:] += 1e6
        self.check(self.write("bright.fits", image, t.sky_header()), WAYS[:1])

    def test_box(self):
        """By default it is 15 beams wide, at least 48 pixels, and at most half of the shorter
        side."""
        image = t.noise(300, 400)
        cell = abs(t.sky_header()["CDELT1"])
        for pixels, size in ((3, 48), (4, 60), (4.01, 63), (9, 135), (20, 150), (1000, 150)):
            path = self.write(
                "image.fits", image, t.sky_header(BMAJ=pixels * cell, BMIN=pixels * cell, BPA=0)
            )
            local = t.find(path, "--local")["background"]["local"]
            self.assertEqual([local["size"], local["step"]], [size, size // 3], pixels)
            self.assertLessEqual(local["rms_least"], local["rms_median"])
            self.assertLessEqual(local["rms_median"], local["rms_most"])
        no_beam = self.write("no_beam.fits", image)
        self.assertEqual(t.find(no_beam, "--local")["background"]["local"]["size"], 48)
        self.assertIn("in boxes of 48 pixels every 16", t.run(no_beam, "-l").stderr)

    def test_small_image(self):
        """One noise, and a note that says so."""
        path = self.write("small.fits", t.noise(95, 400), t.sky_header())
        result = t.run(path, "--local")
        self.assertEqual(result.stdout, t.run(path).stdout)
        self.assertIn("too small for local noise", result.stderr)
        self.assertIn("--rms-box", result.stderr)
        self.assertNotIn("local", t.find(path, "--local")["background"])

    def test_nothing_to_measure(self):
        """No box has enough pixels: the whole image's noise stands in. Without noise nothing is
        found."""
        image = np.full((200, 200), np.nan, np.float32)
        image[::5, ::5] = t.noise(40, 40, n_sources=0)
        image[100, 100] = 100
        sparse = t.find(self.write("sparse.fits", image), "--rms-box", "48")
        self.assertEqual(sparse["sources"][0]["Isl_rms"], sparse["background"]["rms"])
        flat = t.find(
            self.write("flat.fits", np.full((200, 200), 3, np.float32)), "--rms-box", "48"
        )
        self.assertEqual(flat["sources"], [])

    def test_rms_of_the_nodes(self):
        """The least, the lower median and the most of all nodes."""
        for height, width in ((150, 150), (180, 230), (97, 311)):
            image = (t.noise(height, width, seed=8) * np.linspace(1, 3, width)).astype(np.float32)
            rms = np.sort(oracle.noise_nodes(image, 48, 16)[:, :, 1], axis=None)
            local = t.find(self.write("image.fits", image), "--rms-box", "48,16")["background"][
                "local"
            ]
            expected = rms[0], rms[(rms.size - 1) // 2], rms[-1]
            np.testing.assert_allclose(
                [local["rms_" + name] for name in ("least", "median", "most")], expected, rtol=1e-12
            )

    def test_bright_wide_source(self):
        """It keeps its flux, of either sign, and is told; without a beam it is lost in its noise."""
        k = np.fft.fftfreq(600)
        noise = np.fft.ifft2(
            np.fft.fft2(np.random.default_rng(5).normal(size=(600, 600)))
            * np.exp(-((np.pi * 5 / 2.3548) ** 2) * (k[:, None] ** 2 + k**2))
        ).real
        y, x = np.mgrid[:600, :600]
        wide = 200 * np.exp(-((x - 290) ** 2 + (y - 310) ** 2) * 4 * np.log(2) / 50**2)
        header = t.sky_header(BMAJ=25e-4, BMIN=25e-4, BPA=0.0)
        image = (noise / noise.std() + wide).astype(np.float32)
        for sign, words in ((1, []), (-1, ["--negative"])):
            path = self.write("wide%d.fits" % sign, sign * image, header)
            result = t.run(
                path, "--local", "-i", "3", "--fit", *words, "-o", self.path("c.csv"), check=True
            )
            self.assertRegex(
                result.stderr,
                r", in boxes of \d+ pixels every \d+, without bright wide islands \(\d",
            )
            flux = max(abs(row["Total_flux"]) for row in t.read_csv(self.path("c.csv")))
            self.assertAlmostEqual(flux / (200 * 10**2), 1, delta=0.02)
            excluded = t.find(path, "--local")["background"]["local"]["excluded"]
            self.assertEqual(excluded["islands"], 1)
            above = (wide > 3).sum()  # within 1.5 beams of these, too
            radius = (above / np.pi) ** 0.5 + 7.5
            self.assertAlmostEqual(
                excluded["share"] / (np.pi * radius**2 / 600**2), 1, delta=0.1
            )
        header["BMAJ"] = header["BMIN"] = 0
        found = t.find(self.write("bare.fits", image, header), "--local")["background"]["local"]
        self.assertEqual(found["excluded"], {"islands": 0, "share": 0})
        self.assertGreater(found["rms_most"], 5)

    def test_given_noise(self):
        """In place of the clip's, for the whole image and with --local."""
        image = t.noise(200, 220, seed=5)
        path = self.write("image.fits", image, t.sky_header())
        for background, rms in ((0.25, 1.5), (-0.5, None), (None, 0.75)):
            options = ["--background=%r" % background] * (background is not None) + [
                "--rms=%r" % rms
            ] * (rms is not None)
            clipped = oracle.clip(image)
            base = clipped["median"] if background is None else background
            sigma = clipped["rms"] if rms is None else rms
            expected = oracle.find(image, base + 5 * sigma, 4, base)
            self.assertGreater(len(expected), 3)
            for row in expected:
                row.update(Isl_rms=sigma, Isl_mean=base, Peak_flux=row["Peak_flux"] - base)
            with self.subTest(background=background, rms=rms):
                self.assert_sources(t.find(path, *options)["sources"], expected)
                for row in t.find(path, "--rms-box", "50", *options)["sources"]:
                    self.assertTrue(
                        rms in (None, row["Isl_rms"]) and background in (None, row["Isl_mean"])
                    )

    def test_given_noise_without_any(self):
        image = np.full((100, 90), 3, np.float32)
        image[40, 50] = 9
        path = self.write("flat.fits", image)
        self.assertEqual(t.find(path)["sources"], [])
        self.assertEqual([s["Peak_flux"] for s in t.find(path, "--rms", "1")["sources"]], [6])

    def test_blank(self):
        """Zero padding with --blank 0 is as if the pixels were NaN; -0 equals 0, and other values
        are rounded as pixels are."""
        image = t.noise(300, 250, seed=6)
        for value, option in ((0.0, "0"), (-0.0, "0"), (0.1, "0.1"), (-1e30, "-1e30")):
            padded, blank = image.copy(), image.copy()
            padded[:120, :], blank[:120, :] = value, np.nan
            for options in ([], ["--local"], ["--rms-box", "40"]):
                with self.subTest(value=value, options=options):
                    one = t.find(
                        self.write("padded.fits", padded, t.sky_header()),
                        "--blank=" + option,
                        *options,
                    )
                    other = t.find(self.write("blank.fits", blank, t.sky_header()), *options)
                    self.assertEqual(
                        [one["background"], one["sources"]], [other["background"], other["sources"]]
                    )
                    self.assertGreater(len(one["sources"]), 3)
        packed = self.path("packed.fits")
        padded[:120, :] = 0
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(padded, "GZIP_2", None, t.sky_header(), quantize_level=0)]
        ).writeto(packed)
        self.assertEqual(
            t.find(packed, "--blank", "0")["sources"], t.find(self.path("blank.fits"))["sources"]
        )

    def test_wrong_boxes(self):
        path = self.write("image.fits", t.noise(60, 60))
        for box in ("7", "48,0", "48,49", "x", "48,", ",3", "48,16,2", "-48", "1e2", ""):
            result = t.run(path, "--rms-box", box)
            self.assertEqual([result.returncode, result.stdout], [2, ""], box)
            self.assertIn("--rms-box", result.stderr)

    @unittest.skipUnless(t.SHARED, "needs SRCFIND_TEST_DATA")
    def test_references(self):
        """Small images of all kinds, and a reference that stands beside them."""
        n_checked = 0
        for folder, _, names in sorted(os.walk(os.path.join(t.SHARED, "data"))):
            for path in (
                os.path.join(folder, name) for name in sorted(names) if name.endswith(".fits")
            ):
                if os.path.getsize(path) > MOST_BYTES or t.run(path, "-q").returncode != 0:
                    continue
                with self.subTest(os.path.basename(path)):
                    found = t.find(path, "--cpu", "--rms-box", "48,16")["sources"]
                    self.assert_sources(found, self.reference(path, 48, 16))
                    n_checked += 1
        self.assertGreater(n_checked, 20)

    @staticmethod
    def reference(path, size, step):
        tool = t.tool("local_reference")
        image, header = tool.load(path)[:2]
        image = image.astype(np.float32).astype(np.float64)
        beam, out = tool.beam_squared(header), None
        if beam:
            out = tool.left_out(image, size, 3, beam) | tool.left_out(-image, size, 3, beam)
        background, rms = (
            tool.spread(node, *image.shape, step) for node in tool.nodes(image, size, step, 3, out)
        )
        return tool.islands(
            image, background, rms, threshold=5, island=5, connectivity=4, min_pixels=1
        )


if __name__ == "__main__":
    t.main()

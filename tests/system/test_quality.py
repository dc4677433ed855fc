"""Figures of quality (JSON), and notes on standard error that name the option which cures what is
off."""
import json
import os

import numpy as np
from astropy.io import fits
from scipy import ndimage

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
SINGLE_PIXEL, EDGE, NARROW = 2, 1, 1024
BEAM = 5.0  # pixels


def sky(height, width, seed=1, beam=5.0):
    """Noise with rms 1, correlated over a beam of so many pixels (FWHM)."""
    noise = ndimage.gaussian_filter(
        np.random.default_rng(seed).normal(size=(height, width)), beam / 2.3548, mode="wrap"
    )
    return (noise / noise.std()).astype(np.float32)


class Quality(t.Case):
    def quality(self, path, *options):
        return t.find(path, *options)["quality"]

    def notes(self, path, *options):
        """The lines after the summary."""
        result = t.run(path, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        self.assertTrue(all(line.startswith("srcfind: %s: " % path) for line in lines))
        self.assertEqual(t.run(path, "-q", *options).stderr, "")
        return lines[1:]

    def assert_note(self, path, words, *options):
        (note,) = self.notes(path, *options)
        self.assertIn(words, note)

    def test_nothing_is_off(self):
        """Whatever the beam: the noise of a small cell is uncertain, and larger beams have larger
        cells."""
        for seed in range(8):
            for side, beam in ((110, 2.5), (200, 5), (400, 4), (400, 12), (700, 20)):
                header = t.sky_header(BMAJ=beam * 5e-4, BMIN=beam * 5e-4, BPA=0.0)
                path = self.write("image.fits", sky(side, side + 9, seed, beam), header)
                with self.subTest(seed=seed, side=side, beam=beam):
                    self.assertEqual(self.notes(path), [])

    def test_small_boxes(self):
        """Boxes of less than five beams, which sources fill."""
        path = self.write("a.fits", sky(200, 210), t.sky_header(BMAJ=25e-4, BMIN=2e-3, BPA=0.0))
        self.assert_note(path, "boxes of --rms-box are 4.8 beams wide: sources", "--rms-box", "24")
        self.assertEqual(self.notes(path, "--rms-box", "25"), [])

    def test_fluxes_without_a_unit(self):
        """There is a note on an image with sky coordinates alone: others are no maps of the sky."""
        image = t.noise(200, 210)
        self.assert_note(
            self.write("sky.fits", image, t.sky_header(BUNIT=None, BMAJ=None, BMIN=None)),
            "fluxes are in the unit of the pixels, not in Jy: there is no BUNIT; write it, such as "
            "Jy/beam, and add --beam",
        )
        self.assertEqual(self.notes(self.write("plain.fits", image)), [])

    def test_scales_above_one_noise(self):
        """A wide source of many rms is pieces there, of less than its flux, but one row above local
        noise."""
        y, x = np.mgrid[:400, :400]
        wide = 4.7 * np.exp(-4 * np.log(2) * ((y - 201) ** 2 + (x - 199) ** 2) / 55**2)
        path = self.write(
            "wide.fits",
            (sky(400, 400, 3) + wide).astype(np.float32),
            t.sky_header(BMAJ=BEAM * 5e-4, BMIN=BEAM * 5e-4, BPA=0.0),
        )
        near = lambda *options: [
            s["Total_flux"] / (4.7 * 11**2)
            for s in t.find(path, *options)["sources"]
            if np.hypot(s["Xposn"] - 199, s["Yposn"] - 201) < 27
        ]
        pieces, (whole,) = near("--scales"), near("--scales", "--local")
        self.assertTrue(len(pieces) > 3 and sum(pieces) < 0.75, pieces)
        self.assertAlmostEqual(whole, 1, delta=0.2)
        words = "with one noise for the image, --scales may divide wide sources into pieces that lack up to half of the flux: add --local"
        self.assertIn(words, "".join(self.notes(path, "--scales")))
        for options in ("--scales", "--local"), ("--scales", "--rms", "1"), ("--fit",):
            self.assertNotIn(words, "".join(self.notes(path, *options)))

    def test_padding(self):
        image = t.noise(256, 250, seed=4)
        image[:, ::3][128:] = -0.0
        image[128:, 1::3] = image[128:, 2::3] = 0
        path = self.write("padded.fits", image, t.sky_header())
        self.assertAlmostEqual(self.quality(path)["zeros"], 0.5, delta=0.01)
        padding = (
            "some 50% of the pixels are exactly 0: if they are padding, --blank 0 leaves them out"
        )
        self.assertIn(padding, self.notes(path)[0])
        self.assertNotIn(padding, "".join(self.notes(path, "--blank", "0")))
        self.assertEqual(self.quality(path, "--blank", "0")["zeros"], 0)
        image[128:] = np.nan
        blank = self.write("blank.fits", image, t.sky_header())
        self.assertEqual(t.find(path, "--blank", "0")["sources"], t.find(blank)["sources"])
        self.assertLess(len(t.find(blank)["sources"]), len(t.find(path)["sources"]))

    @t.unittest.skipUnless(t.SHARED, "needs SRCFIND_TEST_DATA")
    def test_padding_of_a_real_map(self):
        with fits.open(os.path.join(t.SHARED, "data", "radio", "vast_epoch01.fits")) as hdus:
            image, header = hdus[0].data.squeeze().astype(np.float32), hdus[0].header
        path = self.write("vast.fits", np.vstack([image, 0 * image]), header)
        self.assertGreater(len(t.find(path)["sources"]), 10)
        self.assert_note(path, "--blank 0")
        self.assertEqual(len(t.find(path, "--blank", "0")["sources"]), 4)

    def test_share_of_zeros(self):
        """Of the pixels that are not blank; a small image is read whole."""
        random = np.random.default_rng(5)
        for height, width in ((1, 1), (7, 11), (1, 8192), (8192, 1), (90, 90)):
            image = random.integers(0, 4, (height, width)).astype(np.float32)
            image[random.uniform(size=image.shape) < 0.2] = np.nan
            image[-1, -1] = 9
            with self.subTest(height=height, width=width):
                found = self.quality(self.write("image.fits", image))["zeros"]
                self.assertEqual(found, (image == 0).sum() / np.isfinite(image).sum())
        path = self.write("zero.fits", np.zeros((80, 90), np.float32))
        self.assertEqual(self.quality(path)["zeros"], 1)
        self.assertEqual(self.notes(path), [])  # the summary says that there is nothing but zeros

    def test_noise_that_rises(self):
        image = sky(400, 600, 6) * np.linspace(1, 3, 600)
        path = self.write("image.fits", image.astype(np.float32), t.sky_header())
        found = self.quality(path)
        self.assertAlmostEqual(found["rms_p10"], 1.2, delta=0.25)
        self.assertAlmostEqual(found["rms_p90"], 2.75, delta=0.4)
        self.assert_note(path, " Jy/beam: --survey measures it around each source")
        for options in (["--local"], ["--rms-box", "60"], ["--rms", "2"]):
            self.assertEqual(self.notes(path, *options), [])
            self.assertEqual(self.quality(path, *options)["rms_p90"], found["rms_p90"])

    def test_background_that_slopes(self):
        """It makes the clip's rms larger than that of any part."""
        image = sky(400, 600, 6) + np.linspace(-8, 8, 600)
        path = self.write("image.fits", image.astype(np.float32), t.sky_header())
        self.assert_note(
            path, "the background differs from place to place: the rms of the whole image is 4"
        )
        for options in (["--local"], ["--rms-box", "60"]):
            self.assert_note(
                path,
                "it may contain emission wider than half a box; --scales finds such emission",
                *options,
            )
        for options in (["--local", "--scales"], ["--rms", "3"]):
            self.assertEqual(self.notes(path, *options), [])

    def test_boxes_without_noise(self):
        """Where all of them are nearly blank, local noise is one noise."""
        image = sky(300, 300, 6)
        image[np.random.default_rng(2).uniform(size=image.shape) < 0.9] = np.nan
        path = self.write("image.fits", image, t.sky_header())
        note = "every box of 60 pixels is more than three quarters blank, or has no noise: one %s is used"
        self.assert_note(path, note % "rms", "--rms-box", "60")
        self.assert_note(path, note % "background", "--rms-box", "60", "--rms", "1")
        self.assert_note(path, note % "rms", "--rms-box", "60", "--background", "0")

    def test_boxes_with_the_noise_of_the_image(self):
        """As large as the image, or larger, or since each part is like all others: these have
        noise."""
        alike = np.tile(np.array([[1, -1], [-1, 1]], np.float32), (75, 80))
        for image in (sky(150, 160, 6), alike):
            path = self.write("image.fits", image, t.sky_header())
            for box in ("150", "160", "150,50", "160,20", "1000", "1000,7", "60"):
                with self.subTest(box):
                    self.assertEqual(self.notes(path, "--rms-box", box), [])
        whole = t.find(path, "--rms-box", "1000")["background"]
        self.assertEqual(whole["local"]["rms_least"], whole["rms"])

    def test_noise_of_few_cells(self):
        """Too small an image, or one with too few pixels, has no figures; blank parts, zeros and
        sources do not count."""
        for image in (sky(90, 900), sky(900, 90)):
            found = self.quality(self.write("small.fits", image, t.sky_header(BMAJ=None)))
            self.assertEqual([found["rms_p10"], found["rms_p90"]], [None, None])
        image = sky(600, 700, 7)
        image[:200], image[200:400, :300], image[450:480, 400:430] = np.nan, 0, 1e6
        found = self.quality(self.write("parts.fits", image, t.sky_header()))
        self.assertAlmostEqual(found["rms_p10"], 0.93, delta=0.1)
        self.assertAlmostEqual(found["rms_p90"], 1.02, delta=0.1)
        image[:], image[300:310] = np.nan, sky(10, 700)
        self.assertIsNone(self.quality(self.write("few.fits", image, t.sky_header()))["rms_p10"])

    def test_narrow_beam(self):
        image = t.noise(150, 160)
        path = self.write("image.fits", image, t.sky_header(BMAJ=2e-3, BMIN=9e-4))
        self.assertAlmostEqual(self.quality(path)["beam_pixels"], 1.8)
        self.assert_note(path, "the beam is 1.8 pixels wide, less than two")
        self.assertEqual(self.notes(path, "--beam", "7.2"), [])
        self.assert_note(path, "the beam is smaller than a pixel: are BMAJ", "--beam", "0.9")
        self.assertIsNone(
            self.quality(self.write("none.fits", image, t.sky_header(BMAJ=None)))["beam_pixels"]
        )

    def test_negative_sources(self):
        image = sky(400, 400, 8) * np.float32(0.1)
        for i in range(10):
            image[30 + 30 * i, 50:53] = 9
        image[30, 300:303] = -9
        path = self.write("image.fits", image, t.sky_header())
        self.assertEqual(
            [self.quality(path)["negative"], self.quality(path, "--negative")["negative"]],
            [None, 1],
        )
        self.assertEqual(self.notes(path, "--negative"), [])  # one in ten
        image[330, 300:303] = -9
        path = self.write("image.fits", image, t.sky_header())
        self.assertEqual(self.notes(path), [])
        self.assert_note(
            path,
            "2 negative sources beside 10 positive, of which as many may be false: --local or a higher "
            "--threshold leaves fewer",
            "--negative",
        )
        self.assert_note(path, "may be false: a higher --threshold", "--negative", "--local")
        image[:300] = image[300:301]
        path = self.write("image.fits", image, t.sky_header())
        self.assert_note(
            path, "1 negative source beside 1 positive, of which all may be false", "--negative"
        )

    def test_shares_of_sources(self):
        path = self.write("image.fits", t.noise(150, 160, n_sources=40), t.sky_header())
        for options in ([], ["-n", "3.5"], ["--negative", "-n", "4"]):
            found = t.find(path, *options)
            flags = [source["Flags"] for source in found["sources"]]
            for name, flag in (("single_pixel", SINGLE_PIXEL), ("edge", EDGE)):
                self.assertEqual(
                    found["quality"][name], sum((f & flag) != 0 for f in flags) / len(flags)
                )
            either = sum((f & (SINGLE_PIXEL | EDGE)) != 0 for f in flags) / len(flags)
            self.assertEqual(
                [found["quality"][name] for name in ("edge_or_single", "narrow", "high_residual")],
                [either, None, None],
            )
            self.assertLess(max(found["quality"]["single_pixel"], found["quality"]["edge"]), either)
        self.assertGreater(found["quality"]["single_pixel"] * found["quality"]["edge"], 0)
        self.assertIsNone(self.quality(path, "-n", "1000")["edge"])

    def sources(self, *kinds, **cards):
        """An image with sources of 40 rms on a grid: Gaussians of so many pixels FWHM, or functions
        of x and y."""
        side, (y, x) = 40, np.mgrid[-20:20, -20:20]
        image = sky(side * (1 + (len(kinds) - 1) // 6), side * 6, 11)
        for k, kind in enumerate(kinds):
            stamp = (
                kind(x, y)
                if callable(kind)
                else 40 * np.exp(-(x**2 + y**2) / (2 * (kind / 2.3548) ** 2))
            )
            image[k // 6 * side :][:side, k % 6 * side :][:, :side] += stamp
        header = t.sky_header(BMAJ=BEAM * 5e-4, BMIN=BEAM * 5e-4, BPA=0.0)
        header.update(cards)
        return self.write("sources.fits", image.astype(np.float32), header)

    def test_cut_sources(self):
        """More than a quarter of 8 or more, at an edge, at a blank pixel, or single."""
        at_blank = lambda x, y: np.where(
            (x == 2) & (y == 0), np.nan, 40 * np.exp(-(x**2 + y**2) / 9)
        )
        at_edge = lambda x, y: 40 * np.exp(-((x + 20) ** 2 + y**2) / 9)
        single = lambda x, y: np.where((x == 0) & (y == 0), 30, 0)
        part = "part of their flux may be missing: search a larger image, or one with fewer blanks"
        spikes = "they may be spikes of noise, or the beam too narrow for the pixels: --min-pixels leaves small ones out"
        for bad, counts, words in (
            ([at_edge] + [at_blank] * 2, (3, 0), part),
            ([single] * 3, (0, 3), spikes),
            ([at_edge, single, at_blank], (2, 1), part),
            ([single, at_blank, single], (1, 2), spikes),
        ):
            path = self.sources(*bad, *[BEAM] * 5)
            self.assert_note(
                path,
                "3 of 8 sources touch the edge or a blank pixel (%d) or are one pixel (%d): %s"
                % (*counts, words),
            )
            self.assertEqual(self.quality(path)["edge_or_single"], 3 / 8)
            self.assertEqual(self.notes(self.sources(*bad, *[BEAM] * 4)), [])  # seven sources
            self.assertEqual(self.notes(self.sources(*bad[:2], *[BEAM] * 6)), [])  # a quarter
        both = lambda x, y: np.where(
            (x == 0) & (y == 0), 30, np.where((x == 1) & (y == 0), np.nan, 0)
        )
        for bad, counts, words in (
            ([both, at_blank, single], (2, 2, 1), part),
            ([both] * 3, (3, 3, 3), part),
            ([both, both, single], (2, 3, 2), spikes),
        ):
            self.assert_note(
                self.sources(*bad, *[BEAM] * 5),
                "3 of 8 sources touch the edge or a blank pixel (%d) or are one pixel (%d) "
                "(%d both): %s" % (*counts, words),
            )
        path = self.sources(*[at_blank] * 8)
        catalogue = self.path("c.csv")
        self.assertEqual(len(t.run(path, "-o", catalogue).stderr.splitlines()), 2)
        for options in ([], ["--fit"]):
            self.assertEqual(self.notes(path, "--at", catalogue, *options), [])
        self.assertEqual(self.quality(path, "--at", catalogue, "--fit")["edge_or_single"], 1)

    def test_narrow_sources(self):
        path = self.sources(*[BEAM / 2] * 3, *[BEAM] * 7)
        self.assert_note(
            path,
            "3 of 10 sources are narrower than the beam of 9 x 9 arcsec, which may not be the image's: "
            "--beam gives another one",
            "--fit",
            "-i",
            "3",
        )
        for options in (["--fit"], ["--group", "1"], ["--shapes", "auto"]):
            self.assertEqual(self.quality(path, *options, "-i", "3")["narrow"], 0.3)
        self.assertEqual(self.notes(path), [])
        self.assertEqual(self.notes(path, "--deblend", "-i", "3"), [])
        self.assertEqual(self.notes(path, "--fit", "-i", "3", "--beam", "4.5"), [])
        # a quarter
        self.assertEqual(
            self.notes(self.sources(*[BEAM / 2] * 3, *[BEAM] * 9), "--fit", "-i", "3"), []
        )
        # seven sources
        self.assertEqual(self.notes(self.sources(*[BEAM / 2] * 7), "--fit", "-i", "3"), [])
        catalogue = self.path("c.csv")
        t.run(path, "--fit", "-o", catalogue, check=True)
        self.assertEqual(self.notes(path, "--fit", "--at", catalogue), [])
        self.assertEqual(
            [
                self.quality(path, "--fit", "--at", catalogue)[name]
                for name in ("narrow", "high_residual")
            ],
            [None] * 2,
        )
        no_beam = self.write("no_beam.fits", fits.getdata(path), t.sky_header(BMAJ=None))
        self.assertIsNone(self.quality(no_beam, "--fit")["narrow"])

    def test_residuals(self):
        """Of a square, which no Gaussians describe."""
        square = lambda x, y: np.where((abs(x) < 9) & (abs(y) < 9), 200, 0)
        options = ["--fit", "-i", "3", "--rms", "1", "--background", "zero"]
        path = self.sources(square, *[BEAM] * 8)
        found = t.find(path, *options)
        rows = found["sources"]
        n_bad = sum(row["Resid_Isl_rms"] > 2 * row["Isl_rms"] for row in rows)
        self.assertEqual(
            [n_bad, found["quality"]["high_residual"]], [len(rows) - 8, n_bad / len(rows)]
        )
        self.assert_note(
            path,
            "%d of %d fits are poor (Resid_Isl_rms above 2 Isl_rms): a lower --contrast may"
            % (n_bad, len(rows)),
            *options,
        )
        self.assert_note(
            path,
            "a lower --island or a lower --contrast may describe them better",
            "--fit",
            "--rms",
            "1",
            "--background",
            "zero",
        )
        for n_points, n_notes in ((9 * n_bad, 0), (9 * n_bad - 1, 1)):  # a tenth, and more
            path = self.sources(square, *[BEAM] * n_points)
            self.assertEqual(len(t.find(path, *options)["sources"]), n_bad + n_points)
            self.assertEqual(len(self.notes(path, *options)), n_notes)
        self.assertEqual(self.notes(path), [])
        heights = self.sources(*[lambda x, y, k=k: square(x, y) / 200 * k for k in range(4, 64)])
        found = t.find(heights, *options)
        ratios = np.array([row["Resid_Isl_rms"] / row["Isl_rms"] for row in found["sources"]])
        self.assertEqual(found["quality"]["high_residual"], (ratios > 2).mean())
        self.assertGreater(
            min(((ratios > 1.7) & (ratios < 2)).sum(), ((ratios > 2) & (ratios < 2.3)).sum()), 0
        )
        path = self.sources(square)
        found = t.find(path, *options)
        self.assertLess(len(found["sources"]), 8)
        self.assertEqual([found["quality"]["high_residual"], self.notes(path, *options)], [1, []])

    def test_several_notes(self):
        """One line for each cause, in the order of the images."""
        image = sky(300, 300, 9) * np.linspace(1, 4, 300)
        image[:40] = 0
        paths = [
            self.write(
                "%s.fits" % name, image.astype(np.float32), t.sky_header(BMAJ=9e-4, BMIN=9e-4)
            )
            for name in "ab"
        ]
        lines = t.run(*paths, "-o", self.path("out")).stderr.splitlines()
        self.assertEqual(
            [line.split(": ")[1] for line in lines[:-1]], [paths[0]] * 4 + [paths[1]] * 4
        )
        for line, words in zip(lines[1:4], ("pixels wide", "--blank 0", "--survey")):
            self.assertIn(words, line)

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_on_a_device(self):
        path = self.write("image.fits", t.noise(500, 400), t.sky_header())
        on_device = t.run(
            path, "-f", "json", "--gpu", env={**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
        )
        self.assertEqual(json.loads(on_device.stdout)["quality"], self.quality(path, "--cpu"))


if __name__ == "__main__":
    t.main()

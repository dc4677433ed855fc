"""Flag 2048 and column Hole: rows that may be artefacts of a brighter source, by the holes of the
image around them."""
import json
import os
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

ARTEFACT, NEGATIVE = 2048, 32
FWHM = 5.0  # pixels
NEAR, AROUND, BRIGHTER, LEAST = 8 * FWHM, 6 * FWHM, 5, 1.2
BRIGHT = (900.0, 600.0)
OPTIONS = ("-i", "3", "--fit", "--rms", "1", "--background", "zero")


def shape(image, x, y, peak):
    """Adds a point."""
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    square = (columns - x) ** 2 + (rows - y) ** 2
    image += peak * np.exp(-square * 4 * np.log(2) / FWHM**2)


class Artefacts(t.Case):
    def header(self):
        size = FWHM * 5e-4
        return t.sky_header(BMAJ=size, BMIN=size, BPA=0.0)

    def image(self):
        """Two bright sources: around the first there are bumps and holes of 10 rms, around the second
        points alone. Two of these are too bright, and two are too far away, to be suspect."""
        image = np.random.default_rng(5).normal(0, 0.3, (240, 420))
        shape(image, 100, 120, BRIGHT[0])
        shape(image, 310, 120, BRIGHT[1])
        for k in range(8):
            angle = 2 * np.pi * k / 8
            shape(image, 100 + 20 * np.cos(angle), 120 + 20 * np.sin(angle), 10 if k % 2 else -10)
        shape(image, 310, 140, 10)
        shape(image, 330, 120, 12)
        shape(image, 75, 140, 14)  # 1.4 times as high as the holes are deep
        shape(image, 100, 175, 8)  # more than eight beams away
        return self.write("image.fits", image.astype(np.float32), self.header())

    def maps(self, path, *options):
        """The catalogue, and the image and the residual in rms."""
        catalogue = t.find(path, *options)
        saved = t.run(path, "-q", "-o", self.path("c.csv"), "--save", "snr,residual,rms", *options)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        snr, residual, rms = (
            fits.getdata(self.path(f"c.{name}.fits")) for name in ("snr", "residual", "rms")
        )
        return catalogue["sources"], snr, residual / rms

    @staticmethod
    def brighter(row, rows):
        return any(
            np.hypot(row["Xposn"] - other["Xposn"], row["Yposn"] - other["Yposn"]) < NEAR
            and abs(other["Peak_flux"]) > BRIGHTER * abs(row["Peak_flux"])
            for other in rows
        )

    @staticmethod
    def deepest(row, image):
        rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
        around = (columns - row["Xposn"]) ** 2 + (rows - row["Yposn"]) ** 2 <= AROUND**2
        return max(0, -np.nanmin(image[around]))

    def check(self, rows, image):
        """Holes and flags are those of the rule; how many of each."""
        for row in rows:
            if not self.brighter(row, rows):
                self.assertIsNone(row["Hole"])
                self.assertFalse(row["Flags"] & ARTEFACT)
                continue
            self.assertAlmostEqual(row["Hole"], self.deepest(row, image), 4)
            self.assertEqual(bool(row["Flags"] & ARTEFACT), row["SNR"] < LEAST * row["Hole"])
        return [
            sum(row["Hole"] is not None for row in rows),
            sum(row["Flags"] & ARTEFACT > 0 for row in rows),
        ]

    def test_rule(self):
        path = self.image()
        rows, image, _ = self.maps(path, *OPTIONS)
        self.assertEqual(self.check(rows, image), [7, 4])
        flagged = [row for row in rows if row["Flags"] & ARTEFACT]
        for row in flagged:  # the bumps of the ring
            self.assertAlmostEqual(np.hypot(row["Xposn"] - 100, row["Yposn"] - 120), 20, 0)

    def test_real_noise(self):
        """With local noise, blank pixels and an edge; in several threads; and with an other image
        in which islands are found."""
        random = np.random.default_rng(8)
        image = t.noise(300, 330, seed=3, n_sources=60).astype(float)
        for x, y in random.uniform(10, 290, (12, 2)):
            shape(image, x, y, random.uniform(200, 2000))
            for peak in (-12, -9, 8, 11):
                dx, dy = random.uniform(-25, 25, 2)
                shape(image, x + dx, y + dy, peak)
        image[100:110, 40:200] = np.nan
        path = self.write("image.fits", image.astype(np.float32), self.header())
        for options in (["--local"], ["--local", "--detect-on", path]):
            rows, snr, _ = self.maps(path, "-i", "3", "--fit", *options)
            holes, flagged = self.check(rows, snr)
            self.assertGreater(holes, 20)
            self.assertGreater(flagged, 3)
            self.assertEqual(
                t.run(path, "-i", "3", "--fit", "-j", 1, *options).stdout,
                t.run(path, "-i", "3", "--fit", "-j", 3, *options).stdout,
            )

    def test_negative(self):
        """Positive rows are the same with negative ones. Of these, holes are the bumps of the
        residual, and positive rows that have the flag."""
        path = self.image()
        rows, _, residual = self.maps(path, *OPTIONS)
        both = t.find(path, "--negative", *OPTIONS)
        self.assertEqual(both["sources"][: len(rows)], rows)
        negative = both["sources"][len(rows) :]
        self.assertEqual(len(negative), 4)
        artefacts = [row for row in rows if row["Flags"] & ARTEFACT]
        for row in negative:
            depth = self.deepest(row, -residual)
            for other in artefacts:
                if np.hypot(row["Xposn"] - other["Xposn"], row["Yposn"] - other["Yposn"]) < AROUND:
                    depth = max(depth, other["SNR"])
            self.assertAlmostEqual(row["Hole"], depth, 4)
            self.assertTrue(row["Flags"] & ARTEFACT and row["Flags"] & NEGATIVE)

        def sums(name):
            return sum(one[name] for one in both["reliability"])

        self.assertEqual(
            [
                sums("positive"),
                sums("negative"),
                sums("artefacts"),
                sums("negative_artefacts"),
                both["quality"]["artefacts"],
            ],
            [len(rows) - 4, 0, 4, 4, 4],
        )

    def test_source_that_no_gaussian_describes(self):
        """Where the model is too high there is no hole of the image."""
        image = np.random.default_rng(9).normal(0, 0.3, (160, 170))
        image[60:81, 60:81] += 400
        shape(image, 92, 85, 30)
        path = self.write("square.fits", image.astype(np.float32), self.header())
        rows, snr, residual = self.maps(path, *OPTIONS)
        holes, flagged = self.check(rows, snr)
        self.assertGreater(holes, 0)
        self.assertEqual(flagged, 0)
        self.assertLess(residual.min(), -30)

    def test_turned_image(self):
        """What is a hole in the negated file is a hole."""
        path = self.image()
        with fits.open(path) as hdus:
            turned = self.write("turned.fits", -hdus[0].data, hdus[0].header)
        rows, image, _ = self.maps(turned, *OPTIONS)
        self.assertEqual(self.check(rows, image), [0, 0])
        self.assertEqual(len(rows), 4)

    def test_scales(self):
        """Rows of the image have the holes that they have without scales; rows of scales have
        none."""
        path = self.image()
        with fits.open(path) as hdus:
            image = hdus[0].data.astype(float)
        rows, columns = np.mgrid[:240, :420]
        image += 1.5 * np.exp(-((columns - 215) ** 2 + (rows - 60) ** 2) / (2 * 14**2))
        path = self.write("wide.fits", image.astype(np.float32), self.header())
        alone = t.find(path, *OPTIONS)["sources"]
        wide = t.find(path, "--scales", *OPTIONS)["sources"]
        self.assertEqual(
            [row["Hole"] for row in wide if row["Scale"] == 0], [row["Hole"] for row in alone]
        )
        of_scales = [row for row in wide if row["Scale"] > 0]
        self.assertTrue(of_scales)
        self.assertTrue(all(row["Hole"] is None for row in of_scales))

    def test_notes(self):
        path = self.image()
        note = "4 of 10 sources may be artefacts of brighter ones (flag 2048): see the column Hole"
        self.assertIn(note, t.run(path, *OPTIONS).stderr)
        self.assertNotIn("2048", t.run(path, *OPTIONS[3:]).stderr)
        note = "4 of 10 sources, and 4 of 4 negative ones may be artefacts"
        self.assertIn(note, t.run(path, "--negative", *OPTIONS).stderr)
        for name in ("a", "b"):
            result = t.run(path, "-q", *OPTIONS, "-o", self.path(f"{name}.json"))
            self.assertEqual(result.returncode, 0, result.stderr)
        for options, n in (([], 4), (["--merge-duplicates", "keep"], 8)):
            merged = self.merge("m.csv", "a.json", "b.json", *options)
            self.assertIn(f"{n} rows may be artefacts of brighter sources (flag 2048)", merged)
            flags = [int(row["Flags"]) for row in t.read_csv(self.path("m.csv"))]
            self.assertEqual(sum(flag & ARTEFACT > 0 for flag in flags), n)

    def merge(self, output, *arguments):
        command = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        paths = [self.path(a) if a.endswith(".json") else a for a in arguments]
        result = subprocess.run(
            [command, "-o", self.path(output), *paths], capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def test_tables(self):
        """Gaussians of a source have its flag; tables of Gaussians have no holes. What needs no fit
        has no column."""
        path = self.image()
        result = t.run(path, "-q", "-o", self.path("c.json"), "--save", "gaussians", *OPTIONS)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("c.json")) as stream:
            sources = json.load(stream)["sources"]
        with open(self.path("c.gaussians.json")) as stream:
            gaussians = json.load(stream)["gaussians"]
        self.assertNotIn("Hole", gaussians[0])
        flags = {row["Source_id"]: row["Flags"] & ARTEFACT for row in sources}
        for row in gaussians:
            self.assertEqual(row["Flags"] & ARTEFACT, flags[row["Source_id"]])
        self.assertNotIn("Hole", t.find(path)["sources"][0])
        self.assertIsNone(t.find(path)["quality"]["artefacts"])

    def test_no_beam(self):
        """Without a beam nobody can tell, nor with one by which too many sources are near a bright
        one: it is not the image's."""
        image = np.random.default_rng(7).normal(0, 0.3, (200, 220))
        for k in range(80):
            shape(image, 15 + k % 10 * 21, 15 + k // 10 * 22, 1000 if k == 34 else 10)
        path = self.write("image.fits", image.astype(np.float32), self.header())
        for beam, n_holes in (("9,9,0", 8), ("90,90,0", 0)):
            rows = t.find(path, "--beam", beam, *OPTIONS)["sources"]
            self.assertEqual(len(rows), 80)
            self.assertEqual(sum(row["Hole"] is not None for row in rows), n_holes)
        header = t.sky_header(BMAJ=None, BMIN=None, BPA=None)
        found = t.find(self.write("image.fits", image.astype(np.float32), header), *OPTIONS)
        self.assertTrue(all(row["Hole"] is None for row in found["sources"]))
        self.assertIsNone(found["quality"]["artefacts"])


if __name__ == "__main__":
    t.main()

"""--negative: after the sources of an image come those of the image negated, which are what a
search of the negated file finds."""
import json
import os

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
NEGATIVE, ARTEFACT = 32, 2048
KINDS = ("positive", "negative", "artefacts", "negative_artefacts")


def rows_of(text):
    """The cells of a CSV catalogue, as they are written."""
    names, *rows = [line.split(",") for line in text.splitlines()]
    return [dict(zip(names, row)) for row in rows]


def turned(row, n_before):
    """A row of the negated file, as a negative source of the file."""

    def other_sign(cell):
        return cell[1:] if cell.startswith("-") else cell if cell in ("", "0") else "-" + cell

    changed = {name: other_sign(row[name]) for name in t.TURNED if name in row}
    changed.update({name: str(int(row[name]) + n_before) for name in ("Source_id", "Isl_id")})
    return {**row, **changed, "Flags": str(int(row["Flags"]) + NEGATIVE)}


class Negative(t.Case):
    def image(self, name="image.fits", scale=1.0):
        """Noise around 0.7 with sources of both signs."""
        image = t.noise(230, 260, seed=1) - t.noise(230, 260, seed=2)[::-1] + np.float32(0.7)
        return self.write(name, (scale * image).astype(np.float32), t.sky_header())

    def negated(self, path):
        with fits.open(path) as hdus:
            return self.write("negated.fits", -hdus[0].data, hdus[0].header)

    def csv(self, path, *options):
        result = t.run(path, "-q", *options)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return rows_of(result.stdout)

    def check(self, path, options, other_options=None):
        """Returns the number of negative sources."""
        both, positive = self.csv(path, "--negative", *options), self.csv(path, *options)
        below = self.csv(self.negated(path), *(options if other_options is None else other_options))
        self.assertEqual(both[: len(positive)], positive)
        self.assertEqual(both[len(positive) :], [turned(row, len(positive)) for row in below])
        return len(below)

    def test_same_as_the_negated_file(self):
        path = self.image()
        for options, other in (
            ([], None),
            (["-i", "2", "--connectivity", "8"], None),
            (["--local"], None),
            (["--rms-box", "50,9", "-i", "3"], None),
            (["-n", "3", "--min-pixels", "4"], None),
            (["--background", "zero"], None),
            (["--rms", "1.5"], None),
            (["--background=0.5"], ["--background=-0.5"]),
            (["--background=-2", "--local"], ["--background=2", "--local"]),
            (["-k", "2.5", "-j", "3"], ["-k", "2.5", "-j", "1"]),
        ):
            with self.subTest(options):
                self.assertGreater(self.check(path, options, other), 3)

    def test_blank(self):
        with fits.open(self.image()) as hdus:
            image, header = hdus[0].data, hdus[0].header
        image[:90] = -7
        image[90:100] = np.nan
        path = self.write("padded.fits", image, header)
        for options, other in (
            (["--blank=-7"], ["--blank=7"]),
            (["--blank=-7", "-l"], ["--blank=7", "-l"]),
        ):
            self.assertGreater(self.check(path, options, other), 3)

    def test_given_maps(self):
        """A map of the background is negated with the image; a map of the rms is not."""
        path = self.image()
        x = np.arange(260, dtype=np.float32) / 260
        background = np.tile(0.7 + x, (230, 1)).astype(np.float32)
        maps = {"rms": np.tile(1.2 + x, (230, 1)), "background": background, "negated": -background}
        given = {
            name: self.write(name + "-map.fits", values.astype(np.float32))
            for name, values in maps.items()
        }
        for others in ([], ["--rms-map", given["rms"]], ["--local"]):
            options, negated = (
                ["--background-map", given[name], *others] for name in ("background", "negated")
            )
            self.assertGreater(self.check(path, options, negated), 3)

    def test_map_of_islands(self):
        """The numbers of the negative islands follow those of the others."""
        path = self.image()
        for options in ([], ["--local", "-i", "3"]):
            output = self.path("saved.csv")
            self.assertEqual(
                t.run(
                    path, "-q", "--negative", "--save", "islands", *options, "-o", output
                ).returncode,
                0,
            )
            with open(output) as stream:
                rows = rows_of(stream.read())
            islands = fits.getdata(self.path("saved.islands.fits"))
            self.assertEqual(islands.max(), len(rows))
            for row in rows:
                self.assertEqual(islands[int(row["Ypeak"]), int(row["Xpeak"])], int(row["Isl_id"]))
                self.assertEqual((islands == int(row["Isl_id"])).sum(), int(row["N_pix"]))

    def test_maps(self):
        for name in ("lofar", "magpis", "parkes"):
            for options in (["-i", "3"], ["--local"]):
                self.check(os.path.join(MAPS, name + ".fits"), options)

    def test_tiny_and_huge_values(self):
        """Where the units of the sums are at their limits."""
        for scale in (1e-36, 1e-42, 1e36):
            self.assertGreater(self.check(self.image(scale=scale), ["-i", "3"]), 3)

    def test_discrete_values(self):
        """Many pixels are equal, 0 or -0; a third of the pixels is at the median."""
        random = np.random.default_rng(3)
        image = random.integers(-1, 2, (150, 200)).astype(np.float32)
        image[::3, ::2] *= np.float32(-0.0)
        for sign in (1, -1):
            image[40 + 30 * sign : 44 + 30 * sign, 50:90] = sign * 20
        self.assertEqual(self.check(self.write("discrete.fits", image), []), 1)

    def test_background_and_noise_are_those_of_the_image(self):
        path = self.image()
        for options in ([], ["--local"]):
            found, other = t.find(path, "--negative", *options), t.find(
                self.negated(path), *options
            )
            b, n = found["background"], other["background"]
            self.assertEqual(
                [n["median"], n["mean"], n["min"], n["max"]],
                [-b["median"], -b["mean"], -b["max"], -b["min"]],
            )
            for name in ("rms", "n_kept", "rounds", "local"):
                self.assertEqual(n.get(name), b.get(name))
            negative = [s for s in found["sources"] if s["Flags"] & NEGATIVE]
            for row in negative:
                self.assertLess(row["SNR"], -5 if not options else 0)
                self.assertGreater(
                    min(row[name] for name in row if name.startswith("E_") or name == "Isl_rms"), 0
                )
                if not options:
                    self.assertEqual([row["Isl_mean"], row["Isl_rms"]], [b["median"], b["rms"]])
        with fits.open(path) as hdus:
            image = hdus[0].data
        for row in t.find(path, "--negative")["sources"]:
            if row["Flags"] & NEGATIVE:
                box = image[row["Y_min"] : row["Y_max"] + 1, row["X_min"] : row["X_max"] + 1]
                self.assertEqual(image[row["Ypeak"], row["Xpeak"]], box.min())
                self.assertEqual(row["Peak_flux"], float(box.min()) - row["Isl_mean"])

    def test_counts(self):
        path = self.image()
        found = t.find(path, "--negative")
        n, n_negative = (found["detection"][name] for name in ("n_sources", "n_negative"))
        self.assertEqual([s["Source_id"] for s in found["sources"]], list(range(1, n + 1)))
        self.assertEqual(
            [s["Flags"] & NEGATIVE for s in found["sources"]],
            [0] * (n - n_negative) + [NEGATIVE] * n_negative,
        )
        self.assertIn(
            ": %d sources, %d of them negative, rms " % (n, n_negative),
            t.run(path, "--negative").stderr,
        )
        self.assertNotIn("negative", t.run(path).stderr)
        self.assertNotIn("n_negative", t.find(path)["detection"])

    def test_reliability(self):
        """In JSON, by S/N: counts of the rows of both signs, and 1 - negative / positive; not
        without --negative."""
        path = self.image()
        self.assertNotIn("reliability", t.find(path))
        for options, name in (
            ([], "SNR"),
            (["-i", "3", "--fit"], "Pix_SNR"),
            (["-n", "3.5", "-i", "3", "--fit", "--local"], "Pix_SNR"),
        ):
            catalogue = t.find(path, "--negative", *options)
            bins = catalogue["reliability"]
            self.assertEqual(
                [(one["low"], one["high"]) for one in bins],
                [(0, 4), (4, 5), (5, 6), (6, 8), (8, 10), (10, 20), (20, 60), (60, None)],
            )
            for one in bins:
                there = [
                    row["Flags"] & (NEGATIVE | ARTEFACT)
                    for row in catalogue["sources"]
                    if one["low"] <= abs(row[name]) < (one["high"] or np.inf)
                ]
                negative = there.count(NEGATIVE)
                self.assertEqual(
                    [one[kind] for kind in KINDS],
                    [
                        there.count(0),
                        negative,
                        there.count(ARTEFACT),
                        there.count(NEGATIVE | ARTEFACT),
                    ],
                )
                self.assertEqual(
                    one["reliability"], 1 - negative / one["positive"] if one["positive"] else None
                )
            self.assertEqual(
                sum(one[kind] for one in bins for kind in KINDS), len(catalogue["sources"])
            )
            self.assertGreater(sum(one[kind] for one in bins for kind in KINDS[1::2]), 5)

    def test_no_noise(self):
        flat = self.write("flat.fits", np.full((70, 80), 3, np.float32))
        self.assertEqual(self.csv(flat, "--negative"), [])
        nothing = t.run(
            self.write("blank.fits", np.full((70, 80), np.nan, np.float32)), "--negative"
        )
        self.assertEqual([nothing.returncode, nothing.stderr.count("\n")], [1, 1])

    def test_bench(self):
        result = t.run(self.image(), "--negative", "--bench=1", "--cpu", "-f", "json")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        report = json.loads(result.stdout)
        self.assertEqual(
            [report["options"]["negative"], report["sources"]],
            ["yes", t.find(self.image(), "--negative")["detection"]["n_sources"]],
        )

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_on_a_device(self):
        path, environment = self.image(), {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
        on_device = t.run(path, "--negative", "--gpu", env=environment)
        self.assertIn("on the GPU", on_device.stderr)
        self.assertEqual(on_device.stdout, t.run(path, "--negative", "--cpu").stdout)
        result = t.run(path, "--negative", "--compare-cpu", env=environment)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertIn("the same, byte for byte", result.stdout)


if __name__ == "__main__":
    t.main()

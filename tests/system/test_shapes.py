"""--shapes: which Gaussians have the beam's shape, what it costs on known sources, and that the
errors know; what the option implies, and where it is written."""
import json
import math
import os
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t
import sky  # which that finds

NOT_FITTED, BEAM_SHAPED = 64, 128
BEAM, CELL = 5.0, 60  # pixels; from one source to the next
KNOWN = ["-i", "3", "--rms", sky.NOISE, "--background", "zero"]


class Shapes(t.Case):
    def sources(self, name, each_way, width, peaks, seed):
        """An image of round sources of this width in beams, each alone, with peaks between these of
        the noise; its path, the places and the true fluxes."""
        random, side = np.random.default_rng(seed), each_way * CELL
        middles = (np.arange(each_way) + 0.5) * CELL
        places = np.array(
            [values.ravel() for values in np.meshgrid(middles, middles)]
        ) + random.uniform(-3, 3, (2, each_way**2))
        peak = random.uniform(*peaks, each_way**2)
        image = sky.noise(sky.arguments([str(side), "x.fits"]), random)
        sky.add_sources(
            image,
            (
                *places,
                peak,
                np.full(len(peak), width),
                *np.repeat([sky.covariance((BEAM, BEAM, 0))], len(peak), axis=0).T,
            ),
        )
        header = fits.Header(
            sky.image_cards(
                side, -32, (BEAM * sky.CELL, BEAM * sky.CELL, 0.0), sky.CELL, sky.CENTRE
            )[5:]
        )
        return (
            self.write(name, (image * sky.NOISE).astype(np.float32), header),
            places,
            peak * width**2 * sky.NOISE,
        )

    def measured(self, known, *options):
        """The rows nearest to the places, if they are within half a beam, and the true fluxes."""
        path, places, flux = known
        rows = t.find(path, *KNOWN, *options)["sources"]
        x, y = (np.array([row[name] for row in rows]) for name in ("Xposn", "Yposn"))
        distance = np.hypot(x - places[0][:, None], y - places[1][:, None])
        found = distance.min(axis=1) < BEAM / 2
        return [rows[k] for k in distance.argmin(axis=1)[found]], flux[found]

    def pulls(self, rows, flux, with_shape=False):
        """Median, and robust scatter of (measured - true) / error; with_shape: with the cost of the
        choice of the shape."""
        values = np.array(
            [
                (row["Total_flux"] - true)
                / math.hypot(row["E_Total_flux"], row["E_Total_shape"] if with_shape else 0)
                for row, true in zip(rows, flux)
            ]
        )
        return np.median(values), 1.4826 * np.median(abs(values - np.median(values)))

    def shaped(self, rows):
        return sum(bool(row["Flags"] & BEAM_SHAPED) for row in rows) / len(rows)

    def test_points(self):
        """Of 40 rms: nearly all have the beam's shape, none, and all; all fluxes are right."""
        known = self.sources("points.fits", 8, 1, (30, 50), 1)
        for choice, least, most in ("auto", 0.7, 1), ("free", 0, 0), ("beam", 1, 1):
            rows, flux = self.measured(known, "--shapes", choice)
            with self.subTest(choice):
                self.assertEqual(len(rows), 64)
                self.assertTrue(least <= self.shaped(rows) <= most, self.shaped(rows))
                median, scatter = self.pulls(rows, flux)
                self.assertLess(abs(median), 0.5)
                self.assertTrue(0.5 < scatter < 1.4, scatter)
                if choice == "beam":
                    self.assertEqual(
                        {(row["DC_Maj"], row["DC_Min"], row["DC_PA"]) for row in rows}, {(0, 0, 0)}
                    )
                    for row in rows:
                        self.assertAlmostEqual(row["Total_flux"] / row["Peak_flux"], 1, delta=1e-4)
                        self.assertAlmostEqual(
                            row["E_Total_flux"] / row["Total_flux"],
                            row["E_Peak_flux"] / row["Peak_flux"],
                            delta=1e-9,
                        )

    def test_wide_sources(self):
        """Two beams wide: auto and free have their fluxes, beam has several points with less flux,
        all with flag 128."""
        known = self.sources("wide.fits", 8, 2, (20, 50), 2)
        for choice in "auto", "free":
            rows, flux = self.measured(known, "--shapes", choice)
            self.assertEqual([len(rows), self.shaped(rows)], [64, 0])
            self.assertAlmostEqual(
                np.median([row["Total_flux"] for row in rows] / flux), 1, delta=0.03
            )
        rows, flux = self.measured(known, "--shapes", "beam", "--group", "0")
        self.assertLess(np.median([row["Total_flux"] for row in rows] / flux), 0.5)
        every = t.find(known[0], *KNOWN, "--shapes", "beam", "--group", "0")["sources"]
        self.assertGreater(len(every), 2 * len(rows))
        self.assertEqual(
            {row["Flags"] & (BEAM_SHAPED | NOT_FITTED) for row in every} - {NOT_FITTED},
            {BEAM_SHAPED},
        )

    def test_added_components(self):
        """A faint source in the flank of a bright one, which is no peak of its own: its shape is
        its own, too, with free."""
        image = np.zeros((80, 80))
        sky.add_sources(
            image,
            [
                np.array(column, float)
                for column in zip(
                    (40.2, 39.7, 200, 1.3, *sky.covariance((BEAM, BEAM, 0))),
                    (45.2, 39.7, 30, 1, *sky.covariance((BEAM, BEAM, 0))),
                )
            ],
        )
        noise = sky.noise(sky.arguments(["80", "x.fits"]), np.random.default_rng(3))
        header = fits.Header(
            sky.image_cards(80, -32, (BEAM * sky.CELL, BEAM * sky.CELL, 0.0), sky.CELL, sky.CENTRE)[
                5:
            ]
        )
        path = self.write("flank.fits", ((image + noise) * sky.NOISE).astype(np.float32), header)
        flags = {
            choice: [
                row["Flags"] & BEAM_SHAPED
                for row in t.find(path, *KNOWN, "--shapes", choice, "--group", "0")["sources"]
            ]
            for choice in ("auto", "free", "beam")
        }
        self.assertEqual(flags["auto"][:2], [0, BEAM_SHAPED])
        self.assertEqual(
            [len(flags["free"]) > 1, set(flags["free"]), set(flags["beam"])],
            [True, {0}, {BEAM_SHAPED}],
        )

    def test_errors_know_the_choice(self):
        """From 5 to 10 rms, where many resolved sources get the beam's shape and lose flux: the cost
        of the choice covers that. It is not in the errors, which are right for points, and equal
        for equal points."""
        for width in 1.2, 1.5:
            rows, flux = self.measured(
                self.sources("resolved.fits", 20, width, (5, 10), 4), "--fit"
            )
            median, scatter = self.pulls(rows, flux, with_shape=True)
            print(
                "%g beams: %.0f%% have the beam's shape, pulls %+.2f ± %.2f"
                % (width, 100 * self.shaped(rows), median, scatter)
            )
            self.assertGreater(self.shaped(rows), 0.05)
            self.assertLess(abs(median), 1)
            self.assertLess(scatter, 1.6)
        known = self.sources("points.fits", 20, 1, (5, 10), 5)
        for choice in "auto", "beam":
            rows, flux = self.measured(known, "--shapes", choice)
            median, scatter = self.pulls(rows, flux)
            print("points, %s: pulls %+.2f ± %.2f" % (choice, median, scatter))
            self.assertTrue(0.85 < scatter < 1.15, scatter)
            relative = [
                row["E_Total_flux"] / row["Isl_rms"] for row in rows if row["Flags"] & BEAM_SHAPED
            ]
            self.assertLess(max(relative) / min(relative), 1 + 1e-6)
            self.assertEqual(choice == "auto", any(row["E_Total_shape"] > 0 for row in rows))

    def test_without_a_beam(self):
        """Nothing has the beam's shape: with beam the image fails, and the other one is done."""
        data, header = t.noise(90, 80), t.sky_header()
        other, pixels = self.write("other.fits", data, header), self.write("pixels.fits", data)
        for name in "BMAJ", "BMIN", "BPA":
            del header[name]
        without = self.write("without.fits", data, header)
        for choice in "auto", "free":
            rows = t.find(without, "--shapes", choice)["sources"]
            self.assertGreater(len(rows), 5)
            self.assertEqual({row["Flags"] & BEAM_SHAPED for row in rows}, {0})
        result = t.run(without, pixels, other, "--shapes", "beam", "-q", "-o", self.path("out"))
        self.assertEqual(
            [result.returncode, sorted(os.listdir(self.path("out")))], [1, ["other.csv"]]
        )
        self.assertEqual(
            result.stderr.splitlines()[:2],
            [
                "srcfind: %s: --shapes beam needs the beam, and %s" % words
                for words in (
                    (without, "no beam is known: give --beam MAJ,MIN,PA, or leave --shapes out"),
                    (
                        pixels,
                        "without sky coordinates the size of a pixel is not known: leave --shapes out",
                    ),
                )
            ],
        )
        self.assertEqual(t.run(without, "--shapes", "beam", "--beam", "7.2").returncode, 0)

    def test_implies_fit(self):
        path, _, _ = self.sources("sky.fits", 4, 1.1, (6, 12), 6)
        fitted = t.run(path, "-i", "3", "--fit").stdout
        self.assertEqual(t.run(path, "-i", "3", "--shapes", "auto").stdout, fitted)
        for choice in "free", "beam":
            self.assertNotEqual(t.run(path, "-i", "3", "--shapes", choice).stdout, fitted)
            self.assertEqual(
                t.run(path, "-i", "3", "--shapes", choice, "--fit").stdout,
                t.run(path, "-i", "3", "--shapes", choice).stdout,
            )

    def test_where_it_is_written(self):
        """In the options of catalogues, in maps, and in the report, which knows catalogues of other
        options. Catalogues of any choice go together."""
        path, _, _ = self.sources("sky.fits", 3, 1.3, (6, 30), 7)
        catalogue, report = self.path("c.json"), self.path("r.csv")
        command = [
            path,
            "-i",
            "3",
            "--save",
            "model",
            "-o",
            catalogue,
            "--skip-existing",
            "--report",
            report,
        ]
        self.assertEqual(t.run(*command, "--shapes", "free").returncode, 0)
        with open(catalogue) as stream:
            self.assertEqual(json.load(stream)["options"]["shapes"], "free")
        self.assertIn(
            "srcfind option shapes: free", str(fits.getheader(self.path("c.model.fits"))["HISTORY"])
        )
        for choice, words in ("free", "skipped"), ("beam", "made"), ("beam", "skipped"):
            before = os.stat(catalogue).st_mtime_ns
            self.assertEqual(t.run(*command, "--shapes", choice).returncode, 0)
            self.assertEqual(
                os.stat(catalogue).st_mtime_ns == before, words == "skipped", (choice, words)
            )
        fit = self.path("fit.json")
        self.assertEqual(t.run(path, "-i", "3", "--fit", "-o", fit).returncode, 0)
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        result = subprocess.run(
            [merge, catalogue, fit, "-o", self.path("all.csv")], capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    t.main()

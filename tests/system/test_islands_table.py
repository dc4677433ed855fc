"""--save islands_table: a row for each island, compared with the maps of islands and residuals, and
with the rows of its sources."""
import json
import os
import warnings

import numpy as np
from astropy.io import fits
from astropy.table import Table

import srcfind_test as t

SINGLE, NEGATIVE, NOT_FITTED = 2, 32, 64
OF_PIXELS = ("N_pix", "X_min", "X_max", "Y_min", "Y_max", "Xpeak", "Ypeak")


class IslandsTable(t.Case):
    def image(self, name="image.fits", **cards):
        """Noise of both signs with sources, two of which share an island."""
        image = t.noise(200, 220, seed=5, sigma=0.1) - t.noise(200, 220, seed=6, sigma=0.1)[::-1]
        y, x = np.indices(image.shape)
        for at in (100, 108):
            image += 5 * np.exp(-((x - at) ** 2 + (y - 100) ** 2) / 8)
        return self.write(name, (image + 0.3).astype(np.float32), t.sky_header(**cards))

    def save(self, image, *options, suffix="csv", save="islands_table"):
        path = self.path("c." + suffix)
        t.run(image, "-q", "-o", path, "--save", save, *options, check=True)
        return self.path("c.islands_table." + suffix)

    def check(self, image, *options):
        """Rows are what maps and sources say."""
        islands = t.read_csv(
            self.save(image, *options, save="islands_table,islands,residual,background")
        )
        sources = t.read_csv(self.path("c.csv"))
        labels, residual, background = (
            fits.getdata(self.path("c.%s.fits" % name))
            for name in ("islands", "residual", "background")
        )
        values = fits.getdata(image).astype(float) - background
        pixel = abs(fits.getheader(image)["CDELT1"] * fits.getheader(image)["CDELT2"])
        self.assertEqual([row["Isl_id"] for row in islands], np.unique(labels)[1:].tolist())
        differences = []
        for row in islands:
            y, x = np.nonzero(labels == row["Isl_id"])
            sign = -1 if int(row["Flags"]) & NEGATIVE else 1
            of_island = values[y, x]
            peak = (sign * of_island).argmax()
            self.assertEqual(
                [row[name] for name in OF_PIXELS],
                [len(x), x.min(), x.max(), y.min(), y.max(), x[peak], y[peak]],
            )
            self.assertEqual(int(row["Flags"]) & SINGLE > 0, len(x) == 1)
            mine = [s for s in sources if s["Isl_id"] == row["Isl_id"]]
            flux = np.array([abs(s["Total_flux"]) for s in mine])
            np.testing.assert_allclose(
                [row["Peak_flux"], row["Pixel_sum"], row["Area"]],
                [of_island[peak], of_island.sum(), len(x) * pixel],
                rtol=2e-5,
            )
            differences.append(  # the map has the Gaussians of neighbours, too
                max(
                    abs(row["Resid_Isl_rms"] - np.sqrt(np.mean(residual[y, x] ** 2))),
                    abs(row["Resid_Isl_mean"] - residual[y, x].mean()),
                )
            )
            np.testing.assert_allclose(
                [row[name] for name in ("Xposn", "Yposn", "RA", "DEC")],
                [
                    np.average([s[name] for s in mine], weights=flux)
                    for name in ("Xposn", "Yposn", "RA", "DEC")
                ],
                rtol=1e-8,
            )
            self.assertEqual(
                [row["N_sources"], row["N_Gaus"]], [len(mine), sum(s["N_Gaus"] for s in mine)]
            )
            for name in ("Isl_Total_flux", "E_Isl_Total_flux", "Resid_Isl_rms", "Resid_Isl_mean"):
                self.assertEqual({row[name]}, {s[name] for s in mine})
            self.assertEqual(
                int(row["Flags"]) & NOT_FITTED, max(int(s["Flags"]) & NOT_FITTED for s in mine)
            )
        self.assertLess(np.median(differences), 1e-5)
        return islands

    def test_rows(self):
        islands = self.check(self.image(), "--fit", "-i", "3", "--group", "0")
        self.assertGreater(max(row["N_sources"] for row in islands), 1)
        self.assertEqual({int(row["Flags"]) & NEGATIVE for row in islands}, {0})

    def test_negative_and_local(self):
        islands = self.check(self.image(), "--fit", "-i", "3", "--negative", "--rms-box", "60,20")
        self.assertEqual({int(row["Flags"]) & NEGATIVE for row in islands}, {0, NEGATIVE})

    def test_without_fit(self):
        """Islands are the rows of the catalogue."""
        islands = t.read_csv(self.save(self.image()))
        rows = t.read_csv(self.path("c.csv"))
        self.assertGreater(len(rows), 5)
        for island, row in zip(islands, rows):
            for name in set(island) & set(row) - {"RA", "DEC", "Flags"}:
                self.assertEqual(island[name], row[name], name)
        self.assertEqual(len(islands), len(rows))
        self.assertNotIn("N_Gaus", islands[0])

    def test_scales(self):
        islands = t.read_csv(self.save(self.image(), "--scales"))
        rows = t.read_csv(self.path("c.csv"))
        self.assertEqual(
            [row["Isl_id"] for row in islands], sorted({row["Isl_id"] for row in rows})
        )
        scales = {row["Isl_id"]: row["Scale"] for row in rows}
        self.assertEqual({row["Isl_id"]: row["Scale"] for row in islands}, scales)

    def test_formats(self):
        image, rows = self.image(), None
        for suffix in ("csv", "json", "vot", "fits", "ecsv", "csv.gz"):
            path = self.save(image, "--fit", "-i", "3", suffix=suffix)
            if suffix == "json":
                with open(path, encoding="utf-8") as stream:
                    document = json.load(stream)
                t.validator().validate(document)
                table = Table(rows=document["islands"])
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    table = Table.read(
                        path, **{"format": "ascii.csv"} if "csv" in suffix[:3] else {}
                    )
            rows = rows or table
            self.assertEqual(table.colnames, rows.colnames)
            for name in rows.colnames:
                self.assertEqual(list(table[name]), list(rows[name]), (suffix, name))
        self.assertGreater(len(rows), 5)

    def test_frames(self):
        """Names are those of the frame; without sky coordinates places and area are empty; at 0 =
        360 degrees the centre is between the sources."""
        galactic = self.image("galactic.fits", CTYPE1="GLON-CAR", CTYPE2="GLAT-CAR")
        row = t.read_csv(self.save(galactic, "--fit"))[0]
        self.assertTrue("GLON" in row and "RA" not in row)
        bare = self.write("bare.fits", fits.getdata(galactic))
        row = t.read_csv(self.save(bare, "--fit"))[0]
        self.assertEqual([row["RA"], row["DEC"], row["Area"]], [None] * 3)
        zero = self.image("zero.fits", CRVAL1=0.0, CRPIX1=105.0)
        rows = t.read_csv(self.save(zero, "--fit", "-i", "3", "--group", "0"))
        row = max(rows, key=lambda row: row["N_sources"])
        self.assertGreater(row["N_sources"], 1)
        self.assertLess(abs((row["RA"] + 180) % 360 - 180), 0.05)

    def test_no_sources(self):
        empty = self.write("empty.fits", np.random.default_rng(1).normal(size=(40, 40)))
        with open(self.save(empty, "-n", "30", "--fit"), encoding="ascii") as stream:
            self.assertEqual(stream.read().count("\n"), 1)

    def test_in_its_place(self):
        """A later run without it removes it; merging leaves it out; with --at it is refused."""
        images = [self.image("%d.fits" % i) for i in range(2)]
        words = [*images, "-q", "-o", self.path("o/")]
        t.run(*words, "--save", "islands_table", check=True)
        names = sorted(os.listdir(self.path("o")))
        self.assertEqual(names, ["0.csv", "0.islands_table.csv", "1.csv", "1.islands_table.csv"])
        result = t.run(*words, "--merge", self.path("m.csv"), "--save", "islands_table")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        paths = [self.path("o/" + name) for name in names]
        result = t.subprocess.run(
            [merge, *paths, "--radius", "10", "-o", self.path("n.csv")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 maps or tables of --save are left out", result.stderr)
        result = t.subprocess.run(
            [merge, paths[1], "-o", self.path("n2.csv")], capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("a table of islands: name the catalogue of the sources", result.stderr)
        t.run(*words, check=True)
        self.assertEqual(sorted(os.listdir(self.path("o"))), ["0.csv", "1.csv"])
        self.assert_error(
            2,
            "--save: islands_table: with --at there are no islands",
            images[0],
            "--at",
            self.path("o/0.csv"),
            "--save",
            "islands_table",
        )

    def test_same_bytes(self):
        image, found = self.image(), []
        for threads in ("1", "2", "5"):
            with open(self.save(image, "--fit", "-i", "3", "-j", threads), "rb") as stream:
                found.append(stream.read())
        self.assertEqual(found, found[:1] * 3)


if __name__ == "__main__":
    t.main()

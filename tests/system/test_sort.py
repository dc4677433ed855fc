"""--sort: the order of the rows of catalogues and of merged catalogues."""
import csv
import json
import os
import subprocess

import numpy as np
from astropy.io.votable import parse_single_table
from astropy.table import Table

import srcfind_test as t
from srcfind_test import run

MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")

KEYS = {"flux": ("Total_flux", -1), "snr": ("SNR", -1), "ra": ("RA", 1), "dec": ("DEC", 1)}


def run_merge(*arguments):
    return subprocess.run([MERGE, *arguments], capture_output=True, text=True)


class Sort(t.Case):
    def setUp(self):
        super().setUp()
        header = t.sky_header(BMAJ=2e-3, BMIN=2e-3, BPA=0)
        self.images = []
        for k in range(2):
            random = np.random.default_rng(k)
            image = random.normal(0, 1, (200, 220))
            y, x = np.mgrid[:200, :220]
            for flux in (80, -90, 15, 200, 40, 25, 120, 60):
                x0, y0 = random.uniform(15, 205), random.uniform(15, 185)
                image += flux * np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / 6)
            header["CRVAL2"] = 20 + k * 3
            self.images.append(self.write("%d.fits" % k, image.astype("f4"), header))
        self.image = self.images[0]

    def rows(self, path):
        with open(path, newline="") as stream:
            return list(csv.DictReader(stream))

    def text(self, path):
        with open(path) as stream:
            return stream.read()

    def found(self, *options, name="c.csv"):
        path = self.path(name)
        result = run("-i", "3", "--negative", *options, "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def assert_ordered(self, rows, key):
        name, sign = KEYS[key]
        values = [sign * float(row[name]) for row in rows]
        self.assertEqual(values, sorted(values))
        self.assertGreater(len(values), 5)

    def test_keys(self):
        """The rows are those of the unsorted catalogue, with their numbers."""
        plain = self.rows(self.found(self.image))
        ids = [int(row["Source_id"]) for row in plain]
        self.assertEqual(ids, sorted(ids))
        for key in KEYS:
            rows = self.rows(self.found(self.image, "--sort", key))
            self.assert_ordered(rows, key)
            self.assertNotEqual(rows, plain)
            self.assertCountEqual(map(str, rows), map(str, plain))

    def test_formats(self):
        ids = [row["Source_id"] for row in self.rows(self.found(self.image, "--sort", "flux"))]
        for form in "json", "vot", "fits", "ecsv", "txt":
            path = self.found(self.image, "--sort", "flux", name="c." + form)
            if form == "json":
                read = [source["Source_id"] for source in json.loads(self.text(path))["sources"]]
            elif form == "vot":
                read = parse_single_table(path).to_table()["Source_id"]
            elif form == "txt":
                read = [line.split()[0] for line in self.text(path).splitlines()[2:]]
            else:
                read = Table.read(path)["Source_id"]
            self.assertEqual([str(number) for number in read], ids, form)

    def test_chosen_columns(self):
        """Derived columns go with their rows."""
        columns = ["--columns", "@aegean,Source_id"]
        plain = self.rows(self.found(self.image, "--fit", *columns))
        rows = self.rows(self.found(self.image, "--fit", *columns, "--sort", "dec"))
        self.assertNotEqual(rows, plain)
        self.assertCountEqual(map(str, rows), map(str, plain))

    def test_rows_without_a_number_are_last(self):
        table = self.path("at.csv")
        with open(table, "w") as stream:
            stream.write("Xposn,Yposn\n500,500\n30,40\n90,90\n700,30\n100,20\n")
        path = self.path("c.csv")
        for key in "flux", "snr":
            result = run("--at", table, "--at-all", "--fit", self.image, "--sort", key, "-o", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            values = [row[KEYS[key][0]] for row in self.rows(path)]
            self.assertEqual([value == "" for value in values], [False] * 3 + [True] * 2)
            self.assertEqual(values[:3], sorted(values[:3], key=float, reverse=True))

    def test_merged(self):
        """The merged catalogue as a whole; numbers, and the Gaussians, are as without --sort."""
        plain, by_dec = self.path("plain.csv"), self.path("dec.csv")
        for merged, *options in (plain,), (by_dec, "--sort", "dec"):
            out = self.path("out%d/" % len(options))
            result = run(
                "--fit", *self.images, "--save", "gaussians", "--merge", merged, *options, "-o", out
            )
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_ordered(self.rows(by_dec), "dec")
        self.assertNotEqual(self.rows(by_dec), self.rows(plain))
        self.assertCountEqual(map(str, self.rows(by_dec)), map(str, self.rows(plain)))
        beside = [path.replace(".csv", ".gaussians.csv") for path in (plain, by_dec)]
        self.assertEqual(self.rows(beside[0]), self.rows(beside[1]))

    def test_merged_later(self):
        """srcfind-merge takes sorted catalogues with their Gaussians, and sorts itself."""
        for form in "fits", "csv":
            merged = {}
            for name, options in ("plain", []), ("sorted", ["--sort", "flux"]):
                out = self.path(name + form)
                run("--fit", *self.images, "--save", "gaussians", "-f", form, *options, "-o", out)
                files = [os.path.join(out, "%d.%s" % (k, form)) for k in range(2)]
                merged[name] = self.path(name + ".m.csv")
                result = run_merge(*files, "--radius", "5", "-o", merged[name])
                self.assertIn("Gaussians of these rows", result.stderr)
            beside = {name: path.replace(".m.", ".m.gaussians.") for name, path in merged.items()}
            for paths in merged, beside:
                rows = [
                    [{k: v for k, v in row.items() if k != "Image"} for row in self.rows(path)]
                    for path in paths.values()
                ]
                self.assertEqual(rows[0], rows[1])
            result = run_merge(*files, "--radius", "5", "--sort", "ra", "-o", self.path("ra.csv"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_ordered(self.rows(self.path("ra.csv")), "ra")

    def test_sky_models_are_not_sorted(self):
        words = "--sort has no effect with sky models"
        options = ["--fit", "--sort", "flux", "-o", self.path("c.skymodel")]
        self.assertIn(words, run(self.image, *options).stderr)
        self.assertNotIn(words, run(self.image, *options[:-1], self.path("c.csv")).stderr)

    def test_wrong_keys(self):
        words = "--sort: 'size' is not flux, snr, ra or dec"
        self.assertIn(words, run(self.image, "--sort", "size").stderr)
        self.assertIn(words, run_merge("a.csv", "--sort", "size", "-o", "b.csv").stderr)


if __name__ == "__main__":
    t.main()

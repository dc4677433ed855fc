"""A night of two thousand tiles, some of which are broken: what an operator has the morning after;
and what many tiles cost."""
import csv
import gzip
import os
import re
import shutil
import subprocess
import sys

import numpy as np
from astropy.io import fits

import srcfind_test as t

import sky  # which srcfind_test finds

SIZE, STEP, ROWS, COLUMNS = 64, 40, 40, 50  # tiles of 64 x 64 pixels, which overlap by 24
NOISE = ["--rms", "1e-4", "--background", "0", "-i", "4"]
EDGE = 1
PEAK = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(code)"
)


def rows_of(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def break_tile(path, kind):
    """Ten ways to be no image that can be searched."""
    with open(path, "rb") as stream:
        data = bytearray(stream.read())
    os.remove(path)
    if kind == 0:
        return  # it is not there
    if kind == 1:
        os.mkdir(path)
        return
    changed = {
        2: b"",
        3: data[:9000],  # cut in the pixels
        4: data[:1000],  # cut in the header
        5: np.random.default_rng(1).bytes(9000),
        6: data.replace(b"BITPIX  =                  -32", b"BITPIX  =                  -31"),
        7: data.replace(b"NAXIS1  =                   64", b"NAXIS1  =              6400000"),
        8: data[:2880] + bytes(len(data) - 2880),  # no noise, replaced below
        9: gzip.compress(bytes(data))[:5000],  # cut where it is packed
    }[kind]
    if kind == 8:
        changed = (
            data[:2880]
            + np.full(SIZE * SIZE, np.nan, ">f4").tobytes()
            + bytes(-4 * SIZE * SIZE % 2880)
        )
    with open(path, "wb") as stream:
        stream.write(changed)


@t.unittest.skipIf(t.SANITIZED, "what the scripts run is tested with sanitizers by itself")
class Survey(t.Case):
    def setUp(self):
        super().setUp()
        self.report, self.out, self.merged, self.list = (
            self.path(name) for name in ("report.csv", "out", "merged.csv", "list")
        )

    def write_tiles(self):
        """The tiles of a sky, row by row; each 50th is broken. Returns the path of the sky."""
        whole = self.path("whole.fits")
        sky.make([str(STEP * COLUMNS + SIZE - STEP), whole, "--density", "600"])
        with fits.open(whole) as hdus:
            pixels, header = hdus[0].data[: STEP * ROWS + SIZE - STEP], hdus[0].header
            fits.PrimaryHDU(pixels, header).writeto(whole, overwrite=True)
            pixels = pixels.copy()
        tiles = []
        centre = header["CRPIX1"], header["CRPIX2"]
        for i in range(ROWS * COLUMNS):
            top, left = STEP * (i // COLUMNS), STEP * (i % COLUMNS)
            header["CRPIX1"], header["CRPIX2"] = centre[0] - left, centre[1] - top
            tiles.append(self.path("tiles/P%02d/mosaic%02d.fits" % (i // COLUMNS, i % COLUMNS)))
            os.makedirs(os.path.dirname(tiles[-1]), exist_ok=True)
            fits.PrimaryHDU(pixels[top : top + SIZE, left : left + SIZE], header).writeto(tiles[-1])
            if i % COLUMNS == 7:
                break_tile(tiles[-1], i // COLUMNS % 10)
        with open(self.list, "w") as stream:
            stream.write("".join(tile + "\n" for tile in tiles))
        return whole, tiles

    def command(self, *more):
        return [
            t.COMMAND,
            "--files-from",
            self.list,
            "-o",
            self.out,
            "--report",
            self.report,
            "--merge",
            self.merged,
            "--cpu",
            *NOISE,
            *more,
        ]

    def contents(self):
        """What is in all files of the run, by their paths; of the report, what does not depend on
        time."""
        found = {}
        for directory, _, names in os.walk(self.out):
            for name in names:
                with open(os.path.join(directory, name), "rb") as stream:
                    found[os.path.relpath(os.path.join(directory, name), self.out)] = stream.read()
        with open(self.merged, "rb") as stream:
            found["merged"] = stream.read()
        found["report"] = sorted(
            (row["image"], row["status"], row["message"], row["sources"])
            for row in rows_of(self.report)
        )
        return found

    def check_contents(self, tiles):
        found = self.contents()
        catalogues = {
            name: text for name, text in found.items() if name not in ("merged", "report")
        }
        self.assertEqual(len(catalogues), 1960)
        for i, tile in enumerate(tiles):
            name = "P%02d/mosaic%02d.csv" % (i // COLUMNS, i % COLUMNS)
            self.assertEqual(name in catalogues, i % COLUMNS != 7)
            if name in catalogues:
                single = subprocess.run(
                    [t.COMMAND, tile, "-q", "--cpu", *NOISE], capture_output=True, check=True
                )
                self.assertEqual(catalogues[name], single.stdout)
        self.assertEqual(
            [len(found["report"]), [row[0] for row in found["report"]]], [2000, sorted(tiles)]
        )
        failed = [row for row in found["report"] if row[1] == "failed"]
        self.assertEqual(len(failed), 40)
        self.assertGreaterEqual(len({re.sub(r"'.*?'|[0-9]+", "", row[2]) for row in failed}), 8)
        self.assertEqual(
            [
                name
                for _, _, names in os.walk(self.directory.name)
                for name in names
                if name.startswith(".")
            ],
            [],
        )
        return found

    def check_merged(self, whole):
        """Against a search of the whole: every source that is whole in a tile, once, at the same
        position; and what is more is a piece."""
        t.run(whole, "-q", "-o", self.path("whole.csv"), *NOISE, check=True)
        merged = [
            (float(row["RA"]), float(row["DEC"]), int(row["N_pix"]), int(row["Flags"]))
            for row in rows_of(self.merged)
        ]
        positions = np.array([row[:2] for row in merged])
        n_whole, found = 0, set()
        for row in rows_of(self.path("whole.csv")):
            x_min, x_max, y_min, y_max = (
                int(row[name]) for name in ("X_min", "X_max", "Y_min", "Y_max")
            )
            is_whole = any(
                STEP * k < x_min
                and x_max < STEP * k + SIZE - 1
                and STEP * i < y_min
                and y_max < STEP * i + SIZE - 1
                and k != 7
                for i in range(ROWS)
                for k in range(COLUMNS)
            )
            near = np.flatnonzero(
                np.hypot(
                    (positions[:, 0] - float(row["RA"])) * np.cos(np.radians(positions[:, 1])),
                    positions[:, 1] - float(row["DEC"]),
                )
                < 1e-9
            )
            n_same = sum(merged[k][2] == int(row["N_pix"]) for k in near)
            self.assertLessEqual(n_same, 1)
            if is_whole:
                self.assertEqual(n_same, 1, row)
                n_whole += 1
            found.update(near)
        self.assertGreater(n_whole, 1000)
        self.assertTrue(all(row[3] & EDGE for k, row in enumerate(merged) if k not in found))
        print(
            "%d sources of the whole image are whole in a tile; the merged catalogue has %d rows"
            % (n_whole, len(merged))
        )

    def test_night(self):
        whole, tiles = self.write_tiles()
        result = subprocess.run(self.command("-q"), capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 41)
        self.assertRegex(
            result.stderr.splitlines()[-1],
            r"\Asrcfind: 2000 images: \d+ sources, 40 failed, 0 skipped, ",
        )
        found = self.check_contents(tiles)
        self.check_merged(whole)
        # the same after three runs that were killed
        shutil.rmtree(self.out)
        for path in (self.report, self.merged):
            os.remove(path)
        for lines in (200, 500, 1000):
            with subprocess.Popen(
                self.command("--skip-existing"), stderr=subprocess.PIPE, text=True
            ) as process:
                for _, line in zip(range(lines), process.stderr):
                    pass
                process.kill()
                process.stderr.read()
            self.assertEqual(process.returncode, -9)
            self.assertFalse(os.path.exists(self.merged))
        n_catalogues = sum(len(names) for _, _, names in os.walk(self.out))
        self.assertTrue(200 < n_catalogues < 1960)
        result = subprocess.run(self.command("--skip-existing"), capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr, r"(?m)^srcfind: 2000 images: \d+ sources, 40 failed, \d+ skipped, "
        )
        self.assertTrue(self.contents() == found)
        self.assertEqual(
            [
                name
                for _, _, names in os.walk(self.directory.name)
                for name in names
                if name.startswith(".")
            ],
            [],
        )

    def peak(self, n, *options):
        """Bytes, for n images that are one file. MALLOC_PERTURB_ would touch what is never used."""
        with open(self.list, "w") as stream:
            stream.write("".join("%s/%d.fits\n" % (self.path("tiles"), i) for i in range(n)))
        environment = {
            name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"
        }
        result = subprocess.run(
            [
                sys.executable,
                "-c",
                PEAK,
                t.COMMAND,
                "--files-from",
                self.list,
                "--threads",
                "2",
                "--cpu",
                *options,
            ],
            capture_output=True,
            text=True,
            env=environment,
        )
        self.assertEqual(
            [result.returncode, len(re.findall(r": \d+ sources?, rms ", result.stderr))], [0, n]
        )
        return int(result.stdout)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_memory_of_many_images(self):
        """It is that of the names; with --merge, at most 72 bytes for each row, with what each
        image has."""
        tile = self.write("tile.fits", t.noise(SIZE, SIZE, n_sources=40), t.sky_header())
        n_rows = len(t.run(tile, "-q").stdout.splitlines()) - 1
        os.mkdir(self.path("tiles"))
        for i in range(20000):
            os.symlink(tile, self.path("tiles/%d.fits" % i))
        peaks = [self.peak(n, "-o", self.out, "--report", self.report) for n in (1000, 20000)]
        print(
            "1000 images: peak %.1f MiB; 20000 images: peak %.1f MiB"
            % tuple(peak / 2**20 for peak in peaks)
        )
        # a path, a row of the report, what became of it
        self.assertLess(peaks[1] - peaks[0], 19000 * 300)
        merged = self.peak(20000, "--merge", self.merged)
        print(
            "with --merge: %.1f MiB for %d rows: %.1f bytes a row"
            % (merged / 2**20, 20000 * n_rows, (merged - peaks[1]) / (20000 * n_rows))
        )
        self.assertLess(merged - peaks[1], 72 * 20000 * n_rows)


if __name__ == "__main__":
    t.main()

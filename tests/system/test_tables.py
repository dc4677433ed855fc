"""Catalogues as the library reads them (tests/print_table.c): those that srcfind wrote come back to the bit, and those of
other programs as astropy reads them."""
import csv
import gzip
import io
import math
import os
import shutil
import subprocess
import unittest

import numpy as np
from astropy.io import fits
from astropy.table import MaskedColumn, Table

import srcfind_test as t

PRINT_TABLE = os.environ.get("PRINT_TABLE", "")


def printed(path, *arguments):
    result = subprocess.run([PRINT_TABLE, path, *arguments], capture_output=True, encoding="utf-8", errors="replace",
                            timeout=t.HANG)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout


def read(path):
    """The facts of a table, and its columns: name -> list of int, float, str, or None for an empty cell."""
    facts, rows = printed(path).split("\n\n", 1)
    rows = list(csv.reader(io.StringIO(rows)))
    names, kinds, cells = rows[0], rows[1], rows[2:]
    convert = {"i": int, "r": float, "t": str}
    columns = {name: [convert[kind](row[i]) if row[i] else None for row in cells]
               for i, (name, kind) in enumerate(zip(names, kinds))}
    return dict(line.split("=", 1) for line in facts.split("\n")), columns


def positions(path, frame="ICRS", lon="RA", lat="DEC"):
    lines = printed(path, frame, lon, lat).splitlines()
    return lines[0], [tuple(map(float, line.split(","))) for line in lines[1:]]


def error_of(path, *arguments):
    result = subprocess.run([PRINT_TABLE, path, *arguments], capture_output=True, text=True, timeout=t.HANG)
    assert result.returncode == 1 and result.stderr.startswith(path + ": ") and result.stderr.count("\n") == 1, result
    return result.stderr


def plain(column):
    """The cells of an astropy column, as `read` gives them."""
    def value(cell):
        if cell is np.ma.masked or (isinstance(cell, (float, np.floating)) and math.isnan(cell)) or cell == "":
            return None
        return cell.item() if isinstance(cell, np.generic) else cell
    return [value(cell) for cell in column]


class Tables(t.Case):

    def image(self, name="image.fits", **cards):
        return self.write(name, t.noise(120, 140, seed=3), t.sky_header(EXTNAME="it's", **cards))

    def sample(self, n=300):
        """A table of every kind of column that astropy writes in all formats."""
        random = np.random.default_rng(5)
        table = Table({"Source_id": np.arange(n) + 1, "RA": random.uniform(0, 360, n), "DEC": random.uniform(-90, 90, n),
                       "flux": random.normal(0, 1, n) * 10.0 ** random.integers(-30, 30, n),
                       "name": ['%d, "%s"' % (i, "x" * (i % 5)) for i in range(n)], "digits": ["%03d" % i for i in range(n)],
                       "big": random.integers(-2**62, 2**62, n), "few": random.integers(0, 200, n).astype(np.uint8)})
        table["name"][3] = "ä b  c"
        masked = np.arange(n) % 7 == 0
        for name in ("flux", "big", "name"):
            table[name] = MaskedColumn(table[name], mask=masked)
        table["none"] = MaskedColumn(np.zeros(n), mask=np.ones(n, bool))
        return table

    def assert_reads(self, path, table, names=None):
        facts, columns = read(path)
        self.assertEqual(list(columns), names or table.colnames)
        for name in columns:
            self.assertEqual(columns[name], plain(table[name]), name)
        return facts

    def test_own_catalogues(self):
        """Every cell, in every format, plain and packed: those of the CSV, which others read."""
        path = self.image()
        for options in ([], ["-n", "500"], ["--negative", "-n", "3"]):
            expected = None
            for suffix in (".csv", ".csv.gz", ".ecsv", ".ecsv.gz", ".json", ".json.gz", ".fits", ".fit", ".FITS"):
                output = self.path("c" + suffix)
                arguments = [] if suffix != ".FITS" else ["-f", "fits"]
                self.assertEqual(t.run(path, "-q", "-o", output, *options, *arguments).returncode, 0)
                facts, columns = read(output)
                if expected is None:
                    with open(output, newline="") as stream:
                        rows = list(csv.DictReader(stream))
                    self.assertEqual(len(rows) > 0, options != ["-n", "500"])
                    expected = {name: [t.numbers(row)[name] for row in rows] for name in columns}
                self.assertEqual(columns, expected, suffix)
                if "csv" not in suffix or "ecsv" in suffix:
                    self.assertEqual(facts["frame"], "ICRS")
                    self.assertEqual(facts["image"], path)
                    self.assertEqual(facts["beam"], "0.0025000000000000001,0.002,30")

    def test_frames(self):
        for i, (lon, lat, frame) in enumerate((("GLON-CAR", "GLAT-CAR", "GALACTIC"), ("RA---SIN", "DEC--SIN", "FK5"))):
            image = self.image("image%d.fits" % i, CTYPE1=lon, CTYPE2=lat, RADESYS=frame if i else None)
            for suffix in (".ecsv", ".json", ".fits"):
                output = self.path("c%d" % i + suffix)
                self.assertEqual(t.run(image, "-q", "-o", output).returncode, 0)
                self.assertEqual(read(output)[0]["frame"], frame)
                kind, rows = positions(output, frame, lon[:4].strip("-"), lat[:4].strip("-"))
                self.assertEqual(kind, "sky")
                self.assertGreater(len(rows), 0)
                words = "its frame is FK5, that of the image ICRS" if i else "its positions are GLON and GLAT"
                self.assertIn(words, error_of(output, "ICRS", "RA", "DEC"))

    def test_long_path_of_an_image(self):
        name = self.path("it's a long name " * 10 + ".fits")
        shutil.copy(self.image(), name)
        self.assertEqual(t.run(name, "-q", "-o", self.path("c.fits")).returncode, 0)
        self.assertEqual(read(self.path("c.fits"))[0]["image"], name)

    def test_csv_of_others(self):
        table = self.sample()
        table.write(self.path("a.csv"))
        table["digits"] = [int(digits) for digits in table["digits"]]  # CSV does not tell texts from numbers
        self.assert_reads(self.path("a.csv"), table)
        with open(self.path("a.csv"), newline="") as stream, open(self.path("b.csv"), "w", newline="") as quoted, \
                gzip.open(self.path("c.csv.gz"), "wt", newline="") as windows:
            rows = list(csv.reader(stream))
            csv.writer(quoted, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            windows.write("\ufeff")
            csv.writer(windows, lineterminator="\r\n").writerows([[" %s " % c if c.isdigit() else c for c in row] for row in rows])
        self.assert_reads(self.path("b.csv"), table)
        self.assert_reads(self.path("c.csv.gz"), table)

    def test_ecsv_of_others(self):
        table = self.sample()
        table["RA"].unit = "deg"
        table["RA"].description = "a description: longer than a line, so that {YAML}'s writer breaks it, " * 4
        table["RA"].meta = {"datatype": "string", "list": [1, {"name": "no"}]}
        table["flag"] = np.arange(len(table)) % 2 == 0
        table.meta.update({"RADESYS": "FK5", "comments": ["a", "b: c"], "BMAJ": 1e-5, "deep": {"BMAJ": 3.0, "x": [1, 2]}})
        for i, delimiter in enumerate((" ", ",")):
            path = self.path("a%d.ecsv" % i)
            table.write(path, delimiter=delimiter)
            expected = table.copy()
            expected["flag"] = ["True" if flag else "False" for flag in table["flag"]]
            facts = self.assert_reads(path, expected)
            self.assertEqual(facts["frame"], "FK5")
            self.assertEqual(facts["beam"], "1.0000000000000001e-05,nan,nan")

    def test_fits_of_others(self):
        n, random = 1000, np.random.default_rng(2)
        nulls = np.arange(n) % 5 == 0
        narrow = random.integers(-2**31, 2**31, n).astype(np.int32)
        narrow[nulls] = -99
        columns = [fits.Column("l", "L", array=np.arange(n) % 3 == 0), fits.Column("b", "B", array=np.arange(n) % 256),
                   fits.Column("i", "I", array=random.integers(-2**15, 2**15, n)), fits.Column("j", "J", null=-99, array=narrow),
                   fits.Column("k", "K", array=random.integers(-2**62, 2**62, n)),
                   fits.Column("e", "E", array=random.normal(0, 1, n).astype(np.float32)), fits.Column("vector", "3D", array=np.ones((n, 3))),
                   fits.Column("d", "1D", array=random.normal(0, 1, n)), fits.Column("a", "7A", array=["x%d" % i for i in range(n)]),
                   fits.Column("many", "20A5", array=["abc"] * n), fits.Column("variable", "PD()", array=[np.ones(i % 3) for i in range(n)]),
                   fits.Column("bits", "8X", array=np.ones((n, 8), bool)), fits.Column("complex", "C", array=np.ones(n)),
                   fits.Column("last", "J", array=np.arange(n))]
        table = fits.BinTableHDU.from_columns(columns)
        table.data["e"][4] = np.nan
        image = fits.ImageHDU(np.zeros((3, 4)))
        ascii_table = fits.TableHDU.from_columns([fits.Column("x", "F10.3", array=np.ones(3))])
        empty = fits.BinTableHDU.from_columns([fits.Column("none", "D", array=[])])
        path = self.path("a.fits")
        fits.HDUList([fits.PrimaryHDU(), image, ascii_table, empty, table]).writeto(path)
        expected = Table({c.name: table.data[c.name] for c in columns}, masked=True)
        expected["l"] = expected["l"].astype(int)
        expected["j"].mask = nulls
        names = ["l", "b", "i", "j", "k", "e", "d", "a", "last"]
        self.assert_reads(path, expected, names)
        with open(path, "rb") as stream, gzip.open(self.path("b.fits.gz"), "wb") as packed:
            whole = stream.read()
            packed.write(whole.replace(b"x7\0\0\0\0\0", b"x7     "))  # as other programs fill texts up
            self.assertIn(b"x7\0\0\0\0\0", whole)
        self.assert_reads(self.path("b.fits.gz"), expected, names)

    def test_scaled_fits(self):
        n = 50
        columns = {"u2": np.arange(n, dtype=np.uint16) + 65000, "u4": np.arange(n, dtype=np.uint32) + 2**32 - n,
                   "u8": np.arange(n, dtype=np.uint64) + 2**62, "i1": np.arange(n) - 100}
        table = fits.BinTableHDU.from_columns(
            [fits.Column(name, form, bzero=zero, array=columns[name]) for name, form, zero in
             (("u2", "I", 2**15), ("u4", "J", 2**31), ("u8", "K", 2**63))] +
            [fits.Column("i1", "B", array=columns["i1"] + 128),
             fits.Column("scaled", "I", array=np.arange(n))])
        table.header.update({"TZERO4": -128, "TSCAL5": 0.5, "TZERO5": 10})  # astropy 5 cannot write these itself
        table.writeto(self.path("a.fits"))
        _, read_columns = read(self.path("a.fits"))
        for name, values in columns.items():
            self.assertEqual(read_columns[name], values.tolist(), name)
        self.assertEqual(read_columns["scaled"], (np.arange(n) * 0.5 + 10).tolist())
        columns["u8"][7] = 2**63 + 2**20  # more than an integer holds: all are real numbers
        fits.BinTableHDU.from_columns([fits.Column("u8", "K", bzero=2**63, array=columns["u8"])]).writeto(self.path("b.fits"))
        self.assertEqual(read(self.path("b.fits"))[1]["u8"], columns["u8"].astype(float).tolist())

    def test_bad_fits(self):
        table = fits.BinTableHDU.from_columns([fits.Column("RA", "D", array=np.arange(1000.0))])
        table.writeto(self.path("a.fits"))
        with open(self.path("a.fits"), "rb") as stream:
            whole = stream.read()
        cases = [(whole[:-5760], "the file ends before the table in HDU 1 does"),
                 (whole.replace(b"NAXIS2  =                 1000", b"NAXIS2  =  9000000000000000000"[:30]), "does not say how much data"),
                 (whole.replace(b"NAXIS2  =                 1000", b"NAXIS2  =        1000000000000"), "the file ends before the table"),
                 (whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = '9D      '"), "column 1 of the table in HDU 1 does not fit"),
                 (whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = 'Z       '"), "column 1 of the table in HDU 1 does not fit"),
                 (whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = '8L      '"), "no column of its tables has one number"),
                 (whole[:2880], "no HDU is a binary table"), (b"", "the file is empty"), (b"RA,DEC\n1,2\n", "not a FITS file")]
        for i, (content, words) in enumerate(cases):
            path = self.path("bad%d.fits" % i)
            with open(path, "wb") as stream:
                stream.write(content)
            self.assertIn(words, error_of(path))
        fits.TableHDU.from_columns([fits.Column("x", "F10.3", array=np.ones(3))]).writeto(self.path("ascii.fits"))
        self.assertIn("its table is an ASCII table", error_of(self.path("ascii.fits")))
        self.assertIn("no HDU is a binary table: is it an image?", error_of(self.image()))

    @unittest.skipUnless(shutil.which("stilts"), "stilts is not there")
    def test_tables_of_topcat(self):
        table = self.sample()
        table.write(self.path("in.vot"), format="votable", overwrite=True)
        for suffix, form in ((".csv", "csv"), (".fits", "fits-plus"), (".fit", "fits-basic")):
            path = self.path("out" + suffix)
            subprocess.run(["stilts", "tcopy", "ifmt=votable", "in=" + self.path("in.vot"), "out=" + path, "ofmt=" + form],
                           check=True, capture_output=True, timeout=t.HANG)
            _, columns = read(path)
            for name in ("Source_id", "RA", "DEC", "flux", "big", "few"):
                self.assertEqual(columns[name], plain(table[name]), (suffix, name))
            self.assertEqual(columns["name"][1], '1, "x"')
            self.assertEqual(columns["digits"][7], 7 if suffix == ".csv" else "007")

    def test_positions(self):
        table = self.sample()["Source_id", "RA", "DEC"]
        for suffix in (".csv", ".ecsv", ".fits"):
            path = self.path("p" + suffix)
            table.write(path)
            kind, rows = positions(path)
            self.assertEqual(kind, "sky")
            self.assertEqual(rows, list(zip(table["Source_id"], table["RA"], table["DEC"])))


if __name__ == "__main__":
    t.main()

"""Catalogues as the library reads them (tests/print_table.c): those that srcfind wrote come back to
the bit, and those of other programs as astropy reads them."""
import base64
import csv
import gzip
import io
import math
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np
from astropy.io import fits
from astropy.table import MaskedColumn, Table

import srcfind_test as t

PRINT_TABLE = os.environ.get("PRINT_TABLE", "")


def printed(path, *arguments):
    result = subprocess.run(
        [PRINT_TABLE, path, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=t.HANG,
    )
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout


def read(path):
    """The facts of a table, and its columns: name -> list of int, float, str, or None for an empty
    cell."""
    facts, rows = printed(path).split("\n\n", 1)
    rows = list(csv.reader(io.StringIO(rows)))
    names, kinds, cells = rows[0], rows[1], rows[2:]
    convert = {"i": int, "r": float, "t": str}
    columns = {
        name: [convert[kind](row[i]) if row[i] else None for row in cells]
        for i, (name, kind) in enumerate(zip(names, kinds))
    }
    return dict(line.split("=", 1) for line in facts.split("\n")), columns


def positions(path, frame="ICRS", lon="RA", lat="DEC"):
    lines = printed(path, frame, lon, lat).splitlines()
    return lines[0], [tuple(map(float, line.split(","))) for line in lines[1:]]


def error_of(path, *arguments):
    result = subprocess.run(
        [PRINT_TABLE, path, *arguments], capture_output=True, text=True, timeout=t.HANG
    )
    assert (
        result.returncode == 1
        and result.stderr.startswith(path + ": ")
        and result.stderr.count("\n") == 1
    ), result
    return result.stderr


def plain(column):
    """The cells of an astropy column, as `read` gives them."""

    def value(cell):
        if (
            cell is np.ma.masked
            or (isinstance(cell, (float, np.floating)) and math.isnan(cell))
            or cell == ""
        ):
            return None
        return cell.item() if isinstance(cell, np.generic) else cell

    return [value(cell) for cell in column]


class Tables(t.Case):
    def image(self, name="image.fits", **cards):
        return self.write(name, t.noise(120, 140, seed=3), t.sky_header(EXTNAME="it's", **cards))

    def sample(self, n=300):
        """A table of every kind of column that astropy writes in all formats."""
        random = np.random.default_rng(5)
        table = Table(
            {
                "Source_id": np.arange(n) + 1,
                "RA": random.uniform(0, 360, n),
                "DEC": random.uniform(-90, 90, n),
                "flux": random.normal(0, 1, n) * 10.0 ** random.integers(-30, 30, n),
                "name": ['%d, "%s"' % (i, "x" * (i % 5)) for i in range(n)],
                "digits": ["%03d" % i for i in range(n)],
                "big": random.integers(-(2**62), 2**62, n),
                "few": random.integers(0, 200, n).astype(np.uint8),
            }
        )
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
            for suffix in (
                ".csv",
                ".csv.gz",
                ".ecsv",
                ".ecsv.gz",
                ".json",
                ".json.gz",
                ".fits",
                ".fit",
                ".FITS",
                ".vot",
                ".votable.gz",
                ".xml",
            ):
                output = self.path("c" + suffix)
                arguments = [] if suffix != ".FITS" else ["-f", "fits"]
                self.assertEqual(
                    t.run(path, "-q", "-o", output, *options, *arguments).returncode, 0
                )
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
        for i, (lon, lat, frame) in enumerate(
            (("GLON-CAR", "GLAT-CAR", "GALACTIC"), ("RA---SIN", "DEC--SIN", "FK5"))
        ):
            image = self.image(
                "image%d.fits" % i, CTYPE1=lon, CTYPE2=lat, RADESYS=frame if i else None
            )
            for suffix in (".ecsv", ".json", ".fits", ".vot"):
                output = self.path("c%d" % i + suffix)
                self.assertEqual(t.run(image, "-q", "-o", output).returncode, 0)
                self.assertEqual(read(output)[0]["frame"], frame)
                kind, rows = positions(output, frame, lon[:4].strip("-"), lat[:4].strip("-"))
                self.assertEqual(kind, "sky")
                self.assertGreater(len(rows), 0)
                words = (
                    "its frame is FK5, but the frame of the image is ICRS"
                    if i
                    else "its positions are GLON and GLAT"
                )
                self.assertIn(words, error_of(output, "ICRS", "RA", "DEC"))

    def test_long_path_of_an_image(self):
        name = self.path("it's a long name " * 10 + ".fits")
        shutil.copy(self.image(), name)
        self.assertEqual(t.run(name, "-q", "-o", self.path("c.fits")).returncode, 0)
        self.assertEqual(read(self.path("c.fits"))[0]["image"], name)

    def test_csv_of_others(self):
        table = self.sample()
        table.write(self.path("a.csv"))
        # CSV does not tell texts from numbers
        table["digits"] = [int(digits) for digits in table["digits"]]
        self.assert_reads(self.path("a.csv"), table)
        with open(self.path("a.csv"), newline="") as stream, open(
            self.path("b.csv"), "w", newline=""
        ) as quoted, gzip.open(self.path("c.csv.gz"), "wt", newline="") as windows:
            rows = list(csv.reader(stream))
            csv.writer(quoted, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            windows.write("\ufeff")
            csv.writer(windows, lineterminator="\r\n").writerows(
                [[" %s " % c if c.isdigit() else c for c in row] for row in rows]
            )
        self.assert_reads(self.path("b.csv"), table)
        self.assert_reads(self.path("c.csv.gz"), table)

    def test_ecsv_of_others(self):
        table = self.sample()
        table["RA"].unit = "deg"
        table["RA"].description = (
            "a description: longer than a line, so that {YAML}'s writer breaks it, " * 4
        )
        table["RA"].meta = {"datatype": "string", "list": [1, {"name": "no"}]}
        table["flag"] = np.arange(len(table)) % 2 == 0
        table.meta.update(
            {
                "RADESYS": "FK5",
                "comments": ["a", "b: c"],
                "BMAJ": 1e-5,
                "deep": {"BMAJ": 3.0, "x": [1, 2]},
            }
        )
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
        narrow = random.integers(-(2**31), 2**31, n).astype(np.int32)
        narrow[nulls] = -99
        columns = [
            fits.Column("l", "L", array=np.arange(n) % 3 == 0),
            fits.Column("b", "B", array=np.arange(n) % 256),
            fits.Column("i", "I", array=random.integers(-(2**15), 2**15, n)),
            fits.Column("j", "J", null=-99, array=narrow),
            fits.Column("k", "K", array=random.integers(-(2**62), 2**62, n)),
            fits.Column("e", "E", array=random.normal(0, 1, n).astype(np.float32)),
            fits.Column("vector", "3D", array=np.ones((n, 3))),
            fits.Column("d", "1D", array=random.normal(0, 1, n)),
            fits.Column("a", "7A", array=["x%d" % i for i in range(n)]),
            fits.Column("many", "20A5", array=["abc"] * n),
            fits.Column("variable", "PD()", array=[np.ones(i % 3) for i in range(n)]),
            fits.Column("bits", "8X", array=np.ones((n, 8), bool)),
            fits.Column("complex", "C", array=np.ones(n)),
            fits.Column("last", "J", array=np.arange(n)),
        ]
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
            # as other programs fill texts up
            packed.write(whole.replace(b"x7\0\0\0\0\0", b"x7     "))
            self.assertIn(b"x7\0\0\0\0\0", whole)
        self.assert_reads(self.path("b.fits.gz"), expected, names)

    def test_scaled_fits(self):
        n = 50
        columns = {
            "u2": np.arange(n, dtype=np.uint16) + 65000,
            "u4": np.arange(n, dtype=np.uint32) + 2**32 - n,
            "u8": np.arange(n, dtype=np.uint64) + 2**62,
            "i1": np.arange(n) - 100,
        }
        table = fits.BinTableHDU.from_columns(
            [
                fits.Column(name, form, bzero=zero, array=columns[name])
                for name, form, zero in (
                    ("u2", "I", 2**15),
                    ("u4", "J", 2**31),
                    ("u8", "K", 2**63),
                )
            ]
            + [
                fits.Column("i1", "B", array=columns["i1"] + 128),
                fits.Column("scaled", "I", array=np.arange(n)),
            ]
        )
        # astropy 5 cannot write these itself
        table.header.update({"TZERO4": -128, "TSCAL5": 0.5, "TZERO5": 10})
        table.writeto(self.path("a.fits"))
        _, read_columns = read(self.path("a.fits"))
        for name, values in columns.items():
            self.assertEqual(read_columns[name], values.tolist(), name)
        self.assertEqual(read_columns["scaled"], (np.arange(n) * 0.5 + 10).tolist())
        columns["u8"][7] = 2**63 + 2**20  # more than an integer holds: all are real numbers
        fits.BinTableHDU.from_columns(
            [fits.Column("u8", "K", bzero=2**63, array=columns["u8"])]
        ).writeto(self.path("b.fits"))
        self.assertEqual(read(self.path("b.fits"))[1]["u8"], columns["u8"].astype(float).tolist())

    def test_bad_fits(self):
        table = fits.BinTableHDU.from_columns([fits.Column("RA", "D", array=np.arange(1000.0))])
        table.writeto(self.path("a.fits"))
        with open(self.path("a.fits"), "rb") as stream:
            whole = stream.read()
        cases = [
            (whole[:-5760], "the file ends before the table in HDU 1 does"),
            (
                whole.replace(
                    b"NAXIS2  =                 1000", b"NAXIS2  =  9000000000000000000"[:30]
                ),
                "does not say how much data",
            ),
            (
                whole.replace(b"NAXIS2  =                 1000", b"NAXIS2  =        1000000000000"),
                "the file ends before the table",
            ),
            (
                whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = '9D      '"),
                "column 1 of the table in HDU 1 does not fit",
            ),
            (
                whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = 'Z       '"),
                "column 1 of the table in HDU 1 does not fit",
            ),
            (
                whole.replace(b"TFORM1  = 'D       '", b"TFORM1  = '8L      '"),
                "no column of its tables has one number",
            ),
            (whole[:2880], "no HDU is a table"),
            (b"", "the file is empty"),
            (b"RA,DEC\n1,2\n", "not a FITS file"),
        ]
        for i, (content, words) in enumerate(cases):
            path = self.path("bad%d.fits" % i)
            with open(path, "wb") as stream:
                stream.write(content)
            self.assertIn(words, error_of(path))
        self.assertIn("no HDU is a table: is it an image?", error_of(self.image()))

    def write_ascii(self, name, columns, rows, **cards):
        """An ASCII table of these columns (name, TBCOL, TFORM), byte by byte."""
        width = len(rows[0])
        header = fits.Header(
            [
                ("XTENSION", "TABLE"),
                ("BITPIX", 8),
                ("NAXIS", 2),
                ("NAXIS1", width),
                ("NAXIS2", len(rows)),
                ("PCOUNT", 0),
                ("GCOUNT", 1),
                ("TFIELDS", len(columns)),
            ]
        )
        for i, (column, first, form) in enumerate(columns, 1):
            header.update({"TTYPE%d" % i: column, "TBCOL%d" % i: first, "TFORM%d" % i: form})
        header.update({name: value for name, value in cards.items() if value is not None})
        data = "".join(rows).encode()
        with open(self.path(name), "wb") as stream:
            stream.write(
                fits.PrimaryHDU().header.tostring().encode()
                + header.tostring().encode()
                + data
                + b" " * (-len(data) % 2880)
            )
        return self.path(name)

    def test_ascii_tables(self):
        """Those that astropy writes: as it reads them, but that blanks are no numbers."""
        n, random = 5000, np.random.default_rng(4)
        values = {
            "i": random.integers(-(10**8), 10**8, n),
            "f": np.round(random.uniform(-90, 90, n), 7),
            "e": random.normal(0, 1, n) * 1e-20,
            "d": random.normal(0, 1, n) * 1e30,
            "a": np.array(["x%d" % (i % 77) for i in range(n)]),
        }
        forms = {"i": "I10", "f": "F12.7", "e": "E15.7", "d": "D24.16", "a": "A6"}
        hdu = fits.TableHDU.from_columns(
            [fits.Column(name, forms[name], array=values[name]) for name in values]
        )
        hdu.header.update({"RADESYS": "FK5", "BMAJ": 0.5, "TUNIT2": "deg"})
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(self.path("a.fits"))
        with open(self.path("a.fits"), "rb") as stream, gzip.open(
            self.path("b.fits.gz"), "wb"
        ) as packed:
            packed.write(stream.read())
        with fits.open(self.path("a.fits")) as hdus:
            expected = {
                name: [
                    cell.rstrip() if name == "a" else cell for cell in hdus[1].data[name].tolist()
                ]
                for name in values
            }
        for path in (self.path("a.fits"), self.path("b.fits.gz")):
            facts, columns = read(path)
            self.assertEqual(facts["frame"], "FK5")
            for name in values:  # a list of differences would take minutes
                self.assertTrue(columns[name] == expected[name], name)

    def test_fields_of_ascii_tables(self):
        """By the standard, 7.2.5, and as CFITSIO reads them."""

        def bar(first):  # no line of print_table is then empty
            return "bar", first, "A1"

        fields = {
            "12345": 12.345,
            "1.5": 1.5,
            " - 12 5": -0.125,
            "1 2 . 5": 12.5,
            "1.5E 2": 150.0,
            "15E2": 1.5,
            "1.5D-2": 0.015,
            "-.5": -0.5,
            "5.": 5.0,
            "+ 1 .2 E - 3": 1.2e-3,
            "": None,
            "-99": None,
            "-99.5": -99.5,
            "-9": -0.009,
            "nan": None,
            "1.5d2": 150.0,
            "7E+300": 7e297,
            "123456789012": 123456789.012,
        }
        rows = ["%-14s|" % field for field in fields]
        for form in ("F14.3", "E14.3", "D14.3"):
            columns = read(
                self.write_ascii("f.fits", [("x", 1, form), bar(15)], rows, TNULL1="-99")
            )[1]
            self.assertEqual(columns["x"], list(fields.values()), form)
        self.assertEqual(
            read(
                self.write_ascii(
                    "s.fits", [("x", 1, "F14.3"), bar(15)], rows[:2], TSCAL1=2.0, TZERO1=-1.0
                )
            )[1]["x"],
            [23.69, 2.0],
        )
        whole = {"1 2": 12, "-7": -7, "": None, " 0007": 7, "9223372036854775807": 2**63 - 1}
        rows = ["%19s|" % field for field in whole]
        for form in ("I19", "I19.2"):
            self.assertEqual(
                read(self.write_ascii("i.fits", [("x", 1, form), bar(20)], rows))[1]["x"],
                list(whole.values()),
            )
        beyond = read(
            self.write_ascii("i.fits", [("x", 1, "I19"), bar(20)], rows + ["9223372036854775808|"])
        )[1]["x"]
        self.assertEqual(
            beyond,
            [None if value is None else float(value) for value in (*whole.values(), 2**63)],
        )
        self.assertEqual(
            read(self.write_ascii("z.fits", [("x", 1, "I19"), bar(20)], rows, TZERO1=0.5))[1]["x"],
            [12.5, -6.5, None, 7.5, float(2**63)],
        )
        # columns in any order, with gaps; texts keep the blanks in front; a number that did not fit
        # makes texts of its column
        rows = ["ab  1.50 |  12", " c  **** |  -1", "         |    ", "NUL -2.5 |   7"]
        columns = read(
            self.write_ascii(
                "o.fits", [("n", 11, "I4"), ("t", 1, "A3"), ("x", 4, "F5.1")], rows, TNULL2="NUL"
            )
        )[1]
        self.assertEqual(
            columns,
            {
                "n": [12, -1, None, 7],
                "t": ["ab", " c", None, None],
                "x": ["1.50", "****", None, "-2.5"],
            },
        )
        none = read(
            self.write_ascii(
                "n.fits", [("x", 1, "F5.1"), ("i", 6, "I3"), bar(9)], [" " * 8 + "|"] * 2
            )
        )[1]
        self.assertEqual(none, {"x": [None, None], "i": [None, None], "bar": ["|", "|"]})
        nul = read(
            self.write_ascii(
                "u.fits",
                [("x", 1, "F5.1"), ("a", 6, "A3"), bar(9)],
                ["1.5\0\0b\0\0|", "\0" * 8 + "|"],
            )
        )[1]
        self.assertEqual(nul, {"x": [1.5, None], "a": ["b", None], "bar": ["|", "|"]})

    def test_bad_ascii_tables(self):
        row = ["1.5  2.5  "]
        self.assertEqual(
            read(self.write_ascii("a.fits", [("x", 1, "F5.1"), ("y", 6, "F5.1")], row))[1],
            {"x": [1.5], "y": [2.5]},
        )
        bad = "column 2 of the table in HDU 1 does not fit into its rows, or has no valid TFORM2 and TBCOLn"
        for first, form in (
            (7, "F5.1"),
            (0, "F5.1"),
            (-3, "F5.1"),
            (11, "F1.0"),
            (2**40, "F5.1"),
            (-(2**63), "F5.1"),
            (2**63 - 1, "F5.1"),
            (6, "F0.0"),
            (6, "F"),
            (6, "5F"),
            (6, "Z5"),
            (6, "F5.6"),
            (6, "F5.1x"),
            (6, "I99999999999"),
            (6, ""),
            (None, "F5.1"),
            (6, "1D"),
        ):
            path = self.write_ascii(
                "b.fits", [("x", 1, "F5.1"), ("y", 6, "F5.1")], row, TFORM2=form, TBCOL2=first or 0
            )
            self.assertIn(bad, error_of(path), (first, form))
        path = self.write_ascii("o.fits", [("x", 1, "F5.1"), ("y", 5, "F5.1"), ("z", 9, "A1")], row)
        self.assertIn("columns of the ASCII table in HDU 1 overlap", error_of(path))
        path = self.write_ascii("t.fits", [("x", 1, "F5.1")], row, NAXIS2=1000)
        self.assertIn("the file ends before the table in HDU 1 does", error_of(path))
        # as many cells as the file does not justify
        many = self.write_ascii("m.fits", [("x", 1, "A1")] * 999, ["x"])
        self.assertIn("overlap", error_of(many))

    def test_which_table(self):
        """Positions are those of the first table that has them, of another kind of image only where
        no table has this one's."""

        def table(name, *columns, n=2, ascii_table=False):
            kind, form = (fits.TableHDU, "F10.3") if ascii_table else (fits.BinTableHDU, "D")
            return kind.from_columns(
                [fits.Column(c, form, array=np.arange(n) + ord(c[0])) for c in columns], name=name
            )

        def of(*tables, frame="ICRS", lon="RA", lat="DEC", function=positions):
            fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(np.zeros((2, 2))), *tables]).writeto(
                self.path("w.fits"), overwrite=True
            )
            return function(self.path("w.fits"), frame, lon, lat)

        other, sky, pixels = (
            table("META", "X", "Y"),
            table("CAT", "RA", "DEC"),
            table("PIX", "Xposn", "Yposn"),
        )
        galactic, empty = table("GAL", "GLON", "GLAT"), table("NONE", "RA", "DEC", n=0)
        ra, xy = [(1, 82, 68), (2, 83, 69)], [(1, 88, 89), (2, 89, 90)]
        for tables in (
            [other, sky],
            [galactic, sky],
            [empty, sky],
            [other, empty, sky, pixels],
            [table("MIX", "GLON", "GLAT", "Xposn", "Yposn"), sky],
            [other, table("A", "RA", "DEC", ascii_table=True)],
            [table("A", "X", ascii_table=True), sky],
            [sky, galactic],
        ):
            self.assertEqual(of(*tables), ("sky", ra))
        vizier = table("VIZ", "RAJ2000", "DEJ2000")
        for tables in ([vizier, sky], [other, sky, vizier]):
            self.assertEqual(of(*tables), ("sky", ra))
        for tables in ([vizier], [other, vizier], [galactic, vizier]):
            self.assertEqual(of(*tables), ("sky", [(1, 82, 68), (2, 83, 69)]))
        self.assertEqual(
            of(galactic, vizier, lon="GLON", lat="GLAT"), ("sky", [(1, 71, 71), (2, 72, 72)])
        )
        self.assertEqual(of(other, pixels), ("pixels", xy))
        self.assertEqual(of(pixels, sky), ("pixels", xy))  # the first
        self.assertEqual(of(other, empty), ("sky", []))
        self.assertEqual(of(sky, pixels, lon="", lat=""), ("pixels", xy))
        self.assertEqual(
            of(sky, galactic, frame="", lon="GLON", lat="GLAT"), ("sky", [(1, 71, 71), (2, 72, 72)])
        )
        self.assertIn(
            "its positions are GLON and GLAT, but the image has RA and DEC",
            of(other, galactic, function=error_of),
        )
        self.assertIn(
            "there are no columns RA and DEC (degrees), nor Xposn and Yposn (pixels, from 0) in any of its tables (HDU 2 (META), HDU 3 (B)): "
            "rename those of the positions; the first one has: X, Y",
            of(other, table("B", "Z"), function=error_of),
        )
        self.assertIn(
            "from 0): rename those of the positions; there are: X, Y\n",
            of(other, function=error_of),
        )
        self.assertIn(
            "no columns Xposn and Yposn in any of its tables (HDU 2 (META), HDU 3 (CAT)); the first one has: ",
            of(other, sky, lon="", lat="", function=error_of),
        )
        many = [table("T%03d" % i, "X") for i in range(120)]
        self.assertEqual(of(*many, sky), ("sky", ra))
        self.assertIn("HDU 2 (T000), HDU 3 (T001)", of(*many, function=error_of))
        # rows that are read without an image, as those to be merged, are binary first
        of(table("A", "X", ascii_table=True), empty)
        self.assertEqual(list(read(self.path("w.fits"))[1]), ["RA", "DEC"])

    @unittest.skipUnless(shutil.which("stilts"), "stilts is not there")
    def test_tables_of_topcat(self):
        table = self.sample()
        table.write(self.path("in.vot"), format="votable", overwrite=True)
        for suffix, form in ((".csv", "csv"), (".fits", "fits-plus"), (".fit", "fits-basic")):
            path = self.path("out" + suffix)
            subprocess.run(
                [
                    "stilts",
                    "tcopy",
                    "ifmt=votable",
                    "in=" + self.path("in.vot"),
                    "out=" + path,
                    "ofmt=" + form,
                ],
                check=True,
                capture_output=True,
                timeout=t.HANG,
            )
            _, columns = read(path)
            for name in ("Source_id", "RA", "DEC", "flux", "big", "few"):
                self.assertEqual(columns[name], plain(table[name]), (suffix, name))
            self.assertEqual(columns["name"][1], '1, "x"')
            self.assertEqual(columns["digits"][7], 7 if suffix == ".csv" else "007")

    # --- VOTable ---

    def votable(self, name, content):
        path = self.path(name)
        with open(path, "w") as stream:
            stream.write(
                '<?xml version="1.0"?>\n<VOTABLE version="1.3"><RESOURCE>%s</RESOURCE></VOTABLE>'
                % content
            )
        return path

    def test_votables_of_others(self):
        """Of astropy and STILTS, in each form of rows."""
        table = self.sample()
        first = self.path("in.vot")
        paths = []
        for form in ("tabledata", "binary", "binary2"):
            paths.append(self.path(form + ".vot"))
            written = table.copy()
            if form != "tabledata":  # else astropy has no empty integer
                written.remove_column("big")
            written.write(paths[-1], format="votable", tabledata_format=form)
        table.write(first, format="votable", tabledata_format="tabledata")
        for form in ("votable-tabledata", "votable-binary-inline", "votable-binary2-inline"):
            paths.append(self.path(form + ".xml"))
            subprocess.run(
                [
                    "stilts",
                    "tcopy",
                    "ifmt=votable",
                    "in=" + first,
                    "out=" + paths[-1],
                    "ofmt=" + form,
                ],
                check=True,
                capture_output=True,
                timeout=t.HANG,
            )
        for path in paths:
            _, columns = read(path)
            self.assertEqual("big" in columns, "/binary" not in path)
            for name in columns:
                self.assertEqual(columns[name], plain(table[name]), (path, name))

    def test_fields_of_votables(self):
        """Types; null, blanks and hidden cells; arrays are left out."""
        path = self.votable(
            "types.vot",
            '<TABLE><FIELD name="b" datatype="boolean"/><FIELD name="bits" datatype="bit" arraysize="9"/>'
            '<FIELD name="u" datatype="unsignedByte"/><FIELD name="s" datatype="short"><VALUES null="-7"/></FIELD>'
            '<FIELD ID="f" datatype="float"/><FIELD name="two" datatype="double" arraysize="2"/>'
            '<FIELD name="c" datatype="unicodeChar" arraysize="*"/><FIELD name="z" datatype="floatComplex"/>'
            "<DATA><TABLEDATA>"
            "<TR><TD>T</TD><TD>111111111</TD><TD> 200 </TD><TD>-7</TD><TD>NaN</TD><TD>1 2</TD><TD>a &lt; \u00e4</TD><TD>1 2</TD></TR>"
            "<TR><TD>false</TD><TD/><TD></TD><TD>7</TD><TD>-1e-5</TD><TD/><TD><![CDATA[&]]></TD><TD/></TR>"
            "</TABLEDATA></DATA></TABLE>",
        )
        _, columns = read(path)
        self.assertEqual(
            columns,
            {
                "b": [1, 0],
                "u": [200, None],
                "s": [None, 7],
                "f": [None, -1e-5],
                "c": ["a < \u00e4", "&"],
            },
        )

    def test_rows_of_bytes(self):
        """Cells of any length, null, and a row that is broken in the middle of a digit."""
        fields = (
            '<TABLE><FIELD name="t" datatype="char" arraysize="*"/><FIELD name="w" datatype="unicodeChar" arraysize="3"/>'
            '<FIELD name="n" datatype="int"><VALUES null="5"/></FIELD><DATA><BINARY><STREAM encoding="base64">%s</STREAM></BINARY>'
            "</DATA></TABLE>"
        )
        row = struct.pack(">i", 4) + b"abc " + "\u00e4b\0".encode("utf-16-be")
        rows = row + struct.pack(">i", 5) + row.replace(b"abc ", b"0123") + struct.pack(">i", -6)
        digits = base64.b64encode(rows).decode()
        _, columns = read(self.votable("b.vot", fields % (digits[:7] + "\n " + digits[7:])))
        self.assertEqual(columns, {"t": ["abc", "0123"], "w": ["\u00e4b"] * 2, "n": [None, -6]})
        self.assertEqual(read(self.votable("e.vot", fields % ""))[1], {"t": [], "w": [], "n": []})
        half = base64.b64encode(rows[:-1]).decode()
        self.assertIn(
            "the STREAM ends within row 2", error_of(self.votable("h.vot", fields % half))
        )
        negative = base64.b64encode(struct.pack(">i", -1) + rows).decode()
        self.assertIn("row 1 is no row", error_of(self.votable("n.vot", fields % negative)))
        self.assertIn("not base64", error_of(self.votable("d.vot", fields % "AA*A")))

    def test_which_table_of_votables(self):
        """That of the best columns; of these the first one with rows."""
        table = '<TABLE name="%s"><FIELD name="%s" datatype="double"/><FIELD name="%s" datatype="double"/>%s</TABLE>'
        rows = "<DATA><TABLEDATA><TR><TD>%g</TD><TD>%g</TD></TR></TABLEDATA></DATA>"
        content = "".join(
            (
                table % ("none", "a", "b", rows % (1, 2)),
                table % ("empty", "RA", "DEC", ""),
                table % ("galactic", "GLON", "GLAT", rows % (3, 4)),
                table % ("own", "RA", "DEC", rows % (5, 6)),
                table % ("late", "RA", "DEC", rows % (7, 8)),
            )
        )
        path = self.votable("many.vot", content)
        self.assertEqual(positions(path), ("sky", [(1, 5, 6)]))
        self.assertEqual(positions(path, "GALACTIC", "GLON", "GLAT"), ("sky", [(1, 3, 4)]))
        path = self.votable("j2000.vot", content.replace("RA", "RAJ2000").replace("DEC", "DEJ2000"))
        self.assertEqual(positions(path), ("sky", [(1, 5, 6)]))
        path = self.votable("others.vot", content.replace("GLON", "x").replace("RA", "y"))
        self.assertIn(
            "in any of its tables (table 1 (none), table 2 (empty), table 3 (galactic), table 4 (own), table 5 (late))",
            error_of(path, "ICRS", "RA", "DEC"),
        )

    def test_frames_of_votables(self):
        """That of the only COOSYS; ICRS and FK5 of J2000 are taken for each other."""
        table = (
            '<TABLE><FIELD name="RA" datatype="double"/><FIELD name="DEC" datatype="double"/>'
            "<DATA><TABLEDATA><TR><TD>1</TD><TD>2</TD></TR></TABLEDATA></DATA></TABLE>"
        )
        j2000 = '<COOSYS ID="a" system="eq_FK5" equinox="J2000"/>'
        b1950 = '<COOSYS ID="b" system="eq_FK4" equinox="B1950"/>'
        for name, systems in (("one", j2000), ("both", j2000 + b1950)):
            path = self.votable(name + ".vot", systems + table)
            self.assertEqual(positions(path, "ICRS", "RA", "DEC"), ("sky", [(1, 1, 2)]))
        path = self.votable("old.vot", b1950 + table)
        self.assertIn(
            "its frame is FK4, but the frame of the image is ICRS",
            error_of(path, "ICRS", "RA", "DEC"),
        )
        self.assertEqual(positions(path, "FK4", "RA", "DEC"), ("sky", [(1, 1, 2)]))

    def test_bad_votables(self):
        field = '<TABLE><FIELD name="RA" datatype="double"/>%s</TABLE>'
        rows = field % "<DATA><TABLEDATA>%s</TABLEDATA></DATA>"
        for content, words in (
            ("<TABLE/>", "no TABLE has a field"),
            (field.replace("double", "real") % "", "no valid datatype and arraysize"),
            (
                field.replace("double", 'double" arraysize="2x') % "",
                "no valid datatype and arraysize",
            ),
            (rows % "<TR><TD>1</TD><TD>2</TD></TR>", "row 1 has more cells"),
            (rows % "<TR><TD>1</TD></TR><TR/>", "row 2 has 0 cells, but there are 1 fields"),
            (rows % "<TR><TD>1 2</TD></TR>", "a cell of RA in row 1 is no number"),
            (
                field.replace("double", "int")
                % "<DATA><TABLEDATA><TR><TD>1.5</TD></TR></TABLEDATA></DATA>",
                "a cell of RA in row 1 is no whole number",
            ),
            (field % '<DATA><BINARY><STREAM href="a.bin"/></BINARY></DATA>', "in another file"),
            (
                field % '<DATA><BINARY><STREAM encoding="gzip"/></BINARY></DATA>',
                "encoded as `gzip`",
            ),
            (field % "<DATA><FITS/></DATA>", "save the table as FITS"),
            (field % "<TABLE/>", "a TABLE is in another one"),
            (
                (rows % "<TR><TD>z</TD></TR>").replace('"RA"', '"R&#10;A"'),
                "a cell of R?A in row 1 is no number",
            ),
            (
                field % '<DATA><BINARY><STREAM encoding="a&#10;b"/></BINARY></DATA>',
                "encoded as `a?b`",
            ),
            (rows % "<TR><TD>1</TR>", "no valid XML"),
            (rows % "<TR><TD>&x;</TD></TR>", "no valid XML"),
            (rows % ("<TR><TD>%s</TD></TR>" % ("1" * (2 << 20))), "a cell is too long"),
        ):
            error = error_of(self.votable("bad.vot", content))
            self.assertIn(words, error, content[:200])
            self.assertRegex(error, r"bad\.vot: (line 2: |no TABLE)")
        for content, words in (
            ("", "the file ends in line 1"),
            ("<VOTABLE><RESOURCE><TABLE>", "is it truncated"),
            ("<svg/>", "this is no VOTable: its XML begins with the element svg"),
            ("RA,DEC\n1,2\n", "no valid XML"),
            (
                '<!DOCTYPE VOTABLE [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><VOTABLE>&b;</VOTABLE>',
                "entities are not read",
            ),
        ):
            path = self.path("bad.vot")
            with open(path, "w") as stream:
                stream.write(content)
            self.assertIn(words, error_of(path))

    def test_positions(self):
        table = self.sample()["Source_id", "RA", "DEC"]
        for suffix in (".csv", ".ecsv", ".fits", ".vot"):
            path = self.path("p" + suffix)
            table.write(path, format="votable" if suffix == ".vot" else None)
            kind, rows = positions(path)
            self.assertEqual(kind, "sky")
            self.assertEqual(rows, list(zip(table["Source_id"], table["RA"], table["DEC"])))


if __name__ == "__main__":
    t.main()

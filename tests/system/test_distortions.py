"""Headers with distortions: what is applied agrees with astropy, a note names what is left out, and
no header writes to memory."""
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t

sys.path.append(os.path.join(t.SOURCE_ROOT, "tests", "fuzz"))
import records  # noqa: E402 (after its path)

FUZZ_RECORDS = os.environ.get("FUZZ_RECORDS", "")
SHAPE = 40, 50
LOOKUPS = records.lookup(1) + records.lookup(2)
TABLES = "and tables as those of Hubble move positions by milliarcseconds"
FAR = "and may be wrong by many pixels"


def left_out(names, positions, how_far):
    return "distortions are left out: %s: positions are those %s, %s" % (names, positions, how_far)


class Distortions(t.Case):
    def image(self, name, cards, pixels=None):
        """A file with the lines of a header as they are."""
        pixels = t.noise(*SHAPE, seed=3, n_sources=4) if pixels is None else pixels
        lines = [
            "SIMPLE  =                    T",
            "BITPIX  =                  -32",
            "NAXIS   = %d" % pixels.ndim,
        ]
        lines += ["NAXIS%d  = %d" % (i + 1, n) for i, n in enumerate(pixels.shape[::-1])]
        lines += [card for card in cards if not card.startswith("NAXIS")] + ["END"]
        header = "".join("%-80s" % line for line in lines).encode()
        data = pixels.astype(">f4").tobytes()
        with open(self.path(name), "wb") as stream:
            stream.write(header + b" " * (-len(header) % 2880) + data + bytes(-len(data) % 2880))
        return self.path(name)

    def assert_positions(self, path, cards, note, *options):
        """Those that astropy finds by these cards; the note is the only one, but for that of
        fluxes."""
        result = t.run(path, "-f", "json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = t.find(path, *options)
        with fits.open(self.image("clean.fits", cards)) as hdus:
            sky = WCS(hdus[0].header).celestial
        self.assertGreater(len(found["sources"]), 2)
        for row in found["sources"]:
            lon, lat = sky.all_pix2world(row["Xposn"], row["Yposn"], 0)
            self.assertAlmostEqual((row["RA"] - float(lon) + 180) % 360 - 180, 0, 10)
            self.assertAlmostEqual(row["DEC"], float(lat), 10)
        self.assertEqual(
            [line for line in found["notes"] if "distortion" in line], [note] if note else []
        )
        return found

    def test_what_is_left_out(self):
        """Records of any kind, beside SIP or alone; those of alternate coordinates belong to
        these."""
        kinds, known = records.coordinates(), records.records()
        sip, tan, tnx, plate = (kinds[name] for name in ("sip", "tan", "tnx", "plate"))
        both = "CPDIS1 (LOOKUP), CPDIS2 (LOOKUP)"
        for name, cards, more, note in (
            ("lookup", sip, LOOKUPS, left_out(both, "of SIP alone", TABLES)),
            ("without sip", tan, LOOKUPS, left_out(both, "without them", TABLES)),
            (
                "without axes",
                sip,
                known["lookup-without-axes"],
                left_out(both, "of SIP alone", TABLES),
            ),
            (
                "continued",
                tan,
                ["CPDIS1  = 'LOOKUP&'", "CONTINUE  ''", "CPDIS2  = 'LOOKUP  &'"],
                left_out(both, "without them", TABLES),
            ),
            (
                "one axis",
                sip,
                known["lookup-of-one"],
                left_out("CPDIS2 (LOOKUP)", "of SIP alone", TABLES),
            ),
            ("records alone", sip, known["records"], left_out("DP1, DP2", "of SIP alone", TABLES)),
            ("no blank", sip, known["narrow"], left_out("CPDIS1 (LOOKUP)", "of SIP alone", TABLES)),
            ("keys", sip, known["keys"], ""),
            (
                "function",
                sip,
                known["tpd"],
                left_out("CPDIS1 (TPD), CPDIS2 (TPD)", "of SIP alone", FAR),
            ),
            (
                "sequent",
                tan,
                known["sequent"],
                left_out("CQDIS1 (TPD), CQDIS2 (TPD)", "without them", FAR),
            ),
            (
                "repeated",
                tan,
                known["naxes-repeated"],
                left_out("CPDIS1 (TPD), CPDIS2 (TPD)", "without them", FAR),
            ),
            (
                "index",
                tan,
                known["axis-2000000"],
                left_out("CPDIS1 (LOOKUP)", "without them", TABLES),
            ),
            (
                "value",
                tan,
                known["axis-is-100000000"],
                left_out("CPDIS1 (LOOKUP)", "without them", TABLES),
            ),
            ("offset", sip, known["offset-99"], left_out("CPDIS1 (TPD)", "of SIP alone", FAR)),
            ("alternate", sip, known["alternates"], ""),
            ("axis 3", sip, known["axis-3"], ""),
            ("errors", sip, known["errors"], ""),
            ("detector", sip, known["d2im"], left_out("D2IMDIS1 (Lookup)", "of SIP alone", TABLES)),
            ("above the order", sip, known["sip-above"], ""),
            ("polynomials", tnx, [], ""),
            ("tables beside polynomials", tnx, LOOKUPS, left_out(both, "of WAT1_001", TABLES)),
            ("plate", plate, [], ""),
            (
                "plate with colours",
                plate,
                ["AMDX14  = 1.0"],
                left_out("AMDX14 (plate)", "of the plate", FAR),
            ),
            (
                "part of a plate",
                tan,
                known["plate-in-part"],
                left_out("AMDX1 (plate)", "without them", FAR),
            ),
            ("corner of a plate", tan, known["corner-alone"], ""),
            (
                "high order",
                tan,
                known["order-20000"],
                left_out("WAT1_001 (polynomials)", "without them", FAR),
            ),
            ("no polynomials", tan, known["wat-tan"], ""),
        ):
            for order in (cards + more, more + cards):
                with self.subTest(name, is_first=order[0] == cards[0]):
                    self.assert_positions(self.image("image.fits", order), cards, note)

    def test_signs_of_plates(self):
        """A plate of the south, however long the text of its sign is; without a sign there is no
        plate."""
        plate = records.coordinates()["plate"]

        def spelled(sign):
            return [sign if card.startswith("PLTDECSN") else card for card in plate]

        for value, sign in (
            ("'-'", "-"),
            ("'-'                 / sign", "-"),
            ("'- '", "-"),
            ("    ' -'", "-"),
            ("'-       '", "-"),
            ("'-", "-"),
            ("'+'", "+"),
            ("' '", "+"),
        ):
            with self.subTest(value):
                self.assert_positions(
                    self.image("image.fits", spelled("PLTDECSN= " + value)),
                    spelled("PLTDECSN= '%s       '" % sign),
                    "",
                )
        self.assertLess(
            t.find(self.image("image.fits", spelled("PLTDECSN= '-'")))["sources"][0]["DEC"], -50
        )
        for value in ("'S'", "-1", "'+-'"):
            rows = self.assert_positions(
                self.image("image.fits", spelled("PLTDECSN= " + value)),
                [card for card in plate if not card.startswith(("AMD", "PLT", "PPO", "CNPIX"))],
                left_out("AMDX1 (plate)", "without them", FAR),
            )
            self.assertGreater(len(rows["sources"]), 2)

    def test_planes_and_maps(self):
        """The same in a cube, and in what a map keeps of the header."""
        cube = np.stack([t.noise(*SHAPE, seed=seed, n_sources=4) for seed in (3, 4)])
        cards = [card for card in records.coordinates()["cube"] if "CD3_3" not in card]
        path, note = self.image("cube.fits", cards + LOOKUPS, cube), left_out(
            "CPDIS1 (LOOKUP), CPDIS2 (LOOKUP)", "of SIP alone", TABLES
        )
        two_axes = [card for card in cards if card[5] != "3"]
        self.assert_positions(path, two_axes, note, "--plane", "2")
        for name in ("whole", "plane2"):
            options = ("--plane", "2") if name == "plane2" else ()
            self.assertEqual(
                t.run(path, *options, "-o", self.path(name + ".csv"), "--save", "rms").returncode, 0
            )
            with fits.open(self.path(name + ".rms.fits")) as hdus:
                header = hdus[0].header
            self.assertEqual([key for key in header if key[:2] in ("DP", "DQ", "CP", "CQ")], [])
            self.assertEqual([header["A_ORDER"], header["A_1_2"]], [3, 1e-7])
        fluxes = t.run(
            self.image("deep.fits", two_axes),
            "-i",
            "3",
            "--beam",
            "120,120,0",
            "--measure-in",
            path,
            "-o",
            self.path("deep.csv"),
        )
        self.assertEqual(fluxes.returncode, 0, fluxes.stderr)

    def test_batch(self):
        """A hostile header takes nothing away from other images."""
        cards = records.coordinates()["sip"]
        paths = [
            self.image("a.fits", cards),
            self.image("b.fits", cards + records.records()["axis-2000000"]),
            self.image("c.fits", cards),
        ]
        result = t.run(
            *paths,
            "-o",
            self.path("out"),
            "--report",
            self.path("report.csv"),
            "--merge",
            self.path("merged.csv"),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("report.csv"), newline="") as stream:
            self.assertEqual([row["status"] for row in csv.DictReader(stream)], ["done"] * 3)
        self.assertGreater(len(t.read_csv(self.path("merged.csv"))), 2)

    def test_what_is_refused(self):
        """WCSLIB's own words name the card."""
        path = self.image(
            "image.fits", records.coordinates()["sip"] + ["A_ORDER = 10", "A_5_5   = 1E-9"][::-1]
        )
        self.assertNotIn("A_5_5", t.run(path).stderr)  # above the first A_ORDER
        path = self.image(
            "image.fits", ["A_ORDER = 10", "A_5_5   = 1E-9"] + records.coordinates()["tan"]
        )
        self.assertIn(
            "no sky coordinates: WCSLIB says: Invalid powers (5, 5) for SIP on axis 1: DP1.SIP.FWD.5_5: axis 1 is RA---TAN, axis 2 DEC--TAN: "
            "correct the header\n",
            t.run(path).stderr,
        )

    @unittest.skipIf(
        t.SANITIZED or not FUZZ_RECORDS, "this needs a build without sanitizers, with cmocka"
    )
    @unittest.skipUnless(shutil.which("valgrind"), "this needs valgrind")
    def test_memory(self):
        """valgrind sees each header of records.py read, copied and used: it knows what libwcs
        writes to, AddressSanitizer does not."""
        with tempfile.TemporaryDirectory() as directory:
            records.write(directory)
            n = len(os.listdir(directory))
            self.assertGreater(n, 2000)
            result = subprocess.run(
                [
                    "valgrind",
                    "-q",
                    "--error-exitcode=9",
                    "--suppressions="
                    + os.path.join(t.SOURCE_ROOT, "tests", "fuzz", "valgrind.supp"),
                    FUZZ_RECORDS,
                    directory,
                ],
                capture_output=True,
                text=True,
                timeout=t.HANG,
            )
            self.assertEqual(result.returncode, 0, result.stderr[:4000])
            self.assertIn("%d inputs" % n, result.stdout)


if __name__ == "__main__":
    t.main()

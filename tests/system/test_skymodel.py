"""Sky models of DP3 and SAGECal: what they say is what the table of Gaussians has, and predicts the
model that is saved.

With PEERS_PYTHON, the path of a Python that can import lsmtool, LSMTool reads and writes them,
too."""
import collections
import json
import os
import re
import resource
import shutil
import subprocess
import unittest

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t

PEERS = os.environ.get("PEERS_PYTHON", "")
ARCSEC = 1 / 3600
MILLI = 1e-3 * ARCSEC
NOT_FITTED, NEGATIVE = 64, 32
FIELDS = (
    "Name, Type, %sRa, Dec, I, MajorAxis, MinorAxis, Orientation, OrientationIsAbsolute='true', ReferenceFrequency='%s', "
    "SpectralIndex='[%s]', LogarithmicSI='true'"
)
ROW = re.compile(
    r"(s\d+g\d+), (POINT|GAUSSIAN), (?:([si]\d+), )?(\d\d:\d\d:\d\d\.\d{6}), ([-+]\d\d\.\d\d\.\d\d\.\d{5}), (\S+), (\S+), "
    r"(\S+), (\S+), true, (\S+), \[(\S+)\], true"
)
PATCH = re.compile(r", , ([si]\d+), (\d\d:\d\d:\d\d\.\d{6}), ([-+]\d\d\.\d\d\.\d\d\.\d{5})")
SHAPES = "flux", "major", "minor", "angle", "frequency", "index"
Row = collections.namedtuple("Row", ("name", "type", "patch", "ra", "dec", *SHAPES))
FREQUENCY = 1.4e9

# x, y, peak, FWHM along and across in pixels, position angle: the beam is 5 x 4 pixels at 30
# degrees
POINTS = (
    (50, 50, 0.1, 5, 4, 30),
    (100, 200, 0.3, 5, 4, 30),
    (30, 130, 0.2, 5, 4, 30),
    (290, 30, 0.25, 5, 4, 30),
)
WIDE = (200, 100, 0.2, 12, 6, 70), (250, 250, 0.15, 9, 7, 120), (160, 30, 0.3, 8, 6, 10)
TWINS = (60, 250, 0.2, 15, 6, 45), (68, 258, 0.1, 8, 7, 45)  # of one island
NEAR = (150, 150, 0.2, 7, 6, 80), (157, 150, 0.15, 9, 8, 10)  # of one source


def ellipse(x, y, peak, along, across, angle, shape=(300, 320)):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    turn = np.radians(angle)
    north = (rows - y) * np.cos(turn) - (columns - x) * np.sin(turn)
    east = (rows - y) * np.sin(turn) + (columns - x) * np.cos(turn)
    return peak * np.exp(-4 * np.log(2) * ((north / along) ** 2 + (east / across) ** 2))


def degrees(text, separator):
    """An angle of three sexagesimal numbers, whose sign stands before them."""
    whole, minutes, seconds = text.lstrip("+-").split(separator, 2)
    value = int(whole) + int(minutes) / 60 + float(seconds) / 3600
    return -value if text.startswith("-") else value


def read_skymodel(path):
    """The line of fields, the rows, and the patches: their places among the rows, and their
    positions."""
    with open(path) as stream:
        first, *lines = stream.read().splitlines()
    rows, patches = [], {}
    for line in lines:
        patch, row = PATCH.fullmatch(line), ROW.fullmatch(line)
        if patch:
            patches[patch[1]] = len(rows), 15 * degrees(patch[2], ":"), degrees(patch[3], ".")
        else:
            rows.append(
                Row(
                    *row.groups()[:3],
                    15 * degrees(row[4], ":"),
                    degrees(row[5], "."),
                    *map(float, row.groups()[5:]),
                )
            )
    return first, rows, patches


def read_sagecal(path):
    """The rows, read as SAGECal's readsky.c does, in the units of a skymodel; and the clusters."""
    rows = []
    with open(path) as stream:
        for line in stream:
            if line.startswith("#"):
                continue
            name, *numbers = line.split()
            h, m, s, d, dm, ds, i, q, u, v, index, rm, ex, ey, ep, frequency = map(float, numbers)
            assert q == u == v == rm == 0
            dec = -(-d + dm / 60 + ds / 3600) if d < 0 else d + dm / 60 + ds / 3600
            assert all(0 <= number < 60 for number in (m, s, dm, ds)) and 0 <= h < 24
            kind = {"P": "POINT", "G": "GAUSSIAN"}[name[0]]
            shape = [
                2 * np.degrees(ex) / ARCSEC,
                2 * np.degrees(ey) / ARCSEC,
                np.degrees(ep) + 90 if ex else 0,
            ]
            rows.append(
                Row(
                    name[1:],
                    kind,
                    None,
                    15 * (h + m / 60 + s / 3600),
                    dec,
                    i,
                    *shape,
                    frequency,
                    index,
                )
            )
    with open(os.path.splitext(path)[0] + ".cluster") as stream:
        clusters = [line.split() for line in stream if not line.startswith("#")]
    return rows, clusters


def offset(a, b):
    """The distance of two positions in degrees, which may be on both sides of 0 h."""
    east = (a[0] - b[0] + 180) % 360 - 180
    return np.hypot(east * np.cos(np.radians(a[1])), a[1] - b[1])


def turned(angle, other):
    """How far two position angles are apart."""
    return abs((angle - other + 90) % 180 - 90)


def centre(rows):
    """The flux-weighted mean of the unit vectors of rows, in degrees."""
    lon, lat = np.radians([row.ra for row in rows]), np.radians([row.dec for row in rows])
    x, y, z = np.sum(
        [row.flux for row in rows]
        * np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]),
        axis=1,
    )
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))


class SkyModels(t.Case):
    def image(
        self, name="image.fits", rms=1e-3, shapes=POINTS + WIDE + TWINS + NEAR, sign=1, **cards
    ):
        """A sky around 0 h and the equator, of which some lies before, some behind, some north and
        some south."""
        pixels = np.random.default_rng(3).normal(0, rms, (300, 320)) + sign * sum(
            ellipse(*shape) for shape in shapes
        )
        header = {
            "CRPIX1": 160.0,
            "CRPIX2": 150.0,
            "CRVAL1": 0.0,
            "CRVAL2": -0.02,
            "RESTFRQ": FREQUENCY,
            **cards,
        }
        return self.write(name, pixels.astype(np.float32), t.sky_header(**header))

    def run_in(self, suffix, *options, stem="c"):
        """Writes a catalogue with its Gaussians beside it, and returns its path and their rows."""
        path = self.path(stem + suffix)
        t.run(*options, "-q", "-o", path, check=True)
        return path

    def gaussians(self, *options):
        self.run_in(".csv", *options, "--save", "gaussians", stem="table")
        return t.read_csv(self.path("table.gaussians.csv"))

    def model(self, *options):
        return read_skymodel(self.run_in(".skymodel", *options))

    def lists(self, *options):
        return read_sagecal(self.run_in(".sagecal", *options))

    def check_row(self, row, gaussian, number):
        self.assertEqual(row.name, "s%dg%d" % (gaussian["Source_id"], number))
        self.assertLess(offset((row.ra, row.dec), (gaussian["RA"], gaussian["DEC"])), 0.05 * MILLI)
        self.assertEqual(row.type, "GAUSSIAN" if row.major else "POINT")
        if not int(gaussian["Flags"]) & NOT_FITTED:
            expected = [gaussian[name] for name in ("Total_flux", "DC_Maj", "DC_Min", "DC_PA")]
            np.testing.assert_allclose(
                row[5:8], [expected[0], expected[1] * 3600, expected[2] * 3600], rtol=1e-14
            )
            self.assertLess(turned(row.angle, expected[3]), 1e-12)

    def check_rows(self, rows, gaussians):
        """Each row is a Gaussian of the table, in its order."""
        before, number = None, 0
        self.assertEqual(len(rows), len(gaussians))
        for row, gaussian in zip(rows, gaussians):
            number = number + 1 if gaussian["Source_id"] == before else 1
            before = gaussian["Source_id"]
            self.check_row(row, gaussian, number)
        self.assertEqual(len({row.name for row in rows}), len(rows))

    # --- values ---

    def test_values(self):
        """Fluxes, sizes and angles have all digits, and positions are right to less than 0.1
        mas."""
        options = self.image(), "-i", "3", "--fit", "--group", "2"
        gaussians = self.gaussians(*options)
        first, rows, patches = self.model(*options)
        self.assertEqual([first, patches], ["FORMAT = " + FIELDS % ("", "1400000000", "-0.8"), {}])
        self.check_rows(rows, gaussians)
        self.assertEqual({row.type for row in rows}, {"POINT", "GAUSSIAN"})
        self.assertTrue(any(row.name.endswith("g2") for row in rows))
        self.assertEqual({(row.frequency, row.index) for row in rows}, {(FREQUENCY, -0.8)})
        # north and south of the equator by less than a degree, and on both sides of 0 h
        self.assertLess(min(row.dec for row in rows), -0.01)
        self.assertGreater(max(row.dec for row in rows), 0.01)
        self.assertEqual({row.ra > 180 for row in rows}, {True, False})

    def test_values_of_sagecal(self):
        """They are those of a skymodel, as SAGECal reads them; but a linear source has a little
        width."""
        options = self.image(), "-i", "3", "--fit", "--group", "2"
        rows, clusters = self.lists(*options)
        for row, other in zip(rows, self.model(*options)[1], strict=True):
            self.assertEqual(
                [row.name, row.type, row.flux, row.frequency, row.index],
                [other.name, other.type, other.flux, other.frequency, other.index],
            )
            self.assertLess(offset((row.ra, row.dec), (other.ra, other.dec)), 1e-3 * MILLI)
            np.testing.assert_allclose(
                [row.major, row.minor],
                [other.major, max(other.minor, 1e-3 * other.major)],
                rtol=1e-12,
            )
            self.assertLess(turned(row.angle, other.angle), 1e-9)
        self.assertEqual(
            clusters, [["1", "1", *("GP"[row.type == "POINT"] + row.name for row in rows)]]
        )

    def test_declinations(self):
        """Signs survive in SAGECal's list, too, and nothing is rounded to 60 seconds."""
        for dec in (
            -0.9999999999,
            -0.5,
            -1e-5,
            1e-5,
            0.5,
            -1.0000001,
            -30.25,
            59.99999999999,
            89.9,
            -89.9,
        ):
            image = self.write(
                "i.fits",
                (
                    ellipse(40, 30, 1, 5, 4, 30, (60, 80))
                    + np.random.default_rng(1).normal(0, 0.01, (60, 80))
                ).astype(np.float32),
                t.sky_header(
                    CRPIX1=41, CRPIX2=31, CRVAL1=359.9999999, CRVAL2=dec, RESTFRQ=FREQUENCY
                ),
            )
            (row,) = self.gaussians(image, "--fit")
            for (model,) in (self.model(image, "--fit")[1], self.lists(image, "--fit")[0]):
                self.assertLess(
                    offset((model.ra, model.dec), (row["RA"], row["DEC"])), 0.05 * MILLI, dec
                )

    def test_rounding(self):
        """Angles are rounded as a whole: there are no 60 seconds and no 24 hours."""
        image, at = self.image(), self.path("at.csv")
        with open(at, "w") as stream:
            stream.write(
                "RA,DEC\n359.9999999999,-0.0000000001\n0.0041666666666,0.01666666666\n359.99583333332,-0.0166666666\n"
            )
        self.run_in(".skymodel", image, "--at", at, "--fit", "-n", "1", "--background", "-1")
        with open(self.path("c.skymodel")) as stream:
            self.assertEqual(
                [tuple(line.split(", ")[2:4]) for line in stream][1:],
                [
                    ("00:00:00.000000", "+00.00.00.00000"),
                    ("00:00:01.000000", "+00.01.00.00000"),
                    ("23:59:59.000000", "-00.01.00.00000"),
                ],
            )
        self.run_in(".sagecal", image, "--at", at, "--fit", "-n", "1", "--background", "-1")
        with open(self.path("c.sagecal")) as stream:
            self.assertEqual(
                [line.split()[1:7] for line in stream][1:],
                [
                    ["00", "00", "00.000000", "00", "00", "00.00000"],
                    ["00", "00", "01.000000", "00", "01", "00.00000"],
                    ["23", "59", "59.000000", "-0.016666666666666666", "0", "0"],
                ],
            )

    def test_linear_sources(self):
        """What is no wider than the beam in one direction: a Gaussian with a minor axis of 0; in
        SAGECal's list, of a thousandth."""
        image = self.image(shapes=[(160, 150, 0.3, 20, 3.8, 30)])
        self.assertEqual(self.gaussians(image, "--fit")[0]["DC_Min"], 0)
        self.assertEqual(
            [(row.type, row.minor, row.major > 30) for row in self.model(image, "--fit")[1]],
            [("GAUSSIAN", 0, True)],
        )
        (row,) = self.lists(image, "--fit")[0]
        self.assertAlmostEqual(row.minor / row.major, 1e-3, delta=1e-9)

    def test_moments(self):
        """A source that is not fitted has its moments, less the beam."""
        pixels = np.full((150, 150), np.nan)  # islands of six pixels, too few for a fit
        pixels[20:40, 20:40] = np.random.default_rng(0).normal(0, 1, (20, 20))
        pixels[60:62, 60:63] = 50
        pixels[100:103, 100:102] = [[50, 10], [10, 50], [50, 40]]
        image = self.write("few.fits", pixels.astype(np.float32), t.sky_header(RESTFRQ=FREQUENCY))
        options = "--fit", "-i", "3", "--beam", "1.8,1.44,30"
        gaussians = self.gaussians(image, *options)
        model = self.model(image, *options)[1]
        self.check_rows(model, gaussians)
        n = 0
        for row, gaussian in zip(model, gaussians):
            if not int(gaussian["Flags"]) & NOT_FITTED:
                continue
            self.assertEqual(row.flux, gaussian["Total_flux"])
            if gaussian["Maj"] is None:
                self.assertEqual(row.type, "POINT")
                continue
            own = tensor(gaussian["Maj"], gaussian["Min"], gaussian["PA"]) - tensor(5e-4, 4e-4, 30)
            values, vectors = np.linalg.eigh(own)
            np.testing.assert_allclose(
                [row.major, row.minor], np.sqrt(np.maximum(values[::-1], 0)) * 3600, rtol=1e-9
            )
            self.assertLess(
                turned(row.angle, np.degrees(np.arctan2(*vectors[::-1, 1])) if row.major else 0),
                1e-6,
            )
            n += row.minor > 0
        self.assertGreater(n, 0)

    def test_negative_sources(self):
        """They are left out; the numbers of the others stay."""
        image = self.image(sign=-1)
        self.assertEqual(self.model(image, "--fit", "--negative")[1], [])
        image = self.image(
            "both.fits", shapes=[(*POINTS[0][:2], 0.1, 5, 4, 30), (200, 100, -0.2, 12, 6, 70)]
        )
        gaussians = self.gaussians(image, "--fit", "--negative")
        self.assertTrue(any(int(row["Flags"]) & NEGATIVE for row in gaussians))
        kept = [row for row in gaussians if not int(row["Flags"]) & NEGATIVE]
        self.check_rows(self.model(image, "--fit", "--negative")[1], kept)
        rows, clusters = self.lists(image, "--fit", "--negative")
        self.check_rows(rows, kept)
        self.assertEqual(clusters, [["1", "1", "Ps1g1"]])

    def test_scales(self):
        wide = POINTS + ((200, 150, 0.02, 60, 50, 20),)
        options = self.image(shapes=wide), "--rms-box", "40", "--scales=4"
        gaussians = self.gaussians(*options)
        self.assertTrue(any(row["Scale"] for row in gaussians))
        self.check_rows(
            self.model(*options)[1], [row for row in gaussians if row["Total_flux"] > 0]
        )

    def test_given_positions(self):
        """With --at, a row for each entry whose flux is above 0, with the shape that was held;
        those of one number are one source."""
        image = self.image()
        gaussians = self.gaussians(image, "--fit", "-i", "3")
        with open(self.path("table.gaussians.csv")) as stream:
            lines = stream.read().splitlines()
        entry = lines[1].split(",")
        columns = lines[0].split(",")
        entry[columns.index("RA")], entry[columns.index("DEC")] = "0.06", "0.0"  # nothing is there
        at = self.path("at.csv")
        with open(at, "w") as stream:
            stream.write(
                "\n".join(
                    [
                        *lines,
                        *[
                            ",".join(entry).replace("0.06", "%.3f" % ra)
                            for ra in np.arange(0.05, 0.07, 0.002)
                        ],
                    ]
                )
                + "\n"
            )
        t.run(image, "--at", at, "--fit", "-q", "-o", self.path("forced.csv"), check=True)
        rows = t.read_csv(self.path("forced.csv"))
        kept = sorted(
            (row for row in rows if row["Total_flux"] and row["Total_flux"] > 0),
            key=lambda row: row["Source_id"],
        )
        self.assertGreater(len(rows), len(kept))
        self.assertGreater(len(kept), len(gaussians) - 1)
        self.check_rows(self.model(image, "--at", at, "--fit")[1], kept)
        rows, clusters = self.lists(image, "--at", at, "--fit", "--patches", "source")
        self.check_rows(rows, kept)
        self.assertEqual(len({cluster[0] for cluster in clusters}), len(clusters))

    def test_spectra(self):
        """Where --measure-in finds a spectral index, it is there, with the flux at its frequency;
        else the default."""
        image = self.image()
        planes = []
        for i, frequency in enumerate((1.0e9, 1.2e9, 1.6e9)):
            shapes = [
                (*shape[:2], shape[2] * (frequency / FREQUENCY) ** (-1.2 + 0.1 * k), *shape[3:])
                if k
                else (*shape[:2], -0.1, *shape[3:])
                for k, shape in enumerate(POINTS + WIDE + TWINS + NEAR)
            ]
            planes.append(self.image("plane%d.fits" % i, shapes=shapes, RESTFRQ=frequency))
        options = image, "-i", "3", "--group", "2", "--measure-in", ",".join(planes)
        gaussians = self.gaussians(*options)
        sources = {row["Source_id"]: row for row in t.read_csv(self.path("table.csv"))}
        n = collections.Counter()
        for index, given in ((-0.8, []), (-0.25, ["--spectral-index", "-0.25"])):
            first, rows, _ = self.model(*options, *given)
            self.assertIn("SpectralIndex='[%s]'" % index, first)
            sums = collections.Counter()
            for row, gaussian in zip(rows, gaussians, strict=True):
                source = sources[gaussian["Source_id"]]
                is_found = source["Spec_Indx"] is not None
                expected = (
                    [source["Spec_Indx"], source["Ref_freq"]] if is_found else [index, FREQUENCY]
                )
                self.assertEqual([row.index, row.frequency], expected)
                share = source["Flux_ref"] / source["Total_flux"] if is_found else 1
                self.assertAlmostEqual(row.flux / (gaussian["Total_flux"] * share), 1, delta=1e-14)
                sums[gaussian["Source_id"]] += row.flux
                n[is_found, source["N_Gaus"] > 1] += 1
            for number, total in sums.items():
                self.assertAlmostEqual(
                    total / (sources[number]["Flux_ref"] or sources[number]["Total_flux"]),
                    1,
                    delta=1e-9,
                )
            for row, other in zip(self.lists(*options, *given)[0], rows, strict=True):
                self.assertEqual(
                    [row.flux, row.index, row.frequency], [other.flux, other.index, other.frequency]
                )
        self.assertTrue(n[True, True] and n[True, False] and n[False, False], n)

    # --- patches ---

    def check_patches(self, kind, column, letter):
        options = self.image(), "-i", "3", "--fit", "--group", "2", "--patches", kind
        gaussians = self.gaussians(*options[:-2])
        first, rows, patches = self.model(*options)
        self.assertEqual(first, "FORMAT = " + FIELDS % ("Patch, ", "1400000000", "-0.8"))
        self.check_rows(rows, gaussians)
        self.assertEqual(
            [row.patch for row in rows],
            [letter + "%d" % gaussian[column] for gaussian in gaussians],
        )
        members = {name: [row for row in rows if row.patch == name] for name in patches}
        self.assertEqual(sum(map(len, members.values())), len(rows))
        for name, (first, ra, dec) in patches.items():
            self.assertEqual(rows[first : first + len(members[name])], members[name])
            self.assertLess(offset((ra, dec), centre(members[name])), 0.05 * MILLI)
        clusters = self.lists(*options)[1]
        self.assertEqual(
            clusters,
            [
                [name[1:], "1", *("GP"[row.type == "POINT"] + row.name for row in members[name])]
                for name in patches
            ],
        )
        return [len(rows) for rows in members.values()]

    def test_patches_of_sources(self):
        self.assertEqual(max(self.check_patches("source", "Source_id", "s")), 2)

    def test_patches_of_islands(self):
        self.assertEqual(sorted(self.check_patches("island", "Isl_id", "i"))[-2:], [2, 2])

    def test_patch_across_0_h(self):
        """A patch whose Gaussians lie before and behind 0 h is there, and not at 12 h."""
        image = self.image(shapes=[(152, 150, 0.3, 9, 7, 30), (166, 150, 0.1, 9, 7, 30)])
        _, rows, patches = self.model(image, "-i", "3", "--fit", "--patches", "island")
        self.assertEqual(sorted(row.ra > 180 for row in rows), [False, True])
        ((_, ra, dec),) = patches.values()
        self.assertLess(offset((ra, dec), (0, -0.02)), 0.01)

    def test_no_patches(self):
        """`--patches none` is the default."""
        options = self.image(), "-i", "3", "--fit"
        with open(self.run_in(".skymodel", *options)) as one, open(
            self.run_in(".skymodel", *options, "--patches", "none", stem="d")
        ) as two:
            self.assertEqual(one.read(), two.read())

    # --- predictions ---

    def predict(self, rows, header):
        """An image of rows, each convolved with the beam, in Jy/beam."""
        wcs, shape = WCS(header), (header["NAXIS2"], header["NAXIS1"])
        y, x = np.indices(shape)
        image, beam = np.zeros(shape), tensor(2.5e-3, 2e-3, 30)
        for row in rows:
            whole = beam + tensor(row.major * ARCSEC, row.minor * ARCSEC, row.angle)
            column, line = wcs.all_world2pix(row.ra, row.dec, 0)
            offsets = np.stack([y - line, -(x - column)]) * header["CDELT2"]  # north, east
            square = np.einsum("iyx,ij,jyx->yx", offsets, np.linalg.inv(whole), offsets)
            image += (
                row.flux
                * np.sqrt(np.linalg.det(beam) / np.linalg.det(whole))
                * np.exp(-4 * np.log(2) * square)
            )
        return image

    def test_prediction(self):
        """Both lists predict the model that is saved, to 1% of its peak, on a sky of points and
        extended sources."""
        for group in ("0", "2"):
            options = self.image(), "-i", "3", "--fit", "--group", group
            t.run(*options, "-q", "-o", self.path("m.csv"), "--save", "model", check=True)
            model, header = fits.getdata(self.path("m.model.fits")), fits.getheader(options[0])
            self.assertGreater(model.max(), 0.2)
            for rows in (self.model(*options)[1], self.lists(*options)[0]):
                self.assertLess(
                    np.abs(self.predict(rows, header) - model).max(), 0.01 * model.max()
                )

    # --- files ---

    def test_empty(self):
        image = self.image(shapes=[POINTS[0]])
        first, rows, patches = self.model(
            image, "--fit", "-n", "1000", "-i", "5", "--patches", "source"
        )
        self.assertEqual(
            [first, rows, patches],
            ["FORMAT = " + FIELDS % ("Patch, ", "1400000000", "-0.8"), [], {}],
        )
        self.assertEqual(self.lists(image, "--fit", "-n", "1000", "-i", "5"), ([], []))
        with open(self.path("c.sagecal")) as stream:
            self.assertEqual(stream.read().count("\n"), 1)

    def test_standard_output(self):
        """That of a skymodel is its file."""
        options = self.image(), "--fit", "--patches", "source"
        with open(self.run_in(".skymodel", *options)) as stream:
            self.assertEqual(
                stream.read(), t.run(*options, "-q", "-f", "SkyModel", check=True).stdout
            )

    def test_same_bytes(self):
        """Of any number of threads: there are several blocks of rows."""
        pixels = t.noise(900, 1000, n_sources=1500)
        image = self.write("many.fits", pixels, t.sky_header(RESTFRQ=FREQUENCY))
        for suffix in (".skymodel", ".sagecal"):
            texts = set()
            for threads in ("1", "2", "7"):
                path = self.run_in(suffix, image, "--fit", "--patches", "source", "-j", threads)
                texts.add(
                    tuple(
                        open(one).read()
                        for one in (path, *[self.path("c.cluster")][: suffix == ".sagecal"])
                    )
                )
            self.assertEqual(len(texts), 1)
        self.assertGreater(len(read_sagecal(path)[0]), 600)

    def test_tables_beside(self):
        """They are CSV, as those beside regions; maps have their names as ever."""
        self.run_in(".sagecal", self.image(), "--fit", "--save", "gaussians,rms")
        self.assertEqual(
            sorted(os.listdir(self.directory.name)),
            ["c.cluster", "c.gaussians.csv", "c.rms.fits", "c.sagecal", "image.fits"],
        )

    def test_directory(self):
        """Each image has its list of clusters, and a run that was interrupted between both goes
        on."""
        images, out = [self.image("a.fits"), self.image("b.fits", shapes=POINTS)], self.path("out/")
        command = *images, "--fit", "-f", "sagecal", "-o", out
        t.run(*command, check=True)
        self.assertEqual(
            sorted(os.listdir(out)), ["a.cluster", "a.sagecal", "b.cluster", "b.sagecal"]
        )
        self.assertIn("2 skipped", t.run(*command, "--skip-existing", check=True).stderr)
        os.remove(self.path("out/b.cluster"))
        self.assertIn("1 skipped", t.run(*command, "--skip-existing", check=True).stderr)
        self.assertTrue(os.path.exists(self.path("out/b.cluster")))
        report = self.path("r.csv")
        t.run(*command, "--report", report, check=True)
        self.assertIn(
            "2 skipped", t.run(*command, "--report", report, "--skip-existing", check=True).stderr
        )
        with open(self.path("out/b.cluster"), "a") as stream:
            stream.write("# mine\n")
        self.assertIn(
            "1 skipped", t.run(*command, "--report", report, "--skip-existing", check=True).stderr
        )
        self.assertIn(
            "0 skipped",
            t.run(
                *command, "--report", report, "--skip-existing", "--patches", "island", check=True
            ).stderr,
        )

    def test_merge_beside(self):
        """Catalogues that are merged may be sky models beside."""
        images = [self.image("a.fits"), self.image("b.fits", shapes=POINTS)]
        t.run(
            *images,
            "-q",
            "--fit",
            "-f",
            "skymodel",
            "-o",
            self.path("out/"),
            "--merge",
            self.path("m.csv"),
            check=True,
        )
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.skymodel", "b.skymodel"])
        self.assertGreater(len(t.read_csv(self.path("m.csv"))), 3)

    def test_full_disk(self):
        """Wherever writing ends: the model is whole with its list of clusters, or neither is
        there."""
        image, out = self.image(), self.path("out")
        for suffix, n_files in ((".skymodel", 1), (".sagecal", 2)):
            n_failed = 0
            for size in (0, 50, 100, 200, 500, 1000, 1 << 20):
                os.mkdir(out)
                result = t.run(
                    image,
                    "-q",
                    "--fit",
                    "-o",
                    os.path.join(out, "c" + suffix),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
                )
                with self.subTest(suffix, size=size):
                    self.assertEqual(
                        [result.returncode, len(os.listdir(out))],
                        [1, 0] if result.returncode else [0, n_files],
                    )
                    self.assertEqual(result.stderr.count("cannot be written: "), result.returncode)
                n_failed += result.returncode
                shutil.rmtree(out)
            self.assertEqual(n_failed, 6)

    def test_clusters_replace_no_image(self):
        """Neither one that is searched, nor another."""
        image = self.image("c.cluster")
        self.assert_error(
            2, "c.cluster: the list of clusters of", image, "--fit", "-o", self.path("c.sagecal")
        )
        self.assert_error(
            2,
            "c.cluster: the list of clusters of",
            self.image("d.fits"),
            "--fit",
            "-o",
            self.path("c.sagecal"),
        )
        self.assertGreater(fits.getdata(image).max(), 0.2)

    def test_link(self):
        """A link to a list of clusters stays one."""
        os.mkdir(self.path("there"))
        os.symlink("there/real", self.path("c.cluster"))
        self.lists(self.image(), "--fit")
        self.assertTrue(os.path.islink(self.path("c.cluster")))
        self.assertEqual(os.listdir(self.path("there")), ["real"])

    # --- refusals ---

    def test_wrong_usage(self):
        """Said before an image is read."""
        out = self.path("c.sagecal")
        for arguments, words in (
            (["-f", "skymodel"], "--format skymodel lists Gaussians: add --fit\n"),
            (["-o", out], "--format sagecal lists Gaussians: add --fit\n"),
            (["-o", out, "--deblend"], "add --fit"),
            (["-o", out, "--at", "c.csv"], "add --fit"),
            (
                ["--fit", "-f", "sagecal"],
                "the list of clusters is written beside the model, so the model must be a file: name it with -o, as model.sagecal",
            ),
            (["--fit", "-f", "sagecal", "-o", "-"], "must be a file"),
            (
                ["--fit", "-f", "sagecal", "-o", "/dev/null"],
                "/dev/null: the list of clusters is written beside the file",
            ),
            (
                ["--fit", "-f", "sagecal", "-o", self.path("c.cluster")],
                "c.cluster: the list of clusters has this name",
            ),
            (
                ["--fit", "-f", "skymodel", "-o", self.path("c.gz")],
                "c.gz: files of the format skymodel are not compressed: leave .gz out",
            ),
            (["--fit", "-f", "sagecal", "-o", self.path("c.sagecal.gz")], "not compressed"),
            (["--fit", "-o", self.path("c.skymodel.gz")], "no format has this suffix"),
            (["--fit", "--patches", "source"], "--patches is for the formats skymodel and sagecal"),
            (
                ["--fit", "--patches", "none", "-o", self.path("c.vot")],
                "--patches is for the formats skymodel and sagecal",
            ),
            (["--fit", "--spectral-index", "-1"], "--spectral-index is for the formats"),
            (
                ["--patches", "source", "-f", "skymodel"],
                "--patches: it is for sky models (--format skymodel or sagecal), which list Gaussians: add --fit",
            ),
            (
                ["--fit", "--patches", "gaussian", "-f", "skymodel"],
                "--patches: 'gaussian' is not none, source or island",
            ),
            (
                ["--fit", "--spectral-index", "steep", "-f", "skymodel"],
                "--spectral-index: 'steep' is not a number",
            ),
            (["--fit", "--bench", "-f", "skymodel"], "--bench writes no catalogue"),
            (["--fit", "--bench", "--patches", "none"], "--patches is for the formats"),
            (
                ["--fit", "--merge", self.path("m.skymodel")],
                "m.skymodel: no format of merged catalogues has this suffix",
            ),
            (
                ["--fit", "--merge", self.path("m.sagecal")],
                "m.sagecal: no format of merged catalogues has this suffix",
            ),
            (
                [
                    "--fit",
                    "-f",
                    "skymodel",
                    "-o",
                    self.path("out/"),
                    "--merge",
                    self.path("m.csv"),
                    "--skip-existing",
                ],
                "srcfind cannot read --format",
            ),
        ):
            with self.subTest(arguments):
                self.assert_error(2, words, self.path("missing.fits"), *arguments)

    def test_not_read_back(self):
        image = self.image()
        for suffix in (".skymodel", ".sagecal"):
            path = self.run_in(suffix, image, "--fit")
            self.assert_error(
                2,
                "c%s: catalogues are read from .csv, .ecsv, .json, .fits and .vot" % suffix,
                image,
                "--at",
                path,
            )

    def test_images_that_lack_something(self):
        """They fail with a message that says what would help, leave nothing, and the others are
        done."""
        frame = {"CTYPE1": "GLON-SIN", "CTYPE2": "GLAT-SIN", "RADESYS": None}
        for cards, words in (
            (
                {"RESTFRQ": None},
                "needs the frequency, which the header does not tell: add RESTFRQ, in Hz",
            ),
            (
                {"CTYPE3": "VELOCITY", "CRVAL3": 1e6},
                "needs the frequency, and axis 3 (VELOCITY) gives none: correct its CTYPE3, CUNIT3 and CRVAL3, or,",
            ),
            (
                {"RADESYS": "FK4", "EQUINOX": 1950.0},
                "its coordinates are FK4 of 1950, but the format",
            ),
            (
                {"RADESYS": "FK5", "EQUINOX": 1975.0},
                "its coordinates are FK5 of 1975, but the format",
            ),
            (frame, "its coordinates are GALACTIC, but the format"),
            ({"CTYPE1": "X", "CTYPE2": "Y"}, "needs sky coordinates, but the image has none"),
            (
                {"BMAJ": None, "BMIN": None, "BPA": None},
                "has sizes without the beam, but the beam is not known: give it with --beam",
            ),
            ({"BUNIT": "Jy/pixel", "BMAJ": None, "BMIN": None, "BPA": None}, "give it with --beam"),
            (
                {"BUNIT": "counts"},
                "has fluxes in Jy, but the fluxes of the image are in counts.beam: correct BUNIT, as Jy/beam",
            ),
            (
                {"BUNIT": "Jy/beam km/s"},
                "has fluxes in Jy, but the fluxes of the image are in Jy km/s",
            ),
            ({"BUNIT": None}, "has fluxes in Jy, but the fluxes of the image are in no unit"),
        ):
            bad, good = self.image("bad.fits", **cards), self.image("good.fits", shapes=POINTS)
            for name in ("skymodel", "sagecal"):
                with self.subTest(name, **cards):
                    out = self.path("out-" + name)
                    result = t.run(bad, good, "--fit", "-q", "-f", name, "-o", out + "/")
                    # and the line that closes the run
                    self.assertEqual(
                        [result.returncode, result.stderr.count("\n")], [1, 2], result.stderr
                    )
                    self.assertTrue(result.stderr.startswith("srcfind: %s: " % bad), result.stderr)
                    self.assertIn(words, result.stderr)
                    self.assertIn("the format " + name, result.stderr)
                    self.assertEqual(
                        sorted(os.listdir(out)),
                        [*["good.cluster"][: name == "sagecal"], "good." + name],
                    )
                    shutil.rmtree(out)
        self.assert_error(
            1,
            "needs the frequency",
            self.image("bad.fits", RESTFRQ=None),
            "--fit",
            "-q",
            "-f",
            "skymodel",
        )

    def test_what_helps(self):
        """FK5 of 2000 is as good as ICRS, other units of flux become Jy, and --beam is a beam."""
        expected = self.model(self.image(), "--fit")[1]
        image = self.image(RADESYS="FK5", EQUINOX=2000.0)
        self.assertEqual(self.model(image, "--fit")[1], expected)
        pixels, header = fits.getdata(image, header=True)
        header["BUNIT"] = "mJy/beam"
        milli = self.write("milli.fits", (pixels * 1000).astype(np.float32), header)
        np.testing.assert_allclose(
            [row.flux for row in self.model(milli, "--fit")[1]],
            [row.flux for row in expected],
            rtol=1e-4,
        )
        bare = self.image(BMAJ=None, BMIN=None, BPA=None)
        self.assertEqual(self.model(bare, "--fit", "--beam", "9,7.2,30")[1], expected)

    def test_json(self):
        """The options are in the metadata of other formats, by their names."""
        options = t.find(self.image(), "--fit")["options"]
        self.assertEqual([options["patches"], options["spectral-index"]], [None, None])

    def test_names_of_lists_of_clusters(self):
        """Only .sagecal is cut off: two models do not share a list. One that cannot be written
        leaves an older list alone."""
        image, before = self.image(), set(os.listdir(self.directory.name))
        for name in ("field.v1", "field.v2", "m.sagecal"):
            t.run(image, "-q", "--fit", "-f", "sagecal", "-o", self.path(name), check=True)
        self.assertEqual(
            set(os.listdir(self.directory.name)) - before - {"image.fits"},
            {
                "field.v1",
                "field.v1.cluster",
                "field.v2",
                "field.v2.cluster",
                "m.sagecal",
                "m.cluster",
            },
        )
        with open(self.path("old.cluster"), "w", encoding="ascii") as stream:
            stream.write("older\n")
        os.symlink("/nonexistent/x", self.path("old.sagecal"))
        self.assertEqual(t.run(image, "-q", "--fit", "-o", self.path("old.sagecal")).returncode, 1)
        with open(self.path("old.cluster"), encoding="ascii") as stream:
            self.assertEqual(stream.read(), "older\n")

    # --- LSMTool ---

    @unittest.skipUnless(PEERS, "PEERS_PYTHON is not set")
    def test_lsmtool(self):
        """It loads a model, selects, groups by patches, and writes it: fluxes and shapes as they
        were, positions to its digits."""
        path = self.run_in(".skymodel", self.image(), "-i", "3", "--fit", "--patches", "island")
        _, rows, patches = read_skymodel(path)
        script = """
import json, sys, lsmtool
model = lsmtool.load(sys.argv[1])
def columns(model):
    return [[str(row[n]) if n in ("Name", "Type", "Patch", "OrientationIsAbsolute", "LogarithmicSI") else
             row[n].tolist() if n == "SpectralIndex" else float(row[n]) for n in model.table.colnames] for row in model.table]
found = {"names": model.table.colnames, "rows": columns(model),
         "patches": {str(n): [float(p[0].deg), float(p[1].deg)] for n, p in model.getPatchPositions().items()}}
model.write(sys.argv[2], clobber=True)
model.select("I > 0.5 Jy")
found["bright"] = columns(model)
model = lsmtool.load(sys.argv[2])
found["again"] = columns(model)
model.group("single")
found["single"] = [str(n) for n in set(model.table["Patch"])]
json.dump(found, sys.stdout)
"""
        result = subprocess.run(
            [PEERS, "-c", script, path, self.path("back.skymodel")], capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout[result.stdout.index("{") :])
        self.assertEqual(
            found["names"], re.findall(r"(\w+)(?:='.*?')?(?:, |\Z)", FIELDS % ("Patch, ", "", ""))
        )
        for name in ("rows", "again"):
            self.assertEqual(len(found[name]), len(rows))
            for one, row in zip(sorted(found[name]), sorted(rows)):
                self.assertEqual(one[:3] + one[5:9], [row.name, row.type, row.patch, *row[5:9]])
                self.assertEqual(one[9:], ["true", row.frequency, [row.index], "true"])
                self.assertLess(offset(one[3:5], (row.ra, row.dec)), 0.1 * MILLI)
        self.assertEqual(set(found["patches"]), set(patches))
        for patch, position in found["patches"].items():
            self.assertLess(offset(position, patches[patch][1:]), 0.1 * MILLI)
        self.assertEqual(
            sorted(one[0] for one in found["bright"]),
            sorted(row.name for row in rows if row.flux > 0.5),
        )
        self.assertEqual(len(found["single"]), 1)

    @unittest.skipUnless(PEERS, "PEERS_PYTHON is not set")
    def test_lsmtool_without_patches(self):
        """And a single point, of which columns have one row."""
        path = self.run_in(".skymodel", self.image(shapes=POINTS[:1]), "--fit")
        script = "import sys, lsmtool; t = lsmtool.load(sys.argv[1]).table; print(len(t), t['I'][0] > 0.09, 'Patch' in t.colnames)"
        result = subprocess.run([PEERS, "-c", script, path], capture_output=True, text=True)
        self.assertEqual(result.stdout.splitlines()[-1:], ["1 True False"], result.stderr)


def tensor(major, minor, angle):
    """Squares of the axes of an ellipse, along north and east."""
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    across = np.array([-along[1], along[0]])
    return major**2 * np.outer(along, along) + minor**2 * np.outer(across, across)


if __name__ == "__main__":
    t.main()

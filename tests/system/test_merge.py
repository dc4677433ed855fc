"""--merge and srcfind-merge: the catalogues of many images in one, with each source of overlapping
images once."""
import csv
import gzip
import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
from astropy.io import fits
from astropy.io.votable import parse as votable_parse
from astropy.table import Table
from astropy.wcs import WCS

import srcfind_test as t

MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
FAULTY = os.environ.get("FAULTY_SRCFIND", "")
EDGE, NEGATIVE, DUPLICATE = 1, 32, 256
PEAK = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def merge(*arguments, **options):
    options.setdefault("capture_output", True)
    return subprocess.run([MERGE, *map(str, arguments)], text=True, **options)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def unit_vector(row):
    lon, lat = math.radians(float(row["RA"])), math.radians(float(row["DEC"]))
    return np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])


def margin(row, shape):
    box = [
        float(row[name] or row[name[0] + "posn"]) for name in ("X_min", "Y_min", "X_max", "Y_max")
    ]
    return int(min(box[0], box[1], shape[1] - 1 - box[2], shape[0] - 1 - box[3]))


def islands_of(rows):
    """The islands of a catalogue: lists of the numbers of their rows."""

    def kind(i):
        return rows[i]["Isl_id"], rows[i].get("Scale", "0"), int(rows[i]["Flags"]) & NEGATIVE

    return [list(group) for _, group in itertools.groupby(range(len(rows)), kind)]


def box_of(rows):
    """Pixels of which rows have some; None: of none."""
    boxes = np.array(
        [
            [int(row[name]) for name in ("X_min", "X_max", "Y_min", "Y_max")]
            for row in rows
            if row["X_min"]
        ]
    )
    return (
        [boxes[:, 0].min(), boxes[:, 1].max(), boxes[:, 2].min(), boxes[:, 3].max()]
        if len(boxes)
        else None
    )


def is_in_ellipse(row, place, margin, wcs):
    """Whether a pixel is in the ellipse of a row that fills its box, or by a margin beside it."""
    left, right, low, high = box_of([row])
    off = np.array(place) - [(left + right) / 2, (low + high) / 2]
    half = np.array([right - left + 1, high - low + 1]) / 2
    if not row["Maj"] or float(row["Min"]) == 0:
        return (abs(off) <= half + margin).all()
    # north is up, and east is left
    size, turn = abs(wcs.wcs.cdelt[1]), math.radians(float(row["PA"]))
    axes = np.array([[-math.sin(turn), math.cos(turn)], [-math.cos(turn), -math.sin(turn)]])
    lengths = np.array([float(row["Maj"]), float(row["Min"])]) / size
    lengths *= (half / np.hypot(*(axes * lengths[:, None]))).max()
    return np.hypot(*(axes @ off / (lengths + margin))) <= 1


def holds(whole, cut, margin):
    """Whether a cut island, (rows, wcs), is inside a whole one."""
    (rows, wcs), (left, right, low, high) = whole, box_of(whole[0])
    box = box_of(cut[0])
    middle = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    sides = [(x, middle[1]) for x in box[:2]] + [(middle[0], y) for y in box[2:]] + [middle]
    x, y = wcs.all_world2pix(*cut[1].all_pix2world(*zip(*sides), 0), 0)
    margin = max(margin / abs(wcs.wcs.cdelt[1]), min(right - left + 1, high - low + 1) / 6)
    is_inside = (
        (x >= left - margin) & (x <= right + margin) & (y >= low - margin) & (y <= high + margin)
    )
    return is_inside[:4].all() and any(
        is_in_ellipse(row, (x[4], y[4]), margin, wcs) for row in rows if row["X_min"]
    )


def find_cut(catalogues, taken, reach):
    """Of the rows that were taken, those that touch an edge and whose island is inside a whole one
    of another image."""
    islands = [
        (image, [rows[i] for i in numbers], numbers, WCS(header))
        for image, (rows, _, _, header) in enumerate(catalogues)
        for numbers in islands_of(rows)
    ]

    def is_cut(rows):
        return any(int(row["Flags"]) & EDGE for row in rows)

    for image, rows, numbers, wcs in islands:
        numbers = [
            i for i, row in zip(numbers, rows) if int(row["Flags"]) & EDGE and (image, i) in taken
        ]
        if (
            numbers
            and box_of(rows)
            and any(
                other != image
                and not is_cut(its)
                and box_of(its)
                and int(its[0]["Flags"]) & NEGATIVE == int(rows[0]["Flags"]) & NEGATIVE
                and float(rows[0].get("Scale", 0)) >= float(its[0].get("Scale", 0))
                and holds(
                    (its, wcs_of), (rows, wcs), max(reach(image, rows[0]), reach(other, its[0]))
                )
                for other, its, _, wcs_of in islands
            )
        ):
            yield from ((image, i) for i in numbers)


def find_duplicates(catalogues, ratio=1):
    """The rule of the manual, pair by pair. catalogues: (rows, shape, BMAJ in degrees, header) of
    each image; ratio: BMIN / BMAJ. Returns the duplicates as (image, row)."""

    def reach(image, row):  # degrees; of a row of a scale that of the effective beam
        return catalogues[image][2] / 2 * math.sqrt(1 + ratio * float(row.get("Scale", 0)) ** 2)

    candidates = []
    for image, (rows, shape, _, _) in enumerate(catalogues):
        for number, row in enumerate(rows):
            flags = int(row["Flags"])
            preference = flags & EDGE, float(row["Isl_rms"]), -margin(row, shape), image, number
            candidates.append(
                (
                    preference,
                    unit_vector(row),
                    image,
                    number,
                    (flags & NEGATIVE, float(row.get("Scale", 0))),
                    reach(image, row),
                )
            )
    taken, duplicates = [], set()
    for candidate in sorted(candidates, key=lambda c: c[0]):
        _, position, image, number, kind, radius = candidate
        if any(
            other[2] != image
            and other[4] == kind
            and 2 * math.asin(np.linalg.norm(other[1] - position) / 2)
            < math.radians(max(radius, other[5]))
            for other in taken
        ):
            duplicates.add((image, number))
        else:
            taken.append(candidate)
    return duplicates | set(find_cut(catalogues, {(c[2], c[3]) for c in taken}, reach))


class Merge(t.Case):
    def setUp(self):
        """Six images of 130 x 140 pixels, which overlap by 30, cut from one; each with its own
        noise."""
        super().setUp()
        self.whole = t.noise(330, 250, seed=3, n_sources=80)
        self.header = t.sky_header()
        random = np.random.default_rng(5)
        self.images = [
            self.cut(
                "%d.fits" % i, top, left, noise=random.normal(0, 0.3 + 0.1 * (i % 3), (140, 130))
            )
            for i, (top, left) in enumerate(itertools.product((0, 110, 190), (0, 120)))
        ]
        self.merged, self.out = self.path("merged.csv"), self.path("out")

    def cut(self, name, top, left, noise=0, **cards):
        header = self.header.copy()
        header["CRPIX1"], header["CRPIX2"] = header["CRPIX1"] - left, header["CRPIX2"] - top
        header.update(cards)
        return self.write(
            name,
            (self.whole[top : top + 140, left : left + 130] + noise).astype(np.float32),
            header,
        )

    def merge_images(self, *arguments, path=None, **options):
        """The text of the merged catalogue."""
        t.run(*arguments, "-q", "--merge", path or self.merged, check=True, **options)
        with open(path or self.merged) as stream:
            return stream.read()

    def expected(self, images, *options, keep=False, beam=2.5e-3):
        """The merged catalogue, from those of the images and the rule of the manual."""
        catalogues = [
            (
                rows_of(t.run(image, "-q", *options).stdout),
                fits.getdata(image).shape,
                beam,
                fits.getheader(image),
            )
            for image in images
        ]
        duplicates, merged = find_duplicates(catalogues), []
        for image, (rows, _, _, _) in enumerate(catalogues):
            for number, row in enumerate(rows):
                is_duplicate = (image, number) in duplicates
                if is_duplicate and not keep:
                    continue
                row = {
                    "Image": images[image],
                    "Date_obs": "",
                    **row,
                    "Source_id": str(len(merged) + 1),
                }
                row["Flags"] = str(int(row["Flags"]) + (DUPLICATE if is_duplicate else 0))
                merged.append(row)
        return merged, len(duplicates)

    # --- rows ---

    def test_rows(self):
        """They are those that the rule leaves, cell by cell: with negative sources, components, a
        beam of its own."""
        for options in (
            [],
            ["--negative", "-n", "3.5"],
            ["-i", "3", "--fit"],
            ["--beam", "20"],
            ["--rms", "1.1"],
        ):
            for keep in (False, True):
                with self.subTest(options, keep=keep):
                    beam = 20 / 3600 if "--beam" in options else 2.5e-3
                    expected, n_duplicates = self.expected(
                        self.images, *options, keep=keep, beam=beam
                    )
                    self.assertGreater(n_duplicates, 10)
                    words = ["--merge-duplicates", "keep"] if keep else []
                    self.assertEqual(
                        rows_of(self.merge_images(*self.images, *options, *words)), expected
                    )

    def test_columns_of_an_earlier_version(self):
        """Where one is missing, the message says what to do, and nothing is written."""
        for suffix in (".csv", ".ecsv"):
            path = self.path("old" + suffix)
            t.run(self.images[0], "-q", "--fit", "-o", path, check=True)
            with open(path) as stream:
                text = stream.read().replace("Pix_SNR", "Old_SNR")
            with open(path, "w") as stream:
                stream.write(text)
            result = merge(path, "--radius", "4.5", "-o", self.merged)
            self.assertEqual(result.returncode, 1)
            self.assertIn(
                "%s: there is no column Pix_SNR: is it a catalogue of srcfind? If an earlier version made it, search the image again"
                % path,
                result.stderr,
            )
            self.assertFalse(os.path.exists(self.merged))

    def crowd(self, sources):
        """An image of Gaussians: rows of x, y, width, peak."""
        random, (y, x) = np.random.default_rng(1), np.mgrid[:330, :250]
        self.whole = random.normal(0, 1, x.shape)
        for cx, cy, width, peak in sources:
            self.whole += peak * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * width**2))

    def test_sources_that_are_highest_nowhere(self):
        """They are duplicates as others are: two copies of an image give the rows of one, also from
        catalogues of each format."""
        self.crowd(np.random.default_rng(1).uniform((0, 0, 1.5, 20), (120, 120, 9, 200), (20, 4)))
        copies = [
            self.write(name, self.whole.astype(np.float32), self.header)
            for name in ("a.fits", "b.fits")
        ]
        for options, formats in (
            (["--group", "0"], ("csv", "ecsv", "json", "fits")),
            (["--group", "0", "-i", "3", "--rms", "1"], ("fits",)),
            (["--group", "0", "--negative", "--local"], ("json",)),
        ):
            one = rows_of(t.run(copies[0], "-q", *options).stdout)
            self.assertIn("", [row["X_min"] for row in one])
            expected = [{"Image": copies[0], "Date_obs": "", **row} for row in one]
            self.assertEqual(rows_of(self.merge_images(*copies, *options)), expected)
            for name in formats:
                shutil.rmtree(self.out, ignore_errors=True)
                t.run(*copies, "-q", *options, "-o", self.out, "-f", name, check=True)
                skipped = self.merge_images(
                    *copies, *options, "-o", self.out, "-f", name, "--skip-existing"
                )
                self.assertEqual(rows_of(skipped), expected)
                result = merge(
                    *("%s/%s.%s" % (self.out, copy, name) for copy in "ab"),
                    "--radius",
                    "4.5",
                    "-o",
                    "-",
                    "-q",
                )
                self.assertEqual(
                    [{**row, "Image": copies[0]} for row in rows_of(result.stdout)], expected
                )

    def test_margins_of_sources_that_are_highest_nowhere(self):
        """Where the noise is the same, that of the tile in which the centre is farther from the
        edge stays."""
        places = [(x, y) for x in (30, 75, 165, 210) for y in (207, 228)]  # both are in two tiles
        self.crowd([place for x, y in places for place in ((x, y, 4, 200), (x + 3, y, 2, 40))])
        images = [
            self.cut("tile%d.fits" % i, top, left)
            for i, (top, left) in enumerate(itertools.product((0, 110, 190), (0, 120)))
        ]
        options = ["--group", "0", "--rms", "1", "--background", "0", "--merge-duplicates", "keep"]
        expected, _ = self.expected(images, *options[:-2], keep=True)
        merged = rows_of(self.merge_images(*images, *options))
        self.assertEqual(merged, expected)
        nowhere = [row for row in merged if row["X_min"] == ""]
        self.assertGreater(len(nowhere), 15)
        self.assertEqual(
            sum(int(row["Flags"]) & DUPLICATE != 0 for row in nowhere), len(nowhere) // 2
        )
        self.assertEqual(
            len({row["Image"] for row in nowhere if not int(row["Flags"]) & DUPLICATE}), 4
        )

    def test_many_rows(self):
        """More than writers take at a time."""
        options = ["-n", "1", "--merge-duplicates", "keep", "--min-pixels", "1"]
        rows = [
            {"Image": image, "Date_obs": "", **row}
            for image in self.images
            for row in rows_of(t.run(image, "-q", "-n", "1", "--min-pixels", "1").stdout)
        ]
        self.assertGreater(len(rows), 5000)
        merged = rows_of(self.merge_images(*self.images, *options))
        self.assertTrue(
            [row["Source_id"] for row in merged] == [str(i + 1) for i in range(len(rows))]
        )
        for row, one in zip(merged, rows):
            self.assertEqual(
                {**row, "Flags": int(row["Flags"]) & ~DUPLICATE, "Source_id": 0},
                {**one, "Flags": int(one["Flags"]), "Source_id": 0},
            )

    def test_beams_that_differ(self):
        """The larger one of two images counts."""
        far, near = (
            [
                self.cut(
                    "%s%d.fits" % (name, i),
                    0,
                    i,
                    BMAJ=2.5e-3 * factor,
                    BMIN=2e-3 * factor,
                    CRVAL1=150 + i * 0.8e-3,
                )
                for i, factor in enumerate(factors)
            ]
            for name, factors in (("far", (0.5, 0.5)), ("near", (0.5, 1)))
        )
        rows = rows_of(t.run(far[0], "-q").stdout)
        self.assertEqual(
            len(rows_of(self.merge_images(*far))),
            len(rows) + len(rows_of(t.run(far[1], "-q").stdout)),
        )
        self.assertLess(len(rows_of(self.merge_images(*near))), len(rows) + 4)

    def test_order_decides_between_equals(self):
        for images in itertools.permutations(("b.fits", "a.fits"), 2):
            for name in images:
                self.cut(name, 10, 10)
            rows = rows_of(self.merge_images(*map(self.path, images)))
            self.assertEqual({row["Image"] for row in rows}, {self.path(images[0])})

    def test_every_source_once(self):
        """Of the tiles of one image, searched with its noise: those of the image that no edge of a
        tile cuts."""
        given = ["--rms", "1", "--background", "0"]
        images = [
            self.cut("tile%d.fits" % i, top, left)
            for i, (top, left) in enumerate(itertools.product((0, 110, 190), (0, 120)))
        ]
        whole = rows_of(
            t.run(self.write("whole.fits", self.whole, self.header), "-q", *given).stdout
        )
        merged = rows_of(self.merge_images(*images, *given))
        place = {(row["RA"][:12], row["DEC"][:10], row["N_pix"]) for row in merged}
        n_found = 0
        for row in whole:
            box = [int(row[name]) for name in ("X_min", "X_max", "Y_min", "Y_max")]
            is_whole = any(
                left <= box[0] and box[1] < left + 130 and top <= box[2] and box[3] < top + 140
                for top in (0, 110, 190)
                for left in (0, 120)
            )
            if is_whole:
                self.assertIn((row["RA"][:12], row["DEC"][:10], row["N_pix"]), place)
                n_found += 1
        self.assertEqual(len(merged), len(place))
        self.assertGreater(n_found, len(whole) - 3)
        # what is more are pieces, whose centroid is elsewhere
        positions = {(row["RA"][:12], row["DEC"][:10]) for row in whole}
        self.assertTrue(
            all(
                int(row["Flags"]) & EDGE
                for row in merged
                if (row["RA"][:12], row["DEC"][:10]) not in positions
            )
        )

    def test_without_sky(self):
        """Rows without positions on the sky are never duplicates."""
        images = [
            self.write(
                "%s.fits" % name,
                self.whole,
                t.sky_header(CTYPE1=None, CTYPE2=None, BUNIT="Jy/pixel"),
            )
            for name in "ab"
        ]
        one = rows_of(t.run(images[0], "-q").stdout)
        merged = rows_of(self.merge_images(*images))
        self.assertEqual([len(merged), merged[-1]["RA"]], [2 * len(one), ""])
        self.assertRegex(
            t.run(*images, "--merge", self.merged).stderr,
            r"2 of them have no sky coordinates \(%s, \.\.\.\), so duplicates of their rows are not found\n"
            % re.escape(images[0]),
        )
        # they go with images that have a sky
        others = [self.cut("%s.fits" % name, 0, 0, BUNIT="Jy/pixel") for name in "cd"]
        n_others = len(rows_of(t.run(others[0], "-q").stdout))
        mixed = rows_of(self.merge_images(images[0], *others, images[1]))
        self.assertEqual(len(mixed), n_others + 2 * len(one))
        for row in mixed:  # sizes in pixels would stand among sizes in degrees
            self.assertEqual([row["Maj"], row["PA"]] == ["", ""], row["RA"] == "")
        self.assertTrue(
            all(float(row["Maj"] or 2) > 1 for row in merged) and any(row["Maj"] for row in merged)
        )
        # but the others must go together
        galactic = self.cut(
            "g.fits", 0, 0, BUNIT="Jy/pixel", CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN", RADESYS=None
        )
        result = t.run(images[0], others[0], galactic, "-q", "--merge", self.merged)
        self.assertIn(
            "since coordinates differ: %s has RA, and %s GLON: " % (others[0], galactic),
            result.stderr,
        )

    def test_without_beam(self):
        images = [
            self.write("%s.fits" % name, self.whole, t.sky_header(BMAJ=None, BMIN=None))
            for name in "ab"
        ]
        one = rows_of(t.run(images[0], "-q").stdout)
        self.assertEqual(len(rows_of(self.merge_images(*images))), 2 * len(one))

    def test_given_positions(self):
        """Measurements at given positions are those of each image; the columns have their
        descriptions."""
        positions = self.path("positions.csv")
        with open(positions, "w") as stream:
            stream.write(t.run(self.images[0], "-q").stdout)
        one = rows_of(t.run(self.images[0], "-q", "--at", positions).stdout)
        merged = rows_of(self.merge_images(*self.images[:2], "--at", positions, "--at-all"))
        self.assertEqual(len(merged), 2 * len(one))
        self.assertEqual([row["Entry_id"] for row in merged], 2 * [row["Entry_id"] for row in one])
        inside = len(rows_of(t.run(self.images[1], "-q", "--at", positions).stdout))
        self.assertEqual(
            len(rows_of(self.merge_images(*self.images[:2], "--at", positions))), len(one) + inside
        )

    # --- sources that the edge of an image cuts ---

    CELL, SIGMA = 5e-4, 2.0  # degrees; of the beam, in pixels

    def tile(self, name, sources, left, top, shape=(200, 200), turned=0, seed=0, **cards):
        """An image of Gaussians (x, y, standard deviations, angle from the x axis, peak) of one
        sky, with weak noise of its own."""
        y, x = np.indices(shape, float)
        turn = math.radians(turned)
        middle = (shape[1] - 1) / 2, (shape[0] - 1) / 2
        at = [
            (x - middle[0]) * math.cos(turn) - (y - middle[1]) * math.sin(turn) + middle[0] + left,
            (x - middle[0]) * math.sin(turn) + (y - middle[1]) * math.cos(turn) + middle[1] + top,
        ]
        image = np.random.default_rng(seed).normal(0, 0.05, shape)
        for px, py, major, minor, angle, peak in sources:
            c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            along, across = (at[0] - px) * c + (at[1] - py) * s, (at[1] - py) * c - (at[0] - px) * s
            image += peak * np.exp(-(along**2) / 2 / major**2 - across**2 / 2 / minor**2)
        # the reference pixel is that of (250, 250) of the sky
        off = [250 - left - middle[0], 250 - top - middle[1]]
        reference = [
            off[0] * math.cos(turn) + off[1] * math.sin(turn) + middle[0],
            -off[0] * math.sin(turn) + off[1] * math.cos(turn) + middle[1],
        ]
        fwhm = self.SIGMA * 2.3548 * self.CELL
        header = t.sky_header(
            CRPIX1=reference[0] + 1,
            CRPIX2=reference[1] + 1,
            CDELT1=-self.CELL,
            CDELT2=self.CELL,
            BMAJ=fwhm,
            BMIN=fwhm,
            BPA=0.0,
            PC1_1=math.cos(turn),
            PC1_2=-math.sin(turn),
            PC2_1=math.sin(turn),
            PC2_2=math.cos(turn),
            **cards,
        )
        return self.write(name, image.astype(np.float32), header)

    def places_of(self, rows):
        """Pixels of the sky."""
        header = t.sky_header(CRPIX1=251, CRPIX2=251, CDELT1=-self.CELL, CDELT2=self.CELL)
        return np.array(
            WCS(header).wcs_world2pix(
                [float(row["RA"]) for row in rows], [float(row["DEC"]) for row in rows], 0
            )
        ).T

    GIVEN = ["--rms", "1", "--background", "0", "-i", "3"]

    def test_sources_that_edges_cut(self):
        """Compact and wide ones, in straight and turned tiles: each source that an image has whole
        has one row, of such an image."""
        random = np.random.default_rng(11)
        sources = []
        while len(sources) < 60:
            place = random.uniform(10, 490, 2)
            if all(math.hypot(*(place - other[:2])) > 48 for other in sources):
                major = self.SIGMA * random.choice([1, 1.5, 3, 4])
                sources.append(
                    (
                        *place,
                        major,
                        max(major * random.uniform(0.5, 1), self.SIGMA),
                        random.uniform(0, 180),
                        math.exp(random.uniform(2.3, 4.5)),
                    )
                )
        places = list(itertools.product((0, 150, 300), (0, 150, 300)))
        tiles = [
            self.tile("%d.fits" % i, sources, left, top, turned=35 * (i % 2), seed=i)
            for i, (left, top) in enumerate(places)
        ]
        for options in (["--fit"], [], ["--deblend"]):
            with self.subTest(options):
                merged = rows_of(self.merge_images(*tiles, *self.GIVEN, *options))
                kept = rows_of(
                    self.merge_images(*tiles, *self.GIVEN, *options, "--merge-duplicates", "keep")
                )
                stay = [
                    {**row, "Source_id": ""} for row in kept if not int(row["Flags"]) & DUPLICATE
                ]
                self.assertEqual(stay, [{**row, "Source_id": ""} for row in merged])
                n_rows, n_cut = self.count_rows(sources, kept, merged)
                self.assertGreater(n_cut, 5)
                self.assertEqual([n for n in n_rows if n is not None and n != 1], [])
                self.assertGreater(sum(n is not None for n in n_rows), 50)
                t.run(*tiles, "-q", *self.GIVEN, *options, "-o", self.out, check=True)
                self.assertEqual(
                    merge(
                        *("%s/%d.csv" % (self.out, i) for i in range(9)),
                        "--radius",
                        self.SIGMA * 1.1774 * self.CELL * 3600,
                        "-o",
                        self.path("n.csv"),
                    ).returncode,
                    0,
                )
                with open(self.path("n.csv")) as stream:
                    self.assertEqual(
                        self.count_rows(sources, kept, rows_of(stream.read()))[0], n_rows
                    )

    def count_rows(self, sources, kept, merged):
        """The merged rows of each source, None for one that no image has whole; and how many rows
        of sources are cut and too far from their centre for duplicates by distance."""

        def nearest(rows):
            return [
                int(np.argmin([math.hypot(*(place - source[:2])) for source in sources]))
                for place in self.places_of(rows)
            ]

        whole = {i for i, row in zip(nearest(kept), kept) if not int(row["Flags"]) & EDGE}
        far = [
            row
            for i, place, row in zip(nearest(kept), self.places_of(kept), kept)
            if int(row["Flags"]) & EDGE
            and int(row["Flags"]) & DUPLICATE
            and math.hypot(*(place - sources[i][:2])) > 1.1774 * self.SIGMA
        ]
        of = nearest(merged)
        return [of.count(i) if i in whole else None for i in range(len(sources))], len(far)

    def test_neighbours_of_what_is_whole(self):
        """A cut source in the box of a whole one, but beside it, stays, and so does one of the
        other sign or on wide emission."""
        long = (100, 100, 30, 3, 45, 60.0)
        # which the other image does not have, at a corner of its box
        near = (146, 56, self.SIGMA, self.SIGMA, 0, 9.0)
        whole = self.tile(
            "whole.fits", [long, (10, 190, 2, 2, 0, 30.0), (180, 190, 2, 2, 0, 30.0)], 0, 0, seed=1
        )
        cut = self.tile(
            "cut.fits", [near, (300, 20, 2, 2, 0, 30.0), (200, 0, 2, 2, 0, 30.0)], 146, -50, seed=2
        )
        merged = rows_of(self.merge_images(whole, cut, *self.GIVEN))
        (row,) = (
            row
            for row, place in zip(merged, self.places_of(merged))
            if math.hypot(*(place - near[:2])) < 4
        )
        box, of_whole = box_of([row]), box_of(merged[:1])
        self.assertTrue(
            int(row["Flags"]) & EDGE and box[1] + 146 <= of_whole[1] and box[2] - 50 >= of_whole[2]
        )
        wide, compact = (100, 100, 12, 12, 0, 40.0), (100, 100, self.SIGMA, self.SIGMA, 0, -30.0)
        images = [
            self.tile("a.fits", [wide], 0, 0, seed=3),
            self.tile(
                "b.fits",
                [compact, (150, 60, 2, 2, 0, 30.0), (190, 150, 2, 2, 0, 20.0)],
                99,
                20,
                seed=4,
            ),
        ]
        merged = rows_of(self.merge_images(*images, *self.GIVEN, "--negative"))
        self.assertEqual(sum(int(row["Flags"]) & NEGATIVE > 0 for row in merged), 1)
        self.assertEqual(len(merged), 4)
        images[1] = self.tile(
            "b.fits",
            [(*compact[:5], 30.0), (150, 60, 2, 2, 0, 30.0), (190, 150, 2, 2, 0, 20.0)],
            99,
            20,
            seed=4,
        )
        self.assertEqual(len(rows_of(self.merge_images(*images, *self.GIVEN))), 3)

    def test_cut_sources_of_other_scales_and_of_one_image(self):
        """On a whole source of a wider scale, a cut one is another; so it is inside of a ring of
        its own image."""
        wide = (100, 100, 12, 12, 0, 40.0)
        tiles = [
            self.tile("whole.fits", [wide], 0, 0, seed=1),
            self.tile(
                "cut.fits",
                [wide, (150, 60, 2, 2, 0, 30.0), (190, 150, 2, 2, 0, 20.0)],
                103,
                20,
                seed=2,
            ),
        ]
        t.run(*tiles, "-q", *self.GIVEN, "--scales", "-o", self.out, check=True)
        for name, scale, n in ((None, 0, 3), ("whole", 2, 4), ("cut", 2, 3)):
            for i, tile in enumerate(("whole", "cut")):
                with open("%s/%s.csv" % (self.out, tile)) as stream:
                    rows = [row for row in rows_of(stream.read()) if row["Scale"] == "0"]
                (of_wide,) = (row for row in rows if int(row["Flags"]) & EDGE == i) if i else rows
                of_wide["Scale"] = str(scale if tile == name else 0)
                with open(self.path(tile + ".csv"), "w", newline="") as stream:
                    writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
            self.assertEqual(
                merge(
                    self.path("whole.csv"),
                    self.path("cut.csv"),
                    "--radius",
                    3,
                    "-o",
                    self.path("m.csv"),
                ).returncode,
                0,
            )
            with open(self.path("m.csv")) as stream, self.subTest(name):
                self.assertEqual(len(rows_of(stream.read())), n)
        with fits.open(tiles[0], mode="update") as hdus:
            pixels = hdus[0].data
            y, x = np.indices(pixels.shape)
            distance = np.hypot(x - 100, y - 100)
            pixels[distance < 40] = 0
            pixels[abs(distance - 25) < 3] = 20
            pixels[98:103, 98:103] = 20
            pixels[100, 103] = np.nan
        far = self.tile("far.fits", [(400, 400, 2, 2, 0, 30.0)], 350, 350, seed=3)
        self.assertEqual(len(rows_of(self.merge_images(tiles[0], far, *self.GIVEN))), 3)

    def test_cut_sources_of_images_with_few_rows(self):
        """One row, or rows on a line, do not tell where pixels are on the sky; their errors tell
        the size of pixels."""
        wide = (100, 100, 10, 8, 30, 50.0)
        whole = self.tile("whole.fits", [wide], 0, 0, seed=1)
        for others in (
            [],
            [(60.5, 180, 2, 2, 0, 30.0)],
            [(90, 180, 2, 2, 0, 30.0), (90, 20, 2, 2, 0, 30.0)],
        ):
            cut = self.tile("cut.fits", [wide, *others], -105, 0, seed=2)
            rows = rows_of(t.run(cut, "-q", *self.GIVEN).stdout)
            self.assertEqual(len(rows), 1 + len(others))
            far = [math.hypot(*(place - wide[:2])) for place in self.places_of(rows)]
            self.assertGreater(min(far), 3)
            merged = rows_of(self.merge_images(whole, cut, *self.GIVEN))
            self.assertEqual([row["Image"] for row in merged], [whole] + len(others) * [cut])

    # --- files ---

    def assert_cells(self, table, rows):
        """A table has the cells of a CSV."""
        self.assertEqual([len(table), table.colnames], [len(rows), list(rows[0])])
        for column in rows[0]:
            cells = [
                "" if cell is np.ma.masked or cell is None or cell != cell else cell
                for cell in table[column].tolist()
            ]
            for cell, row in zip(cells, rows):
                self.assertEqual(type(cell)(row[column]), cell, column)

    def test_formats(self):
        """All have the cells of the CSV; --merge goes by its suffix, not by --format."""
        text = self.merge_images(*self.images)
        rows = rows_of(text)
        self.assertEqual(list(rows[0])[:3], ["Image", "Date_obs", "Source_id"])
        for name in (
            "merged.vot",
            "merged.fits",
            "merged.ecsv",
            "merged.csv.gz",
            "merged.json",
            "plain",
        ):
            with self.subTest(name):
                path = self.path(name)
                t.run(*self.images, "-q", "--merge", path, "-f", "json", "-o", self.out, check=True)
                if name == "merged.json":
                    with open(path) as stream:
                        document = json.load(stream)
                    self.assertEqual(
                        [entry["image"]["path"] for entry in document["images"]], self.images
                    )
                    self.assertEqual(
                        [list(row) for row in document["sources"]],
                        [[column["name"] for column in document["columns"]]] * len(rows),
                    )
                    table = Table(document["sources"])
                elif name == "merged.csv.gz" or name == "plain":
                    with (gzip.open if name != "plain" else open)(path, "rt") as stream:
                        self.assertEqual(stream.read(), text)
                    continue
                else:
                    table = Table.read(path)
                self.assert_cells(table, rows)
        self.assertEqual(len(os.listdir(self.out)), 6)

    def test_dates(self):
        """Rows have the date of their image, in all formats and also where its catalogue is read
        back; csv does not tell it, but then the image does."""
        dates = ["2026-11-25T22:00:00.123456789", "2026-11-26", "", "25/11/86"]
        images = [
            self.cut("%d.dated.fits" % i, 0, 40 * i, **({"DATE-OBS": date} if date else {}))
            for i, date in enumerate(dates)
        ]
        of_image = dict(zip(images, dates))
        for name in ("csv", "json", "vot", "fits", "ecsv"):
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                path, again = self.path("m." + name), self.path("again." + name)
                t.run(
                    *images,
                    "-q",
                    "-o",
                    self.out,
                    "-f",
                    {"vot": "ecsv"}.get(name, name),
                    "--fit",
                    "--save",
                    "gaussians",
                    "--merge",
                    path,
                    check=True,
                )
                for merged in (path, self.path("m.gaussians." + name)):
                    rows = (
                        json.load(open(merged)).popitem()[1]
                        if name == "json"
                        else Table.read(
                            merged, **({"format": "ascii.csv"} if name == "csv" else {})
                        )
                    )
                    found = [
                        (
                            str(row["Image"]),
                            "" if row["Date_obs"] in (None, np.ma.masked) else str(row["Date_obs"]),
                        )
                        for row in rows
                    ]
                    self.assertEqual(set(found), set(of_image.items()))
                with open(path, "rb") as stream:
                    text = stream.read()
                t.run(
                    *images,
                    "-q",
                    "-o",
                    self.out,
                    "-f",
                    {"vot": "ecsv"}.get(name, name),
                    "--fit",
                    "--merge",
                    again,
                    "--skip-existing",
                    check=True,
                )
                with open(again, "rb") as stream:
                    self.assertEqual(stream.read(), text)
                files = [
                    os.path.join(
                        self.out, os.path.basename(image)[:-4] + {"vot": "ecsv"}.get(name, name)
                    )
                    for image in images
                ]
                self.assertEqual(merge(*files, "--radius", "4.5", "-o", again, "-q").stderr, "")
                if name == "csv":
                    with open(again) as stream:
                        self.assertEqual({row["Date_obs"] for row in rows_of(stream.read())}, {""})
                    continue
                with open(again, "rb") as stream:
                    self.assertEqual(stream.read(), text)
        self.assertEqual(
            [
                field.ucd
                for field in votable_parse(self.path("m.vot"), verify="exception")
                .get_first_table()
                .fields
            ][:2],
            ["meta.id;meta.file", "time.start;obs"],
        )

    def test_json_entries(self):
        """An image is described as in its own catalogue, and the options are those of all."""
        for options in (["--fit"], ["--negative", "--rms", "1.5"]):
            merged = json.loads(
                self.merge_images(*self.images, *options, path=self.path("merged.json"))
            )
            for image, entry in zip(self.images, merged["images"]):
                catalogue = t.find(image, *options)
                self.assertEqual(
                    entry, {name: catalogue[name] for name in ("image", "background", "detection")}
                )
                self.assertEqual(merged["options"], catalogue["options"])

    def test_facts_of_all_images(self):
        """A FITS table names the beam and the frequency, if all images have the same."""
        self.merge_images_binary("all.fits", self.images)
        header = fits.getheader(self.path("all.fits"), 1)
        self.assertEqual(
            [
                header["BMAJ"],
                header["RADESYS"],
                "IMAGE" in header,
                "IMWIDTH" in header,
                "BKGRMS" in header,
            ],
            [2.5e-3, "ICRS", False, False, False],
        )
        known = {"BMAJ", "FREQ"}
        images = [self.cut("%d.Hz.fits" % i, 0, 0, RESTFRQ=1.4e9) for i in range(2)]
        for cards, missing in (
            ({}, set()),
            ({"BMAJ": 3e-3}, {"BMAJ"}),
            ({"BMIN": 1.5e-3}, {"BMAJ"}),
            ({"BPA": 77.0}, {"BMAJ"}),
            ({"RESTFRQ": 9e8}, {"FREQ"}),
        ):
            self.merge_images_binary(
                "some.fits", [*images, self.cut("other.fits", 0, 0, **{"RESTFRQ": 1.4e9, **cards})]
            )
            self.assertEqual(known - set(fits.getheader(self.path("some.fits"), 1)), missing)

    def test_options_that_differ(self):
        """They are null; other facts are not."""
        for image, threshold in ((0, 5), (1, 5), (1, 6)):
            t.run(
                self.images[image],
                "-q",
                "-n",
                threshold,
                "-o",
                self.path("%d-%d.fits" % (image, threshold)),
                check=True,
            )
        for other, expected in (("1-5.fits", 5), ("1-6.fits", None)):
            result = merge(self.path("0-5.fits"), self.path(other), "-o", self.path("m.json"), "-q")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("m.json")) as stream:
                options = json.load(stream)["options"]
            self.assertEqual(options and options["threshold"], expected)

    def test_long_options(self):
        """FITS breaks them over several cards; they are read back whole."""
        beam = "6.123456789012345,5.123456789012345,123.4567890123456"
        for name in ("fits", "json"):
            t.run(self.images[0], "-q", "--beam", beam, "-o", self.path("c." + name), check=True)
        found = []
        for name in ("fits", "json"):
            self.assertEqual(
                merge(self.path("c." + name), "-q", "-o", self.path("m.json")).returncode, 0
            )
            with open(self.path("m.json")) as stream:
                found.append(json.load(stream)["options"])
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0]["beam"], beam)

    def test_files_of_options_are_not_read(self):
        """Who sends a catalogue may not choose what is read here: @ names a list for people alone."""
        image, listed = self.images[0], self.path("listed")
        with open(listed, "w") as stream:
            stream.write("a line of another file\n")
        for name in ("c.json", "c.ecsv", "c.fits"):
            with self.subTest(name):
                path = self.path(name)
                t.run(image, "-q", "-i", "3", "--measure-in", image, "-o", path, check=True)
                if name == "c.fits":
                    with fits.open(path, mode="update") as file:
                        history = file[1].header["HISTORY"]
                        i = list(history).index("srcfind option measure-in: a file")
                        history[i] = "srcfind option measure-in: @" + listed
                else:
                    with open(path) as stream:
                        before, after = stream.read().split('"measure-in":"' + image)
                    with open(path, "w") as stream:
                        stream.write(before + '"measure-in":"@' + listed + after)
                merged = merge(path, "-q", "-o", self.path("m.json"))
                self.assertEqual(merged.returncode, 0, merged.stderr)
                with open(self.path("m.json")) as stream:
                    text = stream.read()
                self.assertFalse("a line of another file" in text)
                self.assertEqual(json.loads(text)["options"]["measure-in"], "./@" + listed)

    def merge_images_binary(self, name, images):
        t.run(*images, "-q", "--merge", self.path(name), check=True)

    def test_standard_output(self):
        result = t.run(*self.images, "--merge", "-")
        self.assertEqual(result.stdout, self.merge_images(*self.images))
        self.assertRegex(
            result.stderr.splitlines()[-2],
            r"\Asrcfind: merged: %d sources of 6 images, \d+ duplicates left out\Z"
            % len(rows_of(result.stdout)),
        )

    def test_same_bytes_on_any_number_of_threads(self):
        texts = {self.merge_images(*self.images, "--threads", n) for n in (1, 2, 7)}
        self.assertEqual(len(texts), 1)

    def test_no_other_file(self):
        """Rows wait in a file without a name."""
        before = set(os.listdir(self.directory.name))
        self.merge_images(*self.images)
        self.assertEqual(set(os.listdir(self.directory.name)) - before, {"merged.csv"})

    # --- catalogues that are there ---

    def test_of_skipped_images(self):
        """Catalogues are read back to the last bit: the merged one has the same bytes, whatever is
        there already."""
        for name in ("csv", "fits", "ecsv", "json", "csv.gz"):
            for options in ([], ["-i", "3", "--fit", "--negative"]):
                with self.subTest(name, options=options):
                    shutil.rmtree(self.out, ignore_errors=True)
                    arguments = [*self.images, "-o", self.out, "-q", *options]
                    arguments += ["-f", name] if name != "csv.gz" else []
                    texts = set()
                    merged = self.path("merged." + name.replace(".gz", ""))
                    for keep in (0, 3, 6):
                        for image in self.images[keep:] if os.path.exists(self.out) else []:
                            os.remove(
                                os.path.join(
                                    self.out, os.path.basename(image).replace("fits", name)
                                )
                            )
                        t.run(*arguments, "--skip-existing", "--merge", merged, check=True)
                        if name == "csv.gz" and keep == 0:
                            for image in self.images:
                                subprocess.run(
                                    [
                                        "gzip",
                                        os.path.join(
                                            self.out, os.path.basename(image).replace("fits", "csv")
                                        ),
                                    ],
                                    check=True,
                                )
                        with open(merged, "rb") as stream:
                            texts.add(stream.read())
                        os.remove(merged)
                    self.assertEqual(len(texts), 1)

    def test_catalogues_of_other_kinds(self):
        """One that lacks columns, or that cannot be read back, is an error that says so; the others
        are merged."""
        t.run(self.images[0], "-q", "--fit", "-o", self.out + "/", check=True)
        result = t.run(
            *self.images, "-q", "-o", self.out, "--skip-existing", "--merge", self.merged
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "0.csv: this catalogue was made with other options, and has other columns",
            result.stderr,
        )
        with open(self.merged) as stream:
            self.assertEqual({row["Image"] for row in rows_of(stream.read())}, set(self.images[1:]))
        result = t.run(
            *self.images,
            "-q",
            "-o",
            self.out,
            "--skip-existing",
            "--merge",
            self.merged,
            "-f",
            "reg",
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("srcfind cannot read --format reg", result.stderr)

    def test_skipped_images_without_sky(self):
        """They go with images that have a sky, also when their catalogues are read back."""
        images = [
            self.cut("a.fits", 0, 0, BUNIT="Jy/pixel"),
            self.cut("b.fits", 0, 0, BUNIT="Jy/pixel", CTYPE1=None, CTYPE2=None),
        ]
        for name in ("csv", "fits", "ecsv", "json", "vot"):
            for order in (images, images[::-1]):
                shutil.rmtree(self.out, ignore_errors=True)
                texts = {
                    self.merge_images(
                        *order,
                        "-o",
                        self.out,
                        "-f",
                        name.replace("vot", "votable"),
                        "--skip-existing",
                    )
                    for _ in range(2)
                }
                self.assertEqual(len(texts), 1)
                catalogues = [
                    os.path.join(self.out, os.path.basename(image).replace("fits", name))
                    for image in order
                ]
                result = merge(*catalogues, "--radius", "5", "-o", "-", "-q")
                self.assertEqual(
                    [result.returncode, result.stderr, result.stdout.count("\n")],
                    [0, "", texts.pop().count("\n")],
                )

    def test_options_of_skipped_images(self):
        """Options are those that catalogues tell; those of the run only where the report says
        so."""
        for name, options in (("json", {"threshold": "5", "island": "5"}), ("csv", None)):
            for others in (["-n", "20"], ["-n", "5"]):
                shutil.rmtree(self.out, ignore_errors=True)
                t.run(*self.images, "-q", "-o", self.out, "-f", name, check=True)
                t.run(
                    *self.images,
                    "-q",
                    "-o",
                    self.out,
                    "-f",
                    name,
                    "--skip-existing",
                    "--merge",
                    self.path("m.json"),
                    *others,
                    check=True,
                )
                with open(self.path("m.json")) as stream:
                    found = json.load(stream)["options"]
                self.assertEqual(
                    found
                    if options is None
                    else {key: str(found[key]).split(".")[0] for key in options},
                    options,
                )
        report = ["--report", self.path("report.csv"), "--merge", self.path("m.json")]
        for _ in range(2):
            t.run(
                *self.images,
                "-q",
                "-o",
                self.out,
                "-n",
                "20",
                "--skip-existing",
                *report,
                check=True,
            )
            with open(self.path("m.json")) as stream:
                self.assertEqual(json.load(stream)["options"]["threshold"], 20)

    def test_shard(self):
        """A note says that other images are missing."""
        result = t.run(*self.images, "--shard", "1/2", "--merge", self.merged)
        self.assertEqual(result.returncode, 0)
        self.assertIn("merged.csv: it has only the images of shard 1 of 2", result.stderr)

    # --- srcfind-merge ---

    def test_threads(self):
        """The same bytes on any number; other values are refused, and name what is allowed."""
        t.run(*self.images, "-q", "-o", self.out, "-f", "fits", check=True)
        catalogues = sorted(os.path.join(self.out, name) for name in os.listdir(self.out))
        one, seven = (merge("-j", n, *catalogues, "-o", "-") for n in ("1", "7"))
        self.assertEqual([one.returncode, one.stdout], [0, merge(*catalogues, "-o", "-").stdout])
        self.assertEqual(seven.stdout, one.stdout)
        for value in ("0", "4097", "1.5", "x", ""):
            result = merge("--threads", value, *catalogues, "-o", "-")
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn(
                "--threads: '%s' is not a whole number from 1 to 4096" % value, result.stderr
            )

    def test_maps_beside_catalogues(self):
        """They have the suffix of FITS catalogues, and are left out; one that is given alone is no
        catalogue."""
        t.run(
            *self.images,
            "-q",
            "-o",
            self.out,
            "-f",
            "fits",
            "--fit",
            "--save",
            "rms,islands,gaussians",
            check=True,
        )
        catalogues = sorted(os.path.join(self.out, name) for name in os.listdir(self.out))
        self.assertEqual(len(catalogues), 24)
        result = merge(*catalogues, "-o", "-")
        self.assertEqual(
            [result.returncode, result.stdout], [0, self.merge_images(*self.images, "--fit")]
        )
        self.assertTrue(
            result.stderr.startswith("srcfind-merge: 18 maps or tables of --save are left out\n")
        )
        alone = merge(os.path.join(self.out, "0.gaussians.fits"), "-o", "-")
        self.assertIn(
            "a table of Gaussians: name the catalogue of their sources instead", alone.stderr
        )
        self.assertEqual(merge(os.path.join(self.out, "0.rms.fits"), "-o", "-").returncode, 1)

    def test_catalogue_that_is_named_as_a_table_of_gaussians(self):
        """It is one only where the catalogue is there that it would be beside."""
        os.mkdir(self.out)
        paths = [os.path.join(self.out, name) for name in ("a.gaussians.csv", "b.csv")]
        for image, path in zip(self.images, paths):
            t.run(image, "-q", "-o", path, check=True)
        result = merge(*paths, "-o", "-", "--radius", "4.5")
        self.assertEqual(
            len(rows_of(result.stdout)), len(rows_of(self.merge_images(*self.images[:2])))
        )

    def test_measured_positions(self):
        """Measurements of --at are no duplicates, also from CSV, which does not tell the
        options."""
        with open(self.path("at.csv"), "w") as stream:
            stream.write(
                "RA,DEC\n"
                + "".join(
                    "%s,%s\n" % (row["RA"], row["DEC"])
                    for row in rows_of(self.merge_images(*self.images))
                )
            )
        for name in ("csv", "fits"):
            for options in ([], ["--fit"]):
                shutil.rmtree(self.out, ignore_errors=True)
                arguments = [
                    *self.images,
                    "-o",
                    self.out,
                    "-f",
                    name,
                    "--at",
                    self.path("at.csv"),
                    *options,
                    "--skip-existing",
                ]
                self.assertEqual(len({self.merge_images(*arguments) for _ in range(2)}), 1)
                catalogues = [os.path.join(self.out, "%d.%s" % (i, name)) for i in range(6)]
                for radius in (["--radius", "5"], []):
                    result = merge(*catalogues, *radius, "-o", self.merged)
                    self.assertRegex(
                        result.stderr,
                        r"\Asrcfind-merge: .* rows of 6 catalogues, 0 duplicates left out\n\Z",
                    )

    def test_no_beam(self):
        """Duplicates are not found, and a note says so."""
        images = [self.cut("n%d.fits" % i, 0, 10 * i, BMAJ=None, BMIN=None) for i in range(2)]
        note = r"2 images have no beam \(%s, \.\.\.\), so duplicates among their rows are not found: give --%s\n\Z"
        result = t.run(*images, "-o", self.out, "-f", "fits", "--merge", self.merged)
        self.assertIn(", 0 duplicates left out\n", result.stderr)
        self.assertRegex(
            result.stderr.split("\nsrcfind: 2 images")[0] + "\n",
            note % (re.escape(images[0]), "beam"),
        )
        catalogues = [os.path.join(self.out, "n%d.fits" % i) for i in range(2)]
        self.assertRegex(
            merge(*catalogues, "-o", "-").stderr, note % (re.escape(catalogues[0]), "radius")
        )
        for path in catalogues:  # as a catalogue of a plane that has none may say
            with fits.open(path, mode="update") as hdus:
                for name in ("BMAJ", "BMIN", "BPA"):
                    hdus[1].header[name] = 1.2e-38
        self.assertRegex(
            merge(*catalogues, "-o", "-").stderr, note % (re.escape(catalogues[0]), "radius")
        )
        result = merge(*catalogues, "-o", "-", "--radius", "3")
        self.assertNotIn("no beam", result.stderr)
        self.assertNotIn(" 0 duplicates", result.stderr)
        # the beam of one of two images suffices
        images = [
            self.cut("%s.fits" % beam, 0, 0, BMAJ=beam, BUNIT="Jy/pixel") for beam in (2.5e-3, None)
        ]
        result = t.run(*images, "--merge", self.merged)
        self.assertNotIn("have no beam", result.stderr)
        self.assertRegex(result.stderr, r"\b[1-9]\d* duplicates left out")

    def test_program(self):
        """The same bytes, from catalogues of each format, mixed ones, a list; from CSV without the
        images' JSON."""
        expected = {}
        for name in ("csv", "json", "fits"):
            t.run(
                *self.images,
                "-q",
                "-o",
                self.path(name),
                "-f",
                name,
                "--merge",
                self.path("e." + name),
                check=True,
            )
            with open(self.path("e." + name), "rb") as stream:
                expected[name] = stream.read()
        t.run(*self.images, "-q", "-o", self.path("ecsv"), "-f", "ecsv", check=True)

        def check(name, *arguments, **options):
            result = merge(*arguments, "-o", self.path("m." + name), "-q", **options)
            self.assertEqual([result.returncode, result.stdout, result.stderr], [0, "", ""])
            with open(self.path("m." + name), "rb") as stream:
                self.assertEqual(stream.read(), expected[name])

        catalogues = {
            name: [self.path("%s/%d.%s" % (name, i, name)) for i in range(6)]
            for name in ("csv", "json", "fits", "ecsv")
        }
        for name in ("json", "fits", "ecsv"):
            check("csv", *catalogues[name])
        for name in ("fits", "ecsv"):
            check("fits", *catalogues[name])
        check("json", *catalogues["json"])
        check("csv", *[catalogues[("json", "fits", "ecsv")[i % 3]][i] for i in range(6)])
        check("csv", "--files-from", "-", input="".join(path + "\n" for path in catalogues["fits"]))
        check(
            "csv",
            "--files-from",
            "-",
            "-0",
            input="".join(path + "\0" for path in catalogues["fits"]),
        )
        check(
            "csv", *catalogues["csv"][:0], *catalogues["ecsv"], "--radius", str(2.5e-3 * 3600 / 2)
        )
        result = merge(*catalogues["csv"], "--radius", "4.5", "-o", "-")
        self.assertEqual(result.returncode, 0)
        # CSV does not tell the size of the image; here the noise decides. Nor does it name the
        # image
        self.assertEqual(
            [{**row, "Image": ""} for row in rows_of(result.stdout)],
            [{**row, "Image": ""} for row in rows_of(expected["csv"].decode())],
        )
        self.assertEqual({row["Image"] for row in rows_of(result.stdout)}, set(catalogues["csv"]))
        self.assertRegex(
            result.stderr,
            r"\Asrcfind-merge: merged: \d+ rows of 6 catalogues, \d+ duplicates left out\n\Z",
        )

    # --- catalogues that are read in blocks ---

    def long_catalogue(self, name, n, change=None):
        """A catalogue of n rows, far from each other; change: of the lines of the rows."""
        path = self.path("few" + name[name.index(".") :])
        if not os.path.exists(path):
            t.run(self.images[0], "-q", "--fit", "-o", path, check=True)
        with open(path) as stream:
            lines = stream.read().splitlines()
        head = next(i for i, line in enumerate(lines) if not line.startswith("#")) + 1
        names, few = lines[head - 1].split(","), [line.split(",") for line in lines[head:]]
        places = [names.index(column) for column in ("Source_id", "Isl_id", "RA", "DEC")]
        rows = []
        for i in range(n):
            row = list(few[i % len(few)])
            for place, value in zip(places, (i + 1, i + 1, 0.03 * (i % 9999), 0.03 * (i // 9999))):
                row[place] = repr(value)
            rows.append(",".join(row))
        with open(self.path(name), "w", newline="") as stream:
            stream.write("\n".join([*lines[:head], *(change(rows) if change else rows)]) + "\n")
        return self.path(name)

    def merge_long(self, path):
        """What srcfind-merge says of a catalogue, with its merged one."""
        result = merge(path, "--radius", "1", "-o", self.merged)
        with open(self.merged) if result.returncode == 0 else io.StringIO("") as stream:
            return (
                result.returncode,
                result.stderr.replace(path, "PATH"),
                stream.read().replace(path, "PATH"),
            )

    def assert_read_as_a_whole(self, name, n, change=None):
        """A long catalogue, which is read in blocks, is what it is when gzipped, which is not."""
        path = self.long_catalogue(name, n, change)
        self.assertGreater(os.path.getsize(path), 3 << 21)
        found = self.merge_long(path)
        with open(path, "rb") as stream, gzip.open(path + ".gz", "wb", compresslevel=1) as packed:
            shutil.copyfileobj(stream, packed)
        expected = self.merge_long(path + ".gz")
        self.assertEqual([*found[:2], found[2] == expected[2]], [*expected[:2], True])
        return found

    def test_absurd_beam_of_cut_rows(self):
        """A beam in a catalogue that is wider than the sky: rows of the other sign, all of which
        are cut, are not looked for in every island."""
        n = 5000 if t.SANITIZED else 100000

        def flagged(flags):
            def change(rows):
                with open(self.path("few.ecsv")) as stream:
                    at = (
                        next(line for line in stream if line[0] != "#")
                        .rstrip()
                        .split(",")
                        .index("Flags")
                    )
                cells = (row.split(",") for row in rows)
                return [",".join([*row[:at], flags, *row[at + 1 :]]) for row in cells]

            return change

        whole, cut = self.long_catalogue("whole.ecsv", n, flagged("0")), self.long_catalogue(
            "cut.ecsv", n, flagged("33")
        )
        with open(cut) as stream:
            text = stream.read()
        with open(cut, "w") as stream:
            stream.write(re.sub(r"(#   BM(AJ|IN): ).*", r"\g<1>3000", text))
        for catalogues in ((whole, cut), (cut, whole)):
            result = merge(*catalogues, "-o", self.merged)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("%d rows of 2 catalogues, 0 duplicates left out" % (2 * n), result.stderr)

    def test_long_catalogues(self):
        """They are read in blocks: with blank lines, quotes, cells that are empty at first, other
        ends of lines."""
        n = 13000
        for name in ("a.csv", "b.ecsv"):
            self.assertIn("%d rows of 1 catalogue" % n, self.assert_read_as_a_whole(name, n)[1])

        def change(rows):
            rows = [row + "\r" * (i % 3 == 0) for i, row in enumerate(rows)]
            rows[4000] = '"' + rows[4000].replace(",", '","') + '"'
            rows[5000:5001] = ["", "   ", rows[5000].replace(",", " , "), ""]
            return ["", *rows, "", ""]

        self.assertEqual(self.assert_read_as_a_whole("c.csv", n, change)[0], 0)

        def without_shapes(rows):  # and late ones, in a later block
            with open(self.path("few.csv")) as stream:
                names = stream.readline().rstrip().split(",")
            at = names.index("DC_Maj"), names.index("Xpeak"), names.index("S_Code")
            return [
                ",".join(
                    "" if k in at[: 2 + (i % 2)] and i < 9000 else cell
                    for k, cell in enumerate(row.split(","))
                )
                for i, row in enumerate(rows)
            ]

        self.assertEqual(self.assert_read_as_a_whole("d.csv", n, without_shapes)[0], 0)
        large = self.write("large.fits", t.noise(300, 320), self.header)
        options = [large, "-q", "--fit", "-n", "1.5", "--min-pixels", "1"]
        t.run(*options, "-o", self.path("many.fits"), check=True)
        with open(self.path("many.fits"), "rb") as stream, gzip.open(
            self.path("packed.fits.gz"), "wb"
        ) as packed:
            shutil.copyfileobj(stream, packed)
        self.assertGreater(os.path.getsize(self.path("many.fits")), 1 << 20)
        t.run(*options, "-o", self.path("many.csv"), check=True)
        merged = [
            self.merge_long(self.path(name)) for name in ("many.fits", "packed.fits.gz", "many.csv")
        ]
        self.assertEqual(
            {text.split("\n", 1)[1].replace(large, "PATH") for _, _, text in merged},
            {merged[0][2].split("\n", 1)[1].replace(large, "PATH")},
        )
        self.assertGreater(merged[0][2].count("\n"), 1000)

    def test_long_catalogues_that_are_wrong(self):
        """A message names the line, also of a later block."""

        def replaced(i, old, new):
            return lambda rows: rows[:i] + [rows[i].replace(old, new, 1)] + rows[i + 1 :]

        for change, message in (
            (replaced(12000, ",", ""), "line 12002 has "),
            (replaced(12000, ",", ",,"), "line 12002 has more cells"),
            (replaced(11000, ",", "\0,"), "line 11002 has a NUL byte"),
            (replaced(11000, ",", '"x"y,'), ""),
            (replaced(9000, "0.", "no"), "has other cells than srcfind writes"),
            (
                lambda rows: rows[:9000] + ["x" * (5 << 20)] + rows[9000:],
                "line 9002 has more than 1048576 bytes",
            ),
        ):
            with self.subTest(message):
                status, said, _ = self.assert_read_as_a_whole("a.csv", 13000, change)
                self.assertEqual(status, 1)
                self.assertIn(message, said)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_memory_of_long_catalogues(self):
        """It does not grow with the rows, but by what the search for duplicates takes."""
        environment = {
            name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"
        }
        for name in ("a.csv", "b.ecsv"):
            peaks = []
            for n in (13000, 39000):
                result = subprocess.run(
                    [
                        sys.executable,
                        "-c",
                        PEAK,
                        MERGE,
                        self.long_catalogue(name, n),
                        "-q",
                        "--radius",
                        "1",
                        "-o",
                        self.merged,
                    ],
                    capture_output=True,
                    text=True,
                    env=environment,
                    check=True,
                )
                peaks.append(int(result.stdout))
            self.assertLess(peaks[1] - peaks[0], 26000 * 72 + (2 << 20))

    def test_images_of_one_name(self):
        """The catalogues tell them apart."""
        os.mkdir(self.path("a"))
        shutil.copy(self.images[0], self.path("a/0.fits"))
        for directory in (".", "a"):
            t.run(
                "0.fits",
                "-q",
                "-o",
                self.path("%s.json" % directory.replace(".", "b")),
                cwd=self.path(directory),
                check=True,
            )
        result = merge(
            self.path("b.json"), self.path("a.json"), "-o", "-", "--merge-duplicates", "keep", "-q"
        )
        self.assertEqual(
            {row["Image"] for row in rows_of(result.stdout)},
            {self.path("a.json"), self.path("b.json")},
        )

    def test_catalogues_without_rows(self):
        """They need no sky coordinates in their rows; a text that is no catalogue is none."""
        empty, other = self.path("empty.csv"), self.path("other.csv")
        t.run(self.images[0], "-q", "-n", "1e6", "-o", empty, check=True)
        t.run(self.images[0], "-q", "-o", other, check=True)
        result = merge(empty, other, "--radius", "3", "-o", self.merged)
        self.assertRegex(
            result.stderr, r"^srcfind-merge: \S+: \d+ rows of 2 catalogues, 0 dup[^\n]*\n$"
        )
        for text in "hello\n", "a b\n", "RA,DEC\n":
            with open(empty, "w") as stream:
                stream.write(text)
            result = merge(empty, other, "--radius", "3", "-o", self.merged)
            self.assertEqual(result.returncode, 1)
            self.assertIn(
                "empty.csv: there is no column Source_id: is it a catalogue", result.stderr
            )

    def test_keep(self):
        t.run(*self.images, "-q", "-o", self.out, "-f", "fits", check=True)
        catalogues = [os.path.join(self.out, "%d.fits" % i) for i in range(6)]
        result = merge(*catalogues, "-o", "-", "-q", "--merge-duplicates=keep")
        self.assertEqual(rows_of(result.stdout), self.expected(self.images, keep=True)[0])

    def test_usage(self):
        catalogue = self.path("c.ecsv")
        t.run(self.images[0], "-q", "-o", catalogue, check=True)
        for arguments, message in (
            (["-o", "a.csv"], "no catalogue given"),
            ([catalogue], "-o FILE names the merged catalogue"),
            ([catalogue, "-o", ""], "'' is not a path"),
            ([catalogue, "-o"], "-o needs a value"),
            (
                [catalogue, "-o", "a.reg"],
                "no format of merged catalogues has this suffix; there are .csv, ",
            ),
            ([catalogue, "-o", catalogue], "would replace one of the merged files"),
            ([catalogue, "-o", self.images[0]], "which is no catalogue of srcfind"),
            ([catalogue, "-0", "-o", "a.csv"], "--null needs --files-from"),
            (
                [catalogue, "--radius", "0", "-o", "a.csv"],
                "'0' is not a number of arcseconds, above 0",
            ),
            ([catalogue, "--radius", "nan", "-o", "a.csv"], "'nan' is not a number"),
            ([catalogue, "--merge-duplicates", "none", "-o", "a.csv"], "is not drop or keep"),
            ([catalogue, catalogue, "-o", "a.csv"], "c.ecsv is given twice"),
            (
                [catalogue, "--radius", "3,25", "-o", "a.csv"],
                "up to 648000: write a point for the comma",
            ),
            ([catalogue, "--order", "-o", "a.csv"], "no option --order"),
        ):
            with self.subTest(arguments):
                result = merge(*arguments, cwd=self.directory.name)
                self.assertEqual([result.returncode, result.stdout], [2, ""])
                self.assertTrue(result.stderr.startswith("srcfind-merge: "))
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertIn(message, result.stderr)
        self.assertFalse(os.path.exists(self.path("a.csv")))
        with open(self.path("list.csv"), "w") as stream:  # whatever is merged, its list stays
            stream.write(catalogue + "\n")
        result = merge("--files-from", self.path("list.csv"), "-o", self.path("list.csv"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("would replace the list of catalogues", result.stderr)
        for arguments, message in (
            (["-"], "-: catalogues are read from files"),
            ([""], "an empty name is no catalogue"),
            (["none"], "none: No such file"),
            (["."], ".: a directory, not a file"),
        ):
            self.assertIn(message, merge(*arguments, "-o", "a.csv", cwd=self.directory.name).stderr)
        for option, text in (("--help", "Usage: srcfind-merge"), ("-V", "srcfind ")):
            result = merge(option)
            self.assertEqual(
                [result.returncode, result.stderr, result.stdout.startswith(text)], [0, "", True]
            )
        with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind-merge.1")) as stream:
            manual = re.findall(
                r"(?m)^\.It Fl .*\bFl -([a-z-]+)|^\.It Fl -([a-z-]+)", stream.read()
            )
        self.assertEqual(
            [one or other for one, other in manual],
            re.findall(r"(?:^|[ ,])--([a-z-]+)", merge("--help").stdout.split("\n\n")[1]),
        )

    def test_wrong_catalogues(self):
        """What is no catalogue, or does not go with the others; nothing is written, and all are
        named."""
        good = self.path("good.json")
        t.run(self.images[0], "-q", "-o", good, check=True)

        def catalogue(name, *options, image=None, **cards):
            path = self.path(name)
            t.run(
                image or self.cut("x.fits", 0, 0, **cards), "-q", "-o", path, *options, check=True
            )
            return path

        def text(name, content):
            with open(self.path(name), "w") as stream:
                stream.write(content)
            return self.path(name)

        self.merge_images(*self.images)
        for bad, message in (
            (self.path("none.json"), "none.json"),
            (text("a.ecsv", "{}"), "a.ecsv"),
            (text("a.csv", "RA,DEC\n1,2\n"), "no column"),
            (self.images[0], "0.fits"),
            (self.merged, "this is a merged catalogue"),
            (text("a.reg", "x"), "a.reg"),
            (catalogue("b.ecsv", BUNIT="mJy/beam"), "since units of maps differ"),
            (catalogue("b.fits", BUNIT="K"), "since units of fluxes differ"),
            (catalogue("c.fits", RADESYS="FK5"), "since frames differ"),
            (
                catalogue("d.fits", CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN", RADESYS=None),
                "since coordinates differ",
            ),
            (catalogue("e.fits", "--fit"), "since columns differ"),
            (catalogue("f.csv"), "give --radius ARCSEC"),
        ):
            with self.subTest(bad):
                result = merge(good, bad, "-o", self.path("out.csv"))
                self.assertEqual(
                    [result.returncode, result.stdout], [2 if "ARCSEC" in message else 1, ""]
                )
                self.assertIn(message, result.stderr)
                self.assertTrue(
                    all(line.startswith("srcfind-merge: ") for line in result.stderr.splitlines())
                )
                self.assertFalse(os.path.exists(self.path("out.csv")))
        # of CSV nothing is known; what is known of the others must go together
        others = [
            catalogue("csv.csv"),
            catalogue("jy.fits"),
            catalogue("mjy.fits", BUNIT="mJy/beam"),
        ]
        result = merge(*others, "--radius", "5", "-o", self.path("out.csv"))
        self.assertIn("since units of maps differ: ", result.stderr)
        result = merge(
            *(catalogue("%d.fits" % year, RADESYS="FK5", EQUINOX=year) for year in (1975, 2000)),
            "-o",
            "-",
        )
        self.assertEqual([result.returncode, result.stdout], [1, ""])
        self.assertRegex(result.stderr, "since frames differ: .* has FK5 1975, and .* FK5 2000: ")
        # cells of another kind than srcfind writes
        with open(catalogue("g.csv")) as stream:
            rows = rows_of(stream.read())
        for name, cell in (
            ("Source_id", "x"),
            ("Flags", "1.5"),
            ("RA", "abc"),
            ("Source_Name", "J" * 99),
            ("Source_Name", "J1\x1b[31m"),
            ("Source_Name", "J1\xff"),
            ("Source_Name", "J1\x7f"),
            ("Source_Name", 'J1"2'),
            ("N_pix", "1e400"),
        ):
            wrong = [{**rows[0], name: cell}]
            stream = io.StringIO()
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(wrong)
            result = merge(
                text("h.csv", stream.getvalue()), "--radius", "5", "-o", self.path("out.csv")
            )
            self.assertEqual([result.returncode, result.stdout], [1, ""], name)
            self.assertIn("the column %s has other cells than srcfind writes" % name, result.stderr)

    # --- Gaussians ---

    FIT = ["--fit", "--shapes", "free", "--negative", "--save", "gaussians"]

    def make_composites(self):
        """Images of cores in haloes, which are sources of several Gaussians, some of them
        negative."""
        random = np.random.default_rng(8)
        places = random.uniform((5, 5), (245, 325), (40, 2))
        self.crowd(
            [
                source
                for i, (x, y) in enumerate(places)
                for source in (
                    (x, y, 5, 40 * (-1) ** (i % 4 == 3)),
                    (x + 1, y, 1.8, 90 * (-1) ** (i % 4 == 3)),
                )
            ]
        )
        self.images = [
            self.cut("%d.fits" % i, top, left)
            for i, (top, left) in enumerate(itertools.product((0, 110, 190), (0, 120)))
        ]

    def read(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as stream:
            return rows_of(stream.read())

    def expected_gaussians(self, keep):
        """The merged table: the Gaussians of each image, with the numbers and flags of the merged
        sources."""
        catalogues, gaussians, merged, n_sources = [], [], [], 0
        for image in self.images:
            t.run(image, "-q", *self.FIT, "-o", self.path("one.csv"), check=True)
            catalogues.append(
                (self.read(self.path("one.csv")), (140, 130), 2.5e-3, fits.getheader(image))
            )
            gaussians.append(self.read(self.path("one.gaussians.csv")))
        duplicates = find_duplicates(catalogues)
        self.assertGreater(len(duplicates), 10)
        for image, (rows, _, _, _) in enumerate(catalogues):
            for number, row in enumerate(rows):
                is_duplicate = (image, number) in duplicates
                n_sources += keep or not is_duplicate
                own = [one for one in gaussians[image] if one["Source_id"] == row["Source_id"]]
                self.assertEqual(len(own), int(row["N_Gaus"]))
                for one in own if keep or not is_duplicate else []:
                    merged.append(
                        {
                            "Image": self.images[image],
                            "Date_obs": "",
                            **one,
                            "Source_id": str(n_sources),
                            "Gaus_id": str(len(merged) + 1),
                            "Flags": str(int(one["Flags"]) + DUPLICATE * is_duplicate),
                        }
                    )
        return merged

    def test_gaussians(self):
        """Those of the sources that stay, in all formats, beside the same merged catalogue."""
        self.make_composites()
        for keep in (False, True):
            expected = self.expected_gaussians(keep)
            words = [*self.images, *self.FIT[:-2], "--merge-duplicates", "keep" if keep else "drop"]
            catalogue = self.merge_images(*words)
            sources = rows_of(catalogue)
            self.assertEqual(len(expected), sum(int(row["N_Gaus"]) for row in sources))
            self.assertGreater(sum(row["S_Code"] == "M" for row in sources), 20)
            self.assertTrue(any(int(row["Flags"]) & NEGATIVE for row in expected))
            for name in (
                ("csv", "json", "fits")
                if t.SANITIZED
                else ("csv", "csv.gz", "json", "vot", "fits", "ecsv", "")
            ):
                with self.subTest(name, keep=keep):
                    path = self.path("m" + ("." + name) * (name != ""))
                    table = self.path("m.gaussians." + (name or "csv"))
                    t.run(*words, *self.FIT[-2:], "-q", "-o", self.out, "--merge", path, check=True)
                    if name in ("csv", "csv.gz", ""):
                        self.assertEqual(self.read(table), expected)
                        self.assertEqual(self.read(path), sources)
                    elif name == "json":
                        with open(table) as stream:
                            text = stream.read()
                        t.check_json(text)
                        document = json.loads(text)
                        self.assertEqual(
                            [entry["image"]["path"] for entry in document["images"]], self.images
                        )
                        self.assert_cells(Table(document["gaussians"]), expected)
                    else:
                        self.assert_cells(Table.read(table), expected)
                        self.assert_cells(Table.read(path), sources)
                    os.remove(table)

    def test_gaussians_of_catalogues_that_are_there(self):
        """The tables have the same bytes from one run, from shards, from catalogues that were
        there, and by srcfind-merge."""
        self.make_composites()
        for name in ("csv", "fits") if t.SANITIZED else ("csv", "fits", "ecsv", "json"):
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                merged, table = self.path("m." + name), self.path("m.gaussians." + name)
                words = [*self.images, *self.FIT, "-o", self.out, "-f", name]
                found = set()

                def take():
                    files = []
                    for path in (merged, table):
                        with open(path, "rb") as stream:
                            files.append(stream.read())
                        os.remove(path)
                    found.add(tuple(files))

                for shard in ("1/2", "2/2"):
                    t.run(*words, "--shard", shard, "-q", check=True)
                self.assertIn(
                    "6 skipped",
                    t.run(*words, "--merge", merged, "--skip-existing", check=True).stderr,
                )
                take()
                os.remove(os.path.join(self.out, "2.gaussians." + name))
                self.assertIn(
                    "5 skipped",
                    t.run(*words, "--merge", merged, "--skip-existing", check=True).stderr,
                )
                self.assertTrue(os.path.exists(os.path.join(self.out, "2.gaussians." + name)))
                take()
                if name != "csv":
                    result = merge(
                        *(os.path.join(self.out, one) for one in sorted(os.listdir(self.out))),
                        "-o",
                        merged,
                    )
                    self.assertRegex(
                        result.stderr,
                        r"\Asrcfind-merge: .*m.%s: .*\nsrcfind-merge: .*m.gaussians.%s: the Gaussians of these rows\n\Z"
                        % (name, name),
                    )
                    take()
                else:  # which tells neither the images nor their sizes
                    result = merge(
                        *(os.path.join(self.out, "%d.csv" % i) for i in range(6)),
                        "--radius",
                        "4.5",
                        "-q",
                        "-o",
                        merged,
                    )
                    self.assertEqual([result.returncode, result.stderr], [0, ""])
                    ids = [row["Source_id"] for row in self.read(merged)]
                    self.assertEqual(
                        [
                            row
                            for row, _ in itertools.groupby(
                                self.read(table), lambda row: row["Source_id"]
                            )
                        ],
                        ids,
                    )
                self.assertEqual(len(found), 1)

    def test_many_gaussians(self):
        """More than are read and written at a time."""
        options = ["-n", "1.2", "--fit", "--min-pixels", "1", "--save", "gaussians"]
        expected, n_sources = [], 0
        for image in self.images:
            t.run(image, "-q", *options, "-o", self.path("one.csv"), check=True)
            expected += [
                {
                    "Image": image,
                    "Date_obs": "",
                    **row,
                    "Source_id": str(int(row["Source_id"]) + n_sources),
                }
                for row in self.read(self.path("one.gaussians.csv"))
            ]
            n_sources += len(self.read(self.path("one.csv")))
        kept = []
        for keep in ("keep", "drop"):
            t.run(
                *self.images,
                "-q",
                *options,
                "-o",
                self.out,
                "--merge",
                self.merged,
                "--merge-duplicates",
                keep,
                check=True,
            )
            found = self.read(self.path("merged.gaussians.csv"))
            self.assertTrue(
                [row["Gaus_id"] for row in found] == [str(i + 1) for i in range(len(found))]
            )
            kept.append([{**row, "Flags": int(row["Flags"]), "Gaus_id": 0} for row in found])
        self.assertGreater(len(expected), 3000)
        is_alike = [
            {**row, "Flags": row["Flags"] & ~DUPLICATE}
            == {**one, "Flags": int(one["Flags"]), "Gaus_id": 0}
            for row, one in zip(kept[0], expected)
        ]
        self.assertTrue(all(is_alike) and len(is_alike) == len(expected) == len(kept[0]))
        stay = [row for row in kept[0] if not row["Flags"] & DUPLICATE]
        numbers = {
            number: str(i + 1)
            for i, number in enumerate(dict.fromkeys(row["Source_id"] for row in stay))
        }
        self.assertTrue(
            len(stay) < len(kept[0])
            and [{**row, "Source_id": numbers[row["Source_id"]]} for row in stay] == kept[1]
        )

    def test_gaussians_that_some_lack(self):
        """srcfind-merge leaves them out, as for standard output; tables of other sources are an
        error."""
        self.make_composites()
        t.run(*self.images, "-q", *self.FIT, "-o", self.out, "-f", "fits", check=True)
        files = [os.path.join(self.out, name) for name in sorted(os.listdir(self.out))]
        merged, table, one = (
            self.path("m.fits"),
            self.path("m.gaussians.fits"),
            os.path.join(self.out, "1.gaussians.fits"),
        )
        self.assertIn("6 maps or tables of --save are left out", merge(*files, "-o", "-").stderr)
        shutil.copy(os.path.join(self.out, "2.gaussians.fits"), one)
        for result in (
            merge(*files, "-o", merged),
            t.run(
                *self.images,
                *self.FIT,
                "-q",
                "-o",
                self.out,
                "-f",
                "fits",
                "--skip-existing",
                "--merge",
                self.path("n.csv"),
            ),
        ):
            self.assertEqual(result.returncode, 1)
            self.assertIn(
                "%s: these are not the Gaussians of the sources in the catalogue beside it" % one,
                result.stderr,
            )
        self.assertEqual([os.path.exists(merged), os.path.exists(table)], [False, False])
        os.remove(one)
        files.remove(one)
        said = merge(*files, "-o", merged).stderr
        self.assertIn("5 maps or tables of --save are left out", said)
        self.assertIn(
            "%s: no table of its Gaussians beside it, but 5 of 6 catalogues have one"
            % os.path.join(self.out, "1.fits"),
            said,
        )
        self.assertEqual([os.path.exists(merged), os.path.exists(table)], [True, False])
        for name in "02345":
            os.remove(os.path.join(self.out, name + ".gaussians.fits"))
        self.assertNotIn(
            "Gaussians",
            merge(
                *(os.path.join(self.out, name + ".fits") for name in "012345"), "-o", merged
            ).stderr,
        )

    def test_gaussians_that_cannot_be_written(self):
        """Wrong usage where there is no name, or something else has it; where the catalogue cannot
        be written, no table stays."""
        words = [*self.images[:2], "-q", "--fit", "--save", "gaussians", "-o", self.out]
        foreign = self.path("m.gaussians.fits")
        shutil.copy(self.images[0], foreign)
        for arguments, message in (
            (
                ["-f", "fits", "--merge", "-"],
                "--merge - with --save gaussians: the merged table of Gaussians is written beside the merged catalogue",
            ),
            (["--merge", "/dev/null"], "--merge /dev/null with --save gaussians"),
            (
                ["--merge", self.path("m.fits")],
                "m.gaussians.fits: the merged table of Gaussians would replace this file",
            ),
            (["--merge", os.path.join(self.out, "0.gaussians.csv")], "would both write"),
            (["--merge", self.path("out/0.csv")], "would both write"),
            (
                [foreign, "--merge", self.path("m.fits")],
                "the merged table of Gaussians would replace an image",
            ),
        ):
            with self.subTest(arguments):
                result = t.run(*words[:-2], *arguments, *words[-2:])
                self.assertEqual([result.returncode, result.stdout], [2, ""])
                self.assertIn(message, result.stderr)
        with open(foreign, "rb") as stream, open(self.images[0], "rb") as image:
            self.assertEqual(stream.read(), image.read())
        t.run(*words, "-f", "fits", check=True)
        result = merge(
            os.path.join(self.out, "0.fits"),
            os.path.join(self.out, "1.fits"),
            "-o",
            self.path("m.fits"),
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn(
            "m.gaussians.fits: the merged table of Gaussians would replace this file", result.stderr
        )
        os.symlink(os.path.join(self.out, "0.gaussians.fits"), self.path("n.gaussians.fits"))
        result = merge(
            os.path.join(self.out, "0.fits"),
            os.path.join(self.out, "1.fits"),
            "-o",
            self.path("n.fits"),
        )
        self.assertIn(
            "n.gaussians.fits: the merged catalogue would replace one of the merged files",
            result.stderr,
        )
        os.symlink(self.path("none/a.csv"), self.path("link.csv"))
        result = t.run(*words, "--merge", self.path("link.csv"))
        self.assertEqual(
            [result.returncode, os.path.exists(self.path("link.gaussians.csv"))], [1, False]
        )
        self.assertRegex(result.stderr, "link.csv: .*No such file or directory")

    # --- runs that go wrong ---

    def test_failing_image(self):
        """It is left out."""
        broken = self.path("broken.fits")
        with open(broken, "w") as stream:
            stream.write("no image")
        result = t.run(*self.images[:3], broken, *self.images[3:], "--merge", self.merged)
        self.assertEqual(result.returncode, 1)
        self.assertIn("%s: " % broken, result.stderr)
        self.assertIn(" sources of 6 images, ", result.stderr)
        with open(self.merged) as stream:
            self.assertEqual(rows_of(stream.read()), self.expected(self.images)[0])

    def test_all_images_fail(self):
        """The merged catalogue that was there stays."""
        text = self.merge_images(*self.images)
        result = t.run(
            self.path("none.fits"), self.path("nor this.fits"), "-q", "--merge", self.merged
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("merged.csv: not written, since no image has a catalogue", result.stderr)
        with open(self.merged) as stream:
            self.assertEqual(stream.read(), text)

    def test_images_that_do_not_go_together(self):
        """The merged catalogue that was there stays."""
        text = self.merge_images(*self.images)
        for cards, what in (
            ({"BUNIT": "mJy/beam"}, "units of maps"),
            ({"BUNIT": "K"}, "units of fluxes"),
            ({"RADESYS": "FK5"}, "frames"),
            ({"CTYPE1": "GLON-SIN", "CTYPE2": "GLAT-SIN"}, "coordinates"),
        ):
            other = self.cut("other.fits", 0, 0, **cards)
            result = t.run(*self.images, other, "-q", "-o", self.out, "--merge", self.merged)
            self.assertEqual(result.returncode, 1)
            self.assertIn(
                "not written, since %s differ: %s has " % (what, self.images[0]), result.stderr
            )
            self.assertIn("%s: " % self.merged, result.stderr)
            self.assertEqual(len(os.listdir(self.out)), 7)
            with open(self.merged) as stream:
                self.assertEqual(stream.read(), text)

    def test_all_that_differ_are_named(self):
        """However a unit is written; one line has them all."""
        same = [
            self.cut("s%d.fits" % i, 0, 0, BUNIT=unit)
            for i, unit in enumerate(("JY/BEAM", "Jy beam-1", "jy/beam"))
        ]
        self.merge_images(*self.images, *same)
        without_beam = [
            self.cut("w%d.fits" % i, 0, 0, BUNIT=unit, BMAJ=None, BMIN=None)
            for i, unit in enumerate(("Jy/beam", "JY/BEAM"))
        ]
        self.merge_images(*without_beam)
        others = [
            self.cut("o%d.fits" % i, 0, 0, BUNIT=unit)
            for i, unit in enumerate(("K", "mJy/beam", None, "K"))
        ]
        result = t.run(*self.images[:1], *others, *same, "-q", "-n", "9", "--merge", self.merged)
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "units of fluxes differ: %s has Jy, and %s K.beam (and 2 more: %s, %s): merge only images that agree"
            % (self.images[0], others[0], others[2], others[3]),
            result.stderr,
        )
        for image in (others[0], *others[2:]):
            os.remove(image)
        result = t.run(*self.images[:1], others[1], *same, "-q", "-n", "9", "--merge", self.merged)
        self.assertIn(
            "units of maps differ: %s has Jy/beam, and %s mJy/beam: merge only images that agree"
            % (self.images[0], others[1]),
            result.stderr,
        )

    def test_fail_fast(self):
        """Images without their turn: no merged catalogue."""
        result = t.run(
            self.path("none.fits"),
            *self.images,
            "-q",
            "--threads",
            "1",
            "--fail-fast",
            "--merge",
            self.merged,
        )
        self.assertEqual([result.returncode, os.path.exists(self.merged)], [1, False])
        self.assertIn(
            "merged.csv: not written, since the run ended before all images were searched",
            result.stderr,
        )

    def test_full_disk(self):
        result = t.run(*self.images, "-q", "--merge", "/dev/full")
        self.assertEqual([result.returncode, result.stdout], [1, ""])
        self.assertRegex(result.stderr, r"\Asrcfind: /dev/full: .*No space left on device\n")

    def test_directory_that_is_not_there(self):
        for result in (
            t.run(*self.images, "--merge", "no/a.csv"),
            merge(self.images[0], "-o", "no/a.csv"),
        ):
            self.assertEqual([result.returncode, result.stdout], [1, ""])
            self.assertIn(
                ": no/a.csv: the merged catalogue cannot be written: there is no such directory",
                result.stderr,
            )
        for result in (
            t.run(*self.images, "--merge", self.directory.name),
            merge(self.images[0], "-o", self.directory.name),
        ):
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")], [1, "", 1]
            )
            self.assertIn(
                "the merged catalogue cannot be written: this is a directory", result.stderr
            )

    def test_directory_that_the_run_makes(self):
        """Merged catalogue and report may stand in it, or above it, however both are written."""
        os.symlink(self.directory.name, self.path("link"))
        for out, place in (
            ("new/", "new"),
            ("new", "./new/"),
            ("new/a/b", "new"),
            ("new//a/", "new/./a"),
            ("new", self.path("new")),
            (self.path("new/a"), "new/a"),
            ("link/new", "new"),
            ("./new/.", "link/new"),
        ):
            with self.subTest(out, place=place):
                result = t.run(
                    *self.images[:2],
                    "-q",
                    "-o",
                    out,
                    "--merge",
                    place + "/all.csv",
                    "--report",
                    place + "/r.csv",
                    cwd=self.directory.name,
                )
                self.assertEqual([result.returncode, result.stderr], [0, ""])
                self.assertLessEqual({"all.csv", "r.csv"}, set(os.listdir(self.path(place))))
                self.assertLessEqual({"0.csv", "1.csv"}, set(os.listdir(self.path(out))))
                shutil.rmtree(self.path("new"))

    def test_no_directory_is_left(self):
        """Where something else is wrong, -o makes no directory."""
        with open(self.path("text"), "w") as stream:
            stream.write("text")
        before = sorted(os.listdir(self.directory.name))
        for arguments, status in (
            (["--merge", "none/all.csv"], 1),
            (["--merge", "new/b/all.csv"], 1),
            (["--merge", "newer/all.csv"], 1),
            (["--merge", "ne/all.csv"], 1),
            (["--merge", "new/all.reg"], 2),
            (["--report", "none/r.csv"], 1),
            (["--report", "text"], 2),
            (["--report", "-"], 2),
            (["--report", "/dev/null"], 2),
            (["--at", "none.csv"], 2),
            (["--merge", "new/all.csv", "--report", "new/all.csv"], 2),
            (["--merge", "text/all.csv"], 1),
            (["--merge", "new"], 1),
            (["--merge", "./new"], 1),
            (["--merge", "other/"], 1),
            (["--report", "new/"], 1),
        ):
            with self.subTest(arguments):
                result = t.run(*self.images[:2], "-o", "new/", *arguments, cwd=self.directory.name)
                self.assertEqual(
                    [result.returncode, result.stdout, result.stderr.count("\n")], [status, "", 1]
                )
                self.assertEqual(sorted(os.listdir(self.directory.name)), before)

    def test_interrupted(self):
        """A signal, while the run waits for a reader of the last catalogue: no merged catalogue and
        no other file."""
        os.mkdir(self.out)
        os.mkfifo(os.path.join(self.out, "5.csv"))
        with t.running(
            *self.images, "-o", self.out, "--merge", self.merged, "--threads", "1"
        ) as process:
            for line in process.stderr:
                if line.startswith("srcfind: %s: " % self.images[4]):
                    break
            process.send_signal(signal.SIGTERM)
            process.stderr.read()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(
            [
                name
                for name in os.listdir(self.directory.name)
                if "merge" in name or name.startswith(".")
            ],
            [],
        )

    def test_interrupted_while_nobody_reads(self):
        """A pipe may be waited for without end: signals end the wait."""
        os.mkfifo(self.path("pipe"))
        t.run(*self.images, "-q", "-o", self.out, "-f", "fits", check=True)
        catalogues = [os.path.join(self.out, "%d.fits" % i) for i in range(6)]
        for command in (
            [t.COMMAND, *self.images, "-q", "--merge", self.path("pipe")],
            [MERGE, *catalogues, "-q", "-o", self.path("pipe")],
        ):
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                try:
                    process.wait(2)
                except subprocess.TimeoutExpired:  # it waits for a reader
                    process.terminate()
                try:
                    self.assertEqual(process.wait(t.HANG), -signal.SIGTERM)
                finally:
                    process.kill()

    def test_conflicts(self):
        self.merge_images(self.images[0])
        for arguments, message in (
            ([self.images[0], "--merge", self.images[0]], "would replace"),
            ([self.images[0], "-o", self.merged, "--merge", self.merged], "merged catalogue"),
            (
                [
                    self.images[0],
                    "-o",
                    self.out + "/",
                    "--report",
                    self.merged,
                    "--merge",
                    self.merged,
                ],
                "merged catalogue",
            ),
            ([*self.images[:2], "--merge", self.images[2]], "which is no catalogue of srcfind"),
            ([*self.images, "--merge", "a.reg"], "no format of merged catalogues has this suffix"),
            ([*self.images, "--merge", ""], "--merge"),
            ([self.images[0], self.images[0], "--merge", "a.csv"], "0.fits is given twice"),
            (
                [self.images[1], self.images[0], self.images[1], "--report", "a.csv"],
                "1.fits is given twice",
            ),
            ([*self.images, "--merge-duplicates", "keep", "-o", self.out], "--merge"),
            ([self.images[0], "-o", "-", "--merge", "-"], "leave it out"),
            ([*self.images, "--merge", "a.csv", "--compare-cpu"], "--merge"),
            ([self.images[0], "--merge", "a.csv", "--bench"], "--merge"),
            ([*self.images, "--merge", "a.csv", "--merge-duplicates", "no"], "drop or keep"),
        ):
            with self.subTest(arguments):
                result = t.run(*arguments, cwd=self.directory.name)
                self.assertEqual([result.returncode, result.stdout], [2, ""], result.stderr)
                self.assertIn(message, result.stderr)
                self.assertFalse(os.path.exists(self.path("a.csv")))

    def test_faults(self):
        """Any one call may fail: the merged catalogue is whole or not there, with one line of
        error."""
        if not FAULTY:
            self.skipTest("FAULTY_SRCFIND is not set")
        place, out, mark = self.path("place"), self.path("catalogues"), self.path("mark")
        merged = os.path.join(place, "m.csv")
        os.mkdir(place)
        t.run(self.images[0], "-q", "-o", out + "/", "-f", "fits", check=True)
        arguments = [
            FAULTY,
            *self.images[:2],
            "-q",
            "-o",
            out,
            "-f",
            "fits",
            "--skip-existing",
            "--cpu",
            "--threads",
            "1",
            "--merge",
            merged,
        ]
        whole = rows_of(self.merge_images(*self.images[:2]))
        parts = [whole, [], *(rows_of(self.merge_images(image)) for image in self.images[:2])]

        def run(fault):
            for path in (mark, merged, os.path.join(out, "1.fits")):
                os.path.exists(path) and os.remove(path)
            return subprocess.run(
                arguments,
                capture_output=True,
                text=True,
                timeout=t.HANG,
                env={**os.environ, "FAULT": fault, "FAULT_MARK": mark},
            )

        faults, n_failed = [], 0
        for kind in (
            "memory",
            "read",
            "write",
            "open",
            "lock",
            "thread",
            "rename",
            "flush",
            "close",
        ):
            run("where:" + kind)
            faults += ["%s:%d" % (kind, n) for n in t.places(mark)]
        for fault in faults:
            result = run(fault)
            with self.subTest(fault, error=result.stderr):
                self.assertIn(result.returncode, (0, 1))
                self.assertIn(os.listdir(place), (["m.csv"], []))
                self.assertEqual([name for name in os.listdir(out) if name.startswith(".")], [])
                if result.returncode == 0:
                    self.assertEqual(result.stderr, "")
                if os.path.exists(merged):
                    with open(merged) as stream:
                        found = rows_of(stream.read())
                    self.assertIn(found, parts[:1] if result.returncode == 0 else parts)
                else:
                    self.assertEqual(result.returncode, 1)
                n_failed += result.returncode == 1
        self.assertGreater(n_failed, 100)


if __name__ == "__main__":
    t.main()

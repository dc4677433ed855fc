"""--scales: emission wider than the beam, found on smoothed residuals. Known wide sources; each
column of a row, and all rows of a scale, against a smoothing by NumPy; negative sources, maps,
formats and merged catalogues; the same bytes however the work is done; odd images, odd values and
odd lists."""
import csv
import json
import math
import os
import subprocess

import jsonschema
import numpy as np
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS
from PIL import Image
from scipy import ndimage

import oracle
import srcfind_test as t
import sky  # which that finds
from test_merge import find_duplicates
from test_model import Gaussian

MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
FAULTY = os.environ.get("FAULTY_SRCFIND", "")
EDGE, NEGATIVE, NOT_FITTED, BEAM_SHAPED, DUPLICATE = 1, 32, 64, 128, 256
BEAM = (5.0, 4.0, 30.0)  # pixels, degrees
ROUND = math.sqrt(BEAM[0] * BEAM[1])
LEAST = 0.9  # share of a kernel that is on pixels
LOCAL = ("--local", "-i", "3")


def rows_of(text):
    """The cells of a CSV catalogue, as they are written."""
    return list(csv.DictReader(text.splitlines()))


# columns of a source that a source of a scale has joined, and that may change
JOINED = {"Total_flux", "E_Total_flux", "S_Code", "N_Gaus", "Flags"}


def of_scale(rows, *scales):
    return [row for row in rows if float(row["Scale"]) in scales]


def near(rows, x, y):
    return min(rows, key=lambda row: math.hypot(row["Xposn"] - x, row["Yposn"] - y))


def effective(k, times=1):
    """FWHM of both axes of the beam, smoothed so many times, in pixels."""
    return [math.sqrt(axis * axis + times * (k * ROUND) ** 2) for axis in BEAM[:2]]


def area(axes):
    return math.pi * axes[0] * axes[1] / (4 * math.log(2))


def no_artefact(row, flags=0):
    """Hole and Flags, with these more, without what a search of the negated file does not know: the
    positive sources whose artefacts negative ones may be."""
    return {"Hole": "", "Flags": str((int(row["Flags"]) & ~2048) + flags)}


class Samples:
    """The smoothed image of a scale, by NumPy: samples are `step` pixels apart, and in the middle of
    the image; `x` and `y` are the pixels of the first one."""

    def __init__(self, residual, k):
        self.k = k
        self.unit = math.prod(effective(k)) / (BEAM[0] * BEAM[1])
        wide = math.sqrt(math.prod(effective(k)))
        self.step = max(1, int(wide / 5 * (1 + 1e-6)))
        shorter = -(-min(residual.shape) // self.step)
        self.box = int(min(15 * wide / self.step, shorter // 2)) // 3 * 3
        (rows, self.y), (columns, self.x) = map(self.kernels, residual.shape)
        seen = np.isfinite(residual)
        value, weight = (
            rows @ image @ columns.T for image in (np.where(seen, residual, 0), seen.astype(float))
        )
        with np.errstate(invalid="ignore"):
            smooth = np.where(self.sees(seen) & (weight >= LEAST), value / weight, np.nan)
        self.values = self.unit * smooth  # per effective beam

    def kernels(self, n):
        """The values of the kernel at n pixels of an axis, for each sample, and the pixel of the
        first one."""
        multiple = self.box // 3
        count = -(-n // self.step)
        count = -(-count // multiple) * multiple
        first = (n - 1 - self.step * (count - 1)) / 2
        sigma = self.k * ROUND / sky.FWHM
        d = np.arange(n) - (first + self.step * np.arange(count))[:, None]
        values = np.where(abs(d) <= math.ceil(4 * sigma) + 0.5, np.exp(-0.5 * (d / sigma) ** 2), 0)
        return values / (np.sqrt(2 * math.pi) * sigma), first

    def sees(self, seen):
        """Whether all pixels in the middle of each sample are there, and not blank."""
        ok = np.ones([len(self.kernels(n)[0]) for n in seen.shape], bool)
        for up in (np.floor, np.ceil):
            for right in (np.floor, np.ceil):
                y = up(self.y + self.step * np.arange(ok.shape[0])).astype(int)
                x = right(self.x + self.step * np.arange(ok.shape[1])).astype(int)
                inside = [(0 <= a) & (a < n) for a, n in zip((y, x), seen.shape)]
                there = seen[np.ix_(*(np.where(i, a, 0) for i, a in zip(inside, (y, x))))]
                ok &= there & np.outer(*inside)
        return ok

    def at(self, row):
        """The sample of a row's peak."""
        places = [
            (row[name] - math.floor(first)) / self.step
            for name, first in (("Ypeak", self.y), ("Xpeak", self.x))
        ]
        assert all(place == int(place) for place in places), places
        return tuple(map(int, places))

    def to_pixel(self, axis, sample):
        return self.step * sample + getattr(self, axis.lower())

    def extent(self, axis, low, high, n):
        """The pixels of an axis of n that samples stand for."""
        begin = math.floor(self.to_pixel(axis, 0) - (self.step - 1) / 2)
        return max(self.step * low + begin, 0), min(self.step * (high + 1) + begin, n) - 1

    def is_source(self, island, ratios, rms, before):
        """Whether an island is a source of its own: its flux is certain, or it is high, or wide and
        beside no source. ratios: (value - background) / rms of its samples. before: the rows before.
        """
        n, snr = len(ratios), ratios.max()
        error = rms * self.error_of_box(
            n, *(island[axis + "_max"] - island[axis + "_min"] + 1 for axis in "XY")
        )
        point = area(effective(self.k)) / self.step**2
        is_wide = n > point * max(2 * math.log(snr / 3), 1)
        is_certain = island["Pixel_sum"] > 6 * error or snr > 1.6 * 5
        return is_certain or is_wide and not self.is_beside(island, before)

    def error_of_box(self, n, width, height):
        """The noise of the sum of n samples, in a box of these sides: of the sum over all pairs, with
        the noise of an image that was smoothed twice."""
        share = math.sqrt(n / (width * height))
        sigma = math.sqrt(math.prod(effective(self.k, 2))) / math.sqrt(8 * math.log(2)) / self.step
        sums = [
            sum(
                (share * side - abs(lag)) * math.exp(-0.5 * (lag / sigma) ** 2)
                for lag in range(-int(share * side), int(share * side) + 1)
            )
            for side in (width, height)
        ]
        return math.sqrt(math.prod(sums))

    def is_beside(self, island, before):
        """Whether an island has its peak within one and a half beams around a row's pixels."""
        reach = 1.5 * ROUND
        return any(
            all(
                row[axis + "_min"] - reach
                <= self.to_pixel(axis, island[axis + "peak"])
                <= row[axis + "_max"] + reach
                for axis in "XY"
            )
            for row in before
            if row["N_pix"] is not None
        )


class Scales(t.Case):
    # --- skies ---

    def sky(self, *options, side=400, name="sky.fits"):
        """Points and wide sources, whose noise has the beam."""
        path = self.path(name)
        sky.make(
            [str(side), path, "--beam=%g,%g,%g" % BEAM, "--density", "300", "--wide", "8", *options]
        )
        return path

    def sky_of_all_scales(self):
        """A sky that has sources of all scales."""
        for seed in range(1, 60):
            path = self.sky("--wide", "45", "--seed", str(seed), side=403)
            if {row["Scale"] for row in self.json(path, *LOCAL, "--scales")} == {0, 2, 4, 8}:
                return path
        raise AssertionError("no sky has sources of all scales")

    def wide(self, sources, side=300, seed=1, name="wide.fits", **cards):
        """A sky of Gaussians alone: rows of x, y, peak in rms, and FWHM of both axes and angle."""
        a = sky.arguments([str(side), "x.fits", "--beam=%g,%g,%g" % BEAM])
        image = sky.noise(a, np.random.default_rng(seed))
        columns = [
            np.array(column, float)
            for column in zip(*((*s[:3], 1, *sky.covariance(s[3:])) for s in sources))
        ]
        sky.add_sources(image, columns)
        return self.write(name, (image * sky.NOISE).astype(np.float32), self.header(side, **cards))

    def header(self, side, **cards):
        header = fits.Header(
            sky.image_cards(
                side, -32, (BEAM[0] * sky.CELL, BEAM[1] * sky.CELL, BEAM[2]), sky.CELL, sky.CENTRE
            )[5:]
        )
        header.update(cards)
        return header

    def change(self, path, name, change, **cards):
        """The image of a file, changed."""
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        header.update(cards)
        return self.write(name, change(image), header)

    # --- runs ---

    def text(self, path, *options, environment=None):
        result = t.run(path, "-q", *options, env={**os.environ, **(environment or {})})
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return result.stdout

    def csv(self, path, *options):
        return rows_of(self.text(path, *options))

    def json(self, path, *options):
        return t.find(path, *options)["sources"]

    def save(self, path, names, *options):
        """The maps of a search, and its rows, with numbers."""
        t.run(path, "-q", "-o", self.path("c.csv"), "--save", names, *options, check=True)
        maps = {
            name: np.squeeze(fits.getdata(self.path("c.%s.fits" % name))).astype(float)
            for name in names.split(",")
        }
        return maps, t.read_csv(self.path("c.csv"))

    def residual(self, path, *options):
        """The image less its Gaussians: with the background."""
        maps, rows = self.save(path, "residual,background", *options)
        return maps["residual"] + maps["background"], rows

    def merge(self, *arguments):
        result = subprocess.run([MERGE, "-q", *arguments], capture_output=True, text=True)
        self.assertEqual([result.returncode, result.stderr], [0, ""])

    def assert_finite(self, rows):
        self.assertTrue(
            all(
                math.isfinite(value)
                for row in rows
                for value in row.values()
                if isinstance(value, float)
            )
        )


class Sources(Scales):
    """What is found, and what its row says."""

    def test_a_wide_source_that_local_noise_loses(self):
        """It is found with its flux, position and size."""
        x, y, peak, shape = 152.3, 148.6, 2.0, (42.0, 36.0, 120.0)
        path = self.wide([(x, y, peak, *shape), (60, 60, 40, *BEAM)])
        flux = peak * sky.NOISE * shape[0] * shape[1] / (BEAM[0] * BEAM[1])
        self.assertLess(
            sum(
                row["Total_flux"]
                for row in self.json(path, *LOCAL, "--fit")
                if math.hypot(row["Xposn"] - x, row["Yposn"] - y) < 20
            ),
            0.2 * flux,
        )
        row = near(of_scale(self.json(path, *LOCAL, "--scales"), 2, 4, 8), x, y)
        # nearly
        size = [sky.CELL * math.sqrt(value * value - ROUND * ROUND) for value in shape[:2]]
        for name, value in (
            ("Xposn", x),
            ("Yposn", y),
            ("Total_flux", flux),
            ("DC_Maj", size[0]),
            ("DC_Min", size[1]),
        ):
            self.assertLess(abs(row[name] - value), 4 * row["E_" + name], name)
            self.assertLess(row["E_" + name], 0.25 * value)
        self.assertLess(math.hypot(row["E_Xposn"], row["E_Yposn"]), 4)

    def test_rows_of_the_image(self):
        """They are those without --scales, but for what joins them; numbers of sources and islands
        go on."""
        path, n_joined = self.sky("--wide", "30"), 0
        for options in (
            LOCAL,
            ("-i", "3", "--group", "0"),
            ("--rms-box", "60,20", "-i", "2.5", "--shapes", "free"),
            ("--rms", "1e-4", "--contrast", "2"),
        ):
            text, plain = self.text(path, "--scales", *options), self.text(path, "--fit", *options)
            rows, before = rows_of(text), rows_of(plain)
            lines = [line.split(",") for line in text.splitlines()]
            names = plain.split("\n")[0].split(",")
            self.assertEqual(lines[0], names[:2] + ["Scale"] + names[2:])
            for row, alone in zip(rows, before):
                self.assertEqual(row["Scale"], "0")
                other = {name for name in alone if row[name] != alone[name]}
                if other:
                    self.assertLessEqual(other, JOINED)
                    self.assertEqual(row["S_Code"], "M")
                    self.assertGreater(int(row["N_Gaus"]), int(alone["N_Gaus"]))
                    self.assertGreater(float(row["Total_flux"]), float(alone["Total_flux"]))
                    self.assertGreater(float(row["E_Total_flux"]), float(alone["E_Total_flux"]))
                    n_joined += 1
            later = rows[len(before) :]
            self.assertGreater(len(later), 2)
            self.assertEqual(
                [float(row["Scale"]) for row in later], sorted(float(row["Scale"]) for row in later)
            )
            self.assertLessEqual({row["Scale"] for row in later}, {"2", "4", "8"})
            self.assertEqual(
                [row["Source_id"] for row in rows], [str(n + 1) for n in range(len(rows))]
            )
            islands = [int(row["Isl_id"]) for row in rows]
            self.assertEqual([*dict.fromkeys(islands)], [*range(1, islands[-1] + 1)])
            self.assertGreater(int(later[0]["Isl_id"]), max(int(row["Isl_id"]) for row in before))
        self.assertGreater(n_joined, 1)

    def test_doubts_are_not_found_again(self):
        """What a scale has found, but is not certain, has no row, and is no longer there for the
        next scale."""
        path = self.sky("--density", "1500", "--wide", "0", "--seed", "2")
        for scales, n in (("--scales=2", 1), ("--scales=1.5,2", 0)):
            found = [
                row
                for row in of_scale(self.json(path, *LOCAL, scales), 1.5, 2)
                if math.hypot(row["Xposn"] - 324, row["Yposn"] - 338) < 6
            ]
            self.assertEqual(len(found), n)

    def test_points_of_no_flux(self):
        """A source of a scale that no fit tells from a point has more flux than its error."""
        for seed in ("2", "8", "31"):  # their islands have such ones
            path = self.sky("--wide", "45", "--seed", seed)
            found = of_scale(self.json(path, *LOCAL, "--scales"), 2, 4, 8)
            self.assertGreater(len(found), 2)
            for row in found:
                if row["Flags"] & BEAM_SHAPED:
                    self.assertGreater(row["Total_flux"], row["E_Total_flux"])

    def test_columns(self):
        """Maj, Min, PA are DC with the beam; Peak_flux is that of the Gaussian in the image, and
        its error in proportion."""
        n_seen, header = 0, self.header(400)
        wcs = WCS(header)
        for seed in ("1", "2"):
            rows = self.json(self.sky("--seed", seed, "--wide", "20"), *LOCAL, "--scales")
            for row in of_scale(rows, 2, 4, 8):
                xx, xy, yy = np.add(
                    sky.covariance(
                        [row["DC_" + name] / sky.CELL for name in ("Maj", "Min")] + [row["DC_PA"]]
                    ),
                    sky.covariance(BEAM),
                )
                major, minor, angle = sky.axes(xx, xy, yy)
                if not row["Flags"] & NOT_FITTED and row["N_Gaus"] == 1:
                    self.assertAlmostEqual(row["Maj"] / sky.CELL / major, 1, delta=1e-5)
                    self.assertAlmostEqual(row["Min"] / sky.CELL / minor, 1, delta=1e-5)
                    self.assertLess(abs((row["PA"] - angle + 90) % 180 - 90), 0.1)
                    peak = (
                        row["Total_flux"]
                        * BEAM[0]
                        * BEAM[1]
                        * sky.CELL**2
                        / (row["Maj"] * row["Min"])
                    )
                    self.assertAlmostEqual(row["Peak_flux"] / peak, 1, delta=1e-5)
                    self.assertGreater(row["DC_Min"], 0.4999 * row["Scale"] * ROUND * sky.CELL)
                    self.assertAlmostEqual(
                        row["E_Peak_flux"]
                        / row["E_Total_flux"]
                        / (row["Peak_flux"] / row["Total_flux"]),
                        1,
                        delta=1e-9,
                    )
                    n_seen += 1
                x, y = wcs.all_world2pix(row["RA"], row["DEC"], 0)
                self.assertLess(math.hypot(x - row["Xposn"], y - row["Yposn"]), 1e-5)
                for axis in "XY":
                    self.assertTrue(
                        0 <= row[axis + "_min"] <= row[axis + "peak"] <= row[axis + "_max"] < 400
                    )
                self.assertLessEqual(
                    row["N_pix"],
                    (row["X_max"] - row["X_min"] + 1) * (row["Y_max"] - row["Y_min"] + 1),
                )
                self.assertGreaterEqual(row["Pix_SNR"], 5)
        self.assertGreater(n_seen, 15)

    def oracle_of(self, path, k):
        """The samples of a scale, which is the first one, and what a search of them as an image
        finds. The rows before the scale."""
        residual, rows = self.residual(path, *LOCAL, "--fit")
        samples = Samples(residual, k)
        header = self.header(len(residual))
        for axis, first in (("1", samples.x), ("2", samples.y)):
            header["CRPIX" + axis] = (header["CRPIX" + axis] - 1 - first) / samples.step + 1
            header["CDELT" + axis] *= samples.step
        header["BMAJ"], header["BMIN"] = (sky.CELL * axis for axis in effective(k))
        values = samples.values.astype(np.float32)
        smooth = self.write("smooth.fits", values, header)
        del header["BMAJ"], header["BMIN"]  # so that nothing is left out of the boxes
        box = "%d,%d" % (samples.box, samples.box // 3)
        self.save(self.write("bare.fits", values, header), "background,rms", "--rms-box", box)
        noise = [
            "--rms-map",
            self.path("c.rms.fits"),
            "--background-map",
            self.path("c.background.fits"),
        ]
        return (
            samples,
            rows,
            self.json(smooth, "-i", "3", *noise),
            self.json(smooth, "-i", "3", *noise, "--fit"),
        )

    def check_islands(self, rows, samples, islands, before, side):
        """Rows of a scale stand for those islands of the samples that are sources of their own.
        before: the rows before the scale. side: of the image. Returns how many islands are
        not."""
        found = {}
        for row in rows:
            found.setdefault(row["Isl_id"], []).append(row)
        nodes = oracle.noise_nodes(samples.values.astype(np.float32), samples.box, samples.box // 3)
        mean, rms = (
            oracle.interpolate(nodes[:, :, i], samples.values.shape, samples.box // 3)
            for i in range(2)
        )
        ratio = (samples.values - mean) / rms
        labels, _ = ndimage.label(ratio > 3)
        sources = [
            island
            for island in islands
            if samples.is_source(
                island,
                ratio[labels == labels[island["Ypeak"], island["Xpeak"]]],
                rms[island["Ypeak"], island["Xpeak"]],
                before,
            )
        ]
        boxes = [
            [samples.extent(axis, i[axis + "_min"], i[axis + "_max"], side) for axis in "XY"]
            for i in sources
        ]
        n_whole = 0
        for parts in found.values():
            box = [
                (min(row[axis + "_min"] for row in parts), max(row[axis + "_max"] for row in parts))
                for axis in "XY"
            ]
            if box not in boxes:
                continue
            n_whole, island = n_whole + 1, sources[boxes.index(box)]
            self.assertLessEqual(
                abs(sum(row["N_pix"] for row in parts) / samples.step**2 - island["N_pix"]),
                0.005 * island["N_pix"],
            )
            self.assertAlmostEqual(
                sum(row["Pixel_sum"] for row in parts) / island["Pixel_sum"], 1, delta=1e-3
            )
            self.assertAlmostEqual(
                parts[0]["Isl_Total_flux"] / island["Isl_Total_flux"], 1, delta=1e-3
            )
            at = island["Ypeak"], island["Xpeak"]
            row = max(parts, key=lambda row: samples.values[samples.at(row)])
            self.assertAlmostEqual(
                samples.values[samples.at(row)] / samples.values[at], 1, delta=1e-3
            )
            at = samples.at(row)
            self.assertAlmostEqual(row["Isl_rms"] / rms[at], 1, delta=1e-3)
            self.assertLess(abs(row["Isl_mean"] - mean[at]), 1e-3 * rms[at])
            self.assertAlmostEqual(
                max(row["Pix_SNR"] for row in parts) / ratio[labels == labels[at]].max(),
                1,
                delta=1e-3,
            )
        # the fits of the others, or of a part of them, are uncertain points
        self.assertGreaterEqual(n_whole, 0.85 * len(sources))
        self.assertGreaterEqual(n_whole, 0.98 * len(found) - 1)
        return len(islands) - len(sources)

    def with_holes(self, image):
        """A border, a hole and single pixels that are blank."""
        random = np.random.default_rng(6)
        image[:30] = image[300:330, 320:400] = np.nan
        image[random.random(image.shape) < 0.02] = np.nan
        return image

    def test_against_smoothing_by_numpy(self):
        """Noise, extents and sums are those of a residual that NumPy smoothed, and fits those of a
        search of its samples."""
        whole, n_rows, n_same, n_none = self.sky("--wide", "60", "--seed", "3", side=700), 0, 0, 0
        ratios = []
        holes = self.change(whole, "holes.fits", self.with_holes)
        for path in (holes,) if t.SANITIZED else (whole, holes):
            for k in (1.5, 3, 8):
                rows = of_scale(self.json(path, *LOCAL, "--scales=%g" % k), k)
                samples, before, islands, fitted = self.oracle_of(path, k)
                n_none += self.check_islands(rows, samples, islands, before, 700)
                n, more = self.check_fits(rows, samples, fitted)
                n_same, ratios = n_same + n, ratios + more
                n_rows += len(rows)
        print("%d of %d rows have the fits of a search of the samples" % (n_same, n_rows))
        self.assertGreaterEqual(n_same, 0.9 * n_rows)
        self.assertGreater(n_rows, 20)
        self.assertGreater(n_none, 2)
        self.assertTrue(0.9 < np.median(ratios) < 1.1)

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    def test_bands(self):
        """An image that is smoothed in several parts."""
        path = self.sky("--wide", "300", "--density", "100", side=2100)
        samples, before, islands, _ = self.oracle_of(path, 8)
        text = self.text(path, *LOCAL, "--scales=8", "-j", "1")
        self.assertEqual(self.text(path, *LOCAL, "--scales=8", "-j", "7"), text)
        rows = [t.numbers(row) for row in of_scale(rows_of(text), 8)]
        self.check_islands(rows, samples, islands, before, 2100)
        self.assertGreater(len(rows), 10)

    def check_fits(self, rows, samples, fitted):
        """Rows of a scale are those of a search of the samples, whose beam is the effective one, with
        errors by the noise that both measure: but for what errors decide."""
        by_place = [
            (samples.to_pixel("X", row["Xposn"]), samples.to_pixel("Y", row["Yposn"]), row)
            for row in fitted
        ]
        n_same, ratios = 0, []
        for row in rows:
            distance, other = min(
                (math.hypot(row["Xposn"] - x, row["Yposn"] - y), n)
                for n, (x, y, _) in enumerate(by_place)
            )
            other = by_place[other][2]
            pairs = [
                (row[name], other[name])
                for name in ("Total_flux", "SNR", "Isl_rms", "Resid_Isl_rms")
            ]
            least = row["Scale"] * ROUND * sky.CELL / 2  # half of the kernel
            same_size = all(
                abs((row[name] or 0) - max(other[name] or 0, least if row[name] else 0))
                < 0.02 * row["Maj"]
                for name in ("DC_Maj", "DC_Min")
            )
            is_same = (
                distance < 0.05 * samples.step
                and same_size
                and all(abs(a / b - 1) < 0.01 for a, b in pairs)
            )
            n_same += is_same
            if is_same and not (row["Flags"] | other["Flags"]) & (BEAM_SHAPED | NOT_FITTED):
                ratios.append(row["E_Total_flux"] / other["E_Total_flux"])
        return n_same, ratios

    def test_errors(self):
        """Those of flux, position and size are one sigma, of sources that are known."""
        pulls, shape = [], (27.0, 18.0, 70.0)
        sizes = ("Maj", shape[0] * sky.CELL), ("Min", shape[1] * sky.CELL)
        places = [
            (60 + 90 * i + 0.3 * j, 60 + 90 * j + 0.2 * i) for i in range(5) for j in range(5)
        ]
        for seed in range(1 if t.SANITIZED else 4):
            path = self.wide([(x, y, 6, *shape) for x, y in places], side=480, seed=seed + 1)
            rows = of_scale(self.json(path, "--rms-box", "48,16", "-i", "3", "--scales"), 2, 4, 8)
            for x, y in places:
                row = near(rows, x, y)
                if math.hypot(row["Xposn"] - x, row["Yposn"] - y) < 10:
                    flux = 6 * sky.NOISE * shape[0] * shape[1] / (BEAM[0] * BEAM[1])
                    pulls.append(
                        [
                            (row[name] - value) / row["E_" + name]
                            for name, value in (
                                ("Xposn", x),
                                ("Yposn", y),
                                ("Total_flux", flux),
                                *sizes,
                            )
                        ]
                    )
        scatter = np.sqrt(np.mean(np.square(pulls), axis=0))
        print("pulls of x, y, flux and sizes of %d sources scatter by %s" % (len(pulls), scatter))
        self.assertGreater(len(pulls), 5 if t.SANITIZED else 40)
        if not t.SANITIZED:
            self.assertTrue((scatter > 0.6).all() and (scatter < 1.5).all())


class Negated(Scales):
    def image(self, *options):
        """A sky less its own mirror image."""
        path = self.sky("--density", "600", "--wide", "30", *options)
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        both = image - np.roll(image[::-1], 40, axis=1)
        return self.write("both.fits", both, header), self.write("negated.fits", -both, header)

    def test_the_whole_recipe(self):
        """Negative rows are those of the negated file, with their signs; they come after the
        positive ones of all scales."""
        path, negated = self.image()
        for options in (LOCAL, ("-i", "3", "--group", "0")):
            positive, both, below = (
                self.csv(image, "--scales", *options, *more)
                for image, more in ((path, ()), (path, ["--negative"]), (negated, ()))
            )
            self.assertEqual(both[: len(positive)], positive)
            self.assertEqual(len(both) - len(positive), len(below))
            self.assertGreater(min(len(of_scale(rows, 2, 4, 8)) for rows in (positive, below)), 0)
            n_islands = int(positive[-1]["Isl_id"])
            for row, other in zip(both[len(positive) :], below):
                changed = {
                    name: other[name][1:]
                    if other[name].startswith("-")
                    else other[name]
                    if other[name] in ("", "0")
                    else "-" + other[name]
                    for name in t.TURNED
                }
                self.assertEqual(
                    {**row, **no_artefact(row)},
                    {
                        **other,
                        **changed,
                        **no_artefact(other, NEGATIVE),
                        "Source_id": str(int(other["Source_id"]) + len(positive)),
                        "Isl_id": str(int(other["Isl_id"]) + n_islands),
                    },
                )

    def test_maps(self):
        """Model and residual have both signs."""
        path, _ = self.image()
        maps, _ = self.save(path, "model", "--scales", *LOCAL, "--negative")
        positive, _ = self.save(path, "model", "--scales", *LOCAL)
        negated, _ = self.save(self.path("negated.fits"), "model", "--scales", *LOCAL)
        self.assertLess(
            np.abs(maps["model"] - (positive["model"] - negated["model"])).max(),
            1e-6 * np.abs(maps["model"]).max(),
        )


class Maps(Scales):
    def test_model_and_residual(self):
        """They have the Gaussians of all scales, of which each is that of its row, at the image's
        own resolution."""
        path = self.sky("--wide", "16", "--corner", "80")
        maps, rows = self.save(path, "model,residual,background", "--scales", *LOCAL)
        t.run(
            *(path, "-q", "--scales", *LOCAL, "--save", "gaussians", "-o", self.path("c.csv")),
            check=True,
        )
        image, header = oracle.read(path)
        wcs, (y, x) = WCS(header).celestial, np.indices(image.shape)
        model = np.zeros(image.shape)
        for row in t.read_csv(self.path("c.gaussians.csv")):
            if not int(row["Flags"]) & NOT_FITTED:
                model += Gaussian(row, wcs).at(x, y)
        self.assertGreater(len(of_scale(rows, 2, 4, 8)), 5)
        for name, expected in (("model", model), ("residual", image - maps["background"] - model)):
            self.assertTrue(np.array_equal(np.isnan(maps[name]), np.isnan(image)))
            self.assertLess(np.nanmax(np.abs(maps[name] - expected)), 1e-5 * model.max())
        alone, _ = self.save(path, "model", "--scales", *LOCAL, "--group", "0")
        self.assertTrue(np.array_equal(alone["model"], maps["model"], equal_nan=True))

    def test_no_emission_is_in_two_maps(self):
        """The image is model, background and residual; the background below sources of scales is
        that of the smoothed image, and the mean of the residual there is 0 within its error."""
        path = self.wide(
            [
                (200, 190, 4, 40, 36, 30),
                (90, 300, 3, 30, 24, 0),
                (310, 310, -4, 36, 30, 0),
                (310, 80, 90, *BEAM),
            ],
            400,
        )
        above = self.change(path, "above.fits", lambda image: image + 5 * sky.NOISE)
        rows, columns = np.mgrid[:400, :400]
        n_wide = 0
        for path, *options in (
            (above, "-i", "3"),
            (above, *LOCAL),
            (above, "--rms-box", "48,16", "-i", "3"),
            (above, "--rms-box", "60,20", "-i", "3", "--negative"),
            (above, "--rms-box", "48,16", "-i", "3", "--detect-on", path),
            (path, "--rms-box", "60,20", "-i", "3", "--background", "zero"),
        ):
            with self.subTest(options=options):
                image, _ = oracle.read(path)
                names = "model,residual,background,rms"
                maps, _ = self.save(path, names, "--scales", *options)
                t.run(
                    *(path, "-q", "--scales", *options, "--save", "gaussians"),
                    *("-o", self.path("c.csv")),
                    check=True,
                )
                gaussians = t.read_csv(self.path("c.gaussians.csv"))
                plain, _ = self.save(path, "background", "--fit", *options)
                whole = maps["model"] + maps["residual"] + maps["background"]
                self.assertLess(np.abs(whole - image).max(), 1e-6 * np.abs(image).max())
                wide, below = of_scale(gaussians, 2, 4, 8), np.zeros(image.shape, bool)
                for row in wide:
                    centre = columns - row["Xposn"], rows - row["Yposn"]
                    major = np.radians(row["PA"])  # east is to the left
                    along = (
                        -centre[0] * np.sin(major) + centre[1] * np.cos(major),
                        centre[0] * np.cos(major) + centre[1] * np.sin(major),
                    )
                    r = np.hypot(*(a / row[n] * sky.CELL for a, n in zip(along, ("Maj", "Min"))))
                    inside, below = r < 0.5, below | (r < 1.001)
                    error = maps["rms"][inside].mean() / math.sqrt(inside.sum() / area(BEAM))
                    error = math.hypot(
                        error,
                        row["E_Total_flux"] / row["Total_flux"] * maps["model"][inside].mean(),
                    )
                    self.assertLess(abs(maps["residual"][inside].mean()), 3 * error)
                self.assertTrue(
                    np.array_equal(maps["background"][~below], plain["background"][~below])
                )
                n_wide += len(wide)
        self.assertGreater(n_wide, 4)

    def test_unmeasured(self):
        """Quality has the flux of the background above the image's median, but for that below
        sources of scales; a note says its share, and a scale that may take it, or that none fits.
        """
        path = self.wide([(200, 200, 20, 60, 60, 0), (60, 60, 90, *BEAM)], 400)
        options = "--rms-box", "30,10", "-i", "3"
        for scales, note in (
            ("--scales=1.5", ": --scales=1.5,3 may find it"),
            ("--scales=1.5,30", ": no wider scale fits into the image"),
            ("--scales=2,4", None),
        ):
            with self.subTest(scales):
                limit = "5" if note is None else "40"
                catalogue = t.find(path, scales, *options, "-n", limit)
                quality = catalogue["quality"]
                maps, rows = self.save(path, "background,rms", scales, *options, "-n", limit)
                above = maps["background"] - catalogue["background"]["median"]
                flux = above[np.abs(above) > 0.5 * maps["rms"]].sum() / area(BEAM)
                self.assertLess(
                    abs(quality["unmeasured"] - flux), 0.03 * (flux + quality["measured"])
                )
                self.assertAlmostEqual(
                    quality["measured"], sum(row["Total_flux"] for row in rows), delta=1e-12
                )
                share = quality["unmeasured"] / (quality["unmeasured"] + quality["measured"])
                notes = [text for text in catalogue["notes"] if "of the emission is in" in text]
                self.assertEqual(share > 0.1, note is not None)
                self.assertEqual(
                    notes,
                    note
                    and [
                        "some %.0f%% of the emission is in the background, not in the catalogue%s"
                        % (100 * share, note)
                        + "; --save background shows the emission"
                    ]
                    or [],
                )
        everywhere = t.find(path, "--scales=1.5", *options)["quality"]["unmeasured"]
        with open(self.path("hole.reg"), "w") as stream:
            stream.write("image;-circle(201,201,150)")
        quality = t.find(path, "--scales=1.5", *options, "--mask", self.path("hole.reg"))["quality"]
        self.assertLess(abs(quality["unmeasured"]), 0.05 * everywhere)
        map_of_a_nebula = os.path.join(t.SOURCE_ROOT, "data", "maps", "magpis.fits")
        catalogue = t.find(map_of_a_nebula, *LOCAL, "--scales")
        fluxes = [[], []]
        for row in catalogue["sources"]:
            fluxes[row["Flags"] & NOT_FITTED != 0].append(row["Total_flux"])
        self.assertGreater(sum(fluxes[1]), 0)  # it is in no model, and its emission unmeasured
        self.assertAlmostEqual(catalogue["quality"]["measured"], sum(fluxes[0]), delta=1e-12)
        for options in (["--scales=2"], ["--fit", *LOCAL]):
            quality = t.find(path, "-i", "3", *options)["quality"]
            self.assertEqual([quality["unmeasured"], quality["measured"]], [None, None])

    def test_labels(self):
        """A pixel belongs to the smallest scale that has it, in the box of its row."""
        path, n_hidden = self.sky_of_all_scales(), 0
        islands = sources = np.zeros((403, 403))
        for options in ("--fit",), ("--scales=2",), ("--scales=2,4",), ("--scales=2,4,8",):
            maps, rows = self.save(path, "islands,sources", *LOCAL, *options)
            for before, after in ((islands, maps["islands"]), (sources, maps["sources"])):
                self.assertTrue((after[before > 0] == before[before > 0]).all())
            new = (islands == 0) & (maps["islands"] > 0)
            islands, sources = maps["islands"], maps["sources"]
            if options[0] != "--fit":
                self.assertEqual(
                    {rows[int(n) - 1]["Scale"] for n in np.unique(sources[new])},
                    {float(options[0][-1])},
                )
        self.assertTrue(np.array_equal(islands > 0, sources > 0))
        self.assertTrue(
            np.array_equal(
                np.array([0] + [row["Isl_id"] for row in rows])[sources.astype(int)], islands
            )
        )
        for row in rows:
            y, x = np.nonzero(sources == row["Source_id"])
            self.assertLessEqual(len(x), row["N_pix"] or 0)
            if len(x):
                self.assertTrue(
                    row["X_min"] <= x.min()
                    and x.max() <= row["X_max"]
                    and row["Y_min"] <= y.min()
                    and y.max() <= row["Y_max"]
                )
            n_hidden += len(x) < (row["N_pix"] or 0)
            if row["Scale"] == 0:
                self.assertEqual(len(x), row["N_pix"] or 0)
        self.assertTrue(0 < n_hidden < len(of_scale(rows, 2, 4, 8)))

    def test_labels_of_negative_sources(self):
        """The hole of an artefact is seen in the nebula around it, whose row comes before that of
        the hole."""
        path = self.wide([(300, 300, 2, 120, 120, 0), (296, 303, -13, *BEAM)], side=600)
        maps, rows = self.save(path, "islands,sources", "--scales=8", *LOCAL, "--negative")
        hole = next(
            row
            for row in rows
            if int(row["Flags"]) & NEGATIVE and row["Scale"] == 0 and abs(row["Xposn"] - 296) < 2
        )
        nebula = near(of_scale(rows, 8), 300, 300)
        self.assertLess(nebula["Source_id"], hole["Source_id"])
        self.assertEqual(
            [maps["islands"][303, 296], maps["sources"][303, 296]],
            [hole["Isl_id"], hole["Source_id"]],
        )
        self.assertIn(nebula["Source_id"], maps["sources"][310:340, 310:340])

    def test_labels_where_nothing_hides_them(self):
        """All N_pix pixels of a row of a scale are there, to the upper edges."""
        path = self.wide(
            [(60.0, 80.0, 3, 40.0, 36.0, 30.0), (225.0, 210.0, 3, 30.0, 30.0, 0.0)], side=299
        )
        maps, rows = self.save(path, "sources", "-n", "6", *LOCAL, "--scales=4")
        self.assertEqual({row["Scale"] for row in rows}, {4})
        for row in rows:
            y, x = np.nonzero(maps["sources"] == row["Source_id"])
            self.assertEqual(
                [len(x), x.min(), x.max(), y.min(), y.max()],
                [row[name] for name in ("N_pix", "X_min", "X_max", "Y_min", "Y_max")],
            )
            self.assertLess(abs(row["Xpeak"] - row["Xposn"]) + abs(row["Ypeak"] - row["Yposn"]), 30)


class Formats(Scales):
    def test_gaussians(self):
        """The table has the scale of each, and the flux of its source."""
        for suffix in (".csv", ".json"):
            t.run(
                self.sky("--wide", "30"),
                "-q",
                "--scales",
                *LOCAL,
                "--save",
                "gaussians",
                "-o",
                self.path("c" + suffix),
                check=True,
            )
        rows, gaussians = t.read_csv(self.path("c.csv")), t.read_csv(self.path("c.gaussians.csv"))
        n_joined = 0
        self.assertEqual(list(gaussians[0])[:4], ["Source_id", "Isl_id", "Scale", "Gaus_id"])
        for row in rows:
            parts = [part for part in gaussians if part["Source_id"] == row["Source_id"]]
            scales = {part["Scale"] for part in parts}
            self.assertEqual(
                [len(parts), min(scales), {part["Isl_id"] for part in parts}],
                [row["N_Gaus"], row["Scale"], {row["Isl_id"]}],
            )
            n_joined += len(scales) > 1
            self.assertAlmostEqual(
                sum(part["Total_flux"] for part in parts) / row["Total_flux"], 1, delta=1e-9
            )
        self.assertGreater(n_joined, 0)
        with open(self.path("c.gaussians.json")) as stream:
            document = json.load(stream)
        self.assertEqual(
            [row["Scale"] for row in document["gaussians"]], [row["Scale"] for row in gaussians]
        )

    def test_schema(self):
        """JSON follows it (find looks), and a scale that is none does not."""
        catalogue = t.find(self.sky(), "--scales=3,2.5", *LOCAL)
        self.assertEqual(
            [catalogue["options"]["scales"], catalogue["columns"][2]["name"]], ["2.5,3", "Scale"]
        )
        self.assertEqual({row["Scale"] for row in catalogue["sources"]} - {0}, {2.5, 3})
        catalogue["sources"][0]["Scale"] = -1
        with self.assertRaises(jsonschema.ValidationError):
            t.validator().validate(catalogue)

    def test_tables(self):
        """astropy reads the rows of CSV from each format."""
        path = self.sky()
        expected = self.csv(path, "--scales", *LOCAL)
        for suffix in (".vot", ".fits", ".ecsv"):
            t.run(path, "-q", "--scales", *LOCAL, "-o", self.path("c" + suffix), check=True)
            table = Table.read(self.path("c" + suffix))
            self.assertEqual(table.colnames, list(expected[0]))
            for name in ("Scale", "Total_flux", "Isl_rms"):
                self.assertEqual(
                    [float(value) for value in table[name]], [float(row[name]) for row in expected]
                )

    def test_read_back(self):
        """--at takes the positions of each format; srcfind-merge gives the rows back."""
        path = self.sky()
        rows = self.json(path, "--scales", *LOCAL)
        for suffix in (".csv", ".fits", ".ecsv", ".json", ".csv.gz"):
            catalogue, merged = self.path("c" + suffix), self.path("merged.csv")
            t.run(path, "-q", "--scales", *LOCAL, "-o", catalogue, check=True)
            with self.subTest(suffix):
                at = self.json(path, *LOCAL, "--at", catalogue)
                self.assertEqual(len(at), len(rows))
                self.assertLess(
                    max(
                        abs(a[name] - row[name])
                        for a, row in zip(at, rows)
                        for name in ("Xposn", "Yposn")
                    ),
                    1e-4,
                )
                self.merge(catalogue, "--radius", "5", "--merge-duplicates", "keep", "-o", merged)
                again = [{name: row[name] for name in rows[0]} for row in t.read_csv(merged)]
                self.assertEqual(
                    [{**row, "Source_Name": None} for row in again],
                    [{**row, "Source_Name": None} for row in rows],
                )

    @t.unittest.skipUnless(os.environ.get("PICTURES"), "a build without cairo")
    def test_picture(self):
        """Ellipses have the colour of their scale."""
        path = self.sky_of_all_scales()
        colours = {0: (0.85, 0.1, 0.1), 2: (0.95, 0.55, 0), 4: (0, 0.6, 0.2), 8: (0.6, 0.15, 0.75)}
        for options in (["--fit"], ["--scales=2"], ["--scales"]):
            t.run(
                path,
                "-q",
                *LOCAL,
                *options,
                "--save",
                "picture",
                "-o",
                self.path("c.csv"),
                check=True,
            )
            with Image.open(self.path("c.picture.png")) as picture:
                pixels = np.array(picture).astype(int)[:, :-150]
            there = {
                scale
                for scale, colour in colours.items()
                if (np.abs(pixels - 255 * np.array(colour)).max(axis=2) < 12).sum() > 30
            }
            self.assertEqual(there, {row.get("Scale", 0) for row in t.read_csv(self.path("c.csv"))})
        self.assertEqual(there, {0, 2, 4, 8})


class Merged(Scales):
    def setUp(self):
        """Two images that overlap, cut from a sky; the second has more noise."""
        super().setUp()
        path, random = self.sky("--wide", "60", "--seed", "5", side=600), np.random.default_rng(2)
        with fits.open(path) as hdus:
            self.whole, header = hdus[0].data.astype(np.float32), hdus[0].header
        self.images = []
        for left in (0, 180):
            cut = self.whole[:, left : left + 420] + random.normal(
                0, 1e-5 + 1e-7 * left, (600, 420)
            )
            self.images.append(
                self.write(
                    "cut%d.fits" % left,
                    cut.astype(np.float32),
                    fits.Header({**header, "CRPIX1": header["CRPIX1"] - left}),
                )
            )
        self.options = ["--scales", *LOCAL, "--negative"]

    def expected(self, keep=False):
        beam = BEAM[0] * sky.CELL
        catalogues = [
            (rows_of(self.text(image, *self.options)), (600, 420), beam, fits.getheader(image))
            for image in self.images
        ]
        duplicates, merged = find_duplicates(catalogues, BEAM[1] / BEAM[0]), []
        for image, (rows, _, _, _) in enumerate(catalogues):
            for number, row in enumerate(rows):
                if keep or (image, number) not in duplicates:
                    flag = DUPLICATE if (image, number) in duplicates else 0
                    merged.append(
                        {
                            "Image": self.images[image],
                            "Date_obs": "",
                            **row,
                            "Source_id": str(len(merged) + 1),
                            "Flags": str(int(row["Flags"]) + flag),
                        }
                    )
        n_wide = sum(catalogues[image][0][number]["Scale"] != "0" for image, number in duplicates)
        return merged, len(duplicates), n_wide

    def merged(self, name="merged.csv"):
        with open(self.path(name), newline="") as stream:
            return rows_of(stream.read())

    def test_rows(self):
        """Only rows of one scale are duplicates, within half of its effective beam."""
        for keep in (False, True):
            expected, n_duplicates, n_wide = self.expected(keep)
            self.assertGreater(min(n_duplicates - n_wide, n_wide), 2)
            t.run(
                *self.images,
                "-q",
                *self.options,
                "--merge",
                self.path("merged.csv"),
                "--merge-duplicates",
                "keep" if keep else "drop",
                check=True,
            )
            self.assertEqual(self.merged(), expected)

    def test_scales_apart(self):
        """A row of a scale is no duplicate of one of the image, at the same place. A radius that is
        given holds for all scales."""
        catalogue = [
            row for image in self.images for row in rows_of(self.text(image, *self.options))
        ]
        wide = next(row for row in catalogue if row["Scale"] == "2")
        places = self.path("a.csv"), self.path("b.csv")
        for scales, distance in (
            (("2", "4"), 0.4),
            (("0", "2"), 0.4),
            (("2", "2"), 0.4),
            (("4", "4"), 0.6),
        ):
            for k, (path, scale) in enumerate(zip(places, scales)):
                move = distance * BEAM[0] * sky.CELL if k else 0
                row = {
                    **wide,
                    "Scale": scale,
                    "DEC": repr(float(wide["DEC"]) + move),
                    "Source_id": "1",
                    "Isl_id": "1",
                }
                with open(path, "w", newline="") as stream:
                    writer = csv.DictWriter(stream, row)
                    writer.writeheader()
                    writer.writerow(row)
            self.merge(
                *places,
                "--radius",
                "%g" % (BEAM[0] * sky.CELL * 3600 / 2),
                "-o",
                self.path("m.csv"),
            )
            self.assertEqual(len(self.merged("m.csv")), 1 if scales == ("2", "2") else 2, scales)

    def test_formats(self):
        """srcfind-merge makes the rows of --merge from catalogues of each format."""
        t.run(*self.images, "-q", *self.options, "--merge", self.path("merged.csv"), check=True)
        for suffix in ("json", "fits"):
            t.run(
                *self.images,
                "-q",
                *self.options,
                "-f",
                suffix,
                "-o",
                self.path(suffix) + "/",
                check=True,
            )
            self.merge(
                *(self.path("%s/cut%d.%s" % (suffix, left, suffix)) for left in (0, 180)),
                "-o",
                self.path("again.csv"),
            )
            self.assertEqual(self.merged("again.csv"), self.merged())
            t.run(
                *self.images,
                "-q",
                *self.options,
                "--merge",
                self.path("merged." + suffix),
                check=True,
            )
        with open(self.path("merged.json")) as stream:
            rows = json.load(stream)["sources"]
        for found in rows, Table.read(self.path("merged.fits")):
            for name in ("Scale", "Total_flux", "Source_id"):
                self.assertEqual(
                    [float(row[name]) for row in found], [float(row[name]) for row in self.merged()]
                )

    def test_gaussians(self):
        t.run(
            *self.images,
            "-q",
            *self.options,
            "--save",
            "gaussians",
            "-f",
            "json",
            "-o",
            self.path("out") + "/",
            "--merge",
            self.path("merged.json"),
            check=True,
        )
        with open(self.path("merged.json")) as stream, open(
            self.path("merged.gaussians.json")
        ) as gaussians:
            rows, parts = json.load(stream)["sources"], json.load(gaussians)["gaussians"]
        for row in rows:
            its = [part["Scale"] for part in parts if part["Source_id"] == row["Source_id"]]
            self.assertEqual([len(its), min(its)], [row["N_Gaus"], row["Scale"]])

    def test_with_and_without(self):
        """They have other columns: an error that says which."""
        for suffix in ("csv", "json"):
            both = [self.path("%s.%s" % (name, suffix)) for name in ("with", "without")]
            for path, option in zip(both, ("--scales", "--fit")):
                t.run(self.images[0], "-q", option, *LOCAL, "-o", path, check=True)
            for order in (both, both[::-1]):
                result = subprocess.run(
                    [MERGE, "-q", *order, "--radius", "5", "-o", self.path("m.csv")],
                    capture_output=True,
                    text=True,
                )
                self.assertEqual(result.returncode, 1)
                self.assertRegex(
                    result.stderr,
                    r"\Asrcfind-merge: [^\n]*columns[^\n]*those of --scales[^\n]*\n\Z",
                )
                self.assertFalse(os.path.exists(self.path("m.csv")))


class SameBytes(Scales):
    def ways(self):
        return (
            [[*LOCAL, "--scales"]]
            if t.SANITIZED
            else [
                [*LOCAL, "--scales", "--negative"],
                ["--scales=1,1.7,6", "-i", "3", "--connectivity", "8"],
                ["--shapes", "beam", "-i", "2", "--scales=3"],
            ]
        )

    def skies(self):
        return (
            self.sky("--wide", "24", "--seed", "6"),
            self.sky(
                "--wide",
                "24",
                "--seed",
                "7",
                "--border",
                "10",
                "--corner",
                "120",
                "--bitpix",
                "16",
                name="blanks.fits",
            ),
        )

    def test_threads_and_variants(self):
        for path in self.skies():
            for way in self.ways():
                expected = self.text(path, "-j", "1", *way)
                self.assertGreater(len(of_scale(rows_of(expected), 1, 1.7, 2, 3, 4, 6, 8)), 0)
                for threads in (7,) if t.SANITIZED else (2, 7):
                    self.assertEqual(self.text(path, "-j", threads, *way), expected)
                for variant in () if t.THREADS_WATCHED else ("AVX2", "SSE2", "plain"):
                    self.assertEqual(
                        self.text(path, *way, environment={"SRCFIND_SIMD": variant}), expected
                    )

    def test_maps(self):
        path, names = self.skies()[1], "model,residual,islands,sources"
        first = None
        for threads in ("1", "2", "7"):
            t.run(
                path,
                "-q",
                "-j",
                threads,
                "--scales",
                *LOCAL,
                "-o",
                self.path("c.csv"),
                "--save",
                names,
                check=True,
            )
            maps = [open(self.path("c.%s.fits" % name), "rb").read() for name in names.split(",")]
            first = first or maps
            self.assertTrue(maps == first)

    def storages(self, path):
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        image[50:58, 70:90] = np.nan
        cards = fits.Header(
            [
                card
                for card in header.cards
                if card.keyword not in ("SIMPLE", "BITPIX", "NAXIS", "NAXIS1", "NAXIS2")
            ]
        )
        yield [self.write("plain.fits", image, cards)]
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(image, "GZIP_2", (70, 13), cards, quantize_level=0)]
        ).writeto(self.path("tiles.fits"))
        yield [self.path("tiles.fits")]
        yield [self.write("image.fits.gz", image, cards)]
        yield [self.write("doubles.fits", image.astype(np.float64), cards)]
        yield [
            self.write("cube.fits", np.stack([image[::-1], image, 0 * image]), cards),
            "--plane",
            "2",
        ]
        fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(image, cards)]).writeto(
            self.path("extension.fits")
        )
        yield [self.path("extension.fits"), "--hdu", "1"]

    def test_storage(self):
        """Tiles, gzip, doubles, a plane of a cube, an extension."""
        expected = None
        for words in self.storages(self.sky("--wide", "24", "--seed", "8")):
            for threads in (1, 7):
                text = self.text(*words, *LOCAL, "--scales", "--negative", "-j", threads)
                expected = expected or text
                self.assertEqual(text, expected, words)
        self.assertGreater(len(of_scale(rows_of(expected), 2, 4, 8)), 2)

    def test_integers(self):
        """Those of 16, 32 and 64 bits, with a blank value, are the same image."""
        with fits.open(self.sky("--wide", "24", "--seed", "8")) as hdus:
            image, header = hdus[0].data.astype(np.float64), hdus[0].header
        levels = np.rint(image / (sky.NOISE / 16)).clip(-32000, 32000)
        levels[100:110, 100:130] = -32768
        found = set()
        for kind in (np.int16, np.int32, np.int64):
            hdu = fits.PrimaryHDU(levels.astype(kind))
            hdu.header.extend(header, strip=True)
            hdu.header.update(BSCALE=sky.NOISE / 16, BZERO=0.25, BLANK=-32768)
            hdu.data = None
            with open(self.path("integers.fits"), "wb") as stream:
                hdu.header.update(NAXIS=2, NAXIS1=400, NAXIS2=400)
                hdu.header["BITPIX"] = 8 * np.dtype(kind).itemsize
                data = (
                    hdu.header.tostring().encode()
                    + levels.astype(np.dtype(kind).newbyteorder(">")).tobytes()
                )
                stream.write(data + bytes(-len(data) % 2880))
            found.add(self.text(self.path("integers.fits"), *LOCAL, "--scales"))
        self.assertEqual(len(found), 1)
        self.assertGreater(len(of_scale(rows_of(found.pop()), 2, 4, 8)), 2)

    def test_order_of_a_list(self):
        path = self.sky()
        expected = self.text(path, *LOCAL, "--scales")
        for text in ("2,4,8", "8,2,4", "4,8,2", "8.0,4,2e0"):
            self.assertEqual(self.text(path, *LOCAL, "--scales=" + text), expected)
        self.assertTrue(self.text(path, *LOCAL, "--scales=2") != expected)


class InFile(Scales):
    """Many samples, which wait in a file of /tmp: here those above no byte."""

    def setUp(self):
        super().setUp()
        self.image = self.sky("--wide", "24", "--corner", "60")
        self.always = {"SRCFIND_SAMPLES_HELD": "0"}

    def test_same_bytes(self):
        for way in ([*LOCAL, "--scales", "--negative"], ["--scales=1,3", "-i", "3"]):
            expected = self.text(self.image, *way)
            self.assertGreater(len(of_scale(rows_of(expected), 1, 2, 3, 4, 8)), 1)
            for threads in (1, 7):
                self.assertEqual(
                    self.text(self.image, *way, "-j", threads, environment=self.always), expected
                )

    @t.unittest.skipUnless(FAULTY, "FAULTY_SRCFIND is not set")
    def test_faults_of_the_file(self):
        """The file cannot be made, the disk is full, or a read fails: an error that says where, and
        no catalogue."""
        said = set()
        for kind, calls in (
            ("read", range(1, 400, 9 if t.SANITIZED else 1)),
            ("write", range(1, 9)),
            ("open", range(1, 9)),
        ):
            for n in calls:
                mark = self.path("mark")
                result = subprocess.run(
                    [
                        FAULTY,
                        self.image,
                        *LOCAL,
                        "--scales",
                        "--cpu",
                        "-j",
                        "1",
                        "-q",
                        "-o",
                        self.path("c.csv"),
                    ],
                    text=True,
                    env={
                        **os.environ,
                        **self.always,
                        "FAULT": "%s:%d" % (kind, n),
                        "FAULT_MARK": mark,
                    },
                    capture_output=True,
                )
                if not os.path.exists(mark):
                    break
                os.remove(mark)
                self.assertEqual(os.path.exists(self.path("c.csv")), result.returncode == 0)
                if result.returncode == 0:
                    os.remove(self.path("c.csv"))
                if "/tmp" in result.stderr.replace(self.directory.name, ""):
                    said.add(result.stderr.replace(self.image, "IMAGE"))
                    self.assertEqual(result.returncode, 1)
        making = "srcfind: IMAGE: making a temporary file in /tmp for the smoothed image: %s: let srcfind write there\n"
        self.assertEqual(
            said,
            {
                "srcfind: IMAGE: reading the smoothed image from /tmp: Input/output error\n",
                "srcfind: IMAGE: writing the smoothed image to /tmp: No space left on device: make room there\n",
                making % "Too many open files",
                making % "Cannot allocate memory",
            },
        )


class Odd(Scales):
    """Images and values that are rare."""

    def check(self, image, *options, **cards):
        """The command succeeds, whatever the image, with the same bytes on any number of threads;
        returns its JSON catalogue."""
        image = np.asarray(image, np.float32)
        path = self.path("odd.fits")
        self.write(path, image, fits.Header({**self.header(image.shape[1]), **cards}))
        catalogue = t.find(path, "--scales", *options)
        self.assert_finite(catalogue["sources"])
        self.assertNotRegex(self.text(path, "--scales", *options, "-j", "7"), "(?i)[,-](inf|nan)")
        self.assertEqual(
            self.text(path, "--scales", *options, "-j", "7"),
            self.text(path, "--scales", *options, "-j", "1"),
        )
        for row in catalogue["sources"]:
            for axis, side in zip("YX", image.shape):
                low, high, peak = (row[axis + name] for name in ("_min", "_max", "peak"))
                self.assertTrue(low is None or 0 <= low <= peak <= high < side)
        return catalogue

    def noise(self, height, width, seed=1):
        a = sky.arguments([str(max(height, width, 8)), "x.fits", "--beam=%g,%g,%g" % BEAM])
        return sky.NOISE * sky.noise(a, np.random.default_rng(seed))[:height, :width]

    def halo(self, side, x, y, fwhm, peak, seed=1):
        image = self.noise(side, side, seed) / sky.NOISE
        sky.add_sources(
            image,
            [
                np.array([value], float)
                for value in (x, y, peak, 1, *sky.covariance((fwhm, fwhm, 0)))
            ],
        )
        return image * sky.NOISE

    def test_blank_borders_and_holes(self):
        """A wide source in a field of blanks is found; a sample of which a tenth of the kernel is
        on blanks is none."""
        image = self.halo(300, 150, 150, 30, 3)
        image[:40] = image[-30:] = np.nan
        image[:, :35] = np.nan
        image[140:144, 120:124] = np.nan
        random = np.random.default_rng(4)
        image[random.integers(0, 300, 200), random.integers(0, 300, 200)] = np.nan
        rows = of_scale(self.check(image, *LOCAL)["sources"], 2, 4, 8)
        row = near(rows, 150, 150)
        flux = 3 * sky.NOISE * 900 / (BEAM[0] * BEAM[1])
        self.assertLess(abs(row["Total_flux"] - flux), 4 * row["E_Total_flux"])
        self.assertLess(math.hypot(row["Xposn"] - 150, row["Yposn"] - 150), 5)
        samples = Samples(image, 4)
        place = np.argwhere(np.isfinite(samples.values))
        self.assertGreater(samples.to_pixel("X", place[:, 1].min()), 42)
        for row in of_scale(rows, 4):
            self.assertTrue(np.isfinite(samples.values[samples.at(row)]))

    def test_edges(self):
        """Nothing is found near an edge, where a tenth of the kernel is outside, and noise
        grows."""
        n_found = 0
        for seed in range(4):
            image = self.halo(200, 4, 100, 30, 5, seed)
            for row in of_scale(self.check(image, "-i", "3", "--rms-box", "50")["sources"], 4, 8):
                samples = Samples(image.astype(np.float32), row["Scale"])
                self.assertTrue(np.isfinite(samples.values[samples.at(row)]))
                n_found += 1
        print("%d rows" % n_found)

    def test_thin_images(self):
        for shape in ((1, 300), (300, 1), (2, 200), (1, 1), (3, 40), (12, 300)):
            image = self.noise(*shape)
            image.ravel()[::37] += 30 * sky.NOISE
            with self.subTest(shape):
                quality = self.check(image, "-i", "3")["quality"]
                # a constant image is not smoothed
                self.assertEqual(quality["widest_left_out"], None if image.size == 1 else 8)

    def test_images_smaller_than_a_kernel(self):
        """A kernel that is wider than half of the shorter side is left out, with a note; one that
        is not, is not."""
        for side, k, is_left_out in (
            (20, 2, False),
            (18, 2.05, True),
            (18, 2, False),
            (17, 2, True),
            (100, 8, False),
        ):
            path = self.write(
                "small.fits", self.noise(side, side + 60).astype(np.float32), self.header(side)
            )
            result = t.run(path, "--scales=1,%g" % k, "-o", self.path("c.json"))
            self.assertEqual(result.returncode, 0)
            note = (
                "%s: scales whose kernels are wider than half of the image's shorter side, up to %g beams, are left out"
                % (path, k)
            )
            self.assertEqual(note in result.stderr, is_left_out, (side, k, result.stderr))
            with open(self.path("c.json")) as stream:
                self.assertEqual(
                    json.load(stream)["quality"]["widest_left_out"], k if is_left_out else None
                )
            self.assertEqual(t.run(path, "-q", "--scales=1,%g" % k).stderr, "")

    def test_blank_images(self):
        """All blank: the same error as without --scales. But for a corner: what is there."""
        path = self.write("blank.fits", np.full((100, 110), np.nan, np.float32), self.header(100))
        results = [
            t.run(path, *options)
            for options in (["--fit"], ["--scales"], ["--scales", "--negative", *LOCAL])
        ]
        self.assertEqual([result.returncode for result in results], [1, 1, 1])
        self.assertEqual(len({result.stderr for result in results}), 1)
        image = np.full((300, 300), np.nan)
        image[:20, :20] = self.noise(20, 20)
        image[8, 8] += 50 * sky.NOISE
        self.assertEqual({row["Scale"] for row in self.check(image)["sources"]}, {0})
        image = np.full((300, 310), np.nan)
        image[-150:, -150:] = self.halo(150, 75, 75, 25, 4)
        rows = of_scale(self.check(image, "-i", "3", "--rms-box", "24,8")["sources"], 2, 4, 8)
        self.assertLess(
            math.hypot(near(rows, 235, 225)["Xposn"] - 235, near(rows, 235, 225)["Yposn"] - 225), 4
        )

    def test_constant_images(self):
        for value in (0, 1e-4, -7):
            self.assertEqual(self.check(np.full((120, 130), value))["sources"], [])
        image = np.zeros((200, 200))
        image[100, 100] = 1
        self.check(image)
        self.check(image, "--rms", "0.01", "--background", "zero")

    def test_masks(self):
        """--mask and --blank hold in scales."""
        image = self.halo(300, 150, 150, 30, 3).astype(np.float32)
        path, mask = self.write("image.fits", image, self.header(300)), np.ones(
            image.shape, np.float32
        )
        mask[100:200, :180] = 0
        mask = self.write("mask.fits", mask, self.header(300))
        blank = self.write(
            "blank.fits",
            np.where(fits.getdata(mask) == 0, np.nan, image).astype(np.float32),
            self.header(300),
        )
        zeros = self.write(
            "zeros.fits",
            np.where(fits.getdata(mask) == 0, -5, image).astype(np.float32),
            self.header(300),
        )
        expected = self.text(blank, *LOCAL, "--scales")
        self.assertEqual(self.text(path, "--mask", mask, *LOCAL, "--scales"), expected)
        self.assertEqual(self.text(zeros, "--blank=-5", *LOCAL, "--scales"), expected)

    def test_noise(self):
        """Scales have local noise of their own, whatever is said of that of the image, where
        nothing is found here."""
        image = self.halo(300, 150, 150, 40, 2).astype(np.float32)
        path, found = self.write("image.fits", image, self.header(300)), set()
        maps = [
            word
            for name, value in (("rms", 2e-4), ("background", 3e-5))
            for word in (
                "--%s-map" % name,
                self.write(name + ".fits", np.full(image.shape, value, np.float32)),
            )
        ]
        for more in (
            [],
            ["--rms", "1.5e-4", "--background", "zero"],
            ["--background=5e-5"],
            ["--rms-box", "60,10"],
            maps,
        ):
            rows = self.csv(path, "--scales=4", "-n", "7", "-i", "3", *more)
            self.assertEqual({row["Scale"] for row in rows}, {"4"}, more)
            found.add(str(rows))
        self.assertEqual(len(found), 1)

    def test_hostile_values(self):
        """No cell is infinite, nothing hangs, and an odd pixel spoils no other than those that its
        kernels reach."""
        clean = self.halo(300, 220, 220, 30, 3)
        expected = near(of_scale(self.check(clean, *LOCAL)["sources"], 2, 4, 8), 220, 220)
        for value in (
            1e38,
            -1e38,
            3.4e38,
            1e9 * sky.NOISE,
            -1e9 * sky.NOISE,
            np.inf,
            -np.inf,
            1e-40,
            1e-45,
        ):
            image = clean.copy()
            image[60, 60] = value
            for more in (["--negative"],) if t.SANITIZED else ([], ["--negative"]):
                with self.subTest(value, more=more):
                    rows = of_scale(self.check(image, *LOCAL, *more)["sources"], 2, 4, 8)
                    row = near(rows, 220, 220)
                    self.assertLess(
                        math.hypot(
                            row["Xposn"] - expected["Xposn"], row["Yposn"] - expected["Yposn"]
                        ),
                        2,
                    )
                    self.assertLess(
                        abs(row["Total_flux"] - expected["Total_flux"]), row["E_Total_flux"]
                    )
        for factor in (1e-38, 1e-44, 1e38, 3e42):
            with self.subTest(factor):
                self.check(clean / sky.NOISE * 1e-4 * factor, *LOCAL)
        image = np.full((200, 200), 3e38)
        image[::2] = -3e38
        self.check(image, "--negative")
        self.check(self.noise(200, 200) / sky.NOISE * 1e37, "-n", "3", "--negative")

    def test_infinite_pixels(self):
        """They are blank, in a wide source, too."""
        found = set()
        for value in np.nan, np.inf, -np.inf:
            image = self.halo(300, 150, 150, 30, 3)
            image[150, 155] = image[::40, ::50] = value
            rows = self.check(image, *LOCAL)["sources"]
            self.assertGreater(len(of_scale(rows, 2, 4, 8)), 0)
            found.add(str(rows))
        self.assertEqual(len(found), 1)

    def test_an_image_without_a_beam(self):
        """It fails, the others are done."""
        cards = {name: None for name in ("BMAJ", "BMIN", "BPA")}
        header = fits.Header(
            {name: value for name, value in self.header(300).items() if name not in cards}
        )
        image = self.halo(300, 150, 150, 30, 3).astype(np.float32)
        without, good = self.write("without.fits", image, header), self.write(
            "good.fits", image, self.header(300)
        )
        result = t.run(without, good, "--scales", *LOCAL, "-q", "-o", self.path("out") + "/")
        self.assertEqual([result.returncode, os.listdir(self.path("out"))], [1, ["good.csv"]])
        self.assertIn(
            "srcfind: %s: --scales needs the beam, and no beam is known: give --beam MAJ,MIN,PA, or leave --scales out\n"
            % without,
            result.stderr,
        )
        beam = "--beam=%.10g,%.10g,%g" % (
            3600 * BEAM[0] * sky.CELL,
            3600 * BEAM[1] * sky.CELL,
            BEAM[2],
        )
        self.assertEqual(
            len(self.json(without, "--scales", *LOCAL, beam)),
            len(self.json(good, "--scales", *LOCAL)),
        )


class Options(Scales):
    def test_bad_lists(self):
        path = self.write("image.fits", np.zeros((20, 20), np.float32), self.header(20))
        for text in (
            "0",
            "0.5",
            "-2",
            "2,2",
            "1,1.0",
            "1,2,3,4,5,6,7,8,9",
            "text",
            "",
            "2,",
            ",2",
            "2,,4",
            "2 4",
            "nan",
            "inf",
            "1001",
            "1e999",
            "2;4",
        ):
            result = t.run(path, "--scales=" + text, "-o", self.path("c.csv"))
            self.assertEqual([result.returncode, result.stdout], [2, ""], text)
            self.assertEqual(
                result.stderr,
                "srcfind: --scales: '%s' is not a list of up to 8 different numbers from 1 to 1000\n"
                % text,
            )
            self.assertFalse(os.path.exists(self.path("c.csv")))

    def test_with_given_positions(self):
        path, positions = self.sky(), self.path("positions.csv")
        t.run(path, "-q", "-o", positions, check=True)
        result = t.run(path, "--at", positions, "--scales")
        self.assertEqual(
            [result.returncode, result.stderr],
            [
                2,
                "srcfind: --at: only the entries of the catalogue are measured, and no scale is searched: leave --scales out\n",
            ],
        )

    def test_what_it_implies(self):
        """A fit; and without a scale that fits, its rows with a column more."""
        path = self.sky()
        catalogue = t.find(path, "--scales=100")
        self.assertEqual(
            [
                {row["Scale"] for row in catalogue["sources"]},
                catalogue["quality"]["widest_left_out"],
            ],
            [{0}, 100],
        )
        self.assertEqual(
            [
                {name: value for name, value in row.items() if name != "Scale"}
                for row in catalogue["sources"]
            ],
            self.json(path, "--fit"),
        )

    def test_skip_existing(self):
        """A report knows which scales a catalogue was made with."""
        path, options = self.sky(), [
            "-q",
            "-o",
            self.path("out") + "/",
            "--report",
            self.path("r.csv"),
            "--skip-existing",
        ]
        for words in ["--scales"], ["--scales=8,4,2"], ["--scales=2"], ["--fit"]:
            before = (
                os.stat(self.path("out/sky.csv")).st_ino
                if os.path.exists(self.path("out"))
                else None
            )
            t.run(path, *options, *LOCAL, *words, check=True)
            self.assertEqual(
                os.stat(self.path("out/sky.csv")).st_ino == before,
                words == ["--scales=8,4,2"],
                words,
            )


class Notes(Scales):
    def test_a_background_that_varies(self):
        """With --local there is a note that --scales keeps wide emission; with --scales, or without
        emission, there is none."""
        words = "--scales finds such emission"
        path = self.wide([(150, 150, 12, 120, 120, 0)], side=300)
        flat = self.wide([(150, 150, 30, *BEAM)], side=300, name="flat.fits")
        for image, options, expected in (
            (path, ["--rms-box", "48"], True),
            (path, ["--rms-box", "48", "--scales"], False),
            (flat, ["--rms-box", "48"], False),
            (path, [], False),
            (path, ["--rms-box", "48", "-q"], False),
        ):
            result = t.run(image, *options)
            self.assertEqual([result.returncode, words in result.stderr], [0, expected], options)
        quality = t.find(path, "--rms-box", "48")["quality"]
        maps, _ = self.save(path, "background,rms", "--rms-box", "48")
        low, high = (quality["background_p%d" % percent] for percent in (10, 90))
        self.assertGreater(high - low, 2 * np.median(maps["rms"]))
        nodes = oracle.noise_nodes(oracle.read(path)[0], 48, 16)[:, :, 0]
        for percent, value in ((10, low), (90, high)):
            self.assertAlmostEqual(
                value,
                np.percentile(nodes, percent, method="lower"),
                delta=1e-6 * np.abs(nodes).max(),
            )
        self.assertEqual(
            [t.find(path)["quality"]["background_p%d" % percent] for percent in (10, 90)],
            [None, None],
        )


if __name__ == "__main__":
    t.main()

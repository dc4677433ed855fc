"""--deblend and --fit: islands are divided at saddles, and their parts measured by Gaussians. What
any division must obey (sums, order, codes, flags), the same bytes however the work is done, known
sources, odd images, and agreement with the recipe's own program."""
import csv
import itertools
import json
import math
import os
import subprocess
import sys

import numpy as np
from astropy.io import fits
from scipy import ndimage

import srcfind_test as t
import sky  # which that finds

EDGE, SINGLE, NO_BEAM, UNCERTAIN, NEGATIVE, NOT_FITTED, BEAM_SHAPED, NARROW = (
    1,
    2,
    4,
    16,
    32,
    64,
    128,
    1024,
)
FITTED = (
    "E_Maj",
    "E_Min",
    "E_PA",
    "DC_Maj",
    "DC_Min",
    "DC_PA",
    "E_DC_Maj",
    "E_DC_Min",
    "E_DC_PA",
    "Chi2",
    "Dof",
    "Resid_Isl_rms",
    "Resid_Isl_mean",
)
FWHM = math.sqrt(8 * math.log(2))
PIXEL = sky.CELL


def rows_of(text):
    """The cells of a CSV catalogue, as they are written."""
    return list(csv.DictReader(text.splitlines()))


def grouped(rows):
    """The rows of each island, by its number."""
    islands = {}
    for row in rows:
        islands.setdefault(row["Isl_id"], []).append(row)
    return islands


def no_artefact(row, flags=0):
    """Hole and Flags, with these more, without what a search of the negated file does not know: the
    positive sources whose artefacts negative ones may be."""
    return {"Hole": "", "Flags": str((int(row["Flags"]) & ~2048) + flags)}


class Components(t.Case):
    def sky(self, *options, side=300, name="sky.fits"):
        path = self.path(name)
        sky.make([str(side), path, "--density", "1500", *options])
        return path

    def text(self, path, *options, environment=None):
        result = t.run(path, "-q", *options, env={**os.environ, **(environment or {})})
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return result.stdout

    def csv(self, path, *options):
        return rows_of(self.text(path, *options))

    def json(self, path, *options):
        return t.find(path, *options)["sources"]

    def with_maps(self, path):
        """Options that give noise maps and a mask."""
        with fits.open(path) as hdus:
            shape = hdus[0].data.shape
        x = np.linspace(0, 1, shape[1], dtype=np.float32)
        maps = {
            "rms": np.tile(sky.NOISE * (1 + x), (shape[0], 1)),
            "background": np.tile(sky.NOISE * (x - 0.5), (shape[0], 1)),
            "mask": np.ones(shape),
        }
        maps["rms"][20:24] = np.nan
        maps["mask"][150:160, 30:200] = 0
        given = {
            name: self.write(name + "-map.fits", values.astype(np.float32))
            for name, values in maps.items()
        }
        return [
            "--rms-map",
            given["rms"],
            "--background-map",
            given["background"],
            "--mask",
            given["mask"],
        ]

    def ways(self, path):
        """Sets of options with which a sky is searched."""
        given = self.with_maps(path)
        if t.SANITIZED:
            return (
                ["--rms-box", "60,20", "-i", "3", "--connectivity", "8"],
                ["-i", "2.5", "--mask", given[-1], "--negative"],
                [],
            )
        return (
            [],
            ["-i", "3"],
            ["--local", "-i", "3"],
            ["--rms-box", "60,20", "-i", "3", "--connectivity", "8"],
            ["-i", "3", *given],
            ["--local", *given[:2], "-i", "3"],
            ["-i", "2.5", "--mask", given[-1], "--negative"],
            ["-i", "3", "--min-pixels", "9"],
            ["--contrast", "0.2", "-i", "2"],
            ["--contrast", "5", "-i", "2", "--connectivity", "8"],
            ["-i", "3", "--background", "zero", "--rms", "1.2e-4"],
            ["-n", "4", "-i", "1.5", "--local", "--negative"],
        )

    # --- what any division must obey ---

    def check_islands(self, islands, rows):
        """islands: rows without --deblend."""
        divided, n_divided = grouped(rows), 0
        # all of them, in their order
        self.assertEqual(list(divided), [row["Isl_id"] for row in islands])
        self.assertEqual([row["Source_id"] for row in rows], list(range(1, len(rows) + 1)))
        for island, parts in zip(islands, divided.values()):
            n_divided += len(parts) > 1
            sign = -1 if island["Flags"] & NEGATIVE else 1
            peaks = [sign * row["Peak_flux"] for row in parts]
            self.assertEqual(peaks, sorted(peaks, reverse=True))
            self.assertGreater(peaks[-1], 0)
            self.assertLessEqual(
                {row["S_Code"] for row in parts}, {"S", "M"} if len(parts) == 1 else {"C", "M"}
            )
            self.assertTrue(
                all((row.get("N_Gaus", 1) > 1) == (row["S_Code"] == "M") for row in parts)
            )
            self.assertEqual(
                {row["Flags"] & (NEGATIVE | NO_BEAM) for row in parts},
                {island["Flags"] & (NEGATIVE | NO_BEAM)},
            )
            self.assertEqual({row["Isl_Total_flux"] for row in parts}, {island["Isl_Total_flux"]})
            errors = {row["E_Isl_Total_flux"] for row in parts}
            self.assertEqual(len(errors), 1)
            if "N_Gaus" not in parts[0]:  # with a fit the noise's correlation is measured
                self.assertEqual(errors, {island["E_Isl_Total_flux"]})
            with_pixels = [row for row in parts if row["N_pix"] is not None]
            self.assertEqual(sum(row["N_pix"] for row in with_pixels), island["N_pix"])
            self.assertAlmostEqual(
                sum(row["Pixel_sum"] for row in with_pixels) / island["Pixel_sum"], 1, delta=2e-12
            )
            for least, most in (("X_min", "X_max"), ("Y_min", "Y_max")):
                self.assertEqual(
                    [min(row[least] for row in with_pixels), max(row[most] for row in with_pixels)],
                    [island[least], island[most]],
                )
            for row in with_pixels:
                self.assertTrue(
                    row["X_min"] <= row["Xpeak"] <= row["X_max"]
                    and row["Y_min"] <= row["Ypeak"] <= row["Y_max"]
                )
                self.assertLessEqual(
                    row["N_pix"],
                    (row["X_max"] - row["X_min"] + 1) * (row["Y_max"] - row["Y_min"] + 1),
                )
            self.assertIn(
                [island["Xpeak"], island["Ypeak"]],
                [[row["Xpeak"], row["Ypeak"]] for row in with_pixels],
            )
        return n_divided

    def check_fit(self, rows, has_beam):
        n_fitted = 0
        for row in rows:
            values = [value for value in row.values() if isinstance(value, float)]
            self.assertTrue(all(math.isfinite(value) for value in values))
            self.assertGreaterEqual(row["Resid_Isl_rms"], 0)
            if row["Flags"] & NOT_FITTED:
                self.assertFalse(row["Flags"] & BEAM_SHAPED)
                self.assertEqual({row[name] for name in FITTED[:-2]}, {None})
                continue
            n_fitted += 1
            self.assertAlmostEqual(
                row["SNR"], row["Peak_flux"] / row["Isl_rms"], delta=1e-9 * abs(row["SNR"])
            )
            self.assertGreater(
                min(row[name] for name in row if name.startswith("E_") and row[name] is not None),
                -1e-300,
            )
            if row["Maj"] is not None:
                self.assertGreaterEqual(row["Maj"], row["Min"])
                self.assertGreater(min(row["Min"], row["E_Maj"], row["E_Min"], row["E_PA"]), 0)
            if row["Maj"] is not None and has_beam:
                self.assertTrue(row["Maj"] >= row["DC_Maj"] >= row["DC_Min"] >= 0)
                if row["Flags"] & BEAM_SHAPED and row["N_Gaus"] == 1:
                    self.assertEqual([row["DC_Maj"], row["DC_Min"], row["DC_PA"]], [0, 0, 0])
            else:
                self.assertIsNone(row["DC_Maj"])
                self.assertFalse(row["Flags"] & BEAM_SHAPED)
        return n_fitted

    def test_divisions(self):
        path = self.sky("--extended", "0.3", "--noise-rise", "1", "--seed", "3")
        n_divided = n_fitted = 0
        for way in self.ways(path):
            islands = self.json(
                path,
                *[
                    o
                    for k, o in enumerate(way)
                    if o != "--contrast" and (k == 0 or way[k - 1] != "--contrast")
                ],
            )
            deblend = [*way, "--deblend"]
            with self.subTest(way):
                n_divided += self.check_islands(islands, self.json(path, *deblend))
                rows = self.json(path, *way, "--fit")
                self.check_islands(islands, rows)
                n_fitted += self.check_fit(rows, True)
                self.assertNotIn("E_Maj", self.json(path, *deblend)[0])
                self.assertNotIn("S_Code", islands[0])
        print("%d islands divided, %d sources fitted" % (n_divided, n_fitted))
        self.assertGreater(n_divided, 12 if t.SANITIZED else 50)
        self.assertGreater(n_fitted, 100 if t.SANITIZED else 500)

    def test_only_source_of_its_island(self):
        """Has the row that it has without --deblend, but for S_Code and Source_id; with --fit the
        columns of its pixels."""
        path = self.sky("--seed", "4")
        kept = (
            "N_pix",
            "Pixel_sum",
            "Isl_Total_flux",
            "X_min",
            "X_max",
            "Y_min",
            "Y_max",
            "Xpeak",
            "Ypeak",
            "Isl_rms",
            "Isl_mean",
            "Isl_id",
        )
        for way in self.ways(path):
            if "--contrast" in way:
                continue
            islands = {row["Isl_id"]: row for row in self.csv(path, *way)}
            n_alone = 0
            for row in self.csv(path, "--deblend", *way):
                if row.pop("S_Code") == "S":
                    self.assertEqual(row, {**islands[row["Isl_id"]], "Source_id": row["Source_id"]})
                    n_alone += 1
            self.assertGreater(n_alone, 5)
            for row in self.csv(path, "--fit", *way):
                if row["S_Code"] == "S":
                    self.assertEqual(
                        [row[name] for name in kept],
                        [islands[row["Isl_id"]][name] for name in kept],
                    )
                    if int(row["Flags"]) & NOT_FITTED:
                        island = islands[row["Isl_id"]]
                        # errors of fluxes follow from the correlation that was measured
                        for name in ("E_Isl_Total_flux", "E_Total_flux"):
                            del row[name], island[name]
                        self.assertEqual(
                            {name: row[name] for name in island},
                            {
                                **island,
                                "Source_id": row["Source_id"],
                                "Flags": str(int(island["Flags"]) + NOT_FITTED),
                            },
                        )

    def test_negative(self):
        """The sources of the negated image, with their signs."""
        path = self.sky("--seed", "5", "--extended", "0.3")
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        both = image - np.roll(image[::-1], 40, axis=1)
        path, negated = self.write("both.fits", both, header), self.write(
            "negated.fits", -both, header
        )
        for options in (["--deblend"], ["--fit"], ["--local", "--fit"]):
            positive, all_rows = self.csv(path, "-i", "3", *options), self.csv(
                path, "-i", "3", "--negative", *options
            )
            below = self.csv(negated, "-i", "3", *options)
            self.assertEqual(all_rows[: len(positive)], positive)
            self.assertEqual(len(all_rows) - len(positive), len(below))
            self.assertGreater(len(below), 20)
            n_islands = int(positive[-1]["Isl_id"])
            for row, other in zip(all_rows[len(positive) :], below):
                changed = {
                    name: other[name][1:]
                    if other[name].startswith("-")
                    else other[name]
                    if other[name] in ("", "0")
                    else "-" + other[name]
                    for name in t.TURNED
                    if name in other
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

    # --- Pix_SNR ---

    def deblended_snr(self, path, *options):
        """For each island the (largest ratio, x, y of the peak) of its deblended sources, from
        maps."""
        catalogue = self.path("plain.json")
        t.run(
            path,
            "-q",
            "--deblend",
            *options,
            "--save",
            "sources,rms,background",
            "-o",
            catalogue,
            check=True,
        )
        image, sources, rms, background = (
            np.squeeze(fits.getdata(name)).astype(float)
            for name in (
                path,
                *(self.path("plain.%s.fits" % name) for name in ("sources", "rms", "background")),
            )
        )
        with open(catalogue) as stream:
            found = json.load(stream)
        if "local" not in found["background"]:  # maps have 24 bits of the value
            rms, background = np.full(image.shape, found["background"]["rms"]), np.full(
                image.shape, found["background"]["median"]
            )
        islands = {}
        for row in found["sources"]:
            inside = sources == row["Source_id"]
            sign = -1 if row["Flags"] & NEGATIVE else 1
            largest = (sign * (image - background)[inside] / rms[inside]).max()
            islands.setdefault(row["Isl_id"], []).append(
                (sign * largest, row["Xpeak"], row["Ypeak"])
            )
        return islands

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    def test_pixel_snr(self):
        """That of a deblended source, or of the island for Gaussians that were added."""
        path = self.sky("--extended", "0.3", "--noise-rise", "1", "--seed", "3", side=500)
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        image[:, 7::40] = np.nan
        path = self.write("stripes.fits", image, header)
        n_added = n_near = n_not_fitted = n_below = n_held = 0
        for options, most in (
            (["-i", "3"], 0),
            (["--local", "-i", "3"], 1e-6),
            (["-i", "2", "--negative", "-n", "4"], 0),
            (["-i", "3", "--connectivity", "8", "--contrast", "0.3"], 0),
        ):
            deblended = self.deblended_snr(path, *options)
            rows = grouped(self.json(path, *options, "--group", "0"))
            self.assertEqual(list(rows), list(deblended))
            threshold = float(options[options.index("-n") + 1]) if "-n" in options else 5
            for island, parts in deblended.items():
                left = [row["Pix_SNR"] for row in rows[island]]
                may_be_held = max(len(parts) - len(left), 0)  # by the Gaussians of others
                for snr, x, y in parts:
                    match = min(left, key=lambda value: abs(value - snr), default=np.inf)
                    if may_be_held > 0 and abs(match - snr) > most * abs(snr):
                        may_be_held -= 1
                        n_held += 1
                        continue
                    self.assertLessEqual(abs(match - snr), most * abs(snr))
                    left.remove(match)
                    near = [
                        row
                        for row in rows[island]
                        if math.hypot(row["Xposn"] - x, row["Yposn"] - y) < 0.7
                    ]
                    # the Gaussian is the peak's own
                    if len(near) == 1 and len(rows[island]) == len(parts):
                        self.assertLessEqual(abs(near[0]["Pix_SNR"] - snr), most * abs(snr))
                        n_near += len(parts) > 1
                largest = max((snr for snr, _, _ in parts), key=abs)
                self.assertTrue(all(abs(value - largest) <= most * abs(largest) for value in left))
                n_added += len(left)
                for row in rows[island]:
                    self.assertGreaterEqual(abs(row["Pix_SNR"]), threshold)
                    self.assertEqual(row["Pix_SNR"] < 0, bool(row["Flags"] & NEGATIVE))
                    n_below += abs(row["SNR"]) < threshold
                    n_not_fitted += bool(row["Flags"] & NOT_FITTED)
        print(
            "%d of one peak of several, %d added, %d not fitted, %d held by others, %d with SNR below "
            "the threshold" % (n_near, n_added, n_not_fitted, n_held, n_below)
        )
        self.assertGreater(min(n_near, n_added, n_not_fitted, n_below), 4)

    def test_pixel_snr_where_noise_is_steep(self):
        """No pixel of the highest peak passes, and the other peak does; or only a pixel beside the
        peak does."""
        y, x = np.mgrid[:60, :60]
        rms = np.where(x < 30, 4.0, 1.0)

        def found(*peaks):
            image = sum(
                peak * np.exp(-((x - at) ** 2 + (y - 30) ** 2) / (2 * (5 / FWHM) ** 2))
                for at, peak in peaks
            )
            header = t.sky_header(BMAJ=5 * 5e-4, BMIN=5 * 5e-4, BPA=0.0)
            path = self.write("steep.fits", image.astype(np.float32), header)
            rows = self.json(
                path,
                "--rms-map",
                self.write("rms.fits", rms.astype(np.float32)),
                "--background",
                "zero",
                "-i",
                "0.3",
                "--fit",
            )
            return rows, image.astype(np.float32).astype(float) / rms

        rows, ratio = found((25, 18), (33, 12))
        self.assertEqual([len(rows), {row["Isl_id"] for row in rows}], [2, {1}])
        self.assertLess(ratio[:, :30].max(), 5)
        self.assertEqual({row["Pix_SNR"] for row in rows}, {ratio.max()})
        rows, ratio = found((28.8, 12))
        self.assertEqual([len(rows), rows[0]["Pix_SNR"], rows[0]["Xpeak"]], [1, ratio.max(), 29])
        self.assertLess(rows[0]["SNR"], 5)
        self.assertGreater(ratio.max(), 5)

    # --- the same bytes ---

    def test_same_bytes(self):
        skies = (
            self.sky("--seed", "6", "--extended", "0.3"),
            self.sky(
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
        for path in skies[1:] if t.SANITIZED else skies:
            for way in (
                ["--fit"],
                ["--shapes", "free", "-i", "3"],
                ["--shapes", "beam", "-i", "2"],
                ["--fit", "--local", "-i", "3"],
                ["--deblend", "-i", "2"],
                ["--fit", "-i", "1", "-n", "2"],
                ["--fit", "-i", "3", "--negative", *self.with_maps(path)],
            ):
                expected = self.text(path, "-j", "1", *way)
                self.assertGreater(expected.count("\n"), 10)
                for threads in (7,) if t.SANITIZED else (2, 7):
                    self.assertEqual(self.text(path, "-j", threads, *way), expected)
                for variant in ("SSE2",) if t.SANITIZED else ("AVX2", "SSE2", "plain"):
                    self.assertEqual(
                        self.text(path, *way, environment={"SRCFIND_SIMD": variant}), expected
                    )

    def test_storage(self):
        """Tiles and gzip, whose chunks are others."""
        path = self.sky("--seed", "8", "--extended", "0.3")
        with fits.open(path) as hdus:
            image, header = hdus[0].data.astype(np.float32), hdus[0].header
        plain = self.write("plain.fits", image, header)
        cards = fits.Header(
            [
                card
                for card in header.cards
                if card.keyword not in ("SIMPLE", "BITPIX", "NAXIS", "NAXIS1", "NAXIS2")
            ]
        )
        tiles = self.path("tiles.fits")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(image, "GZIP_2", (70, 13), cards, quantize_level=0)]
        ).writeto(tiles)
        zipped = self.write("image.fits.gz", image, header)
        expected = self.text(plain, "--fit", "-i", "3")
        self.assertGreater(expected.count("\n"), 10)
        for other in (tiles, zipped):
            for threads in (1, 7):
                self.assertEqual(self.text(other, "--fit", "-i", "3", "-j", threads), expected)

    # --- known sources ---

    def points(self, sources, side=120, beam=(5.0, 4.0, 30.0), seed=1, **cards):
        """A sky of these sources (x, y, peak in rms[, covariances]), with the noise of the beam."""
        a = sky.arguments([str(side), "x.fits", "--beam=%g,%g,%g" % beam, "--seed", str(seed)])
        image = sky.noise(a, np.random.default_rng(seed))
        shape = sky.covariance(beam)
        columns = [
            np.array(column, float)
            for column in zip(*((*s[:3], 1, *(s[3] if len(s) > 3 else shape)) for s in sources))
        ]
        sky.add_sources(image, columns)
        path = self.path("points.fits")
        header = fits.Header(
            sky.image_cards(
                side, -32, (beam[0] * PIXEL, beam[1] * PIXEL, beam[2]), PIXEL, sky.CENTRE
            )[5:]
        )
        header.update(cards)
        return self.write(path, (image * sky.NOISE).astype(np.float32), header)

    def assert_found(self, row, source, beam_area, n_errors=5):
        """Within errors of x, y, peak and flux."""
        x, y, peak, covariance = source
        flux = (
            peak
            * sky.NOISE
            * 2
            * math.pi
            * math.sqrt(covariance[0] * covariance[2] - covariance[1] ** 2)
            / beam_area
        )
        for name, value in (
            ("Xposn", x),
            ("Yposn", y),
            ("Peak_flux", peak * sky.NOISE),
            ("Total_flux", flux),
        ):
            self.assertLess(abs(row[name] - value), n_errors * row["E_" + name], name)

    def test_two_blended_sources(self):
        """1.4 beams apart, in all directions: one island, two sources."""
        beam = (5.0, 4.0, 30.0)
        shape, area = sky.covariance(beam), math.pi * beam[0] * beam[1] / (4 * math.log(2))
        for k in range(12):
            angle, peaks = k * math.pi / 6, (60, 60 if k % 2 else 25)
            places = [(60.3, 59.6), (60.3 + 6.3 * math.cos(angle), 59.6 + 6.3 * math.sin(angle))]
            sources = [(*place, peak, shape) for place, peak in zip(places, peaks)]
            rows = self.json(
                self.points(sources, seed=k + 1, beam=beam),
                "-i",
                "3",
                "--fit",
                "--rms",
                sky.NOISE,
                "--background",
                "zero",
            )
            rows = [row for row in rows if math.hypot(row["Xposn"] - 60, row["Yposn"] - 60) < 15]
            self.assertEqual(
                [len(rows), {row["S_Code"] for row in rows}, len({row["Isl_id"] for row in rows})],
                [2, {"C"}, 1],
            )
            for source in sources:
                row = min(
                    rows,
                    key=lambda row: math.hypot(row["Xposn"] - source[0], row["Yposn"] - source[1]),
                )
                self.assert_found(row, source, area)

    def test_cores_in_haloes(self):
        """A point with 15% of its peak in a halo of two beams is one source of two Gaussians, which
        has the flux of both."""
        beam = (5.0, 5.0, 0.0)
        shape, area = sky.covariance(beam), math.pi * beam[0] * beam[1] / (4 * math.log(2))
        halo, random = tuple(4 * moment for moment in shape), np.random.default_rng(8)
        for snr in (300,) if t.SANITIZED else (100, 300, 1000):
            places = [
                (
                    40 + 60 * (k % 7) + random.uniform(0, 1),
                    40 + 60 * (k // 7) + random.uniform(0, 1),
                )
                for k in range(49)
            ]
            sources = [
                source
                for place in places
                for source in ((*place, snr, shape), (*place, 0.15 * snr, halo))
            ]
            path = self.points(sources, side=440, seed=snr, beam=beam)
            rows = self.json(path, "-i", "3", "--fit", "--rms", sky.NOISE, "--background", "zero")
            gaussians = self.json(
                path, "-i", "3", "--group", "0", "--rms", sky.NOISE, "--background", "zero"
            )
            self.assertTrue(
                49 <= len(rows) <= 51 and len(gaussians) >= 90, (len(rows), len(gaussians))
            )
            self.assertGreater(sum(row["S_Code"] == "M" for row in rows), 40)
            flux = 1.6 * snr * sky.NOISE * 2 * math.pi * shape[0] / area
            self.assertAlmostEqual(
                np.median([row["Total_flux"] for row in rows]) / flux, 1, delta=0.01
            )
            self.assertAlmostEqual(
                np.median([row["Peak_flux"] for row in rows]) / (1.15 * snr * sky.NOISE),
                1,
                delta=0.02,
            )
            self.assertEqual(sum(row["N_Gaus"] for row in rows), len(gaussians))
            self.assertAlmostEqual(
                sum(row["Total_flux"] for row in rows)
                / sum(row["Total_flux"] for row in gaussians),
                1,
                delta=1e-12,
            )

    def test_group_of_any_width(self):
        """Points in a row, with dips of 20 rms between them: a large tolerance and --group island
        have a source of all Gaussians, and the flux of all."""
        sources = [(20 + 8 * k, 30 + k, 30) for k in range(9)] + [(60, 90, 30)]
        path = self.points(sources, beam=(5.0, 5.0, 0.0))
        options = ["-i", "3", "--rms", sky.NOISE, "--background", "zero"]
        alone = grouped(self.json(path, *options, "--group", "0"))
        self.assertEqual(sorted(len(rows) for rows in alone.values()), [1, 9])
        self.assertEqual(len(self.json(path, *options, "--group", "5")), 10)
        rows = self.json(path, *options, "--group", "island")
        self.assertEqual([row["N_Gaus"] for row in rows], [9, 1])
        self.assertEqual(rows[0]["S_Code"], "M")
        self.assertAlmostEqual(
            rows[0]["Total_flux"] / sum(row["Total_flux"] for row in alone[rows[0]["Isl_id"]]), 1
        )
        self.assertEqual(
            self.text(path, *options, "--group", "12"), self.text(path, *options, "--group=island")
        )
        for given, written in (("island", "island"), ("12", 12)):
            text = self.text(path, *options, "--group", given, "-f", "json")
            self.assertEqual(json.loads(text)["options"]["group"], written)
        for wrong in ("islands", "-1", "inf", "nan", "1,5", ""):
            result = t.run(path, "--group=" + wrong)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is not island or a number from 0 on", result.stderr)

    def test_table_of_gaussians(self):
        """--save gaussians: in every format the rows of --group 0, by the sources that they belong
        to; read back, and searched for again."""
        path, options = self.sky("--density", "800", "--seed", "31", side=600), [
            "-i",
            "3",
            "--negative",
        ]
        kept = (
            "Xposn",
            "Yposn",
            "E_Xposn",
            "Total_flux",
            "E_Total_flux",
            "Peak_flux",
            "Maj",
            "DC_Maj",
            "E_DC_PA",
            "Resid_Isl_rms",
            "Isl_id",
        )
        alone = {row["Xposn"]: row for row in self.json(path, *options, "--group", "0")}
        with open(self.path("expected.csv"), "w") as stream:
            stream.write(self.text(path, *options, "--fit"))
        rows, n_flagged = {
            int(row["Source_id"]): row for row in t.read_csv(self.path("expected.csv"))
        }, 0
        for name in ("csv", "json", "vot", "fits", "ecsv", "csv.gz", "reg"):
            self.text(path, *options, "--fit", "--save", "gaussians", "-o", self.path("c." + name))
            table = self.path("c.gaussians." + (name if name != "reg" else "csv"))
            if name in ("csv", "reg"):
                with open(table) as stream:
                    parts = [
                        {
                            key: float(cell)
                            if cell and key not in ("Source_Name", "S_Code")
                            else cell or None
                            for key, cell in row.items()
                        }
                        for row in csv.DictReader(stream)
                    ]
            elif name == "json":
                with open(table) as stream:
                    parts = json.load(stream)["gaussians"]
            else:
                found = self.text(path, "--at", table) if name != "vot" else None
                self.assertTrue(found is None or found.count("\n") == len(parts) + 1)
                continue
            self.assertEqual([part["Gaus_id"] for part in parts], list(range(1, len(parts) + 1)))
            self.assertEqual(len(parts), len(alone))
            of_source = {}
            for part in parts:
                of_source.setdefault(int(part["Source_id"]), []).append(part)
                self.assertEqual(
                    [part[key] for key in kept], [alone[part["Xposn"]][key] for key in kept]
                )
                n_flagged += int(part["Flags"]) & NOT_FITTED > 0
            self.assertEqual(
                {source: len(of) for source, of in of_source.items()},
                {source: int(row["N_Gaus"]) for source, row in rows.items()},
            )
            self.assertEqual(
                {part["S_Code"] for of in of_source.values() if len(of) > 1 for part in of}, {"M"}
            )
        before = os.stat(self.path("c.gaussians.csv")).st_mtime_ns
        skip = (
            path,
            *options,
            "--fit",
            "--save",
            "gaussians",
            "-o",
            self.path("c.csv"),
            "--skip-existing",
        )
        self.assertIn("skipped", t.run(*skip, check=True).stderr)
        self.assertEqual(os.stat(self.path("c.gaussians.csv")).st_mtime_ns, before)
        os.remove(self.path("c.gaussians.csv"))
        t.run(*skip, check=True)
        self.assertTrue(os.path.exists(self.path("c.gaussians.csv")))
        self.assertEqual(t.run(path, "--save", "gaussians", "-o", self.path("c.csv")).returncode, 2)

    def test_many_blended_sources(self):
        """A hundred points, 1.4 beams apart, in one island: they are fitted in groups, and each
        step does its part."""
        beam, random = (5.0, 4.0, 30.0), np.random.default_rng(1)
        shape, area = sky.covariance(beam), math.pi * beam[0] * beam[1] / (4 * math.log(2))
        places = [
            15 + 6.3 * np.array([k % 10, k // 10]) + random.uniform(-0.5, 0.5, 2)
            for k in range(100)
        ]
        sources = [(*place, random.uniform(40, 90), shape) for place in places]
        rows = self.json(
            self.points(sources, side=90, beam=beam),
            "-i",
            "3",
            "--group",
            "0",
            "--rms",
            sky.NOISE,
            "--background",
            "zero",
        )
        self.assertEqual({row["Isl_id"] for row in rows if row["SNR"] > 20}, {rows[0]["Isl_id"]})
        n_good = n_shaped = 0
        for source in sources:
            row = min(
                rows, key=lambda row: math.hypot(row["Xposn"] - source[0], row["Yposn"] - source[1])
            )
            n_shaped += bool(row["Flags"] & BEAM_SHAPED)
            flux = (
                source[2]
                * sky.NOISE
                * 2
                * math.pi
                * math.sqrt(shape[0] * shape[2] - shape[1] ** 2)
                / area
            )
            off = [
                abs(row[name] - value) / row["E_" + name]
                for name, value in (
                    ("Xposn", source[0]),
                    ("Yposn", source[1]),
                    ("Peak_flux", source[2] * sky.NOISE),
                    ("Total_flux", flux),
                )
            ]
            n_good += max(off) < 5
        print(
            "of 100 blended points %d are within 5 errors, %d have the beam's shape; %d rows"
            % (n_good, n_shaped, len(rows))
        )
        self.assertGreater(n_good, 90)
        self.assertGreater(n_shaped, 60)
        self.assertLess(len(rows), 106)

    def test_wide_source(self):
        """Its size on the sky, and the one without the beam."""
        beam = (5.0, 4.0, 30.0)
        area = math.pi * beam[0] * beam[1] / (4 * math.log(2))
        for angle in (0, 40, 75, 120, 165):
            own = sky.covariance((9.0, 5.0, angle))
            shape = tuple(a + b for a, b in zip(own, sky.covariance(beam)))
            major, minor, pa = (float(value) for value in sky.axes(*shape))
            path = self.points([(60.2, 61.4, 300, shape)], seed=angle + 1, beam=beam)
            row = max(
                self.json(path, "-i", "3", "--fit", "--rms", sky.NOISE, "--background", "zero"),
                key=lambda row: row["SNR"],
            )
            self.assert_found(row, (60.2, 61.4, 300, shape), area)
            self.assertFalse(row["Flags"] & BEAM_SHAPED)
            for name, value in (
                ("Maj", major * PIXEL),
                ("Min", minor * PIXEL),
                ("DC_Maj", 9 * PIXEL),
                ("DC_Min", 5 * PIXEL),
            ):
                self.assertLess(abs(row[name] - value), 5 * row["E_" + name], name)
                self.assertLess(abs(row[name] / value - 1), 0.05, name)
            for name, value in (("PA", pa), ("DC_PA", angle)):
                self.assertLess(
                    abs((row[name] - value + 90) % 180 - 90), 5 * row["E_" + name] + 0.05, name
                )

    def shapes(self, peak, random):
        """Rings, discs, arcs, jets, exponentials, haloes and bubbles in noise of 1 that the beam of
        5 pixels made."""
        side, beam = 128, 5 / FWHM
        y, x = np.mgrid[:side, :side] - side / 2 + 0.3
        r = np.hypot(x, y)
        kinds = [
            (r > 15) & (r < 18),
            (np.hypot(x, 2 * y) > 24) & (np.hypot(x, 2 * y) < 28),
            r < 15,
            (abs(r - 20) < 2) & (y > abs(x)),
            (abs(x) < 30) & (abs(y - x / 2) < 2),
            np.exp(-r / 6),
            np.exp(-r / 15),
            np.exp(-(r**2) / 800) + 30 * (r < 1),
            (r < 45) & (np.hypot(x - 15, y) > 12),
        ]
        image = np.empty((3 * side, 3 * side))
        for k, kind in enumerate(kinds):
            smooth = ndimage.gaussian_filter(kind.astype(float), beam)
            image[
                k // 3 * side : (k // 3 + 1) * side, k % 3 * side : (k % 3 + 1) * side
            ] = smooth * (peak / smooth.max())
        noise = ndimage.gaussian_filter(random.normal(size=image.shape), beam)
        return (image + noise / noise.std()).astype(np.float32)

    def flux_ratios(self, image, rows, island):
        """Of islands of ten errors: flux of the Gaussians / of the island, corrected for what lies
        below the island threshold."""
        for parts in grouped(rows).values():
            flux, error = parts[0]["Isl_Total_flux"], parts[0]["E_Isl_Total_flux"]
            if flux >= 10 * error:
                peak = max(
                    float(image[row["Ypeak"], row["Xpeak"]])
                    for row in parts
                    if row["N_pix"] is not None
                )
                fitted = sum(row["Total_flux"] for row in parts if not row["Flags"] & NOT_FITTED)
                yield fitted / flux * (1 - island / peak)

    def test_no_flux_out_of_nothing(self):
        """No island of ten errors has Gaussians of more than 1.5 times its flux; without second
        fits one has 4.7 times."""
        header, random = t.sky_header(BMAJ=2.5e-3, BMIN=2.5e-3, BPA=0.0), np.random.default_rng(3)
        options = ("-i", "3", "--rms", "1", "--background", "zero", "--fit")
        ratios, flags = [], []
        for peak, has_specks in (
            ((20, False), (20, True))
            if t.SANITIZED
            else ((6, False), (12, False), (20, False), (50, False), (20, True))
        ):
            image = self.shapes(peak, random)
            if has_specks:  # islands beside a blank pixel are checked, too
                image[::13, ::17] = np.nan
            path = self.write("shapes.fits", image, header)
            rows = self.json(path, *options)
            ratios += self.flux_ratios(image, rows, 3)
            flags += [row["Flags"] for row in rows]
            self.assertEqual(
                self.text(path, *options, "-j", "1"), self.text(path, *options, "-j", "7")
            )
        self.assertGreater(len(ratios), 15 if t.SANITIZED else 30)
        self.assertLess(max(ratios), 1.501)
        self.assertLess(sum(bool(flag & NOT_FITTED) for flag in flags), 0.03 * len(flags))

    def test_cut_by_an_edge(self):
        """The flux of what is beyond the edge is not made out of nothing: points on both sides of
        it keep their Gaussians."""
        beam = (5.0, 4.0, 30.0)
        sources = [(x, 30.0 * k + 15.3, 200.0) for k, x in enumerate((-0.8, -0.4, 0.2, 0.9))]
        rows = sorted(
            self.json(self.points(sources, beam=beam, seed=4), "--fit", "-i", "3"),
            key=lambda row: row["Yposn"],
        )
        self.assertEqual(len(rows), len(sources))
        for row, (x, _, peak) in zip(rows, sources):
            self.assertEqual(row["Flags"] & (EDGE | NOT_FITTED), EDGE)
            self.assertLess(abs(row["Total_flux"] / (peak * sky.NOISE) - 1), 0.1)
            self.assertLess(abs(row["Xposn"] - x), 0.2)

    def test_too_small_for_its_flux(self):
        """No Gaussian has as little flux as a lone pixel: it keeps its moments, but where the
        island threshold is the lower one."""
        image = np.zeros((40, 50), np.float32)
        image[20, 30] = 12
        path = self.write("pixel.fits", image, t.sky_header(BMAJ=None, BMIN=None, BPA=None))
        for island, is_fitted in (("3", False), ("5", True)):
            (row,) = self.json(path, "--rms", "1", "--background", "zero", "--fit", "-i", island)
            self.assertEqual(bool(row["Flags"] & NOT_FITTED), not is_fitted)
            self.assertEqual(row["N_Gaus"], 1)

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    def test_nothing_runs_away(self):
        """On crowded skies, and at blank borders, no component is where no pixel tells how high it
        is: it does not go deep below the image, nor is there more flux than in the island."""
        for k, options in enumerate(
            (
                ["--seed", "32", "--density", "8000"],
                ["--seed", "24", "--density", "2000", "--border", "100"],
                ["--seed", "12", "--density", "3000", "--border", "60", "--beam", "6,4,35"],
            )
        ):
            path, catalogue = self.path("wild%d.fits" % k), self.path("wild%d.csv" % k)
            sky.make(["1024", path, "--extended", "0.15", *options])
            self.assertEqual(
                self.text(path, "-i", "3", "--group", "0", "--save", "residual", "-o", catalogue),
                "",
            )
            rows = [row for row in t.read_csv(catalogue) if not int(row["Flags"]) & NOT_FITTED]
            residual = fits.getdata(self.path("wild%d.residual.fits" % k))
            n_inside = 0
            for row in rows:
                x, y = round(row["Xposn"]), round(row["Yposn"])
                self.assertGreaterEqual(row["SNR"], 1)
                if row["SNR"] > 15 and not int(row["Flags"]) & EDGE:
                    self.assertLess(row["Total_flux"], 3 * row["Isl_Total_flux"], row)
                if (
                    0 <= x < residual.shape[1]
                    and 0 <= y < residual.shape[0]
                    and np.isfinite(residual[y, x])
                ):
                    self.assertGreater(
                        residual[y, x], -max(10, 0.3 * row["SNR"]) * row["Isl_rms"], row
                    )
                    n_inside += 1
            self.assertGreater(n_inside, 0.95 * len(rows))

    def test_shapes_that_are_no_gaussians(self):
        """Fluxes of discs, bars and rings are those of their pixels. (Gaussians of the core have
        1.2 to 2.5 times as much.)"""
        y, x = np.mgrid[:128, :128]
        distance = np.hypot(x - 64.3, y - 63.8)
        shapes = {
            "disc": distance < 8,
            "larger disc": distance < 12,
            "bar": (abs(x - 64) < 12) & (abs(y - 64) < 3),
            "ring": (distance < 10) & (distance > 7),
        }
        random = np.random.default_rng(1)
        for (name, shape), snr in itertools.product(shapes.items(), (30, 100, 1000)):
            smooth = ndimage.gaussian_filter(shape.astype(float), 5 / FWHM)
            noise = ndimage.gaussian_filter(random.normal(size=shape.shape), 5 / FWHM)
            image = snr * smooth / smooth.max() + noise / noise.std()
            path = self.write(
                "shape.fits",
                image.astype(np.float32),
                t.sky_header(BMAJ=5 * 5e-4, BMIN=5 * 5e-4, BPA=0.0),
            )
            rows = self.json(path, "--rms", "1", "--background", "zero", "-i", "3", "--fit")
            island = max(row["Isl_Total_flux"] for row in rows)
            total = sum(row["Total_flux"] for row in rows if row["Isl_Total_flux"] == island)
            with self.subTest(name, snr=snr):
                self.assertTrue(0.95 < total / island < 1.2, total / island)

    def test_declination(self):
        """The margin of a fit does not depend on the last digits of WCSLIB, where the beam is a
        whole number of pixels: the same pixels have the same fits at all declinations."""
        for beam in (2, 4, 6):
            found = set()
            for declination in (-60.0, -30.0, 0.0, 10.0, 45.0, 60.0):
                path = self.write(
                    "dec.fits",
                    self.smooth(beam),
                    t.sky_header(
                        CRVAL2=declination,
                        CRPIX1=75.0,
                        CRPIX2=75.0,
                        BMAJ=beam * 5e-4,
                        BMIN=beam * 5e-4,
                        BPA=0.0,
                    ),
                )
                rows = self.json(path, "-i", "3", "--fit")
                found.add(
                    tuple(
                        (row["Flags"], "%.5g" % row["Peak_flux"], "%.5f" % row["Xposn"])
                        for row in rows
                    )
                )
            self.assertEqual(len(found), 1, beam)
            self.assertGreater(len(rows), 10)
            self.assertFalse([row for row in rows if row["Flags"] & NOT_FITTED])

    def smooth(self, beam):
        """Noise of a beam with points of 15 and more rms."""
        random = np.random.default_rng(3)
        image = np.zeros((150, 150))
        for x, y in itertools.product(range(15, 150, 30), repeat=2):
            image[y, x] = 1
        points = ndimage.gaussian_filter(
            ndimage.shift(image, random.uniform(-0.5, 0.5, 2), order=1), beam / FWHM
        )
        noise = ndimage.gaussian_filter(random.normal(size=image.shape), beam / FWHM)
        return (noise / noise.std() + 20 * points / points.max()).astype(np.float32)

    def test_edge_and_uncertain_parts(self):
        """Both parts of a divided island that touches a blank pixel have flag 1; flag 16 is where
        an error says it."""
        data = fits.getdata(self.points([(60.2, 61.4, 100), (66.0, 63.0, 60), (20.0, 20.0, 40)]))
        data[57, 60] = np.nan
        path = self.write("blank.fits", data, fits.getheader(self.path("points.fits")))
        for options in (["--deblend"], ["--fit"]):
            islands = grouped(self.csv(path, "-i", "3", *options))
            parts = next(rows for rows in islands.values() if len(rows) > 1)
            self.assertEqual({int(row["Flags"]) & EDGE for row in parts}, {EDGE})
            self.assertIn(
                {0}, [{int(row["Flags"]) & EDGE for row in rows} for rows in islands.values()]
            )
        rows, n_uncertain = self.json(self.sky(), "-n", "3", "-i", "1", "--fit"), 0
        for row in rows:
            is_uncertain = row["E_Total_flux"] > 0.5 * abs(row["Total_flux"])
            self.assertEqual(bool(row["Flags"] & UNCERTAIN), is_uncertain)
            n_uncertain += is_uncertain
        self.assertGreater(n_uncertain, 0)

    def test_point_source(self):
        """The beam's shape: flag, sizes, and nothing left without the beam."""
        beam, n_shaped = (5.0, 4.0, 30.0), 0
        for seed in range(1, 25):
            rows = self.json(
                self.points([(60.2, 61.4, 40)], seed=seed, beam=beam), "-i", "3", "--fit"
            )
            row = max(rows, key=lambda row: row["SNR"])
            self.assertEqual(row["S_Code"], "S")
            self.assertAlmostEqual(row["Resid_Isl_rms"] / row["Isl_rms"], 1, delta=0.7)
            if not row["Flags"] & BEAM_SHAPED:
                continue
            n_shaped += 1
            self.assertEqual([row["DC_Maj"], row["DC_Min"], row["DC_PA"]], [0, 0, 0])
            for name, value in (
                ("Maj", beam[0] * PIXEL),
                ("Min", beam[1] * PIXEL),
                ("PA", beam[2]),
            ):
                self.assertAlmostEqual(row[name] / value, 1, delta=1e-4)
            self.assertAlmostEqual(row["Total_flux"] / row["Peak_flux"], 1, delta=1e-4)
        print("%d of 24 have the beam's shape" % n_shaped)
        self.assertGreater(n_shaped, 12)  # noise makes others wider by two errors

    @staticmethod
    def error_of_area(major, minor, snr, noise_width):
        """Of a Gaussian of these widths (beams), over its area, in noise whose autocorrelation is a
        round Gaussian of this width: the integrals of measure/fit_uncertainty.h in closed form."""
        p = 2 / max(1, major * minor) ** 1.5

        def integrals(w):
            between = 1 / noise_width**2
            alpha, variance = (1 + 2 * p) / w**2 + between, w**2 / (2 + 2 * p)
            norm, determinant = math.sqrt(2 * math.pi * variance), alpha**2 - between**2
            a = norm * np.array([1, variance / w**2, 3 * variance**2 / w**4])
            same, other = alpha / determinant / w**2, between / determinant / w**2
            return a, 2 * math.pi / math.sqrt(determinant) * np.array(
                [1, same, same**2 + 2 * other**2]
            )

        (ax, bx), (ay, by) = integrals(major), integrals(minor)
        slopes, noise = (
            np.array(
                [
                    [x[0] * y[0], x[1] * y[0], x[0] * y[1]],
                    [x[1] * y[0], x[2] * y[0], x[1] * y[1]],
                    [x[0] * y[1], x[1] * y[1], x[0] * y[2]],
                ]
            )
            for x, y in ((ax, ay), (bx, by))
        )
        covariance = np.linalg.inv(slopes) @ noise @ np.linalg.inv(slopes)
        return math.sqrt(covariance[1:, 1:].sum()) / snr

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    def test_narrower_than_the_beam(self):
        """Flag 1024: the area is 3 errors below 0.8 of that of the beam."""
        path, n_narrow, n_between = self.sky("--seed", "9", "--extended", "0.2", side=700), {}, 0
        for beam in (10, 11, 13, 15):
            rows = self.json(path, "-i", "3", "--group", "0", "--negative", "--beam", beam)
            for row in rows:
                is_narrow = bool(row["Flags"] & NARROW)
                if row["Flags"] & (BEAM_SHAPED | NOT_FITTED):
                    self.assertFalse(is_narrow)
                    continue
                major, minor = (3600 * row[name] / beam for name in ("Maj", "Min"))
                error = self.error_of_area(major, minor, abs(row["SNR"]), 10 / beam)
                most = major * minor * (1 + 3 * error)
                # sizes on the sky; the noise's correlation is measured to some hundredths
                if abs(most - 0.8) > 0.002 + 0.15 * (most - major * minor):
                    self.assertEqual(is_narrow, most < 0.8)
                n_between += major * minor < 0.8 and not is_narrow
                n_narrow[beam] = n_narrow.get(beam, 0) + is_narrow
        print("%s are narrower, and %d less than 3 errors" % (n_narrow, n_between))
        self.assertEqual(n_narrow[10], 0)
        self.assertGreater(min(n_narrow[13], n_between), 4)
        self.assertGreater(n_narrow[15], n_narrow[13])
        with fits.open(path) as hdus:
            del hdus[0].header["BMAJ"], hdus[0].header["BMIN"], hdus[0].header["BPA"]
            without = self.write("without.fits", hdus[0].data, hdus[0].header)
        self.assertEqual(
            {row["Flags"] & (NARROW | NO_BEAM) for row in self.json(without, "-i", "3", "--fit")},
            {NO_BEAM},
        )

    def test_no_beam(self):
        """Free fits, in the map's unit times pixels."""
        shape = sky.covariance((5.0, 4.0, 30.0))
        path = self.points([(60.2, 61.4, 100), (66.0, 63.0, 60)], BMAJ=0.0)
        islands, rows = self.json(path, "-i", "3"), self.json(path, "-i", "3", "--fit")
        self.check_islands(islands, rows)
        self.assertGreaterEqual(self.check_fit(rows, False), 2)
        row = rows[0] if rows[0]["SNR"] > 50 else max(rows, key=lambda row: row["SNR"])
        self.assertTrue(row["Flags"] & NO_BEAM)
        area = 2 * math.pi * math.sqrt(shape[0] * shape[2] - shape[1] ** 2)
        self.assertLess(math.hypot(row["Xposn"] - 60.2, row["Yposn"] - 61.4), 0.2)
        self.assertAlmostEqual(row["Total_flux"] / (100 * sky.NOISE * area), 1, delta=0.15)

    def test_no_sky(self):
        """Pixels alone: position, fluxes, and sizes in pixels, which are those on the sky where
        north is up; none without the beam."""
        pixels = t.noise(150, 160, seed=2)
        rows = self.json(self.write("pixels.fits", pixels), "-i", "3", "--fit")
        self.assertEqual(
            {row[name] for row in rows for name in ("RA", "DC_Maj", "E_DC_Maj")}, {None}
        )
        header = t.sky_header(BMAJ=None, BMIN=None, BPA=None)
        on_sky = self.json(self.write("sky.fits", pixels, header), "-i", "3", "--fit")
        for row, other in zip(rows, on_sky, strict=True):
            for name, scale in (
                ("Maj", header["CDELT2"]),
                ("Min", header["CDELT2"]),
                ("E_Maj", header["CDELT2"]),
                ("E_Min", header["CDELT2"]),
                ("E_PA", 1),
            ):
                self.assertEqual(row[name] is None, other[name] is None)
                if row[name] is not None:
                    self.assertAlmostEqual(row[name] * scale / other[name], 1, 4)
        self.assertGreater(self.check_fit(rows, False), 5)

    # --- odd images ---

    def check(self, image, *options, header=None, most=None):
        """Any image obeys; returns the rows of the fit."""
        path = self.write(
            "odd.fits", np.asarray(image, np.float32), t.sky_header() if header is None else header
        )
        has_beam = header is None
        for more in ([], ["--connectivity", "8"]):
            islands = self.json(path, *options, *more)
            self.check_islands(islands, self.json(path, "--deblend", *options, *more))
            text = self.text(path, "--fit", "-f", "json", "-j", "1", *options, *more)
            self.assertEqual(
                self.text(path, "--fit", "-f", "json", "-j", "7", *options, *more), text
            )
            rows = json.loads(text)["sources"]
            self.check_islands(islands, rows)
            self.check_fit(rows, has_beam)
        return rows

    def test_blank_stripes(self):
        image = t.noise(200, 210, seed=2, n_sources=60)
        image[::9] = np.nan
        image[:, 50:53] = np.nan
        self.assertGreater(len(self.check(image, "-i", "3")), 20)
        self.assertGreater(len(self.check(image, "-i", "2.5", "--rms-box", "50")), 20)

    def test_island_that_fills_the_image(self):
        image = 100 + (t.noise(70, 80, seed=3) if t.SANITIZED else t.noise(150, 170, seed=3))
        for rms in ("1", "3"):
            rows = self.check(image, "--background", "zero", "--rms", rms, "-i", "3")
            self.assertEqual({row["Isl_id"] for row in rows}, {1})
        self.check(np.full((40, 50), 7), "--background", "zero", "--rms", "1")

    def test_plateau(self):
        image = np.random.default_rng(1).normal(0, 1, (120, 130))
        image[30:60, 40:80] = 50
        image[80:84, 40:44] = 30
        self.check(image)
        self.check(image, "--contrast", "0.1", "-i", "1")

    def test_ten_thousand_peaks(self):
        """In one island, on a pedestal."""
        if t.SANITIZED:
            self.skipTest("takes long with sanitizers")
        y, x = np.mgrid[:1000, :1000]
        image = 10 + 20 * np.exp(-((x % 10 - 4.7) ** 2 + (y % 10 - 5.2) ** 2) / 5)
        path = self.write("peaks.fits", image.astype(np.float32), t.sky_header())
        options = ["--background", "zero", "--rms", "1", "-i", "5", "-q"]
        rows = self.json(path, "--deblend", *options)
        self.assertEqual([len(rows), sum(row["N_pix"] for row in rows)], [10000, 1000000])
        fitted = self.json(path, "--group", "0", *options)
        self.assertGreaterEqual(len(fitted), 10000)
        self.assertEqual(sum(row["N_pix"] or 0 for row in fitted), 1000000)

    def test_thin_images(self):
        random = np.random.default_rng(2)
        for shape in ((1, 300), (300, 1), (2, 200), (1, 1), (1, 3), (3, 2)):
            image = random.normal(0, 1, shape)
            image.ravel()[::37] += 30
            with self.subTest(shape):
                self.check(image)
                self.check(image, "--background", "zero", "--rms", "1", "-i", "1.5")

    def test_a_single_pixel(self):
        image = np.full((50, 60), np.nan)
        image[20, 30] = 9
        rows = self.check(image, "--background", "zero", "--rms", "1")
        self.assertEqual(
            [len(rows), rows[0]["Flags"] & NOT_FITTED, rows[0]["N_pix"]], [1, NOT_FITTED, 1]
        )

    def test_tiny_and_huge_values(self):
        """Scaled by powers of two, all that is measured scales."""
        image = t.noise(150, 160, seed=5, n_sources=40)
        rows = self.check(image, "-i", "3")
        for power in (-100, 100):
            scaled = self.check(np.ldexp(image, power), "-i", "3")
            self.assertEqual(len(scaled), len(rows))
            for row, other in zip(rows, scaled):
                for name in row:
                    value = (
                        math.ldexp(row[name], power)
                        if name
                        in (
                            *t.TURNED[:-2],
                            "E_Isl_Total_flux",
                            "E_Total_flux",
                            "E_Peak_flux",
                            "Isl_rms",
                            "Resid_Isl_rms",
                        )
                        and row[name] is not None
                        else row[name]
                    )
                    self.assertEqual(other[name], value, name)

    def test_extreme_noise(self):
        """Values that are huge in units of the rms: no cell is infinite, and nothing hangs. (Where
        squares of SNR overflow, errors are 0, which JSON may not have.)"""
        image = t.noise(50, 55, seed=6) if t.SANITIZED else t.noise(100, 110, seed=6)
        for rms in ("1e-30", "1e-140"):
            self.check(image, "--rms", rms, "-i", "3")
        text = self.text(self.path("odd.fits"), "--fit", "--rms", "1e-300", "-i", "3")
        self.assertGreater(text.count("\n"), 10)
        self.assertNotRegex(text, "(?i)[,-](inf|nan)")

    # --- the recipe's own program ---

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    @t.unittest.skipUnless(
        os.path.exists(os.path.join(t.SHARED, "tools", "fit_prototype.py")),
        "needs SRCFIND_TEST_DATA",
    )
    def test_against_the_recipe(self):
        """recipe.py, which is tools/fit_prototype.py with what is done beyond it. It has float64
        sums in NumPy's order, and so other last digits: a decision of its five steps may fall the
        other way."""
        program, skies = os.path.join(t.SOURCE_ROOT, "tests", "system", "recipe.py"), []
        for k, options in enumerate(
            (
                ["--seed", "1"],
                ["--seed", "2", "--extended", "0.4"],
                ["--seed", "3", "--beam", "8,4.5,35"],
                ["--seed", "4", "--noise-rise", "2", "--extended", "0.3", "--elongated"],
                ["--seed", "5", "--density", "4000"],
            )
        ):
            path = self.path("recipe%d.fits" % k)
            sky.make(["512", path, "--density", "600", *options])
            skies.append((options, path, path.replace(".fits", ".csv")))
        subprocess.run(
            [sys.executable, program, "75,25", *(file for _, *files in skies for file in files)],
            check=True,
            capture_output=True,
        )
        for options, path, catalogue in skies:
            with self.subTest(options):
                self.compare(
                    t.read_csv(catalogue),
                    self.json(
                        path, "--rms-box", "75,25", "-i", "3", "--connectivity", "8", "--group", "0"
                    ),
                )

    def compare(self, expected, rows):
        self.assertLessEqual(abs(len(rows) - len(expected)), max(1, 0.005 * len(expected)))
        x, y = (np.array([row[name] for row in rows]) for name in ("Xposn", "Yposn"))
        n_near = 0
        for e in expected:
            distance = np.hypot(x - e["Xposn"], y - e["Yposn"])
            row = rows[int(np.argmin(distance))]
            sizes = (
                (row["Maj"] / PIXEL, e["Maj"], row["E_Maj"] / PIXEL),
                (row["Min"] / PIXEL, e["Min"], row["E_Min"] / PIXEL),
            )
            off = [
                abs(row[name] - e[name]) / row["E_" + name]
                for name in ("Xposn", "Yposn", "Total_flux", "Peak_flux")
            ]
            off += [abs(one - other) / error for one, other, error in sizes]
            n_near += max(off) < 0.1 and bool(row["Flags"] & BEAM_SHAPED) == bool(e["Beam_shaped"])
        print(
            "%d of %d components of the recipe (%d here) are the same"
            % (n_near, len(expected), len(rows))
        )
        self.assertGreaterEqual(n_near, 0.99 * len(expected))


if __name__ == "__main__":
    t.main()

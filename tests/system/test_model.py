"""Maps of --deblend and --fit that are saved: sources, model and residual, compared with the
catalogue beside them."""
import os

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import oracle
import sky
import srcfind_test as t

MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
NAMES = ("sources", "model", "residual")
NOT_FITTED = 64
STEP = 0.01  # pixels


class Gaussian:
    """A source of a catalogue in the pixels of the image, by an astropy WCS."""

    def __init__(self, row, wcs):
        self.peak, self.x, self.y = row["Peak_flux"], row["Xposn"], row["Yposn"]
        to_sky = np.column_stack([self.step(wcs, STEP, 0), self.step(wcs, 0, STEP)]) / (2 * STEP)
        angle = np.radians(row["PA"])
        # east, north of both axes
        axes = np.array([[np.sin(angle), np.cos(angle)], [np.cos(angle), -np.sin(angle)]])
        on_sky = (
            axes.T @ np.diag([(8 * np.log(2)) / row[name] ** 2 for name in ("Maj", "Min")]) @ axes
        )
        self.form = to_sky.T @ on_sky @ to_sky

    def step(self, wcs, dx, dy):
        """How far two steps lead to the east and to the north, in degrees."""
        (lon, lon2), (lat, lat2) = wcs.all_pix2world(
            [self.x - dx, self.x + dx], [self.y - dy, self.y + dy], 0
        )
        return (lon2 - lon) * np.cos(np.radians((lat + lat2) / 2)), lat2 - lat

    def at(self, x, y):
        """Nothing beyond six sigma."""
        dx, dy = x - self.x, y - self.y
        square = (
            self.form[0, 0] * dx * dx + 2 * self.form[0, 1] * dx * dy + self.form[1, 1] * dy * dy
        )
        return np.where(square < 36, self.peak * np.exp(-square / 2), 0)


class Model(t.Case):
    def save(self, image, *options, names=NAMES):
        """The maps and the rows of the catalogue, with numbers."""
        t.run(
            image,
            "-q",
            "-o",
            self.path("c.csv"),
            "--save",
            ",".join((*names, "islands", "background")),
            *options,
            check=True,
        )
        maps = {
            name: fits.getdata(self.path("c.%s.fits" % name))
            for name in (*names, "islands", "background")
        }
        return maps, t.read_csv(self.path("c.csv"))

    def sky(self, *options, name="image.fits", side=400):
        path = self.path(name)
        sky.make([str(side), path, "--density", "1500", "--elongated", *options])
        return path

    def check_sources(self, path, maps, rows):
        """Each pixel of an island belongs to one of its sources, which has as many as its row says,
        where its row says."""
        sources, islands = maps["sources"], maps["islands"]
        image = oracle.read(path)[0].astype(np.float64) - maps["background"]
        self.assertEqual([sources.dtype, islands.dtype], [np.dtype(">i4")] * 2)
        self.assertTrue(np.array_equal(sources > 0, islands > 0))
        self.assertLessEqual(sources.max(), len(rows))
        isl_id = np.array([0] + [row["Isl_id"] for row in rows])
        self.assertTrue(np.array_equal(isl_id[sources], islands))
        for row in rows:
            if row["N_pix"] is None:
                self.assertFalse((sources == row["Source_id"]).any())
                continue
            box = tuple(
                slice(int(row[axis + "_min"]), int(row[axis + "_max"]) + 1) for axis in "YX"
            )
            y, x = np.nonzero(sources[box] == row["Source_id"])
            self.assertEqual([row["N_pix"], y.min(), x.min()], [len(x), 0, 0])
            self.assertEqual([y.max() + 1, x.max() + 1], [side.stop - side.start for side in box])
            self.assertEqual(sources[int(row["Ypeak"]), int(row["Xpeak"])], row["Source_id"])
            self.assertLessEqual(
                abs(row["Pixel_sum"] - image[box][y, x].sum()), 1e-5 * abs(row["Pixel_sum"])
            )
        self.assertEqual((sources > 0).sum(), sum(row["N_pix"] or 0 for row in rows))
        return sum(row["N_pix"] is None for row in rows)

    def check_owners(self, maps, rows, gaussians):
        """A pixel belongs to the highest Gaussian of its island."""
        n = 0
        for isl_id in {row["Isl_id"] for row in rows}:
            members = [i for i, row in enumerate(rows) if row["Isl_id"] == isl_id]
            if any(int(rows[i]["Flags"]) & NOT_FITTED for i in members):
                continue
            y, x = np.nonzero(maps["islands"] == isl_id)
            heights = np.abs([gaussians[i].at(x, y) for i in members])
            highest = np.sort(heights, axis=0)
            certain = (
                (heights.max(axis=0) > 0)
                if len(members) == 1
                else highest[-1] > highest[-2] * (1 + 1e-5)
            )
            owner = np.array([rows[i]["Source_id"] for i in members])[heights.argmax(axis=0)]
            self.assertTrue(np.array_equal(owner[certain], maps["sources"][y, x][certain]))
            n += len(members) > 1
        return n

    def check_model(self, path, maps, rows, gaussians):
        image, _ = oracle.read(path)
        y, x = np.indices(image.shape)
        total, peaks = np.zeros(image.shape), np.zeros(image.shape)
        parts = {}
        for row, gaussian in zip(rows, gaussians):
            if gaussian:
                value = gaussian.at(x, y)
                total += value
                peaks += np.abs(gaussian.peak) * (np.abs(value) > 1e-9 * np.abs(gaussian.peak))
                parts[row["Isl_id"]] = parts.get(row["Isl_id"], 0) + value
        above = image.astype(np.float64) - maps["background"]
        exact = np.abs(maps["background"]) * 2.0**-24  # the map of the background is rounded
        for name, expected, more in (("model", total, 0), ("residual", above - total, exact)):
            saved = maps[name]
            self.assertEqual(saved.dtype, np.dtype(">f4"))
            self.assertTrue(np.array_equal(np.isnan(saved), ~np.isfinite(image)))
            error = np.abs(saved - expected) - 2.0**-24 * np.abs(expected) - more - 3e-7 * peaks
            self.assertLessEqual(np.nanmax(error), 0, name)
        self.assertTrue((maps["model"][(peaks == 0) & np.isfinite(image)] == 0).all())
        for row in rows:  # the fit of an island does not know of others
            island = maps["islands"] == row["Isl_id"]
            residual = (maps["residual"] + total - parts.get(row["Isl_id"], 0))[island]
            self.assertLessEqual(
                abs(np.sqrt(np.mean(residual**2)) / row["Resid_Isl_rms"] - 1), 1e-4
            )

    def check(self, path, *options):
        """Returns how many islands were divided, and how many sources have no pixel."""
        maps, rows = self.save(path, "--fit", "--group", "0", *options)
        wcs = WCS(oracle.read(path)[1]).celestial
        gaussians = [None if int(row["Flags"]) & NOT_FITTED else Gaussian(row, wcs) for row in rows]
        n_empty = self.check_sources(path, maps, rows)
        self.check_model(path, maps, rows, gaussians)
        return self.check_owners(maps, rows, gaussians), n_empty

    @t.unittest.skipIf(t.SANITIZED, "numbers are the same with sanitizers")
    def test_skies(self):
        for make, options in (
            (["--seed", "1"], ["-i", "3"]),
            (
                ["--seed", "2", "--beam", "7,4,30", "--corner", "90", "--noise-rise", "2"],
                ["--local", "-i", "3"],
            ),
            (
                ["--seed", "3", "--slope", "20"],
                ["--rms-box", "48,16", "-i", "3", "--contrast", "0.5"],
            ),
            (
                ["--seed", "4", "--density", "4000"],
                ["-i", "2.5", "--connectivity", "8", "--min-pixels", "4"],
            ),
        ):
            with self.subTest(make=make, options=options):
                n_divided, _ = self.check(self.sky(*make), *options)
                self.assertGreater(n_divided, 5)

    def test_sources_without_pixels(self):
        """Some source of a crowded sky is highest nowhere."""
        self.assertGreater(
            self.check(
                self.sky("--seed", "1", "--density", "12000"), "-i", "2.5", "--contrast", "0.2"
            )[1],
            0,
        )

    def test_real_maps(self):
        for name in ("lofar", "magpis", "parkes"):
            for noise in ([], ["--local"]):
                with self.subTest(name, noise=noise):
                    self.check(os.path.join(MAPS, name + ".fits"), "-i", "3", *noise)

    def test_deblended(self):
        path = self.sky("--seed", "5", "--density", "4000")
        for options in (["--deblend"], ["--contrast", "3"], ["--deblend", "--local"]):
            maps, rows = self.save(path, "-i", "3", *options, names=["sources"])
            self.assertEqual(self.check_sources(path, maps, rows), 0)
            self.assertGreater(len(rows), maps["islands"].max() + 10)

    def test_many_islands(self):
        """More than are divided at a time."""
        image = t.noise(900, 1000, n_sources=0)
        image[5::6, 5::6] = 50
        image[450:600, 500] = 20 + np.arange(150) % 2 * 20
        path = self.write("many.fits", image)
        maps, rows = self.save(path, "--deblend", "--negative", "-n", "6", names=["sources"])
        self.check_sources(path, maps, rows)
        self.assertGreater(maps["islands"].max(), 20000)
        self.assertGreater(len(rows), maps["islands"].max() + 20)

    def mixed_sky(self):
        """With negative sources as well."""
        paths = [
            self.sky("--seed", str(seed), "--density", "3000", name="%d.fits" % seed)
            for seed in (6, 7)
        ]
        image = fits.getdata(paths[0]) - fits.getdata(paths[1])
        image[300:310, 20:50] = np.nan
        return self.write("mixed.fits", image, fits.getheader(paths[0]))

    def test_negative(self):
        """Those of the negated image follow; their Gaussians are negative."""
        path = self.mixed_sky()
        for options in ([], ["--local"]):
            self.check(path, "-i", "3", "--negative", *options)
            rows = t.read_csv(self.path("c.csv"))
            islands = fits.getdata(self.path("c.islands.fits"))
            self.assertEqual(islands.max(), rows[-1]["Isl_id"])
            self.assertGreater(len(rows), islands.max() + 10)
            self.assertLess(np.nanmin(fits.getdata(self.path("c.model.fits"))), -1e-3)
            maps, rows = self.save(
                path, "-i", "3", "--negative", "--deblend", *options, names=["sources"]
            )
            self.check_sources(path, maps, rows)

    def test_given_noise(self):
        """Background and rms by maps, and a mask."""
        path = self.sky("--seed", "8", "--noise-rise", "2", "--slope", "5")
        t.run(
            path,
            "-q",
            "--local",
            "--save",
            "rms,background",
            "-o",
            self.path("given.csv"),
            check=True,
        )
        rms, background = self.path("given.rms.fits"), self.path("given.background.fits")
        mask = np.ones((400, 400), np.uint8)
        mask[:50, :70] = 0
        maps, rows = self.save(
            path,
            "--fit",
            "--group",
            "0",
            "-i",
            "3",
            "--rms-map",
            rms,
            "--background-map",
            background,
            "--mask",
            self.write("mask.fits", mask),
            "--negative",
        )
        self.assertTrue(
            np.array_equal(
                maps["background"], np.where(mask, fits.getdata(background), np.nan), equal_nan=True
            )
        )
        masked = self.write(
            "masked.fits", np.where(mask, fits.getdata(path), np.nan), fits.getheader(path)
        )
        gaussians = [Gaussian(row, WCS(fits.getheader(path))) for row in rows]
        self.check_sources(masked, maps, rows)
        self.check_model(masked, maps, rows, gaussians)
        self.assertGreater(self.check_owners(maps, rows, gaussians), 5)

    def test_without_sky_or_beam(self):
        """Gaussians need neither; without a source the model is 0 everywhere."""
        path = self.sky("--seed", "9")
        image = fits.getdata(path)
        maps, rows = self.save(self.write("plain.fits", image), "--fit", "-i", "3")
        self.check_sources(self.path("plain.fits"), maps, rows)
        at_peaks = [(int(row["Ypeak"]), int(row["Xpeak"])) for row in rows if row["N_pix"]]
        self.assertGreater(np.mean([maps["model"][at] / image[at] > 0.7 for at in at_peaks]), 0.9)
        maps, rows = self.save(path, "--fit", "-n", "1e6")
        self.assertEqual([len(rows), maps["model"].any(), maps["sources"].any()], [0, False, False])
        expected = image.astype(np.float64) - t.find(path)["background"]["median"]
        self.assertTrue(np.array_equal(maps["residual"], expected.astype(np.float32)))

    def saved_bytes(self, image, *options, **environment):
        t.run(
            image,
            "-q",
            "-o",
            self.path("c.csv"),
            "--save",
            ",".join(NAMES),
            *options,
            check=True,
            env={**os.environ, **environment},
        )
        result = []
        for name in NAMES:
            with open(self.path("c.%s.fits" % name), "rb") as stream:
                result.append(stream.read())
        return result

    def test_same_bytes(self):
        """On any number of threads, with any variant of the code, and by the chunks of files, tiles
        and gzip."""
        path = self.mixed_sky()
        image, header = fits.getdata(path), fits.getheader(path)
        packed, tiles = self.write("image.fits.gz", image, header), self.path("tiled.fits")
        hdu = t.tiled(image.astype(np.float32), "GZIP_1", (70, 33), header, quantize_level=0)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(tiles)
        for options in (["-i", "3", "--fit"], ["-i", "3", "--fit", "--local", "--negative"]):
            expected = self.saved_bytes(path, "--threads", 1, *options)
            for image in (path, packed, tiles):
                for threads in (1, 2, 7):
                    with self.subTest(image, threads=threads):
                        self.assertEqual(
                            self.saved_bytes(image, "--threads", threads, *options), expected
                        )
            for variant in ("AVX2", "SSE2", "plain"):
                with self.subTest(variant):
                    self.assertEqual(
                        self.saved_bytes(path, *options, SRCFIND_SIMD=variant), expected
                    )

    def test_header(self):
        path = self.sky("--seed", "1")
        self.save(path, "--fit")
        for name in NAMES:
            header = fits.getheader(self.path("c.%s.fits" % name))
            self.assertEqual(header.get("BUNIT"), None if name == "sources" else "JY/BEAM")
            self.assertRegex(str(header["HISTORY"]), r"\Asrcfind [0-9.]+ map: %s\n" % name)
            self.assertIn("srcfind option fit: yes\n", str(header["HISTORY"]) + "\n")

    def test_wrong_usage(self):
        """What a map needs is asked for before anything is read."""
        for options, message in (
            (["--save", "model"], "--save: model needs --fit"),
            (["--deblend", "--save", "rms,residual"], "--save: residual needs --fit"),
            (["--save", "sources"], "--save: sources needs --deblend or --fit"),
            (["--at", "c.csv", "--save", "model"], "--save: model needs --fit or --at-fixed"),
            (
                ["--at", "c.csv", "--save", "sources"],
                "--save: no islands are found with --at: leave sources out",
            ),
            (
                ["--fit", "--bench", "--save", "model"],
                "--bench writes no catalogue, and does not go with --save",
            ),
        ):
            result = t.run(self.path("none.fits"), *options)
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr],
                [2, "", "srcfind: %s\n" % message],
            )


if __name__ == "__main__":
    t.main()

"""The same catalogue, byte for byte, however the work was done and the pixels were stored."""
import os
import shutil
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t


def catalogue(image, *options, **environment):
    """Both formats, without what JSON says of the file and of the options."""
    result = [t.run(image, *options, env={**os.environ, **environment}, check=True).stdout]
    text = t.run(
        image, "-f", "json", *options, env={**os.environ, **environment}, check=True
    ).stdout
    result.append(
        "".join(
            line for line in text.splitlines(True) if not line.startswith(('"image"', '"options"'))
        )
    )
    return result


def few(cases):
    """The first one alone for ThreadSanitizer."""
    return cases[:1] if t.THREADS_WATCHED else cases


class SameBytes(t.Case):
    def images(self):
        with_blanks = t.noise(700, 900, seed=2)
        with_blanks[:60, :] = np.nan
        with_blanks[300:310, 400:420] = np.nan
        yield "blanks", with_blanks
        if t.THREADS_WATCHED:
            return
        yield "small", t.noise(60, 50, seed=1)
        yield "integers", np.round(3 * t.noise(500, 600, seed=3))
        yield "faint tail", (t.noise(400, 500, seed=4) * 1e-5 + 3).astype(np.float32)

    def test_threads_and_variants(self):
        for name, image in self.images():
            path = self.write("image.fits", image, t.sky_header())
            expected = catalogue(path, "--threads", 1)
            self.assertGreater(expected[0].count("\n"), 3)
            for threads in (2, 7):
                with self.subTest(name, threads=threads):
                    self.assertEqual(catalogue(path, "--threads", threads), expected)
            for variant in () if t.THREADS_WATCHED else ("SSE2", "plain"):
                with self.subTest(name, variant=variant):
                    self.assertEqual(catalogue(path, SRCFIND_SIMD=variant), expected)

    def test_local_noise(self):
        options = ["--rms-box", "40,13", "-i", "3"]
        for name, image in self.images():
            path = self.write("image.fits", image, t.sky_header())
            expected = catalogue(path, "--threads", 1, *options)
            self.assertGreater(expected[0].count("\n"), 3)
            for threads in (2, 7):
                with self.subTest(name, threads=threads):
                    self.assertEqual(catalogue(path, "--threads", threads, *options), expected)
            for variant in () if t.THREADS_WATCHED else ("AVX2", "SSE2", "plain"):
                with self.subTest(name, variant=variant):
                    self.assertEqual(catalogue(path, *options, SRCFIND_SIMD=variant), expected)
            fits.HDUList(
                [
                    fits.PrimaryHDU(),
                    t.tiled(image, "GZIP_1", (100, 7), t.sky_header(), quantize_level=0),
                ]
            ).writeto(self.path("tiled.fits"), overwrite=True)
            self.assert_same(self.path("tiled.fits"), path, *options)

    def test_fits(self):
        """Threads share islands, and groups of large ones."""
        path = self.write("image.fits", t.noise(400, 410, seed=5, n_sources=150), t.sky_header())
        for options in (["--fit", "-i", "3"], ["--deblend", "-i", "1", "-n", "2"]):
            expected = catalogue(path, "--threads", 1, *options)
            self.assertGreater(expected[0].count("\n"), 100)
            with self.subTest(options):
                self.assertEqual(catalogue(path, "--threads", 7, *options), expected)

    def test_many_sources(self):
        """So many that threads share their measuring and writing; with a distortion, for which
        WCSLIB has scratch space."""
        image = t.noise(1000, 1100, seed=8, n_sources=0)
        image[4::8, 4::8] += 30
        sip = {
            "CTYPE1": "RA---TAN-SIP",
            "CTYPE2": "DEC--TAN-SIP",
            "A_ORDER": 2,
            "A_2_0": 1e-6,
            "B_ORDER": 2,
            "B_0_2": -2e-6,
        }
        for name, cards in (("plain", {}), ("distorted", sip)):
            path = self.write(name + ".fits", image, t.sky_header(**cards))
            expected = catalogue(path, "--threads", 1)
            self.assertGreater(expected[0].count("\n"), 17000)
            for threads in (2, 3, 7):
                with self.subTest(name, threads=threads):
                    self.assertEqual(catalogue(path, "--threads", threads), expected)

    def assert_same(self, packed, plain, *options):
        """On any number of threads, and as the plain file."""
        expected = catalogue(plain, *options)
        for threads in (2,) if t.SANITIZED else (1, 2, 7):
            with self.subTest(os.path.basename(packed), threads=threads):
                self.assertEqual(catalogue(packed, "--threads", threads, *options), expected)

    def test_lossless_tiles(self):
        for name, image in self.images():
            plain = self.write("image.fits", image, t.sky_header())
            for compression, tile in few(
                (
                    ("GZIP_1", None),
                    ("GZIP_2", (64, 64)),
                    ("GZIP_1", (7, 33)),
                    ("GZIP_2", image.shape[::-1]),
                )
            ):
                packed = self.path("image.fits.fz")
                hdu = t.tiled(image, compression, tile, t.sky_header(), quantize_level=0)
                fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(packed, overwrite=True)
                with self.subTest(name, compression=compression, tile=tile):
                    self.assert_same(packed, plain)

    def test_integer_tiles(self):
        """Every compression that keeps integers, in rows, in squares and in one tile."""
        image = np.round(20 * t.noise(500, 610, seed=3)).astype(np.int32)
        image -= image.min()
        plain = self.write("image.fits", image, t.sky_header())
        for compression in few(("RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1", "PLIO_1")):
            for tile in few((None, (64, 50), (610, 500))):
                packed = self.path("image.fits.fz")
                tiles = t.tiled(image, compression, tile, t.sky_header(), quantize_level=0)
                fits.HDUList([fits.PrimaryHDU(), tiles]).writeto(packed, overwrite=True)
                with self.subTest(compression, tile=tile):
                    self.assert_same(packed, plain)

    @t.unittest.skipUnless(shutil.which("fpack"), "no fpack and funpack (libcfitsio-bin)")
    def test_quantised_tiles(self):
        """As unpacked by CFITSIO's own program, dither and all."""
        path = self.write("image.fits", t.noise(700, 800, seed=9), t.sky_header())
        for options in few(("-r", "-r -t 100,90", "-r -w", "-r -qz 8", "-h", "-g", "-d")):
            subprocess.run(
                ["fpack", "-q", "4", *options.split(), "-O", self.path("packed.fits"), path],
                check=True,
            )
            subprocess.run(
                ["funpack", "-O", self.path("plain.fits"), self.path("packed.fits")], check=True
            )
            with self.subTest(options):
                self.assert_same(self.path("packed.fits"), self.path("plain.fits"))
            os.remove(self.path("packed.fits"))
            os.remove(self.path("plain.fits"))

    @t.unittest.skipUnless(shutil.which("fpack"), "no fpack and funpack (libcfitsio-bin)")
    def test_types_in_tiles(self):
        """Every type of pixel, blank ones, and tiles without noise, which are kept as they are."""
        noise = t.noise(300, 310, seed=4)
        whole = np.clip(np.round(20 * noise) + 100, 0, 30000)
        holes = noise.copy()
        holes[100:120, 30:90] = np.nan
        holes[200:230] = 0
        images = (
            ("bytes", np.clip(whole, 0, 255).astype(np.uint8), {}),
            ("shorts", (whole - 100).astype(np.int16), {"BLANK": 7}),
            ("unsigned", whole.astype(np.uint16), {}),
            ("longs", whole.astype(np.int32), {"BLANK": 100}),
            ("unsigned longs", whole.astype(np.uint32), {}),
            ("scaled", (whole - 100).astype(np.int16), {"BSCALE": 0.5, "BZERO": 3.0}),
            ("holes", holes, {}),
            ("doubles", holes.astype(np.float64), {}),
        )
        for name, image, cards in few(images):
            path = self.write("image.fits", image, t.sky_header())
            with fits.open(path, "update", do_not_scale_image_data=True) as hdus:
                hdus[0].header.update(cards)
            # PLIO has no negative numbers
            kinds = ["-r", "-h", "-g1", "-g2"] + ["-p"] * (name in ("bytes", "unsigned", "longs"))
            if image.dtype.kind == "f":
                kinds = ["-r -q 4", "-r -qz 4", "-g2 -q 4", "-g1 -q 0", "-h -q 4"]
            for options in few(kinds):
                subprocess.run(
                    ["fpack", *options.split(), "-O", self.path("packed.fits"), path],
                    check=True,
                    capture_output=True,
                )
                subprocess.run(
                    ["funpack", "-O", self.path("plain.fits"), self.path("packed.fits")], check=True
                )
                with self.subTest(name, options=options):
                    self.assert_same(self.path("packed.fits"), self.path("plain.fits"))
                os.remove(self.path("packed.fits"))
                os.remove(self.path("plain.fits"))

    def test_tiles_that_were_left_as_they_are(self):
        """As CFITSIO wrote those that it could not quantise, until 2011: in a column of their
        own."""
        image = t.noise(60, 70, seed=2)
        plain = self.write("image.fits", image, t.sky_header())
        for form, kind in (("PE()", np.float32), ("PD()", np.float64), ("QE()", np.float32)):
            columns = [
                fits.Column(
                    "COMPRESSED_DATA", "PB()", array=np.array([np.zeros(0, np.uint8)] * 60, object)
                ),
                fits.Column(
                    "UNCOMPRESSED_DATA", form, array=np.array(list(image.astype(kind)), object)
                ),
                fits.Column("ZSCALE", "D", array=np.ones(60)),
                fits.Column("ZZERO", "D", array=np.zeros(60)),
            ]
            table = fits.BinTableHDU.from_columns(columns)
            table.header.update(
                ZIMAGE=True,
                ZCMPTYPE="RICE_1",
                ZBITPIX=-32,
                ZNAXIS=2,
                ZNAXIS1=70,
                ZNAXIS2=60,
                ZTILE1=70,
                ZTILE2=1,
                ZNAME1="BLOCKSIZE",
                ZVAL1=32,
            )
            table.header.update(t.sky_header())
            packed = self.path("packed.fits")
            fits.HDUList([fits.PrimaryHDU(), table]).writeto(packed, overwrite=True)
            with self.subTest(form):
                self.assert_same(packed, plain)

    @t.unittest.skipUnless(
        shutil.which("fpack"),
        "no fpack (libcfitsio-bin), and astropy packs no more than three axes",
    )
    def test_plane_of_a_packed_cube(self):
        cube = np.stack([t.noise(400, 330, seed=s) for s in range(6)]).reshape(2, 3, 400, 330)
        path = self.write("cube.fits", cube, t.sky_header())
        for options in ("-g1 -q 0", "-g2 -q 0 -t 100,90,2"):
            subprocess.run(
                ["fpack", *options.split(), "-O", self.path("packed.fits"), path], check=True
            )
            for plane in ("1,1", "2,1", "3,2"):
                with self.subTest(options, plane=plane):
                    self.assert_same(self.path("packed.fits"), path, "--plane", plane)
            os.remove(self.path("packed.fits"))

    def test_plane_of_a_cube(self):
        cube = np.stack([t.noise(120, 130, seed=s) for s in range(6)]).reshape(2, 3, 120, 130)
        header = t.sky_header(
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CDELT3=1e6,
            CRPIX3=1.0,
            CTYPE4="STOKES",
            CRVAL4=1.0,
            CDELT4=1.0,
            CRPIX4=1.0,
        )
        path = self.write("cube.fits", cube, header)
        for stokes in range(2):
            for channel in range(3):
                alone = self.write("plane.fits", cube[stokes, channel], t.sky_header())
                with self.subTest(stokes=stokes, channel=channel):
                    self.assertEqual(
                        catalogue(path, "--plane", "%d,%d" % (channel + 1, stokes + 1)),
                        catalogue(alone),
                    )

    def test_other_storage(self):
        """The same values in other types, in an extension, gzipped."""
        image = np.round(20 * t.noise(300, 200, seed=5))
        expected = catalogue(self.write("float.fits", image.astype(np.float32), t.sky_header()))
        for kind in (np.float64, np.int16, np.int32, np.int64, np.uint16, np.uint32):
            shifted = image - image.min() if np.dtype(kind).kind == "u" else image
            stored = shifted.astype(kind)
            wanted = catalogue(self.write("float.fits", shifted.astype(np.float32), t.sky_header()))
            with self.subTest(kind.__name__):
                self.assertEqual(
                    catalogue(self.write("other.fits", stored, t.sky_header())), wanted
                )
        path = self.path("extension.fits")
        fits.HDUList(
            [fits.PrimaryHDU(), fits.ImageHDU(image.astype(np.float32), t.sky_header())]
        ).writeto(path)
        self.assertEqual(catalogue(path), expected)
        self.assertEqual(
            catalogue(self.write("image.fits.gz", image.astype(np.float32), t.sky_header())),
            expected,
        )

    def test_blank_integers(self):
        """BLANK pixels are NaN, with and without scaling, stored plainly and in tiles."""
        stored = np.round(20 * t.noise(200, 210, seed=6)).astype(np.int16)
        stored[50:60, 20:120] = -32768
        for bscale, bzero in ((1.0, 0.0), (0.25, -7.0)):
            values = (bscale * stored + bzero).astype(np.float32)
            values[stored == -32768] = np.nan
            expected = catalogue(self.write("float.fits", values, t.sky_header()))
            header = t.sky_header(BLANK=-32768, BSCALE=bscale, BZERO=bzero)
            path = self.path("integers.fits")
            hdu = fits.PrimaryHDU(stored, t.sky_header())
            hdu.header["BLANK"] = -32768
            fits.HDUList([hdu]).writeto(path, overwrite=True)
            with open(path, "r+b") as stream:  # astropy would scale the values
                cards = stream.read(2880 * 2)
                for name in ("BSCALE", "BZERO"):
                    card = ("%-8s= %20s" % (name, header[name])).ljust(80).encode()
                    spare = cards.index(b" " * 80, cards.index(b"END     "))
                    end = cards.index(b"END     ")
                    cards = cards[:end] + card + cards[end:spare] + cards[spare + 80 :]
                stream.seek(0)
                stream.write(cards)
            with self.subTest(bscale=bscale):
                self.assertEqual(catalogue(path), expected)

    def test_blank_in_tiles(self):
        """ZBLANK of integer tiles."""
        stored = np.round(20 * t.noise(200, 210, seed=6)).astype(np.int16)
        stored[50:60, 20:120] = -32768
        values = stored.astype(np.float32)
        values[stored == -32768] = np.nan
        expected = catalogue(self.write("float.fits", values, t.sky_header()))
        path = self.path("tiles.fits")
        hdu = fits.CompImageHDU(stored, t.sky_header(), compression_type="RICE_1")
        hdu.header["BLANK"] = -32768
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
        with fits.open(path, disable_image_compression=True) as hdus:
            self.assertEqual(
                hdus[1].header["ZBLANK" if "ZBLANK" in hdus[1].header else "BLANK"], -32768
            )
        self.assertEqual(catalogue(path), expected)

    @t.unittest.skipUnless(
        shutil.which("fpack"), "no fpack (libcfitsio-bin), and astropy loses NaN here"
    )
    def test_nan_in_quantised_tiles(self):
        """Nulls of quantised floats come back as NaN, not as large numbers."""
        image = t.noise(200, 210, seed=8)
        image[50:60, 20:120] = np.nan
        path = self.write("quantised.fits", image, t.sky_header())
        for compression in ("-r", "-g"):
            subprocess.run(
                ["fpack", compression, "-q", "16", "-Y", path], check=True, capture_output=True
            )
            background = t.find(path + ".fz")["background"]
            os.remove(path + ".fz")
            with self.subTest(compression):
                self.assertEqual(background["n_blank"], 1000)
                self.assertLess(abs(background["rms"] - 1), 0.1)

    def test_blank_of_64_bits(self):
        for blank in (-(2**63), -999999999999999999):
            stored = np.round(20 * t.noise(100, 110, seed=6)).astype(np.int64)
            stored[50:60, 20:80] = blank
            path = self.write("wide.fits", stored, t.sky_header(BLANK=blank))
            with self.subTest(blank):
                self.assertEqual(t.find(path)["background"]["n_blank"], 600)

    def test_big_images_are_clipped_by_histogram(self):
        """Discrete values in more pixels than are sorted: against the same pixels repeated less
        often."""
        image = np.round(3 * t.noise(1024, 1024, seed=7, n_sources=40)).astype(np.float32)
        big = np.tile(image, (5, 1))
        one = t.find(self.write("one.fits", image))
        many = t.find(self.write("many.fits", big))
        for name in ("median", "rms", "mean", "min", "max", "rounds"):
            self.assertEqual(many["background"][name], one["background"][name])
        self.assertEqual(many["background"]["n_kept"], 5 * one["background"]["n_kept"])
        self.assertIn(
            "histogram",
            t.run("-v", "--cpu", self.path("many.fits"), "-o", self.path("c.csv")).stderr,
        )
        self.assertEqual(
            catalogue(self.path("many.fits"), "--threads", 1),
            catalogue(self.path("many.fits"), "--threads", 7),
        )


if __name__ == "__main__":
    t.main()

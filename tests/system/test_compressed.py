"""Compressed images: each tile is unpacked once, and a gzipped file at once, whatever room there is
and whatever is in it."""
import gzip
import os
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

OPTIONS = ("--cpu", "--local", "-i", "3", "--fit", "--negative")
IS_ON_DISK = subprocess.run(
    ["stat", "--file-system", "--format=%T", "/tmp"], capture_output=True, text=True
).stdout.strip() not in ("tmpfs", "ramfs", "overlayfs")


class Tiles(t.Case):
    def setUp(self):
        super().setUp()
        self.pixels = t.noise(1200, 1300, seed=5, n_sources=80)

    @staticmethod
    def traffic():
        """The bytes that children have read, and written: Linux adds those of a process to its
        parent's when it has ended."""
        with open("/proc/self/io", encoding="ascii") as stream:
            return np.array([int(stream.readline().split()[1]) for _ in range(2)])

    def search(self, path, *options, **environment):
        """The catalogue; the bytes read and written, but for those of any search."""
        counts = []
        for image in (self.write("small.fits", self.pixels[:50, :50], t.sky_header()), path):
            before = self.traffic()
            arguments = (image, "-q", "-o", self.path("c.csv"), *OPTIONS, *options)
            t.run(*arguments, env={**os.environ, **environment}, check=True)
            counts.append(self.traffic() - before)
        with open(self.path("c.csv"), "rb") as stream:
            return stream.read(), *(counts[1] - counts[0])

    def limit_memory(self, limit):
        """A root in which a cgroup allows so many bytes."""
        for name, text in (
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "%d\n" % limit),
        ):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), "w") as stream:
                stream.write(text)
        return {"SRCFIND_CGROUP_ROOT": self.directory.name}

    @t.unittest.skipUnless(os.environ.get("FAKE_CUDA"), "a build without test hooks")
    def test_unpacked_once(self):
        """In memory, and with little memory in a file of /tmp, unless that is in memory, too; with a
        thread and with several; rows of tiles of one row of pixels and of many."""
        plain = self.write("plain.fits", self.pixels, t.sky_header())
        expected, read, _ = self.search(plain)
        self.assertGreater(read, 3 * self.pixels.nbytes)
        self.assertGreater(expected.count(b"\n"), 60)
        for compression, tile in (("GZIP_2", None), ("GZIP_1", (500, 300)), ("GZIP_1", (1300, 7))):
            path = self.path("tiles.fits")
            hdu = t.tiled(self.pixels, compression, tile, t.sky_header(), quantize_level=0)
            fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, overwrite=True)
            for threads in ("1", "5"):
                with self.subTest(compression, tile=tile, threads=threads):
                    found, read, written = self.search(
                        path, "--threads", threads, **self.limit_memory(1 << 40)
                    )
                    self.assertEqual(found, expected)
                    self.assertLess(read, 1.2 * os.path.getsize(path))
                    self.assertLess(written, 1 << 20)
                    found, _, written = self.search(
                        path, "--threads", threads, **self.limit_memory(1 << 20)
                    )
                    self.assertEqual(found, expected)
                    if IS_ON_DISK:
                        self.assertGreater(written, self.pixels.nbytes)
                        self.assertLess(written, 1.1 * self.pixels.nbytes + (1 << 20))

    @t.unittest.skipUnless(os.environ.get("FAKE_CUDA"), "a build without test hooks")
    def test_no_room(self):
        """A limit of memory, and one of files: tiles are unpacked again and again."""
        path = self.path("tiles.fits")
        hdu = t.tiled(self.pixels, "GZIP_1", None, t.sky_header(), quantize_level=0)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
        expected, read, _ = self.search(path)
        environment = {**os.environ, **self.limit_memory(1 << 20)}
        command = ("bash", "-c", 'ulimit -f 1000; exec "$@"', "bash", t.COMMAND, path, "-q")
        before = self.traffic()
        limited = subprocess.run([*command, *OPTIONS], env=environment, capture_output=True)
        self.assertEqual([limited.returncode, limited.stderr], [0, b""])
        self.assertEqual(limited.stdout, expected)
        self.assertGreater((self.traffic() - before)[0], 2 * read)


class Gzipped(t.Case):
    def test_files_of_any_kind(self):
        """Also those that one library unpacks at once, and another one must finish."""
        pixels = t.noise(700, 700, seed=6)
        with open(self.write("image.fits", pixels, t.sky_header()), "rb") as stream:
            plain = stream.read()
        expected = t.run(self.path("image.fits"), "-q").stdout
        packed = gzip.compress(plain, 1)
        size = len(plain).to_bytes(4, "little")
        path = self.path("image.fits.gz")
        for name, data in (
            ("one member", packed),
            ("two members", gzip.compress(plain[:100000]) + gzip.compress(plain[100000:])),
            ("an empty member behind", packed + gzip.compress(b"")),
            ("junk behind", packed + b"junk"),
            ("blocks of zeros behind", packed + bytes(512)),
            ("more than the image", gzip.compress(plain + bytes(5 << 20), 1)),
        ):
            with open(path, "wb") as stream:
                stream.write(data)
            with self.subTest(name):
                result = t.run(path, "-q")
                self.assertEqual([result.stderr, result.stdout], ["", expected])
        for name, data, word in (
            ("truncated", packed[:-5000], "truncated"),
            ("a wrong checksum", packed[:-8] + bytes(4) + size, "damaged"),
            ("a wrong size", packed[:-4] + (len(plain) + 1).to_bytes(4, "little"), "damaged"),
            ("damaged", packed[:50000] + bytes(100) + packed[50100:], "damaged"),
        ):
            with open(path, "wb") as stream:
                stream.write(data)
            with self.subTest(name):
                result = t.run(path, "-q")
                self.assertEqual([result.returncode, result.stdout], [1, ""])
                self.assertIn(path, result.stderr)
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    t.main()

"""The largest images there can be, as files with holes: axes of 2^31 - 1 pixels, and more than 2^32 pixels.

Nearly all pixels are 0, and some 1, so that the rms is known; clipped so widely that all of these stay."""
import math
import os
import unittest

import numpy as np

import srcfind_test as t

LONGEST = 2 ** 31 - 1
ONES = 250000
PEAK = 200


def header(width, height):
    values = (("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", height))
    cards = ["%-8s= %20s" % pair for pair in values] + ["END"]
    return "".join(card.ljust(80) for card in cards).ljust(2880).encode()


@unittest.skipIf(t.SANITIZED, "takes too long with sanitizers")
class Limits(t.Case):

    def write_sparse(self, width, height, peaks):
        """Stretches of zeros and ones in the inner quarters, and peaks at x, y. Returns path and number of ones."""
        path = self.path("sparse.fits")
        random = np.random.default_rng(1)
        n_ones = 0
        with open(path, "wb") as stream:
            stream.write(header(width, height))
            try:
                stream.truncate(2880 + width * height)
            except OSError as error:
                self.skipTest("this file system has no such long files: %s" % error)
            for part in (1, 3, 5, 7):
                ones = random.integers(0, 2, ONES, dtype=np.uint8)
                n_ones += int(ones.sum())
                stream.seek(2880 + width * height * part // 8)
                stream.write(ones.tobytes())
            for x, y in peaks:
                stream.seek(2880 + y * width + x)
                stream.write(bytes([PEAK]))
        if os.stat(path).st_blocks * 512 > 1 << 30:
            self.skipTest("this file system keeps no holes")
        return path, n_ones

    def check(self, width, height, peaks, *options):
        path, n_ones = self.write_sparse(width, height, peaks)
        found = t.find(path, "--cpu", "--kappa", "1000", "-n", "1000", *options)
        b, n = found["background"], width * height
        mean = n_ones / (n - len(peaks))
        self.assertEqual([b["n_pixels"], b["n_kept"], b["median"]], [n, n - len(peaks), 0])
        self.assertAlmostEqual(b["rms"] / math.sqrt(mean * (1 - mean)), 1, delta=1e-12)
        self.assertEqual([(s["Xposn"], s["Yposn"], s["N_pix"], s["Pixel_sum"]) for s in found["sources"]],
                         [(x, y, 1, PEAK) for x, y in peaks])

    def test_longest_rows(self):
        self.check(LONGEST, 3, [(LONGEST - 1, 0), (LONGEST - 1, 2)])

    def test_longest_columns(self):
        self.check(3, LONGEST, [(0, 2 ** 30), (2, LONGEST - 1)])

    def test_longer_axes(self):
        path, _ = self.write_sparse(LONGEST + 1, 1, [])
        result = t.run(path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("2147483648 pixels is longer than 2147483647", result.stderr)


if __name__ == "__main__":
    t.main()

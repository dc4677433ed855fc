"""Peak memory: a large image is never held, nor is a map of it; and rows of the catalogue take the
place of islands. For larger images than here, tests/bench/memory.py prints it."""
import os
import shutil
import subprocess
import sys

import numpy as np
from astropy.io import fits

import srcfind_test as t

PEAK = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(code)"
)


def count_rows(path):
    with open(path) as stream:
        return sum(1 for _ in stream) - 1


class Memory(t.Case):
    def peak(self, *arguments):
        """Bytes. MALLOC_PERTURB_ would touch what is never used."""
        environment = {
            name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"
        }
        result = subprocess.run(
            [sys.executable, "-c", PEAK, t.COMMAND, *arguments],
            capture_output=True,
            text=True,
            env=environment,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        print("%s: peak %.0f MiB" % (result.stderr.strip(), int(result.stdout) / 2**20))
        return int(result.stdout)

    def write_large(self, side):
        """An image of strips that are alike."""
        if shutil.disk_usage(self.directory.name).free < 2 << 30:
            self.skipTest("less than 2 GiB are free for temporary files")
        cards = fits.Header(fits.PrimaryHDU().header)
        cards["BITPIX"], cards["NAXIS"] = -32, 2
        cards.set("NAXIS1", side, after="NAXIS")
        cards.set("NAXIS2", side, after="NAXIS1")
        cards.extend(t.sky_header())
        strip, random = t.noise(256, side, n_sources=side // 8).astype(
            ">f4"
        ), np.random.default_rng(1)
        with open(self.path("large.fits"), "wb") as stream:
            stream.write(cards.tostring().encode())
            for _ in range(side // 256):
                stream.write(np.roll(strip, random.integers(side), axis=1).tobytes())
        return self.path("large.fits")

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_a_large_image(self):
        """A third of a byte a pixel more than was measured is too much."""
        path, output = self.write_large(8192), self.path("catalogue.csv")
        rms, background = (self.path("catalogue.%s.fits" % name) for name in ("rms", "background"))
        mask = shutil.copy(path, self.path("mask.fits"))
        for most, threads, options in (
            (54, 1, []),
            (74, 7, ["-i", "3"]),
            (89, 2, ["-i", "1.5"]),
            (56, 2, ["--local", "-i", "3", "--save", "rms,background"]),
            (85, 2, ["-i", "3", "--rms-map", rms, "--background-map", background, "--mask", mask]),
            (73, 2, ["-i", "3", "--save", "islands"]),
        ):
            with self.subTest(options):
                self.assertLess(
                    self.peak(path, "--cpu", "-o", output, "--threads", str(threads), *options),
                    most << 20,
                )
                self.assertGreater(count_rows(output), 15000)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_scales(self):
        """Where samples are a quarter of a large image's pixels or fewer, they are held; where they
        are as many, they are in a file."""
        path, output = self.write_large(8192), self.path("catalogue.csv")
        for most, threads, options in (163, "1", ["--scales"]), (
            205,
            "7",
            ["--scales=1,8", "--beam", "4.3"],
        ):
            with self.subTest(options):
                self.assertLess(
                    self.peak(
                        path,
                        "--cpu",
                        "-o",
                        output,
                        "--local",
                        "-i",
                        "3",
                        "--threads",
                        threads,
                        *options,
                    ),
                    most << 20,
                )
                self.assertGreater(count_rows(output), 15000)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_a_larger_image(self):
        """More pixels are near the bounds of the clip than it lists: most are only counted."""
        path, output = self.write_large(16384), self.path("catalogue.csv")
        self.assertLess(
            self.peak(path, "--cpu", "-o", output, "--threads", "16", "-k", "2", "-n", "6"),
            225 << 20,
        )

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_many_sources(self):
        image, output = t.noise(4000, 4000), self.path("catalogue.csv")
        image[5::8, 5::8] = 50
        path = self.write("many.fits", image, t.sky_header())
        # several threads take more where one is ahead of the others
        for most, threads in (148, "1"), (160, "4"):
            self.assertLess(
                self.peak(path, "--cpu", "--threads", threads, "--threshold", "10", "-o", output),
                most << 20,
            )
            self.assertEqual(count_rows(output), 500 * 500)


if __name__ == "__main__":
    t.main()

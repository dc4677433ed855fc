"""Peak memory: a large image is never held, nor is a map of it; and rows of the catalogue take the place of islands."""
import os
import shutil
import subprocess
import sys

import numpy as np
from astropy.io import fits

import srcfind_test as t

SIDE = 16384
MOST = 256 << 20
PEAK = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; " \
       "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(code)"


class Memory(t.Case):

    def peak(self, *arguments):
        """Bytes. MALLOC_PERTURB_ would touch what is never used."""
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
        result = subprocess.run([sys.executable, "-c", PEAK, t.COMMAND, *arguments], capture_output=True, text=True,
                                env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        print("%s: peak %.0f MiB" % (result.stderr.strip(), int(result.stdout) / 2 ** 20))
        return int(result.stdout)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_16384(self):
        if shutil.disk_usage(self.directory.name).free < 4 * 4 * SIDE * SIDE:
            self.skipTest("less than 4 GiB are free for temporary files")
        path, output = self.path("large.fits"), self.path("catalogue.csv")
        cards = fits.Header(fits.PrimaryHDU().header)
        cards["BITPIX"], cards["NAXIS"] = -32, 2
        cards.set("NAXIS1", SIDE, after="NAXIS")
        cards.set("NAXIS2", SIDE, after="NAXIS1")
        cards.extend(t.sky_header())
        strip = t.noise(256, SIDE, n_sources=2000)
        with open(path, "wb") as stream:
            stream.write(cards.tostring().encode())
            random = np.random.default_rng(1)
            for _ in range(SIDE // 256):
                stream.write(np.roll(strip, random.integers(SIDE), axis=1).astype(">f4").tobytes())
        for options in (["--threads", "1"], ["--threads", "7", "-i", "3"], ["--threads", "2", "-i", "1.5"],
                        ["--threads", "16", "-k", "2", "-n", "6"]):
            self.assertLess(self.peak(path, "--cpu", "-o", output, *options), MOST)
        self.assertGreater(len(t.read_csv(output)), 60000)
        maps = [self.path("catalogue.%s.fits" % name) for name in ("rms", "background")]
        self.assertLess(self.peak(path, "--cpu", "-o", output, "--threads", "2", "--local", "-i", "3", "--save", "rms,background"), MOST)
        given = ["--rms-map", maps[0], "--background-map", maps[1], "--mask", maps[0]]
        self.assertLess(self.peak(path, "--cpu", "-o", self.path("again.csv"), "--threads", "2", "-i", "3", *given), MOST)
        os.remove(maps[0])
        self.assertLess(self.peak(path, "--cpu", "-o", output, "--threads", "2", "-i", "3", "--save", "islands"), MOST)
        self.assertGreater(len(t.read_csv(self.path("again.csv"))), 60000)

    @t.unittest.skipIf(t.SANITIZED, "sanitizers take memory of their own")
    def test_peak_of_many_sources(self):
        image, output = t.noise(4000, 4000), self.path("catalogue.csv")
        image[5::8, 5::8] = 50
        path = self.write("many.fits", image, t.sky_header())
        self.assertLess(self.peak(path, "--cpu", "--threads", "4", "--threshold", "10", "-o", output), 110 << 20)
        self.assertEqual(len(t.read_csv(output)), 500 * 500)


if __name__ == "__main__":
    t.main()

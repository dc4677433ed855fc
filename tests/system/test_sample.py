"""The sample image in data/, and scripts/quickstart."""
import csv
import os
import shutil
import subprocess

import numpy as np

import srcfind_test as t

SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")


class Sample(t.Case):
    def test_all_sources_are_found(self):
        with open(os.path.join(t.SOURCE_ROOT, "data", "sample.truth.csv"), newline="") as stream:
            truth = [
                {name: float(value) for name, value in row.items()}
                for row in csv.DictReader(stream)
            ]
        rows = t.find(SAMPLE, "--island", "3")["sources"]
        self.assertEqual(len(rows), len(truth))
        for source in truth:
            row = min(
                rows, key=lambda r: np.hypot(r["Xposn"] - source["x"], r["Yposn"] - source["y"])
            )
            for name, value in (
                ("Xposn", source["x"]),
                ("Yposn", source["y"]),
                ("DEC", source["dec"]),
                ("Total_flux", source["flux"]),
            ):
                self.assertLess(abs(row[name] - value), 4 * row["E_" + name])
            self.assertLess(
                abs(row["RA"] - source["ra"]) * np.cos(np.radians(source["dec"])), 4 * row["E_RA"]
            )

    def quickstart(self, *arguments, gpus="", driver=0):
        """What scripts/quickstart prints until ninja fails; meson, ninja, nvcc and nvidia-smi are
        stand-ins. driver: the exit status of nvidia-smi."""
        for directory in ("scripts", "bin", "build"):
            os.makedirs(self.path(directory), exist_ok=True)
        shutil.copy(os.path.join(t.SOURCE_ROOT, "scripts", "quickstart"), self.path("scripts"))
        says = 'echo "$@"\n'
        for name, lines in (
            ("scripts/install-packages", says),
            ("build/build.ninja", ""),
            ("bin/meson", says),
            ("bin/nvcc", says),
            ("bin/nvidia-smi", "echo '%s'\nexit %d\n" % (gpus, driver)),
            ("bin/ninja", says + "exit 1\n"),
        ):
            with open(self.path(name), "w") as stream:
                stream.write("#!/bin/sh\n" + lines)
            os.chmod(self.path(name), 0o755)
        return subprocess.run(
            [self.path("scripts/quickstart"), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": self.path("bin") + ":/usr/bin:/bin"},
        )

    def test_quickstart_builds_what_it_says(self):
        """CUDA for the GPU that is there, or where it is asked for."""
        plain = " src/srcfind src/srcfind-merge"
        for arguments, gpus, words, options, targets in (
            ([], "", "(without CUDA", "-Dcuda=disabled\n", plain),
            ([], "GPU 0", "(with CUDA for the GPU", "-Dcuda=enabled -Dgpu_archs=native\n", None),
            (["--cuda"], "", "(with CUDA for GPUs", "-Dcuda=enabled -Dgpu_archs=75,80,90\n", None),
        ):
            out = self.quickstart(*arguments, gpus=gpus).stdout
            self.assertIn(words, out)
            self.assertIn(options, out)
            self.assertTrue(
                out.endswith((targets or plain + " src/libsrcfind-cuda.so") + "\n"), out
            )
            self.assertEqual(" g++ " in out, targets is None)
        with open(os.path.join(t.SOURCE_ROOT, "src", "meson.build")) as stream:
            self.assertIn("shared_library('srcfind-cuda'", stream.read())
        self.assertEqual(self.quickstart("--gpu").returncode, 2)

    def test_quickstart_without_a_driver(self):
        """nvidia-smi prints why it fails where a list of GPUs would be."""
        out = self.quickstart(gpus="NVIDIA-SMI has failed", driver=9).stdout
        self.assertIn("(without CUDA", out)


if __name__ == "__main__":
    t.main()

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

    def test_quickstart_builds_what_it_says(self):
        """With nvcc also the module that --gpu loads; meson, ninja and nvcc are stand-ins here."""
        for directory in ("scripts", "bin", "build"):
            os.mkdir(self.path(directory))
        shutil.copy(os.path.join(t.SOURCE_ROOT, "scripts", "quickstart"), self.path("scripts"))
        for name in ("scripts/install-packages", "bin/meson", "bin/nvcc", "bin/ninja"):
            with open(self.path(name), "w") as stream:
                stream.write('#!/bin/sh\necho "$@"\n' + ("exit 1\n" if name == "bin/ninja" else ""))
            os.chmod(self.path(name), 0o755)
        result = subprocess.run(
            [self.path("scripts/quickstart")],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": self.path("bin") + ":/usr/bin:/bin"},
        )
        self.assertIn("Building (with CUDA", result.stdout)
        self.assertTrue(
            result.stdout.endswith(" src/srcfind src/srcfind-merge src/libsrcfind-cuda.so\n"),
            result.stdout,
        )
        with open(os.path.join(t.SOURCE_ROOT, "src", "meson.build")) as stream:
            self.assertIn("shared_library('srcfind-cuda'", stream.read())


if __name__ == "__main__":
    t.main()

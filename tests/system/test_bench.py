"""--bench: what it measures, says and leaves behind. No time is asserted, only that times belong
together."""
import json
import os
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
STAGES = {
    "floor_read",
    "scan",
    "clip",
    "islands",
    "search",
    "measure",
    "write",
    "file",
    "process",
    "batch",
    "start",
}  # which may be less than the noise


class Bench(t.Case):
    def run_json(self, *options, **keywords):
        result = t.run(SAMPLE, "-f", "json", *options, **keywords)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_every_stage_is_measured(self):
        (report,) = self.run_json("--bench=3", "--cpu", "--threads", "2")
        self.assertEqual((report["rounds"], report["threads"], report["sources"]), (3, 2, 24))
        self.assertEqual((report["width"], report["height"], report["backend"]), (300, 256, "cpu"))
        self.assertEqual(
            report["options"],
            {
                "patches": None,
                "spectral-index": None,
                "kappa": 3,
                "threshold": 5,
                "island": 5,
                "background": "median",
                "rms": None,
                "blank": None,
                "local": None,
                "rms-box": None,
                "rms-map": None,
                "background-map": None,
                "mask": None,
                "mask-noise": None,
                "regions-as": None,
                "detect-on": None,
                "detect-rms-map": None,
                "detect-background-map": None,
                "measure-in": None,
                "connectivity": 4,
                "min-pixels": 1,
                "negative": None,
                "completeness": None,
                "seed": None,
                "inject": None,
                "deblend": None,
                "fit": None,
                "contrast": None,
                "group": None,
                "shapes": None,
                "psf": None,
                "flux-error": None,
                "position-error": None,
                "scales": None,
                "at": None,
                "at-all": None,
                "at-fixed": None,
                "at-positive": None,
                "at-search": None,
                "beam": None,
                "hdu": None,
                "plane": None,
                "trim": None,
                "mask-dilate": None,
                "mask-fill": None,
                "sort": None,
            },
        )
        self.assertEqual(set(report["stages"]) | {"start"}, STAGES)
        median = {name: stage["median_s"] for name, stage in report["stages"].items()}
        self.assertTrue(all(seconds >= 0 for seconds in median.values()), median)
        if "start" in median:
            self.assertAlmostEqual(median["process"] - median["file"], median["start"])

    def test_table(self):
        result = t.run(SAMPLE, SAMPLE, "--bench=1", "--cpu")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertEqual(result.stdout.count("300 x 256 pixels, 24 sources"), 2)
        self.assertEqual(result.stdout.count("plain read of the pixels"), 2)
        self.assertIn("x read", result.stdout)
        self.assertNotIn("x copy", result.stdout)

    def test_rounds_are_odd(self):
        self.assertEqual(self.run_json("--bench=4", "--cpu")[0]["rounds"], 5)
        self.assertEqual(self.run_json("--bench", "--cpu")[0]["rounds"], 15)

    def test_options_reach_the_process(self):
        """However they are given; what the child cannot do is not measured, and an error."""
        listed = self.path("list")
        with open(listed, "w") as stream:
            stream.write(SAMPLE + "\n")
        result = t.run(
            "--ben=1",
            "--cpu",
            "-n60",
            "-i",
            "3",
            "--kap",
            "4",
            "--kappa=5",
            "--files-from",
            listed,
            "-f",
            "json",
        )
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        report = json.loads(result.stdout)
        self.assertIn("process", report["stages"])
        self.assertLess(report["sources"], 24)

    def test_search_options_reach_the_process(self):
        """Without them the child would look at a blank image, and fail."""
        blank = np.full((70, 80), np.nan, np.float32)
        image = self.path("second.fits")
        cube = fits.ImageHDU(np.array([blank, t.noise(70, 80)]), name="TWO WORDS")
        fits.HDUList([fits.PrimaryHDU(blank), cube]).writeto(image)
        result = t.run(
            image, "--bench=1", "--cpu", "--hdu", "TWO WORDS", "--plane", "2", "-f", "json"
        )
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        report = json.loads(result.stdout)
        self.assertIn("process", report["stages"])
        self.assertEqual([report["options"][name] for name in ("hdu", "plane")], ["TWO WORDS", 2])

    def test_fail_fast(self):
        result = t.run(self.path("none.fits"), SAMPLE, "--bench=1", "--cpu", "--fail-fast")
        self.assertEqual([result.returncode, result.stdout], [1, ""])

    def test_full_disk(self):
        for options in ([], ["-f", "json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run(
                    [t.COMMAND, SAMPLE, "--bench=1", "--cpu", *options],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            self.assertEqual(result.returncode, 1)
            self.assertIn("standard output: No space left on device", result.stderr)

    def test_wrong_usage(self):
        for options in (
            ["-o", self.path("c.csv")],
            ["--skip-existing"],
            ["-f", "csv"],
            ["--compare-cpu"],
        ):
            result = t.run(SAMPLE, "--bench", *options)
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn("--bench", result.stderr)
        for rounds in ("0", "-1", "x", "100001", ""):
            self.assertEqual(t.run(SAMPLE, "--bench=" + rounds).returncode, 2)

    def test_image_that_cannot_be_read(self):
        result = t.run(self.path("none.fits"), SAMPLE, "--bench=1", "--cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none.fits", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("24 sources", result.stdout)

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device_beside_the_cpu(self):
        reports = self.run_json("--bench=1", env={**os.environ, "SRCFIND_CUDA_MODULE": FAKE})
        self.assertEqual([report["backend"] for report in reports], ["cpu", "cuda"])
        self.assertEqual(set(reports[1]["stages"]) | {"start"}, STAGES | {"floor_copy"})


if __name__ == "__main__":
    t.main()

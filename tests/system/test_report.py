"""--report: a row for each image, and --skip-existing that trusts it."""
import csv
import fcntl
import os
import re
import shutil
import signal
import subprocess

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t

COLUMNS = [
    "image",
    "status",
    "message",
    "sources",
    "negative",
    "rms_median",
    "background",
    "box",
    "beam",
    "unit",
    "zeros",
    "seconds",
    "backend",
    "version",
    "options",
    "size",
    "mtime",
    "output_size",
    "output_mtime",
    "catalogue",
    "plane",
    "footprint",
]
FAULTY = os.environ.get("FAULTY_SRCFIND", "")
CLOSING = r"srcfind: (\d+) images: \d+ (?:source|position)s, (\d+) failed, (\d+) skipped, "


class Report(t.Case):
    def setUp(self):
        super().setUp()
        self.report, self.out = self.path("report.csv"), self.path("out")
        self.images = [
            self.write("%d.fits" % i, t.noise(120, 130, seed=i), t.sky_header()) for i in range(4)
        ]

    def run_reported(self, *arguments, **options):
        return t.run(*arguments, "--report", self.report, "-o", self.out + "/", **options)

    def rows(self):
        with open(self.report, newline="", encoding="utf-8", errors="surrogateescape") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
        self.assertEqual(reader.fieldnames, COLUMNS)
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))
        return rows

    def row(self, image):
        found = [row for row in self.rows() if row["image"] == image]
        self.assertEqual(len(found), 1, image)
        return found[0]

    def assert_run(self, result, status, failed, skipped):
        """The exit status, and the totals of several images."""
        totals = re.search(CLOSING, result.stderr)
        self.assertEqual(
            [result.returncode, int(totals[2]), int(totals[3])],
            [status, failed, skipped],
            result.stderr,
        )

    def assert_footprint(self, image, footprint):
        """The outer corners of the corner pixels, where astropy has them."""
        with fits.open(image) as hdus:
            wcs, shape = WCS(hdus[0].header), hdus[0].data.shape
        if not wcs.has_celestial:
            self.assertEqual(footprint, "")
            return
        corners = wcs.all_pix2world(
            [
                (-0.5, -0.5),
                (shape[1] - 0.5, -0.5),
                (shape[1] - 0.5, shape[0] - 0.5),
                (-0.5, shape[0] - 0.5),
            ],
            0,
        )
        self.assertTrue(
            np.allclose(
                [float(number) for number in footprint.split(" ")],
                corners.ravel(),
                rtol=0,
                atol=1e-6,
            ),
            footprint,
        )

    # --- rows ---

    def test_cells(self):
        """They are those of the JSON catalogue."""
        zeros = t.noise(120, 130)
        zeros[:, :40] = 0
        bare = self.write("bare.fits", zeros)
        given = self.write("map.fits", np.full((120, 130), 1.5, np.float32))
        for images, options in (
            (self.images[:2], []),
            (self.images[:1], ["--local", "--negative"]),
            ([bare], ["--rms", "2"]),
            ([bare], ["--rms-map", given]),
            (self.images[:1], ["--background", "0.125", "--beam", "20,10,5"]),
        ):
            self.run_reported(*images, *options, "--cpu", check=True)
            for image in images:
                row, catalogue = self.row(image), t.find(image, *options)
                output = os.path.join(self.out, os.path.basename(image).replace("fits", "csv"))
                background, noise, beam = (
                    catalogue["background"],
                    catalogue["detection"],
                    catalogue["image"]["beam"],
                )
                local = background.get("local")
                rms = noise.get("rms", local["rms_median"] if local else background["rms"])
                subtracted = noise["background"]
                expected = {
                    "image": image,
                    "status": "done",
                    "message": "",
                    "sources": str(noise["n_sources"]),
                    "backend": "cpu",
                    "negative": str(noise["n_negative"]) if "--negative" in options else "",
                    "box": "%d,%d" % (local["size"], local["step"]) if local else "",
                    "unit": catalogue["image"]["unit"] or "",
                    "beam": "%.7g,%.7g,%.7g"
                    % (3600 * beam["major_deg"], 3600 * beam["minor_deg"], beam["angle_deg"])
                    if beam
                    else "",
                    "version": catalogue["srcfind"],
                    "size": str(os.path.getsize(image)),
                    "mtime": "%d.%09d" % divmod(os.stat(image).st_mtime_ns, 10**9),
                    "output_size": str(os.path.getsize(output)),
                    "output_mtime": "%d.%09d" % divmod(os.stat(output).st_mtime_ns, 10**9),
                }
                self.assertEqual({name: row[name] for name in expected}, expected)
                self.assertEqual([row["catalogue"], row["plane"]], [output, ""])
                self.assert_footprint(image, row["footprint"])
                if rms == "map":
                    self.assertEqual(row["rms_median"], "")
                else:
                    self.assertEqual(float(row["rms_median"]), rms)
                self.assertEqual(
                    float(row["background"]),
                    background["median"] if subtracted == "median" else subtracted,
                )
                self.assertEqual(float(row["zeros"]), catalogue["quality"]["zeros"])
                self.assertRegex(row["seconds"], r"\A\d+\.\d{3}\Z")
                self.assertRegex(row["options"], r"\A[0-9a-f]{16}\Z")

    def test_failures(self):
        """The message is that on standard error, without the path; exit status and closing line as
        ever."""
        broken = self.path("broken.fits")
        with open(broken, "w") as stream:
            stream.write("no image")
        blank = self.write("blank.fits", np.full((50, 60), np.nan, np.float32))
        result = self.run_reported(*self.images, broken, blank, self.path("none.fits"))
        self.assert_run(result, 1, 3, 0)
        self.assertEqual(len(self.rows()), 7)
        for image in (broken, blank, self.path("none.fits")):
            row = self.row(image)
            self.assertEqual([row["status"], row["sources"], row["backend"]], ["failed", "", ""])
            self.assertIn("srcfind: %s: %s\n" % (image, row["message"]), result.stderr)
        self.assertEqual(
            [self.row(broken)["size"], self.row(self.path("none.fits"))["size"]], ["8", ""]
        )

    def test_odd_paths(self):
        """A reader of CSV has the paths as they are."""
        names = [
            "a,b.fits",
            'a "b".fits',
            " a .fits",
            "a\nb.fits",
            "ä.fits",
            "\udcff.fits",
            "'.fits",
        ]
        for name in names:
            shutil.copy(self.images[0], os.path.join(self.directory.name, name))
        self.run_reported(*names, "-q", cwd=self.directory.name, check=True)
        self.assertEqual(sorted(row["image"] for row in self.rows()), sorted(names))
        result = self.run_reported(
            *names, "--skip-existing", cwd=self.directory.name, errors="surrogateescape"
        )
        self.assert_run(result, 0, 0, len(names))

    def test_on_standard_output(self):
        """The catalogue of one image may go there; the report grows with each run."""
        for image in self.images:
            result = t.run(image, "-q", "--report", self.report)
            self.assertEqual([result.stdout, result.stderr], [t.run(image, "-q").stdout, ""])
        self.assertEqual([row["image"] for row in self.rows()], self.images)
        t.run(self.images[1], "-q", "--report", self.report, check=True)
        self.assertEqual(
            [row["image"] for row in self.rows()],
            [*self.images[:1], *self.images[2:], self.images[1]],
        )

    def test_maps_of_its_own(self):
        self.run_reported(*self.images, "--save", "rms", check=True)
        result = self.run_reported(*self.images, os.path.join(self.out, "0.rms.fits"))
        self.assertEqual(result.returncode, 0)
        row = self.row(os.path.join(self.out, "0.rms.fits"))
        self.assertEqual([row["status"], row["message"]], ["skipped", "a map that srcfind made"])

    def test_grows_as_images_end(self):
        """Whole rows can be read while the run goes on: here it waits for a reader of the last
        catalogue."""
        os.mkdir(self.out)
        os.mkfifo(os.path.join(self.out, "3.csv"))
        with t.running(
            *self.images, "--report", self.report, "-o", self.out, "--threads", "1"
        ) as process:
            for line in process.stderr:
                if line.startswith("srcfind: %s: " % self.images[2]):
                    break
            self.assertEqual([row["image"] for row in self.rows()], self.images[:3])
            result = self.run_reported(self.images[0])
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn("another run writes this report", result.stderr)
            with open(os.path.join(self.out, "3.csv")) as stream:
                stream.read()
            process.stderr.read()
        self.assertEqual([process.returncode, len(self.rows())], [0, 4])

    # --- what is skipped ---

    def test_skips_what_is_the_same(self):
        self.run_reported(*self.images, check=True)
        before = {
            name: os.stat(os.path.join(self.out, name)).st_ino for name in os.listdir(self.out)
        }
        with open(self.report) as stream:
            report = stream.read()
        # options that change no byte
        for options in ([], ["--threads", "2", "--cpu", "-v", "-n", "5"]):
            self.assert_run(self.run_reported(*self.images, "--skip-existing", *options), 0, 0, 4)
        self.assertEqual(
            {name: os.stat(os.path.join(self.out, name)).st_ino for name in os.listdir(self.out)},
            before,
        )
        with open(self.report) as stream:
            self.assertEqual(stream.read(), report)

    def test_does_again_what_differs(self):
        """Other options, outputs, masks, catalogues, images and versions: all images, or the one
        that changed."""
        mask = self.write("mask.fits", np.ones((120, 130), np.uint8))
        os.mkdir(self.path("masks"))
        for i in range(4):
            shutil.copy(mask, self.path("masks/%d.fits" % i))
        masks = ["--mask", self.path("masks")]
        at = self.path("at.csv")
        with open(at, "w") as stream:
            stream.write("Xposn,Yposn\n20,30\n")
        self.run_reported(*self.images, check=True)

        def again(count, *options):
            self.assert_run(
                self.run_reported(*self.images, "--skip-existing", *options), 0, 0, 4 - count
            )
            self.assertEqual(len(self.rows()), 4)
            self.assert_run(self.run_reported(*self.images, "--skip-existing", *options), 0, 0, 4)

        again(4, "-n", "20")
        for image in self.images:
            with open(
                os.path.join(self.out, os.path.basename(image).replace("fits", "csv"))
            ) as stream:
                self.assertEqual(stream.read(), t.run(image, "-q", "-n", "20").stdout)
        again(4, "-f", "json")
        again(4, "-f", "json", "--save", "rms")
        again(4, *masks)
        os.utime(self.path("masks/2.fits"), (1, 1))
        again(1, *masks)
        for i in range(4):
            self.write("masks/%d.fits" % i, t.noise(120, 130, seed=i), t.sky_header())
        again(4, "--measure-in", self.path("masks"))
        os.utime(self.path("masks/1.fits"), (1, 1))
        again(1, "--measure-in", self.path("masks"))
        again(4, "--at", at)
        os.utime(at, (1, 1))
        again(4, "--at", at)
        again(4)
        os.utime(self.images[3], (1, 1))
        again(1)
        shutil.copy(self.write("longer.fits", t.noise(200, 200), t.sky_header()), self.images[0])
        again(1)
        os.remove(os.path.join(self.out, "1.csv"))
        again(1)
        with open(os.path.join(self.out, "2.csv"), "r+") as stream:
            stream.truncate(5)
        again(1)
        with open(self.report) as stream:
            lines = stream.readlines()
        with open(self.report, "w") as stream:
            stream.writelines(
                line.replace(",cpu,", ",cpu,9", 1) if self.images[1] in line else line
                for line in lines
            )
        again(1)
        with open(os.path.join(self.out, "3.csv"), "r+") as stream:  # cut at the end of a line
            rows = stream.readlines()
            stream.truncate(len("".join(rows[:3])))
        again(1)

    def test_does_again_what_others_replaced(self):
        """A run with another report, or with none, that wrote the same catalogues, maps or
        tables."""

        def contents():
            return {
                name: open(os.path.join(self.out, name), encoding="latin-1").read()
                for name in os.listdir(self.out)
            }

        for options in ([], ["--save", "rms"]):
            self.run_reported(*self.images, *options, check=True)
            first = contents()
            for others in (["-n", "20"], ["-n", "20", "--report", self.path("other.csv")]):
                t.run(*self.images[1:], "-q", "-o", self.out, *others, check=True)
                self.assertNotEqual(contents(), first)
                self.assert_run(
                    self.run_reported(*self.images, "--skip-existing", *options), 0, 0, 1
                )
                self.assertEqual(contents(), first)
        t.run(
            self.images[0],
            "-q",
            "-o",
            self.out + "/",
            "-f",
            "json",
            "--save",
            "rms",
            "-k",
            "2",
            check=True,
        )
        self.assert_run(
            self.run_reported(*self.images, "--skip-existing", "--save", "rms"), 0, 0, 3
        )
        os.remove(os.path.join(self.out, "0.json"))
        self.assertEqual(contents(), first)
        tables = "--fit", "--save", "gaussians"
        self.run_reported(*self.images, *tables, check=True)
        first = contents()
        t.run(self.images[1], "-q", "-o", self.path("t/"), "-n", "20", *tables, check=True)
        os.replace(self.path("t/1.gaussians.csv"), os.path.join(self.out, "1.gaussians.csv"))
        self.assertNotEqual(contents(), first)
        self.assert_run(self.run_reported(*self.images, "--skip-existing", *tables), 0, 0, 3)
        self.assertEqual(contents(), first)

    def test_one_report_for_two_directories(self):
        """The row of an image is that of the last catalogue."""
        self.run_reported(*self.images, check=True)
        t.run(
            *self.images,
            "-q",
            "--report",
            self.report,
            "-o",
            self.path("other"),
            "-n",
            "20",
            check=True,
        )
        self.assert_run(self.run_reported(*self.images, "--skip-existing", "-n", "20"), 0, 0, 0)
        with open(os.path.join(self.out, "0.csv")) as stream:
            self.assertEqual(stream.read(), t.run(self.images[0], "-q", "-n", "20").stdout)

    def test_without_a_row(self):
        """A catalogue that is there does not suffice; without --report it does."""
        self.run_reported(*self.images, check=True)
        with open(self.report) as stream:
            lines = stream.readlines()
        with open(self.report, "w") as stream:
            stream.writelines(line for line in lines if self.images[2] not in line)
        self.assert_run(t.run(*self.images, "-o", self.out, "--skip-existing"), 0, 0, 4)
        self.assert_run(self.run_reported(*self.images, "--skip-existing"), 0, 0, 3)
        self.assertEqual(len(self.rows()), 4)

    def test_failures_are_tried_again(self):
        missing = self.path("missing.fits")
        self.assert_run(self.run_reported(*self.images, missing), 1, 1, 0)
        self.assert_run(self.run_reported(*self.images, missing, "--skip-existing"), 1, 1, 4)
        self.assertEqual(len(self.rows()), 5)
        shutil.copy(self.images[0], missing)
        self.assert_run(self.run_reported(*self.images, missing, "--skip-existing"), 0, 0, 4)
        self.assertEqual([row["status"] for row in self.rows()], ["done"] * 5)

    def test_rows_of_other_images_stay(self):
        """Of those of the run one row stays, also where a report was joined from several, with
        their headers."""
        self.run_reported(*self.images, "--threads", "1", check=True)
        with open(self.report) as stream:
            header, *lines = stream.readlines()
        with open(self.report, "w") as stream:
            # the end was cut off
            stream.writelines([header, *lines, header, *lines, lines[3][:40]])
        result = self.run_reported(*self.images[:2], "--skip-existing")
        self.assert_run(result, 0, 0, 2)
        with open(self.report) as stream:
            self.assertEqual(
                sorted(stream.readlines()), sorted([header, *lines[:2], *lines[2:], *lines[2:]])
            )

    def test_shards(self):
        """Each has a report; joined, they are that of the whole for the next run."""
        with open(self.report, "w") as joined:
            for k in range(3):
                part = self.path("part%d.csv" % k)
                t.run(
                    *self.images,
                    "-q",
                    "-o",
                    self.out,
                    "--report",
                    part,
                    "--shard",
                    "%d/3" % (k + 1),
                    check=True,
                )
                with open(part) as stream:
                    joined.write(stream.read())  # also the names of the columns, as cat does
        self.assert_run(self.run_reported(*self.images, "--skip-existing"), 0, 0, 4)
        # the names are there once
        self.assertEqual([row["status"] for row in self.rows()], ["done"] * 4)

    def test_joined_with_an_older_report(self):
        """Of the rows of an image the one that is true stays, wherever it stands."""
        reports = []
        for threshold in ("6", "5"):
            self.run_reported(*self.images, "-n", threshold, check=True)
            with open(self.report) as stream:
                reports.append(stream.read())
        for joined in (
            reports[0] + reports[1],
            reports[1] + reports[0],
            reports[0][:-20] + reports[1],
        ):
            with open(self.report, "w") as stream:
                stream.write(joined)
            self.assert_run(self.run_reported(*self.images, "--skip-existing"), 0, 0, 4)
            self.assertEqual(len(self.rows()), 4)

    # --- wrong usage, and faults ---

    def test_locked(self):
        self.run_reported(*self.images, check=True)
        with open(self.report) as stream:
            before = stream.read()
            fcntl.flock(stream, fcntl.LOCK_EX)
            result = self.run_reported(*self.images, "-n", "9", "-q")
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")], [2, "", 1]
            )
            self.assertIn("another run writes this report", result.stderr)
        with open(self.report) as stream:
            self.assertEqual(stream.read(), before)

    def test_what_is_no_report(self):
        """It stays as it is."""
        for text in (
            "image,status\n",
            "Source_id,Isl_id\n1,1\n",
            "x",
            ",".join(COLUMNS) + "\na,b\n",
            ",".join(COLUMNS) + '\n"a\n',
        ):
            with open(self.report, "w") as stream:
                stream.write(text)
            result = self.run_reported(*self.images)
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")], [2, "", 1], text
            )
            with open(self.report) as stream:
                self.assertEqual(stream.read(), text)
        for name, status in (
            ("/dev/null", 2),
            ("-", 2),
            (self.path("none/report.csv"), 1),
            (self.directory.name, 1),
        ):
            result = t.run(self.images[0], "-o", self.out + "/", "--report", name)
            self.assertEqual([result.returncode, result.stderr.count("\n")], [status, 1])
        open(self.report, "w").close()  # an empty file is one
        self.run_reported(*self.images, check=True)

    def test_report_by_a_link(self):
        """The file that it leads to is the report."""
        os.symlink("real.csv", self.report)
        for options in ([], ["-n", "20"]):  # the second run replaces the rows
            self.run_reported(*self.images, *options, check=True)
            self.assertTrue(os.path.islink(self.report))
            self.assertEqual(len(self.rows()), 4)

    def test_report_that_is_another_file(self):
        os.mkdir(self.out)
        listed = self.path("list")
        with open(listed, "w") as stream:
            stream.write("\n".join(self.images))
        with open(self.path("at.csv"), "w") as stream:
            stream.write("Xposn,Yposn\n20,30\n")
        os.symlink(self.images[0], self.path("link"))
        for name, options in (
            (self.images[1], self.images),
            (os.path.join(self.out, "2.csv"), self.images),
            (self.path("link"), self.images),
            (listed, ["--files-from", listed]),
            (self.path("at.csv"), ["--at", self.path("at.csv"), self.images[0]]),
            (os.path.join(self.out, "0.rms.fits"), [*self.images, "--save", "rms"]),
        ):
            result = t.run(*options, "-o", self.out, "--report", name)
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")], [2, "", 1], name
            )
        for option in ("--bench", "--compare-cpu"):
            self.assertIn("--report", t.run(self.images[0], option, "--report", self.report).stderr)
        self.assertEqual(os.listdir(self.out), [])

    @t.unittest.skipUnless(os.path.exists(FAULTY), "FAULTY_SRCFIND is not set")
    def test_killed_runs_go_on(self):
        """Whichever call a run dies at: those after it end with the same catalogues, one row an
        image, and nothing else."""
        self.run_reported(*self.images, "-q", check=True)
        sound = self.contents()
        for n in range(1, 1000, 7):
            shutil.rmtree(self.out)
            os.remove(self.report)
            for k in range(3):
                environment = {
                    **os.environ,
                    "FAULT": "signal:%d" % (n + k),
                    "FAULT_SIGNAL": str(int(signal.SIGKILL)),
                }
                result = subprocess.run(
                    [
                        FAULTY,
                        *self.images,
                        "-q",
                        "--cpu",
                        "--skip-existing",
                        "--report",
                        self.report,
                        "-o",
                        self.out + "/",
                    ],
                    env=environment,
                    capture_output=True,
                    timeout=t.HANG,
                )
                if result.returncode == 0:
                    break
            self.run_reported(*self.images, "--skip-existing", "-q", check=True)
            self.assertEqual(self.contents(), sound, n)
            self.assertEqual(sorted(row["image"] for row in self.rows()), self.images)
            self.assertFalse(
                [name for name in os.listdir(self.directory.name) if name.startswith(".srcfind")]
            )
            if k == 0 and result.returncode == 0:
                break
        self.assertGreater(n, 20)

    def contents(self):
        found = {}
        for name in os.listdir(self.out):
            with open(os.path.join(self.out, name)) as stream:
                found[name] = stream.read()
        return found

    @t.unittest.skipUnless(os.path.exists(FAULTY), "FAULTY_SRCFIND is not set")
    def test_full_disk(self):
        """A row that cannot be written is one error in the end; the catalogues are done, and what
        was in the report stays."""
        for n in range(1, 30):
            shutil.rmtree(self.out, ignore_errors=True)
            if os.path.exists(self.report):
                os.remove(self.report)
            result = subprocess.run(
                [
                    FAULTY,
                    *self.images,
                    "-q",
                    "--cpu",
                    "--threads",
                    "1",
                    "--report",
                    self.report,
                    "-o",
                    self.out + "/",
                ],
                env={**os.environ, "FAULT": "write:%d" % n},
                capture_output=True,
                text=True,
                timeout=t.HANG,
            )
            rows = (
                self.rows() if os.path.exists(self.report) and os.path.getsize(self.report) else []
            )
            if result.returncode == 0:
                self.assertEqual(len(rows), 4)
                break
            self.assertEqual(result.returncode, 1)
            self.assertEqual(len(rows), 3)
            self.assertIn(
                "%s: the report cannot be written: No space left on device\n" % self.report,
                result.stderr,
            )
            self.assertEqual(len(os.listdir(self.out)), 4)
        self.assertGreater(n, 3)


if __name__ == "__main__":
    t.main()

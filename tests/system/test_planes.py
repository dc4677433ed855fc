"""--plane all and A-B: each plane is searched as an image of its own."""
import csv
import json
import os
import shutil
import subprocess

import numpy as np
from astropy.table import Table

import srcfind_test as t


def cube(*shape, seed=3):
    """Planes of 64 x 64 pixels, with the same sources and other noise: as channels are."""
    sky = t.noise(64, 64, seed=seed, n_sources=6, sigma=0.1) * 10
    random = np.random.default_rng(seed)
    return (sky + random.normal(0, 1, (*shape, 64, 64))).astype(np.float32)


class Planes(t.Case):
    def setUp(self):
        super().setUp()
        self.out = self.path("out")
        self.cube = self.write("cube.fits", cube(3), t.sky_header())

    def search(self, *arguments, **options):
        return t.run(*arguments, "-o", self.out + "/", **options)

    def names(self):
        return sorted(os.listdir(self.out))

    def read(self, name):
        with open(os.path.join(self.out, name), "rb") as stream:
            return stream.read()

    def rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    # --- catalogues and names ---

    def test_as_images_of_their_own(self):
        """The bytes of catalogues, maps and tables are those of a run with the number of the
        plane."""
        both = self.write("both.fits", cube(2, 3), t.sky_header())
        for image, planes in (
            (self.cube, "123"),
            (both, ("1,1", "2,1", "3,1", "1,2", "2,2", "3,2")),
        ):
            stem = os.path.basename(image)[:-5]
            for suffix in ("csv", "json", "fits"):
                self.search(
                    image,
                    "--plane",
                    "all",
                    "--fit",
                    "-f",
                    suffix,
                    "--save",
                    "rms,gaussians",
                    check=True,
                )
                for plane in planes:
                    name = "%s.plane%s" % (stem, plane.replace(",", "."))
                    one = self.path("one." + suffix)
                    t.run(
                        image,
                        "--plane",
                        plane,
                        "--fit",
                        "--save",
                        "rms,gaussians",
                        "-o",
                        one,
                        check=True,
                    )
                    for end in ("." + suffix, ".rms.fits", ".gaussians." + suffix):
                        with self.subTest(name=name, end=end), open(
                            self.path("one" + end), "rb"
                        ) as stream:
                            self.assertEqual(self.read(name + end), stream.read())
        self.assertEqual(len({self.read("cube.plane%d.csv" % i) for i in (1, 2, 3)}), 3)

    def test_names(self):
        """Axes of one plane behind the last longer one have no number; an image of one plane has
        its usual name."""
        shapes = {
            "a": (3,),
            "stokes": (1, 3),
            "first": (3, 1),
            "both": (2, 3),
            "flat": (),
            "one": (1, 1),
        }
        images = [
            self.write(name + ".fits", cube(*shape), t.sky_header())
            for name, shape in shapes.items()
        ]
        expected = {
            "all": [
                "a.plane1",
                "a.plane2",
                "a.plane3",
                "both.plane1.1",
                "both.plane1.2",
                "both.plane2.1",
                "both.plane2.2",
                "both.plane3.1",
                "both.plane3.2",
                "first.plane1.1",
                "first.plane1.2",
                "first.plane1.3",
                "flat",
                "one",
                "stokes.plane1",
                "stokes.plane2",
                "stokes.plane3",
            ],
            "all,1": [
                "a.plane1",
                "a.plane2",
                "a.plane3",
                "both.plane1.1",
                "both.plane2.1",
                "both.plane3.1",
                "first",
                "flat",
                "one",
                "stokes.plane1",
                "stokes.plane2",
                "stokes.plane3",
            ],
            "1,all": [
                "a",
                "both.plane1.1",
                "both.plane1.2",
                "first.plane1.1",
                "first.plane1.2",
                "first.plane1.3",
                "flat",
                "one",
                "stokes",
            ],
        }
        for plane, names in expected.items():
            self.out = self.path("out-" + plane)
            self.search("--plane", plane, *images, check=True)
            self.assertEqual(self.names(), [name + ".csv" for name in names])
        for plane, names in (
            ("2-3", ["plane2.1", "plane3.1"]),
            ("3,1-2", ["plane3.1", "plane3.2"]),
            ("2-3,2", ["plane2.2", "plane3.2"]),
        ):
            self.out = self.path("out-" + plane)
            self.search("--plane", plane, images[3], check=True)
            self.assertEqual(self.names(), ["both.%s.csv" % name for name in names])

    def test_names_sort(self):
        """They have as many digits as the highest plane of their axis in the file, whichever planes
        are searched."""
        small = np.zeros((2, 2), np.float32)
        small[0, 0] = 1
        images = [
            self.write("%s.fits" % name, np.broadcast_to(small, (*shape, 2, 2)), t.sky_header())
            for name, shape in {
                "nine": (9,),
                "ten": (10,),
                "hundred": (100,),
                "both": (3, 12),
                "stokes": (12, 3),
            }.items()
        ]
        expected = {
            "all": [
                "%s.plane%s" % name
                for name in [("nine", "%d" % i) for i in range(1, 10)]
                + [("ten", "%02d" % i) for i in range(1, 11)]
                + [("hundred", "%03d" % i) for i in range(1, 101)]
                + [("both", "%02d.%d" % (i, k)) for i in range(1, 13) for k in range(1, 4)]
                + [("stokes", "%d.%02d" % (i, k)) for i in range(1, 4) for k in range(1, 13)]
            ],
            "2-3": [
                "nine.plane2",
                "nine.plane3",
                "ten.plane02",
                "ten.plane03",
                "hundred.plane002",
                "hundred.plane003",
                "both.plane02.1",
                "both.plane03.1",
                "stokes.plane2.01",
                "stokes.plane3.01",
            ],
            "2,2-3": ["both.plane02.2", "both.plane02.3", "stokes.plane2.02", "stokes.plane2.03"],
        }
        for plane, names in expected.items():
            self.out = self.path("out-" + plane)
            result = self.search(
                "--plane",
                plane,
                *images[3 if plane == "2,2-3" else 0 :],
                "--rms",
                "1",
                "--report",
                self.path(plane + ".csv"),
                check=True,
            )
            self.assertEqual(self.names(), sorted(name + ".csv" for name in names))
            self.assertIn(
                "stokes.fits[plane 2,%d]: " % (2 if plane == "2,2-3" else 1), result.stderr
            )
        # numbers
        self.assertEqual({row["plane"] for row in self.rows("2-3.csv")}, {"2", "3", "2,1", "3,1"})
        # what stands beside is named so, too, and a second run finds all of it
        options = [
            images[1],
            "--plane",
            "9-10",
            "--rms",
            "1",
            "--background",
            "zero",
            "--save",
            "snr,gaussians",
            "--fit",
            "--beam",
            "5",
            "--report",
            self.path("r.csv"),
            "--skip-existing",
        ]
        self.out = self.path("beside")
        self.search(*options, check=True)
        self.assertEqual(
            self.names(),
            [
                "ten.plane%s.%s" % (plane, end)
                for plane in ("09", "10")
                for end in ("csv", "gaussians.csv", "snr.fits")
            ],
        )
        self.assertEqual(self.search(*options, check=True).stderr.count(": skipped, since "), 2)

    def test_planes_of_one_number_are_duplicates(self):
        """Also those of cubes of 3 and of 12 planes, whose names have other digits."""
        many = self.write("many.fits", np.concatenate([cube(3)] * 4), t.sky_header())
        t.run(
            self.cube,
            many,
            "--plane",
            "1-3",
            "--merge",
            self.path("m.csv"),
            "-o",
            self.out,
            check=True,
        )
        self.assertEqual(
            {row["Image"] for row in self.rows("m.csv")},
            {"%s[plane %d]" % (self.cube, i) for i in (1, 2, 3)},
        )
        with open(self.path("m.csv"), "rb") as stream:
            merged = stream.read()
        t.run(
            self.cube,
            many,
            "--plane",
            "1-3",
            "--merge",
            self.path("m.csv"),
            "-o",
            self.out,
            "--skip-existing",
            check=True,
        )
        with open(self.path("m.csv"), "rb") as stream:
            self.assertEqual(stream.read(), merged)

    def test_names_keep_directories(self):
        """Two cubes of one name; and a list of cubes."""
        for night in ("n1", "n2"):
            os.mkdir(self.path(night))
        images = [
            self.write(night + "/cube.fits", cube(2), t.sky_header()) for night in ("n1", "n2")
        ]
        with open(self.path("list"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(images))
        self.search("--files-from", self.path("list"), "--plane", "all", check=True)
        self.assertEqual(self.names(), ["n1", "n2"])
        for night in ("n1", "n2"):
            self.assertEqual(
                sorted(os.listdir(os.path.join(self.out, night))),
                ["cube.plane1.csv", "cube.plane2.csv"],
            )

    def test_one_plane(self):
        """It is one image: its catalogue may be a file, or go to standard output."""
        flat = self.write("flat.fits", cube(1, 1), t.sky_header())
        self.assertEqual(
            t.run(flat, "--plane", "all", check=True).stdout, t.run(flat, check=True).stdout
        )
        t.run(self.cube, "--plane", "2-2", "-o", self.path("two.csv"), check=True)
        with open(self.path("two.csv"), encoding="utf-8") as stream:
            self.assertEqual(stream.read(), t.run(self.cube, "--plane", "2", check=True).stdout)
        self.assertEqual(
            t.run(self.cube, "--plane", "all", "--plane", "1", check=True).stdout,
            t.run(self.cube, check=True).stdout,
        )
        self.assertEqual(
            t.run(self.cube, "--plane", "3", "--plane", "1-1", check=True).stdout,
            t.run(self.cube, check=True).stdout,
        )

    # --- messages and errors ---

    def test_messages_tell_the_plane(self):
        blank = cube(3)
        blank[1] = np.nan
        image = self.write("blank.fits", blank, t.sky_header())
        result = self.search(image, "--plane", "all", "--progress", "always")
        self.assertEqual(result.returncode, 1)
        for text in (
            "srcfind: %s[plane 1]: " % image,
            "srcfind: %s[plane 2]: none of the 4096 pixels" % image,
            "blank.fits[plane 3]\n\x1b[K",
            "srcfind: 3 images: ",
        ):
            self.assertIn(text, result.stderr)
        self.assertEqual(self.names(), ["blank.plane1.csv", "blank.plane3.csv"])

    def test_wrong_usage(self):
        for plane in (
            "9-5",
            "2-",
            "-2",
            "all,",
            "0-3",
            "1-2-3",
            "alle",
            "1,,all",
            "all-2",
            "a",
            "2-99999999999999999999",
            "1-9223372036854775807",
        ):
            self.assert_error(
                2,
                "--plane: '%s' is not a list of planes, counted from 1" % plane,
                self.cube,
                "--plane=" + plane,
            )
        several = self.cube, "--plane", "all"
        self.assert_error(2, "several images (%s[plane 1], " % self.cube, *several)
        self.assert_error(
            2,
            "c.csv: several images or planes, or a list, need a directory",
            *several,
            "-o",
            "c.csv",
        )
        self.assert_error(2, "--bench searches one plane", *several, "--bench")
        self.assert_error(2, "--compare-cpu searches one plane", *several, "--compare-cpu")
        self.assert_error(
            2,
            "would both write %s/cube.plane2.csv" % self.out,
            *several,
            self.write("cube.plane2.fits", cube(), t.sky_header()),
            "-o",
            self.out,
        )

    def test_images_that_fail(self):
        """They fail, and others do not: a plane that is not there, too many of them, no image."""
        many = np.zeros((10001, 1, 1), np.float32)
        images = [
            self.cube,
            self.write("many.fits", many, t.sky_header()),
            self.path("none.fits"),
            self.write("long.fits", cube(4), t.sky_header()),
        ]
        result = self.search(*images, "--plane", "4-4", "--report", self.path("r.csv"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "%s: there is no plane 4 on axis 3; its axes are 1 (RA---SIN, 64), 2 (DEC--SIN, 64), 3 (3)\n"
            % self.cube,
            result.stderr,
        )
        self.assertIn("long.csv", self.names())
        self.assertEqual(
            [
                [row["image"], row["plane"], row["status"]]
                for row in self.rows("r.csv")
                if row["image"] == self.cube
            ],
            [[self.cube, "", "failed"]],
        )
        result = self.search(*images, "--plane", "all")
        self.assertIn(
            "many.fits: more than 10000 planes are to be searched: give ranges", result.stderr
        )
        self.assertIn("none.fits: No such file", result.stderr)
        self.assertIn("srcfind: 9 images: ", result.stderr)
        self.assertIn(" 2 failed,", result.stderr)
        self.assertEqual(
            self.search(*images[1:], "--plane", "all", "--fail-fast").stderr.count("\n"), 1
        )

    def test_how_many_planes(self):
        """The product of all ranges counts: 10,000 planes are searched, and no more; a shard names
        all of them, and searches one."""
        pixel = np.ones((1, 1), np.float32)
        images = {
            shape: self.write(
                "of_%s.fits" % "_".join(map(str, shape)),
                np.broadcast_to(pixel, (*shape, 1, 1)),
                t.sky_header(),
            )
            for shape in (
                (100, 100),
                (100, 101),
                (101, 100),
                (10000,),
                (10001,),
                (25, 20, 20),
                (25, 20, 21),
                (2, 10001),
            )
        }

        def run(shape, plane):
            return t.run(
                images[shape],
                "--plane",
                plane,
                "--rms",
                "1",
                "--shard",
                "1/20000",
                "-o",
                self.out,
                check=False,
            )

        for shape, plane in (
            ((100, 100), "all"),
            ((100, 101), "1-100,all"),
            ((100, 101), "all,1-99"),
            ((101, 100), "all,2-101"),
            ((10000,), "all"),
            ((10001,), "2-10001"),
            ((25, 20, 20), "all"),
            ((25, 20, 21), "2-21,all,all"),
            ((2, 10001), "10000-10001,all"),
        ):
            self.assertNotIn("more than", run(shape, plane).stderr, (shape, plane))
        for shape, plane in (
            ((100, 101), "all"),
            ((101, 100), "all"),
            ((10001,), "all"),
            ((10001,), "1-10001"),
            ((25, 20, 21), "all"),
            ((2, 10001), "all"),
            ((2, 10001), "1-5001,1-2"),
        ):
            self.assertIn(
                "more than 10000 planes are to be searched: give ranges with --plane, as in --plane 1-10000",
                run(shape, plane).stderr,
                (shape, plane),
            )

    def test_planes_of_axes_that_are_not_there(self):
        """They are numbers from 1 to 1; no more of them than an image may have axes."""
        self.search(self.cube, "--plane", "2-3,1,all,1-1", check=True)
        self.assertEqual(self.names(), ["cube.plane2.csv", "cube.plane3.csv"])
        for plane in ("2-3,2", "2-3,1-2", "2-3,1,5"):
            result = self.search(self.cube, "--plane", plane)
            self.assertEqual(result.returncode, 1)
            self.assertIn("there is no plane", result.stderr)
        self.assertEqual(self.search(self.cube, "--plane", "2-3" + 15 * ",1").returncode, 0)
        self.assert_error(2, "is not a list of planes", self.cube, "--plane", "2-3" + 16 * ",1")

    # --- runs of many images ---

    def test_report(self):
        """A row a plane, by which --skip-existing knows what is done; those of another choice of
        planes make room."""
        report = self.path("r.csv")

        def rows():
            return sorted([row["plane"], row["status"]] for row in self.rows("r.csv"))

        def skipped(*options):
            return self.search(
                self.cube, "--report", report, "--skip-existing", *options, check=True
            ).stderr.count(": skipped, since ")

        self.assertEqual([skipped("--plane", "1-2"), rows()], [0, [["1", "done"], ["2", "done"]]])
        self.assertEqual(
            [skipped("--plane", "all"), rows()], [2, [["1", "done"], ["2", "done"], ["3", "done"]]]
        )
        self.assertEqual([skipped("--plane", "all"), len(rows())], [3, 3])
        self.assertEqual([skipped("--plane", "2-3", "-n", "6"), len(rows())], [0, 3])
        self.assertEqual([skipped("--plane", "all"), len(rows())], [1, 3])
        os.remove(self.out + "/cube.plane2.csv")
        self.assertEqual(skipped("--plane", "all"), 2)
        self.assertEqual([skipped("--plane", "2"), rows()], [0, [["", "done"]]])
        self.assertEqual([skipped("--plane", "all"), len(rows())], [0, 3])
        self.assertEqual(
            [
                skipped("--plane", "all", "--save", "rms"),
                skipped("--plane", "all", "--save", "rms"),
            ],
            [0, 3],
        )

    def test_shards(self):
        """Planes count as images."""
        for k in (1, 2):
            self.search(self.cube, "--plane", "all", "--shard", "%d/2" % k, check=True)
            self.assertEqual(
                self.names(),
                [
                    ["cube.plane1.csv", "cube.plane3.csv"],
                    ["cube.plane1.csv", "cube.plane2.csv", "cube.plane3.csv"],
                ][k - 1],
            )

    def test_merge(self):
        """Sources of all planes stay, as with --merge-duplicates keep; planes of one number of two
        cubes have duplicates."""
        merged = self.path("m.csv")

        def merge(*arguments):
            t.run(*arguments, "--plane", "all", "--merge", merged, check=True)
            with open(merged, "rb") as stream:
                return stream.read()

        expected = merge(self.cube, "--merge-duplicates", "keep")
        self.assertEqual(merge(self.cube), expected)
        self.assertEqual(
            sorted({row["Image"] for row in self.rows("m.csv")}),
            ["%s[plane %d]" % (self.cube, i) for i in (1, 2, 3)],
        )
        self.assertGreater(expected.count(b"\n"), 12)
        self.assertEqual(merge(self.cube, "-o", self.out), expected)
        self.assertEqual(merge(self.cube, "-o", self.out, "--skip-existing"), expected)
        other = self.write("other.fits", np.concatenate([cube(3), cube(1)]), t.sky_header())
        merge(self.cube, other, "--fit")
        first = [row for row in self.rows("m.csv") if row["Image"].startswith(self.cube)]
        fourth = [row for row in self.rows("m.csv") if row["Image"].startswith(other)]
        self.assertEqual({row["Image"] for row in fourth}, {other + "[plane 4]"})
        self.assertEqual(
            len(first) + len(fourth), sum(self.count(other, plane) for plane in "1234")
        )

    def test_columns_of_merged_planes(self):
        """Rows and their Gaussians have plane and frequency behind the date, in all formats, also
        from catalogues; images without planes have not."""
        third = {"CTYPE3": "FREQ", "CRVAL3": 1.4e9, "CDELT3": 2e6, "CRPIX3": 1.0, "CUNIT3": "Hz"}
        channels = self.write("channels.fits", cube(3), t.sky_header(**third))
        stokes = self.write(
            "stokes.fits",
            np.stack([cube(3), cube(3)]),
            t.sky_header(**third, CTYPE4="STOKES", CRVAL4=1.0, CDELT4=1.0, CRPIX4=1.0),
        )
        for image, planes, texts in (
            (channels, "all", ["1", "2", "3"]),
            (stokes, "2-3,all", ["2,1", "3,1", "2,2", "3,2"]),
        ):
            expected = {
                "%s[plane %s]" % (image, text): (text, 1.4e9 + 2e6 * (int(text[0]) - 1))
                for text in texts
            }
            for end in ("csv", "fits", "json", "vot", "ecsv"):
                path = self.path("m." + end)
                t.run(
                    image,
                    "-q",
                    "--plane",
                    planes,
                    "--fit",
                    "--save",
                    "gaussians",
                    "-o",
                    self.out,
                    "-f",
                    "fits",
                    "--merge",
                    path,
                    check=True,
                )
                for name in (path, self.path("m.gaussians." + end)):
                    if end == "json":
                        with open(name, encoding="utf-8") as stream:
                            text = stream.read()
                        t.check_json(text)
                        rows = Table(
                            json.loads(text)["gaussians" if "gaussians" in name else "sources"]
                        )
                    else:
                        rows = Table.read(
                            name,
                            **(
                                {"format": "ascii.csv", "converters": {"Plane": str}}
                                if end == "csv"
                                else {}
                            ),
                        )
                    self.assertEqual(
                        rows.colnames[:5], ["Image", "Date_obs", "Plane", "Frequency", "Source_id"]
                    )
                    self.assertEqual(
                        {
                            str(row["Image"]): (str(row["Plane"]), float(row["Frequency"]))
                            for row in rows
                        },
                        expected,
                    )
                    if end in ("fits", "vot", "ecsv"):
                        self.assertEqual(str(rows["Frequency"].unit), "Hz")
            catalogues = [
                os.path.join(self.out, name) for name in self.names() if "gaussians" not in name
            ]
            with open(self.path("m.csv"), encoding="utf-8") as stream:
                text = stream.read()
            subprocess.run(
                [
                    os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge"),
                    "-q",
                    *catalogues,
                    "-o",
                    self.path("n.csv"),
                ],
                check=True,
            )
            found = {(row["Plane"], row["Frequency"]) for row in self.rows("n.csv")}
            self.assertEqual(
                {(text, str(int(frequency))) for text, frequency in expected.values()}, found
            )
            shutil.rmtree(self.out)
            for _ in range(2):
                t.run(
                    image,
                    "-q",
                    "--plane",
                    planes,
                    "--fit",
                    "-o",
                    self.out,
                    "--skip-existing",
                    "--merge",
                    self.path("m.csv"),
                    check=True,
                )
                with open(self.path("m.csv"), encoding="utf-8") as stream:
                    self.assertEqual(stream.read(), text)
            shutil.rmtree(self.out)
        other = self.write("other.fits", cube(3), t.sky_header(**{**third, "CRVAL3": 1.5e9}))
        t.run(
            channels,
            other,
            "-q",
            "--plane",
            "2",
            "-o",
            self.out,
            "-f",
            "fits",
            "--merge",
            self.path("m.csv"),
            "--merge-duplicates",
            "keep",
            check=True,
        )
        expected = {(channels, "2", "1402000000"), (other, "2", "1502000000")}
        self.assertEqual(
            {(row["Image"], row["Plane"], row["Frequency"]) for row in self.rows("m.csv")}, expected
        )
        subprocess.run(
            [
                os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge"),
                "-q",
                *(os.path.join(self.out, name) for name in self.names()),
                "--merge-duplicates",
                "keep",
                "-o",
                self.path("n.csv"),
            ],
            check=True,
        )
        self.assertEqual(self.rows("n.csv"), self.rows("m.csv"))
        flat = [
            self.write(
                name,
                cube(1)[0][None, None],
                t.sky_header(**third, CTYPE4="STOKES", CRVAL4=1.0, CDELT4=1.0, CRPIX4=1.0),
            )
            for name in ("a.fits", "b.fits")
        ]
        for planes in ([], ["--plane", "all"], ["--plane", "1,1"]):
            t.run(*flat, "-q", *planes, "--merge", self.path("m.csv"), check=True)
            self.assertNotIn("Plane", self.rows("m.csv")[0])

    def test_merged_by_srcfind_merge(self):
        """srcfind-merge tells planes apart as --merge does, if catalogues tell them; a plane that
        is not named is the first."""
        other = self.write("other.fits", np.concatenate([cube(3), cube(1)]), t.sky_header())
        t.run(self.cube, other, "--plane", "ALL", "--merge", self.path("m.csv"), check=True)
        for suffix in ("json", "fits", "ecsv"):
            t.run(self.cube, other, "--plane", "all", "-o", self.out, "-f", suffix, check=True)
            t.run(self.cube, "-o", os.path.join(self.out, "cube.plane1." + suffix), check=True)
            catalogues = [
                os.path.join(self.out, name) for name in self.names() if name.endswith(suffix)
            ]
            merged = self.path("of_%s.csv" % suffix)
            subprocess.run(
                [
                    os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge"),
                    *catalogues,
                    "-o",
                    merged,
                ],
                check=True,
                capture_output=True,
            )
            self.assertEqual(
                [str(row["RA"]) for row in t.read_csv(merged)],
                [row["RA"] for row in self.rows("m.csv")],
            )

    def test_merged_without_tables_of_planes(self):
        """srcfind-merge leaves the tables of --measure-in out, and says so; alone, such a table is
        no catalogue."""
        image = self.write("a.fits", cube(), t.sky_header())
        os.mkdir(self.out)
        t.run(
            image,
            "-q",
            "--measure-in",
            self.cube,
            "-o",
            os.path.join(self.out, "a.csv"),
            check=True,
        )
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        merged = subprocess.run(
            [
                merge,
                *[os.path.join(self.out, name) for name in self.names()],
                "--radius",
                "5",
                "-o",
                self.path("m.csv"),
            ],
            capture_output=True,
            text=True,
        )
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.assertIn("1 table of planes (--measure-in) is left out\n", merged.stderr)
        alone = subprocess.run(
            [merge, os.path.join(self.out, "a.planes.csv"), "-o", self.path("n.csv")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(alone.returncode, 1)
        self.assertIn("a table of planes: name the catalogue of its sources instead", alone.stderr)

    def count(self, image, plane):
        return t.run(image, "--fit", "--plane", plane, check=True).stdout.count("\n") - 1

    def test_merged_options(self):
        """All planes have the options of the run; that of each is in its entry."""
        t.run(self.cube, "--plane", "all", "--merge", self.path("m.json"), check=True)
        with open(self.path("m.json"), encoding="utf-8") as stream:
            text = stream.read()
        t.check_json(text)
        catalogue = json.loads(text)
        self.assertIsNone(catalogue["options"]["plane"])
        self.assertEqual(
            [
                image["plane"]
                for image in (entry.get("image", entry) for entry in catalogue["images"])
            ],
            [[1], [2], [3]],
        )

    # --- other files ---

    def test_maps_and_masks(self):
        """One file is that of all planes of one cube; of several cubes, STEM.fits in a directory
        is."""
        mask = np.ones((64, 64), np.float32)
        mask[:, :32] = 0
        alone = self.write("mask.fits", mask, t.sky_header())
        os.mkdir(self.path("masks"))
        self.write("masks/cube.fits", mask, t.sky_header())
        for option in (alone, self.path("masks")):
            result = self.search(self.cube, "--plane", "all", "--mask", option, check=True)
            self.assertNotIn("is used for", result.stderr)
            expected = t.run(self.cube, "--plane", "2", "--mask", alone, check=True).stdout
            self.assertEqual(self.read("cube.plane2.csv").decode(), expected)
            self.assertGreater(expected.count("\n"), 1)

    def test_detect_on(self):
        """In a cube, plane by plane; --at and --measure-in, for each plane."""
        other = self.write("other.fits", cube(3, seed=5), t.sky_header())
        at = self.path("at.csv")
        t.run(self.cube, "-o", at, check=True)
        for options in (["--detect-on", other], ["--at", at], ["--measure-in", other]):
            self.search(self.cube, "--plane", "2-3", *options, check=True)
            for plane in "23":
                t.run(self.cube, "--plane", plane, *options, "-o", self.path("one.csv"), check=True)
                for end in ["csv", "planes.csv"] if "--measure-in" in options else ["csv"]:
                    with self.subTest(options=options, plane=plane, end=end), open(
                        self.path("one." + end), "rb"
                    ) as stream:
                        self.assertEqual(self.read("cube.plane%s.%s" % (plane, end)), stream.read())


if __name__ == "__main__":
    t.main()

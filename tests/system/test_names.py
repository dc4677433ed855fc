"""Which images a run takes, and how their outputs are named: lists, shards, and images of one
name."""
import os
import shutil

import numpy as np

import srcfind_test as t

NAMES = ["P1/mosaic.fits", "P2/mosaic.fits", "P2/other.fits"]


def files(directory):
    """The paths of all files in a directory, relative to it."""
    return sorted(
        os.path.relpath(os.path.join(above, name), directory)
        for above, _, names in os.walk(directory)
        for name in names
    )


class Names(t.Case):
    def setUp(self):
        super().setUp()
        for i, name in enumerate(NAMES):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, t.noise(60, 70, seed=i), t.sky_header())

    def run_here(self, *arguments, **options):
        return t.run(*arguments, cwd=options.pop("cwd", self.directory.name), **options)

    def made(self, *arguments, **options):
        """The files that a run makes in a new directory out."""
        shutil.rmtree(self.path("out"), ignore_errors=True)
        self.run_here(*arguments, "-o", self.path("out"), check=True, **options)
        return files(self.path("out"))

    def test_different_names(self):
        self.assertEqual(self.made("P1/mosaic.fits", "P2/other.fits"), ["mosaic.csv", "other.csv"])

    def test_same_names_keep_what_differs(self):
        wanted = ["P1/mosaic.csv", "P2/mosaic.csv", "P2/other.csv"]
        for images in (
            NAMES,
            ["./P1//mosaic.fits", "P1/../P2/mosaic.fits", "P2/other.fits"],
            list(map(self.path, NAMES)),
            [NAMES[0], self.path(NAMES[1]), NAMES[2]],
        ):
            self.assertEqual(self.made(*images), wanted)
        self.assertEqual(
            self.made("mosaic.fits", "../P2/mosaic.fits", cwd=self.path("P1")), wanted[:2]
        )

    def test_shared_directories_are_left_out(self):
        os.makedirs(self.path("a/b/P1/x"))
        for name in ("a/b/P1/x/mosaic.fits", "a/b/mosaic.fits", "a/b/P1/mosaic.fits.gz"):
            shutil.copy(self.path(NAMES[0]), self.path(name))
        self.assertEqual(
            self.made(
                "a/b/P1/x/mosaic.fits", "a/b/mosaic.fits", "a/b/P1/mosaic.fits.gz", "-f", "votable"
            ),
            ["P1/mosaic.vot", "P1/x/mosaic.vot", "mosaic.vot"],
        )

    def test_each_catalogue_is_that_of_its_image(self):
        self.made(*NAMES)
        for name in NAMES:
            with open(self.path("out/" + name.replace(".fits", ".csv"))) as stream:
                self.assertEqual(stream.read(), self.run_here(name).stdout)

    def test_maps_have_the_same_names(self):
        self.assertEqual(
            self.made(*NAMES[:2], "--save", "rms"),
            ["P1/mosaic.csv", "P1/mosaic.rms.fits", "P2/mosaic.csv", "P2/mosaic.rms.fits"],
        )

    def test_folders_are_made_for_maps_and_tables_alone(self):
        """Without -o they are in the current directory, in folders of their images."""
        os.mkdir(self.path("here"))
        for name in "rms.fits", "gaussians.csv":
            images = [os.path.join("..", image) for image in NAMES[:2]]
            saved = "--save", name.split(".")[0], "--fit", "--merge", "m.csv"
            self.run_here(*images, *saved, cwd=self.path("here"), check=True)
            for folder in "P1", "P2":
                self.assertEqual(files(self.path("here/" + folder)), ["mosaic." + name])
                shutil.rmtree(self.path("here/" + folder))

    def test_own_maps_do_not_count(self):
        """They are skipped, and so change no name."""
        for name in NAMES[:2]:
            self.run_here(
                name, "--save", "rms", "-o", os.path.dirname(name) + "/map.csv", check=True
            )
        self.assertEqual(
            self.made("P1/mosaic.fits", "P2/other.fits", "P1/map.rms.fits", "P2/map.rms.fits"),
            ["mosaic.csv", "other.csv"],
        )

    def test_skipped_where_they_are(self):
        self.made(*NAMES)
        result = self.run_here(*NAMES, "-o", "out", "--skip-existing")
        self.assertIn("3 skipped", result.stderr)

    def test_what_names_cannot_tell_apart(self):
        shutil.copy(self.path(NAMES[0]), self.path(NAMES[0] + ".gz"))
        for images, words in (
            (NAMES + [NAMES[0] + ".gz"], "would both write out/P1/mosaic.csv"),
            (NAMES + NAMES[:1], "given twice"),
        ):
            result = self.run_here(*images, "-o", "out")
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_given_maps_in_folders(self):
        """The mask of P1/mosaic.fits is P1/mosaic.fits in the directory of masks, if it is
        there."""
        for name, value in (("masks/P1/mosaic.fits", 0), ("masks/mosaic.mask.fits", 1)):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, np.full((60, 70), value, np.float32), t.sky_header())
        result = self.run_here(*NAMES[:2], "-o", "out", "--mask", "masks")
        self.assertEqual(result.returncode, 1)
        self.assertIn("P1/mosaic.fits: ", result.stderr)
        self.assertNotIn("is used for", result.stderr)
        self.assertEqual(files(self.path("out")), ["P2/mosaic.csv"])
        os.remove(self.path("masks/P1/mosaic.fits"))
        result = self.run_here(NAMES[0], NAMES[2], NAMES[1], "-o", "out", "--mask", "masks")
        self.assertIn(
            "srcfind: --mask: masks/mosaic.mask.fits is used for 2 images: if each image has its own file, ",
            result.stderr,
        )

    def test_control_characters(self):
        """They break no message."""
        odd = "P1/ev\n\x1b[31mil.fits"
        shutil.copy(self.path(NAMES[0]), self.path(odd))
        for arguments in (
            [odd, odd, "-o", "out"],
            [odd, "-o", odd],
            [odd, NAMES[0], "-o", odd + "/"],
            ["--threads", odd, NAMES[0]],
        ):
            result = self.run_here(*arguments)
            self.assertEqual(
                [result.returncode == 0, result.stdout, result.stderr.count("\n")], [False, "", 1]
            )
            self.assertNotIn("\x1b", result.stderr)

    # --- lists ---

    def test_paths_that_end_with_nul(self):
        odd = "P1/a\nb .fits"
        shutil.copy(self.path(NAMES[0]), self.path(odd))
        for option in ("-0", "--null"):
            self.assertEqual(
                self.made("--files-from", "-", option, input="%s\0%s\0\0" % (odd, NAMES[2])),
                ["a\nb .csv", "other.csv"],
            )
        self.assertEqual(self.made("-0", "--files-from", "-", input=NAMES[0]), ["mosaic.csv"])
        with open(self.path("list"), "w") as stream:
            stream.write("".join(name + "\n" for name in NAMES))
        for arguments, words in (
            (["-0", NAMES[0]], "--files-from"),
            (["--files-from", "-"], "add -0"),
            (["-0", "--files-from", "list"], "list: the list has lines"),
        ):
            result = self.run_here(*arguments, "-o", "out", input=odd + "\0")
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn(words, result.stderr)

    # --- shards ---

    def test_shards_are_the_whole(self):
        """Each image is in one of the shards, every Nth from the Kth on, and named as without
        shards."""
        images = NAMES + ["P2/%d.fits" % i for i in range(7)]
        for name in images[3:]:
            shutil.copy(self.path(NAMES[0]), self.path(name))
        wanted = self.made(*images)
        for n in (1, 3, 12):
            parts = [
                self.made(*images, "--shard", "%d/%d" % (k, n)) if k <= len(images) else []
                for k in range(1, n + 1)
            ]
            for k, part in enumerate(parts):
                self.assertEqual(
                    part, sorted(name.replace(".fits", ".csv") for name in images[k::n])
                )
            self.assertEqual(sorted(sum(parts, [])), wanted)

    def test_shard_without_an_image(self):
        result = self.run_here(*NAMES, "-o", "out", "--shard", "4/4")
        self.assertEqual(
            [result.returncode, result.stdout, result.stderr],
            [0, "", "srcfind: --shard 4/4: nothing to do: the run has 3 images\n"],
        )
        self.assertEqual(self.run_here(NAMES[0], "-q", "--shard", "2/2").stderr, "")

    def test_wrong_shards(self):
        for shard in (
            "0/3",
            "4/3",
            "1",
            "1/",
            "/3",
            "1/0",
            "-1/3",
            "1/3/5",
            " 1/3",
            "1/99999999999999999999",
            "a/b",
        ):
            result = self.run_here(*NAMES, "-o", "out", "--shard", shard)
            self.assertEqual([result.returncode, result.stdout], [2, ""], shard)
            self.assertIn("--shard: '%s' is not K/N" % shard, result.stderr)

    def test_shards_that_would_write_to_one_file(self):
        """An image of another shard counts, too: the shards may run at the same time."""
        shutil.copy(self.path(NAMES[0]), self.path(NAMES[0] + ".gz"))
        result = self.run_here(NAMES[0], NAMES[0] + ".gz", "-o", "out", "--shard", "1/2")
        self.assertEqual(result.returncode, 2)
        self.assertIn("would both write", result.stderr)


if __name__ == "__main__":
    t.main()

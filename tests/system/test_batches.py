"""Many images in one run, on many workers: what comes out is what comes out one image after the
other."""
import os
import re
import shutil
import signal

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
MANY = "9"  # threads, and so workers


def needs_fake(test):
    return t.unittest.skipUnless(
        os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests"
    )(test)


def fake(**settings):
    """The environment for a run with devices that are none."""
    return {
        **os.environ,
        "SRCFIND_CUDA_MODULE": FAKE,
        **{"FAKE_CUDA_" + name: str(value) for name, value in settings.items()},
    }


def contents(directory):
    found = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), newline="") as stream:
            found[name] = stream.read()
    return found


def messages(result):
    """What a run said, without its directory, the times, and what they depend on."""
    text = re.sub(r"[0-9.]+ ms on the .PU \(.*\)", "T", result.stderr.replace("/many/", "/one/"))
    return re.sub(r"[0-9.]+ s$", "T", text, flags=re.M).splitlines()


class Batches(t.Case):
    def images(self, n=24):
        """Images of many sizes and kinds; the first ones are the largest, and so are done last."""
        paths = []
        for i in range(n):
            side = 1100 if i < 2 else 40 + 17 * (i * 7 % 13)
            image, name = t.noise(side, side + i, seed=i, n_sources=5 + i), "%02d.fits" % i
            if i % 6 == 3:
                name += ".gz"
            if i % 6 == 4:
                image = np.round(image * 100).astype(np.int16)
            paths.append(self.write(name, image, t.sky_header()))
            if i % 6 == 5:
                tiles = fits.CompImageHDU(
                    image, t.sky_header(), compression_type="GZIP_1", quantize_level=0
                )
                fits.HDUList([fits.PrimaryHDU(), tiles]).writeto(paths[-1], overwrite=True)
        return paths

    def run_into(self, name, images, *options, **settings):
        return t.run(*images, "-o", self.path(name), *options, **settings)

    def assert_same_runs(self, images, *options):
        """One after the other, and on many workers; returns the first."""
        one = self.run_into("one", images, "--cpu", "--threads", "1", *options)
        many = self.run_into("many", images, "--cpu", "--threads", MANY, *options)
        self.assertEqual(messages(many), messages(one))
        self.assertEqual(many.returncode, one.returncode)
        self.assertEqual(contents(self.path("many")), contents(self.path("one")))
        return one

    def test_same_as_one_after_the_other(self):
        images = self.images()
        for options in ([], ["-f", "json", "-i", "3"]):
            one = self.assert_same_runs(images, *options)
            self.assertEqual(one.returncode, 0)
            self.assertEqual(len(re.findall(r": \d+ sources?, rms ", one.stderr)), len(images))
            self.assertTrue(one.stderr.splitlines()[0].startswith("srcfind: " + images[0]))

    def test_last_images_share_the_threads(self):
        """Where fewer images are left than threads. Those that are there already do not count."""
        images, again = self.images(8), ["--skip-existing"]
        for n, threads, options, counts in (
            (8, "3", [], [1] * 6 + [2, 1]),
            (7, "3", [], [1] * 6 + [3]),
            (8, "6", [], [1] * 6 + [3] * 2),
            (7, "5", [], [1] * 5 + [3, 2]),
            (2, "4", [], [2, 2]),
            (8, "5", again, [1] * 5 + [5]),
        ):
            with self.subTest(n=n, threads=threads):
                shutil.rmtree(self.path("out"), ignore_errors=True)
                if options:
                    self.run_into("out", images[2:4], "--cpu")
                result = self.run_into("out", images[:n], "--cpu", "--threads", threads, *options)
                found = re.findall(r"on the CPU \(as asked; (\d) thread", result.stderr)
                self.assertEqual([int(f) for f in found], counts)

    def test_failures_in_the_midst(self):
        images = self.images(12)
        for at, name in ((1, "missing.fits"), (5, "missing too.fits"), (12, "last.fits")):
            images.insert(at, self.path(name))
        images[8] = self.write("blank.fits", np.full((50, 60), np.nan, np.float32))
        one = self.assert_same_runs(images)
        self.assertEqual(one.returncode, 1)
        self.assertIn("4 failed, 0 skipped", one.stderr)

    def test_many_failures(self):
        images = [self.path("%d.fits" % i) for i in range(300)]
        os.mkdir(self.path("one"))
        os.mkdir(self.path("many"))
        one = self.assert_same_runs(images)
        self.assertEqual([one.returncode, len(one.stderr.splitlines())], [1, 301])

    def test_fail_fast(self):
        """Nothing after the first failure is reported, or has a catalogue: not even what was done
        by then."""
        images = self.images(8)
        images.insert(2, self.path("missing.fits"))
        images.insert(5, self.path("missing too.fits"))
        one = self.assert_same_runs(images, "--fail-fast")
        self.assertEqual(sorted(contents(self.path("many"))), ["00.csv", "01.csv"])
        self.assertEqual([one.returncode, len(one.stderr.splitlines())], [1, 4])

    def test_maps_of_its_own(self):
        """Among other images they are skipped, and this is no failure; one that is given alone is
        searched."""

        def history(*texts):
            header = t.sky_header()
            for text in texts:
                header.add_history(text)
            return header

        image, others = t.noise(90, 80), []
        for name, texts in (
            ("plain", []),
            ("other", ["srcfind 2.0.0 catalogue: map: rms", "Srcfind 2.0.0 map: rms"]),
            ("quoted", ["made from srcfind 2.0.0 map: rms"]),
            ("none", ["srcfind  map: rms", "srcfind 2.0.0 map"]),
        ):
            others.append(self.write(name + ".fits", image, history(*texts)))
        rms = self.write("plain.rms.fits", image, history("cleaned", "srcfind 2.0.0 map: rms"))
        model = self.path("plain.model.fits")
        packed = t.tiled(image, "GZIP_1", None, history("srcfind 10.0.0-rc1 map: model"))
        fits.HDUList([fits.PrimaryHDU(), packed]).writeto(model)
        one = self.assert_same_runs([others[0], rms, *others[1:], model])
        self.assertEqual(one.returncode, 0)
        self.assertIn(
            "\nsrcfind: 2 maps that srcfind made are skipped (%s, ...): given alone, a map is searched\n"
            % rms,
            one.stderr,
        )
        self.assertIn(
            "srcfind: 1 map that srcfind made is skipped (%s): " % model,
            self.run_into("few", [*others, model]).stderr,
        )
        self.assertIn("6 images", one.stderr)
        self.assertIn("0 failed, 2 skipped", one.stderr)
        self.assertEqual(
            sorted(contents(self.path("one"))), ["none.csv", "other.csv", "plain.csv", "quoted.csv"]
        )
        self.assertNotIn("skipped", self.run_into("one", [*others, rms], "-q").stderr)
        alone = t.run(rms)
        self.assertEqual([alone.returncode, alone.stdout], [0, t.run(others[0]).stdout])
        self.assertNotIn("skipped", alone.stderr)

    def test_skip_existing(self):
        images = self.images(12)
        for name in ("one", "many"):
            os.mkdir(self.path(name))
            for i in (0, 3, 7, 11):
                with open(self.path("%s/%02d.csv" % (name, i)), "w") as stream:
                    stream.write("Source_id,mine\n")
        one = self.assert_same_runs(images, "--skip-existing")
        self.assertIn("0 failed, 4 skipped", one.stderr)
        self.assertEqual(contents(self.path("many"))["03.csv"], "Source_id,mine\n")

    # --- what an earlier run left beside a catalogue ---

    TABLES = ("gaussians", "completeness", "injections", "reliability", "planes")
    MAPS = ("rms.fits", "sources.fits", "picture.png")

    def rich(self, catalogue, *options):
        """A run that writes all tables, and maps."""
        image = self.write(
            "sky.fits",
            t.noise(90, 80, seed=1, n_sources=6),
            t.sky_header(BMAJ=2.5e-3, BMIN=2e-3, BPA=0.0),
        )
        t.run(
            image,
            "-q",
            "--fit",
            "--negative",
            "--completeness=5",
            "--measure-in",
            image,
            "--save",
            "gaussians,rms,sources,picture",
            "-o",
            catalogue,
            *options,
            check=True,
        )
        return image

    def beside(self, stem="c"):
        return sorted(
            name for name in os.listdir(self.directory.name) if name.startswith(stem + ".")
        )

    def test_tables_of_an_earlier_run(self):
        """They go with the catalogue that they are of, and not with one of another format; maps and
        regions are named."""
        for end, of_tables in (
            ("csv", "csv"),
            ("json", "json"),
            ("vot", "vot"),
            ("fits", "fits"),
            ("ecsv", "ecsv"),
            ("csv.gz", "csv.gz"),
            ("ecsv.gz", "ecsv.gz"),
            ("json.gz", "json.gz"),
            ("vot.gz", "vot.gz"),
            ("reg", "csv"),
            ("crtf", "csv"),
        ):
            with self.subTest(end):
                catalogue = self.path("c." + end)
                image = self.rich(catalogue)
                tables = sorted("c.%s.%s" % (part, of_tables) for part in self.TABLES)
                self.assertEqual(
                    self.beside(),
                    sorted(["c." + end, *tables, *("c." + name for name in self.MAPS)]),
                )
                self.assertIn(
                    "skipped", t.run(image, "-o", catalogue, "--skip-existing", check=True).stderr
                )
                self.assertLess(set(tables), set(self.beside()))
                said = t.run(image, "-o", catalogue, check=True).stderr
                self.assertEqual(
                    self.beside(), sorted(["c." + end, *("c." + name for name in self.MAPS)])
                )
                (removed,) = re.findall(
                    "%s: removed the tables of an earlier run: (.*)" % re.escape(catalogue), said
                )
                self.assertEqual(sorted(removed.split(", ")), [self.path(name) for name in tables])
                (named,) = re.findall(
                    "%s: these files of another run may not match it: (.*)" % re.escape(catalogue),
                    said,
                )
                self.assertEqual(named.split(", "), [self.path("c." + name) for name in self.MAPS])
                for name in self.beside():
                    os.remove(self.path(name))
        self.rich(self.path("c.fits"))
        t.run(image, "-q", "-o", self.path("c.reg"), check=True)
        said = t.run(image, "-o", self.path("c.csv"), check=True).stderr
        self.assertLess({"c.%s.fits" % part for part in self.TABLES}, set(self.beside()))
        self.assertRegex(
            said,
            "c.csv: these files of another run may not match it: .*/c.rms.fits, .*/c.sources.fits, .*/c.picture.png, .*/c.reg\n",
        )
        again = self.rich(self.path("c.fits"))
        self.assertNotIn("earlier", t.run(again, "-o", self.path("none.fits"), check=True).stderr)
        said = t.run(
            again, "--save", "rms,sources,picture", "--fit", "-o", self.path("c.fits"), check=True
        ).stderr
        self.assertIn(
            "these files of another run may not match it: %s\n" % self.path("c.reg"), said
        )

    def bytes_of(self, name):
        with open(self.path(name), "rb") as stream:
            return stream.read()

    def test_lists_of_two_formats(self):
        """The list of injected sources is that of its catalogue: one of another format with the
        same stem has its own."""
        images = [
            self.write(name, t.noise(90, 80, seed=seed, n_sources=6), t.sky_header())
            for name, seed in (("a.fits", 1), ("b.fits", 2))
        ]
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        t.run(images[1], "-q", "--completeness=5", "--seed=3", "-o", self.path("d.csv"), check=True)
        t.subprocess.run(
            [merge, self.path("d.csv"), "--radius", "3", "-q", "-o", self.path("q.csv")], check=True
        )
        before = {name: self.bytes_of(name) for name in self.beside("d") + self.beside("q")}
        t.run(images[0], "-q", "--completeness=5", "-o", self.path("d.fits"), check=True)
        t.subprocess.run(
            [merge, self.path("d.csv"), "--radius", "3", "-q", "-o", self.path("q.csv")], check=True
        )
        self.assertEqual({name: self.bytes_of(name) for name in before}, before)
        self.assertEqual(
            sorted(set(self.beside("d")) - before.keys()),
            ["d.completeness.fits", "d.fits", "d.injections.fits"],
        )
        said = t.run(images[0], "-o", self.path("d.csv"), check=True).stderr
        self.assertIn("d.injections.csv", said)
        self.assertNotIn("d.injections.fits", said)
        self.assertEqual(
            self.beside("d"), ["d.completeness.fits", "d.csv", "d.fits", "d.injections.fits"]
        )

    def test_files_of_others_beside_a_catalogue(self):
        """What srcfind did not write stays, and is named; so does what the run reads, a table of
        another catalogue, and a catalogue."""
        texts = {
            "gaussians.csv": "Source_id,mine\n",
            "planes.csv": "",
            "completeness.csv": "Kind,Width\n",
            "reliability.csv": "# Low,High,Positive\n",
            "injections.csv": "x\nWidth,SNR,True_flux,Xposn,Yposn,Found,\n",
        }
        for name, text in texts.items():
            with open(self.path("c." + name), "w") as stream:
                stream.write(text)
        with open(self.path("c.reg"), "w") as stream:
            stream.write("# Region file format: DS9 version 4.1\nglobal color=green dashlist=8 3\n")
        image = self.write("sky.fits", t.noise(90, 80, seed=1, n_sources=6), t.sky_header())
        said = t.run(image, "-o", self.path("c.csv"), check=True).stderr
        for name, text in texts.items():
            self.assertIn(self.path("c." + name), said)
            with open(self.path("c." + name)) as stream:
                self.assertEqual(stream.read(), text)
        self.assertNotIn("c.reg", said)
        for name, text in (
            ("fits", None),
            ("json", "{}"),
            ("ecsv", "# %ECSV 1.0\n"),
            ("vot", "<VOTABLE/>"),
        ):
            other = self.path("d.gaussians." + name)
            if text is None:
                fits.BinTableHDU.from_columns(
                    [fits.Column("Gaus_id", "K", array=[1])], name="GAUSSIANS"
                ).writeto(other)
            else:
                with open(other, "w") as stream:
                    stream.write(text)
            self.assertIn(
                "these files of another run may not match it: " + other,
                t.run(image, "-o", self.path("d." + name), check=True).stderr,
            )
            os.remove(other)
        self.rich(self.path("e.csv"))
        os.remove(self.path("e.planes.csv"))
        os.symlink(self.path("e.completeness.csv"), self.path("e.planes.csv"))
        at = self.path("e.gaussians.csv")
        said = t.run(image, "--at", at, "-o", self.path("e.csv"), check=True).stderr
        self.assertEqual(
            [os.path.exists(at), at in said, os.path.islink(self.path("e.planes.csv"))],
            [True, False, True],
        )
        images = [
            self.write(name, t.noise(90, 80, seed=1, n_sources=6), t.sky_header())
            for name in ("f.fits", "f.gaussians.fits", "f.planes.fits")
        ]
        for _ in range(2):
            said = self.run_into("out", images, check=True)
        self.assertEqual(
            sorted(os.listdir(self.path("out"))), ["f.csv", "f.gaussians.csv", "f.planes.csv"]
        )

    def test_merged_tables_of_an_earlier_run(self):
        """They go with a merged catalogue, too."""
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        images = [
            self.rich(self.path("c.fits")),
            self.write("b.fits", t.noise(90, 80, seed=2, n_sources=6), t.sky_header()),
        ]
        for end in ("csv", "fits", "json", "vot", "ecsv"):
            merged = self.path("m." + end)
            words = [*images, "-q", "--merge", merged, "-o", self.path("out"), "-f", "fits"]
            for program in (
                t.run,
                lambda *words, check: t.subprocess.run(
                    [merge, self.path("out/b.fits"), self.path("out/sky.fits"), "-o", merged, "-q"],
                    check=check,
                ),
            ):
                t.run(*words, "--fit", "--save", "gaussians", "--completeness=5", check=True)
                tables = [
                    self.path("m.%s.%s" % (part, end)) for part in ("gaussians", "completeness")
                ]
                self.assertEqual([os.path.exists(path) for path in tables], [True, True])
                for name in os.listdir(self.path("out")):
                    if name not in ("b.fits", "sky.fits"):
                        os.remove(self.path("out/" + name))
                program(*words, check=True)
                self.assertEqual(
                    [os.path.exists(path) for path in [merged, *tables]], [True, False, False]
                )

    def test_progress(self):
        """Failures, sources so far, rate and the time that is left; no line is longer than a
        terminal."""
        images = self.images(6)
        result = self.run_into("out", images, "--progress", "always", "--threads", MANY, "-q")
        for i in range(6):
            self.assertIn("[%d/6] " % (i + 1), result.stderr)
        images[1:1] = [self.path("missing.fits"), self.path("missing too.fits")]
        lines = self.run_into("out", images, "--progress", "always", "--threads", "1", "-q").stderr
        sources = len(contents(self.path("out"))["00.csv"].splitlines()) - 1
        self.assertRegex(lines, r"\[1/8\] \S+%s" % os.path.basename(images[0]))
        self.assertRegex(
            lines, r"\[2/8\] %d sources, [0-9.]+ images/s, \d+ s left \S+missing\.fits" % sources
        )
        self.assertRegex(lines, r"\[3/8\] 1 failed, %d sources, " % sources)
        self.assertRegex(lines, r"\[8/8\] 2 failed, ")
        for line in re.findall(r"\[\d/8\][^\r\n]*", lines):
            self.assertLess(len(line), 80)

    def test_closing_line(self):
        """With --quiet it is there if an image failed."""
        images = self.images(2)
        self.assertEqual(self.run_into("out", images, "-q").stderr, "")
        result = self.run_into("out", [*images, self.path("none.fits")], "-q")
        self.assertEqual(result.stderr.count("\n"), 2)
        self.assertRegex(
            result.stderr, r"\nsrcfind: 3 images: \d+ sources, 1 failed, 0 skipped, [0-9.]+ s\n\Z"
        )

    def test_interrupted(self):
        """A signal ends the run and says how far it came; --skip-existing goes on. The catalogue
        that nobody reads keeps the run in the image after the ones that are done."""
        images = self.images(6)
        images.insert(1, self.path("none.fits"))
        os.mkdir(self.path("out"))
        os.mkfifo(self.path("out/03.csv"))
        for number, words in (
            (signal.SIGINT, "; --skip-existing goes on"),
            (signal.SIGTERM, "; --skip-existing goes on"),
        ):
            with t.running(*images, "-o", self.path("out"), "--threads", "1") as process:
                for line in process.stderr:
                    if line.startswith("srcfind: %s: " % images[3]):
                        break
                process.send_signal(number)
                rest = process.stderr.read()
            self.assertEqual(process.returncode, -number)
            self.assertEqual(rest.splitlines()[-1], "srcfind: interrupted: 3 of 7 done" + words)
        os.remove(self.path("out/03.csv"))
        result = self.run_into("out", images, "--skip-existing")
        self.assertIn("1 failed, 3 skipped", result.stderr)
        self.assertNotIn("interrupted", result.stderr)
        self.assertEqual(sorted(contents(self.path("out"))), ["%02d.csv" % i for i in range(6)])

    @needs_fake
    def test_devices(self):
        """The same with one device, with all of them, and where each does what it can."""
        images = self.images()
        self.run_into("one", images, "--cpu", "--threads", "1")
        for options, settings in (
            (["--gpu"], {}),
            (["--gpu", "--threads", "1"], {}),
            (["--device", "all"], {"DEVICES": 3}),
            ([], {"START": 5}),
            (["--gpu"], {"SEARCH": 5, "REFUSED": 3}),
        ):
            result = self.run_into("out", images, "--threads", MANY, *options, env=fake(**settings))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(contents(self.path("out")), contents(self.path("one")))
            if options:
                self.assertEqual(result.stderr.count("ms on the GPU (as asked; fake)"), len(images))

    @needs_fake
    def test_lost_device(self):
        """One message says it for all images that a device is missing for; those that were done are
        there."""
        images = self.images()
        result = self.run_into(
            "out",
            images,
            "--gpu",
            "--threads",
            MANY,
            "--report",
            self.path("report.csv"),
            env=fake(LOST=2),
        )
        self.assertEqual(result.returncode, 3)
        done = len(os.listdir(self.path("out")))
        with open(self.path("report.csv")) as stream:
            report = stream.read()
        self.assertEqual(report.count(",done,"), done)
        self.assertNotIn("lost in an earlier search", report)  # what was not searched has no row
        lines = result.stderr.splitlines()
        self.assertRegex(
            lines[-2],
            r"^srcfind: \d+ more images? (was|were) not searched: the device cannot be used$",
        )
        reported = int(re.match(r"srcfind: (\d+) images: .*", lines[-1])[1])
        self.assertEqual(reported + int(lines[-2].split()[1]), len(images))
        self.assertEqual(sum(" sources, rms" in line for line in lines), done)
        result = self.run_into("any", images, "--threads", MANY, env=fake(LOST=2, START=1))
        self.assertEqual([result.returncode, len(os.listdir(self.path("any")))], [0, len(images)])

    @needs_fake
    def test_no_such_device(self):
        images = self.images(20)
        result = self.run_into("out", images, "--device", "5", "--threads", MANY, env=fake())
        lines = result.stderr.splitlines()
        self.assertEqual([result.returncode, len(lines)], [3, 2])
        self.assertIn("there is no CUDA device 5", lines[0])
        self.assertIn("19 more images were not searched", lines[1])

    @needs_fake
    def test_many_pixels_are_worth_a_device(self):
        """A small run starts no device. The images of a run count together."""
        images = self.images(4)
        few = self.run_into("few", images, "--threads", "1", env=fake(REFUSED=1))
        self.assertEqual(few.stderr.count("(too few pixels for a GPU; 1 thread)"), 4)
        beyond_two = {"SRCFIND_PIXELS_BEFORE_GPU": str(1100 * 1100 + 1100 * 1101)}
        many = self.run_into("many", images, "--threads", "1", env={**fake(), **beyond_two})
        self.assertEqual(many.stderr.count("(too few pixels for a GPU; 1 thread)"), 2)
        self.assertEqual(many.stderr.count("on the GPU (many pixels; fake)"), 2)
        self.assertEqual(contents(self.path("few")), contents(self.path("many")))
        # where there is no device, or no module, nothing is said of one
        for environment in (
            fake(DEVICES=0),
            {**fake(), "SRCFIND_CUDA_MODULE": self.path("none.so")},
        ):
            none = self.run_into("none", images, "--threads", "1", env=environment)
            self.assertEqual(none.stderr.count("on the CPU (no other device; 1 thread)"), 4)
            self.assertNotRegex(none.stderr, "GPU|CUDA|module")

    @needs_fake
    def test_module_that_is_missing(self):
        """Who asks for a device, or for versions, reads what to do."""
        environment = {**fake(), "SRCFIND_CUDA_MODULE": self.path("none.so")}
        way_out = "build all targets of srcfind, or install it again"
        asked = t.run("--gpu", *self.images(1), env=environment)
        self.assertEqual([asked.returncode, asked.stdout], [3, ""])
        self.assertRegex(
            asked.stderr,
            r"the CUDA module cannot be loaded \(.*none.so.*\): %s, or use the CPU \(--cpu\)\n\Z"
            % way_out,
        )
        self.assertIn(
            "CUDA (its module cannot be loaded: %s)\n" % way_out,
            t.run("-V", env=environment).stdout,
        )


if __name__ == "__main__":
    t.main()

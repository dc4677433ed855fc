"""Bad luck at every place: whichever call fails, the run ends as if nothing had happened, or with
one line of error and no trace of a catalogue."""
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAULTY = os.environ.get("FAULTY_SRCFIND", "")
KINDS = (
    "memory",
    "read",
    "write",
    "open",
    "stat",
    "rename",
    "mkdir",
    "thread",
    "lock",
    "locale",
    "flush",
    "close",
)
MOST_CALLS = 20000
SMALL = (150, 210)
# What a signal leaves on standard error: nothing before and after the search of the images.
INTERRUPTED = r"\A(srcfind: interrupted: (?P<done>\d) of 4 done; --skip-existing goes on\n)?\Z"
# The line that closes a run of several images, one of which failed.
CLOSING = r"srcfind: \d images: \d+ sources, \d failed, 0 skipped, "
ENDING = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGXCPU,
    signal.SIGPIPE,
)
FAKE = os.environ.get("FAKE_CUDA", "")
CAN_UNSHARE = (
    subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode == 0
)
with_pictures = unittest.skipUnless(os.environ.get("PICTURES"), "a build without cairo")


@unittest.skipUnless(FAULTY, "FAULTY_SRCFIND is not set")
class FaultCase(t.Case):
    def setUp(self):
        super().setUp()
        self.mark, self.out = self.path("mark"), self.path("out")

    def clear(self):
        """Takes away what the run before left."""
        if os.path.exists(self.mark):
            os.remove(self.mark)
        shutil.rmtree(self.out, ignore_errors=True)

    def run_faulty(self, arguments, fault, environment=(), **options):
        """What subprocess.run does, what is in the directory `out`, and whether the fault came to
        pass."""
        self.clear()
        options.setdefault("cwd", self.directory.name)
        result = subprocess.run(
            [FAULTY, *arguments],
            capture_output=True,
            text=True,
            timeout=t.HANG,
            env={**os.environ, **dict(environment), "FAULT": fault, "FAULT_MARK": self.mark},
            **options,
        )
        written = {}
        for name in os.listdir(self.out) if os.path.isdir(self.out) else []:
            with open(os.path.join(self.out, name), encoding="latin-1") as stream:
                written[name] = stream.read()
        return result, written, os.path.exists(self.mark)

    def check_outcome(self, result, written, sound, fault):
        self.assertIn(result.returncode, (0, 1, 3), (fault, result.stderr))
        for name, text in written.items():
            self.assertEqual(text, sound[name], (fault, name))
        if result.returncode == 0:
            self.assertEqual(result.stderr, "", fault)
            self.assertEqual(written, sound, fault)
        else:
            self.assertTrue(result.stderr.startswith("srcfind: "), (fault, result.stderr))
            lines = [line for line in result.stderr.splitlines() if not re.match(CLOSING, line)]
            self.assertEqual(len(lines), 1, (fault, result.stderr))
            # libraries that unpack tiles do not say why they do not; a read to a buffer that is not
            # there has another reason
            self.assertRegex(
                lines[0],
                "memory|cannot be unpacked" if fault.startswith("memory:") else r"[^: ]\Z",
                fault,
            )
            self.assertLess(len(written), len(sound), fault)
            self.assertFalse(any(name.endswith(".fits") for name in written), fault)

    def faults(self, arguments, kinds, environment=()):
        """With these, each place of the program that has calls of these kinds has one that
        fails."""
        for kind in kinds:
            self.run_faulty(arguments, "where:" + kind, environment)
            yield from ("%s:%d" % (kind, n) for n in t.places(self.mark))

    def image(self, name="image.fits", shape=(200, 220)):
        """Large enough for a sample, which takes 256 reads."""
        return self.write(name, t.noise(*shape, n_sources=12), t.sky_header())

    def small_image(self):
        """Its pixels are all listed, without a sample."""
        return self.image(shape=SMALL)


class Faults(FaultCase):
    def check(self, arguments, kinds=KINDS, environment=()):
        """Calls of these kinds fail, one in each run."""
        arguments = [*map(str, arguments), "-q", "-o", self.out + "/"]
        sound = self.run_faulty(arguments, "nothing:1", environment)[1]
        self.assertTrue(sound)
        self.assertFalse(any(name.startswith(".") for name in sound))
        faults, n_happened = [*self.faults(arguments, kinds, environment)], 0
        for fault in faults:
            result, written, happened = self.run_faulty(arguments, fault, environment)
            self.check_outcome(result, written, sound, fault)
            n_happened += happened
        self.assertGreater(n_happened, 0.5 * len(faults))  # threads take turns as they like
        self.assertGreater(n_happened, 2 if t.SANITIZED else 10)

    def test_one_image(self):
        self.check([self.image(), "--cpu", "--threads", 2])

    def test_cube(self):
        """Headers of cubes are read before the search; an image whose header cannot be read fails
        alone."""
        cube = self.write(
            "cube.fits", np.stack([t.noise(64, 64, seed=i) for i in (1, 2)]), t.sky_header()
        )
        self.check(
            [cube, "--plane", "all", "--cpu", "--threads", 1], ["memory", "read", "open", "close"]
        )

    def test_json(self):
        self.check(
            [self.small_image(), "--cpu", "--threads", 1, "-f", "json"],
            ["memory", "flush", "close"],
        )

    def test_formats(self):
        for name in ("votable", "fits", "ecsv", "reg", "crtf", "table"):
            self.check(
                [self.small_image(), "--cpu", "--threads", 1, "-f", name],
                ["memory", "flush", "close"],
            )

    def test_columns(self):
        """Other columns, of the image and of rows, or no catalogue."""
        chosen = "Image,Total_flux:mJy=flux,Beam_Maj:arcsec,'note'=note,Source_Name"
        for name in ("csv", "votable", "fits"):
            self.check(
                [self.small_image(), "--cpu", "--threads", 1, "-f", name, "--columns", chosen],
                ["memory", "flush", "close"],
            )

    def test_sky_models(self):
        """SAGECal's comes with its list of clusters, or not at all."""
        image = self.write("image.fits", t.noise(*SMALL, n_sources=12), t.sky_header(RESTFRQ=1.4e9))
        for name in ("skymodel", "sagecal"):
            self.check(
                [image, "--fit", "--patches", "source", "--cpu", "--threads", 1, "-f", name],
                ["memory", "write", "open", "rename", "flush", "close"],
            )

    def test_compressed(self):
        """A compressed catalogue is whole, or not there."""
        place, n_faults = self.path("place"), 0
        os.mkdir(place)
        output = os.path.join(place, "c.csv.gz")
        arguments = [self.image(), "--cpu", "--threads", "1", "-q", "-o", output]
        self.run_faulty(arguments, "nothing:1")
        with open(output, "rb") as stream:
            sound = stream.read()
        for fault in self.faults(arguments, ("memory", "flush", "close")):
            os.path.exists(output) and os.remove(output)
            result, _, happened = self.run_faulty(arguments, fault)
            self.assertEqual(
                os.listdir(place),
                ["c.csv.gz"] if result.returncode == 0 else [],
                (fault, result.stderr),
            )
            if result.returncode == 0:
                with open(output, "rb") as stream:
                    self.assertEqual(stream.read(), sound)
            n_faults += happened and result.returncode != 0
        self.assertGreater(n_faults, 20)

    def test_local_noise(self):
        image = self.image()
        for threads in (1, 2):
            self.check([image, "--rms-box", "30,10", "--cpu", "--threads", threads])

    def test_scales(self):
        """Rows of all scales, or none."""
        y, x = np.mgrid[: SMALL[0], : SMALL[1]]
        image = t.noise(*SMALL, n_sources=12) + 2 * np.exp(-((x - 100) ** 2 + (y - 70) ** 2) / 300)
        path = self.write("image.fits", image.astype(np.float32), t.sky_header())
        self.assertTrue(
            any(
                row["Scale"] > 0
                for row in t.find(path, "--rms-box", "20", "--scales=1.5,3")["sources"]
            )
        )
        for threads, kinds in (1, KINDS), (2, ("read", "thread", "lock")):
            self.check(
                [
                    path,
                    "--rms-box",
                    "20",
                    "--scales=1.5,3",
                    "--negative",
                    "--save",
                    "islands,sources,background,residual",
                    "--cpu",
                    "--threads",
                    threads,
                ],
                kinds,
            )

    def test_negative_sources(self):
        self.check([self.image(), "--negative", "--cpu", "--threads", 1])

    def test_maps(self):
        """Maps come with their catalogue, or not at all."""
        image = self.small_image()
        for threads, noise in (1, []), (2, ["--rms-box", "30,10"]):
            self.check(
                [
                    image,
                    "--save",
                    "snr,islands,mask",
                    "--mask-dilate",
                    2,
                    "--mask-fill",
                    "--cpu",
                    "--threads",
                    threads,
                    *noise,
                ]
            )

    def test_maps_of_components(self):
        image = self.small_image()
        for threads in (1, 2):
            self.check(
                [
                    image,
                    "--fit",
                    "--negative",
                    "-i",
                    3,
                    "--save",
                    "sources,residual",
                    "--cpu",
                    "--threads",
                    threads,
                ]
            )

    def test_what_memory_was_for(self):
        """Of a search with a fit: after islands are divided, sources are fitted."""
        arguments, said = [
            self.small_image(),
            "--fit",
            "-i",
            "3",
            "--cpu",
            "--threads",
            "1",
            "-q",
            "-o",
            self.out + "/",
        ], []
        for fault in sorted(
            self.faults(arguments, ["memory"]), key=lambda fault: int(fault.split(":")[1])
        ):
            said += re.findall(
                "dividing islands|fitting sources", self.run_faulty(arguments, fault)[0].stderr
            )
        self.assertEqual(said, sorted(said))
        self.assertEqual(set(said), {"dividing islands", "fitting sources"})

    @with_pictures
    def test_picture(self):
        """A picture comes with its catalogue, or not at all; what draws texts for cairo always gets
        memory."""
        image = self.small_image()
        self.check([image, "--save", "picture", "--cpu", "--threads", 2])

    @with_pictures
    def test_without_cairo(self):
        result, written, happened = self.run_faulty(
            [self.image(), "--cpu", "--save", "picture", "-o", self.out + "/"], "load:1"
        )
        self.assertEqual([result.returncode, written, happened], [2, {}, True])
        self.assertIn("--save: pictures need cairo, and it cannot be loaded", result.stderr)

    def given(self):
        """Options with a mask and a map of each kind, for a small image."""
        image = np.ones(SMALL, np.float32)
        return [
            word
            for option, value in (("--mask", 1), ("--rms-map", 1.5), ("--background-map", 0.1))
            for word in (option, self.write(option[2:] + ".fits", image * value))
        ]

    def test_given_noise(self):
        image, given = self.small_image(), self.given()
        self.check([image, *given, "-i", 2, "--save", "snr,islands", "--cpu", "--threads", 2])
        tiles = self.path("tiles.fits.fz")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(np.ones(SMALL, np.float32), "GZIP_1", quantize_level=0)]
        ).writeto(tiles)
        self.check(
            [image, "--rms-map", tiles, "--rms-box", "30,10", "--cpu", "--threads", 2],
            ["load", "memory", "read"],
        )

    def test_two_images_of_one_grid(self):
        on = self.write("on.fits", t.noise(*SMALL, n_sources=12), t.sky_header())
        self.check(
            [
                self.small_image(),
                "--detect-on",
                on,
                "--local",
                "--scales=2",
                "--save",
                "snr",
                "--cpu",
                "--threads",
                2,
            ],
            ["memory", "read", "open"],
        )

    def test_planes(self):
        """A plane of pairs, another of one Gaussian; a cube in tiles."""
        cube = np.array([t.noise(*SMALL, n_sources=12), t.noise(*SMALL, n_sources=12)])
        tiles = self.path("cube.fits.fz")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(cube, "GZIP_1", header=t.sky_header(), quantize_level=0)]
        ).writeto(tiles)
        plain = self.write("cube.fits", cube, t.sky_header())
        self.check(
            [
                self.small_image(),
                "-i",
                "3",
                "--measure-in",
                plain + "," + tiles,
                "--cpu",
                "--threads",
                2,
            ]
        )

    def test_part_of_an_image(self):
        """Rows of tiles are unpacked for a part of them."""
        tiles = self.path("tiles.fits.fz")
        pixels = t.noise(*SMALL, n_sources=12)
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(pixels, "GZIP_1", header=t.sky_header(), quantize_level=0)]
        ).writeto(tiles)
        self.check([tiles, "--trim=11,200,5,140", "--cpu", "--threads", 1], ["memory", "read"])

    def test_average_of_planes(self):
        planes = [t.noise(*SMALL, n_sources=12), t.noise(*SMALL, seed=2, n_sources=12)]
        cube = self.write("cube.fits", np.array(planes), t.sky_header())
        maps = ["--detect-on", self.small_image(), "--detect-rms-map"]
        maps += [self.write("rms.fits", np.ones(SMALL, "f4")), "--threads", 2]
        self.check([cube, "--plane=mean", "--cpu", "--threads", 2], ["memory", "read", "open"])
        self.check([cube, *maps, "--cpu"], ["memory", "read", "open"])

    def test_completeness(self):
        """In JSON and tables; the merged table is there with the merged catalogue, or not at all,
        and does not keep that from being written."""
        options = [
            self.small_image(),
            "--fit",
            "--negative",
            "--completeness=6",
            "-f",
            "json",
            "--cpu",
            "--threads",
            "2",
        ]
        self.check(options)
        merging = [*options, "-q", "-o", self.out + "/", "--merge", self.out + "/merged.json"]
        sound, n_failed = self.run_faulty(merging, "nothing:1")[1], 0
        n_alone = 0
        self.assertIn("merged.completeness.json", sound)
        for fault in self.faults(merging, ["memory", "open", "rename"]):
            result, written, _ = self.run_faulty(merging, fault)
            self.assertIn(
                (result.returncode, written == sound),
                ((0, True), (1, False)),
                (fault, result.stderr),
            )
            self.assertGreaterEqual(
                "merged.json" in written,
                "merged.completeness.json" in written,
                (fault, result.stderr),
            )
            n_failed += result.returncode
            n_alone += "merged.json" in written and "merged.completeness.json" not in written
        self.assertGreater(n_failed, 2)
        self.assertGreater(n_alone, 0)

    def test_models_and_injected_sources(self):
        """Maps and tables of a catalogue's own fluxes, and of the sources of a file."""
        catalogue = self.path("sources.csv")
        with open(catalogue, "w") as stream:
            stream.write("id,Xposn,Yposn,Total_flux,DC_Maj,DC_Min,DC_PA,Maj,Min,PA\n")
            for i in range(4):
                stream.write("%d,%d,%d,0.1,1e-3,5e-4,10,3e-3,2e-3,20\n" % (i, 5 + 3 * i, 9 + 2 * i))
        image = self.small_image()
        common, kinds = [image, "--cpu", "--threads", "1"], ["memory", "write", "rename"]
        self.check([*common, "--at", catalogue, "--at-fixed", "--save", "residual"], kinds)
        self.check([*common, "--fit", "--inject", catalogue, "--save", "injected"], kinds)

    def test_map_that_changes(self):
        """Whichever of the files it is, and whenever; also another image."""
        options = ["--cpu", "-q", "-i", "2", "--threads", "1", "-o", self.out + "/"]

        def other():
            return self.write("on.fits", t.noise(*SMALL, n_sources=12), t.sky_header())

        for given, least, n_before in (
            (self.given, 12, 13),
            (lambda: ["--detect-on", other()], 5, 0),
            (lambda: ["--measure-in", other()], 5, 0),
        ):
            for n in range(1, MOST_CALLS):
                result, written, happened = self.run_faulty(
                    [self.small_image(), *given(), *options], "change:%d" % n
                )
                if not happened:
                    break
                if n <= n_before and result.returncode == 0:
                    continue  # the mask is closed, once it is known to be no file of regions
                self.assertEqual([result.returncode, written], [1, {}], n)
                self.assertIn("was changed while it was read", result.stderr)
            self.assertGreater(n, least)

    def test_image_that_changes_before_its_map(self):
        """The map is not that of another image."""
        happened, n = True, 0
        while happened:
            n += 1
            image = self.small_image()
            result, written, happened = self.run_faulty(
                [image, "--cpu", "-q", "--save", "snr", "-o", self.out + "/"], "change:%d" % n
            )
            self.assertEqual([result.returncode, len(written)], [1, 0] if happened else [0, 2], n)
        self.assertGreater(n, 8)

    def test_reads_that_are_cut(self):
        """By signals, or for no reason: nothing is lost."""
        path = self.path("tiles.fits.fz")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(t.noise(200, 220), "GZIP_1", None, t.sky_header())]
        ).writeto(path)
        for image in (self.image(), self.image("other.fits.gz"), path):
            arguments = [image, "--cpu", "-q", "-o", self.out + "/"]
            sound = self.run_faulty(arguments, "nothing:1")[1]
            for fault in ("signals", "shorts"):
                with self.subTest(os.path.basename(image), fault=fault):
                    result, written, _ = self.run_faulty(arguments, fault)
                    self.assertEqual([result.returncode, result.stderr], [0, ""])
                    self.assertEqual(written, sound)

    def test_image_that_is_written_to(self):
        for n in range(1, 5):
            image = self.image()
            result, written, happened = self.run_faulty(
                [image, "--cpu", "-q", "-o", self.out + "/"], "change:%d" % n
            )
            self.assertTrue(happened)
            self.assertEqual([result.returncode, written], [1, {}])
            self.assertIn("was changed while it was read", result.stderr)

    def test_image_whose_length_changes(self):
        """Somebody shortens it, or writes more to it, before one of its reads."""
        for fault in ("shrink", "grow"):
            for n in range(1, MOST_CALLS, 29 if t.SANITIZED else 7):
                image = self.image()
                result, written, happened = self.run_faulty(
                    [image, "--cpu", "-q", "-o", self.out + "/"], "%s:%d" % (fault, n)
                )
                if not happened:
                    break
                with self.subTest(fault, n=n):
                    self.assertEqual([result.returncode, written], [1, {}])
                    self.assertRegex(
                        result.stderr,
                        r"\Asrcfind: .*: the file (ends after|was changed while it was read).*\n\Z",
                    )
            self.assertGreater(n, 20)

    def run_with_signal(self, arguments, number, n, ignored=False):
        """With the signal before the n-th call, and with its usual effect, whoever runs the
        tests."""

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)

        return self.run_faulty(
            [*arguments, "-q", "-o", self.out + "/"],
            "signal:%d" % n,
            {"FAULT_SIGNAL": str(int(number))},
            preexec_fn=prepare,
        )

    @unittest.skipIf(t.SANITIZED, "sanitizers look for leaks where a run ends by itself")
    def test_signals_leave_whole_catalogues(self):
        """Whichever call a signal comes before, it ends the run, and catalogues are whole or not
        there."""
        images = [self.image("%d.fits" % i) for i in range(4)]
        sound = self.run_faulty([*images, "-q", "-o", self.out + "/"], "nothing:1")[1]
        for threads in (1, 9):
            numbers_written, told = set(), set()
            for n in range(1, MOST_CALLS):
                number = ENDING[n % len(ENDING)]
                result, written, happened = self.run_with_signal(
                    [*images, "--cpu", "--threads", str(threads)], number, n
                )
                if not happened:
                    break
                with self.subTest(threads=threads, signal=number.name, n=n):
                    self.assertEqual(result.returncode, -number)
                    self.assertRegex(result.stderr, INTERRUPTED)
                    said = re.match(INTERRUPTED, result.stderr)
                    # what is counted is there
                    self.assertLessEqual(int(said["done"] or 0), len(written))
                    told |= {said["done"]}
                    self.assertEqual(
                        written, {name: text for name, text in sound.items() if name in written}
                    )
                numbers_written.add(len(written))
            self.assertEqual(written, sound)
            if threads == 1:
                self.assertEqual(numbers_written, set(range(len(images) + 1)))
                self.assertEqual(told, {None, *map(str, range(len(images)))})

    @unittest.skipUnless(CAN_UNSHARE, "no process of number 1 can be made here")
    def test_signals_to_the_first_process_of_a_container(self):
        """They end it, too, once they are watched for: before, the kernel keeps them from it."""
        watched = False
        arguments = [
            "unshare",
            "--pid",
            "--fork",
            FAULTY,
            self.image(),
            "--cpu",
            "-q",
            "-o",
            self.out + "/",
        ]
        for n in range(1, MOST_CALLS):
            self.clear()
            result = subprocess.run(
                arguments,
                capture_output=True,
                timeout=t.HANG,
                env={
                    **os.environ,
                    "FAULT": "signal:%d" % n,
                    "FAULT_MARK": self.mark,
                    "FAULT_SIGNAL": str(int(signal.SIGTERM)),
                },
            )
            if not os.path.exists(self.mark):
                break
            watched = watched or result.returncode != 0
            self.assertEqual(
                [result.returncode, result.stderr], [128 + signal.SIGTERM if watched else 0, b""], n
            )
        self.assertTrue(watched)
        self.assertGreater(n, 20)

    def test_signals_leave_whole_maps(self):
        """Maps are whole or not there, all of them at once, and before the catalogue."""
        arguments, numbers_written = [
            self.small_image(),
            "--cpu",
            "--threads",
            "1",
            "--save",
            "rms,islands",
        ], set()
        sound = self.run_faulty([*arguments, "-q", "-o", self.out + "/"], "nothing:1")[1]
        for n in range(1, MOST_CALLS):
            number = ENDING[n % len(ENDING)]
            result, written, happened = self.run_with_signal(arguments, number, n)
            if not happened:
                break
            self.assertEqual([result.returncode, result.stderr], [-number, ""])
            self.assertEqual(
                written, {name: text for name, text in sound.items() if name in written}
            )
            self.assertTrue("image.csv" not in written or len(written) == 3)
            numbers_written.add(len(written))
        self.assertEqual(numbers_written, {0, 2, 3})

    @unittest.skipIf(t.SANITIZED, "sanitizers look for leaks where a run ends by itself")
    def test_killed_runs_leave_nothing_for_long(self):
        """What a killed run leaves, the next one takes away."""
        images, left = [self.image("%d.fits" % i) for i in range(2)], set()
        sound = self.run_faulty([*images, "-q", "-o", self.out + "/"], "nothing:1")[1]
        for n in range(1, MOST_CALLS):
            _, written, happened = self.run_with_signal(
                [*images, "--cpu", "--threads", "1"], signal.SIGKILL, n
            )
            if not happened:
                break
            left |= {name[0] for name in written}
            t.run(*images, "-q", "-o", self.out + "/", "--skip-existing", check=True)
            found = {
                name: open(os.path.join(self.out, name)).read() for name in os.listdir(self.out)
            }
            self.assertEqual(found, sound, n)
        self.assertIn(".", left)  # or nothing was tested

    def test_ignored_signals_stay_ignored(self):
        images = [self.image("%d.fits" % i) for i in range(4)]
        sound = self.run_faulty([*images, "-q", "-o", self.out + "/"], "nothing:1")[1]
        for n in range(1, MOST_CALLS, 10):
            result, written, happened = self.run_with_signal(images, signal.SIGHUP, n, ignored=True)
            self.assertEqual([result.returncode, result.stderr, written], [0, "", sound])
            if not happened:
                break
        self.assertGreater(n, 20)

    def test_two_images(self):
        """The other one has its catalogue in any case."""
        images = [self.image("a.fits"), self.image("b.fits")]
        self.check(
            [*images, "--cpu", "--threads", 2],
            ["read", "open", "lock", "thread", "rename", "close"],
        )

    def test_tiles(self):
        path = self.path("tiles.fits.fz")
        fits.HDUList(
            [fits.PrimaryHDU(), t.tiled(t.noise(200, 220), "RICE_1", None, t.sky_header())]
        ).writeto(path)
        self.check([path, "--cpu", "--threads", 2], ["load", "memory", "read", "lock", "thread"])

    def test_gzip(self):
        self.check([self.image("image.fits.gz"), "--cpu", "--threads", 1], ["memory", "read"])

    def test_histogram_and_sources(self):
        """Ways through the program that ordinary noise does not take: whole numbers, and a blank
        pixel."""
        image = np.round(t.noise(250, 250, n_sources=300)).astype(np.float32)
        image[100, 100] = np.nan
        path = self.write("steps.fits", image)
        for kappa, clip in (1, "one read"), (5, "histogram"):
            arguments = [path, "--cpu", "--threads", 2, "--kappa", kappa]
            self.assertIn("(%s, " % clip, t.run(*arguments, "-v").stderr)
            self.check(arguments, ["memory", "read", "lock"])

    @unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device(self):
        environment = {"SRCFIND_CUDA_MODULE": FAKE}
        self.check(
            [self.image(), "--gpu", "--threads", 2],
            ["load", "memory", "lock", "thread"],
            environment,
        )
        self.check(
            [
                self.small_image(),
                "--detect-on",
                self.image("on.fits", SMALL),
                "--gpu",
                "--threads",
                1,
                "--scales=2",
            ],
            ["memory"],
            {**environment, "FAKE_CUDA_KEEPS": "1"},
        )
        self.check(
            [
                self.small_image(),
                "--measure-in",
                self.image("on.fits", SMALL),
                "--gpu",
                "--threads",
                1,
            ],
            ["memory", "read"],
            {**environment, "FAKE_CUDA_KEEPS": "1"},
        )

    def test_disk_that_is_full_at_any_byte(self):
        path, catalogue = self.image(), self.path("catalogue.csv")
        sound = t.run(path, "-q").stdout
        for size in sorted(
            {*range(0, len(sound) + 200, 97 if t.SANITIZED else 37), len(sound) - 1, len(sound)}
        ):
            result = t.run(
                path,
                "-q",
                "-o",
                catalogue,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            )
            self.assertEqual(result.returncode, 0 if size >= len(sound) else 1, size)
            self.assertEqual(os.path.exists(catalogue), size >= len(sound))
            self.assertEqual(
                sorted(os.listdir(self.directory.name)),
                ["catalogue.csv", "image.fits"][size < len(sound) :],
            )
            if size >= len(sound):
                os.remove(catalogue)

    def test_map_on_a_disk_that_is_full(self):
        """No map, no catalogue, and no temporary file."""
        path = self.write("image.fits", t.noise(60, 70), t.sky_header())
        t.run(path, "-q", "-o", self.path("c.csv"), "--save", "rms,islands", check=True)
        whole = os.path.getsize(self.path("c.rms.fits"))
        for name in ("c.csv", "c.rms.fits", "c.islands.fits"):
            os.remove(self.path(name))
        for size in [*range(0, whole, 997), whole - 1, whole]:
            result = t.run(
                path,
                "-q",
                "-o",
                self.path("c.csv"),
                "--save",
                "rms,islands",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            )
            self.assertEqual(result.returncode, 0 if size >= whole else 1, size)
            if size < whole:
                self.assertRegex(
                    result.stderr,
                    r"\Asrcfind: .*c.rms.fits: the map cannot be written: File too large\n\Z",
                )
                self.assertEqual(os.listdir(self.directory.name), ["image.fits"])


class Reports(FaultCase):
    def check_report(self, arguments, kinds, environment=(), step=1):
        """What standard output is asked for comes whole, or there is an error, with one in `step`
        of the faults."""
        arguments = [*map(str, arguments)]
        for fault in [*self.faults(arguments, kinds, environment)][:: 1 if t.SANITIZED else step]:
            result, _, _ = self.run_faulty(arguments, fault, environment)
            self.assertIn(result.returncode, (0, 1, 3), (fault, result.stderr))
            self.assertLessEqual(len(result.stderr.splitlines()), 2, (fault, result.stderr))
            if result.returncode == 0:
                self.assertNotEqual(result.stdout, "", fault)
            else:
                self.assertTrue(result.stderr.startswith("srcfind: "), (fault, result.stderr))

    def test_bench(self):
        self.check_report(
            [self.small_image(), "--bench=1", "--cpu"], ["memory", "flush", "lock", "open"], step=3
        )

    def test_help_and_version(self):
        for option in ("-h", "--help", "--help=bench", "--columns=help", "--version"):
            self.check_report([option], ["memory", "flush"])

    @unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_comparison(self):
        for options, step in ([], 1), (["-f", "json"], 3):
            self.check_report(
                [self.small_image(), "--compare-cpu", "--threads", 2, *options],
                ["memory", "flush", "lock", "close"],
                {"SRCFIND_CUDA_MODULE": FAKE},
                step,
            )


if __name__ == "__main__":
    t.main()

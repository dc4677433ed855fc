"""The workflows of workflows/: run by cwltool, Stimela and Dask on tiles, they give the bytes of the
command.

PEERS_PYTHON is an interpreter with cwltool, Stimela and distributed, whose commands lie beside it,
and with the Python package of this tree. Without it, the names of options and outputs are compared."""
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

PEERS = os.environ.get("PEERS_PYTHON", "")
WORKFLOWS = os.path.join(t.SOURCE_ROOT, "workflows")
TILES = ["west.fits", "east.fits", "empty.fits"]
BROKEN = "broken.fits: not a FITS file: it does not begin with SIMPLE"
# options of searches, with the names of both tools: all of them but files' names, cores and devices
SEARCHES = (
    {
        "threshold": 6,
        "island": 3,
        "rms_box": [64, 16],
        "background": "zero",
        "scales": [2, 4],
        "negative": True,
        "completeness": 100,
        "columns": "RA,Total_flux,Flags",
        "save": ["mask", "residual"],
    },
    {"local": True, "deblend": True},
    {"fit": True},
    {
        "rms_map": "rms.fits",
        "background_map": "flat.fits",
        "mask": "part.fits",
        "detect_on": "other.fits",
        "measure_in": ["other.fits", "flat.fits"],
    },
    {"at": "places.csv"},
)


def merge_command():
    return os.path.join(os.path.dirname(shutil.which(t.COMMAND)), "srcfind-merge")


def needs(program):
    path = os.path.join(os.path.dirname(PEERS), program)
    return t.unittest.skipUnless(
        os.path.exists(PEERS) and os.path.exists(path), f"no {program} beside PEERS_PYTHON"
    )


def joined(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def workflow(name):
    return os.path.join(WORKFLOWS, name)


def text_of(name):
    with open(workflow(name)) as stream:
        return stream.read()


class Names(t.unittest.TestCase):
    """They are those of the command, in all builds."""

    def test_options(self):
        """Each option of a CWL tool or a cab is one of its command."""
        known = [
            set(re.findall("--([a-z-]+)", subprocess.check_output([command, "--help"], text=True)))
            for command in (t.COMMAND, merge_command())
        ]
        for name, options in zip(("srcfind.cwl", "merge.cwl"), known):
            given = re.findall("prefix: --([a-z-]+)", text_of(name))
            self.assertGreater(len(given), 3)
            self.assertLessEqual(set(given), options)
        cabs = text_of("srcfind.cab.yml").split("\n  srcfind-merge:\n")
        for cab, options in zip(cabs, known):
            given = re.findall(r"^      (\w+):", cab.partition("    outputs:\n")[0], re.MULTILINE)
            given = {name.replace("_", "-") for name in given} - {"image", "options", "catalogues"}
            self.assertGreater(len(given), 2)
            self.assertLessEqual(given, options)

    def test_saved(self):
        """Each map and table of --save is an output."""
        saved = set(re.findall("^  (\\w+)  ", t.run("--save", "help").stdout, re.MULTILINE))
        self.assertGreater(len(saved), 10)
        for name in ("srcfind.cwl", "srcfind.cab.yml"):
            self.assertEqual(
                set(re.findall(r"^ +saved_(\w+):", text_of(name), re.MULTILINE)), saved
            )
        self.assertEqual(set(re.findall(r"find/saved_(\w+)", text_of("tiles.cwl"))), saved)


class Workflows(t.Case):
    """Two tiles that overlap, one without a source, and a file that is none."""

    def setUp(self):
        super().setUp()
        sky = t.noise(200, 360, sigma=1e-3)
        empty = np.random.default_rng(3).normal(0, 1e-3, (200, 200)).astype(np.float32)
        for name, first, pixels in zip(TILES, (0, 160, 360), (sky[:, :200], sky[:, 160:], empty)):
            self.write(name, pixels, t.sky_header(CRPIX1=50.0 - first))
        with open(self.path("broken.fits"), "w") as stream:
            stream.write("no image\n")

    def peer(self, name, *arguments):
        """A program beside the interpreter, which finds the command under test."""
        beside = os.path.dirname(PEERS)
        folders = [os.path.dirname(shutil.which(t.COMMAND)), beside, os.environ["PATH"]]
        return subprocess.run(
            [os.path.join(beside, name), *map(str, arguments)],
            cwd=self.directory.name,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": ":".join(folders), "HOME": self.directory.name},
        )

    def command(self, *arguments):
        t.run(*arguments, "-q", cwd=self.directory.name, check=True)

    def merge(self, *arguments):
        """What the command makes of the tiles: plain.fits, and plain/ with a catalogue of each."""
        self.command(*TILES, "-o", "plain/", "-f", "fits", "--merge", "plain.fits", *arguments)
        self.assertEqual(len(fits.getdata(self.path("plain/empty.fits"), 1)), 0)
        self.assertGreater(len(fits.getdata(self.path("plain.fits"), 1)), 15)

    def merge_again(self, *arguments):
        """The merged catalogue of plain/, by the other command."""
        tiles = ["plain/" + tile for tile in TILES]
        directory = self.directory.name
        subprocess.run([merge_command(), "-q", *tiles, *arguments], cwd=directory, check=True)

    def assert_same(self, first, second):
        first, second = self.path(first), self.path(second)
        with open(first, "rb") as one, open(second, "rb") as other:
            self.assertTrue(one.read() == other.read(), f"{first} and {second} differ")

    def assert_fails(self, result, message):
        """With the words of srcfind, which Stimela wraps."""
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(message, " ".join((result.stdout + result.stderr).split()))

    def run_as_documented(self, program, *outputs):
        """The command in docs/pipelines.md, for two tiles: it makes these files."""
        with open(os.path.join(t.SOURCE_ROOT, "docs", "pipelines.md")) as stream:
            (line,) = re.findall(f"^    ({program} .*workflows/.*)$", stream.read(), re.MULTILINE)
        os.symlink(WORKFLOWS, self.path("workflows"))
        os.rename(self.path("west.fits"), self.path("P1.fits"))
        os.rename(self.path("east.fits"), self.path("P2.fits"))
        result = self.peer(*shlex.split(line))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual([name for name in outputs if not os.path.exists(self.path(name))], [])

    def searches(self):
        """SEARCHES, with their files."""
        header = t.sky_header()
        pixels = fits.getdata(self.path("west.fits"))
        self.write("rms.fits", np.full_like(pixels, 2e-3), header)
        self.write("flat.fits", np.full_like(pixels, 1e-4), header)
        self.write("part.fits", (np.arange(200) < 150) + 0 * pixels, header)
        self.write("other.fits", pixels * np.float32(1.5), header)
        with open(self.path("places.csv"), "w") as stream:
            stream.write("Xposn,Yposn\n20,30\n40,50\n")
        return SEARCHES

    def assert_as_the_command(self, options, others):
        """out/found.csv, and what is beside it, are the files of the command. Removes them."""
        arguments = [
            f"--{name.replace('_', '-')}" + (f"={joined(value)}" if value is not True else "")
            for name, value in options.items()
        ]
        self.command("west.fits", *arguments, *others, "-o", self.path("plain.csv"))
        ends = [".csv"] + [f".{name}.fits" for name in options.get("save", ())]
        ends += [".completeness.csv", ".reliability.csv"] if "negative" in options else []
        self.assertGreater(len(t.read_csv(self.path("plain.csv"))), 1)
        for end in ends:
            self.assert_same("plain" + end, f"out/found{end}")
        planes = [self.path("plain.planes.csv"), self.path("out/found.planes.csv")]
        self.assertEqual(*map(os.path.exists, planes))
        shutil.rmtree(self.path("out"))


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
@needs("cwltool")
class Cwl(Workflows):
    def cwl(self, name, *arguments):
        return self.peer("cwltool", "--parallel", "--outdir", "out", workflow(name), *arguments)

    def test_tiles(self):
        """Catalogues, maps and the merged tables."""
        self.merge("--survey", "--save", "rms,gaussians", "--completeness=100")
        result = self.cwl(
            "tiles.cwl",
            *(argument for tile in TILES for argument in ("--tiles", tile)),
            *("--survey", "--save", "rms", "--save", "gaussians", "--name", "night"),
            "--options=--completeness=100",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        for end in (".fits", ".gaussians.fits", ".completeness.fits"):
            self.assert_same("plain" + end, "out/night" + end)
        for tile in TILES:
            for end in (".fits", ".rms.fits", ".gaussians.fits"):
                stem = tile.removesuffix(".fits")
                self.assert_same(f"plain/{stem}{end}", f"out/{stem}.cat{end}")
        outputs = json.loads(result.stdout)
        self.assertEqual(outputs["merged"]["basename"], "night.fits")
        self.assertEqual(len(outputs["saved"]), 2 * len(TILES))

    def test_merge(self):
        """merge.cwl alone, with its options, and the tables that lie beside the catalogues."""
        self.merge("-i", 3, "--fit", "--save", "gaussians", "--completeness=100")
        self.merge_again("--radius=3", "--merge-duplicates=keep", "-o", "plain.csv")
        result = self.cwl(
            "merge.cwl",
            *(argument for tile in TILES for argument in ("--catalogues", "plain/" + tile)),
            *("--radius", 3, "--merge_duplicates", "keep", "--format", "csv"),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        for end in (".csv", ".gaussians.csv", ".completeness.csv"):
            self.assert_same("plain" + end, "out/merged" + end)

    def test_page(self):
        outputs = ("out/merged.fits", "out/P1.cat.fits", "out/P1.cat.rms.fits")
        self.run_as_documented("cwltool", *outputs)

    def test_tiles_of_one_name(self):
        """A file of inputs gives them others, which are in the column Image."""
        tiles = []
        for tile in TILES[:2]:
            os.makedirs(self.path("of-" + tile))
            os.rename(self.path(tile), self.path(f"of-{tile}/mosaic.fits"))
            tiles.append({"class": "File", "path": f"of-{tile}/mosaic.fits", "basename": tile})
        with open(self.path("night.yml"), "w") as stream:
            json.dump({"tiles": tiles, "format": "csv"}, stream)  # which is YAML, too
        result = self.cwl("tiles.cwl", "night.yml")
        self.assertEqual(result.returncode, 0, result.stderr)
        images = {row["Image"] for row in t.read_csv(self.path("out/merged.csv"))}
        self.assertEqual(images, set(TILES[:2]))

    def test_failures(self):
        """A tile that is no image fails the workflow, and so does one that is missing."""
        tiles = ("--tiles", "west.fits", "--tiles", "broken.fits")
        self.assert_fails(self.cwl("tiles.cwl", *tiles), BROKEN)
        result = self.cwl("tiles.cwl", "--tiles", "nowhere.fits")
        self.assert_fails(result, "nowhere.fits")
        self.assertFalse(os.path.exists(self.path("out/merged.fits")))

    def test_options(self):
        """Each input reaches the command."""

        def given(name, value):
            if isinstance(value, list) and name in ("save", "measure_in"):
                return [text for each in value for text in ("--" + name, each)]
            return ["--" + name] if value is True else ["--" + name, joined(value)]

        for options in self.searches():
            arguments = [text for name, value in options.items() for text in given(name, value)]
            shapes = ["--shapes", "free"] if "fit" in options else []
            files = ("--image", "west.fits", "--name", "found", "--format", "csv")
            result = self.cwl(
                "srcfind.cwl", *files, *arguments, *("--options=" + text for text in shapes)
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_as_the_command(options, shapes)

    @t.unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_threads(self):
        """They are the cores that are asked for."""
        result = self.cwl("srcfind.cwl", "--image", "west.fits", "--threads", 2)
        self.assertIn("--threads 2", " ".join(result.stderr.replace("\\\n", " ").split()))


RECIPE = """
_include: %s

tiles:
  inputs:
    tiles: {dtype: "List[File]", required: true}
  steps:
    find:
      recipe:
        inputs: {tiles: {dtype: "List[File]"}}
        for_loop: {var: image, over: tiles}
        steps:
          find:
            cab: srcfind
            params: {image: =recipe.image, output: '=STRIPEXT(recipe.image) + ".cat.fits"', island: 3, save: [rms]}
          search_its_noise:
            cab: srcfind
            params: {image: =recipe.image, output: '=STRIPEXT(recipe.image) + ".again.fits"', island: 3, rms_map: =steps.find.saved_rms}
      params: {tiles: =recipe.tiles}
    merge:
      cab: srcfind-merge
      params: {catalogues: [west.cat.fits, east.cat.fits, empty.cat.fits], output: night.csv, radius: 3, merge_duplicates: keep}
"""


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
@needs("stimela")
class Stimela(Workflows):
    def stimela(self, *arguments):
        return self.peer("stimela", "run", *arguments)

    def recipe(self, *tiles):
        with open(self.path("night.yml"), "w") as stream:
            stream.write(RECIPE % workflow("srcfind.cab.yml"))
        return self.stimela("night.yml", "tiles", "tiles=[%s]" % ",".join(tiles))

    def test_page(self):
        self.run_as_documented("stimela", "out/P1.csv", "out/P1.rms.fits")

    def test_tiles(self):
        """A loop over tiles; the next step takes a map, and the last one merges."""
        result = self.recipe(*TILES)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.merge("-i", 3)
        self.merge_again("--radius=3", "--merge-duplicates=keep", "-o", "plain.csv")
        self.assert_same("plain.csv", "night.csv")
        self.assertEqual(len(fits.getdata(self.path("empty.cat.fits"), 1)), 0)
        found = [fits.getdata(self.path(f"west.{name}.fits"), 1) for name in ("cat", "again")]
        self.assertEqual(*(len(table) for table in found))

    def test_failures(self):
        self.assert_fails(self.recipe("west.fits", "broken.fits"), BROKEN)
        self.assert_fails(self.recipe("nowhere.fits"), "nowhere.fits")
        self.assertFalse(os.path.exists(self.path("night.csv")))

    def test_options(self):
        """Each input reaches the command."""

        def given(name, value):
            text = joined(value)
            return f"{name}=[{text}]" if isinstance(value, list) else f"{name}={text}"

        for options in self.searches():
            shapes = ["--shapes", "free"] if "fit" in options else []
            result = self.stimela(
                *(
                    workflow("srcfind.cab.yml"),
                    "srcfind",
                    "image=west.fits",
                    "output=out/found.csv",
                ),
                *itertools.starmap(given, options.items()),
                *([given("options", shapes)] if shapes else []),
                *("threads=1", "device=cpu"),
            )
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assert_as_the_command(options, shapes)


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
@needs("dask")
class Dask(Workflows):
    def dask(self, *tiles):
        return self.peer(
            os.path.basename(PEERS), workflow("tiles_dask.py"), "night.fits", "out", *tiles
        )

    def test_page(self):
        self.run_as_documented("python", "merged.fits", "out/P1.fits", "out/P2.fits")

    def test_tiles(self):
        result = self.dask(*TILES)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.merge("--local", "-i", 3, "--fit", "--cpu")
        self.assert_same("plain.fits", "night.fits")
        for tile in TILES:
            self.assert_same("plain/" + tile, "out/" + tile)

    def test_failures(self):
        self.assert_fails(self.dask("west.fits", "broken.fits"), BROKEN)
        self.assert_fails(self.dask("nowhere.fits"), "nowhere.fits")
        self.assertFalse(os.path.exists(self.path("night.fits")))


if __name__ == "__main__":
    t.main()

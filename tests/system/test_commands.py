"""The commands of README.md, docs/start.md and docs/commands.md: each one runs, on files with the names
that it has."""
import glob
import os
import re
import shlex
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

PAGES = ("README.md", "docs/start.md", "docs/commands.md")
SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
IMAGES = ("image", "i", "corrected", "deep", "flat", "a", "b", "epoch1", "epoch2")
LISTS = ("catalogue.csv", "c.csv", "reference.csv", "priors.fits", "sky.fits", "p7.csv")
NO_DEVICE = 3


def commands_of(text):
    """Those in blocks of code, of which the explanation stands behind two spaces or more, and those
    within lines."""
    lines = re.findall(r"(?m)^    (srcfind.*)$", text)
    yield from (re.split(r"\s{2,}(?=[a-z])", line)[0] for line in lines)
    prose = re.sub(r"(?m)^    .*$", "", text)
    yield from re.findall(r"`(srcfind(?:-merge)? [^`]*\.[^`]*)`", prose)


class Commands(t.Case):
    def setUp(self):
        """The files that the commands read. Catalogues that some of them read are made by others."""
        super().setUp()
        pixels, header = fits.getdata(SAMPLE, header=True)
        for name in IMAGES:
            fits.writeto(self.path(name + ".fits"), pixels, header)
        os.mkdir(self.path("tiles"))
        os.mkdir(self.path("out"))
        for name in ("north", "south"):
            fits.writeto(self.path("tiles/%s.fits" % name), pixels, header)
        cube = np.repeat(pixels[None], 10, axis=0)
        named = fits.ImageHDU(cube[None], header, name="SCI")
        fits.HDUList([fits.PrimaryHDU(cube, header), named]).writeto(self.path("cube.fits"))
        fits.writeto(self.path("r.fits"), np.full_like(pixels, 5e-5), header)
        fits.writeto(self.path("m.fits"), np.ones_like(pixels), header)
        with open(self.path("field.reg"), "w") as stream:
            stream.write("image\ncircle(150,128,100)\n")
        for name in LISTS:
            self.assertEqual(t.run(SAMPLE, "-s", "-q", "-o", self.path(name)).returncode, 0)
        result = t.run("-f", "fits", "-q", "-o", self.path("out"), *glob.glob(self.path("tiles/*")))
        self.assertEqual(result.returncode, 0)
        os.symlink(os.path.join(t.SOURCE_ROOT, "data"), self.path("data"))

    def words(self, command):
        """The arguments of a command, as a shell expands them."""
        for word in shlex.split(command):
            found = glob.glob(word, root_dir=self.directory.name) if "*" in word else []
            yield from sorted(found) if found else [word]

    def test_table_of_readme(self):
        """The rows that README.md shows are those that its command prints."""
        with open(os.path.join(t.SOURCE_ROOT, "README.md")) as stream:
            shown = re.search(r"`srcfind (.*?)` prints.*?\n\n((?:    .*\n)+)", stream.read())
        result = t.run(*shown[1].split(), "-q", cwd=self.directory.name)
        lines = shown[2].splitlines()
        self.assertEqual(len(lines), 5)
        printed = result.stdout.splitlines()[: len(lines)]
        self.assertEqual([line.rstrip() for line in printed], [line[4:] for line in lines])

    def test_quoted_notes(self):
        """What the pages of docs/ say that srcfind prints of a map of data/: its summary, or a part of
        it between dots, and its notes."""
        printed = {}
        for path in ("data/maps/magpis.fits", "data/maps/parkes.fits"):
            results = [t.run(*options, path, cwd=self.directory.name) for options in ([], ["-s"])]
            printed[path] = "".join(result.stderr for result in results)
        n_quoted = 0
        for page in sorted(glob.glob(os.path.join(t.SOURCE_ROOT, "docs", "*.md"))):
            with open(page) as stream:
                text = stream.read()
            for path, line in re.findall(r"(?m)^    srcfind: (data/maps/\S+): (.*)$", text):
                self.assertIn("srcfind: %s: %s\n" % (path, line), printed[path], page)
                n_quoted += 1
            for line in re.findall(r"(?m)^    \.\.\. (.*), \.\.\.$", text):
                self.assertIn(line + ", ", printed["data/maps/magpis.fits"], page)
                n_quoted += 1
        self.assertGreater(n_quoted, 3)

    def test_commands(self):
        n_commands = 0
        for page in PAGES:
            with open(os.path.join(t.SOURCE_ROOT, page)) as stream:
                text = stream.read()
            for command in commands_of(text):
                name, *arguments = self.words(command)
                if "picture" in command and not os.environ.get("PICTURES"):
                    continue
                with self.subTest(page=page, command=command):
                    result = subprocess.run(
                        [os.path.join(os.path.dirname(t.COMMAND), name), *arguments],
                        cwd=self.directory.name,
                        capture_output=True,
                        text=True,
                    )
                    allowed = (0, NO_DEVICE) if "gpu" in command else (0,)
                    if "--compare-cpu" in command:
                        allowed = (NO_DEVICE,)  # the tests of the suite gpu have devices
                    self.assertIn(result.returncode, allowed, result.stderr)
                n_commands += 1
        self.assertGreater(n_commands, 50)


if __name__ == "__main__":
    t.main()

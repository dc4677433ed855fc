"""docs/tutorial.md and docs/regions.md: their commands run as they stand there, and give the numbers
and the lines on the page; the options and links of these pages, and of docs/gpu.md and
docs/coming-from.md.

The commands srcfind-page need a Python with this package, and the figure one with matplotlib. Both
are looked for beside the Python of the tests and in PEERS_PYTHON; without them these commands are
left out, and all others run."""
import functools
import json
import math
import os
import re
import shlex
import subprocess
import sys

import numpy as np
from astropy import units as u
from astropy.table import Table

import srcfind_test as t

DOCS = os.path.join(t.SOURCE_ROOT, "docs")
sys.path.append(DOCS)
import tutorial  # noqa: E402

PAGES = ("tutorial.md", "regions.md", "gpu.md", "coming-from.md")
PROGRAMS = ("srcfind", "srcfind-page", "python3", "cp", "printf")
PAGE_COMMAND = "srcfind.page._command"  # the module of srcfind-page


def page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as stream:
        return stream.read()


def commands_of(text):
    """The lines in blocks of code that begin with a program; those of output do not. The lines that
    install srcfind are left out."""
    lines = re.findall(r"(?m)^    (.*)$", text.replace("\\\n", ""))
    return [line for line in lines if line.split(" ")[0] in PROGRAMS and "venv" not in line]


@functools.lru_cache
def python_with(module):
    """A Python that has a module; None without."""
    for python in (sys.executable, os.environ.get("PEERS_PYTHON", "")):
        found = os.path.exists(python) and subprocess.run(
            [python, "-c", "import " + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if found and found.returncode == 0:
            return python
    return None


def without_times(line):
    """A summary line without the time, and without the device."""
    return re.sub(r", [0-9.]+ m?s on .*", "", line)


def shown_rows(text):
    """The cells of all rows of the page's tables."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def scatter(values):
    return 1.4826 * np.median(abs(values - np.median(values)))


def median_of(values):
    """A median with its error, as srcfind-page has them."""
    return np.median(values), 1.2533 * scatter(values) / np.sqrt(len(values))


def measured(value, error):
    """A value and its error to two digits of the error, as srcfind-page writes them."""
    decimals = 1 - math.floor(math.log10(float("%.1e" % error)))
    text = "%.*f ± %.*f" % (decimals, value, decimals, error)
    return text.replace("-", "\N{MINUS SIGN}")


def number(value):
    return "%.4g" % value


class Pages(t.Case):
    """Commands run in a directory that has the folders of the source."""

    def setUp(self):
        super().setUp()
        for folder in ("data", "docs"):
            os.symlink(os.path.join(t.SOURCE_ROOT, folder), self.path(folder))
        os.mkdir(self.path("bin"))
        os.symlink(os.path.realpath(t.COMMAND), self.path("bin/srcfind"))
        self.program("python3", python_with("matplotlib") or sys.executable, "")
        if python_with(PAGE_COMMAND):
            main = "-c 'import sys; from %s import main; sys.exit(main())'" % PAGE_COMMAND
            self.program("srcfind-page", python_with(PAGE_COMMAND), main)

    def program(self, name, python, arguments):
        with open(self.path("bin/" + name), "w") as stream:
            stream.write('#!/bin/sh\nexec "%s" %s "$@"\n' % (python, arguments))
        os.chmod(self.path("bin/" + name), 0o755)

    def can_run(self, command):
        if command.startswith("srcfind-page "):
            return python_with(PAGE_COMMAND)
        return "python3 tutorial.py" not in command or python_with("matplotlib")

    def run_page(self, name):
        """Standard output and error of each command that can run here."""
        results = {}
        path = self.path("bin") + os.pathsep + os.environ["PATH"]
        commands = commands_of(page(name))
        self.assertGreater(len(commands), 6)
        for command in filter(self.can_run, commands):
            result = subprocess.run(
                command,
                shell=True,
                cwd=self.directory.name,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=t.HANG,
            )
            self.assertEqual(result.returncode, 0, command + "\n" + result.stderr)
            results[command] = result
        return results

    def table(self, name):
        return Table.read(self.path(name), format="ascii.csv", fill_values=[("", "nan")])


class Tutorial(Pages):
    def setUp(self):
        super().setUp()
        self.text = page("tutorial.md")
        self.rows = shown_rows(self.text)
        self.results = self.run_page("tutorial.md")
        with open(self.path("c.json")) as stream:
            self.catalogue = json.load(stream)
        self.sources = tutorial.sources_of(self.catalogue)

    def test_page(self):
        """All in one, since the commands take seconds."""
        self.check_messages()
        self.check_first_rows()
        self.check_completeness()
        self.check_reliability()
        self.check_reference()
        self.check_sentence()
        if python_with(PAGE_COMMAND):
            self.check_page()
        if python_with("matplotlib"):
            self.assertGreater(os.path.getsize(self.path("figure.png")), 30000)

    def rows_below(self, heading):
        """The rows of the page's table that begins with this heading."""
        table = self.text[self.text.index("\n| %s |" % heading) :].split("\n\n")[0]
        return shown_rows(table.replace("\\|", ""))[2:]

    def check_messages(self):
        shown = re.findall(r"(?m)^    (srcfind: .*)$", self.text)
        first = next(result for command, result in self.results.items() if "first.csv" in command)
        self.assertEqual(
            list(map(without_times, shown)), list(map(without_times, first.stderr.splitlines()))
        )
        self.assertTrue(os.path.exists(self.path("first.csv")))
        count = next(result for command, result in self.results.items() if "print(len" in command)
        self.assertIn("prints `%s`" % count.stdout.strip(), self.text)

    def check_first_rows(self):
        """The table on the screen, and the number of columns."""
        shown = next(r.stdout for command, r in self.results.items() if "-f table" in command)
        lines = ["    " + line.rstrip() for line in shown.splitlines()]
        self.assertEqual(len(lines), 5)
        self.assertIn("\n".join(lines) + "\n", self.text)
        table = self.table("catalogue.csv")
        self.assertIn(
            "the %d columns on the screen" % len(table.colnames), " ".join(self.text.split())
        )
        self.assertTrue((np.diff(table["SNR"]) <= 0).all())

    def check_completeness(self):
        bins = self.catalogue["completeness"]["flux"]
        shown = self.rows_below("true Total_flux (mJy)")
        computed = [
            [
                "%.4g to %.4g" % (1e3 * part["low"], 1e3 * part["high"]),
                str(part["injected"]),
                str(part["found"]),
                measured(part["completeness"], part["error"]),
            ]
            for part in bins
        ]
        start = computed.index(shown[0])
        self.assertEqual(shown, computed[start : start + 5])
        # 90% from the fourth row of the page on, and not before
        self.assertLess(bins[start + 2]["completeness"], 0.9)
        self.assertTrue(all(part["completeness"] >= 0.9 for part in bins[start + 3 :]))
        self.assertEqual(
            sum(part["injected"] for part in self.catalogue["completeness"]["snr"]), 256
        )

    def check_reliability(self):
        """The rows are all in which there is a source, so that their sums are the numbers of the text."""
        names = ("positive", "negative", "reliability", "artefacts", "negative_artefacts")
        bins = self.catalogue["reliability"]
        filled = [part for part in bins if any(part[name] for name in names)]
        self.assertEqual(
            [row[1:] for row in self.rows_below("\\|Pix_SNR\\|")],
            [[number(part[name]) for name in names] for part in filled]
            + [["62", "2", "%.4g" % (1 - 2 / 62), "1", "3"]],
        )
        # artefacts are counted apart from the others
        counts = [sum(part[name] for part in bins) for name in names if name != "reliability"]
        self.assertEqual(counts, [62, 2, 1, 3])
        self.assertEqual(len(self.sources), 63)
        self.assertIn(
            "of the whole catalogue: 1 - 2 / 62, or %.0f%%" % (100 - 200 / 62),
            " ".join(self.text.split()),
        )

    def compared(self):
        reference = Table.read(self.path("parkes.sumss.ecsv"))
        radius = self.catalogue["image"]["beam"]["major_deg"] / 2 * u.deg
        i, j = tutorial.matches(self.sources, reference, radius)
        ours = tutorial.places_of(self.sources[i], "RA", "DEC")
        east, north = tutorial.places_of(reference[j], "RAJ2000", "DEJ2000").spherical_offsets_to(
            ours
        )
        ratio = self.sources["Total_flux"][i] / tutorial.expected(self.catalogue, reference)[j]
        return reference, j, east.arcsec, north.arcsec, np.asarray(ratio)

    def check_reference(self):
        reference, j, east, north, ratio = self.compared()
        self.assertEqual(len(j), 9)
        logarithm, error = median_of(np.log(ratio))
        scatters = "%.3g, %.3g" % (scatter(east), scatter(north))
        rows = [
            ["matched within 432 arcsec", "9"],
            ["offset to the east, RA cos(Dec) (arcsec)", measured(*median_of(east))],
            ["offset to the north (arcsec)", measured(*median_of(north))],
            ["scatter of the offsets (arcsec)", scatters],
            [
                "flux ratio, catalogue / reference",
                measured(np.exp(logarithm), np.exp(logarithm) * error),
            ],
            ["scatter of the flux ratios", "%.3g%%" % (100 * scatter(np.log(ratio)))],
        ]
        for row in rows:
            self.assertIn(row, self.rows)
        self.assertIn("ratios scatter by %s." % rows[-1][1], self.text)
        brightest = int(np.argmax(tutorial.expected(self.catalogue, reference)[j]))
        both = [row["Name"] in ("G4Jy 1472", "G4Jy 1477") for row in reference]
        self.assertIn("has a ratio of %.2f" % ratio[brightest], self.text)
        flux = reference["S843"]
        alone = flux[j][brightest]
        self.assertIn(
            "the ratio is %.2f" % (ratio[brightest] * alone / flux[both].sum()), self.text
        )

    def check_page(self):
        """The rows of the tables are on the page that srcfind-page wrote."""
        with open(self.path("c.html"), encoding="utf-8") as stream:
            words = re.sub(r"\s*(<[^>]*>\s*)+", "|", stream.read())
        for heading in ("true Total_flux (mJy)", "\\|Pix_SNR\\|", "catalogue less reference"):
            for row in self.rows_below(heading):
                self.assertIn("|" + "|".join(row) + "|", words)

    def check_sentence(self):
        """Its numbers are those of the tables."""
        words = " ".join(re.findall(r"(?m)^> (.*)$", self.text))
        _, _, east, north, ratio = self.compared()
        logarithm, error = median_of(np.log(ratio))
        for part in (
            "srcfind %s " % self.catalogue["srcfind"],
            "found %d sources" % len(self.sources),
            "boxes of %d pixels" % self.catalogue["background"]["local"]["size"],
            "(%d isolated matches" % len(ratio),
            "%.0f ± %.0f arcsec to the east" % median_of(east),
            "%.0f ± %.0f arcsec to the north" % median_of(north),
            "ratio is %.2f ± %.2f" % (np.exp(logarithm), np.exp(logarithm) * error),
            "90.5 ± 6.5 % complete from 0.60 to 0.78 Jy",
            "reliability is 97 %",
        ):
            self.assertIn(part, words)


class Regions(Pages):
    def test_page(self):
        self.run_page("regions.md")
        text = page("regions.md")
        tables = {
            name: self.table(name + ".csv")
            for name in ("field", "faint", "inner", "casa", "masked", "part", "all")
        }
        self.assertIn(
            "field.csv has %d sources, faint.csv has %d, and a search of all has %d"
            % tuple(len(tables[name]) for name in ("field", "faint", "all")),
            " ".join(text.split()),
        )
        with open(self.path("field.csv"), "rb") as one, open(self.path("casa.csv"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        # the noise of the image is that of a search of all; of the regions alone it is another
        everywhere = dict(zip(tables["all"]["Source_Name"], tables["all"]["Isl_rms"]))
        same = [
            everywhere[row["Source_Name"]] == row["Isl_rms"]
            for row in tables["field"]
            if row["Source_Name"] in everywhere
        ]
        self.assertTrue(len(same) > 25 and all(same))
        result = t.run(
            "-s", "--mask", self.path("field.reg"), "--mask-noise", self.path("parkes.fits")
        )
        median = re.search(r"median ([0-9.]+)", result.stderr)[1]
        self.assertIn("median rms is %.3f JY/BEAM" % float(median), text)
        self.assertTrue((tables["masked"]["Ypeak"] >= 40).all())
        part = tables["part"]
        self.assertTrue(((part["Xpeak"] >= 59) & (part["Xpeak"] <= 159)).all())
        self.assertTrue(((part["Ypeak"] >= 39) & (part["Ypeak"] <= 139)).all())


class Words(t.Case):
    """Of all four pages."""

    def test_options(self):
        known = set(re.findall("--([a-z-]+)", t.run("--help").stdout))
        for name in PAGES:
            text = page(name)
            if name == "coming-from.md":
                text = "\n".join(re.findall(r"(?m)^    (srcfind .*)$", text)) + "\n".join(
                    row[1] for row in shown_rows(text) if len(row) > 2
                )
                text = re.sub(r"thresholds.*|columns.*|a row is.*", "", text)
            given = set(re.findall(r"(?<=[ `(])--([a-z][a-z-]+)", text))
            self.assertGreater(len(given), 4, name)
            of_others = {
                "reference",
                "reference-flux",
                "reference-frequency",
                "radius",
                "buildtype",
                "config-settings",
            }
            self.assertEqual(given - known - of_others, set(), name)

    def test_commands_are_understood(self):
        """Those that are not run, since their files are not there: they fail for that alone."""
        for name in ("gpu.md", "coming-from.md"):
            commands = re.findall(r"(?m)^    srcfind (-.*)$", page(name))
            self.assertGreater(len(commands), 3)
            for command in commands:
                result = t.run(*shlex.split(command.split("#")[0]), cwd=self.directory.name)
                status = 3 if re.search("--gpu|--device|--compare-cpu", command) else 1
                self.assertEqual(result.returncode, status, command + result.stderr)

    def test_links(self):
        for name in PAGES:
            links = re.findall(r"\]\(([^)#]+)[^)]*\)", page(name))
            self.assertGreater(len(links), 2, name)
            for link in links:
                if "://" not in link:
                    self.assertTrue(os.path.exists(os.path.join(DOCS, link)), name + ": " + link)


if __name__ == "__main__":
    t.main()

"""-h, --help, --help=OPTION and the lists of formats, maps and columns; the names ds9 and bbs."""
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess

import srcfind_test as t

SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
OPTIONS_INC = os.path.join(t.SOURCE_ROOT, "src", "options", "options.inc")
GROUPS = ["Input", "Noise", "Detection", "Sources", "Other images", "Output", "Many images"]
GROUPS.append("Device")
WIDTH = 80
LINE = re.compile(r"(?:  -(\w), |      )--([a-z-]+)(\[=\w+\]| \S+)?  +(\S.*?)(?: \[(.+)\])?")


def shown(*arguments, **options):
    """What the command shows, without an error and within the width of a terminal."""
    result = t.run(*arguments, **options)
    assert [result.returncode, result.stderr] == [0, ""], result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    return lines


def options_of_table():
    """The names in options.inc."""
    with open(OPTIONS_INC) as stream:
        return re.findall(
            r'(?m)^(?:SEARCH|MACHINE|MACRO|COMMAND)_OPTION\("([a-z-]+)"', stream.read()
        )


def sections_of_manual():
    """What options.text has of each option."""
    path = os.path.join(t.SOURCE_ROOT, "src", "options", "options.text")
    with open(path) as stream:
        parts = re.split(r"(?m)^\[(.*)\]\n", stream.read())
    return dict(zip(parts[1::2], parts[2::2]))


def names_in_manual(section):
    """The names that the first list of a section of the manual explains."""
    with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1")) as stream:
        text = re.split(r"(?m)^\.S[hs] %s\n" % section, stream.read())[1]
    return re.findall(r"[\w-]+", " ".join(re.findall(r"(?m)^\.It Cm (.*)", text.split("\n.El")[0])))


def entries(lines):
    """Letter, name, argument, sentence and default of lines that begin with an option."""
    return [LINE.fullmatch(line).groups("") for line in lines if line.lstrip().startswith("-")]


def commands(lines):
    """The examples, without what is said of them."""
    return [re.split(r"  +", line)[1] for line in lines if line.startswith("  srcfind ")]


def items(lines):
    """First words and texts of a list, which may go on in more lines."""
    found = []
    for line in lines:
        if re.match(r"  \S", line):
            found.append(re.split(r"  +", line.strip(), maxsplit=1))
        elif line.startswith("    "):
            found[-1][1] += " " + line.strip()
    return found


class Help(t.Case):
    def test_daily_options(self):
        """One screen: usage, examples, and a part of the lines of --help."""
        lines = shown("-h")
        self.assertLessEqual(len(lines), 25)
        self.assertEqual(lines[0], "Usage: srcfind [OPTION]... IMAGE...")
        self.assertEqual(len(commands(lines)), 3)
        daily = entries(lines[:-1])
        self.assertGreaterEqual(len(daily), 12)
        everything = entries(shown("--help"))
        self.assertEqual([entry for entry in daily if entry not in everything], [])
        for name in ("output", "survey", "threshold", "island", "local", "fit", "save", "help"):
            self.assertIn(name, [entry[1] for entry in daily])
        for words in ("--help ", "--help=OPTION", "man srcfind"):
            self.assertIn(words, lines[-1])

    def test_groups(self):
        """Each option of the table has one line, in one group, with a sentence."""
        lines = shown("--help")
        titles = [line[:-1] for line in lines if re.fullmatch(r"[A-Z].*:", line)]
        self.assertEqual(titles, GROUPS + ["Examples"])
        listed = entries(lines)
        self.assertEqual(sorted(entry[1] for entry in listed), sorted(options_of_table()))
        self.assertTrue(all(entry[3] for entry in listed))
        group_of, group = {}, None
        for line in lines:
            group = line[:-1] if line[:-1] in titles else group
            if line.lstrip().startswith("-"):
                group_of[LINE.fullmatch(line)[2]] = group
        for name, group in (("beam", "Input"), ("kappa", "Noise"), ("island", "Detection")):
            self.assertEqual(group_of[name], group)
        for name, group in (("fit", "Sources"), ("at", "Other images"), ("save", "Output")):
            self.assertEqual(group_of[name], group)
        for name, group in (("merge", "Many images"), ("gpu", "Device")):
            self.assertEqual(group_of[name], group)

    def test_examples(self):
        """They do what they say."""
        os.mkdir(self.path("tiles"))
        for name in ("image.fits", "tiles/a.fits", "tiles/b.fits"):
            shutil.copy(SAMPLE, self.path(name))
        examples = commands(shown("--help"))
        self.assertEqual([one for one in commands(shown("-h")) if one not in examples], [])
        for command in examples:
            result = subprocess.run(
                ["sh", "-c", '"$0" ' + command.removeprefix("srcfind "), t.COMMAND],
                cwd=self.directory.name,
                capture_output=True,
                text=True,
            )
            self.assertEqual(result.returncode, 0, (command, result.stderr))
        self.assertEqual(
            sorted(os.listdir(self.directory.name)),
            "c.rms.fits c.vot catalogue.csv catalogues image.fits tiles".split(),
        )

    def test_texts_of_options(self):
        """They have the words of the manual, and nothing of its markup."""
        sections = sections_of_manual()
        for letter, name, argument, _, default in entries(shown("--help")):
            with self.subTest(name):
                lines = shown("--help=" + name)
                head = "  -%s, " % letter if letter else "      "
                self.assertEqual(lines[0], head + "--" + name + argument)
                own = itertools.takewhile(lambda line: line[:1] in ("", " "), lines[1:])
                text = " ".join(own)
                self.assertNotRegex(
                    text, r"\\|\{|(^|\s)\.?(Ar|Cm|Fl|Nm|Ns|Pq|Pp|Sx|Ql)\b|\.It\b|\s[.,;:]\s"
                )
                wanted = re.sub(r"(?m)^\.Bl.*|\b(Ns|Fl|Nm)\b|\{default\}", "", sections[name])
                for word in re.findall(r"(?<![\\(])\b[A-Za-z_]{3,}", wanted):
                    self.assertIn(word, text)
                if re.search("{default}", sections[name]):
                    self.assertIn("    Default: " + default, lines)

    def test_text_of_an_option(self):
        self.assertEqual(
            shown("--help=connectivity"),
            [
                "      --connectivity 4|8",
                "",
                "    With 4, pixels are neighbours if they share an edge (default 4). With 8,",
                "    pixels that share a corner are neighbours too.",
                "",
                "    Default: 4",
                "    Values: 4 or 8",
            ],
        )
        values = [line for line in shown("--help=merge-duplicates") if "Values" in line]
        self.assertEqual(values, ["    Values: drop or keep"])
        bench = shown("--help=bench")
        self.assertIn("    - pixels per second;", bench)

    def test_sections_behind_an_option(self):
        """A short one is there, and a long one is named."""
        lines = shown("--help=local")
        section = shown("--help=local noise")
        self.assertEqual(section[0], "Local noise")
        self.assertEqual(lines[-len(section) :], section)
        self.assertIn('"Local noise"', lines[2])
        lines = shown("--help=scales")
        self.assertEqual(lines[-1], "    More: srcfind --help='extended emission'")
        self.assertEqual(shown("--help=extended emission")[0], "EXTENDED EMISSION")
        self.assertNotIn("More", " ".join(shown("--help=kappa")))

    def test_sections(self):
        """Each section of the manual but for three has its words, without markup; those of a
        subsection are in its section, too."""
        with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1")) as stream:
            parts = re.split(r"(?m)^\.Sh (.*)\n", stream.read())[1:]
        sections = dict(zip(parts[::2], parts[1::2]))
        listed = " ".join(" ".join(shown("--help")).split("--help=SECTION: ")[1].split())
        names = [name for name in sections if name not in ("NAME", "SYNOPSIS", "OPTIONS")]
        self.assertEqual(listed.split(", "), names)
        for name in names:
            with self.subTest(name):
                lines = shown("--help=" + name.lower())
                text = " ".join(lines)
                self.assertEqual(lines[0], name)
                self.assertNotRegex(text, r"\\|(^|\s)\.?(Ar|Cm|Fl|Nm|Ns|Pq|Sx|Ql|Xr)\b|\s[.,;:]\s")
                wanted = re.sub(
                    r"(?m)^\.(Bl|Bd|\\\").*|\b(Ns|Fl|Nm|No)\b|\\\(..", "", sections[name]
                )
                for word in re.findall(r"\b[A-Za-z_]{3,}", wanted):
                    self.assertIn(word, text)
                for title in re.findall(r"(?m)^\.Ss (.*)", sections[name]):
                    part = shown("--help", title.upper())
                    self.assertEqual(part[0], title)
                    self.assertIn("\n".join(part[1:]), "\n".join(lines))

    def test_section_or_option(self):
        """The whole name of an option stands before a section, and this before a part of one."""
        self.assertEqual(shown("--help=errors of")[0], shown("--help", "ERRORS")[0])
        self.assertTrue(shown("--help=completeness")[0].strip().startswith("--completeness"))
        self.assertEqual(shown("--help=regions")[0], "REGIONS")
        self.assertTrue(shown("--help=regions-")[0].strip().startswith("--regions-as"))

    def test_lists_in_sections(self):
        """Numbers, items and lists within them are indented; commands are not filled."""
        lines = shown("--help=components")
        self.assertIn("    1. All sources are fitted with free shapes.", lines)
        lines = shown("--help=catalogue")
        self.assertIn("      - 2: the island is one pixel;", lines)
        self.assertIn("    srcfind -s image.fits -o catalogue.csv", shown("--help=examples"))

    def test_names_of_options(self):
        """Behind = or as the next word, with or without hyphens, whole or not, or a letter."""
        expected = shown("--help=threshold")
        for words in ("threshold", "--threshold", "-n", "n", "thres"):
            for arguments in (["--help", words], ["--help=" + words], [SAMPLE, "--help", words]):
                with self.subTest(arguments):
                    self.assertEqual(shown(*arguments), expected)
        self.assertEqual(shown("--help", "-n", "-q"), expected)
        for arguments in (["--help", "--"], ["--help", SAMPLE], [SAMPLE, "--help"], ["--help="]):
            with self.subTest(arguments):
                self.assertEqual(shown(*arguments), shown("--help"))

    def test_unknown_names(self):
        """The message is that of an unknown option."""
        for word in ("thresold", "thresh_pix", "xyzzy", "ma", "fitt"):
            for arguments in (["--help", word], ["--help=" + word], ["--help", "--" + word]):
                with self.subTest(arguments):
                    result = t.run(*arguments)
                    self.assertEqual([result.returncode, result.stdout], [2, ""])
                    self.assertEqual(result.stderr, t.run("--" + word).stderr)
        self.assertIn("did you mean --threshold?", t.run("--help", "thresold").stderr)

    def test_formats(self):
        """Each name and suffix is one that the command takes; the manual has the same names."""
        found = items(shown("--format", "help"))
        self.assertEqual(shown("-f", "help", SAMPLE), shown("--format", "help"))
        names = [name for first, _ in found for name in first.split(", ")]
        values = [line for line in shown("--help=format") if "Values: " in line][0]
        self.assertTrue(
            values.endswith("csv, json, votable, fits, ecsv, reg, ds9, crtf, skymodel, bbs,")
        )
        self.assertEqual(names, names_in_manual("FORMATS"))
        for name, text in found:
            for suffix in re.search(r"\((.*)\)", text)[1].split():
                output = self.path("c" + suffix)
                t.run(SAMPLE, "-q", "--fit", "-o", output, check=True)
                plain = [] if suffix.endswith(".gz") else [output]
                for path in plain:
                    same = t.run(SAMPLE, "-q", "--fit", "-f", name.split(", ")[0], "-o", path + "x")
                    self.assertEqual(same.returncode, 0)
                    with open(path, "rb") as one, open(path + "x", "rb") as other:
                        self.assertEqual(one.read(), other.read())

    def test_aliases(self):
        """They are names of formats alone: no suffixes, and files have the suffix of the format."""
        for alias, name in (
            ("ds9", "reg"),
            ("bbs", "skymodel"),
            ("DS9", "reg"),
            ("Bbs", "skymodel"),
        ):
            of_alias, of_name = (
                t.run(SAMPLE, "-q", "--fit", "-f", one, check=True).stdout for one in (alias, name)
            )
            self.assertEqual(of_alias, of_name)
            self.assertTrue(of_name)
            t.run(SAMPLE, "-q", "--fit", "-f", alias, "-o", self.path(alias) + "/", check=True)
            self.assertEqual(os.listdir(self.path(alias)), ["sample." + name])
            result = t.run(SAMPLE, "-o", self.path("c." + alias))
            self.assertEqual(result.returncode, 2)

    def test_maps(self):
        """Those that --save takes."""
        found = dict(items(shown("--save", "help")))
        needed = {name: re.findall(r"--[a-z]+", text)[-1:] for name, text in found.items()}
        values = " ".join(shown("--help=save")).split("Values: ")[1].split(" or help")[0]
        self.assertEqual(list(found), re.split(r"[, ]+", values))
        self.assertEqual(list(found), names_in_manual("MAPS"))
        wrong = t.run(SAMPLE, "--save", "no").stderr
        self.assertEqual(re.split(r"[, ]+", wrong.strip().split("a list of: ")[1]), list(found))
        needed["covariance"] += ["--at", "180,-30"]
        for name, options in needed.items():
            result = t.run(SAMPLE, "-q", "--save", name, *options, "-o", self.path("c.csv"))
            if name != "picture" or os.environ.get("PICTURES"):
                self.assertEqual([result.returncode, result.stderr], [0, ""])

    def test_columns(self):
        """All columns of the schema, with their units, each with the option that makes it; and the
        lists of the folder."""
        lines = shown("--columns", "help")
        at = lines.index("Lists with a name, beside which other columns may stand:")
        between = lines.index("Columns that catalogues have only if they are chosen:")
        found, chosen = items(lines[:between]), items(lines[between:at])
        with open(os.path.join(t.SOURCE_ROOT, "schema", "srcfind.schema.json")) as stream:
            known = json.load(stream)["$defs"]["source"]["properties"]
        names = [first.split()[0] for first, *_ in found]
        skies = re.compile(r"(E_)?([GES]?LON|[GES]?LAT)(_max)?")
        others = [first.split()[0] for first, *_ in chosen]
        self.assertEqual(others[:5], ["Beam_Maj", "Beam_Min", "Beam_PA", "Frequency", "Image"])
        with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1"), encoding="utf-8") as stream:
            manual = stream.read().partition("Ss Columns of other programs")[2]
        for name in others:
            self.assertRegex(manual, r"\b%s\b" % name)
        of_merged = {"Image", "Date_obs", "Plane", "Frequency"}
        wanted = {name for name in known if not skies.fullmatch(name)} - of_merged - {"Gaus_id"}
        self.assertEqual(set(names), wanted)
        rows = {name: " ".join(" ".join(texts).split()) for name, (_, *texts) in zip(names, found)}
        for name, words in (("RA", "deg "), ("Peak_flux", "map unit "), ("Total_flux", "Jy ")):
            self.assertTrue(rows[name].startswith(words), rows[name])
        self.assertTrue(rows["E_Maj"].startswith("deg --fit: "), rows["E_Maj"])
        self.assertTrue(
            rows["Flags"].endswith("2048 may be an artefact of a brighter source"), rows["Flags"]
        )
        of_search = [name for name in names if "--at:" not in rows[name]]
        of_search = [name for name in of_search if not re.search("--(at|measure)", rows[name])]
        for some in (of_search, others):
            options = ["-q", "--scales", "--columns", ",".join(some)]
            header = t.run(SAMPLE, *options, check=True).stdout.split("\n")[0]
            self.assertEqual(header.split(","), some)
        lists = [first for first, _ in items(lines[at:])]
        folder = os.listdir(os.path.join(t.SOURCE_ROOT, "columns"))
        self.assertEqual(sorted(lists), sorted("@" + name for name in folder))

    @t.unittest.skipIf(t.SANITIZED, "nothing of a build is run")
    def test_option_without_group(self):
        """It is no C; nor is an option whose group is none, or that has no text."""
        includes = (self.directory.name, os.path.join(t.SOURCE_ROOT, "src"))
        includes += (os.path.dirname(t.COMMAND),)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        source = os.path.join(t.SOURCE_ROOT, "src", "cli", "help.c")
        with open(OPTIONS_INC) as stream:
            table = stream.read()
        os.mkdir(self.path("options"))
        whole = '"take the rms from this map", NOISE)\n'
        more = 'COMMAND_OPTION("new", 0, NULL, FLAG, new, NULL, NULL, "be new", NOISE)\n'
        self.assertEqual(table.count(whole), 1)
        for line, is_good in (
            (whole, True),
            (whole.replace(", NOISE", ""), False),
            (whole.replace("NOISE", "NOISES"), False),
            (whole + more, False),
        ):
            with open(self.path("options/options.inc"), "w") as stream:
                stream.write(table.replace(whole, line))
            command = [*compiler, "-std=c17", "-fsyntax-only", *("-I" + one for one in includes)]
            result = subprocess.run([*command, source], capture_output=True, text=True)
            self.assertEqual(result.returncode == 0, is_good, result.stderr)


if __name__ == "__main__":
    t.main()

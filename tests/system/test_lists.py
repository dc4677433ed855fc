"""scripts/lists: the lists of options and columns in the manual, docs/columns.md, the JSON Schema and the
Python package come from options.inc and columns.inc."""
import json
import os
import shutil
import subprocess
import tempfile

import srcfind_test as t

READ = [
    "scripts/lists",
    "src/options/options.inc",
    "src/options/options.text",
    "src/options/groups.inc",
    "src/output/columns.inc",
    "src/output/columns.text",
    "src/output/plane_columns.inc",
    "src/output/plane_columns.text",
    "src/output/products.inc",
    "scripts/lists_of_python.py",
    "scripts/plain-manual",
    "python/srcfind/_spelling.py",
]
SIGNATURES, FIND, FINDER, TEXTS = IN_PYTHON = tuple(
    "python/srcfind/_%s.py" % name for name in ("signatures", "find", "finder", "texts")
)
OF_COLUMNS = ("man/srcfind.1", "docs/columns.md", "schema/srcfind.schema.json")
WRITTEN = [*OF_COLUMNS, *IN_PYTHON]
OPTIONS, OPTION_TEXTS, COLUMNS, COLUMN_TEXTS = READ[1:3] + READ[4:6]
PRODUCTS = "src/output/products.inc"
BEFORE_BLANK = 'SEARCH_OPTION("blank"'
BEFORE_SNR = 'COLUMN("SNR"'


@t.unittest.skipIf(t.SANITIZED, "the script is in Python: nothing of a build is run")
class Lists(t.unittest.TestCase):
    """Each test has a copy of what the script reads and writes."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="srcfind-")
        self.addCleanup(self.directory.cleanup)
        for name in READ + WRITTEN:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copy(os.path.join(t.SOURCE_ROOT, name), self.path(name))

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def text(self, name):
        with open(self.path(name)) as stream:
            return stream.read()

    def put(self, name, text):
        with open(self.path(name), "w") as stream:
            stream.write(text)

    def change(self, name, old, new):
        text = self.text(name)
        self.assertEqual(text.count(old), 1, old)
        self.put(name, text.replace(old, new))

    def lists(self, *arguments, root=None):
        return subprocess.run(
            [os.path.join(root or self.directory.name, "scripts", "lists"), *arguments],
            capture_output=True,
            text=True,
        )

    def assert_wrong(self, *words):
        """Both forms of the command fail with a line that has these words, and no file changes."""
        before = [self.text(name) for name in WRITTEN]
        for arguments in ([], ["--check"]):
            result = self.lists(*arguments)
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")],
                [1, "", 1],
                result.stderr,
            )
            for word in words:
                self.assertIn(word, result.stderr)
        self.assertEqual([self.text(name) for name in WRITTEN], before)

    def assert_changes(self, *names):
        """--check names the files that are old, and changes nothing; then they are written, which
        is all that is to do."""
        before = {name: self.text(name) for name in WRITTEN}
        result = self.lists("--check")
        self.assertEqual(
            [result.returncode, result.stderr],
            [1, "lists: %s: not what scripts/lists writes: run it\n" % ", ".join(names)],
        )
        self.assertEqual({name: self.text(name) for name in WRITTEN}, before)
        self.assertEqual(self.lists().returncode, 0)
        self.assertEqual(tuple(name for name in WRITTEN if self.text(name) != before[name]), names)
        self.assertEqual(self.lists("--check").returncode, 0)

    def definition(self, name):
        return json.loads(self.text("schema/srcfind.schema.json"))["$defs"][name]

    def test_committed_files_are_what_is_written(self):
        result = self.lists("--check", root=t.SOURCE_ROOT)
        self.assertEqual([result.returncode, result.stdout, result.stderr], [0, "", ""])

    def test_new_option(self):
        """It needs its line and its text."""
        self.change(
            OPTIONS,
            BEFORE_BLANK,
            'SEARCH_OPTION("smooth", \'s\', "MAJ[,MIN]", NUMBER, smooth, "7", NULL, "help", INPUT)\n'
            + BEFORE_BLANK,
        )
        self.assert_wrong("src/options/options.text", "[smooth]")
        self.change(
            OPTION_TEXTS,
            "[blank]\n",
            "[smooth]\nWiden the beam\n.Pq default {default} .\n\n[blank]\n",
        )
        self.assert_changes("man/srcfind.1", "schema/srcfind.schema.json", *IN_PYTHON)
        self.assertIn(
            "\n    #: help [7]\n    smooth: Number | None\n    #: pixels of this value are blank",
            self.text(SIGNATURES),
        )
        for name, indent in ((FIND, "    "), (FINDER, "        ")):
            self.assertIn("\n%ssmooth: Number | None = None,\n" % indent, self.text(name))
            self.assertIn("\n    smooth : float, default: 7\n        Widen the", self.text(name))
        self.assertIn("smooth : float, default: 7\n    help\n        Widen", self.text(TEXTS))
        self.assertIn(
            "\n.It Fl s , Fl -smooth Ar MAJ Ns Op , Ns Ar MIN\nWiden the beam\n.Pq default 7 .\n.It Fl -blank Ar VALUE\n",
            self.text("man/srcfind.1"),
        )
        options = self.definition("options")
        self.assertEqual(options["properties"]["smooth"]["type"], ["number", "null"])
        self.assertEqual(options["required"], list(options["properties"]))
        self.assertEqual(
            options["required"].index("smooth") + 1, options["required"].index("blank")
        )

    def test_option_that_shapes_no_catalogue(self):
        """It is in the manual and in Python alone; one of the command is not in Python, either."""
        self.change(
            OPTIONS,
            BEFORE_BLANK,
            'MACHINE_OPTION("speed", 0, NULL, FLAG, speed, NULL, NULL, "help", DEVICE)\n'
            + BEFORE_BLANK,
        )
        self.change(OPTION_TEXTS, "[blank]\n", "[speed]\nBe fast.\n\n[blank]\n")
        self.assert_changes("man/srcfind.1", *IN_PYTHON)
        self.assertIn("\n.It Fl -speed\nBe fast.\n", self.text("man/srcfind.1"))
        self.assertIn("\n    speed: Flag | None\n", self.text(SIGNATURES))
        self.change(OPTIONS, 'MACHINE_OPTION("speed"', 'COMMAND_OPTION("speed"')
        self.assert_changes(*IN_PYTHON)
        for name in IN_PYTHON:
            self.assertNotIn("speed", self.text(name))

    def test_types_in_python(self):
        """A choice has its values, also as numbers; a type that is new has to be named."""
        self.change(
            OPTIONS,
            '"4|8", CHOICE, connectivity, "4", "4|8"',
            '"4|6|8", CHOICE, connectivity, "4", "4|6|8"',
        )
        self.change(
            OPTIONS,
            '"auto|free|beam", CHOICE, shapes, NULL, "auto|free|beam"',
            '"auto|beam", CHOICE, shapes, NULL, "auto|beam"',
        )
        self.assertEqual(self.lists().returncode, 0)
        self.assertIn(
            '\n    connectivity: Literal[4, 6, 8, "4", "6", "8"] | None\n', self.text(SIGNATURES)
        )
        self.assertIn('\n    shapes: Literal["auto", "beam"] | None\n', self.text(SIGNATURES))
        self.assertIn("\n    shapes : {'auto', 'beam'}, default: 'auto'\n", self.text(FIND))
        self.change(OPTIONS, '"MAJ[,MIN,PA]", BEAM', '"MAJ[,MIN,PA]", ELLIPSE')
        self.assert_wrong("TYPES has no ELLIPSE", "beam")

    def test_texts_in_python(self):
        """Options have Python's names there, and an argument the name of its option; what is said
        of the command line is left out."""
        self.change(
            OPTION_TEXTS,
            "[blank]\n",
            "[blank]\nAs\n.Fl -rms-box Cm 60,20\nwith\n.Fl l\nand\n.Ar VALUE ,\n.Fl -save Cm residual\nand\n"
            ".Fl -quiet .\nThe command line has another.\n",
        )
        self.assertEqual(self.lists().returncode, 0)
        for name in (FIND, FINDER, TEXTS):
            text = " ".join(self.text(name).split())
            self.assertIn(
                "As `rms_box=(60, 20)` with `local=True` and `blank`, "
                '`catalogue.map("residual")` and the command\'s --quiet. Treat pixels',
                text,
            )

    def test_new_map(self):
        """Python's type of the names has it."""
        self.change(
            PRODUCTS,
            'MAP(MASK, "mask"',
            'MAP(NEW, "new", ".fits", QUANTITY_LABEL, false, NEEDS_ISLANDS, "new")\nMAP(MASK, "mask"',
        )
        self.assert_changes(SIGNATURES)
        self.assertIn('"injected", "new", "mask"', self.text(SIGNATURES))

    def test_new_column(self):
        """It needs its line and its text; the condition stands before the text."""
        before = self.definition("source")["properties"]
        self.change(
            COLUMNS,
            BEFORE_SNR,
            'COLUMN("Index", "map", "ucd", index, REAL, FITTED, "an index")\n' + BEFORE_SNR,
        )
        self.assert_wrong("src/output/columns.text", "[Index]")
        self.change(COLUMN_TEXTS, "[SNR]\n", "[Index]\nits index\n\nits\n.Em index .\n\n[SNR]\n")
        self.assert_changes(*OF_COLUMNS)
        self.assertIn(
            "\n| Index | map unit | with `--fit`: its index |\n| SNR |",
            self.text("docs/columns.md"),
        )
        self.assertIn(
            "\n.It Index Pq map unit\nWith\n.Fl -fit :\nits\n.Em index .\n.It SNR\n",
            self.text("man/srcfind.1"),
        )
        source = self.definition("source")
        self.assertEqual(
            source["properties"].pop("Index"),
            {"type": ["number", "null"], "description": "an index [image.unit]"},
        )
        self.assertEqual(source["properties"], before)  # with their ranges
        self.assertNotIn("Index", source["required"])
        self.assertEqual(source["dependentRequired"]["Index"], ["N_Gaus"])
        self.assertIn("Index", source["dependentRequired"]["N_Gaus"])
        self.assertEqual(
            [
                self.definition(name)["properties"]["columns"]["maxItems"]
                for name in ("catalogue", "merged")
            ],
            [58, 62],
        )

    def test_changed_lines(self):
        self.change(COLUMNS, '"Pixel_sum", "map"', '"Pixel_sum", "flux"')
        self.assert_changes(*OF_COLUMNS)
        self.assertIn("\n| Pixel_sum | Jy |", self.text("docs/columns.md"))
        self.change(COLUMNS, '"number of pixels"', '"how many pixels"')
        self.assert_changes("schema/srcfind.schema.json")
        self.change(
            COLUMNS,
            '"meta.number;instr.pixel", n_pixels, OPTIONAL, SOURCES',
            '"meta.number;instr.pixel", n_pixels, INTEGER, SOURCES',
        )
        self.assert_changes("schema/srcfind.schema.json")
        self.assertEqual(
            self.definition("source")["properties"]["N_pix"],
            {"type": "integer", "minimum": 1, "description": "how many pixels"},
        )
        self.change(OPTIONS, 'kappa, "3"', 'kappa, "4"')
        self.assert_changes("man/srcfind.1", *IN_PYTHON)
        self.change(COLUMN_TEXTS, "[N_pix]\nnumber", "[N_pix]\nthe number")
        self.assert_changes("docs/columns.md")

    def test_lists_that_were_edited(self):
        """What is written by hand into a list goes; what stands around it stays."""
        for name, old in (
            ("man/srcfind.1", "Number of pixels."),
            ("docs/columns.md", "| number of pixels |"),
            (SIGNATURES, "    #: ignore sources with fewer"),
            (FIND, "        Ignore sources with fewer than `min_pixels`"),
            (FINDER, "        Ignore sources with fewer than `min_pixels`"),
            (TEXTS, "        Ignore sources with fewer than `min_pixels`"),
        ):
            whole = self.text(name)
            self.change(name, old, old.replace("pixels", "islands").replace("sources", "islands"))
            self.assert_changes(name)
            self.assertEqual(self.text(name), whole)
        self.change("docs/columns.md", "# What the columns mean", "# Columns")
        self.assertEqual(self.lists("--check").returncode, 0)

    def test_wrong_texts(self):
        """A line of error says what is wrong."""
        for name, old, new, words in (
            (OPTION_TEXTS, "[mask]", "[maks]", ["no section [mask]"]),
            (
                OPTION_TEXTS,
                "[mask]\n",
                "[veil]\nMore.\n\n[mask]\n",
                ["[veil] is not in src/options/options.inc"],
            ),
            (OPTION_TEXTS, "[cpu]\nShort for\n.Fl -device Cm cpu .\n", "[cpu]\n", ["[cpu]"]),
            (
                OPTION_TEXTS,
                "standard deviations of the median\n.Pq default {default} .",
                "standard deviations of the median.",
                ["[kappa]", "{default}"],
            ),
            (
                OPTION_TEXTS,
                "[negative]\n",
                "[negative]\nNot {default}.\n",
                ["[negative]", "{default}"],
            ),
            (COLUMN_TEXTS, "[Xpeak, Ypeak]", "[Ypeak, Xpeak]", ["order"]),
            (COLUMN_TEXTS, "[Pixel_sum]\n", "[Pixel_sum, N_pix]\n", ["order"]),
            (COLUMN_TEXTS, "[SNR]\nPeak_flux / Isl_rms\n\n", "[SNR]\n", ["[SNR]"]),
            (COLUMNS, '"E_DEC", "deg"', '"E_DEC", "rad"', ["[E_RA, E_DEC]", "units"]),
            (
                "docs/columns.md",
                "<!-- End of the columns. -->",
                "",
                ["docs/columns.md", "End of the columns"],
            ),
        ):
            with self.subTest(new):
                whole = self.text(name)
                self.change(name, old, new)
                try:
                    self.assert_wrong(*words)
                finally:
                    self.put(name, whole)


if __name__ == "__main__":
    t.main()

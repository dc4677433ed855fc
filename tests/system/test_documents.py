"""Documents: the length of their lines, their links, the list of tests in tests/README.md, and what
README.md promises."""
import glob
import os
import re

import srcfind_test as t

LONGEST = 130
README_BYTES = 6500
FOLDERS = ("tests", "tests/*", "python/tests")
NO_TESTS = ("README.md", "RECORD.md", "meson.build")
# The row of the test in a file, by the file's path below tests/: a suite, or none.
ROWS = (
    (r"unit/(test_limits)\.c", "system | {} (in tests/unit)"),
    (r"unit/(test_\w+)\.c", "unit | {}"),
    (r"system/(test_\w+)\.py", "system | {}"),
    (r"gpu/test_(\w+)\.c", "gpu | gpu_{}"),
    (r"gpu/(sanitize)", "gpu | gpu_{}"),
    (r"gpu/compare-(images)", "gpu | gpu_{}"),
    (r"bench/(.*)", "{}"),
    (r"packages/(\w+)", "packages/{}"),
    (r"python/tests/(test_\w+)\.py", "{}"),
)
# Code, or a link, or the name of a page; of links, what they say and where they lead.
MENTIONS = re.compile(r"(`[^`]*`)|\[([^][]*)\]\(([^()\s]*)\)|([\w./-]*\w\.md\b)")


def relative(pattern):
    return [
        os.path.relpath(path, t.SOURCE_ROOT)
        for path in sorted(glob.glob(os.path.join(t.SOURCE_ROOT, pattern)))
    ]


def lines_of(name):
    with open(os.path.join(t.SOURCE_ROOT, name), encoding="utf-8") as stream:
        return stream.read().splitlines()


def prose_of(name):
    """The text of a page without its blocks of code, as paragraphs in one line each: links may have
    several lines."""
    text, in_code = [], False
    for line in lines_of(name):
        in_code ^= line.startswith("```")
        text.append("" if in_code or line.startswith(("    ", "```")) else line.strip())
    return re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(text))


def row_of(path):
    """What the row of a file begins with; a header and its source file share a row."""
    path = path.removeprefix("tests/")
    for pattern, row in ROWS:
        match = re.fullmatch(pattern, path)
        if match:
            return row.format(match[1])
    source = path.removesuffix(".h") + ".c"
    return source if os.path.exists(os.path.join(t.SOURCE_ROOT, "tests", source)) else path


@t.unittest.skipIf(t.SANITIZED, "nothing of a build is run")
class Documents(t.unittest.TestCase):
    def test_lines(self):
        """Only tables and code are wider, and no merge is half done."""
        names = relative("*.md") + relative("*/*.md") + relative("*/*/*.md")
        self.assertIn("docs/noise.md", names)
        for name in names:
            for number, line in enumerate(lines_of(name), 1):
                self.assertNotRegex(line, "^(<{7}|>{7}) ", "%s:%d" % (name, number))
                if not line.startswith(("|", "    ")):
                    self.assertLessEqual(len(line), LONGEST, "%s:%d" % (name, number))

    def test_links(self):
        """Each mention of a page is a link, and each link leads to a file of the tree."""
        names = relative("*.md") + relative("*/*.md") + relative("*/*/*.md")
        n_links = 0
        for name in names:
            for code, says, target, page in MENTIONS.findall(prose_of(name)):
                self.assertEqual(page, "", name + ": a page is mentioned without a link")
                self.assertIsNone(re.search(r"\w\.md\b", code), name + ": a page as code")
                path = target.partition("#")[0]
                if path and not re.match("[a-z]+:", path):
                    n_links += 1
                    path = os.path.join(t.SOURCE_ROOT, os.path.dirname(name), path)
                    self.assertTrue(os.path.exists(path), "%s: [%s](%s)" % (name, says, target))
        self.assertGreater(n_links, 100)

    def test_readme(self):
        """It is short, and its figures beside other programs are those of BENCHMARKS.md."""
        text = "\n".join(lines_of("README.md"))
        self.assertLessEqual(len(text.encode()), README_BYTES)
        table = text.split("## How it compares")[1].split("\n\n")[1].split("\n")[2:]
        measured = "\n".join(lines_of("BENCHMARKS.md"))
        for row in table:
            for figure in re.findall(r"\d+\.\d+|\d{2,}", row.split("|", 2)[2]):
                self.assertRegex(measured, r"(?<![\d.])%s(?![\d.]*\d)" % re.escape(figure), row)

    def test_installed(self):
        """All pages are installed."""
        installed = re.findall(r"'(\S+\.md)'", "\n".join(lines_of("docs/meson.build")))
        self.assertEqual(["docs/" + name for name in installed], relative("docs/*.md"))

    def test_flags(self):
        """docs/columns.md has each flag of srcfind.h, and the sum of its example is right."""
        flags = re.findall(r"SRCFIND_FLAG_\w+ = (\d+)", "\n".join(lines_of("src/srcfind.h")))
        page = "\n".join(lines_of("docs/columns.md"))
        table = page.split("\n## Flags\n")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"(?m)^\| (\d+) \|", table), flags)
        for terms, total in re.findall(r"\(([\d +]+) = (\d+)\)", table):
            self.assertEqual(sum(map(int, terms.split("+"))), int(total))
            self.assertIn('(c["Flags"] & %s) == 0' % total, table)
            self.assertIn('"(Flags & %s) == 0"' % total, table)

    def test_names_of_tests(self):
        """Each file has a row, and each row that names a file or a test of a file has that file."""
        files = [
            path
            for folder in FOLDERS
            for path in relative(folder + "/*")
            if os.path.isfile(os.path.join(t.SOURCE_ROOT, path))
            and os.path.basename(path) not in NO_TESTS
        ]
        wanted = {row_of(path) for path in files if "/fuzz_" not in path}
        wanted |= {"fuzz | " + os.path.basename(path)[:-2] for path in files if "/fuzz_" in path}
        wanted.add("gpu | gpu_example")  # which is examples/find_on_gpu.c
        self.assertGreater(len(wanted), 150)
        named = set()
        for line in lines_of("tests/README.md"):
            cells = re.match(r"\| (?:(unit|fuzz|system|gpu) \| )?(.*?) \|", line)
            if cells and cells[2] not in ("suite", "test", "program", "file", "---"):
                prefix = cells[1] + " | " if cells[1] else ""
                named |= {prefix + name for name in cells[2].split(", ")}
        self.assertEqual(sorted(named ^ wanted), [])


if __name__ == "__main__":
    t.main()

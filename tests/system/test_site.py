"""scripts/site without Sphinx: what docs/site/ makes of the manual, of srcfind.h and of the pages, and
the check of links. The step `site` of scripts/check builds all of it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import srcfind_test as t

SITE = os.path.join(t.SOURCE_ROOT, "docs", "site")
sys.path.append(SITE)
import header  # noqa: E402
import links  # noqa: E402


@t.unittest.skipIf(t.SANITIZED, "nothing of a build is run")
class Site(t.unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="srcfind-")
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def stage(self, root, *, status=0):
        result = subprocess.run(
            [sys.executable, os.path.join(root, "docs", "site", "stage.py"), self.path("pages")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def text(self, name):
        with open(self.path(name)) as stream:
            return stream.read()

    @t.unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_pages(self):
        """Each option has a heading on one page, and links to it in the words of others; links between
        pages lead to those of the site, and links to other files to copies of these."""
        self.stage(t.SOURCE_ROOT)
        names = [name for name in os.listdir(self.path("pages")) if name.startswith("options-")]
        headings = re.findall(
            r"(?m)^\(option-(.*)\)=\n## `", "".join(self.text("pages/" + name) for name in names)
        )
        listed = re.findall(r"(?m)^ .*?--([a-z-]+)", t.run("--help").stdout.split("Examples")[0])
        self.assertEqual(sorted(set(headings)), sorted(set(listed)))
        self.assertEqual(len(headings), len(set(headings)))
        self.assertIn(
            '<a class="option" href="options-detection.html#option-island">',
            self.text("pages/options-detection.md"),
        )
        self.assertIn("(noise.md)", self.text("pages/index.md"))
        self.assertIn("(architecture.md)", self.text("pages/extended.md"))
        self.assertIn("](pictures/noise.png)", self.text("pages/noise.md"))
        for name in ("parkes.fits", "parkes.sumss.ecsv", "tutorial.py", "picture.py"):
            self.assertIn("](files/%s)" % name, self.text("pages/tutorial.md"))
            self.assertTrue(os.path.getsize(self.path("pages/files/" + name)))

    @t.unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_manuals_of_other_commands(self):
        """They have their own name, a line for each form of the command, and all their sections."""
        self.stage(t.SOURCE_ROOT)
        for name, forms in (("srcfind-page", 2), ("srcfind-merge", 1)):
            page = self.text("pages/manual-%s.md" % name)
            self.assertNotIn('<code class="Nm">srcfind</code>', page)
            self.assertEqual(page.count('<td><code class="Nm">%s</code></td>' % name), forms)
            with open(os.path.join(t.SOURCE_ROOT, "man", name + ".1")) as stream:
                headings = re.findall(r"(?m)^\.S[hs] (.*)$", stream.read())
            shown = re.findall(r"(?m)^###? (.*)$", page)
            self.assertEqual([text.lower() for text in shown], [text.lower() for text in headings])
        page = self.text("pages/manual-srcfind-page.md")
        self.assertIn("\n### Catalogues\n", page)
        self.assertIn("The page of a report", page)

    @t.unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_links_of_pages(self):
        """A page that is not in the menu, or that has a link to nothing, is an error."""
        root = self.path("tree")
        ignored = shutil.ignore_patterns("build*", ".git", "debian")
        shutil.copytree(t.SOURCE_ROOT, root, ignore=ignored)
        self.stage(root)
        with open(os.path.join(root, "docs", "noise.md"), "a") as stream:
            stream.write("\n[More](more.md)\n")
        self.assertIn("docs/noise.md: a link to more.md", self.stage(root, status=1))
        with open(os.path.join(root, "docs", "more.md"), "w") as stream:
            stream.write("# More\n")
        self.assertIn("docs/more.md is not in the menu", self.stage(root, status=1))

    def test_calls(self):
        """Each call of the header has its comment; a call in another form is an error."""
        with open(os.path.join(t.SOURCE_ROOT, "src", "srcfind.h")) as stream:
            source = stream.read()
        page = header.api(source)
        self.assertIn(".. c:function:: int64_t srcfind_catalogue_size(const struct", page)
        self.assertIn("\n    The number of sources.\n", page)
        self.assertIn(".. c:struct:: srcfind_source\n", page)
        self.assertIn(r"Also on an error \*finder", page)
        self.assertIn("## Merging\n", page)
        self.assertIn("a text that ``srcfind_options_set``\n", page)
        with self.assertRaisesRegex(header.Wrong, "neither a function nor a struct"):
            header.api(source.replace("/* --- maps --- */", "SRCFIND_API extern int maps;"))

    def test_dead_links(self):
        """Files, anchors and what comes from elsewhere."""
        pages = {
            "a.html": '<a href="b.html#here">b</a> <a href="#top">a</a> <p id="top">',
            "b.html": '<p id="here"> <a href="https://a.org/x">elsewhere</a> <img src="data:x">',
        }
        for name, text in pages.items():
            with open(self.path(name), "w") as stream:
                stream.write(text)
        self.assertEqual(links.complaints(self.directory.name), [])
        for text, wanted in (
            ('<a href="c.html">', "a dead link to c.html"),
            ('<a href="b.html#there">', "no anchor there"),
            ('<img src="c.png">', "a dead link to c.png"),
            ('<script src="https://a.org/x.js">', "from elsewhere"),
        ):
            with open(self.path("c_page.html"), "w") as stream:
                stream.write(text)
            found = links.complaints(self.directory.name)
            self.assertEqual(len(found), 1, text)
            self.assertIn(wanted, found[0])


if __name__ == "__main__":
    t.main()

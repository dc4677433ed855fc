"""The command line: options, names of catalogues, messages, exit statuses."""
import json
import os
import pty
import re
import shutil
import subprocess

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")

def man_page():
    with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1")) as stream:
        return stream.read()


def completion(name):
    with open(os.path.join(t.SOURCE_ROOT, "completions", name)) as stream:
        return stream.read()


def on_terminal(*arguments, **options):
    """What the command shows on a terminal, which may be read in any number of parts."""
    main, terminal = pty.openpty()
    options.setdefault("stdout", terminal)
    subprocess.run([t.COMMAND, *arguments], stderr=terminal, check=True, **options)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(main, 10000):
            shown += part
    except OSError:  # the terminal's other side is closed
        pass
    os.close(main)
    return shown.decode()


class Command(t.Case):

    def setUp(self):
        super().setUp()
        self.image = self.write("image.fits", t.noise(150, 160), t.sky_header())

    def test_catalogue_goes_where_it_is_asked(self):
        printed = t.run(self.image).stdout
        for arguments, name in ((["-o", "c.csv"], "c.csv"), (["--output=c.csv"], "c.csv"), (["-o", "c.txt"], "c.txt"),
                                (["-oc.csv"], "c.csv"), (["-o", "new/dir/"], "new/dir/image.csv")):
            result = t.run(self.image, *arguments, cwd=self.directory.name)
            self.assertEqual([result.returncode, result.stdout], [0, ""])
            with open(self.path(name), newline="") as stream:
                self.assertEqual(stream.read(), printed)
        self.assertEqual(t.run(self.image, "-o", "-").stdout, printed)
        self.assertEqual(t.run("--", self.image).stdout, printed)

    def test_format(self):
        json = t.run(self.image, "-f", "json").stdout
        self.assertTrue(json.startswith("{"))
        t.run(self.image, "-o", self.path("c.json"))
        with open(self.path("c.json")) as stream:
            self.assertEqual(stream.read(), json)
        t.run(self.image, "-o", self.path("c.json"), "-f", "csv")
        with open(self.path("c.json")) as stream:
            self.assertTrue(stream.read().startswith("Source_id,"))

    def test_catalogue_replaces_what_a_link_leads_to(self):
        os.mkdir(self.path("far"))
        target, link = self.path("far/c.csv"), self.path("link.csv")
        with open(target, "w") as stream:
            stream.write("old")
        os.chmod(target, 0o640)
        os.symlink(target, link)
        t.run(self.image, "-o", link, check=True)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(os.stat(target).st_mode & 0o777, 0o640)
        with open(target) as stream:
            self.assertTrue(stream.read().startswith("Source_id,"))
        os.symlink("far/new.csv", self.path("dangling.csv"))
        t.run(self.image, "-o", self.path("dangling.csv"), check=True)
        self.assertTrue(os.path.islink(self.path("dangling.csv")))
        self.assertEqual(sorted(os.listdir(self.path("far"))), ["c.csv", "new.csv"])
        os.symlink("loop.csv", self.path("loop.csv"))
        self.assertEqual(t.run(self.image, "-o", self.path("loop.csv")).returncode, 1)

    def test_permissions_follow_the_umask(self):
        t.run(self.image, "-o", self.path("c.csv"), preexec_fn=lambda: os.umask(0o027), check=True)
        self.assertEqual(os.stat(self.path("c.csv")).st_mode & 0o777, 0o640)

    def test_summary_line(self):
        result = t.run(self.image)
        n = result.stdout.count("\n") - 1
        self.assertRegex(result.stderr, r"\Asrcfind: \S+image.fits: %d sources, rms \S+, median \S+ Jy/beam, "
                                        r"beam 9 x 7.2 arcsec, 160 x 150 pixels, \S+ ms on the CPU \(.*\)\n\Z" % n)
        self.assertEqual(t.run(self.image, "-q").stderr, "")
        self.assertEqual(t.run(self.image, "--cpu", "-v").stderr.count("\n"), 2)

    def test_summary_names_the_part(self):
        path = self.path("parts.fits")
        fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(np.zeros((2, 3, 40, 50), np.float32), name="SCI")]).writeto(path)
        self.assertIn(", no beam, no sky coordinates, 50 x 40 pixels of HDU 1 (SCI), plane 3,1, ",
                      t.run(path, "--plane", "3").stderr)

    def test_absurd_beam_is_seen(self):
        path = self.write("arcsec.fits", t.noise(50, 50), t.sky_header(BMAJ=12.0, BMIN=8.0))
        self.assertIn("larger than the image", t.run(path).stderr)

    def test_several_images(self):
        for name in ("a.fits", "b.fit", "c.fits.gz", "d.FITS", "e"):
            self.write(name + (".tmp.fits" if name in ("b.fit", "d.FITS", "e") else ""), t.noise(40, 40))
        os.rename(self.path("b.fit.tmp.fits"), self.path("b.fit"))
        os.rename(self.path("d.FITS.tmp.fits"), self.path("d.FITS"))
        os.rename(self.path("e.tmp.fits"), self.path("e"))
        names = ["a.fits", "b.fit", "c.fits.gz", "d.FITS", "e"]
        result = t.run(*names, "-o", "out", "-f", "json", cwd=self.directory.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.json", "b.json", "c.json", "d.json", "e.json"])
        self.assertRegex(result.stderr.splitlines()[-1], r"^srcfind: 5 images: \d+ sources, 0 failed, 0 skipped")

    def test_skip_existing(self):
        other = self.write("other.fits", t.noise(40, 40))
        os.mkdir(self.path("out"))
        with open(self.path("out/image.csv"), "w") as stream:
            stream.write("mine")
        result = t.run(self.image, other, "-o", self.path("out"), "--skip-existing")
        self.assertEqual(result.returncode, 0)
        self.assertIn("skipped", result.stderr)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["image.csv", "other.csv"])
        with open(self.path("out/image.csv")) as stream:
            self.assertEqual(stream.read(), "mine")

    def test_files_from(self):
        other = self.write("a name with spaces.fits", t.noise(40, 40))
        with open(self.path("list"), "w") as stream:
            stream.write("%s\n\n%s" % (self.image, other))
        for source, data in ((self.path("list"), None), ("-", "%s\n%s\n" % (self.image, other))):
            result = t.run("--files-from", source, "-o", self.path("out"), input=data)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(sorted(os.listdir(self.path("out"))), ["a name with spaces.csv", "image.csv"])
        self.assertEqual(t.run("--files-from", self.path("none")).returncode, 2)
        result = t.run("--files-from", "-", "-o", self.path("out"), input="%s\r\n%s\r\n" % (self.image, other))
        self.assertEqual(result.returncode, 0, result.stderr)
        odd = self.path("a\rb.fits")
        shutil.copyfile(self.image, odd)
        t.run("--files-from", "-", "-o", self.path("odd"), input=odd + "\r\n", check=True)
        self.assertEqual(os.listdir(self.path("odd")), ["a\rb.csv"])
        result = t.run("--files-from", "-", "-o", self.path("nul"), input="%s\0%s\0" % (self.image, other))
        self.assertEqual(result.returncode, 2)
        self.assertIn("NUL", result.stderr)

    def test_wrong_usage(self):
        other = self.write("other.fits", t.noise(40, 40))
        os.mkdir(self.path("elsewhere"))
        twin = self.path("elsewhere/image.fits")
        os.link(other, twin)
        for arguments, words in (
                ([], "no image"), (["--nonsense"], "nonsense"), ([self.image, "-k"], "-- 'k'"),
                ([self.image, "--kappa", "0"], "--kappa: '0' is not a number above 0"),
                ([self.image, "-n", "five"], "--threshold: 'five'"), ([self.image, "-n", "nan"], "--threshold"),
                ([self.image, "-n", "5x"], "--threshold"), ([self.image, "-i", "6"], "--island: 6 is above --threshold"),
                ([self.image, "--background", "mean"], "median or zero"), ([self.image, "--connectivity", "6"], "4 or 8"),
                ([self.image, "--min-pixels", "0"], "--min-pixels"), ([self.image, "--beam", "1,2"], "--beam"),
                ([self.image, "--beam", "0,1,2"], "--beam"), ([self.image, "--plane", "0"], "--plane"),
                ([self.image, "--plane", "1,,2"], "--plane"), ([self.image, "--threads", "0"], "--threads"),
                ([self.image, "--threads", "9999"], "--threads"), ([self.image, "--device", "gpu"], "--device"),
                (["-"], "not from standard input"), ([self.image, "--device-memory", "0"], "--device-memory"),
                ([self.image, "--progress", "often"], "--progress"), ([self.image, "-f", "fits"], "csv or json"),
                ([self.image, other], "-o DIR"), ([self.image, other, "-o", self.path("c.csv")], "directory"),
                ([self.image, self.image, "-o", self.path("out")], "given twice"),
                ([self.image, "--beam", "1,2,3"], "MAJ the longer"), ([self.image, twin, "-o", self.path("out")], "both"),
                ([self.image, "-o", self.image], "replace an image"), ([self.image, "-o", self.path("c.fits")], ".csv"),
                ([self.image, "-o", self.path("c.FTS")], ".csv"), ([self.image, "-o", self.path("c.fits.gz")], ".csv")):
            with self.subTest(arguments):
                result = t.run(*arguments)
                self.assertEqual([result.returncode, result.stdout], [2, ""])
                self.assertIn(words, result.stderr)
                self.assertTrue(all(line.startswith("srcfind: ") for line in result.stderr.splitlines()))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_no_catalogue_replaces_the_list_of_images(self):
        image = self.write("x.fits", t.noise(40, 40))
        with open(self.path("x.csv"), "w") as stream:
            stream.write(image + "\n")
        result = t.run("--files-from", self.path("x.csv"), "-o", self.directory.name)
        self.assertEqual(result.returncode, 2)
        self.assertIn("x.csv: the catalogue of " + image + " would replace the list of images", result.stderr)
        with open(self.path("x.csv")) as stream:
            self.assertEqual(stream.read(), image + "\n")

    def test_no_catalogue_replaces_an_image(self):
        image = self.write("x.fits", t.noise(40, 40))
        os.rename(self.write("y.fits", t.noise(40, 40)), self.path("x.csv"))
        result = t.run(image, self.path("x.csv"), "-o", self.directory.name)
        self.assertEqual(result.returncode, 2)
        self.assertIn("would replace an image", result.stderr)

    def test_comparison_without_a_device(self):
        result = t.run(self.image, "--compare-cpu", env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual([result.returncode, result.stdout], [3, ""])
        self.assertIn("CUDA", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_comparison_writes_no_catalogue(self):
        for options in (["-o", self.path("c.csv")], ["--cpu"], ["--skip-existing"], ["-f", "csv"]):
            result = t.run(self.image, "--compare-cpu", *options)
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn("--compare-cpu", result.stderr)
        self.assertEqual(t.run("--compare-cpu").returncode, 2)
        self.assertEqual(t.run("--gpu").returncode, 2)

    def test_device_that_is_not_there(self):
        for option in (["--device", "1000"], ["--device", "all"]):
            result = t.run(self.image, *option, "-o", self.path("c.csv"))
            self.assertEqual([result.returncode, result.stdout], [3, ""])
            self.assertIn("CUDA", result.stderr)
            self.assertFalse(os.path.exists(self.path("c.csv")))

    def test_options_change_what_is_found(self):
        def n(*options):
            return len(t.find(self.image, *options)["sources"])
        self.assertGreater(n("-n", "3"), n())
        self.assertLess(n("-n", "20"), n())
        self.assertLess(n("--min-pixels", "8"), n())
        self.assertLessEqual(n("--connectivity", "8"), n())
        lower = t.find(self.image, "-i", "2")["sources"]
        self.assertGreater(sum(s["N_pix"] for s in lower), sum(s["N_pix"] for s in t.find(self.image)["sources"]))
        self.assertLess(t.find(self.image, "-k", "2")["background"]["rms"], t.find(self.image)["background"]["rms"])

    def test_extended_names_mean_nothing(self):
        name = "image.fits[1:10,1:10]"
        os.link(self.image, self.path(name))
        self.assertEqual(t.run(name, cwd=self.directory.name).stdout, t.run(self.image).stdout)
        for name in ("-image.fits", "~image.fits", "image.fits(out)", "http:x.fits.gz", "a+1.fits"):
            path = self.write(os.path.basename("plain.fits.gz") if name.endswith("gz") else "plain.fits", t.noise(50, 50))
            os.rename(path, self.path(name))
            with self.subTest(name):
                result = t.run("-q", "--", name, cwd=self.directory.name)
                self.assertEqual([result.returncode, result.stderr], [0, ""])

    def test_progress(self):
        result = t.run(self.image, "--progress", "always", "-q")
        self.assertIn("[1/1]", result.stderr)
        self.assertNotIn("[1/1]", t.run(self.image).stderr)
        shown = on_terminal(self.image, stdout=subprocess.DEVNULL)
        self.assertIn("[1/1]", shown)
        self.assertTrue(shown.split("\x1b[K")[-1].startswith("srcfind: "))
        shown = on_terminal(self.image, "-n", "500")
        self.assertTrue(shown.split("\x1b[K")[-1].startswith("Source_id,"), shown)

    def test_abbreviations(self):
        self.assertEqual(t.run(self.image, "--thresh", "7").stdout, t.run(self.image, "--threshold", "7").stdout)
        self.assertEqual(t.run(self.image, "--th", "7").returncode, 2)

    def test_memory_images_of_odd_sizes(self):
        for shape in ((1, 1), (1, 500), (500, 1), (2, 3), (1, 40000), (65537, 1)):
            image = np.zeros(shape, np.float32)
            image.flat[::2] = 1
            image.flat[-1] = 99
            with self.subTest(shape):
                self.assertEqual(t.run(self.write("odd.fits", image)).returncode, 0)


@t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
class Comparison(t.Case):
    """--compare-cpu with a device that is none."""

    def setUp(self):
        super().setUp()
        self.images = [self.write("%s.fits" % name, t.noise(90, 80, seed=i), t.sky_header()) for i, name in enumerate("ab")]

    def compare(self, *arguments, **settings):
        environment = {"SRCFIND_CUDA_MODULE": FAKE, **{"FAKE_CUDA_" + name: value for name, value in settings.items()}}
        return t.run("--compare-cpu", *arguments, env={**os.environ, **environment})

    def test_same(self):
        result = self.compare(*self.images)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertEqual(result.stdout.count("the same, byte for byte"), 2)

    def test_json(self):
        result = self.compare(*self.images, "-f", "json")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        for image, report in zip(self.images, map(json.loads, result.stdout.splitlines()), strict=True):
            self.assertEqual([report["image"], report["same"], report["differences"]], [image, True, []])
            self.assertGreater(report["statistics"]["rms"]["cpu"], 0)
            self.assertTrue(report["csv_bytes"]["same"] and report["csv_bytes"]["cpu"] > 100)

    def test_one_of_several_fails(self):
        images = [self.images[0], self.path("none.fits"), self.images[1]]
        for options, n in (([], 2), (["--fail-fast"], 1)):
            result = self.compare(*images, *options)
            self.assertEqual([result.returncode, result.stdout.count("byte for byte")], [1, n])
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_device_that_is_refused(self):
        result = self.compare(*self.images, REFUSED="1")
        self.assertEqual([result.returncode, result.stdout], [3, ""])
        self.assertEqual(result.stderr, "srcfind: %s: CUDA device 0: refused\n" % self.images[0])


@t.unittest.skipIf(t.SANITIZED, "sanitizers have checks of their own")
@t.unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
class Hardening(t.unittest.TestCase):

    def test_command_is_hardened(self):
        facts = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "--dyn-syms", t.COMMAND],
                               capture_output=True, text=True, check=True).stdout
        self.assertRegex(facts, r"Type: +DYN")
        for word in ("GNU_RELRO", "BIND_NOW", "__stack_chk_fail", "__snprintf_chk"):
            self.assertIn(word, facts)
        self.assertRegex(facts, r"GNU_STACK .* RW +0x")


class Manual(t.unittest.TestCase):
    """What --help, the man page and the completions say of the options."""

    def test_version(self):
        result = t.run("--version")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        for word in ("srcfind 0.", "CFITSIO 4", "WCSLIB", "cJSON 1", "CUDA"):
            self.assertIn(word, result.stdout)

    def test_help(self):
        result = t.run("--help")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertTrue(all(len(line) < 100 for line in result.stdout.splitlines()))

    def options(self):
        found = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)", t.run("--help").stdout, re.M)
        self.assertGreater(len(found), 20)
        return found

    def test_same_options_everywhere(self):
        man, bash, zsh = man_page(), completion("srcfind.bash"), completion("_srcfind")
        for letter, name in self.options():
            with self.subTest(name):
                self.assertIn("Fl -" + name, man)
                self.assertIn("--" + name, bash)
                self.assertIn("--" + name, zsh)
                if letter:
                    self.assertRegex(man, r"\.It Fl %s .*Fl -%s|\.It Fl %s , Fl -%s" % (letter, name, letter, name))
        names = {name for _, name in self.options()}
        for text in (bash, zsh):
            self.assertEqual(set(re.findall(r"--([a-z][a-z-]+)", text)) - names, set())
        self.assertEqual(set(re.findall(r"\.It Fl (?:\w .*)?(?:, )?Fl -([a-z-]+)|\.It Fl -([a-z-]+)", man)) and
                         {a or b for a, b in re.findall(r"^\.It (?:Fl \w , )?Fl -([a-z-]+)|^\.It Fl -([a-z-]+)", man, re.M)}
                         - names, set())

    def test_environment_is_described(self):
        """What the sources look at is in the man page."""
        names = set()
        for root in ("src", "cuda"):
            for directory, _, files in os.walk(os.path.join(t.SOURCE_ROOT, root)):
                for name in files:
                    with open(os.path.join(directory, name)) as stream:
                        names |= set(re.findall(r'getenv\((.*?)\)', stream.read()))
        self.assertGreater(len(names), 2)
        for name in names:
            self.assertRegex(name, r'^"[A-Z_]+"$')
            self.assertIn(".It Ev " + name.strip('"') + "\n", man_page())

    def test_every_column_is_described(self):
        from test_catalogue import COLUMNS
        man = man_page()
        for name in COLUMNS:
            self.assertRegex(man, r"(?m)^\.It .*\b%s\b" % name)


if __name__ == "__main__":
    t.main()

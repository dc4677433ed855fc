"""The command line: options, names of catalogues, messages, exit statuses."""
import json
import os
import pty
import re
import shutil
import subprocess
import tempfile

import numpy as np
from astropy.io import fits

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")


def manual_entries():
    """Letter, name, argument and text of each option in the manual."""
    with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1")) as stream:
        options = stream.read().split(".Sh OPTIONS")[1].split(".Sh IMAGES")[0]
    for item in re.split(r"(?m)^\.It ", options)[1:]:
        head, text = item.split("\n", 1)
        letter, name, rest = re.fullmatch(r"(?:Fl (\w) , )?Fl -([a-z-]+)(.*)", head).groups(
            default=""
        )
        argument = re.sub(r"\b(Ar|Ns)\b", "", rest.replace(" Op ", "[")) + (
            "]" if " Op " in rest else ""
        )
        yield letter, name, argument.replace(" ", "").upper(), text


COMPLETIONS = os.path.join(os.path.dirname(t.COMMAND), os.pardir, "completions")


def completion(name):
    with open(os.path.join(COMPLETIONS, name)) as stream:
        return stream.read()


def complete_in_bash(*words):
    """What bash offers for the last word, cut into words as bash does."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _srcfind; printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(
        ["bash", "-c", script, "bash", os.path.join(COMPLETIONS, "srcfind"), "srcfind", *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


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
        for arguments, name in (
            (["-o", "c.csv"], "c.csv"),
            (["--output=c.csv"], "c.csv"),
            (["-o", "plain"], "plain"),
            (["-o", "c.txt", "-f", "CSV"], "c.txt"),
            (["-oc.csv"], "c.csv"),
            (["-o", "c.CSV"], "c.CSV"),
            (["-o", "new/dir/"], "new/dir/image.csv"),
        ):
            result = t.run(self.image, *arguments, cwd=self.directory.name)
            self.assertEqual([result.returncode, result.stdout], [0, ""])
            with open(self.path(name), newline="") as stream:
                self.assertEqual(stream.read(), printed)
        self.assertEqual(t.run(self.image, "-o", "-").stdout, printed)
        self.assertEqual(t.run("--", self.image).stdout, printed)

    def test_format(self):
        json = t.run(self.image, "-f", "json").stdout
        self.assertTrue(json.startswith("{"))
        self.assertEqual(t.run(self.image, "-f", "Json").stdout, json)
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
        self.assertRegex(
            result.stderr,
            r"\Asrcfind: %s: %d sources, rms \S+, median \S+ Jy/beam, "
            r"beam 9 x 7.2 arcsec, 160 x 150 pixels, \S+ ms on the CPU \(.*\)\n\Z"
            % (re.escape(self.image), n),
        )
        self.assertEqual(t.run(self.image, "-q").stderr, "")
        self.assertEqual(t.run(self.image, "--cpu", "-v").stderr.count("\n"), 2)

    @t.unittest.skipUnless(os.environ.get("FAKE_CUDA"), "a build without test hooks")
    def test_quota_of_cpu_time(self):
        """In a container that may use a part of a CPU there is one thread, unless more are asked
        for."""
        for name, text in (
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "60000 100000\n"),
        ):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), "w") as stream:
                stream.write(text)
        for options, threads in (([], "1 thread"), (["-j", "3"], "3 threads")):
            result = t.run(
                *options,
                self.image,
                "-o",
                self.path("c.csv"),
                env={**os.environ, "SRCFIND_CGROUP_ROOT": self.directory.name},
            )
            self.assertRegex(result.stderr, r"on the CPU \(.*; %s\)\n" % threads)

    def test_summary_has_the_noise_that_was_used(self):
        local = r"rms \S+ to \S+ \(median \S+\)"
        for options, words in (
            (["--rms", "0.25"], r"rms 0.25 \(given\), median \S+ Jy/beam, beam"),
            (["--background=-1.5"], r"rms \S+, background -1.5 \(given\) Jy/beam, beam"),
            (["--background", "zero"], r"rms \S+, background 0 \(given\) Jy/beam, beam"),
            (["-l"], local + " Jy/beam, in boxes of 75 pixels every 25, beam"),
            (
                ["-l", "--background=2"],
                local + r", background 2 \(given\) Jy/beam, in boxes of 75 pixels",
            ),
            (["-l", "--rms=3"], r"rms 3 \(given\) Jy/beam, background in boxes of 75 pixels"),
            (
                ["-l", "--rms=3", "--background=2"],
                r"rms 3 \(given\), background 2 \(given\) Jy/beam, beam",
            ),
        ):
            self.assertRegex(t.run(self.image, *options).stderr, "sources, " + words)
        flat = self.write("flat.fits", np.full((60, 70), 7, np.float32))
        self.assertIn(
            "no noise to measure: the clip leaves pixels of one value only, 7,", t.run(flat).stderr
        )
        self.assertIn(", rms 2 (given), median 7 (no unit),", t.run(flat, "--rms", "2").stderr)

    def test_one_value_that_may_be_padding(self):
        """The value that --blank needs is written so that it is this float."""
        image = np.full((60, 70), np.float32(-2.2152797e-09))
        image[20:30, 20:30] = t.noise(10, 10)
        path = self.write("padded.fits", image)
        hint = re.search(
            r"one value only, -2.21528e-09 \(if they are padding: (--blank \S+)\),",
            t.run(path).stderr,
        ).group(1)
        self.assertRegex(t.run(path, *hint.split()).stderr, "sources, rms")

    def test_file_that_looks_like_an_option(self):
        self.write("-dash.fits", t.noise(40, 40))
        for name, words in (
            ("-dash.fits", "there is no option -d; the file is ./-dash.fits\n"),
            ("-dish.fits", "there is no option -d: --help lists all\n"),
        ):
            result = t.run(name, cwd=self.directory.name)
            self.assertEqual([result.returncode, result.stderr], [2, "srcfind: " + words])
        self.assertEqual(t.run("./-dash.fits", cwd=self.directory.name).returncode, 0)

    def test_summary_names_the_part(self):
        path = self.path("parts.fits")
        fits.HDUList(
            [fits.PrimaryHDU(), fits.ImageHDU(np.zeros((2, 3, 40, 50), np.float32), name="SCI")]
        ).writeto(path)
        self.assertIn(
            ", no beam, no sky coordinates, 50 x 40 pixels of HDU 1 (SCI), plane 3,1 of 3,2, ",
            t.run(path, "--plane", "3").stderr,
        )

    def test_absurd_beam_is_seen(self):
        path = self.write("arcsec.fits", t.noise(50, 50), t.sky_header(BMAJ=12.0, BMIN=8.0))
        self.assertIn("larger than the image", t.run(path).stderr)

    def test_several_images(self):
        for name in ("a.fits", "b.fit", "c.fits.gz", "d.FITS", "e"):
            self.write(
                name + (".tmp.fits" if name in ("b.fit", "d.FITS", "e") else ""), t.noise(40, 40)
            )
        os.rename(self.path("b.fit.tmp.fits"), self.path("b.fit"))
        os.rename(self.path("d.FITS.tmp.fits"), self.path("d.FITS"))
        os.rename(self.path("e.tmp.fits"), self.path("e"))
        names = ["a.fits", "b.fit", "c.fits.gz", "d.FITS", "e"]
        result = t.run(*names, "-o", "out", "-f", "json", cwd=self.directory.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            sorted(os.listdir(self.path("out"))), ["a.json", "b.json", "c.json", "d.json", "e.json"]
        )
        self.assertRegex(
            result.stderr.splitlines()[-1], r"^srcfind: 5 images: \d+ sources, 0 failed, 0 skipped"
        )

    def test_several_images_without_a_directory(self):
        result = t.run("a.fits", "b.fits", "c.fits")
        self.assertEqual([result.returncode, result.stdout], [2, ""])
        self.assertIn("several images (a.fits, b.fits, ...) need -o DIRECTORY", result.stderr)

    def test_several_images_into_a_file(self):
        """Wrong usage that says the way out, before any image is looked at; the file stays."""
        for name in ("file", "file.csv", "file.tar"):
            with open(self.path(name), "w") as stream:
                stream.write("text")
            os.symlink(name, self.path(name + ".link"))
            for path in (name, name + "/", name + "//", name + ".link"):
                for images in (["none.fits", "nor.fits"], ["--files-from", "list"]):
                    with open(self.path("list"), "w") as stream:
                        stream.write("none.fits\n")
                    result = t.run(*images, "-o", path, cwd=self.directory.name)
                    self.assertEqual(
                        [result.returncode, result.stdout, result.stderr.count("\n")], [2, "", 1]
                    )
                    self.assertIn(
                        "%s: several images or planes, or a list, need a directory, but this is a file"
                        % path,
                        result.stderr,
                    )
            result = t.run("image.fits", "image.fits", "-o", name, cwd=self.directory.name)
            self.assertIn(
                "name a directory, or use --merge FILE for one catalogue of all\n", result.stderr
            )
            result = t.run("image.fits", "-o", name + "/", cwd=self.directory.name)
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn(
                "%s/: the / at the end means a directory, but this is a file: leave the / out"
                % name,
                result.stderr,
            )
            with open(self.path(name)) as stream:
                self.assertEqual(stream.read(), "text")

    def test_value_of_a_flag(self):
        """A value after an option that takes none counts as an image: the message says that there
        is none."""
        path = self.write("image.fits", t.noise(30, 40))
        result = t.run("-l", "60", path, "-o", self.path("c.csv"))
        self.assertEqual([result.returncode, result.stdout], [2, ""])
        self.assertIn("this is a file; there is no image 60\n", result.stderr)

    def test_skip_existing(self):
        """Catalogues that are whole are left as they are; what a power cut leaves of one is not."""
        out = self.path("out")
        for form in ("csv", "json"):
            whole, path = t.run(self.image, "-f", form).stdout, os.path.join(out, "image." + form)
            for text, skipped in (
                (whole, True),
                ("", False),
                (whole[: len(whole) // 2].rstrip("\n"), False),
                ("\0" * 4096, False),
                ("\0" * 4096 + whole[4096:], False),
                ("mine\n", False),
                (whole.replace("1", "2"), True),
                (whole[:5], False),
            ):
                os.makedirs(out, exist_ok=True)
                with open(path, "w") as stream:
                    stream.write(text)
                result = t.run(self.image, "-o", out, "-f", form, "--skip-existing")
                self.assertEqual(
                    [result.returncode, "skipped" in result.stderr], [0, skipped], result.stderr
                )
                with open(path) as stream:
                    self.assertEqual(stream.read(), text if skipped else whole)
        self.assertEqual(sorted(os.listdir(out)), ["image.csv", "image.json"])

    def test_files_from(self):
        other = self.write("a name with spaces.fits", t.noise(40, 40))
        with open(self.path("list"), "w") as stream:
            stream.write("%s\n\n%s" % (self.image, other))
        for source, data in ((self.path("list"), None), ("-", "%s\n%s\n" % (self.image, other))):
            result = t.run("--files-from", source, "-o", self.path("out"), input=data)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(
                sorted(os.listdir(self.path("out"))), ["a name with spaces.csv", "image.csv"]
            )
        self.assertEqual(t.run("--files-from", self.path("none")).returncode, 2)
        result = t.run(
            "--files-from", "-", "-o", self.path("out"), input="%s\r\n%s\r\n" % (self.image, other)
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        odd = self.path("a\rb.fits")
        shutil.copyfile(self.image, odd)
        t.run("--files-from", "-", "-o", self.path("odd"), input=odd + "\r\n", check=True)
        self.assertEqual(os.listdir(self.path("odd")), ["a\rb.csv"])
        result = t.run(
            "--files-from", "-", "-o", self.path("nul"), input="%s\0%s\0" % (self.image, other)
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("NUL", result.stderr)

    def test_wrong_usage(self):
        other = self.write("other.fits", t.noise(40, 40))
        twin = self.path("image.fit")
        os.link(other, twin)
        for arguments, words in (
            ([], "no image"),
            (["--nonsense"], "no option --nonsense"),
            (["-x"], "no option -x"),
            ([self.image, "-k"], "--kappa needs a value: K"),
            (["--quiet=1"], "--quiet takes no value"),
            ([self.image, "--treshold", "4"], "did you mean --threshold?"),
            (["-j", "0"], "--threads: '0'"),
            (["--tresh=3"], "no option --tresh"),
            (["--f"], "--format or --fit or --flux-error or --files-from or --fail-fast"),
            ([self.image, "--kappa", "0"], "--kappa: '0' is not a number above 0"),
            (
                [self.image, "-n", "5,5"],
                "--threshold: '5,5' is not a number above 0: write a point for the comma\n",
            ),
            ([self.image, "--background", "0,5"], "a number: write a point for the comma\n"),
            ([self.image, "-n", "five"], "--threshold: 'five' is not a number above 0\n"),
            ([self.image, "-n", "nan"], "--threshold"),
            ([self.image, "-n", "5x"], "--threshold"),
            ([self.image, "-i", "6"], "--island: 6 is above the threshold, 5"),
            ([self.image, "--background", "mean"], "median, zero or a number"),
            ([self.image, "--connectivity", "6"], "4 or 8"),
            ([self.image, "--min-pixels", "0"], "--min-pixels"),
            ([self.image, "--beam", "1,2"], "--beam"),
            ([self.image, "--beam", "0,1,2"], "--beam"),
            ([self.image, "--plane", "0"], "--plane"),
            ([self.image, "--plane", "1,,2"], "--plane"),
            ([self.image, "--threads", "0"], "--threads"),
            ([self.image, "--threads", "9999"], "--threads"),
            ([self.image, "--device", "gpu"], "--device"),
            (["-"], "not from standard input"),
            ([self.image, "--device-memory", "0"], "--device-memory"),
            ([self.image, "--progress", "often"], "--progress"),
            ([self.image, "-f", "fts"], "reg"),
            ([self.image, other], "-o DIR"),
            ([self.image, other, "-o", self.path("c.csv")], "directory"),
            ([self.image, self.image, "-o", self.path("out")], "given twice"),
            ([self.image, "--beam", "1,2,3"], "MAJ the longer"),
            ([self.image, twin, "-o", self.path("out")], "both"),
            ([self.image, "-o", self.image, "-f", "csv"], "replace an image"),
            ([self.image, "-o", self.path("c.fts")], ".csv"),
            ([self.image, "-o", self.path("c.FTS")], ".csv"),
            ([self.image, "-o", self.path("c.fits.gz")], ".csv"),
            ([self.image, "-o", self.path("c.regions")], ".csv, .csv.gz, .json"),
            ([self.image, "-o", self.path("c.tbl")], "--format"),
            ([self.image, "-o", self.path("c.crtf.gz")], ".csv, .csv.gz, .json"),
            ([self.image, "--contrast", "0"], "--contrast: '0' is not a number above 0"),
            ([self.image, "--at", ""], "--at"),
            (
                [self.image, "--at", "c.csv", "--negative"],
                "--at: fluxes at given positions have either sign",
            ),
            ([self.image, "--at", "c.csv", "--fit", "--negative"], "--negative"),
            ([self.image, "--at", "c.csv", "--deblend"], "leave --deblend out, or add --fit"),
            (
                [self.image, "--at", "c.csv", "--contrast", "2"],
                "leave --contrast out, or add --fit",
            ),
            (
                [self.image, "--at", "c.csv", "--fit", "--shapes", "beam"],
                "--at: fits at given positions hold the catalogue's shapes: leave --shapes out",
            ),
            ([self.image, "--shapes", "point"], "--shapes: 'point' is not auto, free or beam"),
        ):
            with self.subTest(arguments):
                result = t.run(*arguments)
                self.assertEqual([result.returncode, result.stdout], [2, ""])
                self.assertIn(words, result.stderr)
                self.assertTrue(
                    all(line.startswith("srcfind: ") for line in result.stderr.splitlines())
                )
        self.assertFalse(os.path.exists(self.path("out")))

    def test_first_steps(self):
        """What a first user types gets one line, that says what to do."""
        with open(self.path("text.fits"), "w") as stream:
            stream.write("no image")
        open(self.path("empty.fits"), "w").close()
        for arguments, status, words in (
            ([], 2, "no image given: try `srcfind -s image.fits -o catalogue.csv`, or --help"),
            (["help"], 2, "did you mean --help?"),
            (["version"], 2, "did you mean --version?"),
            ([""], 2, "an empty name is no image"),
            (["image.fits", "-x"], 2, "there is no option -x: --help lists all"),
            (["image.fits", "--xyzzy"], 2, "there is no option --xyzzy: --help lists all"),
            (["image.fits", "--treshold", "5"], 2, "did you mean --threshold?"),
            (
                ["image.fits", "--thresh_pix=7"],
                2,
                "there is no option --thresh_pix; did you mean --threshold?",
            ),
            (["image.fits", "--seedclip", "7"], 2, "did you mean --threshold?"),
            (["image.fits", "--rms_box", "7"], 2, "did you mean --rms-box?"),
            (["image.fits", "--DETECT_MINAREA", "7"], 2, "did you mean --min-pixels?"),
            (["image.fits", "-fit"], 2, "-fit: long options have two hyphens: --fit"),
            (["-rms-box=7", "image.fits"], 2, "hyphens: --rms-box=7"),
            (
                ["image.fits", "--scales", "2,4"],
                2,
                "--scales 2,4: its value stands behind `=`: --scales=2,4",
            ),
            (["--bench", "3", "image.fits"], 2, "--bench=3"),
            (
                ["image.fits", "-f", "list"],
                2,
                "is not csv, json, votable, fits, ecsv, reg, ds9, crtf, skymodel, bbs, sagecal, table or help",
            ),
            (["image.fits", "-o", "c.xyz"], 2, "c.xyz: no format has this suffix; there are .csv"),
            (["image.fits", "c.csv"], 2, "there is no image c.csv: did you mean -o c.csv?"),
            (["image.fits", "image.fits"], 2, "need -o DIRECTORY"),
            (["image.fits", "text.csv", "b.fits"], 2, "need -o DIRECTORY"),
            (["image.fits", "none.fits"], 2, "need -o DIRECTORY"),
            (
                ["image.fits", "-o", "none/c.csv"],
                1,
                "none/c.csv: the catalogue cannot be written: there is no such directory",
            ),
            (["none.fits"], 1, "none.fits: No such file or directory"),
            (["."], 1, ".: a directory: name the images in it"),
            (["text.fits"], 1, "text.fits: not a FITS file"),
            (["empty.fits"], 1, "empty.fits: the file is empty"),
            (
                ["tiles/*.fits"],
                1,
                "tiles/*.fits: No such file or directory: the shell found no file of this pattern",
            ),
            (
                ["https://a.org/b.fits"],
                1,
                "https://a.org/b.fits: No such file or directory: an image is a file, not a URL",
            ),
        ):
            with self.subTest(arguments):
                result = t.run(*arguments, cwd=self.directory.name)
                self.assertEqual(
                    [result.returncode, result.stdout, result.stderr.count("\n")], [status, "", 1]
                )
                self.assertTrue(result.stderr.startswith("srcfind: "))
                self.assertIn(words, result.stderr)

    def test_options_without_effect(self):
        """A note says why; none without such an option, where it has one, and with -q."""
        at, out = self.path("at.csv"), self.path("c.csv")
        with open(at, "w") as stream:
            stream.write("Xposn,Yposn\n5,5\n")
        for options, note in (
            (
                ["--skip-existing"],
                "--skip-existing has no effect without -o, which names the catalogues",
            ),
            (["--skip-existing", "-o", out], None),
            (
                ["--at", at, "-i", "3"],
                "--island has no effect with --at, which measures at all positions",
            ),
            (["--at", at], None),
            (["--mask-dilate", "2", "-o", out], "--mask-dilate has no effect without --save mask"),
            (["--mask-fill"], "--mask-fill has no effect"),
            (["--mask-dilate", "2", "--save", "mask", "-o", out], None),
            (["--mask-fill", "-q"], None),
            (["--cpu", "--device-memory", "9"], "--device-memory has no effect with --cpu"),
        ):
            with self.subTest(options):
                result = t.run(self.image, *options, check=True)
                notes = [line for line in result.stderr.splitlines() if "has no effect" in line]
                self.assertEqual(len(notes), note is not None)
                self.assertIn(note or "", "".join(notes))

    def test_suffix_of_another_format(self):
        """--format counts, and a note says so; none where they agree, of a suffix that is of no
        format, in a directory, and with -q."""
        for name, form, other in (
            ("c.json", "votable", "json"),
            ("c.json", "VOT", "json"),
            ("c.csv.gz", "json", "csv"),
            ("c.txt", "csv", "table"),
            ("c.XML", "ecsv", "votable"),
            ("c.json", "json", None),
            ("c.json.gz", "json", None),
            ("c.xml", "votable", None),
            ("c.fit", "fits", None),
            ("c.dat", "json", None),
            ("c", "json", None),
            ("out.vot/", "csv", None),
        ):
            with self.subTest(name, form=form):
                result = t.run(self.image, "-f", form, "-o", self.path(name), check=True)
                written = "votable" if form == "VOT" else form
                note = (
                    "srcfind: %s: the format is %s (--format), but the suffix is that of %s, and programs may go by the suffix: rename the file\n"
                    % (self.path(name), written, other)
                )
                self.assertEqual(result.stderr.count("the format is"), other is not None)
                self.assertIn(note if other else "", result.stderr)
                self.assertEqual(
                    t.run(self.image, "-q", "-f", form, "-o", self.path(name), check=True).stderr,
                    "",
                )
        with open(self.path("c.json")) as stream:
            self.assertEqual(stream.read(1), "{")
        t.run(self.image, "-q", "-f", "votable", "-o", self.path("c.json"), check=True)
        with open(self.path("c.json")) as stream:
            self.assertIn("<VOTABLE", stream.read())
        self.assertNotIn("the format is", t.run(self.image, "-f", "votable", check=True).stderr)

    def test_files_of_the_names_of_options(self):
        os.rename(self.image, self.path("help"))
        self.assertEqual(t.run("help", cwd=self.directory.name).returncode, 0)

    def test_terminal_pipe_and_log(self):
        """A pipe and a log get lines, and no control characters."""
        log = self.path("log")
        with open(log, "w") as stream:
            t.run(
                self.image,
                "-v",
                "-o",
                self.path("c.csv"),
                capture_output=False,
                stderr=stream,
                check=True,
            )
        with open(log) as stream:
            text = stream.read()
        self.assertEqual(text.count("srcfind: %s: " % self.image), 2)
        self.assertNotRegex(text, r"[^\x20-\x7e\n]")

    def test_no_catalogue_replaces_the_list_of_images(self):
        image = self.write("x.fits", t.noise(40, 40))
        with open(self.path("x.csv"), "w") as stream:
            stream.write(image + "\n")
        result = t.run("--files-from", self.path("x.csv"), "-o", self.directory.name)
        self.assertEqual(result.returncode, 2)
        self.assertIn(
            "x.csv: the catalogue of " + image + " would replace the list of images", result.stderr
        )
        with open(self.path("x.csv")) as stream:
            self.assertEqual(stream.read(), image + "\n")

    def test_no_catalogue_replaces_that_of_at(self):
        with open(self.path("c.csv"), "w") as stream:
            stream.write("RA,DEC\n")
        os.symlink("c.csv", self.path("link.csv"))
        for name in ("c.csv", "link.csv"):
            result = t.run(self.image, "--at", self.path("c.csv"), "-o", self.path(name))
            self.assertEqual(result.returncode, 2)
            self.assertIn(
                name + ": the catalogue of " + self.image + " would replace the catalogue of --at",
                result.stderr,
            )
        with open(self.path("c.csv")) as stream:
            self.assertEqual(stream.read(), "RA,DEC\n")

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
        self.assertGreater(
            sum(s["N_pix"] for s in lower), sum(s["N_pix"] for s in t.find(self.image)["sources"])
        )
        self.assertLess(
            t.find(self.image, "-k", "2")["background"]["rms"],
            t.find(self.image)["background"]["rms"],
        )

    def test_survey(self):
        """The bytes of all formats are those of the three options."""
        for form in "csv", "fits", "ecsv":
            short, long = self.path("s." + form), self.path("l." + form)
            self.assertEqual(t.run("-s", self.image, "-o", short).returncode, 0)
            t.run("--local", "-i", "3", "--fit", self.image, "-o", long)
            with open(short, "rb") as one, open(long, "rb") as other:
                self.assertEqual(one.read(), other.read())
        options = t.find(self.image, "-i", "4", "--survey")["options"]
        self.assertEqual([options[name] for name in ("local", "island", "fit")], ["yes", 4, "yes"])
        self.assertNotIn("survey", options)
        result = t.run("-s", "-n", "2.5", self.image)
        self.assertIn(
            "--island: 3 is above the threshold, 2.5: give --island 2.5 or less", result.stderr
        )

    def test_report_of_survey(self):
        """--skip-existing takes -s and the three options for the same."""
        report = ["--report", self.path("r.csv"), "--skip-existing", "-o", self.path("out/")]
        t.run("-s", self.image, *report)
        again = t.run("-l", "-i", "3", "--fit", self.image, *report)
        self.assertIn("skipped, since", again.stderr)
        self.assertNotIn("skipped", t.run("-l", "--fit", self.image, *report).stderr)

    def test_round_beam(self):
        self.assertEqual(
            t.run(self.image, "--beam", "10").stdout, t.run(self.image, "--beam", "10,10,0").stdout
        )
        self.assertNotEqual(t.run(self.image, "--beam", "10").stdout, t.run(self.image).stdout)

    def test_parts_of_a_file_are_listed(self):
        """Where --hdu or --plane names none of them."""
        path = self.path("parts.fits")
        table = fits.BinTableHDU.from_columns(
            [fits.Column("A", "E", array=np.zeros(3))], name="INFO"
        )
        cube = fits.ImageHDU(
            np.zeros((2, 3, 40, 50), np.float32), fits.Header({"CTYPE3": "FREQ"}), name="SCI"
        )
        fits.HDUList([fits.PrimaryHDU(), cube, table]).writeto(path)
        for arguments, words in (
            (["--hdu", "NONE"], "0 (no image), 1 SCI (50 x 40 x 3 x 2), 2 INFO (table)"),
            (["--hdu", "7"], "1 SCI (50 x 40 x 3 x 2)"),
            (["--hdu", "2"], "1 SCI (50 x 40 x 3 x 2)"),
            (["--plane", "4"], "on axis 3; its axes are 1 (50), 2 (40), 3 (FREQ, 3), 4 (2)"),
        ):
            with self.subTest(arguments):
                result = t.run(path, *arguments)
                self.assertEqual(
                    [result.returncode, result.stdout, result.stderr.count("\n")], [1, "", 1]
                )
                self.assertIn(words, result.stderr)

    def test_images_and_tables_of_one_name(self):
        """--hdu takes the image of a name, whatever else has it."""
        path = self.path("parts.fits")
        table = fits.BinTableHDU.from_columns(
            [fits.Column("A", "E", array=np.zeros(3))], name="SCI"
        )
        image = fits.ImageHDU(t.noise(40, 50), t.sky_header(), name="SCI")
        alone = fits.BinTableHDU.from_columns(
            [fits.Column("A", "E", array=np.zeros(3))], name="LOG"
        )
        fits.HDUList([fits.PrimaryHDU(), table, image, alone]).writeto(path)
        for name in ("SCI", "sci", "2"):
            self.assertEqual(t.find(path, "--hdu", name)["image"]["hdu"], 2)
        for name in ("LOG", "1"):
            result = t.run(path, "--hdu", name)
            self.assertEqual([result.returncode, result.stdout], [1, ""])
            self.assertIn(
                "HDU %s is not an image of two or more axes; there are: 0 (no image), 1 SCI (table)"
                % name,
                result.stderr,
            )

    def test_extended_names_mean_nothing(self):
        name = "image.fits[1:10,1:10]"
        os.link(self.image, self.path(name))
        self.assertEqual(t.run(name, cwd=self.directory.name).stdout, t.run(self.image).stdout)
        for name in ("-image.fits", "~image.fits", "image.fits(out)", "http:x.fits.gz", "a+1.fits"):
            path = self.write(
                os.path.basename("plain.fits.gz") if name.endswith("gz") else "plain.fits",
                t.noise(50, 50),
            )
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
        self.assertEqual(
            t.run(self.image, "--thresh", "7").stdout, t.run(self.image, "--threshold", "7").stdout
        )
        self.assertEqual(t.run(self.image, "--shar", "1/1").returncode, 0)
        for abbreviation in ("--th=7", "--sha=1/1"):
            self.assertEqual(t.run(self.image, abbreviation).returncode, 2)

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
        self.images = [
            self.write("%s.fits" % name, t.noise(90, 80, seed=i), t.sky_header())
            for i, name in enumerate("ab")
        ]

    def compare(self, *arguments, **settings):
        environment = {
            "SRCFIND_CUDA_MODULE": FAKE,
            **{"FAKE_CUDA_" + name: value for name, value in settings.items()},
        }
        return t.run("--compare-cpu", *arguments, env={**os.environ, **environment})

    def test_same(self):
        result = self.compare(*self.images)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        self.assertEqual(result.stdout.count("the same, byte for byte"), 2)

    def test_json(self):
        result = self.compare(*self.images, "-f", "json")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        for image, report in zip(
            self.images, map(json.loads, result.stdout.splitlines()), strict=True
        ):
            self.assertEqual(
                [report["image"], report["same"], report["differences"]], [image, True, []]
            )
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
        facts = subprocess.run(
            ["readelf", "-W", "-h", "-l", "-d", "--dyn-syms", t.COMMAND],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
        self.assertRegex(facts, r"Type: +DYN")
        words = ["GNU_RELRO", "BIND_NOW", "__stack_chk_fail"]
        # without, there are no checked copies
        if os.environ.get("SRCFIND_OPTIMIZATION") not in ("0", "plain"):
            words.append("__snprintf_chk")
        for word in words:
            self.assertTrue(word in facts, word)
        self.assertRegex(facts, r"GNU_STACK .* RW +0x")


class Manual(t.unittest.TestCase):
    """What --help, the man page and the completions say of the options."""

    def test_version(self):
        result = t.run("--version")
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        for word in (
            "CFITSIO 4",
            "WCSLIB",
            "cJSON 1",
            "zlib 1",
            "libdeflate 1",
            "expat 2",
            "backends: cpu",
            "CUDA",
        ):
            self.assertIn(word, result.stdout)
        self.assertRegex(result.stdout.splitlines()[0], r"\Asrcfind 0\.\d+\.\d+\Z")

    def test_help_on_a_terminal(self):
        """The same as in a pipe."""
        for option in ("-h", "--help"):
            self.assertEqual(on_terminal(option).replace("\r\n", "\n"), t.run(option).stdout)

    def entries(self):
        """Letter, name, argument and default of each option in --help."""
        one = r"(?m)^(?:  -(\w), |      )--([a-z-]+)(\[\S+\]| \S+)?  +.*?(?:\[(\S+)\])?$"
        found = [
            (letter, name, argument.strip().upper(), default)
            for letter, name, argument, default in re.findall(one, t.run("--help").stdout)
        ]
        self.assertGreater(len(found), 20)
        return found

    def test_same_options_everywhere(self):
        shells = [completion(name) for name in ("srcfind", "_srcfind", "srcfind.fish")]
        man = {entry[1]: entry for entry in manual_entries()}
        help_entries = self.entries()
        self.assertEqual(sorted(man), sorted(entry[1] for entry in help_entries))
        for entry in help_entries:
            name = entry[1]
            with self.subTest(name):
                self.assertEqual(man[name][:3], entry[:3])
                if entry[3]:
                    self.assertIn("default " + entry[3], man[name][3])
                for text in shells:
                    self.assertRegex(text, r"(--|-l )%s\b" % name)
        names = set(man)
        for text in shells:
            self.assertEqual(set(re.findall(r"(?:--|-l )([a-z][a-z-]+)", text)) - names, set())

    def test_completion_in_bash(self):
        self.assertEqual(complete_in_bash("--comp"), ["--completeness", "--compare-cpu"])
        self.assertEqual(
            complete_in_bash("-f", ""),
            [
                "csv",
                "json",
                "votable",
                "fits",
                "ecsv",
                "reg",
                "ds9",
                "crtf",
                "skymodel",
                "bbs",
                "sagecal",
                "table",
                "help",
            ],
        )
        self.assertEqual(complete_in_bash("--format", "=", "j"), ["json"])
        self.assertEqual(complete_in_bash("--progress", "="), ["auto", "always", "never"])
        self.assertEqual(complete_in_bash("--kappa", ""), [])
        self.assertEqual(
            complete_in_bash("-o", os.path.join(t.SOURCE_ROOT, "data/sample.f")),
            [os.path.join(t.SOURCE_ROOT, "data/sample.fits")],
        )

    def test_environment_is_left_alone(self):
        """Only test hooks, which releases do not have, look at environment variables."""
        found = set()
        for root in ("src", "cuda"):
            for directory, _, files in os.walk(os.path.join(t.SOURCE_ROOT, root)):
                for name in files:
                    with open(os.path.join(directory, name)) as stream:
                        found |= {name} if "getenv" in stream.read() else set()
        self.assertEqual(found, {"hook.h"})


if __name__ == "__main__":
    t.main()

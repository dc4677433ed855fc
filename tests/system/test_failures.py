"""Bad input and bad luck: one clear line, the promised exit status, and nothing left behind."""
import contextlib
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np
from astropy.io import fits

import srcfind_test as t


class Failures(t.Case):
    def assert_fails(self, *arguments, status=1, words=(), **options):
        """The command fails with one line that names the file, and writes nothing."""
        before = sorted(os.listdir(self.directory.name))
        result = t.run(*arguments, "-o", self.path("catalogue.csv"), **options)
        lines = result.stderr.splitlines()
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("srcfind: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(os.listdir(self.directory.name)), before)

    def write_bytes(self, name, data):
        path = self.path(name)
        with open(path, "wb") as stream:
            stream.write(data)
        return path

    def good(self):
        return self.write("good.fits", t.noise(300, 300), t.sky_header())

    def test_missing_file(self):
        path = self.path("missing.fits")
        self.assert_fails(path, words=[path, "No such file"])
        self.assert_fails(path + "[1]", words=[path + "[1]", "No such file", "--hdu", "--plane"])

    def test_directory(self):
        self.assert_fails(self.directory.name, words=["a directory: name the images in it"])

    def test_empty_file(self):
        path = self.write_bytes("empty.fits", b"")
        self.assert_fails(path, words=[path, "empty"])

    def test_text_file(self):
        path = self.write_bytes("text.fits", b"Source_id,RA,DEC\n" * 1000)
        self.assert_fails(path, words=[path, "not a FITS file"])

    def test_truncated_files(self):
        with open(self.good(), "rb") as stream:
            whole = stream.read()
        for length in (1, 100, 2879, 2880, 3000, 20000, len(whole) - 8000):
            with self.subTest(length=length):
                path = self.write_bytes("truncated.fits", whole[:length])
                self.assert_fails(path, words=[path])

    def test_missing_padding_is_no_error(self):
        good = self.good()
        with open(good, "rb") as stream:
            whole = stream.read()
        pixels = whole.index(b"END     ") // 2880 * 2880 + 2880 + 4 * 300 * 300
        path = self.write_bytes("unpadded.fits", whole[:pixels])
        self.assertEqual(t.run(path).stdout, t.run(good).stdout)

    def test_wrong_checksum_is_no_error(self):
        good = self.good()
        path = self.write(
            "checksum.fits", t.noise(300, 300), t.sky_header(DATASUM="12345", CHECKSUM="0" * 16)
        )
        self.assertEqual(t.run(path).stdout, t.run(good).stdout)

    def test_truncated_tiles(self):
        path = self.path("tiles.fits.fz")
        hdu = fits.CompImageHDU(t.noise(300, 300), compression_type="GZIP_1", quantize_level=0)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
        os.truncate(path, os.path.getsize(path) // 2)
        self.assert_fails(path, words=[path])

    def test_damaged_tiles(self):
        """The same line on any number of threads: of the first tile that cannot be read."""
        path = self.path("tiles.fits.fz")
        image = t.noise(900, 700)
        hdu = fits.CompImageHDU(image, compression_type="GZIP_1", quantize_level=0)
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
        with fits.open(path, disable_image_compression=True) as hdus:
            table, row_bytes = hdus[1]._data_offset, hdus[1].header["NAXIS1"]
            heap = table + row_bytes * len(image)
        with open(path, "r+b") as stream:
            for row in (438, 600, 700, 860):  # none of them in the sample
                stream.seek(table + row_bytes * row)
                length, offset = np.frombuffer(stream.read(8), ">i4")
                stream.seek(heap + offset)
                stream.write(bytes(length))
        for threads in (1, 2, 2, 2, 7, 7, 7):
            with self.subTest(threads=threads):
                self.assert_fails(path, "--threads", threads, words=[path, "rows 439 to 439"])

    def test_truncated_gzip(self):
        path = self.write("image.fits.gz", t.noise(300, 300))
        os.truncate(path, os.path.getsize(path) // 2)
        self.assert_fails(path, words=[path])

    def test_no_image(self):
        table = fits.BinTableHDU.from_columns([fits.Column("x", "E", array=np.zeros(5))])
        path = self.path("table.fits")
        fits.HDUList([fits.PrimaryHDU(), table]).writeto(path)
        self.assert_fails(path, words=[path, "no HDU"])
        self.assert_fails(path, "--hdu", "1", words=[path, "HDU 1"])
        self.assert_fails(path, "--hdu", "7", words=[path, "no HDU 7"])
        self.assert_fails(path, "--hdu", "SCI", words=[path, "no HDU SCI"])

    def test_vector(self):
        path = self.write("vector.fits", np.zeros(100, np.float32))
        self.assert_fails(path, words=[path, "two or more axes"])

    def test_all_blank(self):
        path = self.write("blank.fits", np.full((50, 60), np.nan, np.float32))
        self.assert_fails(path, words=[path, "finite"])

    def test_directory_and_devices(self):
        directory = self.path("directory")
        os.mkdir(directory)
        self.assert_fails(directory, words=[directory, "directory"])
        self.assert_fails("/dev/null", words=["/dev/null"])
        self.assert_fails("/dev/zero", words=["/dev/zero"])
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.assert_fails(pipe, words=[pipe], timeout=t.HANG)

    def test_absurd_headers(self):
        cards = [
            "SIMPLE  =                    T",
            "BITPIX  =                  -32",
            "NAXIS   =                    2",
            "NAXIS1  =                  100",
            "NAXIS2  =                  100",
        ]

        def header(**changes):
            text = "".join(changes.get(card.split()[0], card).ljust(80) for card in cards)
            return (text + "END".ljust(80)).ljust(2880).encode()

        for changes in (
            {"NAXIS1": "NAXIS1  =  9223372036854775807"},
            {"NAXIS1": "NAXIS1  =          4294967296"},
            {"NAXIS1": "NAXIS1  =                  -5"},
            {"NAXIS2": "NAXIS2  = 'many'"},
            {"NAXIS": "NAXIS   =                  999"},
            {"BITPIX": "BITPIX  =                   12"},
            {"BITPIX": "COMMENT"},
        ):
            with self.subTest(changes=changes):
                path = self.write_bytes("absurd.fits", header(**changes) + b"\0" * 40320)
                self.assert_fails(path, words=[path])

    def test_binary_bytes_in_a_header(self):
        """WCSLIB's parser would never return."""
        with open(self.good(), "rb") as stream:
            whole = bytearray(stream.read())
        at = whole.index(b"RADESYS")
        whole[at : at + 80] = b"\x80\0" * 40
        self.assertEqual(
            t.run(self.write_bytes("binary.fits", whole), timeout=t.HANG).returncode, 0
        )

    def test_wrong_plane(self):
        path = self.write("cube.fits", np.zeros((3, 20, 30), np.float32))
        self.assert_fails(path, "--plane", "4", words=[path, "plane 4", "axis 3"])
        self.assert_fails(path, "--plane", "1,2", words=[path, "plane 2", "axis 4"])
        self.assertEqual(t.run(path, "--plane", "1,1").returncode, 0)

    def test_missing_output_directory(self):
        result = t.run(self.good(), "-o", self.path("nowhere/catalogue.csv"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("nowhere/catalogue.csv", result.stderr)
        self.assertEqual(os.listdir(self.directory.name), ["good.fits"])

    def test_output_is_no_directory(self):
        image, other = self.good(), self.write("other.fits", t.noise(30, 30))
        result = t.run(image, other, "-o", image + "/catalogues")
        self.assertEqual(result.returncode, 1)
        self.assertIn("directory", result.stderr)

    def test_output_directory_that_cannot_be_made(self):
        """The reason is that of making it, not of looking for it afterwards."""
        image, other = self.good(), self.write("other.fits", t.noise(30, 30))
        result = t.run(image, other, "-o", "/sys/catalogues")
        self.assertEqual(result.returncode, 1)
        with self.assertRaises(OSError) as made:
            os.mkdir("/sys/catalogues")
        self.assertIn(os.strerror(made.exception.errno), result.stderr)

    def with_stack(self, kib, *command):
        """Runs a command whose stack, and whose threads', may have so many KiB."""
        limit = kib << 10
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"]},
            timeout=t.HANG,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)),
        )

    @unittest.skipIf(t.SANITIZED, "sanitizers need more")
    def test_small_stack(self):
        """One message, and no crash."""
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        t.run(self.good(), "-q", "-o", self.path("c.csv"), check=True)
        for kib in (64, 128, 256, 511):
            for name, *words in (
                ("srcfind", t.COMMAND, self.good(), "-o", self.path("out.csv")),
                ("srcfind", t.COMMAND, self.good(), "--compare-cpu"),
                ("srcfind-merge", merge, self.path("c.csv"), "-o", self.path("out.csv")),
            ):
                result = self.with_stack(kib, *words)
                self.assertEqual(
                    [result.returncode, result.stdout, result.stderr],
                    [
                        1,
                        "",
                        "%s: the stack is limited to %d KiB, and 512 are needed: raise the limit with `ulimit -s 8192`\n"
                        % (name, kib),
                    ],
                )
        self.assertFalse(os.path.exists(self.path("out.csv")))

    @unittest.skipIf(t.SANITIZED, "sanitizers need more")
    def test_least_stack(self):
        """It is enough for all ways through the program, here and in its threads."""
        images = [
            self.write(name, t.noise(200, 220, seed=seed), t.sky_header())
            for name, seed in (("a.fits", 1), ("b.fits", 2))
        ]
        t.run(images[0], "-q", "-o", self.path("at.csv"), check=True)
        t.run(images[0], "-q", "-o", self.path("at.fits"), check=True)
        tiles = self.path("tiles.fits.fz")
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(t.noise(200, 220, seed=1), "HCOMPRESS_1", None, t.sky_header()),
            ]
        ).writeto(tiles)
        everything = "rms,background,snr,islands,sources,model,residual,mask,gaussians" + (
            ",picture" if os.environ.get("PICTURES") else ""
        )
        for options in (
            [
                "--local",
                "-i",
                "3",
                "--fit",
                "--scales",
                "--negative",
                "--completeness=20",
                "--save",
                everything,
                "-f",
                "json",
                "--report",
                self.path("r.csv"),
                "--merge",
                self.path("m.vot"),
            ],
            ["--at", self.path("at.csv"), "--fit", "--measure-in", images[1] + "/"],
            ["--at", self.path("at.fits"), "--fit", "--local", "-f", "fits"],
            ["--detect-on", tiles, "--fit", "--columns", "@aegean"],
            ["--plane", "all", "--deblend", "-f", "votable"],
        ):
            several = (
                [] if "--measure-in" in options or "--detect-on" in options else [images[1], tiles]
            )
            options = [images[1] if option.endswith("/") else option for option in options]
            result = self.with_stack(
                512,
                t.COMMAND,
                images[0],
                *several,
                *options,
                "-q",
                "--cpu",
                "--threads",
                4,
                "-o",
                self.path("out") + "/",
            )
            self.assertEqual([result.returncode, result.stderr], [0, ""])

    def test_full_disk(self):
        """A file that must not grow: the old catalogue stays, and nothing else is left."""
        image, catalogue = self.good(), self.path("catalogue.csv")
        with open(catalogue, "w") as stream:
            stream.write("old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        result = t.run(image, "-o", catalogue, preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(catalogue + ": the catalogue cannot be written", result.stderr)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["catalogue.csv", "good.fits"])
        with open(catalogue) as stream:
            self.assertEqual(stream.read(), "old")

    def test_full_disk_in_every_format(self):
        """Wherever the file ends: it is whole, or there is none."""
        image, out = self.good(), self.path("out")
        suffixes = [
            "csv",
            "json",
            "vot",
            "fits",
            "ecsv",
            "reg",
            "crtf",
            "txt",
            "csv.gz",
            "json.gz",
            "vot.gz",
            "ecsv.gz",
            "reg.gz",
        ]
        outputs = [["-o", os.path.join(out, "c." + suffix)] for suffix in suffixes]
        if os.environ.get("PICTURES"):
            outputs.append(["-o", os.path.join(out, "c.csv"), "--save", "picture"])
        for options in outputs:
            n_failed = 0
            for size in (0, 50, 700, 3000, 7000, 20000, 1 << 20):
                os.mkdir(out)
                result = t.run(
                    image,
                    "-q",
                    *options,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
                )
                with self.subTest(options[1:], size=size):
                    n = len(os.listdir(out))
                    self.assertEqual(
                        [result.returncode, n],
                        [1, 0] if result.returncode else [0, 2 if "--save" in options else 1],
                    )
                    self.assertEqual(result.stderr.count("cannot be written: "), result.returncode)
                n_failed += result.returncode
                shutil.rmtree(out)
            self.assertIn(n_failed, range(2, 7))

    def test_directory_that_is_missing(self):
        """Said before any image is looked at; also where there is a file of that name."""
        self.good()
        for name in ("missing/c.csv", "good.fits/c.csv"):
            result = t.run(self.write_bytes("none.fits", b"none"), "-o", self.path(name))
            self.assertEqual(result.returncode, 1)
            self.assertRegex(
                result.stderr,
                r"/c\.csv: the catalogue cannot be written: there is no such directory\n\Z",
            )
        self.assertEqual(t.run(self.good(), "-o", self.path("./c.csv")).returncode, 0)

    def test_list_that_is_none(self):
        for path, words in (
            ("/dev/zero", "NUL"),
            (self.write_bytes("long", b"x" * 100000), "longer than any path"),
            (self.write_bytes("longer", b"x" * 4096 + b"\n"), "longer than any path"),
        ):
            result = t.run("--files-from", path, "-o", self.path("out"), timeout=t.HANG)
            self.assertEqual([result.returncode, result.stdout], [2, ""])
            self.assertIn(words, result.stderr)

    def test_name_that_breaks_the_line(self):
        result = t.run(self.path("new\nline\x1b[31m.fits"))
        self.assertEqual([result.returncode, len(result.stderr.splitlines())], [1, 1])
        self.assertIn("new?line?[31m.fits: No such file", result.stderr)

    def test_several_catalogues_in_what_is_no_directory(self):
        image, other = self.good(), self.write("other.fits", t.noise(30, 30))
        result = t.run(image, other, "-o", "/dev/null")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/dev/null: several images or planes, or a list, need a dir", result.stderr)
        result = t.run(image, "-o", "/proc/none/below/")  # the first one that cannot be made
        self.assertIn(
            "srcfind: /proc/none: the directory cannot be made: No such file or directory",
            result.stderr,
        )

    def test_long_names(self):
        image = self.good()
        name = self.path("c" * 251 + ".csv")
        self.assertEqual(t.run(image, "-o", name).returncode, 0)
        self.assertTrue(os.path.exists(name))
        missing = self.path("m" * 200 + "/" + "n" * 200 + ".fits")
        self.assert_fails(missing, words=[missing, "No such file"])

    def test_name_that_a_message_begins_with(self):
        with open(self.write("blank.fits", np.full((5, 6), np.nan, np.float32)), "rb") as stream:
            self.write_bytes("none", stream.read())
        self.assertIn(
            "srcfind: none: none of the 30 pixels", t.run("none", cwd=self.directory.name).stderr
        )

    def test_full_device(self):
        result = t.run(self.good(), "-o", "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)
        with open("/dev/full", "w") as full:
            result = t.run(self.good(), capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)

    def test_closed_streams(self):
        image, catalogue = self.good(), self.path("catalogue.csv")
        shell = ["sh", "-c", '"$0" "$1" >&-', t.COMMAND, image]
        result = subprocess.run(shell, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be written", result.stderr)
        shell = ["sh", "-c", '"$0" "$1" -o "$2" >&- 2>&- <&-', t.COMMAND, image, catalogue]
        self.assertEqual(subprocess.run(shell).returncode, 0)
        with open(catalogue) as stream:
            self.assertEqual(stream.read(), t.run(image).stdout)

    def test_reader_of_a_pipe_leaves(self):
        shell = '"$0" "$1" | head -n 1; echo "${PIPESTATUS[0]}"'
        image = self.write("many.fits", t.noise(2000, 800, n_sources=1500), t.sky_header())
        result = subprocess.run(
            ["bash", "-c", shell, t.COMMAND, image], capture_output=True, text=True
        )
        lines = result.stdout.splitlines()
        self.assertTrue(lines[0].startswith("Source_id,"))
        self.assertIn(int(lines[1]), (0, 128 + signal.SIGPIPE))
        self.assertNotIn("cannot", result.stderr)

    def test_abandoned_files(self):
        """Those that nobody has locked, or that are old; what is no file of srcfind's stays."""
        image, out = self.good(), self.path("out")
        os.mkdir(out)
        with contextlib.ExitStack() as files:
            for name, age in (
                (".srcfind-1-0.part", 0),
                (".srcfind-2-0.part", 0),
                (".srcfind-3-0.part", 2 * 86400),
                (".srcfind-4-0.part", 43200),
                ("other.part", 2 * 86400),
                (".srcfind-5", 2 * 86400),
            ):
                stream = files.enter_context(open(os.path.join(out, name), "w"))
                os.utime(stream.name, (time.time() - age,) * 2)
                if name[9:] in ("2-0.part", "3-0.part", "4-0.part"):
                    fcntl.flock(stream, fcntl.LOCK_EX)
            os.mkdir(os.path.join(out, ".srcfind-d.part"))
            os.mkfifo(os.path.join(out, ".srcfind-p.part"))
            os.symlink(image, os.path.join(out, ".srcfind-l.part"))
            stay = {
                ".srcfind-2-0.part",
                ".srcfind-4-0.part",
                "other.part",
                ".srcfind-5",
                ".srcfind-d.part",
                ".srcfind-p.part",
                ".srcfind-l.part",
                "good.csv",
            }
            for arguments in ((image, "-o", out), (image, "-o", out + "/good.csv")):
                result = t.run(*arguments, timeout=t.HANG)
                self.assertEqual(
                    [result.returncode, set(os.listdir(out))], [0, stay], result.stderr
                )
                open(os.path.join(out, ".srcfind-1-0.part"), "w").close()
        self.assertTrue(os.path.exists(image))

    def test_few_descriptors(self):
        """Fewer than the threads would need: fewer images are searched at a time, and none
        fails."""
        images = [
            self.write("%d.fits%s" % (i, ".gz" * (i % 2)), t.noise(60, 60)) for i in range(40)
        ]
        for limit in (20, 6):
            result = t.run(
                *images,
                "-j",
                "20",
                "-o",
                self.path(str(limit)),
                preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)),
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(os.listdir(self.path(str(limit)))), 40)

    def test_one_of_several_fails(self):
        images = [
            self.write("a.fits", t.noise(50, 50)),
            self.path("missing.fits"),
            self.write("b.fits", t.noise(50, 50)),
        ]
        result = t.run(*images, "-o", self.path("out"), "-q")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 2)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.csv", "b.csv"])
        result = t.run(*images, "-o", self.path("fast"), "-q", "--fail-fast")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(os.listdir(self.path("fast")), ["a.csv"])


if __name__ == "__main__":
    t.main()

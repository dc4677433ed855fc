"""Malformed and treacherous files: each ends in the catalogue or the error that malformed.py
foresees, soon, and in little memory."""
import csv
import io
import os
import re
import subprocess
import tempfile
import threading
import unittest

import malformed
import srcfind_test as t

# of processors' time, which does not depend on what else they do
MOST_SECONDS = 30 if t.SANITIZED else 10
MOST_KIB = 64 << 10  # above what a sound file of this size takes


def environment(directory):
    """With what LeakSanitizer is to overlook: CFITSIO's own leak where an HCOMPRESS tile is bad."""
    known = os.path.join(directory, "leaks")
    with open(known, "w") as stream:
        stream.write("leak:libcfitsio\n")
    return dict(os.environ, LSAN_OPTIONS="print_suppressions=0:suppressions=" + known)


def search(path, env):
    """Exit status, output, error, and resource usage of the command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [t.COMMAND, "--cpu", "--threads", "2", "-q", path], stdout=out, stderr=errors, env=env
        )
        end = threading.Timer(t.HANG, process.kill)
        end.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        end.cancel()
        out.seek(0)
        errors.seek(0)
        return process.returncode, out.read().decode(), errors.read().decode(), usage


class Malformed(t.Case):
    @classmethod
    def setUpClass(cls):
        cls.corpus = tempfile.TemporaryDirectory(prefix="srcfind-")
        cls.addClassCleanup(cls.corpus.cleanup)
        cls.environment = environment(cls.corpus.name)
        path = os.path.join(cls.corpus.name, "good")
        with open(path, "wb") as stream:
            stream.write(malformed.GOOD)
        cls.usual_kib = search(path, cls.environment)[3].ru_maxrss

    def check_error(self, expected, path, status, out, errors):
        self.assertEqual([status, out], [1, ""], errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertTrue(errors.startswith("srcfind: " + path + ": "), errors)
        for word in expected.words:
            self.assertIn(word, errors)

    def check_catalogue(self, expected, status, out, errors):
        self.assertEqual([status, errors], [0, ""])
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertIn("Source_id", out.splitlines()[0])
        if expected.sources is not None:
            self.assertEqual(len(rows), expected.sources)
        for row in rows:
            for column in expected.empty:
                self.assertEqual(row.get(column, ""), "", column)
            self.assertEqual(int(row["Flags"]) & expected.flag, expected.flag)

    def check(self, name):
        expected = malformed.CASES[name]
        path = malformed.write(name, self.corpus.name)
        try:
            status, out, errors, usage = search(path, self.environment)
        finally:
            os.remove(path)
        if expected.words:
            self.check_error(expected, path, status, out, errors)
        else:
            self.check_catalogue(expected, status, out, errors)
        self.assertLess(usage.ru_utime + usage.ru_stime, MOST_SECONDS)
        if not t.SANITIZED:
            self.assertLess(usage.ru_maxrss, self.usual_kib + MOST_KIB)

    def test_corpus(self):
        for name in malformed.CASES:
            with self.subTest(case=name):
                self.check(name)

    def test_corpus_is_large(self):
        self.assertGreater(len(malformed.CASES), 80)

    def test_reproducers_are_there(self):
        """What SECURITY.md names is in the corpus or among what fuzzing found."""
        with open(os.path.join(t.SOURCE_ROOT, "SECURITY.md")) as stream:
            rows = [
                line.split("|")[3] for line in stream if line.startswith(("| CFITSIO", "| WCSLIB"))
            ]
        self.assertGreater(len(rows), 5)
        found = os.path.join(t.SOURCE_ROOT, "tests", "fuzz", "found")
        for name in re.findall(r"`(.*?)`", "".join(rows)):
            self.assertIn(name, malformed.CASES)
        for name in re.findall(r"(?:header|image)/[\w-]+", "".join(rows)):
            self.assertTrue(os.path.exists(os.path.join(found, name)), name)

    def test_links_in_a_circle(self):
        os.symlink("b.fits", self.path("a.fits"))
        os.symlink("a.fits", self.path("b.fits"))
        result = t.run(self.path("a.fits"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.fits: Too many levels of symbolic links", result.stderr)


if __name__ == "__main__":
    t.main()

"""Options, errors, and finders in threads and forked processes."""
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from conftest import assert_same
from srcfind._calls import lib, text

IMAGE = t.noise(200, 220)
SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")


@pytest.mark.parametrize(
    "name, value, text",
    [
        ("threshold", 6, "6"),
        ("threshold", np.float32(5.5), "5.5"),
        ("island", "3.5", "3.5"),
        ("local", True, "yes"),
        ("rms_box", (60, 20), "60,20"),
        ("rms_box", [np.int64(60), 20], "60,20"),
        ("beam", (10, 8.5, 40), "10,8.5,40"),
        ("beam", 10, "10,10,0"),
        ("background", "zero", "zero"),
        ("background", -0.25, "-0.25"),
        ("blank", 0, "0"),
        ("rms", 1e-5, "1e-05"),
        ("min_pixels", 3, "3"),
        ("connectivity", 8, "8"),
        ("negative", False, "no"),
        ("mask", pathlib.Path("a/mask.fits"), "a/mask.fits"),
        ("hdu", "SCI", "SCI"),
        ("plane", 3, "3"),
        ("kappa", None, "3"),
        ("negative", np.bool_(True), "yes"),
    ],
)
def test_options(name, value, text):
    options = srcfind.Finder(**{name: value}).options
    assert options.get(name, "no" if value is False else None) == text
    assert "threads" not in options


def test_survey():
    """An option beside survey wins, before it, too."""
    survey = {"local": "yes", "island": "3", "fit": "yes"}
    assert survey.items() <= srcfind.Finder(survey=True).options.items()
    options = srcfind.Finder(local=False, island=4, survey=True).options
    assert "local" not in options and options["island"] == "4" and options["fit"] == "yes"
    assert "fit" not in srcfind.Finder(survey=False).options


def test_unknown_options():
    for name, near in (
        ("treshold", "threshold"),
        ("rmsbox", "rms_box"),
        ("rms-box", "rms_box"),
        ("zzz", "kappa"),
    ):
        with pytest.raises(
            TypeError, match="there is no option %s: did you mean .*%s" % (name, near)
        ):
            srcfind.find(IMAGE, **{name: 1})
    with pytest.raises(TypeError, match="beam: .* not dict"):
        srcfind.find(IMAGE, beam={})
    with pytest.raises(TypeError, match="local: True or False, not 1"):
        srcfind.Finder(local=1)
    with pytest.raises(
        TypeError, match="psf: .*, not Catalogue: write it to a file, and give its path"
    ):
        srcfind.Finder(psf=srcfind.find(np.ones((5, 6))))
    with pytest.raises(TypeError, match="no option gpu in Python: see device=0"):
        srcfind.Finder(gpu=True)


def test_errors(path):
    cases = [
        (srcfind.OptionError, ValueError, "threshold", lambda: srcfind.find(IMAGE, threshold=-1)),
        (srcfind.OptionError, ValueError, "island", lambda: srcfind.Finder(island=6)),
        (
            srcfind.InputError,
            OSError,
            "mask.fits: No such file",
            lambda: srcfind.find(IMAGE, mask="mask.fits"),
        ),
        (
            srcfind.InputError,
            OSError,
            "none.fits: No such file",
            lambda: srcfind.find(path("none.fits")),
        ),
        (srcfind.DeviceError, RuntimeError, "CUDA", lambda: srcfind.find(IMAGE, device=1000)),
    ]
    for kind, builtin, message, call in cases:
        with pytest.raises(kind, match=message) as caught:
            call()
        assert isinstance(caught.value, builtin) and isinstance(caught.value, srcfind.Error)
        assert "\n" not in str(caught.value)
    assert issubclass(srcfind.OutOfMemoryError, MemoryError)
    with pytest.raises(ValueError, match="NUL"):
        srcfind.find("a\0b")


def test_paths(path):
    """str, bytes and os.PathLike, also with characters that are no UTF-8."""
    name = os.fsencode(path("im")) + b"\xff.fits"
    with open(SAMPLE, "rb") as sample, open(name, "wb") as copy:
        copy.write(sample.read())
    for image in (name, os.fsdecode(name), pathlib.Path(os.fsdecode(name))):
        found = srcfind.find(image)
        assert len(found) == 24 and found.image.path == os.fsdecode(name)


def test_a_finder_again():
    """Searches after one another, and after an error."""
    finder = srcfind.Finder(threads=2)
    first = finder.find(IMAGE)
    with pytest.raises(srcfind.InputError):
        finder.find("none.fits")
    assert_same(finder.find(IMAGE), first)
    assert len(finder.find(SAMPLE)) == 24


def in_threads(n, work):
    """What work(i) returns, or raises, in n threads that start together."""
    start, results = threading.Barrier(n), [None] * n

    def run(i):
        start.wait()
        try:
            results[i] = work(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_one_finder_in_threads():
    """The searches follow one another, also with maps of other catalogues between them."""
    finder = srcfind.Finder(threads=2)
    images = [t.noise(100, 90 + i, seed=i) for i in range(4)]
    expected = [srcfind.find(image) for image in images]

    def work(i):
        for _ in range(10):
            found = finder.find(images[i])
            assert_same(found, expected[i])
            np.testing.assert_array_equal(found.segments, expected[i].segments)
            with pytest.raises(srcfind.InputError, match="none%d" % i):
                finder.find("none%d.fits" % i)
        return True

    assert in_threads(4, work) == [True] * 4


def test_two_finders_at_the_same_time(fake_cuda):
    """Each search waits until the other one is at work, too: the lock of Python's interpreter is
    not held."""
    program = """
import sys
sys.path[:0] = sys.argv[1:]
import numpy, srcfind, test_finders as t
def work(i):
    return srcfind.Finder(device=0).find(t.IMAGE).run.backend
results = t.in_threads(2, work)
assert results == ["cuda", "cuda"], results
"""
    subprocess.run(
        [sys.executable, "-c", program, os.path.dirname(t.__file__), os.path.dirname(__file__)],
        check=True,
        env={**os.environ, "FAKE_CUDA_TOGETHER": "2"},
        timeout=t.HANG,
    )


def search_in_child(finder, catalogue, results):
    found = finder.find(IMAGE)
    results.put(
        (found.array.tobytes(), found.segments.tobytes(), catalogue.map("islands").tobytes())
    )


def test_forked_process():
    """A child uses its parent's finder and catalogue, and so may the parent afterwards."""
    finder = srcfind.Finder(threads=2, device="cpu")
    found = finder.find(IMAGE)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [
        context.Process(target=search_in_child, args=(finder, found, results)) for _ in range(2)
    ]
    for child in children:
        child.start()
    of_children = [results.get(timeout=t.HANG) for _ in children]
    for child in children:
        child.join(t.HANG)
        assert child.exitcode == 0
    islands = found.segments.tobytes()
    assert of_children == [(found.array.tobytes(), islands, islands)] * 2
    assert_same(finder.find(IMAGE), found)


def test_fork_during_a_search():
    """A child that is forked while a thread of the parent uses the finder is not stopped by its
    lock."""
    finder = srcfind.Finder(threads=2, device="cpu")
    context = multiprocessing.get_context("fork")
    child = context.Process(target=finder.find, args=(IMAGE,))
    with finder._lock:
        child.start()
    child.join(t.HANG)
    assert child.exitcode == 0


# --- signals ---

# a search of many seconds
LONG = {
    "fit": True,
    "local": True,
    "scales": [2, 4, 8],
    "completeness": 100000,
    "threads": 1,
    "device": "cpu",
}
SKY = {
    "image": t.noise(1200, 1200, n_sources=200),
    "header": t.sky_header(BMAJ=5 / 3600, BMIN=5 / 3600),
}


def with_signals(number, handler, times, call):
    """Makes a call during which a signal comes several times."""
    before = signal.signal(number, handler)
    timers = [threading.Timer(seconds, os.kill, (os.getpid(), number)) for seconds in times]
    for timer in timers:
        timer.start()
    try:
        return call()
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()
        signal.signal(number, before)


@pytest.mark.parametrize("kind", ["array", "file"])
def test_interrupt_of_the_keyboard(path, kind):
    """Ctrl-C ends a search, as it ends a program in Python, and the finder can be used again."""
    finder, image = srcfind.Finder(**LONG), SKY
    if kind == "file":
        image = {"image": path("image.fits")}
        t.fits.PrimaryHDU(SKY["image"], SKY["header"]).writeto(image["image"])

    def search():
        with pytest.raises(KeyboardInterrupt):
            finder.find(**image)

    with_signals(signal.SIGINT, signal.default_int_handler, [0.2], search)
    assert text(lib.srcfind_message(finder._finder)).endswith("interrupted")  # and not at its end
    with pytest.raises(srcfind.InputError, match="No such file"):
        finder.find("none.fits")


def test_handlers_of_signals():
    """A handler runs during a search. What it raises ends the search; it cannot use the finder, but
    another one."""
    finder, sizes = srcfind.Finder(**LONG), []

    def handle(number, frame):
        with pytest.raises(RuntimeError, match="make another one"):
            finder.find(IMAGE)
        sizes.append(len(srcfind.find(IMAGE)))
        if len(sizes) == 2:
            raise ZeroDivisionError("twice")

    def search():
        with pytest.raises(ZeroDivisionError, match="twice"):
            finder.find(**SKY)

    with_signals(signal.SIGUSR1, handle, [0.2, 0.5], search)
    assert sizes == [len(srcfind.find(IMAGE))] * 2


def test_signals_are_for_the_main_thread():
    """A search in another thread goes on, and its result is whole."""
    options = {"fit": True, "completeness": 50}
    found = []
    searching = threading.Thread(target=lambda: found.append(srcfind.find(**SKY, **options)))

    def interrupt():
        searching.start()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            searching.join()

    with_signals(signal.SIGINT, signal.default_int_handler, [], interrupt)
    searching.join()
    assert_same(found[0], srcfind.find(**SKY, **options))

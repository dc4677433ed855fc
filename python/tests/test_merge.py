"""Merging: the file is the command's, from catalogues in memory and from files."""
import csv
import os
import pickle

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy.io import fits

EDGE = 1


@pytest.fixture
def tiles(path):
    """Paths of two images that overlap, the second one of higher noise."""
    whole = t.noise(150, 200, seed=3, n_sources=40)
    for i, name in enumerate(("a.fits", "b.fits")):
        pixels = whole[:, 50 * i : 50 * i + 150] + np.random.default_rng(i).normal(
            0, 0.2 + 0.3 * i, (150, 150)
        )
        fits.PrimaryHDU(
            pixels.astype(np.float32),
            t.sky_header(CRPIX1=50.0 - 50 * i, **{"DATE-OBS": "2026-11-2%d" % i}),
        ).writeto(path(name))
    return [path("a.fits"), path("b.fits")]


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def test_same_bytes_as_the_command(tiles, path):
    """In each format, with duplicates and without them, from memory, from files and from both."""
    found = [srcfind.find(tile) for tile in tiles]
    for catalogue, name in zip(found, ("a.json", "b.json")):
        catalogue.write(path(name))
    for name in ("merged.csv", "merged.json", "merged.vot", "merged.fits", "merged.ecsv"):
        for duplicates in ("drop", "keep"):
            t.run(*tiles, "-q", "--merge", path(name), "--merge-duplicates", duplicates, check=True)
            expected = read(path(name))
            for catalogues in (
                found,
                iter(found),
                [path("a.json"), found[1]],
                [path("a.json"), path("b.json")],
                dict(zip(tiles, found)),
            ):
                os.remove(path(name))
                merged = srcfind.merge(catalogues, path(name), duplicates=duplicates, threads=2)
                assert read(path(name)) == expected
    n = sum(map(len, found))
    assert (merged.images, merged.rows, merged.without_beam, merged.without_sky) == (2, n, 0, 0)
    assert 3 < merged.duplicates < n / 2
    assert srcfind.merge(found, path("dropped")).rows == n - merged.duplicates


def test_names_and_radius(tiles, path):
    """Arrays have the names of a dict; a radius of next to nothing leaves no duplicates but parts
    that an edge cuts."""
    found = {
        name: srcfind.find(fits.getdata(tile), header=fits.getheader(tile))
        for name, tile in zip(("x", "y"), tiles)
    }
    merged = srcfind.merge(found, path("merged.csv"), radius=1e-6)
    whole = sum(int((catalogue.array["Flags"] & EDGE == 0).sum()) for catalogue in found.values())
    assert merged.rows + merged.duplicates == sum(map(len, found.values()))
    with open(path("merged.csv")) as stream:
        rows = list(csv.DictReader(stream))
    assert {row["Image"] for row in rows} == {"x", "y"} and len(rows) == merged.rows
    assert sum(int(row["Flags"]) & EDGE == 0 for row in rows) == whole
    with pytest.raises(srcfind.OptionError, match="dict"):
        srcfind.merge(found.values(), path("none.csv"))


def test_errors(tiles, path):
    """What is wrong is an exception that says so, and no file is written."""
    found = [srcfind.find(tile) for tile in tiles]
    found[0].write(path("a.csv"))
    with open(path("broken.json"), "w") as stream:
        stream.write("{")
    before = set(os.listdir(os.path.dirname(path(""))))
    for catalogues, options, error, message in (
        ([path("a.csv"), found[1]], {}, srcfind.OptionError, "radius"),
        ([found[0], path("no.csv")], {}, srcfind.InputError, "no.csv: "),
        ([found[0], path("broken.json")], {}, srcfind.InputError, "broken.json: "),
        ([found[0], srcfind.find(tiles[1], fit=True)], {}, srcfind.InputError, "columns differ"),
        ([], {}, srcfind.InputError, "no image has a catalogue"),
        ([pickle.loads(pickle.dumps(found[0]))], {}, srcfind.OptionError, "pickled"),
        (found, {"duplicates": "none"}, srcfind.OptionError, "'none' is not drop or keep"),
        (found, {"radius": -1}, srcfind.OptionError, "radius: "),
        (found, {"radius": 0}, srcfind.OptionError, "radius: "),
        (found, {"threads": 10**6}, srcfind.OptionError, "threads: "),
        (path("a.csv"), {}, TypeError, "a list of"),
        (found[0], {}, TypeError, "a list of"),
        ([3], {}, TypeError, ""),
    ):
        with pytest.raises(error, match=message):
            srcfind.merge(catalogues, path("none.csv"), **options)
    for output, error in (
        (path("none.reg"), srcfind.OptionError),
        (tiles[0], srcfind.OptionError),
        (path("no/none.csv"), srcfind.OutputError),
        ("", srcfind.OptionError),
    ):
        with pytest.raises(error):
            srcfind.merge(found, output)
    assert set(os.listdir(os.path.dirname(path("")))) == before
    assert srcfind.merge([path("a.csv"), found[1]], path("merged.csv"), radius=4.5).images == 2

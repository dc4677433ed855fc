"""What the scripts beside it share: skies whose sources are known, and comparing catalogues with
them.

A source and an entry of a catalogue belong together if they are each other's nearest, within half a
beam. A false alarm is an entry with no source of 2 sigma or more within that source's FWHM.
"""
import os
import re
import shutil
import sys
import tempfile

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy.spatial import cKDTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sky  # noqa: E402

FAINTEST = 3, 2  # sigma, of sources that may match an entry, and that explain one
ALONE = 3  # beams to the next source


class Sky:
    """A sky with its true sources, and how a catalogue agrees with them."""

    def __init__(self, path, neighbours=FAINTEST[0]):
        """neighbours: the sigma from which on another source counts as a neighbour."""
        header = fits.getheader(path)
        self.path, self.wcs = path, WCS(header)
        self.beam_axes = (
            header["BMAJ"] / header["CDELT2"],
            header["BMIN"] / header["CDELT2"],
            header["BPA"],
        )
        self.beam, self.round_beam = self.beam_axes[0], np.sqrt(
            self.beam_axes[0] * self.beam_axes[1]
        )
        truth = np.genfromtxt(path.replace(".fits", ".truth.csv"), delimiter=",", names=True)
        self.explaining = truth[truth["snr"] > FAINTEST[1]]
        self.truth = truth[truth["snr"] > FAINTEST[0]]
        self.snr, self.is_point = self.truth["snr"], self.truth["fwhm"] < 1.01 * self.round_beam
        # the nearest is the source itself
        distances, _ = tree(truth[truth["snr"] > neighbours]).query(places(self.truth), k=2)
        self.alone = distances[:, 1] > ALONE * self.beam

    def partners(self, entries):
        """For each source the index of its entry, or -1."""
        if len(entries) == 0:
            return np.full(len(self.truth), -1)
        distance, nearest = cKDTree(entries).query(places(self.truth))
        _, back = tree(self.truth).query(entries)
        return np.where(
            (distance < self.beam / 2) & (back[nearest] == np.arange(len(self.truth))), nearest, -1
        )

    def false_alarms(self, entries):
        if len(entries) == 0:
            return 0
        distance, near = tree(self.explaining).query(entries, k=8)
        return int((distance > self.explaining["fwhm"][near]).all(axis=1).sum())


def places(sources):
    return np.column_stack([sources["x"], sources["y"]])


def tree(sources):
    return cKDTree(places(sources))


def spread(values):
    """Median, and 1.4826 times the median distance from it: the standard deviation, if values are
    normal."""
    middle = np.median(values)
    return middle, 1.4826 * np.median(np.abs(values - middle))


def print_row(*cells):
    print("| %s |" % " | ".join(map(str, cells)))


class Shelf:
    """A directory that keeps skies and catalogues of them, so that they are made once. To be
    emptied after a change of what makes skies or catalogues."""

    def __init__(self, directory=None):
        """Without a directory they are gone in the end."""
        self.temporary = None if directory else tempfile.TemporaryDirectory()
        self.directory = os.path.abspath(directory or self.temporary.name)
        os.makedirs(self.directory, exist_ok=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def sky(self, side, *options):
        """The path of a sky with these options of tests/sky.py."""
        name = (
            "sky_"
            + re.sub("[^0-9A-Za-z.]+", "_", "_".join([str(side), *options])).replace(".", "p")
            + ".fits"
        )
        path = self.path(name)
        if not os.path.exists(path):
            with tempfile.TemporaryDirectory(dir=self.directory) as work:
                made = os.path.join(work, name)
                sky.make([str(side), made, *options])
                # the image comes last: where it is, the truth is
                for suffix in ".truth.csv", ".fits":
                    os.replace(made.replace(".fits", suffix), path.replace(".fits", suffix))
        return path

    def catalogue(self, image, name, run):
        """The path of the catalogue that run(image) writes of a kept sky."""
        path = image.replace(".fits", "." + name.lower() + ".csv")
        if not os.path.exists(path):
            with tempfile.TemporaryDirectory(dir=self.directory) as work:
                link = os.path.join(work, "sky.fits")
                os.symlink(image, link)
                shutil.move(run(link), path)
        return path

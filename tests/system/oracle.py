"""What srcfind should find in an image: by NumPy, SciPy and astropy, in float64, and in the plainest way."""
import os

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy import ndimage

import srcfind_test as t

EXACT = ("N_pix", "X_min", "X_max", "Y_min", "Y_max", "Xpeak", "Ypeak")


def read(path):
    """The first plane of an uncompressed image in the first HDU, as srcfind has it (float32 values, NaN where it is blank),
    and its header."""
    with fits.open(path, memmap=False, do_not_scale_image_data=True) as hdus:
        header, stored = hdus[0].header.copy(), hdus[0].data
    plane = stored.reshape(-1, *stored.shape[-2:])[0]
    values = header.get("BZERO", 0) + header.get("BSCALE", 1) * plane.astype(np.float64)
    if stored.dtype.kind in "iu" and "BLANK" in header:
        values[plane == header["BLANK"]] = np.nan
    return values.astype(np.float32), header


def clip(image, kappa=3):
    """Median and rms when nothing more lies outside of median -+ kappa rms, how many pixels are left, and after how many
    rounds, of which the last one removes nothing. None where the values that are left are all the same."""
    values = np.sort(image[np.isfinite(image)]).astype(np.float64)
    rounds = 0
    while len(values):
        median, rms = np.median(values), np.std(values)
        first = np.searchsorted(values, median - kappa * rms, "right")
        end = np.searchsorted(values, median + kappa * rms, "left")
        rounds += 1
        if (first, end) == (0, len(values)):
            return {"median": median, "rms": rms, "n_kept": len(values), "rounds": rounds}
        values = values[first:end]
    return None


def find(image, threshold, connectivity, subtract=0.0):
    """The islands of pixels above the threshold, in the order of their first pixels, with the catalogue's names.
    Sums and centroids are of values less `subtract`."""
    above = image > np.full((1, 1), threshold)  # in doubles: NumPy 1 rounds a scalar to the image's type
    labels, n = ndimage.label(above, np.ones((3, 3)) if connectivity == 8 else None)
    place = np.flatnonzero(labels)
    label, value = labels.ravel()[place], image.ravel()[place].astype(np.float64)
    y, x = np.divmod(place, image.shape[1])
    order = np.argsort(label, kind="stable")  # an island's pixels, in the order of the image
    start = np.searchsorted(label[order], np.arange(1, n + 1))
    if n == 0:
        return []
    by_value = np.lexsort((place, -value, label))  # an island's first pixel is the first one of its highest
    total = np.bincount(label, value - subtract)[1:]
    columns = {
        "N_pix": np.bincount(label)[1:],
        "X_min": np.minimum.reduceat(x[order], start), "X_max": np.maximum.reduceat(x[order], start),
        "Y_min": np.minimum.reduceat(y[order], start), "Y_max": np.maximum.reduceat(y[order], start),
        "Xpeak": x[by_value[start]], "Ypeak": y[by_value[start]], "Peak_flux": value[by_value[start]],
        "Pixel_sum": total,
        "Xposn": np.bincount(label, (value - subtract) * x)[1:] / total,
        "Yposn": np.bincount(label, (value - subtract) * y)[1:] / total,
    }
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return [rows[i] for i in np.argsort(place[order[start]])]


def add_world(rows, header):
    """The place of each centroid on the sky, as "lon" and "lat" in degrees, in the header's own frame."""
    wcs = WCS(header).celestial
    for row in rows:
        row["lon"], row["lat"] = (float(value) for value in wcs.all_pix2world(row["Xposn"], row["Yposn"], 0))


def angle_between(lon, lat, lon2, lat2):
    """Degrees, for positions that are near each other or not."""
    a, b, c, d = np.radians([lon, lat, lon2, lat2])
    h = np.sin((d - b) / 2) ** 2 + np.cos(b) * np.cos(d) * np.sin((c - a) / 2) ** 2
    return np.degrees(2 * np.arcsin(np.sqrt(h)))


class Oracle:
    """One image, with srcfind's own thresholds."""

    def __init__(self, image, header):
        self.image, self.header = image, header
        self.clip = clip(image)

    def sources(self, background, connectivity):
        subtract = self.clip["median"] if background == "median" else 0.0
        rows = find(self.image, subtract + 5 * self.clip["rms"], connectivity, subtract)
        add_world(rows, self.header)
        return rows


class Agreement:
    """Assertions of a test case: that a catalogue (the JSON one) agrees with an oracle, or what is recorded of one."""

    def assert_agrees(self, path, oracle):
        """By both backgrounds and both connectivities."""
        for background in ("zero", "median"):
            for connectivity in (4, 8):
                with self.subTest(os.path.basename(path), background=background, connectivity=connectivity):
                    catalogue = t.find(path, "--background", background, "--connectivity", connectivity)
                    self.assert_background(catalogue["background"], oracle.clip)
                    expected = oracle.sources(background, connectivity) if oracle.clip else []
                    self.assertEqual(catalogue["detection"]["n_sources"], len(expected))
                    self.assert_sources(catalogue["sources"], expected)
                    self.assert_positions(catalogue["sources"], expected)

    def assert_close(self, value, expected, relative, scale=None):
        self.assertLessEqual(abs(value - expected), relative * (scale or abs(expected)), "%r is not %r" % (value, expected))

    def assert_background(self, background, clip):
        self.assertEqual(background["empty"], clip is None)
        if clip is None:
            return
        self.assert_close(background["rms"], clip["rms"], 1e-12)
        self.assertEqual([background[name] for name in ("median", "n_kept", "rounds")],
                         [clip[name] for name in ("median", "n_kept", "rounds")])

    def assert_sources(self, rows, expected):
        self.assertEqual(len(rows), len(expected))
        for row, e in zip(rows, expected):
            self.assertEqual([row[name] for name in EXACT], [e[name] for name in EXACT])
            self.assert_close(row["Pixel_sum"], e["Pixel_sum"], 1e-11)
            for name in ("Xposn", "Yposn"):
                self.assert_close(row[name], e[name], 1e-11, max(abs(e[name]), 1))

    def assert_positions(self, rows, expected):
        """Of those whose position is expected; None where there is none on the sky."""
        for row, e in zip(rows, expected):
            lon, lat = (row.get(name, row.get(other)) for name, other in (("RA", "GLON"), ("DEC", "GLAT")))
            if e.get("lon", lon) is None:
                self.assertIsNone(lon)
            elif "lon" in e:
                self.assertLess(angle_between(lon, lat, e["lon"], e["lat"]), 1e-9)

"""What srcfind should find in an image: by NumPy, SciPy and astropy, in float64, and in the
plainest way."""
import os

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy import ndimage

import srcfind_test as t

EXACT = ("N_pix", "X_min", "X_max", "Y_min", "Y_max", "Xpeak", "Ypeak")


def read(path):
    """The first plane of an uncompressed image in the first HDU, as srcfind has it (float32 values,
    NaN where it is blank), and its header."""
    with fits.open(path, memmap=False, do_not_scale_image_data=True) as hdus:
        header, stored = hdus[0].header.copy(), hdus[0].data
    plane = stored.reshape(-1, *stored.shape[-2:])[0]
    values = header.get("BZERO", 0) + header.get("BSCALE", 1) * plane.astype(np.float64)
    if stored.dtype.kind in "iu" and "BLANK" in header:
        values[plane == header["BLANK"]] = np.nan
    return values.astype(np.float32), header


def clip(image, kappa=3):
    """Median and rms when nothing more lies outside of median -+ kappa rms, how many pixels are
    left, and after how many rounds, of which the last one removes nothing. None where the values
    that are left are all the same.
    """
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


def find(image, threshold, connectivity, subtract=0.0, core=None):
    """The islands of pixels above the threshold (one, or one for each pixel), in the order of their
    first pixels, with the catalogue's names. Sums and centroids are of values less `subtract`.
    core: an island has one of these pixels.
    """
    # NumPy 1 rounds a scalar to the image's type
    above = image > np.broadcast_to(threshold, image.shape).astype(float)
    labels, n = ndimage.label(above, np.ones((3, 3)) if connectivity == 8 else None)
    place = np.flatnonzero(labels)
    label, value = labels.ravel()[place], image.ravel()[place].astype(np.float64)
    y, x = np.divmod(place, image.shape[1])
    order = np.argsort(label, kind="stable")  # an island's pixels, in the order of the image
    start = np.searchsorted(label[order], np.arange(1, n + 1))
    if n == 0:
        return []
    # an island's first pixel is the first one of its highest
    by_value = np.lexsort((place, -value, label))
    total = np.bincount(label, value - subtract)[1:]
    columns = {
        "N_pix": np.bincount(label)[1:],
        "X_min": np.minimum.reduceat(x[order], start),
        "X_max": np.maximum.reduceat(x[order], start),
        "Y_min": np.minimum.reduceat(y[order], start),
        "Y_max": np.maximum.reduceat(y[order], start),
        "Xpeak": x[by_value[start]],
        "Ypeak": y[by_value[start]],
        "Peak_flux": value[by_value[start]],
        "Pixel_sum": total,
        "Xposn": np.bincount(label, (value - subtract) * x)[1:] / total,
        "Yposn": np.bincount(label, (value - subtract) * y)[1:] / total,
    }
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    keep = np.ones(n, bool) if core is None else np.bincount(label, core.ravel()[place])[1:] > 0
    return [rows[i] for i in np.argsort(place[order[start]]) if keep[i]]


def box_range(i, n, size, step):
    """First and end pixel of the box of node i, on an axis of n pixels."""
    low = min(max(i * step + step // 2 - size // 2, 0), max(0, n - size))
    return low, min(n, low + size)


def clip_box(values, kappa):
    """As clip, but where nothing would be left, the values before it; None without noise or enough
    pixels."""
    finite = np.sort(values[np.isfinite(values)]).astype(np.float64)
    if 4 * len(finite) < values.size:
        return None
    while len(finite):
        median, rms = np.median(finite), np.std(finite)
        left = finite[(finite > median - kappa * rms) & (finite < median + kappa * rms)]
        if rms == 0 or len(left) in (0, len(finite)):
            return (median, rms) if rms > 0 else None
        finite = left
    return None


def beam_squared(header):
    """BMAJ x BMIN in pixels^2, at least 4; None without a beam."""
    if not header.get("BMAJ"):
        return None
    area = abs(header["CDELT1"] * header["CDELT2"])
    return max(4.0, header["BMAJ"] * header["BMIN"] / area)


def left_out(image, size, kappa, beam):
    """The pixels of bright wide islands of positive sign, and those within 1.5 beams. beam: squared, in
    pixels."""
    coarse = 4 * size
    if min(image.shape) >= 2 * coarse:
        nodes = noise_nodes(image, coarse, coarse, kappa)
        background, rms = (interpolate(nodes[:, :, i], image.shape, coarse) for i in (0, 1))
    else:
        whole = clip_box(image, kappa) or (0, 0)
        background, rms = (np.full(image.shape, value) for value in whole)
    above = np.where(np.isfinite(image), image.astype(np.float64), np.nan) - background
    out = np.zeros(image.shape, bool)
    labels, _ = ndimage.label(above > 3 * rms)
    for number, place in enumerate(ndimage.find_objects(labels) if np.all(rms > 0) else (), 1):
        own = labels[place] == number
        has_peak = (above[place][own] > 10 * rms[place][own]).any()
        n_below = (above[place] < -3 * rms[place]).sum()
        if (
            has_peak
            and own.sum() > 15 * np.pi * beam / (4 * np.log(2))
            and 4 * n_below <= own.sum()
        ):
            out[place] |= own
    if out.any():
        y, x = ndimage.distance_transform_edt(~out, return_distances=False, return_indices=True)
        y, x = y - np.arange(len(out))[:, None], x - np.arange(len(out[0]))
        out = x**2 + y**2 <= 2.25 * beam * (1 + 1e-9)  # the rounding of a header
    return out


def noise_nodes(image, size, step, kappa=3, beam=None):
    """Median and rms of the nodes; a node without has those of the nearest one, of equals the
    first. beam: squared, in pixels; bright wide islands are then left out."""
    if beam:
        out = left_out(image, size, kappa, beam) | left_out(-image, size, kappa, beam)
        image = np.where(out, np.nan, image)
    shape = [-(-n // step) for n in image.shape]
    nodes = np.full((*shape, 2), np.nan)
    for j, i in np.ndindex(*shape):
        y, x = box_range(j, image.shape[0], size, step), box_range(i, image.shape[1], size, step)
        found = clip_box(image[slice(*y), slice(*x)], kappa)
        nodes[j, i] = found or np.nan
    counts = np.argwhere(np.isfinite(nodes[:, :, 1]))
    for j, i in np.argwhere(np.isnan(nodes[:, :, 1])):
        nodes[j, i] = nodes[tuple(counts[np.argmin(((counts - (j, i)) ** 2).sum(axis=1))])]
    return nodes


def interpolate(nodes, shape, step):
    """Bilinear between nodes, which are at i * step + (step - 1) / 2; beyond the outermost ones
    constant."""

    def along(n, count):
        u = np.clip((2 * np.arange(n) - (step - 1)) / (2 * step), 0, count - 1)
        first = np.floor(u).astype(int)
        return first, np.minimum(first + 1, count - 1), u - first

    j, above, t = along(shape[0], nodes.shape[0])
    i, right, f = along(shape[1], nodes.shape[1])
    rows = nodes[j] + t[:, None] * (nodes[above] - nodes[j])
    return rows[:, i] + f * (rows[:, right] - rows[:, i])


def find_locally(image, size, step, beam, island=5, connectivity=4, background="median"):
    """The islands above local noise, with Isl_rms and Isl_mean at their peaks."""
    nodes = noise_nodes(image, size, step, beam=beam)
    rms = interpolate(nodes[:, :, 1], image.shape, step)
    base = (
        interpolate(nodes[:, :, 0], image.shape, step)
        if background == "median"
        else np.zeros_like(rms)
    )
    above = np.where(np.isfinite(image), image.astype(np.float64), np.nan) - base
    rows = find(above, island * rms, connectivity, core=above > 5 * rms)
    for row in rows:
        row["Isl_rms"], row["Isl_mean"] = (
            rms[row["Ypeak"], row["Xpeak"]],
            base[row["Ypeak"], row["Xpeak"]],
        )
    return rows


def add_world(rows, header):
    """The place of each centroid on the sky, as "lon" and "lat" in degrees, in the header's own
    frame."""
    wcs = WCS(header).celestial
    for row in rows:
        row["lon"], row["lat"] = (
            float(value) for value in wcs.all_pix2world(row["Xposn"], row["Yposn"], 0)
        )


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
    """Assertions of a test case: that a catalogue (the JSON one) agrees with an oracle, or what is
    recorded of one."""

    def assert_agrees(self, path, oracle):
        """By both backgrounds and both connectivities."""
        for background in ("zero", "median"):
            for connectivity in (4, 8):
                with self.subTest(
                    os.path.basename(path), background=background, connectivity=connectivity
                ):
                    catalogue = t.find(
                        path, "--background", background, "--connectivity", connectivity
                    )
                    self.assert_background(catalogue["background"], oracle.clip)
                    expected = oracle.sources(background, connectivity) if oracle.clip else []
                    self.assertEqual(catalogue["detection"]["n_sources"], len(expected))
                    self.assert_sources(catalogue["sources"], expected)
                    self.assert_positions(catalogue["sources"], expected)

    def assert_close(self, value, expected, relative, scale=None):
        self.assertLessEqual(
            abs(value - expected),
            relative * (scale or abs(expected)),
            "%r is not %r" % (value, expected),
        )

    def assert_background(self, background, clip):
        self.assertEqual(background["empty"], clip is None)
        if clip is None:
            return
        self.assert_close(background["rms"], clip["rms"], 1e-12)
        self.assertEqual(
            [background[name] for name in ("median", "n_kept", "rounds")],
            [clip[name] for name in ("median", "n_kept", "rounds")],
        )

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
            lon, lat = (
                row.get(name, row.get(other)) for name, other in (("RA", "GLON"), ("DEC", "GLAT"))
            )
            if e.get("lon", lon) is None:
                self.assertIsNone(lon)
            elif "lon" in e:
                self.assertLess(angle_between(lon, lat, e["lon"], e["lat"]), 1e-9)

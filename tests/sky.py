#!/usr/bin/env python3
"""Makes a radio image with known sources: OUTPUT.fits, and their true values in OUTPUT.truth.csv.

usage: tests/sky.py SIDE OUTPUT.fits [--seed N] [--beam MAJ,MIN,PA] [--density N] ... (--help lists
all options)

The noise has a standard deviation of 1e-4 Jy/beam, and its autocorrelation is the beam. Sources are
Gaussians of the beam's shape, or for some of them 1.2 to 4 times as wide (--elongated: ellipses);
the number of those with a peak above S falls as 1/S (--counts: another power), from 1 to 20000
times the noise. Pixels are 2 arcsec wide, around RA 180, DEC -30 (SIN).

--wide N adds N ellipses that are 3 to 12 beams wide (geometric mean of both axes; axis ratios of
0.6 to 1), anywhere in the image, with a matched signal to noise of 4 to 60: peak over noise, times
width in beams, which is what the best filter sees in noise whose autocorrelation is the beam. All
else is the same as without them.

The truth has x, y (0-based pixels), ra, dec (deg), peak (Jy/beam), flux (Jy), fwhm (pixels;
geometric mean of both axes), snr (peak over the noise at this place), and maj, min, pa (FWHM of
both axes in pixels; position angle in degrees). Sources under blank pixels are left out.

The same arguments give the same sky, with one version of NumPy and SciPy. Needs nothing but these
two.
"""
import argparse
import csv
import math

import numpy as np
import scipy.fft

NOISE = 1e-4
CELL = 2 / 3600
CENTRE = 180.0, -30.0
LEAST, MOST = 1.0, 2e4  # peaks, in units of the noise
REACH = 6  # a source is drawn as far as so many of its standard deviations
FWHM = math.sqrt(8 * math.log(2))
# of wide sources: beams, signal to noise, axis ratio
WIDE, MATCHED, RATIO = (3, 12), (4, 60), (0.6, 1)
KINDS = {-32: ">f4", -64: ">f8", 16: ">i2"}
BLANK, LEVELS = -32768, 20  # of integers: the blank one, and how many the noise is wide


def arguments(given=None):
    def beam(text):
        major, minor, angle = map(float, text.split(","))
        return major, minor, angle

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("side", type=int)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--beam",
        type=beam,
        default=(5.0, 5.0, 0.0),
        help="FWHM of both axes in pixels, and position angle in degrees",
    )
    parser.add_argument(
        "--density",
        type=float,
        default=200.0,
        help="sources above 5 times the noise in a million pixels",
    )
    parser.add_argument(
        "--counts",
        type=float,
        default=1.0,
        help="the power of S with which the number of sources above S falls",
    )
    parser.add_argument(
        "--extended",
        type=float,
        default=0.1,
        help="share of the sources that are wider than the beam",
    )
    parser.add_argument(
        "--elongated",
        action="store_true",
        help="wide sources are ellipses of any direction, convolved with the beam, and no wide beams",
    )
    parser.add_argument("--wide", type=int, default=0, help="number of ellipses of 3 to 12 beams")
    parser.add_argument(
        "--white", action="store_true", help="noise that is independent from pixel to pixel"
    )
    parser.add_argument(
        "--border",
        type=int,
        default=0,
        help="blank pixels outside a circle that ends so many pixels inside the image",
    )
    parser.add_argument(
        "--corner",
        type=int,
        default=0,
        help="blank pixels in a triangle with sides of so many pixels",
    )
    parser.add_argument(
        "--noise-rise",
        type=float,
        default=0.0,
        help="by how much more noise the corners have than the centre: 2 is threefold",
    )
    parser.add_argument(
        "--slope",
        type=float,
        default=0.0,
        help="how much higher the background is at the right, in units of the noise",
    )
    parser.add_argument("--bitpix", type=int, default=-32, choices=sorted(KINDS))
    return parser.parse_args(given)


def covariance(beam):
    """Of the beam as a Gaussian, in pixels: (xx, xy, yy). The angle is from north (+y) through east
    (-x)."""
    major, minor, angle = beam[0] / FWHM, beam[1] / FWHM, math.radians(beam[2])
    sin, cos = -math.sin(angle), math.cos(angle)
    return (
        (major * sin) ** 2 + (minor * cos) ** 2,
        (major**2 - minor**2) * sin * cos,
        (major * cos) ** 2 + (minor * sin) ** 2,
    )


def axes(xx, xy, yy):
    """FWHM of both axes in pixels, and position angle in degrees, of Gaussians with these
    covariances."""
    mean, half = (xx + yy) / 2, np.hypot((xx - yy) / 2, xy)
    angle = np.degrees(np.arctan2(-xy, (yy - xx) / 2)) / 2 % 180
    return FWHM * np.sqrt(mean + half), FWHM * np.sqrt(np.maximum(mean - half, 0)), angle


def noise(a, random):
    """Of standard deviation 1. White noise is filtered with a Gaussian of half the beam's
    covariance, since the autocorrelation of that is the beam."""
    white = random.standard_normal((a.side, a.side), np.float32)
    if a.white:
        return white
    xx, xy, yy = (value / 2 for value in covariance(a.beam))
    v = (2 * np.pi * scipy.fft.fftfreq(a.side)).astype(np.float32)[:, None]
    u = (2 * np.pi * scipy.fft.rfftfreq(a.side)).astype(np.float32)
    spectrum = scipy.fft.rfft2(white, overwrite_x=True)
    spectrum *= np.exp(-(xx * u * u + 2 * xy * u * v + yy * v * v) / 2)
    image = scipy.fft.irfft2(spectrum, white.shape, overwrite_x=True)
    return image / image.std(dtype=np.float64)


def draw_sources(a, random):
    """x, y, peak (in units of the noise), width, and covariance (xx, xy, yy) of a source that has
    the width 1."""
    most, at_5, least = ((1 / peak) ** a.counts for peak in (MOST, 5, LEAST))
    above_5 = (at_5 - most) / (least - most)
    n = max(1, round(a.side**2 * a.density / 1e6 / above_5))
    margin = a.border + 3 * a.beam[0]
    x, y = random.uniform(margin, a.side - 1 - margin, (2, n))
    peak = (1 / random.uniform(most, least, n)) ** (1 / a.counts)
    width = np.where(random.random(n) < a.extended, random.uniform(1.2, 4, n), 1.0)
    shape = [np.full(n, value) for value in covariance(a.beam)]
    if a.elongated:
        shape, width = elongated(a, width, random), np.ones(n)
    return x, y, peak, width, *shape


def elongated(a, width, random):
    """The covariances of ellipses with axis ratios of 0.3 to 1, convolved with the beam. The major
    axis is that of a round source that the beam would make as many times as wide as itself as the
    given width says."""
    major = np.sqrt(a.beam[0] * a.beam[1] * (width**2 - 1))
    of_source = np.array(
        [
            covariance(ellipse)
            for ellipse in zip(
                major,
                major * random.uniform(0.3, 1, len(width)),
                random.uniform(0, 180, len(width)),
            )
        ]
    )
    return (of_source + covariance(a.beam)).T


def draw_wide(a):
    """The same columns, of the wide sources. They have random numbers of their own, so that nothing
    else depends on them."""
    random, beam = np.random.default_rng([a.seed, a.wide]), math.sqrt(a.beam[0] * a.beam[1])
    beams, matched = (np.exp(random.uniform(*np.log(limits), a.wide)) for limits in (WIDE, MATCHED))
    ratio, angle = random.uniform(*RATIO, a.wide), random.uniform(0, 180, a.wide)
    major = beam * beams / np.sqrt(ratio)
    shape = np.array([covariance(ellipse) for ellipse in zip(major, major * ratio, angle)]).reshape(
        -1, 3
    )
    return *random.uniform(0, a.side - 1, (2, a.wide)), matched / beams, np.ones(a.wide), *shape.T


def add_sources(image, sources):
    for x, y, peak, width, xx, xy, yy in zip(*sources):
        determinant = xx * yy - xy * xy
        reach = REACH * width * axes(xx, xy, yy)[0] / FWHM
        left, top = max(int(x - reach), 0), max(int(y - reach), 0)
        stamp = image[top : int(y + reach) + 2, left : int(x + reach) + 2]
        dy = (np.arange(top, top + stamp.shape[0]) - y)[:, None] / width
        dx = (np.arange(left, left + stamp.shape[1]) - x) / width
        stamp += peak * np.exp(
            -(yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (2 * determinant)
        )


def noise_at(a, x, y):
    """In units of the noise at the centre."""
    return 1 + a.noise_rise * ((x - a.side / 2) ** 2 + (y - a.side / 2) ** 2) / (a.side**2 / 2)


def is_seen(a, x, y):
    middle = (a.side - 1) / 2
    circle = np.hypot(x - middle, y - middle) <= a.side / 2 - a.border if a.border else True
    return circle & (x + y >= a.corner)


def draw(a, sources, random):
    """The image in units of the noise, with NaN for what is blank."""
    y, x = np.arange(a.side)[:, None], np.arange(a.side)
    image = noise(a, random)
    if a.noise_rise:
        image *= noise_at(a, x, y)
    if a.slope:
        image += a.slope * (x / a.side - 0.5)
    add_sources(image, sources)
    if a.border or a.corner:
        image[~is_seen(a, x, y)] = np.nan
    return image


def world(a, x, y):
    """RA and DEC of pixels, by the orthographic projection (Calabretta and Greisen 2002, A&A 395,
    1077, sec. 5.1.5)."""
    middle, pole = a.side / 2, math.radians(CENTRE[1])
    east, north = np.radians(-CELL * (x - middle)), np.radians(CELL * (y - middle))
    towards = np.sqrt(1 - east**2 - north**2)
    dec = np.arcsin(north * math.cos(pole) + towards * math.sin(pole))
    ra = np.arctan2(east, towards * math.cos(pole) - north * math.sin(pole))
    return (CENTRE[0] + np.degrees(ra)) % 360, np.degrees(dec)


def header(cards):
    """The bytes of a FITS header."""

    def text(value):
        return "T" if value is True else "'%-8s'" % value if isinstance(value, str) else repr(value)

    lines = ["%-8s= %20s" % (name, text(value)) for name, value in cards] + ["END"]
    whole = "".join(line.ljust(80) for line in lines)
    return whole.ljust(-(-len(whole) // 2880) * 2880).encode("ascii")


def image_cards(side, bitpix, beam, cell, centre):
    """What the header of a square image in Jy/beam has; the beam and the cell in degrees."""
    cards = [
        ("SIMPLE", True),
        ("BITPIX", bitpix),
        ("NAXIS", 2),
        ("NAXIS1", side),
        ("NAXIS2", side),
        ("BUNIT", "JY/BEAM"),
        ("BMAJ", beam[0]),
        ("BMIN", beam[1]),
        ("BPA", beam[2]),
        ("RADESYS", "ICRS"),
        ("RESTFRQ", 1.4e9),
    ]
    for axis, kind, value, step in (1, "RA---SIN", centre[0], -cell), (
        2,
        "DEC--SIN",
        centre[1],
        cell,
    ):
        cards += [
            ("CTYPE%d" % axis, kind),
            ("CRVAL%d" % axis, value),
            ("CRPIX%d" % axis, side / 2 + 1),
            ("CDELT%d" % axis, step),
            ("CUNIT%d" % axis, "deg"),
        ]
    return cards


def write_image(a, image):
    beam = a.beam[0] * CELL, a.beam[1] * CELL, a.beam[2]
    cards = image_cards(a.side, a.bitpix, beam, CELL, CENTRE)
    if a.bitpix == 16:
        cards += [("BSCALE", NOISE / LEVELS), ("BZERO", 0.0), ("BLANK", BLANK)]
    with open(a.output, "wb") as stream:
        stream.write(header(cards))
        for row in image:
            if a.bitpix == 16:
                levels = np.rint(LEVELS * np.nan_to_num(row)).clip(BLANK + 1, -BLANK - 1)
                values = np.where(np.isnan(row), BLANK, levels)
            else:
                values = row * np.float64(NOISE)
            stream.write(values.astype(KINDS[a.bitpix]).tobytes())
        stream.write(bytes(-stream.tell() % 2880))


def write_truth(a, sources):
    x, y, peak, width, *shape = (column[is_seen(a, *sources[:2])] for column in sources)
    major, minor, angle = axes(*(width**2 * value for value in shape))
    beam_area = a.beam[0] * a.beam[1]
    with open(a.output.rsplit(".fits", 1)[0] + ".truth.csv", "w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["x", "y", "ra", "dec", "peak", "flux", "fwhm", "snr", "maj", "min", "pa"])
        for row in zip(
            x,
            y,
            *world(a, x, y),
            NOISE * peak,
            NOISE * peak * major * minor / beam_area,
            np.sqrt(major * minor),
            peak / noise_at(a, x, y),
            major,
            minor,
            angle,
        ):
            writer.writerow(
                ["%.10g" % value for value in row[:2]]
                + ["%.12g" % value for value in row[2:4]]
                + ["%.9g" % value for value in row[4:]]
            )


def make(given=None):
    """Writes both files; given are arguments, as of the command line."""
    a = arguments(given)
    random = np.random.default_rng(a.seed)
    sources = [np.concatenate(columns) for columns in zip(draw_sources(a, random), draw_wide(a))]
    write_image(a, draw(a, sources, random))
    write_truth(a, sources)


if __name__ == "__main__":
    make()

"""What the scripts beside it share: skies that are not what fits hope for, with what is true of
them.

Points that are narrower or wider than the beam, sources of several parts, arcs, sources that blanks
cut, beams of few pixels, fields where north turns, artefacts around bright sources. The noise is
known, and its autocorrelation is the beam.

Brightness is in units of the noise, lengths are pixels of 2 arcsec (20 in the wide fields), angles
degrees from +y towards -x.
"""
import os
import sys
from typing import Callable, NamedTuple, Optional

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy import ndimage

from known import sky

BEAM = 5.0, 5.0, 0.0
ROUND = np.sqrt(BEAM[0] * BEAM[1])
REACH = 6  # beams around the image in which the centres of sources and entries may lie
# an object's brightness where an entry may belong to it, and where its residual counts
FAINTEST = 0.3, 3.0


class Object(NamedTuple):
    """One source, or several that are one thing to a catalogue."""

    group: str  # of its row in the table
    parts: np.ndarray  # Gaussians as the beam leaves them: x, y, peak, FWHM of both axes, angle
    core: bool = True  # the first part is the brightest, and its position is that of the object
    # axes and angle without the beam, of objects that are judged by them
    intrinsic: tuple = (np.nan, np.nan, np.nan)


class Plan(NamedTuple):
    """A sky that is to be drawn; the functions take arrays of x and y."""

    name: str
    side: int
    objects: list
    beam: tuple = BEAM
    centre: tuple = sky.CENTRE
    cell: float = sky.CELL
    is_blank: Optional[Callable] = None
    artefacts: Optional[Callable] = None


class Sky:
    """A plan with its noise: the image, and which of its pixels belong to which object."""

    def __init__(self, plan, path, random):
        """Writes the image to the path, unless it is there."""
        self.plan, self.path = plan, path
        a = sky.arguments([str(plan.side), path, "--beam", "%g,%g,%g" % plan.beam])
        self.margin = int(REACH * plan.beam[0])
        everything = self.draw_objects()
        self.image = sky.noise(a, random) + self.inner(everything)
        y, x = np.mgrid[: plan.side, : plan.side]
        if plan.artefacts:
            self.image += plan.artefacts(x, y)
        if plan.is_blank:
            self.image[plan.is_blank(x, y)] = np.nan
        beam = plan.beam[0] * plan.cell, plan.beam[1] * plan.cell, plan.beam[2]
        header = fits.Header(sky.image_cards(plan.side, -32, beam, plan.cell, plan.centre))
        self.wcs = WCS(header)
        pixels = (self.image * sky.NOISE).astype(np.float32)
        if not os.path.exists(path):
            fits.writeto(path, pixels, header)
        elif not np.array_equal(fits.getdata(path), pixels, equal_nan=True):
            sys.exit("%s is another sky than would be made now: empty its directory" % path)

    def inner(self, canvas):
        """What is left of an array without the margins."""
        return canvas[self.margin : -self.margin, self.margin : -self.margin]

    def draw(self, parts):
        """The sum of Gaussians, on the image and its margin."""
        canvas = np.zeros((self.plan.side + 2 * self.margin,) * 2)
        shapes = np.array([sky.covariance(part[3:]) for part in parts]).reshape(-1, 3)
        x, y, peak = parts[:, :3].T
        sky.add_sources(
            canvas, (x + self.margin, y + self.margin, peak, np.ones(len(parts)), *shapes.T)
        )
        return canvas

    def draw_objects(self):
        """Sets `owner`, the object that is brightest there, or -1, and `brightness`, its own; both
        with margins. Returns the sum of all."""
        everything, self.owner = 0, -1
        self.brightness = FAINTEST[0]
        for i, thing in enumerate(self.plan.objects):
            own = self.draw(thing.parts)
            everything = everything + own
            self.owner = np.where(own > self.brightness, i, self.owner)
            self.brightness = np.maximum(own, self.brightness)
        return everything

    def owners(self, x, y):
        """For entries at these places the objects that they belong to, or -1."""
        column, row = (
            np.rint(np.nan_to_num(value, nan=-1e9)).astype(int) + self.margin for value in (x, y)
        )
        inside = (
            (column >= 0)
            & (row >= 0)
            & (column < self.owner.shape[1])
            & (row < self.owner.shape[0])
        )
        return np.where(inside, self.owner[row * inside, column * inside], -1)

    def residuals(self, parts):
        """For each object the rms of image - model where it shines; NaN where it does so on blank
        pixels alone."""
        squares = (self.image - self.inner(self.draw(parts))) ** 2
        shines = np.isfinite(squares) & (self.inner(self.brightness) > FAINTEST[1])
        owner = self.inner(self.owner)[shines]
        count, total = (
            np.bincount(owner, weights, len(self.plan.objects))
            for weights in (None, squares[shines])
        )
        return np.sqrt(np.where(count, total, np.nan) / np.maximum(count, 1))

    def flux(self, thing):
        """In Jy."""
        return (
            sky.NOISE
            * (thing.parts[:, 2:5].prod(axis=1) / (self.plan.beam[0] * self.plan.beam[1])).sum()
        )


def between(random, low, high, n=None):
    """Random numbers, as many between 1 and 2 as between 10 and 20."""
    return np.exp(random.uniform(np.log(low), np.log(high), n))


def grid(random, each_way, cell):
    """Places in the middles of cells, but for a tenth of a cell."""
    middles = (np.arange(each_way) + 0.5) * cell
    x, y = (values.ravel() for values in np.meshgrid(middles, middles))
    return np.column_stack([x, y]) + random.uniform(-0.1, 0.1, (len(x), 2)) * cell


def gaussian(place, peak, size, beam=BEAM):
    """A part with `size` times the beam's axes."""
    return np.array([[*place, peak, size * beam[0], size * beam[1], beam[2]]])


def points(random):
    for psf in 0.94, 0.98, 1.0, 1.02, 1.06:
        peaks = np.sort(between(random, 6, 1000, 100))
        group = "PSF %.2f, %%s rms" % psf
        yield Plan(
            "psf%g" % psf,
            550,
            [
                Object(
                    group % ("6 to 20" if peak < 20 else "20 to 1000"), gaussian(place, peak, psf)
                )
                for place, peak in zip(grid(random, 10, 55), peaks)
            ],
        )


def cores(random):
    for psf in 0.94, 1.0:
        objects = []
        for i, place in enumerate(grid(random, 8, 100)):
            if i < 16:
                group, core, wide = (
                    "core on a patch, PSF %.2f",
                    400,
                    gaussian(place + (6, 3), 200, 11 / ROUND),
                )
            else:
                core, times = (100, 300)[i % 2], (2, 4)[i // 40]
                group = "core in a halo %d times as wide, PSF %%.2f" % times
                wide = gaussian(place, core * random.uniform(0.05, 0.15), times * psf)
            objects.append(Object(group % psf, np.concatenate([gaussian(place, core, psf), wide])))
        yield Plan("psf%g" % psf, 800, objects)


def arc(random, place, peak, span):
    """A part of a ring, of Gaussians that stand so close that it is smooth."""
    radius, thick = random.uniform(3, 8) * ROUND, random.uniform(1, 2) * ROUND
    n = int(np.ceil(np.radians(span) * radius / (ROUND / 4)))
    step = np.radians(span) * radius / n
    turns = np.radians(random.uniform(0, 360) + np.arange(n) * span / n)
    each = peak * step / thick / np.sqrt(np.pi / (4 * np.log(2)))
    return np.column_stack(
        [
            place[0] + radius * np.cos(turns),
            place[1] + radius * np.sin(turns),
            *(np.full(n, value) for value in (each, thick, thick, 0)),
        ]
    )


def arcs(random):
    objects = []
    for i, place in enumerate(grid(random, 6, 130)):
        whole, (low, high) = i < 18, ((10, 30), (30, 100), (100, 300))[i // 6 % 3]
        parts = arc(
            random, place, between(random, low, high), 360 if whole else random.uniform(60, 300)
        )
        objects.append(
            Object(
                "%s, %d to %d rms" % ("rings" if whole else "arcs", low, high), parts, core=False
            )
        )
    yield Plan("arcs", 780, objects)


def cuts(random):
    """Sources at the image's edges and on the flanks of two blank stripes, one of which leans."""
    side = 640

    def is_blank(x, y):
        return (abs(x - 160) < 10) | (abs(x - 440 + 0.35 * (y - 320)) < 10)

    y, x = np.mgrid[-10 : side + 10, -10 : side + 10]
    seen = (x >= 0) & (x < side) & (y >= 0) & (y < side) & ~is_blank(x, y)
    inside = (ndimage.distance_transform_edt(seen) - ndimage.distance_transform_edt(~seen)) / ROUND
    free, objects = np.ones_like(seen), []
    for low, high, group in 20 * [
        (-0.5, 0, "up to half a beam outside"),
        (0, 1, "0 to 1 beams inside"),
        (1, 2, "1 to 2 beams inside"),
    ]:
        choice = np.flatnonzero(free & (inside >= low) & (inside < high))
        if len(choice):
            chosen = random.choice(choice)
            place = np.array([x.flat[chosen], y.flat[chosen]])
            free &= np.hypot(x - place[0], y - place[1]) > 11 * ROUND
            objects.append(
                Object(
                    group,
                    gaussian(place + random.uniform(-0.5, 0.5, 2), between(random, 10, 1000), 1),
                )
            )
    yield Plan("cuts", side, objects, is_blank=is_blank)


def beams(random):
    for beam in (
        (3, 3, 0),
        (4, 4, 0),
        (5, 5, 0),
        (8, 8, 0),
        (12, 12, 0),
        (4, 3, 20),
        (8, 4, 60),
        (12, 7, 130),
    ):
        cell, objects = 11 * beam[0], []
        for i, place in enumerate(grid(random, 8, cell)):
            peak, wide = between(random, 6, 1000), i >= 40
            group = "%d x %d, %s" % (*beam[:2], "twice as wide" if wide else "points")
            objects.append(Object(group, gaussian(place, peak, 2 if wide else 1, beam)))
        yield Plan("beam%d_%d" % beam[:2], 8 * cell, objects, beam)


def turns(random):
    """Fields where north turns, under beams that are the same everywhere in pixels, as those of
    interferometers are."""
    for name, title, beam, side, centre, cell in (
        ("pole", "pole", (10, 5, 0), 540, (0.0, 90.0), sky.CELL),
        ("dec80", "5 degrees at DEC 80", (10, 5, 0), 900, (180.0, 80.0), 20 / 3600),
        ("dec-75", "5 degrees at DEC -75", (9, 6, 50), 900, (30.0, -75.0), 20 / 3600),
    ):
        objects = []
        for i, place in enumerate(grid(random, 6, side / 6)):
            what, own = (
                ("points", (0, 0, 0)),
                ("8 x 8", (8, 8, 0)),
                ("12 x 6 at 30", (12, 6, 30)),
            )[i % 3]
            shape = sky.axes(*np.add(sky.covariance(beam), sky.covariance(own)))
            objects.append(
                Object("%s, %s" % (title, what), np.array([[*place, 200, *shape]]), intrinsic=own)
            )
        yield Plan(name, side, objects, beam, centre, cell)


def rings(distance, turn):
    return np.cos(2 * np.pi * distance / 2.5) * (1 - np.exp(-(distance**2)))


def spokes(distance, turn):
    """Twelve, every second one negative; none where they would be narrower than a beam."""
    return np.cos(6 * turn) ** 3 * (1 - np.exp(-((distance / 4) ** 4)))


def artefacts(random):
    """Rings and spokes around sources of 5,000 rms, with four faint points among them. They fade
    over 3 to 15 beams."""
    bright, faint, patterns = [], [], []
    for i, place in enumerate(grid(random, 4, 256)):
        pattern = (rings, spokes)[i // 8]
        patterns.append(
            (
                pattern,
                place,
                5000 * between(random, 0.001, 0.005),
                random.uniform(0, 2 * np.pi),
                between(random, 3, 15),
            )
        )
        bright.append(Object("5,000 rms, with %s" % pattern.__name__, gaussian(place, 5000, 1)))
        for quarter in range(4):
            distance, turn = random.uniform(5, 15) * ROUND, np.pi / 2 * (
                quarter + random.uniform(0.2, 0.8)
            )
            beside = place + distance * np.array([np.cos(turn), np.sin(turn)])
            faint.append(
                Object(
                    "20 to 100 rms, among %s" % pattern.__name__,
                    gaussian(beside, between(random, 20, 100), 1),
                )
            )

    def everything(x, y):
        total = 0
        for pattern, (x0, y0), height, turn, fade in patterns:
            distance = np.hypot(x - x0, y - y0) / ROUND
            total = total + height * np.exp(-distance / fade) * pattern(
                distance, np.arctan2(y - y0, x - x0) + turn
            )
        return total

    yield Plan("artefacts", 1024, bright + faint, artefacts=everything)


# Of each kind the title, and the plans that a random generator makes.
KINDS = {
    "points": ("points whose PSF is not the beam", points),
    "cores": ("cores on patches and in haloes", cores),
    "arcs": ("arcs and rings", arcs),
    "cuts": ("points that an edge or a blank stripe cuts", cuts),
    "beams": ("beams of 3 to 12 pixels", beams),
    "turns": ("fields where north turns", turns),
    "artefacts": ("artefacts around bright sources", artefacts),
}


def skies(kind, seed, shelf):
    """The skies of a kind, one after the other. The same seed gives the same ones, with one version
    of NumPy and SciPy."""
    random = np.random.default_rng(seed)
    for plan in KINDS[kind][1](random):
        yield Sky(plan, shelf.path("%s_%s_%d.fits" % (kind, plan.name, seed)), random)

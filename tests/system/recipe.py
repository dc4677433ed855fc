#!/usr/bin/env python3
"""usage: recipe.py BOX,STEP [IMAGE CATALOGUE]...

Fits the components of images as tools/fit_prototype.py of SRCFIND_TEST_DATA does, with what srcfind
does beyond that recipe (docs/components.md)."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.environ["SRCFIND_TEST_DATA"], "tools"))
import fit_prototype as recipe  # noqa: E402

LEAST_PEAK, COVERED = 1, 0.25  # rms; the share of a component that is on pixels of the fit
BEYOND = 0.471  # beam sigmas from a centre to the pixels of the fit
NEEDLE = 0.8  # beams, to which nothing long is narrower
BETTER = 0.8  # chi^2 of a free shape / of the beam's
# beam areas of chi^2 a component, by which steps 4 and 5 may fit all pixels worse
WORSE = 20
WIDER, NARROWER = 2, 3  # errors, between which a width is the beam's
ISLAND = 3  # rms above the background that an island's pixels pass
# of an island, from which on it is checked, and which its Gaussians may have
LEAST_ERRORS, MOST_FLUX = 10, 1.5
# beams between peaks, squares of it in an island at most, widths / it
APART, AN_AREA, WIDEST = 2, 16, 1.5
WIDE_ISLAND, WIDE_MARGIN = 15, 1.5  # beam areas, and FWHM of their margin


class Island:
    """The pixels of an island and its margin."""

    def __init__(self, u, v, data, inside):
        self.u, self.v, self.data, self.inside = u, v, data, inside
        x, y = np.linalg.solve(self.to_beam, [u, v])
        diagonals = self.to_beam @ [[np.ptp(x), np.ptp(x)], [np.ptp(y), -np.ptp(y)]]
        self.wide = max(1.5, 1 + np.hypot(*diagonals).max() / recipe.FWHM)

    def rest(self, sources):
        return self.data - recipe.model(sources, self.u, self.v)[0]

    def worse(self, n):
        return WORSE * n * 2 * np.pi / self.pixel_area

    def chi2(self, sources):
        return (self.rest(sources) ** 2).sum()

    def fit(self, sources, free, weight=None):
        use = slice(None) if weight is None else weight > 0.02
        return recipe.fit(
            sources,
            free,
            self.u[use],
            self.v[use],
            self.data[use],
            self.wide,
            1.0 if weight is None else weight[use],
        )

    def loose(self, sources):
        """The last component without a peak, that is on too few pixels, or that is a needle; -1 if
        there is none."""
        for i in range(len(sources) - 1, -1, -1):
            peak, u, v, p, q, r = sources[i]
            du, dv = self.u - u, self.v - v
            square = np.exp(-(p * du * du + 2 * q * du * dv + r * dv * dv)).sum()
            is_near = np.hypot(du, dv).min() < BEYOND + np.sqrt(self.pixel_area) / 2
            if (
                peak < LEAST_PEAK
                or not is_near
                or is_needle(sources[i])
                or square * self.pixel_area * np.sqrt(max(p * r - q * q, 0)) / np.pi < COVERED
            ):
                return i
        return -1


def errors_of_widths(source):
    major, minor = recipe.widths(source)
    size = major * minor / 4 * source[0] ** 2
    return (
        major * np.sqrt(2 / (size * (1 + major**-2) ** 2.5 * (1 + minor**-2) ** 0.5)),
        minor * np.sqrt(2 / (size * (1 + major**-2) ** 0.5 * (1 + minor**-2) ** 2.5)),
    )


def is_needle(source):
    major, minor = recipe.widths(source)
    return major > 1.25 and minor + 3 * errors_of_widths(source)[1] < NEEDLE


def step_1(island, start):
    """Sources, which are free, chi^2, and what it may be after step 2."""
    sources, free, origin = start.copy(), [True] * len(start), list(range(len(start)))
    most, chi2 = np.inf, 0
    while len(sources):
        sources, chi2, _ = island.fit(sources, free)
        k = island.loose(sources)
        if k < 0:
            break
        if free[k]:
            sources[k], free[k] = recipe.beam_shaped(start[origin[k]]), False
            most = chi2 + island.worse(1) if len(start) == 1 else np.inf
        else:
            sources, free, origin = (
                np.delete(sources, k, 0),
                free[:k] + free[k + 1 :],
                origin[:k] + origin[k + 1 :],
            )
    return sources, free, chi2, most


def step_2(island, sources, free, chi2):
    for _ in range(3):
        rest = np.where(island.inside, island.rest(sources), -9)
        k = np.argmax(rest)
        if rest[k] <= 4:
            break
        more = np.vstack([sources, [rest[k], island.u[k], island.v[k], 1, 0, 1]])
        trial, trial_chi2, _ = island.fit(more, free + [False])
        if trial_chi2 >= chi2 or trial[-1, 0] < 5 or island.loose(trial) >= 0:
            break
        sources, free, chi2 = trial, free + [False], trial_chi2
        trial, trial_chi2, _ = island.fit(sources, free[:-1] + [True])
        if trial_chi2 < BETTER * chi2 and trial[-1, 0] >= 5 and island.loose(trial) < 0:
            sources, free, chi2 = trial, free[:-1] + [True], trial_chi2
    return sources, free, chi2


def step_3(island, sources, free, chi2):
    for k in range(len(sources)):
        major, minor = recipe.widths(sources[k])
        if len(sources) >= recipe.GROUP or not free[k] or major <= 1.25 or major <= 1.25 * minor:
            continue
        p, q, r = sources[k, 3:]
        axis = 0.5 * np.arctan2(2 * q, p - r) + np.pi / 2
        way = np.array([np.cos(axis), np.sin(axis)]) * np.sqrt(max(major**2 - 1, 0.2))
        pair = np.array([recipe.beam_shaped(sources[k])] * 2)
        pair[:, 0] *= 0.5 * major * minor
        pair[:, 1:3] += [way, -way]
        pair_free = free[:k] + [False] + free[k + 1 :] + [False]
        trial, trial_chi2, _ = island.fit(
            np.vstack([sources[:k], pair[:1], sources[k + 1 :], pair[1:]]), pair_free
        )
        if (
            trial_chi2 < BETTER * chi2
            and min(trial[k, 0], trial[-1, 0]) >= 5
            and island.loose(trial) < 0
            and np.hypot(*(trial[k, 1:3] - trial[-1, 1:3])) > 1.4
        ):
            sources, free, chi2 = trial, pair_free, trial_chi2
    return sources, free, chi2


def is_beam_width(width, error):
    return -NARROWER * error < width - 1 < WIDER * error


def step_4(island, sources, free, most):
    before, free_before = sources.copy(), list(free)
    for k, source in enumerate(sources):
        major, minor = recipe.widths(source)
        e_major, e_minor = errors_of_widths(source)
        if free[k] and is_beam_width(major, e_major) and is_beam_width(minor, e_minor):
            sources[k], free[k] = recipe.beam_shaped(source), False
    return (sources, free) if island.chi2(sources) <= most else (before, free_before)


def improve(island, sources, free, weight=None):
    trial, _, hit = island.fit(sources, free, weight)
    return sources if hit or island.loose(trial) >= 0 else trial


def exponent(source):
    """Of a source's shape, in the weights of its core."""
    major, minor = recipe.widths(source)
    return 2 / max(major * minor, 1) ** 1.5


def step_5(island, sources, free, most):
    core = np.max(
        [
            recipe.model([[1, *s[1:3], *exponent(s) * s[3:]]], island.u, island.v)[0]
            for s in sources
        ],
        axis=0,
    )
    if (core > 0.02).sum() < 7 * len(sources):
        return sources
    narrow = improve(island, sources, free, core)
    return narrow if island.chi2(narrow) <= most else improve(island, sources, free)


def has_too_much_flux(island, sources):
    own, beam = island.data[island.inside], 2 * np.pi / island.pixel_area
    flux = sum(s[0] * beam / np.sqrt(s[3] * s[5] - s[4] ** 2) for s in sources)
    return own.sum() >= LEAST_ERRORS * np.sqrt(
        len(own) * min(len(own), max(beam, 1))
    ) and flux > MOST_FLUX * own.sum() / (1 - ISLAND / own.max())


def more_peaks(island, start, apart):
    """The start of the second fit: the peaks, and the highest of the pixels that are not near those
    before."""
    peaks = list(start)
    for k in np.argsort(-island.data, kind="stable"):
        at = island.u[k], island.v[k]
        if island.inside[k] and min(np.hypot(*(p[1:3] - at)) for p in peaks) > apart * recipe.FWHM:
            peaks.append(np.array([island.data[k], *at, 1, 0, 1]))
    return np.array(peaks)


def fit_island(u, v, data, inside, start):
    island = Island(u, v, data, inside)
    sources, free = fit_from(island, start)
    if not has_too_much_flux(island, sources):
        return sources, free
    apart = max(APART, np.sqrt(inside.sum() / AN_AREA * island.pixel_area) / recipe.FWHM)
    island.wide = min(island.wide, WIDEST * apart)
    sources, free = fit_from(island, more_peaks(island, start, apart))
    return (sources[:0], []) if has_too_much_flux(island, sources) else (sources, free)


def fit_from(island, start):
    if len(start) > recipe.GROUP:  # where the recipe has other groups
        return original(island.u, island.v, island.data, island.inside, start)
    sources, free, chi2, most = step_1(island, start)
    if len(sources):
        sources, free, chi2 = step_2(island, sources, free, chi2)
        if chi2 > most:
            return sources[:0], []
        sources, free, chi2 = step_3(island, sources, free, chi2)
        most = chi2 + island.worse(len(sources))
        sources, free = step_4(island, sources, free, most)
        sources = step_5(island, sources, free, most)
    return sources, free


def beam_frame(header):
    to_beam, area, fwhm = original_frame(header)
    Island.to_beam, Island.pixel_area = to_beam, np.linalg.det(to_beam)
    Island.fwhm = fwhm * (1 + 1e-6)  # pixels at just half a beam are in the margin
    return to_beam, area, Island.fwhm * WIDE_MARGIN * 2


def scales(matrix, free):
    """What the damping is multiplied by: the diagonal, of centres and forms its mean over all
    directions."""
    result, k = np.diag(matrix).copy(), 0
    for is_free in free:
        result[k + 1 : k + 3] = result[k + 1 : k + 3].mean()
        if is_free:
            p, q, r = result[k + 3 : k + 6]
            mean = (p + q / 2 + r) / 3
            result[k + 3 : k + 6] = mean, 2 * mean, mean
        k += 6 if is_free else 3
    return np.maximum(result, 1e-12)


def fit(start, free, u, v, data, wide, weight=1.0, rounds=50):
    """recipe.fit, with these scales."""
    sources, damping, hit = start.copy(), 1e-3, False
    varied = [6 * i + k for i, is_free in enumerate(free) for k in range(6 if is_free else 3)]

    def evaluate(sources):
        total, slopes = recipe.model(sources, u, v)
        rest = (data - total) * weight
        return rest, slopes[varied] * weight, rest @ rest

    rest, slopes, chi2 = evaluate(sources)
    for _ in range(rounds):
        matrix, gradient = slopes @ slopes.T, slopes @ rest
        for _ in range(12):
            trial = sources.copy()
            damped = matrix + damping * np.diag(scales(matrix, free))
            trial.ravel()[varied] += np.linalg.solve(damped, gradient)
            trial_hit = recipe.bound(trial, start, free, wide)
            trial_rest, trial_slopes, trial_chi2 = evaluate(trial)
            if trial_chi2 < chi2:
                break
            damping *= 10
        else:
            return sources, chi2, hit
        gain = chi2 - trial_chi2
        sources, rest, slopes, chi2, hit = trial, trial_rest, trial_slopes, trial_chi2, trial_hit
        damping = max(damping / 10, 1e-9)
        if gain < 0.1 * max(chi2, 1e-12) / len(data) and gain < 0.1:
            break
    return sources, chi2, hit


class Images:
    """scipy.ndimage, but for the margin: it is wide around wide islands alone."""

    def __getattr__(self, name):
        return getattr(images, name)

    def binary_dilation(self, own, disc):
        beam = np.pi * Island.fwhm**2 / (4 * np.log(2))
        if own.sum() <= WIDE_ISLAND * beam:
            reach = disc.shape[0] // 2
            y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
            disc = x * x + y * y <= (Island.fwhm / 2) ** 2
        return images.binary_dilation(own, disc)


def nodes(image, size, step, kappa):
    """Without bright wide islands (SPEC, "Local noise")."""
    squared = Island.beam_squared
    out = [noise.left_out(sign * image, size, kappa, squared) for sign in (1, -1)]
    return original_nodes(image, size, step, kappa, out[0] | out[1])


images, recipe.ndimage = recipe.ndimage, Images()
original, original_frame = recipe.fit_island, recipe.beam_frame
noise, original_nodes = recipe.noise, recipe.noise.nodes
noise.nodes = nodes
recipe.fit, recipe.fit_island, recipe.beam_frame = fit, fit_island, beam_frame
boxes, *files = sys.argv[1:]
for image, catalogue in zip(files[::2], files[1::2]):
    sys.argv[1:] = image, boxes, "-o", catalogue
    Island.beam_squared = noise.beam_squared(recipe.load(image)[1])
    recipe.main()

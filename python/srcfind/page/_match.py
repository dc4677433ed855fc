"""Matches of positions on the sky: finds the pairs of two lists within a radius."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

_AT_A_TIME = 1 << 20  # so many pairs are tried at once


def vectors(longitude: ArrayLike, latitude: ArrayLike) -> Array:
    """Unit vectors of positions in degrees, a row each."""
    lon, lat = np.radians(np.asarray(longitude, float)), np.radians(np.asarray(latitude, float))
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def tangents(centres: Array) -> tuple[Array, Array]:
    """Unit vectors to the east and to the north at unit vectors. At a pole, east is that of
    longitude 0."""
    east = np.stack([-centres[..., 1], centres[..., 0], np.zeros(centres.shape[:-1])], axis=-1)
    length = np.linalg.norm(east, axis=-1, keepdims=True)
    east = np.where(length > 1e-12, east / np.maximum(length, 1e-12), [0.0, 1.0, 0.0])
    return east, np.cross(centres, east)


def offsets(of: Array, to: Array) -> Array:
    """From unit vectors to others near them: degrees to the east (RA times cos Dec) and to the
    north, a row each."""
    east, north = tangents(of)
    return np.asarray(np.degrees(np.stack([(to * east).sum(-1), (to * north).sum(-1)], axis=-1)))


def _runs(first: Array, end: Array) -> tuple[Array, Array]:
    """Every j of first[i] <= j < end[i], beside its i."""
    counts = end - first
    i = np.repeat(np.arange(len(first)), counts)
    return i, np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(
        first, counts
    )


def _blocks(counts: Array) -> list[Array]:
    """Indices in blocks whose counts sum to some _AT_A_TIME."""
    block = np.cumsum(counts) // _AT_A_TIME
    return np.split(np.arange(len(counts)), np.flatnonzero(np.diff(block)) + 1)


def pairs(of: Array, others: Array, radius: float) -> tuple[Array, Array, Array]:
    """All pairs of two lists of unit vectors within a radius (degrees): both indices, and the
    separation in degrees. The second list is sorted by height above the equator's plane, so that
    each position is tried only with a thin belt of the sky. Poles and right ascension 0 need no
    special case.
    """
    chord = 2 * np.sin(np.radians(min(radius, 180.0)) / 2)
    order = np.argsort(others[:, 2], kind="stable")
    belt = others[order]
    first = np.searchsorted(belt[:, 2], of[:, 2] - chord, "left")
    end = np.searchsorted(belt[:, 2], of[:, 2] + chord, "right")
    found: list[tuple[Array, Array, Array]] = [(np.zeros(0, int), np.zeros(0, int), np.zeros(0))]
    for block in _blocks(end - first):
        i, j = _runs(first[block], end[block])
        i = block[i]
        distance = np.linalg.norm(of[i] - belt[j], axis=-1)
        near = distance <= chord
        found.append((i[near], order[j[near]], distance[near]))
    i, j, distance = (np.concatenate(part) for part in zip(*found))
    return i, j, np.degrees(2 * np.arcsin(np.minimum(distance / 2, 1)))


def nearest(of: Array, others: Array, radius: float) -> tuple[Array, Array]:
    """For each unit vector the index of the nearest other one within a radius (degrees), -1 if
    there is none; and how far."""
    i, j, separation = pairs(of, others, radius)
    index, distance = np.full(len(of), -1), np.full(len(of), np.nan)
    order = np.lexsort((j, separation))[::-1]  # the nearest is written last
    index[i[order]], distance[i[order]] = j[order], separation[order]
    return index, distance


def lone(positions: Array, radius: float) -> Array:
    """Which unit vectors have no other unit vector of the list within a radius (degrees)."""
    i, _, _ = pairs(positions, positions, radius)
    return np.bincount(i, minlength=len(positions)) <= 1


def matches(of: Array, others: Array, radius: float) -> tuple[Array, Array]:
    """Certain pairs: within a radius (degrees), and both without a neighbour in their own list
    within twice the radius."""
    index, _ = nearest(of, others, radius)
    sure = (index >= 0) & lone(of, 2 * radius)
    sure[sure] = lone(others, 2 * radius)[index[sure]]
    return np.flatnonzero(sure), index[sure]

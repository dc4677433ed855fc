"""A map of footprints on the sky, as an svg element whose colours a page can choose."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from srcfind.page._match import tangents, vectors
from srcfind.page._numbers import number_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LARGEST, _LEFT, _BOTTOM, _TOP = 760, 64, 30, 10  # pixels
# degrees between lines
_STEPS = (90, 45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_LINES = 6  # about so many lines of each coordinate
_ALONG = 181  # so many points make a line
_INSIDE = "tick rule"  # the class of labels on the map


@dataclass(frozen=True)
class Place:
    """A footprint: its corners (longitude and latitude in degrees, a row each), a text, a link or
    "", whether it is marked, and a colour for each way of colouring."""

    corners: Array
    text: str
    link: str
    is_marked: bool
    colours: dict[str, str]


class _Projection:
    """Lambert's azimuthal equal-area projection around a place, in pixels; east is at the left."""

    def __init__(self, corners: Array) -> None:
        points = vectors(corners[:, 0], corners[:, 1])
        middle = points.sum(0)
        if np.linalg.norm(middle) < 1e-6 * len(points):
            middle = points[0]
        self.centre = middle / np.linalg.norm(middle)
        self.east, self.north = tangents(self.centre)
        self.scale, self.shift = 1.0, np.zeros(2)
        at = self._plane(corners)
        low, high = at.min(0), at.max(0)
        size = np.maximum(high - low, 1e-9)
        margin = 0.06 * size.max()
        self.scale = _LARGEST / float(size.max() + 2 * margin)
        self.shift = low - margin
        self.width, self.height = ((size + 2 * margin) * self.scale).tolist()

    def _plane(self, positions: Array) -> Array:
        at = vectors(positions[..., 0], positions[..., 1])
        factor = np.sqrt(2 / np.maximum(1 + at @ self.centre, 1e-6))
        return np.stack([-factor * (at @ self.east), -factor * (at @ self.north)], axis=-1)

    def pixels(self, positions: Array) -> Array:
        """x and y, a row each, of longitudes and latitudes in degrees."""
        return (self._plane(positions) - self.shift) * self.scale


def _path(points: Array, end: str = "") -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist()) + end


# --- the lines of the coordinates ---


def _span(corners: Array) -> tuple[float, float, float, float]:
    """Least and greatest longitude (of which the first may be negative) and latitude, a bit beyond
    the footprints."""
    low, high = float(corners[:, 1].min()), float(corners[:, 1].max())
    middle = math.degrees(
        math.atan2(np.sin(np.radians(corners[:, 0])).sum(), np.cos(np.radians(corners[:, 0])).sum())
    )
    away = (corners[:, 0] - middle + 180) % 360 - 180
    margin = 0.2 * max(high - low, 1e-3)
    wide = margin / max(math.cos(math.radians(max(abs(low), abs(high)))), 0.01)
    west, east = middle + float(away.min()) - wide, middle + float(away.max()) + wide
    if east - west > 300 or max(abs(low), abs(high)) > 88:
        west, east = middle - 180, middle + 180
    return west, east, max(low - margin, -90), min(high + margin, 90)


def _ticks(low: float, high: float) -> list[float]:
    step = next((step for step in _STEPS if (high - low) / step >= _LINES / 1.5), _STEPS[-1])
    return [round(i * step, 6) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _crossing(points: Array, axis: int, value: float, length: float) -> float | None:
    """Where a line crosses a border of the frame (where coordinate `axis` has a value), along that
    border; None where it does not."""
    for before, after in zip(points[:-1], points[1:]):
        if (before[axis] - value) * (after[axis] - value) <= 0 and before[axis] != after[axis]:
            share = (value - before[axis]) / (after[axis] - before[axis])
            at = float(before[1 - axis] + share * (after[1 - axis] - before[1 - axis]))
            if 12 <= at <= length - 12:
                return at
    return None


class _Labels:
    """Labels of lines, each where it covers no other one: on the left or lower border, or inside
    the map for lines that do not reach that."""

    def __init__(self, projection: _Projection) -> None:
        self.projection = projection
        self.boxes: list[tuple[float, float, float]] = []
        self.texts: list[str] = []

    def _add(self, x: float, y: float, degrees: float, anchor: str, kind: str = "tick") -> None:
        text = f"{number_text(degrees)}°"
        middle, width = x - (20 if anchor == "end" else 0), 7.0 * len(text) + 12
        if any(
            abs(y - v) < 16 and abs(middle - u) < (width + other) / 2 for u, v, other in self.boxes
        ):
            return
        self.boxes.append((middle, y, width))
        self.texts.append(
            f'<text class="{kind}" x="{_LEFT + x:.1f}" y="{_TOP + y + 4:.1f}" text-anchor="{anchor}">{text}</text>'
        )

    def parallel(self, degrees: float, points: Array) -> None:
        """The label of a line of one latitude."""
        height, middle = self.projection.height, self.projection.width / 2
        at = _crossing(points, 0, 0, height)
        if at is not None:
            self._add(-6, at, degrees, "end")
        elif (inside := _crossing(points, 0, middle, height)) is not None:
            self._add(middle, inside, degrees, "middle", _INSIDE)

    def meridian(self, degrees: float, points: Array) -> None:
        """The label of a line of one longitude."""
        width, middle = self.projection.width, self.projection.height / 2
        at = _crossing(points, 1, self.projection.height, width)
        if at is not None:
            self._add(at, self.projection.height + 12, degrees, "middle")
        elif (inside := _crossing(points, 1, middle, width)) is not None:
            self._add(inside, middle, degrees, "middle", _INSIDE)


def _grid(projection: _Projection, corners: Array) -> tuple[str, str]:
    """The lines, and their labels."""
    west, east, low, high = _span(corners)
    lines, labels = [], _Labels(projection)
    for lat in _ticks(low, high):
        points = projection.pixels(
            np.column_stack([np.linspace(west, east, _ALONG), np.full(_ALONG, lat)])
        )
        lines.append(_path(points))
        labels.parallel(lat, points)
    for lon in sorted({round(lon % 360, 6): lon for lon in _ticks(west, east)}.values()):
        points = projection.pixels(
            np.column_stack([np.full(_ALONG, lon), np.linspace(low, high, _ALONG)])
        )
        lines.append(_path(points))
        labels.meridian(lon % 360, points)
    return f'<path class="grid" d="{"".join(lines)}"/>', "".join(labels.texts)


# --- the map ---


def _shape(place: Place, number: int, points: Array) -> str:
    colours = ";".join(f"--{name}:{colour}" for name, colour in place.colours.items())
    href = f' href="{escape(place.link)}"' if place.link else ""
    marked = " odd" if place.is_marked else ""
    return (
        f'<a class="tile{marked}" id="tile-{number}" tabindex="-1" style="{escape(colours)}"{href}>'
        f'<title>{escape(place.text)}</title><path d="{_path(points, "z")}"/></a>'
    )


def draw_map(places: Sequence[Place], numbers: Sequence[int], title: str) -> Markup:
    """The map. Each footprint is an element `#tile-N` of the class `tile`, with its colours as
    properties of CSS; those that are marked are drawn last, and have the class `odd`, too."""
    corners = np.concatenate([place.corners for place in places])
    projection = _Projection(corners)
    lines, labels = _grid(projection, corners)
    order = sorted(range(len(places)), key=lambda i: places[i].is_marked)
    shapes = "".join(
        _shape(places[i], numbers[i], projection.pixels(places[i].corners)) for i in order
    )
    width, height = _LEFT + projection.width + 10, _TOP + projection.height + _BOTTOM
    size = f'width="{projection.width:.0f}" height="{projection.height:.0f}"'
    return Markup(
        f'<svg class="plot skymap" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="group" '
        f'aria-label="{escape(title)}"><svg x="{_LEFT}" y="{_TOP}" {size}>{lines}{shapes}</svg>'
        f'<rect x="{_LEFT}" y="{_TOP}" {size} fill="none" stroke="#000"/>{labels}</svg>'
    )

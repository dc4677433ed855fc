"""Plots in SVG: a frame with two axes, and layers that are drawn in it.

    frame = Frame(axis_over("S/N", snr, log=True), axis_over("Maj (arcsec)", maj))
    draw(frame, [Points(snr, maj, "sources")], "Maj against S/N")

Values that are not finite, or not positive on a logarithmic axis, are not drawn. All points of a
layer are one path, so that a plot of 20,000 sources stays small. Texts may be anything: they are
escaped. Colours are those of Okabe and Ito, which the colour-blind tell apart; layers differ in
shape or in their labels, too.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike, NDArray

from srcfind.page._numbers import number_text

Reals = NDArray[Any]

BLACK, GREY = "#000000", "#767676"
BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#56B4E9",
    "#CC79A7",
)

_ABSURD = 1e100  # values that no axis shows
_CHARACTER = 6.4  # mean width of one in a label, in pixels


# --- axes ---


@dataclass(frozen=True)
class Axis:
    """An axis with its range; high may be below low. is_whole: of whole numbers, and so are its
    ticks."""

    label: str
    low: float
    high: float
    log: bool = False
    is_whole: bool = False

    def place(self, values: ArrayLike) -> Reals:
        """The places of values: 0 at the low end, 1 at the high end; NaN for a value that a
        logarithmic axis does not have."""
        at = np.asarray(values, float)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                at = np.log10(np.where(at > 0, at, np.nan))
            low, high = math.log10(low), math.log10(high)
        return (at - low) / (high - low)


def axis_over(label: str, values: ArrayLike, log: bool = False, margin: float = 0.05) -> Axis:
    """An axis that holds all values, with a margin on both sides. Without a value it is from 0 (or
    1) to 1 (or 10)."""
    at = np.ravel(np.asarray(values, float))
    at = at[(np.abs(at) < _ABSURD) & ((at > 1 / _ABSURD) | (not log))]
    if len(at) == 0:
        return Axis(label, 1, 10, log) if log else Axis(label, 0, 1)
    low, high = float(at.min()), float(at.max())
    if log:
        if high < 2 * low:
            low, high = low / 1.5, high * 1.5
        stretch = (high / low) ** margin
        return Axis(label, low / stretch, high * stretch, log)
    if high == low:
        low, high = low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    return Axis(label, low - margin * (high - low), high + margin * (high - low))


def counts_axis(label: str, counts: ArrayLike, log: bool = False) -> Axis:
    """An axis of counts. It begins at 0; a logarithmic axis begins at a half, so that bars of one
    source are seen."""
    most = float(np.max(np.asarray(counts, float), initial=1))
    return Axis(label, 0.5, 2 * most, log) if log else Axis(label, 0, 1.05 * most, is_whole=True)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    low, high = min(low, high), max(low, high)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return [
        i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def ticks(axis: Axis, most: int = 6) -> list[float]:
    """Round values along an axis, `most` at about the most."""
    if not axis.log:
        found = _linear_ticks(axis.low, axis.high, most)
        return [tick for tick in found if not axis.is_whole or tick == round(tick)]
    low, high = sorted((math.log10(axis.low), math.log10(axis.high)))
    if high - low < 0.7:
        return [tick for tick in _linear_ticks(axis.low, axis.high, most) if tick > 0]
    factors = (1, 2, 5) if high - low < 2 else (1, 3) if high - low < 3 else (1,)
    every = max(1, math.ceil((high - low) / most)) if factors == (1,) else 1
    found = [
        factor * 10.0**exponent
        for exponent in range(math.floor(low), math.ceil(high) + 1)
        if exponent % every == 0
        for factor in factors
    ]
    return [tick for tick in found if low - 1e-9 <= math.log10(tick) <= high + 1e-9]


# --- colours of values ---

_VIRIDIS = np.array(
    [
        (68, 1, 84),
        (71, 44, 122),
        (59, 81, 139),
        (44, 113, 142),
        (33, 144, 141),
        (39, 173, 129),
        (92, 200, 99),
        (170, 220, 50),
        (253, 231, 37),
    ],
    float,
)


def colours(fractions: ArrayLike) -> NDArray[np.uint8]:
    """Red, green and blue of values from 0 to 1, from dark violet to yellow, along a new last
    axis."""
    at = np.clip(np.asarray(fractions, float), 0, 1) * (len(_VIRIDIS) - 1)
    stops = np.arange(len(_VIRIDIS))
    return (
        np.stack([np.interp(at, stops, _VIRIDIS[:, i]) for i in range(3)], axis=-1)
        .round()
        .astype(np.uint8)
    )


def colour_text(fraction: float) -> str:
    """The colour of a value from 0 to 1, as in CSS."""
    return "#%02x%02x%02x" % tuple(int(part) for part in colours(fraction))


# --- frames and layers ---

_LEFT, _RIGHT, _BOTTOM, _BAR, _LINE = 80, 14, 46, 110, 18


@dataclass(frozen=True)
class Frame:
    """Where layers are drawn: two axes, and the size of the space between them in pixels. bar: an
    axis of colours beside it."""

    x: Axis
    y: Axis
    width: float = 420
    height: float = 280
    bar: Axis | None = None

    def at(self, x: ArrayLike, y: ArrayLike) -> tuple[Reals, Reals]:
        """Values in pixels from the upper left corner, two equally long arrays."""
        across, down = np.broadcast_arrays(
            self.x.place(x) * self.width, (1 - self.y.place(y)) * self.height
        )
        return across, down


class Layer(Protocol):
    """What is drawn in a frame, and its sample in the legend, which is there if it has a label."""

    @property
    def label(self) -> str:
        ...

    def drawn(self, frame: Frame) -> str:
        ...

    def sample(self, x: float, y: float) -> str:
        ...


def _number(value: float) -> str:
    """A coordinate with one decimal at the most."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _pairs(frame: Frame, x: ArrayLike, y: ArrayLike) -> list[tuple[str, str]]:
    """Points in pixels, as texts: each place once, without places far outside."""
    at_x, at_y = frame.at(x, y)
    inside = (at_x > -9) & (at_x < frame.width + 9) & (at_y > -9) & (at_y < frame.height + 9)
    return list(dict.fromkeys((_number(u), _number(v)) for u, v in zip(at_x[inside], at_y[inside])))


_CROSSES = {"cross": "m-2.5,-2.5l5,5m0,-5l-5,5", "plus": "m-3,0h6m-3,-3v6"}


@dataclass(frozen=True)
class Points:
    """A mark at each point: round, square, cross or plus."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: str = BLUE
    mark: str = "round"
    size: float = 4

    def _pen(self) -> tuple[str, float, str]:
        """The lines of a mark, their width and their ends. PDF shows a line without length only if
        its ends are round."""
        if self.mark == "round":
            return "h0", self.size, "round"
        if self.mark == "square":
            return f"m{_number(-self.size / 2)},0h{_number(self.size)}", self.size, "butt"
        return _CROSSES[self.mark], 1.4, "butt"

    def _path(self, places: Iterable[tuple[str, str]]) -> str:
        lines, width, ends = self._pen()
        d = "".join(f"M{x},{y}{lines}" for x, y in places)
        return f'<path d="{d}" fill="none" stroke="{self.colour}" stroke-width="{width}" stroke-linecap="{ends}" stroke-opacity="0.75"/>'

    def drawn(self, frame: Frame) -> str:
        return self._path(_pairs(frame, self.x, self.y))

    def sample(self, x: float, y: float) -> str:
        return self._path([(_number(x), _number(y))])


@dataclass(frozen=True)
class Errors:
    """Vertical bars from low to high at each x."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    colour: str = BLUE
    label: str = ""

    def drawn(self, frame: Frame) -> str:
        x, low = frame.at(self.x, self.low)
        high = frame.at(self.x, self.high)[1]
        # to 0, below a logarithmic axis
        low = np.where(np.isfinite(high) & ~np.isfinite(low), frame.height + 9, low)
        there = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        d = "".join(
            f"M{_number(u)},{_number(v)}V{_number(w)}"
            for u, v, w in zip(x[there], low[there], high[there])
        )
        return f'<path d="{d}" stroke="{self.colour}" fill="none"/>'

    def sample(self, x: float, y: float) -> str:
        return f'<path d="M{_number(x)},{_number(y - 6)}v12" stroke="{self.colour}"/>'


@dataclass(frozen=True)
class Line:
    """A line through points; it breaks where a value is not finite."""

    x: ArrayLike
    y: ArrayLike
    label: str = ""
    colour: str = BLUE
    dashed: bool = False

    def drawn(self, frame: Frame) -> str:
        d, pen = "", "M"
        for u, v in zip(*frame.at(self.x, self.y)):
            there = math.isfinite(u) and math.isfinite(v)
            d += f"{pen}{_number(u)},{_number(v)}" if there else ""
            pen = "L" if there else "M"
        return f'<path d="{d}" fill="none" stroke="{self.colour}" stroke-width="1.5"{_dashes(self.dashed)}/>'

    def sample(self, x: float, y: float) -> str:
        return f'<path d="M{_number(x - 8)},{_number(y)}h16" stroke="{self.colour}" stroke-width="1.5"{_dashes(self.dashed)}/>'


def _dashes(dashed: bool) -> str:
    return ' stroke-dasharray="5,3"' if dashed else ""


@dataclass(frozen=True)
class Steps:
    """A histogram: `edges` has one value more than `counts`."""

    edges: Sequence[float] | Reals
    counts: Sequence[float] | Reals
    label: str = ""
    colour: str = BLUE
    filled: bool = True
    dashed: bool = False

    def _style(self) -> str:
        fill = f'fill="{self.colour}" fill-opacity="0.25"' if self.filled else 'fill="none"'
        return f'{fill} stroke="{self.colour}" stroke-width="1.5"{_dashes(self.dashed)}'

    def drawn(self, frame: Frame) -> str:
        x = frame.x.place(self.edges) * frame.width
        y = (1 - frame.y.place(self.counts)) * frame.height
        y = np.where(np.isfinite(y), np.minimum(y, frame.height + 9), frame.height + 9)
        d = f"M{_number(x[0])},{_number(frame.height + 9)}"
        d += "".join(f"V{_number(v)}H{_number(u)}" for u, v in zip(x[1:], y))
        return f'<path d="{d}V{_number(frame.height + 9)}" {self._style()}/>'

    def sample(self, x: float, y: float) -> str:
        return f'<rect x="{_number(x - 8)}" y="{_number(y - 5)}" width="16" height="10" {self._style()}/>'


@dataclass(frozen=True)
class Rule:
    """A dashed line across the frame at a value of x or of y, with a text beside it."""

    value: float
    text: str = ""
    vertical: bool = True
    colour: str = GREY
    label: str = ""

    def drawn(self, frame: Frame) -> str:
        axis, length = (frame.x, frame.width) if self.vertical else (frame.y, frame.height)
        place = float(axis.place(self.value))
        if not 0 <= place <= 1:
            return ""
        at = place * length if self.vertical else (1 - place) * length
        d = (
            f"M{_number(at)},0V{_number(frame.height)}"
            if self.vertical
            else f"M0,{_number(at)}H{_number(frame.width)}"
        )
        if self.vertical:
            right = place > 0.7  # the text is on the side where there is room
            place_of_text = f'x="{_number(at + (-5 if right else 5))}" y="13" text-anchor="{"end" if right else "start"}"'
        else:
            place_of_text = f'x="{_number(frame.width - 5)}" y="{_number(at - 5 if at > 20 else at + 14)}" text-anchor="end"'
        return f'<path d="{d}" stroke="{self.colour}" stroke-dasharray="2,3"/><text class="rule" {place_of_text}>{escape(self.text)}</text>'

    def sample(self, x: float, y: float) -> str:
        return f'<path d="M{_number(x - 8)},{_number(y)}h16" stroke="{self.colour}" stroke-dasharray="2,3"/>'


@dataclass(frozen=True)
class Shapes:
    """Filled polygons, each with a colour, a text that appears under the pointer and, where `links`
    has one, a link."""

    corners: Sequence[Sequence[tuple[float, float]]]
    fills: Sequence[str]
    titles: Sequence[str]
    links: Sequence[str | None] = ()
    label: str = ""

    def _shape(self, frame: Frame, i: int) -> str:
        x, y = frame.at([x for x, _ in self.corners[i]], [y for _, y in self.corners[i]])
        d = "L".join(f"{_number(u)},{_number(v)}" for u, v in zip(x, y))
        shape = f'<path d="M{d}z" fill="{escape(self.fills[i])}" stroke="{BLACK}" stroke-width="0.7"><title>{escape(self.titles[i])}</title></path>'
        link = self.links[i] if i < len(self.links) else None
        return shape if link is None else f'<a href="{escape(link)}">{shape}</a>'

    def drawn(self, frame: Frame) -> str:
        return "".join(self._shape(frame, i) for i in range(len(self.corners)))

    def sample(self, x: float, y: float) -> str:
        return f'<rect x="{_number(x - 8)}" y="{_number(y - 5)}" width="16" height="10" fill="none" stroke="{BLACK}"/>'


@dataclass(frozen=True)
class Raster:
    """An image (a data: URI) over the whole frame."""

    uri: str
    label: str = ""

    def drawn(self, frame: Frame) -> str:
        return (
            f'<image href="{escape(self.uri)}" width="{_number(frame.width)}" height="{_number(frame.height)}" '
            'preserveAspectRatio="none" style="image-rendering:pixelated"/>'
        )

    def sample(self, x: float, y: float) -> str:
        return ""


# --- drawing ---


def _text(
    x: float, y: float, text: str, anchor: str = "middle", kind: str = "tick", turned: bool = False
) -> str:
    turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if turned else ""
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'


def _apart(places: Sequence[float], sizes: Sequence[float]) -> list[bool]:
    """Which labels are drawn: those that no earlier one on the same axis covers."""
    drawn: list[tuple[float, float]] = []
    found = []
    for at, size in zip(places, sizes):
        is_free = all(abs(at - other) >= (size + of) / 2 for other, of in drawn)
        drawn += [(at, size)] if is_free else []
        found.append(is_free)
    return found


def _widths(texts: Sequence[str]) -> list[float]:
    """The widths of labels that lie, with the gap between two."""
    return [_CHARACTER * len(text) + 12 for text in texts]


def _x_axis(frame: Frame, top: float) -> str:
    bottom = top + frame.height
    values = ticks(frame.x, most=max(2, int(frame.width / 65)))
    texts = [number_text(value) for value in values]
    places = [_LEFT + float(frame.x.place(value)) * frame.width for value in values]
    apart = _apart(places, _widths(texts))
    parts = [
        f'<path d="M{_number(at)},{_number(bottom)}v5" stroke="{BLACK}"/>'
        + (_text(at, bottom + 18, text) if is_free else "")
        for at, text, is_free in zip(places, texts, apart)
    ]
    return "".join(parts) + _text(_LEFT + frame.width / 2, bottom + 38, frame.x.label, kind="label")


def _y_axis(frame: Frame, top: float) -> str:
    values = ticks(frame.y, most=max(2, int(frame.height / 40)))
    places = [top + (1 - float(frame.y.place(value))) * frame.height for value in values]
    parts = [
        f'<path d="M{_LEFT},{_number(at)}h-5" stroke="{BLACK}"/>'
        + (_text(_LEFT - 8, at + 4, number_text(value), "end") if is_free else "")
        for at, value, is_free in zip(places, values, _apart(places, [_LINE] * len(places)))
    ]
    return "".join(parts) + _text(
        14, top + frame.height / 2, frame.y.label, kind="label", turned=True
    )


def _bar(frame: Frame, bar: Axis, top: float) -> str:
    """The colours of an axis, and its ticks, at the right of the frame."""
    left, n = _LEFT + frame.width + 12, 64
    step = frame.height / n
    parts = [
        f'<rect x="{_number(left)}" y="{top + frame.height - (i + 1) * step:.2f}" width="14" height="{step + 0.5:.2f}" '
        f'fill="{colour_text((i + 0.5) / n)}"/>'
        for i in range(n)
    ]
    for tick in ticks(bar, most=max(2, int(frame.height / 40))):
        at = top + (1 - float(bar.place(tick))) * frame.height
        parts.append(
            f'<path d="M{_number(left + 14)},{_number(at)}h4" stroke="{BLACK}"/>'
            + _text(left + 21, at + 4, number_text(tick), "start")
        )
    return "".join(parts) + _text(
        left + 92, top + frame.height / 2, bar.label, kind="label", turned=True
    )


def colour_bar(axis: Axis, width: float = 420) -> Markup:
    """The colours of an axis as a bar of its own, which lies, with its ticks and its label below."""
    n, left, height = 64, 30, 14
    step = width / n
    parts = [
        f'<rect x="{left + i * step:.2f}" y="0" width="{step + 0.5:.2f}" height="{height}" fill="{colour_text((i + 0.5) / n)}"/>'
        for i in range(n)
    ]
    values = ticks(axis)
    texts = [number_text(value) for value in values]
    places = [left + float(axis.place(value)) * width for value in values]
    for at, text, is_free in zip(places, texts, _apart(places, _widths(texts))):
        parts.append(f'<path d="M{_number(at)},{height}v5" stroke="{BLACK}"/>')
        parts += [_text(at, height + 18, text)] if is_free else []
    parts.append(_text(left + width / 2, height + 36, axis.label, kind="label"))
    size = f'width="{_number(width + 2 * left)}" height="{height + 42}"'
    box = f"0 0 {_number(width + 2 * left)} {height + 42}"
    return Markup(
        f'<svg class="plot" viewBox="{box}" {size} role="img" aria-label="{escape(axis.label)}">{"".join(parts)}</svg>'
    )


def _legend(layers: Sequence[Layer], width: float) -> tuple[str, float]:
    """The samples and labels of layers, in lines of this width; and the height of all lines."""
    parts, x, y = [], 0.0, 10.0
    named = [layer for layer in layers if layer.label]
    for layer in named:
        length = 26 + _CHARACTER * len(layer.label) + 14
        if x > 0 and x + length > width:
            x, y = 0.0, y + _LINE
        parts.append(
            layer.sample(_LEFT + x + 8, y)
            + _text(_LEFT + x + 22, y + 4, layer.label, "start", "key")
        )
        x += length
    return "".join(parts), y + 12 if named else 8


def draw(frame: Frame, layers: Sequence[Layer], title: str) -> Markup:
    """A plot as an svg element. The title is for readers who do not see the plot."""
    legend, top = _legend(layers, frame.width)
    right = _BAR if frame.bar else _RIGHT
    width, height = _LEFT + frame.width + right, top + frame.height + _BOTTOM
    drawn = "".join(layer.drawn(frame) for layer in layers)
    size: Any = f'width="{_number(frame.width)}" height="{_number(frame.height)}"'
    return Markup(
        f'<svg class="plot" viewBox="0 0 {_number(width)} {_number(height)}" width="{_number(width)}" height="{_number(height)}" role="img" '
        f'aria-label="{escape(title)}">{legend}<svg x="{_LEFT}" y="{_number(top)}" {size}>{drawn}</svg>'
        f'<rect x="{_LEFT}" y="{_number(top)}" {size} fill="none" stroke="{BLACK}"/>'
        f'{_x_axis(frame, top)}{_y_axis(frame, top)}{_bar(frame, frame.bar, top) if frame.bar else ""}</svg>'
    )

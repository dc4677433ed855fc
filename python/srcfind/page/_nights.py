"""Nights: the tiles of a report, with the facts in the report and in their catalogues."""
from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._catalogues import Sources, find_catalogue, read_sources
from srcfind.page._overlaps import Overlaps, find_overlaps, overlap_outliers
from srcfind.page._report import Report
from srcfind.page._statistics import (
    Outlier,
    centres_of,
    groups_of,
    neighbours_of,
    outliers,
    unit_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def shown(text: str) -> str:
    """A text of a report, for people: bytes that are no UTF-8 become replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Night:
    """What is known of the tiles of a report, from it and from their catalogues."""

    def __init__(self, report: Report) -> None:
        self.report, self.tiles = report, report.tiles
        self.centres = centres_of(self.tiles)
        self.neighbours = neighbours_of(self.centres, groups_of(self.tiles))
        self.catalogues = {
            i: path
            for i, tile in enumerate(self.tiles)
            for path in [find_catalogue(report, tile)]
            if tile.is_done and path is not None
        }

    @cached_property
    def sources(self) -> dict[int, Sources]:
        """The sources of each tile whose catalogue can be read."""
        found = {i: read_sources(path) for i, path in self.catalogues.items()}
        return {i: sources for i, sources in found.items() if sources is not None}

    @cached_property
    def blank(self) -> NDArray[Any]:
        """The share of blank pixels; NaN where it is not known."""
        return np.array(
            [
                self.sources[i].blank if i in self.sources else np.nan
                for i in range(len(self.tiles))
            ],
            float,
        )

    @cached_property
    def overlaps(self) -> Overlaps:
        return find_overlaps(self.tiles, self.sources, self.centres, self.neighbours)

    @cached_property
    def outliers(self) -> list[Outlier]:
        """The odd tiles with their reasons, the oddest first."""
        found = outliers(self.tiles, self.blank, self.centres, self.neighbours) + overlap_outliers(
            self.tiles, self.overlaps
        )
        most: dict[int, float] = {}
        for outlier in found:
            most[outlier.tile] = max(most.get(outlier.tile, 0), outlier.significance)
        return sorted(
            found, key=lambda outlier: (-most[outlier.tile], outlier.tile, -outlier.significance)
        )

    @cached_property
    def reasons(self) -> dict[int, list[str]]:
        """The reasons of each odd tile, the oddest first."""
        reasons: dict[int, list[str]] = {}
        for outlier in self.outliers:
            reasons.setdefault(outlier.tile, []).append(outlier.reason)
        return reasons

    def numbers(self, column: str) -> NDArray[Any]:
        """A column of the report, of the tiles that were searched."""
        return np.array(
            [tile.number(column) if tile.is_done else np.nan for tile in self.tiles], float
        )

    @cached_property
    def unit(self) -> str:
        """The unit of most tiles."""
        return shown(unit_of(self.tiles))

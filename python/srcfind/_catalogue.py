"""Catalogues: the sources of an image, its noise, and its maps."""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

import numpy as np

from srcfind._calls import OptionError, SrcfindWarning, chars, ffi, in_python, lib, listed, text
from srcfind._html import html_of
from srcfind._near import no_such
from srcfind._pixels import MaskedArray, Pixels
from srcfind._shown import Picture, picture_for_notebook, picture_of, write_page
from srcfind._signatures import FormatName, MapName
from srcfind._sky import skycoord_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from astropy.coordinates import SkyCoord
    from astropy.table import QTable
    from numpy.typing import NDArray

    from srcfind._finder import Finder

_T = TypeVar("_T", bound="DataclassInstance")
_DTYPES = {
    lib.SRCFIND_INTEGER: np.dtype(np.int64),
    lib.SRCFIND_REAL: np.dtype(np.float64),
    lib.SRCFIND_STRING: np.dtype(("S", lib.SRCFIND_CELL)),
}
_EMPTY = np.iinfo(np.int64).min  # SRCFIND_EMPTY


@dataclass(frozen=True)
class Column:
    """A column of a catalogue. The unit is "" if there is none; vounit has its spelling in
    VOUnit."""

    name: str
    unit: str
    ucd: str
    description: str
    vounit: str


@dataclass(frozen=True)
class Beam:
    """FWHM of the axes, and position angle from north through east, in degrees. NaN if no beam is
    known."""

    major: float
    minor: float
    angle: float


@dataclass(frozen=True)
class Image:
    """An image, as its header describes it. An unknown number is NaN, an unknown text "".

    pixel_area is in square degrees, frequency in Hz, beam_pixels the area of the beam in pixels;
    hdu is -1 for an array. date_obs is DATE-OBS as in the header, or MJD-OBS as ISO 8601. With the
    option trim, width and height are those of the part that was searched, whose first pixel is
    [first_y, first_x] of the image.
    """

    path: str
    width: int
    height: int
    first_x: int
    first_y: int
    hdu: int
    hdu_name: str
    bitpix: int
    compression: str
    unit: str
    flux_unit: str
    frame: str
    equinox: float
    pixel_area: float
    frequency: float
    beam: Beam
    beam_source: str
    beam_pixels: float
    date_obs: str
    telescope: str
    object: str

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of an array of the pixels: (height, width)."""
        return self.height, self.width


@dataclass(frozen=True)
class Background:
    """The kappa-sigma clip, in the image's unit. min, max and mean are of the n_kept pixels that
    the clip kept. empty: the last round would have kept no pixel, as in a constant image; nothing
    can be detected. Local noise has boxes of `box` pixels every `step`, and the least, median and
    greatest rms of their nodes. islands_excluded, share_excluded: bright wide islands, which were left
    out of the boxes, and their share of the pixels, with what is near them. Without local noise all
    of these are 0.
    """

    median: float
    rms: float
    mean: float
    min: float
    max: float
    n_pixels: int
    n_blank: int
    n_kept: int
    rounds: int
    empty: bool
    box: int
    step: int
    rms_least: float
    rms_median: float
    rms_most: float
    islands_excluded: int
    share_excluded: float


@dataclass(frozen=True)
class Correlation:
    """The autocorrelation of the noise, from which errors follow; with fit.

    measured: in the image; else it is that of the beam or, where none is known, of independent
    pixels. n_pixels: whose pairs were measured. area: over which noise is correlated, in pixels;
    beam_area: the same of noise that is correlated as the beam is. step_x, step_y: pixels from a
    value to the next one. values: an array; the one in the middle is that of a pixel with itself.
    """

    measured: bool
    n_pixels: int
    area: float
    beam_area: float
    step_x: float
    step_y: float
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Quality:
    """Figures that tell whether the options suit the image; NaN if unknown.

    zeros: share of the pixels that are exactly 0. rms_p10, rms_p90: percentiles of the rms from
    place to place. single_pixel, edge: share of the sources with this flag; edge_or_single: with
    one of them. narrow, high_residual: with fit, share of the sources that are narrower than the
    beam, and of those whose Resid_Isl_rms is above 2 Isl_rms. beam_pixels: FWHM of the beam's minor
    axis, in pixels. background_p10, background_p90: percentiles of the local background.
    widest_left_out: with scales, the widest one that is too wide for the image, in beams.
    unmeasured, measured: with scales and local noise, about the flux of the background above the
    image's median, which is in no row, and that of the positive rows that are fitted. artefacts:
    with fit and a beam, the number of positive sources that may be artefacts (flag 2048).
    psf_points, psf_middle, psf_edges: with fit and a beam, the number of bright sources that are
    alone, and the area of points by them / that of the beam in the middle and at the edges.
    """

    zeros: float
    rms_p10: float
    rms_p90: float
    single_pixel: float
    edge: float
    edge_or_single: float
    narrow: float
    high_residual: float
    background_p10: float
    background_p90: float
    widest_left_out: float
    unmeasured: float
    measured: float
    artefacts: float
    psf_points: int
    psf_middle: float
    psf_edges: float
    beam_pixels: float


@dataclass(frozen=True)
class Run:
    """How an image was searched: the backend ("cpu" or "cuda"), the GPU's name, the reason for this
    backend, the number of threads."""

    backend: str
    device: str
    reason: str
    threads: int


def _read(kind: type[_T], struct: Any) -> _T:
    """Makes a dataclass from the members of a struct; its fields have the names of the members."""

    def value(member: Any) -> Any:
        if not isinstance(member, ffi.CData):
            return member
        return _read(Beam, member) if ffi.typeof(member).kind == "struct" else text(member)

    return kind(**{field.name: value(getattr(struct, field.name)) for field in fields(kind)})


def _unit(column: Column) -> Any:
    """The unit of a column for astropy, or None."""
    from astropy import units

    try:
        return (
            units.Unit(column.vounit, format="vounit")
            if column.vounit
            else units.Unit(column.unit or None)
        )
    except (TypeError, ValueError):
        return None


def _column(cells: NDArray[Any], unit: Any) -> Any:
    """A column of a QTable: a quantity if it has a unit, masked where integers are empty."""
    from astropy.units import Quantity
    from astropy.utils.masked import Masked

    is_empty = cells == _EMPTY if cells.dtype.kind == "i" else np.zeros(len(cells), bool)
    values = cells.copy() if unit is None else Quantity(cells, unit, cells.dtype)
    if not is_empty.any():
        return values
    return MaskedArray(values, is_empty) if unit is None else Masked(values, is_empty)


def _check_new(path: bytes, format: str) -> None:
    """Raises FileExistsError if a catalogue would replace a file. Writing to a device or pipe
    replaces nothing."""
    stem = path[: -len(b".sagecal")] if path.lower().endswith(b".sagecal") else path
    beside = [stem + b".cluster"] if format.lower() == "sagecal" else []
    for file in (path, *beside):
        if os.path.isfile(file):
            raise FileExistsError(
                f"{os.fsdecode(file)}: this file exists: overwrite=True replaces it"
            )


#: Of a catalogue.
_PICKLED = (
    "options",
    "_version",
    "columns",
    "array",
    "image",
    "background",
    "correlation",
    "quality",
    "notes",
    "run",
    "gaussians",
    "islands",
    "covariance",
    "planes",
    "completeness",
    "reliability",
)

#: What a row is, by a column that no other table has.
_ROWS = {
    "Gaus_id": "Gaussian",
    "N_sources": "island",
    "Source_id_1": "covariance",
    "Plane": "row of a plane",
    "E_Completeness": "bin of sources",
    "Reliability": "bin of sources",
}


class Catalogue:
    """The sources of an image; `srcfind.find` makes it. A catalogue of an array keeps the array,
    which maps need. A catalogue that was pickled, as for another process, has its tables, and the
    facts about the image and its noise. It can neither make maps nor be written: these calls raise
    OptionError.

    >>> catalogue = find(image)
    >>> catalogue
    <srcfind.Catalogue of 1 source in an array of the shape (48, 64), rms 1>
    >>> catalogue.background.rms, catalogue.array["N_pix"]
    (1.0, array([2]))
    """

    def __init__(self, finder: Finder, catalogue: Any, pixels: Pixels | None = None) -> None:
        self._finder = finder
        self._catalogue = ffi.gc(catalogue, lib.srcfind_catalogue_destroy)
        self._pixels = pixels
        self._version = text(lib.srcfind_versions()).split()[1]
        #: the options that shape a catalogue, without those that are not set
        self.options: dict[str, str] = dict(finder.options)

    @cached_property
    def gaussians(self) -> Catalogue | None:
        """The Gaussians of a search with fit: a catalogue with a row for each Gaussian, in the
        order of the sources. None without fit. Source_id names the source of the Gaussian. A source
        that was not fitted has one row, with its moments.
        """
        rows = lib.srcfind_catalogue_gaussians(self._catalogue)
        if not rows:
            return None
        return self._rows(rows)

    @cached_property
    def islands(self) -> Catalogue | None:
        """The islands of the sources: a catalogue with a row for each island, whose Isl_id the
        sources have. None with at.

        >>> find(image).islands.array["N_sources"]
        array([1])
        """
        rows = lib.srcfind_catalogue_islands(self._catalogue)
        return self._rows(rows) if rows else None

    @cached_property
    def covariance(self) -> Catalogue | None:
        """Pairs of positions whose fluxes err together, by a correlation of more than 0.1: of the
        options at and fit; None without.

        >>> find(image, at=positions, fit=True).covariance.array["Correlation"]  # doctest: +SKIP
        """
        rows = lib.srcfind_catalogue_covariance(self._catalogue)
        return self._rows(rows) if rows else None

    @cached_property
    def planes(self) -> Catalogue | None:
        """Fluxes in the planes of the images of measure_in: a row for each source and plane, source
        by source. None without measure_in.

        >>> cube = find("deep.fits", measure_in=["cube.fits"]).planes  # doctest: +SKIP
        >>> cube.array["Total_flux"].reshape(-1, 64)                   # doctest: +SKIP
        """
        rows = lib.srcfind_catalogue_planes(self._catalogue)
        return self._rows(rows) if rows else None

    @cached_property
    def completeness(self) -> Catalogue | None:
        """How many injected sources were found: a row for each bin of true S/N, and of true flux.
        None without completeness or inject.

        >>> find("image.fits", local=True, fit=True, completeness=True).completeness.table  # doctest: +SKIP
        """
        rows = lib.srcfind_catalogue_completeness(self._catalogue)
        return self._rows(rows) if rows else None

    @cached_property
    def reliability(self) -> Catalogue | None:
        """The numbers of positive and negative sources, by S/N. None without negative."""
        rows = lib.srcfind_catalogue_reliability(self._catalogue)
        return self._rows(rows) if rows else None

    def _rows(self, rows: Any) -> Catalogue:
        """A table that belongs to this catalogue."""
        table = Catalogue.__new__(Catalogue)
        table.__dict__.update(
            _finder=self._finder,
            _catalogue=rows,
            _pixels=self._pixels,
            _version=self._version,
            options=self.options,
            gaussians=None,
            islands=None,
            covariance=None,
            planes=None,
            completeness=None,
            reliability=None,
            _sources=self,  # the catalogue that owns the rows
        )
        return table

    def __getstate__(self) -> dict[str, Any]:
        """The state without the memory of the library, and without what needs a new search."""
        return {name: getattr(self, name) for name in _PICKLED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _finder=None, _catalogue=None, _pixels=None)

    def __copy__(self) -> Catalogue:
        copy = Catalogue.__new__(Catalogue)
        copy.__dict__.update(self.__dict__)
        return copy

    def __len__(self) -> int:
        return lib.srcfind_catalogue_size(self._catalogue) if self._catalogue else len(self.array)

    def __repr__(self) -> str:
        return f"<srcfind.Catalogue of {self._title()}>"

    def _repr_html_(self) -> str:
        """The catalogue in a notebook: a picture unless the image is large, the facts, and a table
        of at most ten rows."""
        return html_of(self, self._title(), _EMPTY, self._notebook_picture)

    @cached_property
    def _notebook_picture(self) -> bytes | None:
        is_table = hasattr(self, "_sources") or not self._catalogue
        return None if is_table else picture_for_notebook(self)

    def _title(self) -> str:
        """The number of rows, and the image."""
        image, n = self.image, len(self)
        where = image.path or f"an array of the shape {image.shape}"
        row = next((_ROWS[c.name] for c in self.columns if c.name in _ROWS), "source")
        first, *rest = row.split(" ", 1)
        rows = row if n == 1 else " ".join([first + "s", *rest])
        return f"{n} {rows} in {where}, {self._noise()}"

    def _noise(self) -> str:
        """The rms that was used, as the command prints it."""
        noise = self.background
        if "rms_map" in self.options:
            return "rms from the map"
        if "rms" in self.options:
            rms = f"rms {float(self.options['rms']):.4g} (given)"
        elif noise.box > 0:
            least, most = f"{noise.rms_least:.4g}", f"{noise.rms_most:.4g}"
            rms = f"rms {least} to {most} (median {noise.rms_median:.4g})"
        else:
            rms = f"rms {noise.rms:.4g}"
        return f"{rms} {self.image.unit}".rstrip()

    # --- the sources ---

    def __getitem__(self, key: Any) -> Any:
        """What `array` has there: the values of a column, a row by its number, or the rows of a
        slice or a mask. Values are plain numbers; `table` has them with units.

        >>> find(image)["N_pix"]
        array([2])
        >>> find(image)[0]["N_pix"]
        2
        """
        if isinstance(key, str) and key not in (self.array.dtype.names or ()):
            raise KeyError(no_such("column", key, self.array.dtype.names or ()))
        return self.array[key]

    def _ipython_key_completions_(self) -> list[str]:
        """What IPython completes behind `catalogue["`."""
        return [column.name for column in self.columns]

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name."""
        return name in (self.array.dtype.names or ())

    def __iter__(self) -> Iterator[np.void]:
        """The rows, as those of `array`: row["RA"].

        >>> [row["N_pix"] for row in find(image)]
        [2]
        """
        return iter(self.array)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns. Names and units depend on the image, and S_Code and those of fits on the
        options."""
        return tuple(_read(Column, column) for column in self._columns())

    @cached_property
    def array(self) -> NDArray[np.void]:
        """The sources, as a structured array: a row for each, with fields of int64, float64 and
        str. A value that does not apply is NaN; of texts "", of integers the least of int64.
        """
        cells = [self._cells(i, column) for i, column in enumerate(self._columns())]
        names = [column.name for column in self.columns]
        array = np.empty(len(self), [(name, of.dtype) for name, of in zip(names, cells)])
        for name, of in zip(names, cells):
            array[name] = of
        return array

    @cached_property
    def table(self) -> QTable | NDArray[np.void]:
        """The sources, as an astropy QTable with units and descriptions; without astropy the same
        as `array`.

        `meta` has the facts about the image, its noise and the options, under the names of the
        catalogue's files. If astropy does not know the unit of a column, the column has no unit,
        and `info.meta["unit"]` has the text of the unit. Integers that do not apply are masked.
        """
        try:
            from astropy.table import QTable
        except ImportError:
            return self.array
        table = QTable(meta=self._facts())
        for column in self.columns:
            cells, unit = self.array[column.name], _unit(column)
            table[column.name] = _column(cells, unit)
            info = table[column.name].info
            info.description = column.description
            info.meta = {
                "ucd": column.ucd,
                **({"unit": column.unit} if column.unit and unit is None else {}),
            }
        return table

    @property
    def skycoord(self) -> SkyCoord:
        """The positions of the rows, as a SkyCoord of astropy in the frame of the image. Raises
        OptionError where the image has no coordinates on the sky, or the table no positions.

        >>> find("image.fits").skycoord.match_to_catalog_sky(others)  # doctest: +SKIP
        """
        return skycoord_of(self)

    def _columns(self) -> list[Any]:
        return listed(lambda i: lib.srcfind_catalogue_column(self._catalogue, i))

    def _cells(self, i: int, column: Any) -> NDArray[Any]:
        kind = column.kind
        if text(column.name) == "Image":
            return np.array(
                [
                    text(lib.srcfind_catalogue_row_image(self._catalogue, k))
                    for k in range(len(self))
                ],
                "U",
            )
        cells = np.empty(len(self), _DTYPES[kind])
        lib.srcfind_catalogue_cells(self._catalogue, i, ffi.cast("void *", cells.ctypes.data))
        return cells.astype("U") if kind == lib.SRCFIND_STRING else cells

    def _facts(self) -> dict[str, Any]:
        """The facts in the header of a catalogue file, under the same names."""
        image, background = self.image, self.background
        facts = {
            "srcfind": self._version,
            "image": image.path,
            "bunit": image.unit,
            "image_width": image.width,
            "image_height": image.height,
            "flux_unit": image.flux_unit,
            "FREQ": image.frequency,
            "BMAJ": image.beam.major,
            "BMIN": image.beam.minor,
            "BPA": image.beam.angle,
            "RADESYS": image.frame,
            "EQUINOX": image.equinox,
            "DATE-OBS": image.date_obs,
            "TELESCOP": image.telescope,
            "OBJECT": image.object,
            "background_median": background.median,
            "background_rms": background.rms,
        }
        if self.correlation:
            facts["noise_area"] = self.correlation.area
        if background.box:
            facts.update(
                rms_box_size=background.box,
                rms_box_step=background.step,
                rms_least=background.rms_least,
                rms_median=background.rms_median,
                rms_most=background.rms_most,
            )
        # NaN differs from itself
        known = {name: fact for name, fact in facts.items() if fact != "" and fact == fact}
        return {**known, "options": dict(self.options)}

    # --- the image ---

    @cached_property
    def image(self) -> Image:
        """The image, by its header."""
        return _read(Image, lib.srcfind_catalogue_image(self._catalogue))

    @cached_property
    def background(self) -> Background:
        """Background and noise."""
        return _read(Background, lib.srcfind_catalogue_background(self._catalogue))

    @cached_property
    def correlation(self) -> Correlation | None:
        """The autocorrelation of the noise; None without fit."""
        struct = lib.srcfind_catalogue_correlation(self._catalogue)
        if struct.values == ffi.NULL:
            return None
        values = np.frombuffer(ffi.buffer(struct.values, struct.n_y * struct.n_x * 8))
        facts: dict[str, Any] = {
            field.name: getattr(struct, field.name) for field in fields(Correlation)[:-1]
        }
        return Correlation(**facts, values=values.reshape(struct.n_y, struct.n_x).copy())

    @cached_property
    def quality(self) -> Quality:
        """Whether the options suit the image."""
        return _read(Quality, lib.srcfind_catalogue_quality(self._catalogue))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on what looks wrong in the image or its sources; each names the option that helps.
        The search warns with each note."""
        notes = listed(lambda i: lib.srcfind_catalogue_note(self._catalogue, i))
        return tuple(in_python(text(note)) for note in notes)

    def _warn(self, depth: int) -> None:
        """Warns with each note. depth: how many calls lead from the user's line to this method;
        the warning names that line."""
        for note in self.notes:
            warnings.warn(
                f"{self.image.path}: {note}" if self.image.path else note,
                SrcfindWarning,
                stacklevel=depth,
            )

    @cached_property
    def run(self) -> Run:
        """How the image was searched."""
        run = _read(Run, lib.srcfind_catalogue_run(self._catalogue))
        return replace(run, reason=in_python(run.reason))

    # --- maps and files ---

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        self._finder_of_call()._call(function, self._catalogue, *arguments)

    def _finder_of_call(self) -> Finder:
        if not self._catalogue:
            raise OptionError(
                "a catalogue that was pickled has its table, but no maps, and cannot be written: search the "
                "image again, or write its table"
            )
        return self._finder

    def map(self, name: MapName) -> NDArray[Any]:
        """A map of the image, of its shape: "rms", "background" (in its unit), "snr", "islands",
        "sources" (needs deblend or fit), "model" or "residual" (need fit or at_fixed), "injected"
        (needs completeness or inject), or "mask".

        The values are float32, and NaN where the image is blank; a mask is 1 or 0. islands and
        sources are int32: the Isl_id or Source_id of each pixel, or 0. The image is read again: a
        changed file raises InputError, and an array must not change. Raises DeviceError for an
        array on a device, and OptionError for an unknown map, or one that these options do not
        allow.

        With the option trim a map is of the part, but the columns Xposn and Yposn count in the
        whole image: the pixel of a source in the map is Xposn - image.first_x, and
        Yposn - image.first_y.
        """
        if name not in get_args(MapName):
            maps = get_args(MapName)
            raise OptionError(f"map: {no_such('map', name, maps)}; there are {', '.join(maps)}")
        values = np.empty(
            self.image.shape, np.int32 if name in ("islands", "sources") else np.float32
        )
        struct = self._pixels.struct if self._pixels else ffi.NULL
        self._call(
            lib.srcfind_catalogue_map, struct, chars(name), ffi.cast("void *", values.ctypes.data)
        )
        return values

    @overload
    def picture(
        self, path: None = None, *, size: int | None = None, overwrite: bool = False
    ) -> Picture:
        ...

    @overload
    def picture(
        self, path: str | os.PathLike[str], *, size: int | None = None, overwrite: bool = False
    ) -> None:
        ...

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        size: int | None = None,
        overwrite: bool = False,
    ) -> Picture | None:
        """A picture of the image with its sources, as the command makes it with --save picture: grey
        levels by background and rms, an ellipse around each source, coordinates and the beam.

        Parameters
        ----------
        path : path, optional
            Writes the picture to this file (PNG), whole or not at all. Without it the picture is
            returned, and a notebook shows it.
        size : int [pixels], default: 1720
            The longer side of the map in the picture, at most: 200 to 1720.
        overwrite : bool, default: False
            Replaces a file, which must be a picture of srcfind.

        Returns
        -------
        Picture or None
            The bytes of the PNG file, without a path.

        Raises
        ------
        FileExistsError
            The file exists, and overwrite is False.
        OptionError, OutputError
            Pictures need cairo, which is not there; the file cannot be written; of a pickled
            catalogue.
        InputError
            The image is read again: its file was changed.
        DeviceError
            The catalogue is of an array on a device.
        """
        if path is None:
            return picture_of(self, size)
        encoded = chars(path)
        if not overwrite:
            _check_new(encoded, "png")
        struct = self._pixels.struct if self._pixels else ffi.NULL
        self._call(lib.srcfind_catalogue_save_picture, struct, size or 0, encoded)
        return None

    def page(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes a page for a browser, in one file, as srcfind-page does: the picture, the sources
        as a table that is sorted and filtered, counts and noise; with completeness and negative
        also their plots.

        Parameters
        ----------
        path : path
            The page: NAME.html.
        overwrite : bool, default: False
            Replaces a file, which must be a page of srcfind.

        Raises
        ------
        FileExistsError
            The file exists, and overwrite is False.
        OutputError
            The file cannot be written, or is no page.
        OptionError
            The catalogue was pickled, or is a table of Gaussians, islands, planes or bins.
        ModuleNotFoundError
            A page needs Jinja2, astropy and Pillow.
        """
        if hasattr(self, "_sources"):
            raise OptionError("page: tables of Gaussians, islands, planes and bins have no page")
        if not overwrite:
            _check_new(chars(path), "html")
        write_page(self, path)

    @property
    def segments(self) -> NDArray[Any]:
        """The map of islands: int32, of the image's shape."""
        return self.map("islands")

    def write(
        self,
        path: str | os.PathLike[str],
        format: FormatName | None = None,
        overwrite: bool = False,
        columns: str | Sequence[str] | None = None,
    ) -> None:
        """Writes the catalogue to a file, whole or not at all. An existing file is replaced only
        with overwrite=True.

        columns, as the command's --columns (`man srcfind`, Columns of other programs), chooses
        columns, their order, units and names, for csv, json, votable, fits and ecsv:
        "RA=ra,DEC=dec,Total_flux:mJy=int_flux", ["RA", "DEC"], "@aegean". Tables of Gaussians,
        planes and bins have all of their columns.

        The format is that of the path's suffix, as for the command; csv if it has none. Sky models
        (skymodel, sagecal) need a search with fit. The list of clusters of a SAGECal model is
        written beside it, as STEM.cluster. Raises FileExistsError if the file exists, without
        overwrite; OptionError for an unknown suffix, format or column, and instead of replacing a
        FITS file that is no catalogue of srcfind, such as an image; InputError if the image lacks
        what a sky model or a unit of columns needs; OutputError if the file cannot be written.
        """
        finder, encoded = self._finder_of_call(), chars(path)
        known = self._format_of(encoded) if format is None else format
        if not overwrite:
            _check_new(encoded, known)
        with finder._lock:  # the chosen columns are lost when another thread chooses columns
            rows = self._catalogue if columns is None else self._select(columns)
            finder._call(lib.srcfind_catalogue_save, rows, chars(known), encoded)

    def _select(self, columns: str | Sequence[str]) -> Any:
        """The table of the library that has these columns; it belongs to the catalogue."""
        if hasattr(self, "_sources"):
            raise OptionError(
                "columns: tables of Gaussians, planes and bins have all of their columns"
            )
        place = ffi.new("const struct srcfind_catalogue **")
        self._call(
            lib.srcfind_catalogue_select,
            chars(columns if isinstance(columns, str) else ",".join(columns)),
            place,
        )
        return place[0]

    @staticmethod
    def _format_of(path: bytes) -> str:
        formats = listed(lib.srcfind_format)
        of = lib.srcfind_format_of(path)
        if not of and os.path.splitext(path)[1]:
            raise OptionError(
                f"{os.fsdecode(path)}: no format has this suffix; there are "
                f"{', '.join(text(each.suffixes[0]) for each in formats)}"
            )
        return text((of or formats[0]).name)

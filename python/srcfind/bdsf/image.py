"""The image that process_image returns: what was found, its maps, and how it writes them."""
from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import srcfind
from srcfind.bdsf import _export, _forced, _show, _write
from srcfind.bdsf._circles import add_aperture_fluxes
from srcfind.bdsf._frame import Frame
from srcfind.bdsf._input import ImageFile
from srcfind.bdsf._log import Log
from srcfind.bdsf._options import Error, Opts, resolve
from srcfind.bdsf._rows import Gaussian, Island, Source, make_gaussians, make_islands, make_sources
from srcfind.bdsf._search import Detected, search
from srcfind.bdsf._shapes import add_shapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGMA = 2 * np.sqrt(2 * np.log(2))  # FWHM of a Gaussian / its sigma
_ENDINGS = (".fits", ".image")


def _parent_name(path: str) -> str:
    """The name of an image without directory and ending."""
    root, ending = os.path.splitext(os.path.basename(path))
    if ending.lower() == ".gz":
        inner, ending = os.path.splitext(root)
        return inner if ending.lower() in _ENDINGS else root
    return root if ending.lower() in _ENDINGS else os.path.basename(path)


def _with(table: NDArray[Any], **columns: NDArray[Any]) -> NDArray[Any]:
    """A table with columns that it lacks."""
    there = table.dtype.names or ()
    new = {name: column for name, column in columns.items() if name not in there}
    wider = np.empty(len(table), table.dtype.descr + [(name, of.dtype) for name, of in new.items()])
    for name in there:
        wider[name] = table[name]
    for name, column in new.items():
        wider[name] = column
    return wider


class Image:
    """An image that was searched, with the names that PyBDSF's has.

    Arrays are float32 and have the axes [x, y]; `shape` is (Stokes parameters, channels, x, y).
    Positions in pixels count from 0, sizes are FWHM in degrees. Rows are in Jy and Jy/beam, also
    where BUNIT is mJy/beam; maps, and the rms and mean of the whole image, are in the map's unit.
    Maps and lists are made when they are first used; the file of the image must still be there then.

    >>> img = process_image("image.fits", thresh_pix=5, quiet=True)   # doctest: +SKIP
    >>> img.nsrc, img.rms_arr.shape                                   # doctest: +SKIP
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._given = dict(options)
        self.opts: Opts = resolve(options)
        self.filename: str = os.fspath(self.opts.filename)
        path = self.filename
        if self.opts.indir and not os.path.dirname(path):
            path = os.path.join(self.opts.indir, path)
        self.parentname = _parent_name(self.filename)
        self.imagename = self.parentname + ".pybdsf"
        self.indir = os.path.dirname(path)
        self.outdir = os.path.abspath(self.opts.outdir or os.path.dirname(path))
        solution = f"{self.opts.solnname}_" if self.opts.solnname else ""
        self.basedir = os.path.join(self.outdir, f"{solution}{self.parentname}_pybdsf")
        self.file = ImageFile(path, self.opts.trim_box)
        self.completed_Ops: list[str] = ["readimage"]
        self.log = os.path.join(self.outdir, os.path.basename(self.filename) + ".pybdsf.log")
        self._found: Detected | None = None

    def process(self, **options: Any) -> bool:
        """Searches the image, with further options; True. Raises Error and srcfind.Error."""
        if options:
            again = Image({**self._given, **options})
            self.__dict__.clear()
            self.__dict__.update(again.__dict__)
        log = Log(self.log, self.opts)
        try:
            if self.opts.stop_at != "read":
                self._found = search(self.opts, self.file)
                self._check()
        except srcfind.Error as error:
            log.line(str(error))
            if isinstance(error, RuntimeError):
                raise
            raise Error(str(error)) from error
        self.completed_Ops += self._operations()
        log.result(self)
        if self.opts.output_all and self.opts.stop_at is None:
            _write.write_all(self)
        return True

    def _operations(self) -> list[str]:
        """The steps of PyBDSF that were done."""
        if self.opts.stop_at == "read":
            return []
        names = ["collapse", "preprocess", "rmsimage", "threshold", "islands"]
        if self.opts.stop_at is None:
            names += ["gausfit", "gaul2srl", "make_residimage"]
            names += ["wavelet_atrous"] if self.opts.atrous_do else []
            names += ["spectralindex"] if self.opts.spectralindex_do else []
            names += ["outlist", "cleanup"]
        return names

    def _check(self) -> None:
        """Raises Error if fluxes have no unit, as PyBDSF does."""
        if not np.isfinite(self._catalogue.image.beam.major):
            raise Error(f"{self.filename}: no beam in the header: give beam=(major, minor, angle)")
        if not np.isfinite(self.frequency):
            raise Error(f"{self.filename}: no frequency in the header: give frequency=HZ")

    def __repr__(self) -> str:
        return f"<srcfind.bdsf.Image {self.filename}>"

    def __getattr__(self, name: str) -> Any:  # where there is no such attribute
        raise AttributeError(f"srcfind.bdsf has no attribute {name} of PyBDSF's images")

    # --- the header ---

    @property
    def _detected(self) -> Detected:
        if self._found is None:
            raise Error("the image has not been searched: leave stop_at='read' out")
        return self._found

    @property
    def _catalogue(self) -> srcfind.Catalogue:
        return self._detected.catalogue

    @property
    def catalogue(self) -> srcfind.Catalogue:
        """The catalogue of srcfind: columns that PyBDSF has not, such as Flags."""
        return self._catalogue

    @property
    def header(self) -> Any:
        """The image's header, astropy's."""
        return self.file.header

    @property
    def frame(self) -> Frame:
        """The coordinates of the image."""
        return self.file.frame

    @property
    def wcs_obj(self) -> Any:
        """The coordinates of the image, astropy's WCS of all its axes."""
        from astropy.wcs import WCS

        return WCS(self.header)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The number of Stokes parameters, of channels, and the width and height."""
        file = self.file
        return file.n_stokes, file.n_channels, file.header["NAXIS1"], file.header["NAXIS2"]

    @property
    def nchan(self) -> int:
        """The number of channels."""
        return self.file.n_channels

    @property
    def n_measured(self) -> int:
        """The number of channels whose fluxes were measured."""
        return len(self._detected.channels)

    @property
    def beam(self) -> tuple[float, float, float]:
        """The beam in degrees."""
        beam = self._catalogue.image.beam
        return beam.major, beam.minor, beam.angle

    @property
    def frequency(self) -> float:
        """The frequency of the image in Hz."""
        frequency = self._detected.frequency
        return frequency if np.isfinite(frequency) else self._catalogue.image.frequency

    @property
    def equinox(self) -> float:
        """The equinox; 2000 where the header has none."""
        equinox = self._catalogue.image.equinox
        return equinox if np.isfinite(equinox) else 2000.0

    @property
    def telescope(self) -> str | None:
        """TELESCOP of the header."""
        telescope: str | None = self.file.header.get("TELESCOP")
        return telescope

    # --- coordinates ---

    def pix2sky(self, pix: Any) -> list[float]:
        """The position in degrees of a pixel (x, y)."""
        return [float(each) for each in self.frame.sky_of(*pix)]

    def sky2pix(self, sky: Any) -> list[float]:
        """The pixel [x, y] of a position in degrees."""
        return [float(each) for each in self.frame.pixel_of(*sky)]

    def beam2pix(self, beam: Any, location: Any = None) -> tuple[float, float, float]:
        """A shape in degrees as a shape in pixels, at the reference pixel."""
        major, minor, angle = beam
        pixel = float(np.sqrt(abs(np.prod(self.frame.steps))))
        return major / pixel, minor / pixel, angle

    def pixel_beam(self) -> tuple[float, float, float]:
        """The beam in pixels, as sigma of a Gaussian."""
        major, minor, angle = self.beam2pix(self.beam)
        return major / _SIGMA, minor / _SIGMA, angle

    def pixel_beamarea(self) -> float:
        """The area of the beam in pixels."""
        return self._catalogue.image.beam_pixels

    # --- maps ---

    @cached_property
    def ch0_arr(self) -> NDArray[np.float32]:
        """The image that was searched."""
        pixels = self._detected.pixels if self._found else None
        return (self.file.plane() if pixels is None else pixels).T

    @property
    def image_arr(self) -> NDArray[np.float32]:
        """The image, with axes of Stokes parameters and channels."""
        return self.ch0_arr[np.newaxis, np.newaxis]

    @cached_property
    def rms_arr(self) -> NDArray[np.float32]:
        """The rms."""
        return self._catalogue.map("rms").T

    @cached_property
    def mean_arr(self) -> NDArray[np.float32]:
        """The background."""
        return self._catalogue.map("background").T

    @cached_property
    def model_gaus_arr(self) -> NDArray[np.float32]:
        """The sum of the Gaussians."""
        return _forced.model(self) if self._is_forced else self._catalogue.map("model").T

    @cached_property
    def resid_gaus_arr(self) -> NDArray[np.float32]:
        """The image less the Gaussians. The background is in it, as in PyBDSF's."""
        return self.ch0_arr - self.model_gaus_arr

    @property
    def _is_forced(self) -> bool:
        """Whether amplitudes were measured at given positions."""
        return self.opts.src_ra_dec is not None

    @cached_property
    def pyrank(self) -> NDArray[np.int32]:
        """The number of each pixel's island, from 0; -1 outside of islands."""
        return _forced.circle_ids(self) if self._is_forced else self._catalogue.segments.T - 1

    @cached_property
    def island_labels(self) -> NDArray[np.int32]:
        """The number of each pixel's island, from 1; 0 outside of islands."""
        return self.pyrank + 1

    @cached_property
    def mask_arr(self) -> NDArray[np.bool_]:
        """Whether a pixel is blank."""
        return np.isnan(self.ch0_arr)

    @cached_property
    def raw_rms(self) -> float:
        """The standard deviation of all pixels."""
        return float(np.nanstd(self.ch0_arr.astype(np.float64)))

    @cached_property
    def raw_mean(self) -> float:
        """The mean of all pixels."""
        return float(np.nanmean(self.ch0_arr.astype(np.float64)))

    @property
    def rms_box(self) -> tuple[int, int]:
        """The size and the step of the boxes of the noise; 0 where the image has one noise."""
        background = self._catalogue.background
        return background.box, background.step

    @property
    def clipped_rms(self) -> float:
        """The rms of the whole image after clipping."""
        return self._catalogue.background.rms

    @property
    def clipped_mean(self) -> float:
        """The mean of the whole image after clipping."""
        return self._catalogue.background.mean

    # --- what was found ---

    @cached_property
    def jansky(self) -> float:
        """The map's unit in Jy/beam; 1 for a unit that is none of flux density per beam."""
        from astropy import units

        try:
            return float(units.Unit(self._catalogue.image.unit).to("Jy/beam"))
        except (TypeError, ValueError):
            return 1.0

    def _rows(self, catalogue: srcfind.Catalogue) -> NDArray[Any]:
        """The rows of a catalogue, in Jy/beam what it has in the map's unit, each with a shape."""
        table, unit = catalogue.array.copy(), self._catalogue.image.unit
        for column in catalogue.columns:
            if unit and column.unit == unit:
                table[column.name] *= self.jansky
        add_shapes(table, self.beam)
        return table

    @cached_property
    def _table(self) -> NDArray[Any]:
        table = self._rows(self._catalogue)
        return _with(table, S_Code=np.full(len(table), "S"))

    def _check_fitted(self) -> None:
        if self.opts.stop_at:
            raise Error("the image has not been fitted: search it without stop_at")

    @property
    def gaussians(self) -> list[Gaussian]:
        """The Gaussians."""
        self._check_fitted()
        return self._gaussians

    @property
    def sources(self) -> list[Source]:
        """The sources, which have one or several Gaussians."""
        self._check_fitted()
        return self._sources

    @cached_property
    def _gaussians(self) -> list[Gaussian]:
        rows = self._catalogue.gaussians
        # amplitudes at given positions: a Gaussian a row
        table = self._table if rows is None else self._rows(rows)
        gaussians = make_gaussians(table, self.frame)
        self._add_spectra(gaussians)
        if self._is_forced:
            _forced.add_island_fluxes(self, gaussians, "centre_pix")
        return gaussians

    @cached_property
    def _sources(self) -> list[Source]:
        sources = make_sources(self._table, self.frame, self._gaussians)
        self._add_spectra(sources)
        if self._is_forced:
            _forced.add_island_fluxes(self, sources, "posn_pix_centroid")
        if self.opts.aperture is not None:
            add_aperture_fluxes(self, sources)
        return sources

    @cached_property
    def islands(self) -> list[Island]:
        """The islands."""
        if self._is_forced:
            return _forced.make_circles(self)
        islands = make_islands(self._table, self._sources, self.ch0_arr, self.pyrank)
        for island in islands if self.opts.stop_at else ():
            island.sources, island.gaul = [], []
        return islands

    def _add_spectra(self, rows: Any) -> None:
        """Sets spectral indices, and fluxes of channels. Those of a Gaussian are of its source, if it
        is the only one there; else unknown."""
        if not self.opts.spectralindex_do:
            return
        table, n = self._table, self.n_measured
        planes = self._catalogue.planes
        fluxes = np.full((2, len(table), n), np.nan)
        if planes is not None and len(table):
            for to, name in zip(fluxes, ("Total_flux", "E_Total_flux")):
                to[:] = planes.array[name].reshape(len(table), n)
        unknown = np.full(len(table), np.nan)
        table = _with(table, Spec_Indx=unknown, E_Spec_Indx=unknown)
        place = {int(number) - 1: i for i, number in enumerate(table["Source_id"])}
        for row in rows:
            i = place[row.source_id]
            whole = isinstance(row, Source) or int(table["N_Gaus"][i]) == 1
            row.specin_flux, row.specin_fluxE = (
                each[i].tolist() if whole else [np.nan] * n for each in fluxes
            )
            row.specin_freq = list(self._detected.channels)
            row.spec_indx, row.e_spec_indx = (
                float(table[name][i]) if whole else np.nan for name in ("Spec_Indx", "E_Spec_Indx")
            )

    @property
    def dsources(self) -> list[Source]:
        """PyBDSF's islands without a good Gaussian; srcfind has none."""
        return []

    @property
    def nsrc(self) -> int:
        """The number of sources."""
        return len(self._catalogue)

    @property
    def ngaus(self) -> int:
        """The number of Gaussians."""
        rows = self._catalogue.gaussians
        return len(self._catalogue if rows is None else rows)

    @property
    def nisl(self) -> int:
        """The number of islands."""
        return len(np.unique(self._catalogue.array["Isl_id"]))

    @property
    def total_flux_gaus(self) -> float:
        """The sum of the fluxes of the Gaussians, in Jy."""
        return float(np.nansum([gaussian.total_flux for gaussian in self.gaussians]))

    @property
    def total_flux_isl(self) -> float:
        """The sum of the fluxes of the islands, in Jy."""
        table = self._catalogue.array
        _, first = np.unique(table["Isl_id"], return_index=True)
        return float(np.nansum(table["Isl_Total_flux"][first]))

    # --- files ---

    def write_catalog(self, **options: Any) -> bool:
        """Writes the Gaussians or sources to a file; True if it was written.

        outfile: its path, or None for a name of PyBDSF; format: fits, ascii, csv, bbs, sagecal, ds9,
        star, kvis, casabox; catalog_type: gaul or srl; bbs_patches, bbs_patches_mask, srcroot,
        correct_proj: of sky models; incl_chan: with fluxes of channels; force_output: also without
        a source; clobber: replaces a file.
        """
        return _write.write_catalog(self, **options)

    def export_image(self, **options: Any) -> bool:
        """Writes a map to a FITS file or a CASA image; True if it was written.

        outfile: its path, or None for a name of PyBDSF; img_type: ch0, rms, mean, gaus_model,
        gaus_resid, island_mask; img_format: fits or casa; mask_dilation: widens the mask so often by
        a pixel; pad_image: with zeros to the size before trim_box; clobber: replaces a file.
        """
        return _export.export_image(self, **options)

    def show_fit(self, **panels: Any) -> bool:
        """Shows the image, its maps and its sources in a window of matplotlib; False without
        matplotlib. panels as in PyBDSF: ch0_image=False leaves one out."""
        return _show.show_fit(self, **panels)

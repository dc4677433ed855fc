"""Searching one image."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from srcfind._calls import lib, text
from srcfind._catalogue import Catalogue
from srcfind._finder import Finder
from srcfind._options import given_options, with_known_names
from srcfind._signatures import Flag, Map, Number, Path, Positions, Whole

if TYPE_CHECKING:
    from astropy.io.fits import Header
    from astropy.wcs import WCS


@with_known_names
def find(
    image: Any,
    *,
    header: Header | str | None = None,
    wcs: WCS | None = None,
    # The options: written by scripts/lists.
    survey: Flag | None = None,
    local: Flag | None = None,
    island: Number | None = None,
    fit: Flag | None = None,
    threshold: Number | None = None,
    beam: Number | Sequence[Number] | str | None = None,
    plane: Whole | Sequence[Whole] | str | None = None,
    threads: Whole | None = None,
    connectivity: Literal[4, 8, "4", "8"] | None = None,
    min_pixels: Whole | None = None,
    negative: Flag | None = None,
    completeness: Flag | Whole | None = None,
    seed: Whole | None = None,
    inject: Positions | None = None,
    scales: Flag | Number | Sequence[Number] | str | None = None,
    kappa: Number | None = None,
    background: Literal["median", "zero"] | Number | None = None,
    rms: Number | None = None,
    rms_box: Whole | Sequence[Whole] | str | None = None,
    rms_map: Map | None = None,
    background_map: Map | None = None,
    deblend: Flag | None = None,
    contrast: Number | None = None,
    group: Literal["island"] | Number | None = None,
    shapes: Literal["auto", "free", "beam"] | None = None,
    psf: Path | None = None,
    flux_error: Number | None = None,
    position_error: Number | None = None,
    detect_on: Map | None = None,
    detect_rms_map: Map | None = None,
    detect_background_map: Map | None = None,
    measure_in: Path | Sequence[Path] | None = None,
    at: Positions | None = None,
    at_all: Flag | None = None,
    at_fixed: Flag | None = None,
    at_positive: Flag | None = None,
    at_search: Flag | None = None,
    mask: Map | None = None,
    mask_noise: Flag | None = None,
    regions_as: Literal["search", "mask"] | None = None,
    blank: Number | None = None,
    hdu: str | Whole | None = None,
    trim: Sequence[Whole] | str | None = None,
    patches: Literal["none", "source", "island"] | None = None,
    spectral_index: Number | None = None,
    mask_dilate: Whole | None = None,
    mask_fill: Flag | None = None,
    sort: Literal["flux", "snr", "ra", "dec"] | None = None,
    device: str | Whole | None = None,
    device_memory: Whole | None = None,
    # End of the options.
) -> Catalogue:
    """Finds the sources of an image.

    The first thing to try is `srcfind.find("image.fits", survey=True)`. Options of every day follow
    the image; all others are below, under Other Parameters. None stands for the default of an
    option. `srcfind.options()` lists them, and `srcfind.options()["local"]` has the whole text of
    one. Python's other threads run during the search, and Ctrl-C ends it.

    Parameters
    ----------
    image : path, array, HDU, HDUList, CCDData or NDData
        What is searched:

        - the path of a FITS file (str or os.PathLike);
        - an array of shape (height, width) with real numbers; leading axes of length 1 are left
          out. Blank pixels are NaN, or masked. float32 is searched where it is, in either byte
          order, if its rows are contiguous; other arrays are copied, and each value rounded once,
          to the nearest float32. The unit of a Quantity counts unless the header has a BUNIT;
        - an astropy PrimaryHDU, ImageHDU or CompImageHDU: its data and header, and of a cube the
          plane of the option `plane` (1);
        - an open HDUList of astropy: the HDU of the option `hdu`, else the first one with an image,
          as of a file;
        - an astropy CCDData or NDData: its data, without the pixels where its mask is True, its
          header, wcs and unit;
        - a float32 array in the memory of a CUDA device, as those of CuPy, Numba, PyTorch and JAX:
          by DLPack, or by __cuda_array_interface__, which does not tell the device: name it with
          the option `device`, if it is not the first.
    header : Header or str of cards of 80 characters, optional
        Of an array: coordinates, beam, unit and frequency are read from it as from a file.
    wcs : WCS, optional
        Of an array: its coordinates, also beside a header.
    survey : bool, default: False
        Short for `local=True`, `island=3`, `fit=True`, which suit most images of surveys. A value
        of `island` that is given takes precedence; all other options can be added. Without
        `survey=True` there is one noise for the image, and islands end at the threshold.
    local : bool, default: False
        Measure background and rms from place to place; see "Local noise" in `man srcfind`.
    island : float [rms], default: as threshold
        The island of a source contains the connected pixels with value - background > `island` x
        rms. `island` must not be larger than the value of `threshold`.
    fit : bool, default: False
        The same as `deblend=True`, and then fit an elliptical Gaussian to each source; see
        "COMPONENTS" in `man srcfind`. The catalogue also has the errors of the sizes, and
        deconvolved sizes. A source that cannot be fitted keeps its moments, and has flag 64.
    threshold : float [rms], default: 5
        A source has at least one pixel with value - background > `threshold` x rms.
    beam : float or (MAJ, MIN, PA) [arcsec, arcsec, degrees], default: the header's
        Use this restoring beam instead of the beam in the header: FWHM of the major and the minor
        axis in arcsec, and position angle in degrees. MAJ alone means a circular beam.
    plane : int, tuple of int, or str, default: 1
        Search these planes. For each axis from 3 on, give a number, counted from 1, a range A-B,
        or "all" (default 1, also for axes that are not given). "all" alone means every plane of
        the file, on all axes.
    threads : int, default: all that the process may use
        The number of CPU threads, 1 to 4096 (default: one for each CPU that the process may use).
        These are the CPUs of its affinity (taskset, cpusets), or, if lower, its quota of CPU time
        (cgroups of containers), rounded up.

    Returns
    -------
    Catalogue
        The sources, with the noise, the maps and what is known of the image.

    Other Parameters
    ----------------
    connectivity : {4, 8}, default: 4
        With 4, pixels are neighbours if they share an edge. With 8, pixels that share a corner
        are neighbours too.
    min_pixels : int [pixels], default: 1
        Ignore sources with fewer than `min_pixels` pixels.
    negative : bool, default: False
        Find also the sources of the negated image: the connected pixels with background - value >
        N x rms, with the same background and rms. All other options apply to both searches. The
        negative sources stand behind the positive ones, and have flag 32.
    completeness : bool or int [sources], default: False (True: 2000)
        Measure how complete the catalogue is: inject `completeness` point sources into the image,
        search it again, and count the injected sources that are found. With `scales`,
        `completeness` sources of each scale above 1 are injected, too.
    seed : int, default: 1
        The seed of the random places and fluxes of `completeness`: a whole number from 0 on.
    inject : path, table or Catalogue, optional
        The same as `completeness`, but inject the sources of this catalogue, with their
        positions, fluxes and shapes, instead of random ones. The positions should be free of
        sources of the image: a real source there would be found anyway.
    scales : bool, float or list of float [FWHM of the beam], default: False (True: 2,4,8 beams)
        The same as `fit=True`, and find emission wider than the beam, which a search of the image
        alone treats as background or does not see. `scales` has up to eight different scales,
        from 1 to 1000 beams.
    kappa : float [standard deviations], default: 3
        Measure the noise from pixels within `kappa` standard deviations of the median.
    background : {'median', 'zero'} or float [unit of the map], default: 'median'
        The background to subtract: "median", the median of the clipped pixels, "zero", which
        subtracts nothing, or a number in the map unit.
    rms : float [unit of the map], default: that of the clip
        Use this rms, in the map unit, instead of measuring it.
    rms_box : int or (SIZE, STEP) [pixels], default: 15 beams, SIZE / 3
        The same as `local=True`, with boxes that are SIZE pixels wide, and nodes every STEP
        pixels. SIZE is at least 8, and STEP at least 1 and at most SIZE (default: a third of it).
        If SIZE is larger than the image, there is one box of all pixels.
    rms_map : path or array, optional
        Take the rms of each pixel from this image; see "User maps" in `man srcfind`.
    background_map : path or array, optional
        Take the background of each pixel from this image; see "User maps" in `man srcfind`.
    deblend : bool, default: False
        Divide islands into sources. A peak is a source of its own if it passes `threshold` and
        rises at least `contrast` x rms above its saddle. The saddle is the lowest pixel of the
        best path to a higher peak.
    contrast : float [rms], default: 1
        The same as `deblend=True`, with peaks that rise at least `contrast` x rms above their
        saddle.
    group : float or 'island', default: 1
        The same as `fit=True`, and set how Gaussians of an island are grouped into sources.
        Consider the sum of the island's Gaussians on the line between the centres of two
        Gaussians. The two belong to one source if either of these holds:

        - There is a dip: the sum falls by at most `group` times the island threshold below the
          lower end of the line, and the distance is at most half of the sum of both FWHMs along
          the line (times `group` if that is above 1).
        - There is no dip: the sum only rises or only falls, and the two Gaussians overlap.
    shapes : {'auto', 'free', 'beam'}, default: 'auto'
        The same as `fit=True`, and choose which Gaussians have the shape of the beam (flag 128).
        With "auto", Gaussians that the fit cannot distinguish from points have it. With "free",
        each Gaussian has its own shape, unless there are too few pixels to fit it.
    psf : path, optional
        Points have another shape than the beam: the shape in `psf`, or the shape of the image's
        own bright sources ("measured"). See "POINT-SPREAD FUNCTION" in `man srcfind`.
    flux_error : float [percent], optional
        Add `flux_error` of each flux to its error, in quadrature: errors of calibration and of
        the primary beam cannot be measured in the image. This changes E_Isl_Total_flux,
        E_Total_flux, E_Peak_flux and E_Spec_Indx, also with `at` and in tables of `measure_in`.
    position_error : float [FWHM of the beam], optional
        Add `position_error` beams (the root of BMAJ x BMIN) to the errors of positions, along
        both axes, in quadrature, for errors of calibration. Without a beam this has no effect.
    detect_on : path or array, optional
        Find the sources in `detect_on`, and measure them in the image; see "TWO IMAGES" in
        `man srcfind`.
    detect_rms_map : path or array, default: its own noise
        Take the rms of each pixel of the image of `detect_on` from this image; see "User maps" in
        `man srcfind`.
    detect_background_map : path or array, default: its own
        Take the background of each pixel of the image of `detect_on` from this image; see "User
        maps" in `man srcfind`.
    measure_in : path or list of paths, optional
        Measure the sources in every plane of these images, too: channels, Stokes parameters,
        epochs. The images have the same pixel grid as the searched image. Implies `fit=True`; see
        "PLANES OF OTHER IMAGES" in `man srcfind`.
    at : path, table, SkyCoord, Catalogue, or pairs of degrees, optional
        Do not search, but measure fluxes at the positions of this catalogue (csv or another table
        of text, ecsv, json, fits or VOTable). In place of a catalogue, positions can be given, as
        '187.7,12.39' or '12:30:49.4 +12:23:28'.
    at_all : bool, default: False
        With `at`: write a row also for entries outside of the image, with empty cells and flag
        512.
    at_fixed : bool, default: False
        With `at`: use the fluxes of the catalogue, and fit nothing, also with `fit=True`.
        `catalogue.map("model")` and `catalogue.map("residual")` then writes the catalogue as a
        model image, and the image minus this model; see "FORCED PHOTOMETRY" in `man srcfind`.
    at_positive : bool, default: False
        With `at`: fit fluxes that are at least 0, by non-negative least squares. This helps if
        positions are so crowded that the fit exchanges flux between neighbours, and if most
        positions have flux. Implies `fit=True`.
    at_search : bool, default: False
        With `at`: subtract the measured sources, and search the residual image with the same
        options and with its own noise. Sources that the list lacks follow the rows of the list,
        with an empty Entry_id and new numbers. Implies `fit=True`.
    mask : path or array, optional
        If `mask` has regions of DS9 or CASA, or a MOC, search only the pixels in these regions;
        the noise is still measured from the whole image. See "REGIONS" in `man srcfind`.
    mask_noise : bool, default: False
        With regions of `mask`: the noise, too, is measured only from the pixels in the regions.
        All other pixels count as blank in every respect, as with a FITS mask.
    regions_as : {'search', 'mask'}, default: 'search'
        What the regions of `mask` do. With "search", only the pixels in the regions are searched.
    blank : float [unit of the map], optional
        Treat pixels of this value as blank; `blank=0` is for mosaics that are padded with zeros.
        `blank` is rounded like the pixels, and -0 equals 0.
    hdu : int or str, default: the first with an image
        Read this HDU, given by its number (0 is the primary HDU) or by its EXTNAME, in upper or
        lower case. By default srcfind reads the first HDU that holds an image with two or more
        axes.
    trim : (X0, X1, Y0, Y1) [pixels], default: all
        Search only the columns X0 to X1 and the rows Y0 to Y1, counted from 1, as in sections of
        FITS images; see "A part of an image" in `man srcfind`.
    patches : {'none', 'source', 'island'}, default: 'none'
        Group the Gaussians of a sky model into patches or clusters: one for each "source", one
        for each "island", or "none". Only for the formats skymodel and sagecal; see "SKY MODELS"
        in `man srcfind`.
    spectral_index : float, default: -0.8
        The spectral index of sources in a sky model for which `measure_in` has measured none.
        Only for the formats skymodel and sagecal.
    mask_dilate : int [pixels], default: 0
        Widen the saved mask (`catalogue.map("mask")`) by `mask_dilate` pixels (a whole number up
        to 1000, default 0): each pixel of the mask becomes a disc of this radius.
    mask_fill : bool, default: False
        Fill the holes of the saved mask (`catalogue.map("mask")`), after `mask_dilate`. A hole is
        a group of pixels, joined along edges, that the mask encloses.
    sort : {'flux', 'snr', 'ra', 'dec'}, optional
        Sort the rows of catalogues by "flux" (Total_flux) or "snr", the largest value first, or
        by "ra" or "dec", the smallest value first (also by galactic and other longitudes and
        latitudes). Rows without a value come last.
    device : int or str, default: 'auto'
        Search on this device: "auto", "cpu", the number of a CUDA device, or "all". With "all",
        different images are searched on different CUDA devices.
    device_memory : int [MiB], default: all that is free
        Use at most this much memory of a CUDA device, in MiB (default: all free memory). An image
        that does not fit is streamed through the device in chunks.

    Raises
    ------
    OptionError
        A value of an option is wrong, or options do not go together.
    InputError
        The image cannot be read, or is none.
    DeviceError, OutOfMemoryError
        The device cannot be used; memory ran out.
    TypeError
        The object is no image; there is no such option.
    ValueError
        No image has this shape, or has no pixels.

    Warns
    -----
    SrcfindWarning
        Something looks wrong: each note of the search, which the catalogue keeps in `notes`.

    See Also
    --------
    Finder : searches many images with the same options.
    options : lists the options.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.where(np.indices((48, 64)).sum(0) % 2, 1, -1).astype(np.float32)
    >>> image[20, 30:32] = 100, 300
    >>> find(image, threshold=6, beam=10).array["Peak_flux"]
    array([300.])
    """
    catalogue = Finder(**given_options(locals()))._search(image, header, wcs)
    catalogue._warn(4)
    return catalogue


def versions() -> str:
    """The versions of srcfind, its libraries and backends: a text of several lines."""
    return text(lib.srcfind_versions())

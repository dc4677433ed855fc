"""The texts of the options, which `srcfind.options()` reads: by scripts/lists, from the manual.

A line for the name, the type, the unit and the default of an option; a line in short; and its text.
"""

TEXTS = """\
survey : bool, default: False
    for surveys: local=True island=3 fit=True
        Short for `local=True`, `island=3`, `fit=True`, which suit most images of surveys. A value
        of `island` that is given takes precedence; all other options can be added. Without
        `survey=True` there is one noise for the image, and islands end at the threshold.
local : bool, default: False
    measure background and rms from place to place
        Measure background and rms from place to place; see "Local noise" in `man srcfind`.
island : float [rms], default: as threshold
    islands extend down to N rms
        The island of a source contains the connected pixels with value - background > `island` x
        rms. `island` must not be larger than the value of `threshold` (default: the same). An
        island that ends at 5 sigma lacks a quarter of the flux of a 20 sigma source; an island
        that ends at 3 sigma lacks a seventh. Total_flux is corrected for this loss.
fit : bool, default: False
    as deblend=True, and fit a Gaussian to each source
        The same as `deblend=True`, and then fit an elliptical Gaussian to each source; see
        "COMPONENTS" in `man srcfind`. The catalogue also has the errors of the sizes, and
        deconvolved sizes. A source that cannot be fitted keeps its moments, and has flag 64. It
        has no row if the Gaussians of other sources contain half of its flux or more.
threshold : float [rms], default: 5
    a source has a pixel above background + N rms
        A source has at least one pixel with value - background > `threshold` x rms (default 5).
beam : float or (MAJ, MIN, PA) [arcsec, arcsec, degrees], default: the header's
    use this beam: arcsec, arcsec, deg
        Use this restoring beam instead of the beam in the header: FWHM of the major and the minor
        axis in arcsec, and position angle in degrees. MAJ alone means a circular beam.
plane : int, tuple of int, or str, default: 1
    search planes: N, A-B, all, or their mean
        Search these planes. For each axis from 3 on, give a number, counted from 1, a range A-B,
        or "all" (default 1, also for axes that are not given). "all" alone means every plane of
        the file, on all axes. With a range or "all", each plane is an image with a catalogue of
        its own; see "Planes of a cube" in `man srcfind`. "mean" searches the average of all
        planes, and mean:A-B the average of the planes A to B; see "The average of planes" in
        `man srcfind`.
threads : int, default: all that the process may use
    use N CPU threads
        The number of CPU threads, 1 to 4096 (default: one for each CPU that the process may use).
        These are the CPUs of its affinity (taskset, cpusets), or, if lower, its quota of CPU time
        (cgroups of containers), rounded up. If the largest image has more than 256 MiB (8192 x
        8192 pixels of 32 bits), several threads share an image. With one thread, images are
        searched one after the other. If the limit of open files (ulimit -n) is too low, fewer
        images are searched at a time.
connectivity : {4, 8}, default: 4
    pixels touch along edges (8: or at corners)
        With 4, pixels are neighbours if they share an edge (default 4). With 8, pixels that share
        a corner are neighbours too.
min_pixels : int [pixels], default: 1
    ignore sources with fewer than N pixels
        Ignore sources with fewer than `min_pixels` pixels (default 1).
negative : bool, default: False
    find the sources of the negated image, too
        Find also the sources of the negated image: the connected pixels with background - value >
        N x rms, with the same background and rms. All other options apply to both searches. The
        negative sources stand behind the positive ones, and have flag 32. Their fluxes, Pixel_sum
        and SNR are negative, their errors are positive, and their peak is the lowest pixel. If
        nothing in the sky is negative, about as many positive sources are false as there are
        negative sources.
completeness : bool or int [sources], default: False (True: 2000)
    inject N sources, and count those found
        Measure how complete the catalogue is: inject `completeness` point sources (default 2000)
        into the image, search it again, and count the injected sources that are found. With
        `scales`, `completeness` sources of each scale above 1 are injected, too. This takes up to
        64 times as long as the search alone, and does not change the catalogue. The beam must be
        known. See "COMPLETENESS AND RELIABILITY" in `man srcfind`.
seed : int, default: 1
    seed of the random sources of completeness
        The seed of the random places and fluxes of `completeness`: a whole number from 0 on
        (default 1).
inject : path, table or Catalogue, optional
    as completeness, with the sources of a file
        The same as `completeness`, but inject the sources of this catalogue, with their
        positions, fluxes and shapes, instead of random ones. The positions should be free of
        sources of the image: a real source there would be found anyway. With `completeness=N`, at
        most N sources of the catalogue are injected, and `seed` chooses them. See "COMPLETENESS
        AND RELIABILITY" in `man srcfind` for the columns that are read and the number of
        searches.
scales : bool, float or list of float [FWHM of the beam], default: False (True: 2,4,8 beams)
    find emission wider than the beam
        The same as `fit=True`, and find emission wider than the beam, which a search of the image
        alone treats as background or does not see. `scales` has up to eight different scales,
        from 1 to 1000 beams (default 2,4,8). For each scale, from the smallest on, srcfind
        subtracts the Gaussians found so far, smooths the rest with a round Gaussian of that FWHM,
        and searches it with the same thresholds and with local noise. An uncertain detection has
        no row; if it lies beside a source, its flux is added to that source. See "EXTENDED
        EMISSION" in `man srcfind`. The beam must be known. A scale wider than half of the image
        is left out, and a note says so.
        Use `scales` with `local=True` or `survey=True`. With one noise for the image, wide
        sources are divided into pieces that lack up to half of the flux. Smoothed images of more
        than 4096 x 4096 samples use space in /tmp.
kappa : float [standard deviations], default: 3
    clip at median -+ K standard deviations
        Measure the noise from pixels within `kappa` standard deviations of the median (default
        3).
background : {'median', 'zero'} or float [unit of the map], default: 'median'
    subtract median, zero, or a value
        The background to subtract: "median", the median of the clipped pixels (default median),
        "zero", which subtracts nothing, or a number in the map unit.
rms : float [unit of the map], default: that of the clip
    use this rms, in the map's unit
        Use this rms, in the map unit, instead of measuring it.
rms_box : int or (SIZE, STEP) [pixels], default: 15 beams, SIZE / 3
    as local=True, in boxes
        The same as `local=True`, with boxes that are SIZE pixels wide, and nodes every STEP
        pixels. SIZE is at least 8, and STEP at least 1 and at most SIZE (default: a third of it).
        If SIZE is larger than the image, there is one box of all pixels. A small STEP costs time,
        because each node has a box.
rms_map : path or array, optional
    take the rms from this map
        Take the rms of each pixel from this image; see "User maps" in `man srcfind`.
background_map : path or array, optional
    take the background from this map
        Take the background of each pixel from this image; see "User maps" in `man srcfind`.
deblend : bool, default: False
    divide islands into sources at saddles
        Divide islands into sources. A peak is a source of its own if it passes `threshold` and
        rises at least `contrast` x rms above its saddle. The saddle is the lowest pixel of the
        best path to a higher peak. A peak that is no source gives its pixels to the higher peak.
        So the highest peak of an island is always a source, and each pixel belongs to one source.
        Sources are numbered by island, and within an island by Peak_flux, the highest first. The
        catalogue then has the column S_Code. `min_pixels` counts the pixels of an island before
        it is divided.
contrast : float [rms], default: 1
    as deblend=True: peaks C rms above their saddle
        The same as `deblend=True`, with peaks that rise at least `contrast` x rms above their
        saddle (default 1).
group : float or 'island', default: 1
    as fit=True: Gaussians this close are a source
        The same as `fit=True`, and set how Gaussians of an island are grouped into sources.
        Consider the sum of the island's Gaussians on the line between the centres of two
        Gaussians. The two belong to one source if either of these holds:
        - There is a dip: the sum falls by at most `group` times the island threshold below the
          lower end of the line, and the distance is at most half of the sum of both FWHMs along
          the line (times `group` if that is above 1).
        - There is no dip: the sum only rises or only falls, and the two Gaussians overlap.
        With 0 each Gaussian is a source; with "island" all Gaussians of an island are one source
        (default 1).
shapes : {'auto', 'free', 'beam'}, default: 'auto'
    as fit=True: Gaussians of the beam's shape
        The same as `fit=True`, and choose which Gaussians have the shape of the beam (flag 128).
        With "auto", Gaussians that the fit cannot distinguish from points have it (default auto).
        With "free", each Gaussian has its own shape, unless there are too few pixels to fit it.
        With "beam", all Gaussians have the shape of the beam: an extended source becomes several
        points, or has a high Resid_Isl_rms. An image without a beam then fails, and the other
        images are searched. See "COMPONENTS" in `man srcfind`.
psf : path, optional
    points have this shape, not the beam's
        Points have another shape than the beam: the shape in `psf`, or the shape of the image's
        own bright sources ("measured"). See "POINT-SPREAD FUNCTION" in `man srcfind`.
flux_error : float [percent], optional
    add this share of each flux to its error
        Add `flux_error` of each flux to its error, in quadrature: errors of calibration and of
        the primary beam cannot be measured in the image. This changes E_Isl_Total_flux,
        E_Total_flux, E_Peak_flux and E_Spec_Indx, also with `at` and in tables of `measure_in`.
        For comparison, noise alone gives a source of 200 rms an error of 0.5%. 0 adds nothing. A
        note recommends this option if eight or more sources are above 100 rms.
position_error : float [FWHM of the beam], optional
    add this part of the beam to errors of positions
        Add `position_error` beams (the root of BMAJ x BMIN) to the errors of positions, along
        both axes, in quadrature, for errors of calibration. Without a beam this has no effect.
        For comparison, noise alone gives a source of 200 rms an error of 0.003 beams. 0 adds
        nothing.
detect_on : path or array, optional
    find the sources in FILE, measure in the image
        Find the sources in `detect_on`, and measure them in the image; see "TWO IMAGES" in
        `man srcfind`.
detect_rms_map : path or array, default: its own noise
    with detect_on: its rms
        Take the rms of each pixel of the image of `detect_on` from this image; see "User maps" in
        `man srcfind`.
detect_background_map : path or array, default: its own
    with detect_on: its background
        Take the background of each pixel of the image of `detect_on` from this image; see "User
        maps" in `man srcfind`.
measure_in : path or list of paths, optional
    measure the sources in these images, too
        Measure the sources in every plane of these images, too: channels, Stokes parameters,
        epochs. The images have the same pixel grid as the searched image. Implies `fit=True`; see
        "PLANES OF OTHER IMAGES" in `man srcfind`.
at : path, table, SkyCoord, Catalogue, or pairs of degrees, optional
    measure at the positions of this catalogue
        Do not search, but measure fluxes at the positions of this catalogue (csv or another table
        of text, ecsv, json, fits or VOTable). In place of a catalogue, positions can be given, as
        '187.7,12.39' or '12:30:49.4 +12:23:28'. See "FORCED PHOTOMETRY" in `man srcfind`. The
        output has one row for each entry in the image. This option cannot be combined with
        `negative=True`, `group`, `shapes` or `scales`. `deblend=True` and `contrast` need
        `fit=True` beside it.
at_all : bool, default: False
    with at: rows for entries outside, too
        With `at`: write a row also for entries outside of the image, with empty cells and flag
        512.
at_fixed : bool, default: False
    with at: use the catalogue's fluxes, no fit
        With `at`: use the fluxes of the catalogue, and fit nothing, also with `fit=True`.
        `catalogue.map("model")` and `catalogue.map("residual")` then writes the catalogue as a
        model image, and the image minus this model; see "FORCED PHOTOMETRY" in `man srcfind`.
at_positive : bool, default: False
    with at: as fit=True, with fluxes of at least 0
        With `at`: fit fluxes that are at least 0, by non-negative least squares. This helps if
        positions are so crowded that the fit exchanges flux between neighbours, and if most
        positions have flux. Implies `fit=True`. Errors are as without this option, so that '0 -+
        2' means that the flux is probably below 4. The average of such fluxes is too high: do not
        use the option for stacking. Fluxes in the planes of `measure_in` may be below 0.
at_search : bool, default: False
    with at: as fit=True, and find what the list lacks
        With `at`: subtract the measured sources, and search the residual image with the same
        options and with its own noise. Sources that the list lacks follow the rows of the list,
        with an empty Entry_id and new numbers. Implies `fit=True`. The list is not fitted again
        together with the new sources: for that, give the new catalogue to `at`.
mask : path or array, optional
    search these regions; ignore 0 in a FITS mask
        If `mask` has regions of DS9 or CASA, or a MOC, search only the pixels in these regions;
        the noise is still measured from the whole image. See "REGIONS" in `man srcfind`. If
        `mask` is a FITS image, ignore the pixels where it is 0 or blank, as if they were blank in
        the searched image. See "User maps" in `man srcfind`.
mask_noise : bool, default: False
    with mask: measure noise in the regions only
        With regions of `mask`: the noise, too, is measured only from the pixels in the regions.
        All other pixels count as blank in every respect, as with a FITS mask.
regions_as : {'search', 'mask'}, default: 'search'
    what the regions of mask do
        What the regions of `mask` do. With "search", only the pixels in the regions are searched
        (default search). With "mask", the whole image is searched, and the regions change the
        saved mask (`catalogue.map("mask")`) after it was widened and filled, line by line:
        regions that include are added to the mask, and regions that exclude are cut out of it.
blank : float [unit of the map], optional
    pixels of this value are blank, as 0 in mosaics
        Treat pixels of this value as blank; `blank=0` is for mosaics that are padded with zeros.
        `blank` is rounded like the pixels, and -0 equals 0.
hdu : int or str, default: the first with an image
    search this HDU
        Read this HDU, given by its number (0 is the primary HDU) or by its EXTNAME, in upper or
        lower case. By default srcfind reads the first HDU that holds an image with two or more
        axes.
trim : (X0, X1, Y0, Y1) [pixels], default: all
    search only these columns and rows
        Search only the columns X0 to X1 and the rows Y0 to Y1, counted from 1, as in sections of
        FITS images (default all); see "A part of an image" in `man srcfind`.
patches : {'none', 'source', 'island'}, default: 'none'
    sky model: patches none, source or island
        Group the Gaussians of a sky model into patches or clusters: one for each "source", one
        for each "island", or "none" (default none). Only for the formats skymodel and sagecal;
        see "SKY MODELS" in `man srcfind`.
spectral_index : float, default: -0.8
    default spectral index in sky models
        The spectral index of sources in a sky model for which `measure_in` has measured none
        (default -0.8). Only for the formats skymodel and sagecal.
mask_dilate : int [pixels], default: 0
    widen the saved mask by R pixels
        Widen the saved mask (`catalogue.map("mask")`) by `mask_dilate` pixels (a whole number up
        to 1000, default 0): each pixel of the mask becomes a disc of this radius.
mask_fill : bool, default: False
    fill the holes of the saved mask
        Fill the holes of the saved mask (`catalogue.map("mask")`), after `mask_dilate`. A hole is
        a group of pixels, joined along edges, that the mask encloses.
sort : {'flux', 'snr', 'ra', 'dec'}, optional
    rows by falling flux or S/N, rising RA or DEC
        Sort the rows of catalogues by "flux" (Total_flux) or "snr", the largest value first, or
        by "ra" or "dec", the smallest value first (also by galactic and other longitudes and
        latitudes). Rows without a value come last. Without `sort`, rows are in the order of their
        islands. Source_id does not change. The maps islands and sources, the tables beside the
        catalogue and sky models are not sorted. With the command's --merge, the merged catalogue
        is sorted as a whole.
device : int or str, default: 'auto'
    auto, cpu, all, or the number of a GPU
        Search on this device: "auto", "cpu", the number of a CUDA device, or "all" (default
        auto). With "all", different images are searched on different CUDA devices.
        With "auto", srcfind uses the first CUDA device if it would finish the rest of the run
        sooner than the CPU, including up to half a second for its start; else the CPU. srcfind
        estimates this from the options, the sizes of the files, the number of threads, and the
        times of earlier images. With local noise and 16 threads, a device helps from some 4e8
        pixels on. The CPU then searches images, too, as long as it finishes them before the
        device could. "auto" stays on the CPU if there is no CUDA device, if the memory of the
        device is too small for an image, and after an error that makes the device unusable. With
        `rms_map` or `background_map` srcfind searches on the CPU only: to copy these maps to a
        device takes longer than to search with them.
        If a device is named and cannot be used, this is an error.
device_memory : int [MiB], default: all that is free
    use no more memory of a GPU
        Use at most this much memory of a CUDA device, in MiB (default: all free memory). An image
        that does not fit is streamed through the device in chunks. The device then keeps only
        what the catalogue needs: about 40% of the size of the image, if few pixels are in
        sources.
"""

"""The texts of the options, which `srcfind.options()` reads: by scripts/lists, from the manual.

A line for the name, the type, the unit and the default of an option; a line in short; and its text.
"""

TEXTS = """\
survey : bool, default: False
    what surveys want: local=True island=3 fit=True
        What a survey map needs, in one word: `local=True`, `island=3`, `fit=True`. `island` with
        another value has that value; all other options can be added. Without `survey=True` there
        is one noise for the image, and islands end at the threshold.
local : bool, default: False
    measure background and rms from place to place
        Measure background and rms from place to place; see "Local noise" in the manual.
island : float [rms], default: as threshold
    islands extend down to N rms
        The island of a source contains the connected pixels with value - background > `island` x
        rms. `island` must not be larger than the value of `threshold` (default: the same). An
        island that ends at 5 sigma lacks a quarter of the flux of a 20 sigma source; an island
        that ends at 3 sigma lacks a seventh. Total_flux is corrected for this loss.
fit : bool, default: False
    as deblend=True, and fit a Gaussian to each source
        The same as `deblend=True`, and then fit an elliptical Gaussian to each source; see
        "Components" in the manual. The catalogue also has columns for the errors of the sizes,
        and for the sizes without the beam. A source that cannot be fitted keeps its moments, and
        has flag 64; where the Gaussians of others hold half of its flux or more, it has no row.
threshold : float [rms], default: 5
    a source has a pixel above background + N rms
        A source has at least one pixel with value - background > `threshold` x rms (default 5).
beam : float or (MAJ, MIN, PA) [arcsec, arcsec, degrees], default: the header's
    use this beam: arcsec, arcsec, deg
        Use this restoring beam instead of the beam in the header: the FWHM of the major and minor
        axis in arcsec, and the position angle in degrees. MAJ alone means a circular beam.
plane : int, tuple of int, or str, default: 1
    search planes: N, A-B, all, or their mean
        Search these planes: of axis 3, 4, ... each a number, counted from 1, a range A-B, or
        "all" (default 1, also for axes that are not given). "all" alone means every plane of the
        file, on all axes. Ranges and "all" make an image of each plane; see "Planes of a cube" in
        the manual. "mean" and mean:A-B search the average of all planes, or of these; see "The
        average of planes" in the manual.
threads : int, default: all that the process may use
    use N CPU threads
        The number of CPU threads, 1 to 4096 (default: one for each CPU that the process may use).
        These are the CPUs of its affinity (taskset, cpusets) or, if that is less, its quota of
        CPU time (cgroups, as containers have them), rounded up. If the largest image has more
        than 256 MiB (8192 x 8192 pixels of 32 bits), several threads search each image. With one
        thread, images are searched one after the other. If the limit of open files (ulimit -n) is
        too low, fewer images are searched at a time.
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
        negative sources follow the others, and have flag 32. Their fluxes, Pixel_sum and SNR are
        negative, their errors are positive, and their peak is the lowest pixel. If nothing in the
        sky is negative, the number of negative sources tells how many of the other sources are
        false.
completeness : bool or int [sources], default: False (True: 2000)
    inject N sources, and count those found
        Measure how complete the catalogue is: add `completeness` sources (default 2000) of the
        beam's shape to the image, search it again, and count those that are found; with `scales`
        also `completeness` of each scale above 1. That takes up to 64 times as long as the search
        alone. Section "COMPLETENESS" in the manual has more. The sources of the catalogue stay as
        they are. The beam must be known.
seed : int, default: 1
    seed of the random sources of completeness
        The seed of the random places and fluxes of `completeness`: a whole number from 0 on
        (default 1).
inject : path, table or Catalogue, optional
    as completeness, with the sources of a file
        As `completeness`, with the sources of this catalogue in place of random ones: their
        positions, fluxes and shapes. Take positions where the image has no sources, since it
        would find its own anyway. With `completeness=N` at most N of them are taken, which `seed`
        chooses. Section "COMPLETENESS" in the manual says which columns are read, and how many
        searches that takes.
scales : bool, float or list of float [FWHM of the beam], default: False (True: 2,4,8 beams)
    find emission wider than the beam
        The same as `fit=True`, and emission that is wider than the beam, which a search of the
        image alone takes for background or does not see. `scales` has up to eight different
        scales, from 1 to 1000 beams (default 2,4,8). For each of them, from the smallest on, the
        image less the Gaussians found so far is smoothed with a round Gaussian of that FWHM, and
        searched with the same thresholds and with local noise, in boxes of 15 effective beams;
        what is only just found has no row, or its flux is added to a source beside it. Section
        "EXTENDED EMISSION" in the manual has more. The beam must be known, and a scale that is
        wider than half of the image is left out, which a note says. Use it with `local=True`.
        With one noise for the image, wide sources are divided into pieces that lack up to half of
        the flux; a note says so. Smoothed images of more than 4096 x 4096 samples take room in
        /tmp: of scale 2, an image whose beam has fewer than 4.5 pixels has as many samples as
        pixels.
kappa : float [standard deviations], default: 3
    clip at median -+ K standard deviations
        Clip at the median -+ `kappa` standard deviations (default 3).
background : {'median', 'zero'} or float [unit of the map], default: 'median'
    subtract median, zero, or a value
        The background to subtract: "median", the median of the clipped pixels (default median),
        "zero", which subtracts nothing, or a number in the map unit.
rms : float [unit of the map], default: that of the clip
    use this rms, in the map's unit
        Use this noise, in the map unit, instead of the rms of the clip.
rms_box : int or (SIZE, STEP) [pixels], default: 15 beams, SIZE / 3
    as local=True, in boxes
        The same as `local=True`, with boxes that are SIZE pixels wide, and nodes every STEP
        pixels. SIZE is at least 8, and STEP at least 1 and at most SIZE (default: a third of it).
        If SIZE is larger than the image, there is one box of all pixels. A small STEP costs time,
        because each node has a box.
rms_map : path or array, optional
    take the rms from this map
        Take the rms of each pixel from this image; see "User maps" in the manual.
background_map : path or array, optional
    take the background from this map
        Take the background of each pixel from this image; see "User maps" in the manual.
deblend : bool, default: False
    divide islands into sources at saddles
        Divide islands into sources. A peak is a source of its own if it passes `threshold`, and
        if it rises at least `contrast` x rms above its saddle: the highest pixel over which it is
        joined to a higher peak. The pixels of any other peak belong to the higher peak. So the
        highest peak of an island is always a source, and each pixel belongs to one source.
        Sources are numbered by island, and in an island by Peak_flux, the highest first. The
        catalogue then has the column S_Code. `min_pixels` counts the pixels of an island before
        it is divided.
contrast : float [rms], default: 1
    as deblend=True: peaks C rms above their saddle
        The same as `deblend=True`, with peaks that rise at least `contrast` x rms above their
        saddle (default 1).
group : float or 'island', default: 1
    as fit=True: Gaussians this close are a source
        The same as `fit=True`, with another rule for Gaussians that are one source. Two Gaussians
        of an island belong together where, on the line between their centres, the sum of the
        island's Gaussians falls by at most `group` times the island threshold below the lower one
        of its ends, and their distance is at most half of the sum of their FWHMs along that line,
        times `group` if that is above 1; or where that sum only rises, or only falls, and they
        reach each other. With 0 each Gaussian is a source; with "island" all Gaussians of an
        island are one (default 1).
shapes : {'auto', 'free', 'beam'}, default: 'auto'
    as fit=True: Gaussians of the beam's shape
        The same as `fit=True`; and which Gaussians have the beam's shape (flag 128). With "auto",
        those that the fit cannot tell from points. With "free", each Gaussian has its own shape,
        unless the pixels do not hold it. With "beam", all have the beam's: an extended source
        becomes several points, or keeps a high Resid_Isl_rms; an image without a beam is an
        error, and the other images are searched. See "Components" in the manual (default auto).
psf : path, optional
    points have this shape, not the beam's
        Take the shape of points from `psf`, or from the image's own bright sources ("measured"),
        where it is not the beam's; see "Point-spread function" in the manual.
flux_error : float [percent], optional
    add so much of each flux to its error
        Errors of fluxes have `flux_error` of the flux in quadrature, for errors of calibration
        and of the primary beam, which no image can tell. It is in E_Isl_Total_flux, E_Total_flux
        and E_Peak_flux, also with `at` and in tables of `measure_in`, and so in E_Spec_Indx. Of a
        source of 200 rms noise alone leaves an error of some 0.5%. 0 adds nothing. A note tells
        where eight or more sources are above 100 rms without this option.
position_error : float [FWHM of the beam], optional
    add this part of the beam to errors of positions
        Errors of positions have `position_error` of the beam (the root of BMAJ x BMIN) in
        quadrature, along both axes, for errors of calibration; without a beam it has no effect.
        Of a source of 200 rms noise alone leaves an error of some 0.003. 0 adds nothing.
detect_on : path or array, optional
    find the sources in FILE, measure in the image
        Find the sources in `detect_on`, and measure them in the image; see "Two images" in the
        manual.
detect_rms_map : path or array, default: its own noise
    with detect_on: its rms
        Take the rms of each pixel of the image of `detect_on` from this image; see "User maps" in
        the manual.
detect_background_map : path or array, default: its own
    with detect_on: its background
        Take the background of each pixel of the image of `detect_on` from this image; see "User
        maps" in the manual.
measure_in : path or list of paths, optional
    measure the sources in these images, too
        Measure the sources in every plane of these images, too, which have the grid of the image:
        channels, Stokes parameters, epochs. Implies `fit=True`; see "Planes of other images" in
        the manual.
at : path, table, SkyCoord, Catalogue, or pairs of degrees, optional
    measure at the positions of this catalogue
        Measure at the positions of this catalogue (csv or another table of text, ecsv, json, fits
        or VOTable), or at the positions that are given themselves, as '187.7,12.39' or
        '12:30:49.4 +12:23:28', instead of searching; see "Forced photometry" in the manual. The
        output has one row for each entry in the image. This option cannot be combined with
        `negative=True`, `group`, `shapes` or `scales`, nor, without `fit=True`, with
        `deblend=True` or `contrast`.
at_all : bool, default: False
    with at: rows for entries outside, too
        With `at`: entries outside of the image have a row, too, with empty cells and flag 512.
at_fixed : bool, default: False
    with at: fluxes are the catalogue's: no fit
        With `at`: the fluxes of the catalogue are taken as they are, and no fit is made, also
        with `fit=True`. `catalogue.map("model")` and `catalogue.map("residual")` then has the
        model of the catalogue in the image, and what the image is less it; see "Forced
        photometry" in the manual.
at_positive : bool, default: False
    with at: as fit=True, with fluxes of at least 0
        With `at`: no flux is below 0, which helps where positions are so crowded that the flux of
        one is taken for that of the next, and most have flux. Implies `fit=True`. Positions that
        are fitted together are solved for by non-negative least squares. A flux of 0 is what is
        left where the data ask for less; errors are those of fluxes of either sign, so that '0 -+
        2' says that the flux is hardly above 4. Averages of such fluxes are too high: leave it
        out before stacking. Fluxes in the planes of `measure_in` may be below 0.
at_search : bool, default: False
    with at: as fit=True, and find what the list lacks
        With `at`: what is measured is subtracted from the image, and the rest is searched as any
        image is, with the same options: sources that the list lacks are rows behind those of the
        list, with an empty Entry_id and numbers of their own. The noise of this search is that of
        the rest. Implies `fit=True`. The list is not fitted again beside them: give the catalogue
        to `at` for that.
mask : path or array, optional
    search these regions; ignore 0 in a FITS mask
        Search only what the regions of this file leave: regions of DS9; see "Regions" in the
        manual. The noise stays that of the whole image. Or ignore the pixels where this image is
        0 or blank, as if they were blank in the image; see "User maps" in the manual.
mask_noise : bool, default: False
    the noise, too, is only of regions of mask
        With regions of `mask`: the noise, too, is only of the pixels that they leave. All others
        count as blank in every respect, as those of a mask.
regions_as : {'search', 'mask'}, default: 'search'
    what regions of mask change
        "search" (default search): regions of `mask` are what is searched. "mask": they change the
        saved mask of `catalogue.map("mask")` instead, line by line, once it is widened and
        filled: those that include are merged into it, and those that exclude are cut out of it.
        The search is then that of the whole image.
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
        FITS images (default all); see "A part of an image" in the manual.
patches : {'none', 'source', 'island'}, default: 'none'
    sky model: patches none, source or island
        The patches of a sky model, or its clusters: "none", "source" or "island" (default none).
        Only with the formats skymodel and sagecal; see "SKY MODELS" in the manual.
spectral_index : float, default: -0.8
    sky model: index where none is measured
        In a sky model, the spectral index of sources of which `measure_in` has found none
        (default -0.8). Only with the same formats.
mask_dilate : int [pixels], default: 0
    widen the saved mask by R pixels
        Widen the map mask of `catalogue.map` by `mask_dilate` pixels (a whole number up to 1000,
        default 0): each of its pixels becomes a disc of this radius.
mask_fill : bool, default: False
    fill the holes of the saved mask
        Fill the holes of the map mask of `catalogue.map`, after `mask_dilate`: the pixels that
        the mask encloses, where pixels are neighbours along edges.
sort : {'flux', 'snr', 'ra', 'dec'}, optional
    rows by falling flux or S/N, rising RA or DEC
        The order of the rows of catalogues: "flux" (Total_flux) or "snr", the largest one first;
        "ra" or "dec", the smallest one first (galactic and other longitudes and latitudes, too).
        Rows without this number are the last. Without `sort` rows are in the order of their
        islands. Numbers of sources (Source_id) stay those of this order, as in the maps islands
        and sources and in the tables beside the catalogue, which are not sorted; nor are sky
        models. With the command's --merge, the merged catalogue is sorted as a whole.
device : int or str, default: 'auto'
    auto, cpu, all, or the number of a GPU
        Search on this device: "auto", "cpu", the number of a CUDA device, or "all" (default
        auto). With "all", different images are searched on different CUDA devices.
        "auto" means the CPU, unless the first CUDA device would end the rest of the run sooner,
        including up to half a second for its start. srcfind estimates this from the options, the
        sizes of the files, the number of threads, and the times of the images before. With local
        noise and 16 threads, a device helps from some 4e8 pixels on. Images then go to the
        device, and to the CPU as long as it ends them before the device could. "auto" stays on
        the CPU if there is no CUDA device, if the memory of the device is too small for an image,
        and after an error that makes the device unusable. With `rms_map` or `background_map`
        srcfind searches on the CPU only: to copy these maps to a device takes longer than to
        search with them.
        If a device is named and cannot be used, this is an error.
device_memory : int [MiB], default: all that is free
    use no more memory of a GPU
        Use at most this much memory of a CUDA device, in MiB (default: all free memory). An image
        that does not fit is streamed through the device in chunks. The device then keeps only
        what the catalogue needs: about 40% of the size of the image, if few pixels are in
        sources.
"""

"""In the place of PyBDSF: options, what an image has, and the files that it writes."""
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy.io import fits
from astropy.table import Table
from conftest import ROOT, SAMPLE, assert_same
from srcfind import bdsf
from srcfind.bdsf import _export, _options
from srcfind.bdsf._frame import Frame

SEARCH = {
    "threshold": 5,
    "island": 3,
    "rms_box": (60, 20),
    "connectivity": 8,
    "min_pixels": 6,
    "fit": True,
    "group": 1,
}


@pytest.fixture
def log(tmp_path):
    return lambda: (tmp_path / "sample.fits.pybdsf.log").read_text()


def sky(**cards):
    """A header of a source-rich plane, with a frequency."""
    header = t.sky_header(**cards)
    header.update(CTYPE3="FREQ", CRVAL3=1.4e9, CRPIX3=1.0, CDELT3=1e8, CUNIT3="Hz")
    return header


def points(header, places):
    """The sum of points at pixels (x, y), each 1, with the beam of a header; 160 x 160 pixels."""
    y, x = np.mgrid[:160, :160]
    major, minor = header["BMAJ"] / header["CDELT2"], header["BMIN"] / header["CDELT2"]
    sine, cosine = np.sin(np.radians(header["BPA"])), np.cos(np.radians(header["BPA"]))
    total = np.zeros((160, 160))
    for x0, y0 in places:
        along = ((y - y0) * cosine - (x - x0) * sine) / major
        across = ((y - y0) * sine + (x - x0) * cosine) / minor
        total += np.exp(-4 * np.log(2) * (along**2 + across**2))
    return total


# --- options ---


def test_page_of_options():
    """The page has the table that --options prints."""
    with open(os.path.join(ROOT, "docs", "bdsf-options.md"), encoding="utf-8") as stream:
        assert stream.read().endswith("prints this table:\n\n" + _options.table() + "\n")


def test_the_search(process):
    """The options are those of PyBDSF: 8-connected islands of 6 pixels or more."""
    img, found = process(), srcfind.find(SAMPLE, **SEARCH)
    assert (img.nsrc, img.nisl) == (len(found), len(set(found.array["Isl_id"])))
    assert img.ngaus == len(found.gaussians) > 10
    told = img.catalogue.options
    assert (told["connectivity"], told["min_pixels"]) == ("8", "6")
    np.testing.assert_array_equal([s.total_flux for s in img.sources], found.array["Total_flux"])
    np.testing.assert_array_equal(img.rms_arr.T, found.map("rms"))


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"thresh_pix": 7.0, "thresh_isl": 4}, {"threshold": 7, "island": 4}),
        ({"thresh_isl": 9}, {"threshold": 9, "island": 9}),
        ({"rms_box": None}, {"rms_box": None, "local": True}),
        ({"rms_map": False}, {"rms_box": None}),
        ({"rms_map": False, "rms_value": 1e-4}, {"rms_box": None, "rms": 1e-4}),
        ({"mean_map": "zero"}, {"background": "zero"}),
        ({"kappa_clip": 4}, {"kappa": 4}),
        ({"minpix_isl": 12}, {"min_pixels": 12}),
        ({"beam": (0.004, 0.003, 10)}, {"beam": (14.4, 10.8, 10), "min_pixels": 8}),
        ({"group_tol": 0.5}, {"group": 0.5}),
        ({"group_by_isl": True}, {"group": "island"}),
        ({"fix_to_beam": True}, {"shapes": "beam"}),
        ({"atrous_do": True, "atrous_jmax": 3}, {"scales": True}),
        ({"adaptive_rms_box": True, "adaptive_thresh": 75}, {"rms_box": None, "local": True}),
        ({"psf_vary_do": True}, {"psf": "measured"}),
        ({"ncores": 2}, {"threads": 2}),
        ({"detection_image": SAMPLE}, {"detect_on": SAMPLE}),
    ],
)
def test_obeyed(process, given, expected):
    found = srcfind.find(SAMPLE, **{**SEARCH, **expected})
    assert_same(process(**given).catalogue, found)


def test_mean_of_the_whole_image(process):
    """mean_map='const' subtracts the clipped mean, whatever the noise is."""
    img = process(mean_map="const")
    assert set(img.mean_arr[np.isfinite(img.mean_arr)]) == {
        np.float32(srcfind.find(SAMPLE).background.mean)
    }


def test_given_maps(process, tmp_path):
    header = fits.getheader(SAMPLE)
    paths = [str(tmp_path / name) for name in ("mean.fits", "rms.fits")]
    for path, value in zip(paths, (1e-5, 2e-4)):
        fits.writeto(path, np.full((256, 300), value, np.float32), header)
    img = process(rmsmean_map_filename=paths, mean_map="zero")
    assert {gaussian.rms for gaussian in img.gaussians} == {float(np.float32(2e-4))}
    assert {gaussian.mean for gaussian in img.gaussians} == {float(np.float32(1e-5))}


def test_blank_limit(process, tmp_path):
    """Pixels below the limit, of either sign, are blank."""
    pixels = fits.getdata(SAMPLE)
    pixels[100:, :150] = 1e-9
    path = str(tmp_path / "blank.fits")
    fits.writeto(path, pixels, fits.getheader(SAMPLE))
    img = process(path, blank_limit=1e-8, rms_map=False)
    assert img.catalogue.background.n_blank == (~(np.abs(pixels) >= 1e-8)).sum() > 156 * 149


def test_abbreviations_and_defaults(process):
    assert process(thresh_p=7).opts.thresh_pix == 7
    assert process(thresh_pix="").opts.thresh_pix == 5.0
    with pytest.raises(RuntimeError, match="thresh_: several options begin so: thresh_pix, thresh"):
        process(thresh_=7)
    with pytest.raises(RuntimeError, match="thresh_max: PyBDSF has no such option"):
        process(thresh_max=7)


def test_a_dict_may_have_other_names(tmp_path):
    """Callers keep settings of their own beside the options: these are left out, with a warning."""
    given = {"filename": SAMPLE, "thresh_pix": 7, "quiet": True, "outdir": str(tmp_path)}
    with pytest.warns(srcfind.SrcfindWarning, match="max_iter, scale: no options of PyBDSF"):
        img = bdsf.process_image({**given, "max_iter": 5, "scale": 1.0})
    assert img.opts.thresh_pix == 7 and not hasattr(img.opts, "scale")


@pytest.mark.parametrize(
    "given, why",
    [
        ({"shapelet_do": True}, "shapelet_do=True: srcfind has no shapelets"),
        ({"thresh": "fdr"}, "thresh='fdr': srcfind has hard thresholds"),
        ({"maxpix_isl": 100}, "maxpix_isl=100: large islands are what they are"),
        ({"trim_box": (0, 400, 0, 50)}, "not a part of the image of 300 x 256 pixels"),
        ({"trim_box": (0, 40)}, r"4 numbers are needed, \(xmin, xmax, ymin, ymax\)"),
        ({"beam": 10}, r"beam=10: 3 numbers are needed, \(major, minor, angle\)"),
        ({"src_ra_dec": [(1, 2, 3)]}, r"src_ra_dec=\(1, 2, 3\): 2 numbers are needed, \(ra, dec\)"),
        ({"rmsmean_map_filename": [SAMPLE]}, r"two paths are needed, \[mean, rms\]"),
        (
            {"collapse_mode": "single", "collapse_ch0": 7},
            "collapse_ch0=7: the image has 1 channels",
        ),
        ({"rms_box": 50}, r"rms_box=50: 2 numbers are needed, \(box, step\)"),
        ({"aperture": -2}, "aperture=-2: a radius in pixels, above 0"),
        ({"aperture_posn": "middle"}, "aperture_posn='middle': centroid or peak"),
        ({"thresh_pix": "high"}, "thresh_pix='high': a number is needed"),
        ({"detection_image": "nowhere.fits"}, "nowhere.fits"),
    ],
)
def test_refused(process, given, why):
    """A RuntimeError, as PyBDSF's, and an Error of srcfind."""
    with pytest.raises(RuntimeError, match=why) as raised:
        process(**given)
    assert isinstance(raised.value, srcfind.Error)


def test_images_that_are_refused(process, tmp_path):
    with pytest.raises(RuntimeError, match="nowhere.fits: file not found"):
        process("nowhere.fits")
    with pytest.raises(RuntimeError, match="a CASA image: export it as FITS"):
        process(str(tmp_path))
    (tmp_path / "x.fits").write_text("no image")
    with pytest.raises(RuntimeError, match="x.fits"):
        process(str(tmp_path / "x.fits"))
    header = fits.getheader(SAMPLE)
    for keyword, what in (("BMAJ", "no beam in the header"), ("RESTFRQ", "no frequency in the")):
        lacking = header.copy()
        for each in [keyword] if keyword == "BMAJ" else [k for k in header if "FR" in k]:
            del lacking[each]
        path = str(tmp_path / f"{keyword}.fits")
        fits.writeto(path, fits.getdata(SAMPLE), lacking)
        with pytest.raises(RuntimeError, match=what):
            process(path)
    assert process(path, frequency=1.5e8).frequency == 1.5e8


def test_warnings(tmp_path):
    """What srcfind does in another way is told once of each reason, at the line of the call. Defaults
    are not told, nor options of what is off."""
    options = {"adaptive_rms_box": True, "adaptive_thresh": 75, "atrous_jmax": 3, "psf_nsig": 5}
    flags = {"flag_maxsize_bm": 100, "flag_minsnr": 0.6, "flag_maxsnr": 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bdsf.process_image(SAMPLE, quiet=True, outdir=str(tmp_path), **options, **flags)
    told = [str(each.message).split(":")[0] for each in caught]
    assert told[:2] == ["adaptive_rms_box, adaptive_thresh", "flag_maxsize_bm, flag_maxsnr"]
    assert set(told[2:]) == {SAMPLE}  # notes of the search
    assert {each.filename for each in caught} == {__file__}


def test_options_of_what_is_off(process):
    """PyBDSF does not look at them, and they are no reason to refuse a search."""
    assert process(atrous_bdsm_do=False, atrous_orig_isl=True).nsrc == process().nsrc
    with pytest.raises(RuntimeError, match="atrous_orig_isl=True: scales find new islands"):
        process(atrous_do=True, atrous_orig_isl=True)


def test_table_of_options():
    """Each option has one of the fates, and a reason."""
    fates = {_options.OBEYED, _options.MAPPED, _options.UNNEEDED, _options.SHOWN, _options.REFUSED}
    assert {option.fate for option in bdsf.OPTIONS.values()} == fates
    assert all(option.text for option in bdsf.OPTIONS.values())
    printed = subprocess.run(
        [sys.executable, "-m", "srcfind.bdsf", "--options"], capture_output=True, text=True
    ).stdout.splitlines()
    assert len(printed) == len(bdsf.OPTIONS) + 2
    assert "| thresh_pix | obeyed | threshold |" in printed


def test_an_image_without_sky_coordinates(process, tmp_path):
    header = fits.getheader(SAMPLE)
    for keyword in [k for k in header if k[:5] in ("CTYPE", "CRVAL", "CRPIX", "CDELT", "CUNIT")]:
        del header[keyword]
    fits.writeto(tmp_path / "plain.fits", fits.getdata(SAMPLE), header)
    with pytest.raises(RuntimeError, match="plain.fits: no sky coordinates in the header"):
        process(str(tmp_path / "plain.fits"))
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns([])]).writeto(
        tmp_path / "t.fits"
    )
    with pytest.raises(RuntimeError, match="t.fits: no HDU holds an image"):
        process(str(tmp_path / "t.fits"))


def test_units(process, tmp_path):
    """Rows of an image in mJy/beam are in Jy and Jy/beam; its maps stay as they are."""
    header = fits.getheader(SAMPLE)
    header["BUNIT"] = "mJy/beam"
    path = str(tmp_path / "milli.fits")
    fits.writeto(path, 1000 * fits.getdata(SAMPLE), header)
    img, plain = process(path, rms_map=False), process(rms_map=False)
    np.testing.assert_allclose(img.rms_arr, 1000 * plain.rms_arr, rtol=1e-5)
    for kind in ("gaussians", "sources"):
        of, expected = getattr(img, kind)[0], getattr(plain, kind)[0]
        names = ["total_flux", "total_fluxE", "total_flux_isl", "gresid_rms", "gresid_mean"]
        names += (
            ["peak_flux", "peak_fluxE", "rms", "mean"]
            if kind == "gaussians"
            else ["peak_flux_max", "peak_flux_maxE", "rms_isl", "mean_isl"]
        )
        for name in names:
            np.testing.assert_allclose(getattr(of, name), getattr(expected, name), rtol=1e-3)


def test_log(process, log):
    """Options that differ from the default, what srcfind was told, and what came."""
    img = process(thresh_pix=6)
    assert "    thresh_pix = 6\n" in log() and "thresh_isl" not in log()
    assert f"{img.nisl} islands, {img.nsrc} sources" in log()
    with pytest.raises(RuntimeError):
        process(rmsmean_map_filename=["nowhere.fits", "nowhere.fits"])
    assert "nowhere.fits" in log()


def test_log_in_a_new_directory(process, tmp_path):
    process(outdir=str(tmp_path / "new" / "logs"))
    assert "sources" in (tmp_path / "new" / "logs" / "sample.fits.pybdsf.log").read_text()


def test_screen(process, capsys):
    process()
    assert capsys.readouterr().out == ""
    process(quiet=False)
    assert "sources" in capsys.readouterr().out


def test_stop_at(process):
    read, islands = process(stop_at="read"), process(stop_at="isl")
    assert read.shape == (1, 1, 300, 256) and read.ch0_arr.shape == (300, 256)
    with pytest.raises(RuntimeError, match="has not been searched"):
        read.nsrc
    assert islands.nisl == process().nisl
    assert not islands.write_catalog(format="fits") and not islands.export_image()


def test_process_again(process):
    img = process()
    few = process(thresh_pix=50).nsrc
    assert img.nsrc > few and img.process(thresh_pix=50) and img.nsrc == few
    assert img.opts.rms_box == (60, 20)


# --- what an image has ---


def test_attributes(process):
    img = process()
    found, data = img.catalogue, fits.getdata(SAMPLE)
    assert img.filename == SAMPLE and (img.parentname, img.imagename) == ("sample", "sample.pybdsf")
    np.testing.assert_allclose(img.beam, (10 / 3600, 8 / 3600, 40))
    assert img.frequency == 1.4e9
    box = srcfind.find(SAMPLE, local=True).background
    assert img.rms_box == (60, 20) and process(rms_box=None).rms_box == (box.box, box.step)
    assert process(rms_map=False).rms_box == (0, 0)
    assert img.equinox == 2000.0 and img.shape == (1, 1, 300, 256)
    np.testing.assert_array_equal(img.ch0_arr, data.T)
    np.testing.assert_allclose(img.raw_rms, np.nanstd(data.astype(float)))
    np.testing.assert_array_equal(img.resid_gaus_arr, img.ch0_arr - img.model_gaus_arr)
    np.testing.assert_array_equal(img.pyrank.T, found.segments - 1)
    np.testing.assert_allclose(img.total_flux_gaus, found.gaussians.array["Total_flux"].sum())
    x, y = img.sky2pix(img.pix2sky((40.5, 30.25)))
    np.testing.assert_allclose((x, y), (40.5, 30.25))
    np.testing.assert_allclose(img.beam2pix(img.beam), (5, 4, 40), rtol=1e-6)
    with pytest.raises(AttributeError, match="srcfind.bdsf has no attribute samp_client"):
        img.samp_client


def test_gaussians_and_sources(process, path):
    """Two points nearby are a source of two Gaussians; its peak is that of the brighter one."""
    header = sky(BUNIT="Jy/beam")
    image = points(header, ((40, 50), (120, 120))) + 0.7 * points(header, ((44.4, 50),))
    image += np.random.default_rng(5).normal(0, 0.01, image.shape)
    fits.writeto(path("pair.fits"), image.astype(np.float32)[None], header)
    img = process(path("pair.fits"), rms_map=False, group_tol=5)
    assert img.wcs_obj.naxis == 3
    assert [g.gaus_num for g in img.gaussians] == [0, 1, 2]
    assert [s.source_id for s in img.sources] == [0, 1]
    assert [(s.code, s.ngaus) for s in img.sources] == [("M", 2), ("S", 1)]
    source = img.sources[0]
    assert [g.source_id for g in source.gaussians] == [0, 0]
    assert source.posn_sky_max == source.gaussians[0].centre_sky
    assert source.posn_pix_max == pytest.approx((40, 50), abs=0.2)
    assert source.posn_pix_centroid[0] > 41 and source.total_flux == pytest.approx(1.7, abs=0.1)
    assert img.islands[0].gaul == source.gaussians and img.islands[0].sources == [source]
    alone = process(path("pair.fits"), rms_map=False, group_tol=0)
    assert [(s.code, s.ngaus) for s in alone.sources] == [("C", 1), ("C", 1), ("S", 1)]


def test_spectral_index_without_channels(process):
    """A warning, as in PyBDSF; the rest is done."""
    with pytest.warns(srcfind.SrcfindWarning, match="needs an image with channels, and is left"):
        img = process(spectralindex_do=True)
    assert_same(img.catalogue, process().catalogue)
    assert not img.opts.spectralindex_do and not hasattr(img.sources[0], "spec_indx")


def test_stop_at_islands(process):
    """Islands are those of the whole search, without sources, which are not to be had."""
    stopped, img = process(stop_at="isl"), process()
    assert [i.island_id for i in stopped.islands] == [i.island_id for i in img.islands]
    assert stopped.islands[0].max_value == img.islands[0].max_value
    assert stopped.islands[0].sources == stopped.islands[0].gaul == []
    wide = process(stop_at="isl", atrous_do=True)
    assert [i.island_id for i in wide.islands] == [i.island_id for i in img.islands]
    for name in ("sources", "gaussians"):
        with pytest.raises(bdsf.Error, match="has not been fitted: search it without stop_at"):
            getattr(stopped, name)


def test_size_in_pixels(process):
    """FWHMs in pixels, and the angle from the y axis, as beam2pix has them."""
    img = process(fix_to_beam=True)
    for gaussian in img.gaussians:
        np.testing.assert_allclose(gaussian.size_pix[:2], img.beam2pix(img.beam)[:2], rtol=1e-3)
        assert len(gaussian.size_pixE) == 3


def test_islands(process):
    img = process()
    residual = img.resid_gaus_arr
    assert [island.island_id for island in img.islands] == [*range(img.nisl)]
    for island in img.islands:
        inside = img.pyrank == island.island_id
        box = tuple(island.bbox)
        np.testing.assert_array_equal(~island.mask_active, inside[box])
        assert island.size_active == inside.sum() and inside[box].sum() == inside.sum()
        assert island.max_value == img.ch0_arr[inside].max()
        # but for the Gaussians of other islands
        close = {"rtol": 0.05, "atol": 0.01 * img.raw_rms}
        np.testing.assert_allclose(island.gresid_mean, residual[inside].mean(), **close)
        np.testing.assert_allclose(island.gresid_rms, residual[inside].std(), **close)
        assert {source.island_id for source in island.sources} == {island.island_id}


def test_forced(process):
    """Amplitudes at given positions."""
    free = process().sources[0]
    img = process(src_ra_dec=[free.posn_sky_centroid, (187.7, 12.37)])
    assert img.nsrc == img.ngaus == 2
    np.testing.assert_allclose(img.sources[0].posn_sky_centroid, free.posn_sky_centroid)
    assert 0.3 < img.sources[0].total_flux / free.total_flux < 1.2
    assert abs(img.sources[1].total_flux) < 5 * img.sources[1].total_fluxE


def test_positions_on_blank_pixels(process, path):
    """They have no flux, and leave no hole in the model."""
    data = fits.getdata(SAMPLE)
    data[100:110, 100:110] = np.nan
    fits.writeto(path("blank.fits"), data, fits.getheader(SAMPLE))
    img = process(path("blank.fits"))
    img = process(path("blank.fits"), src_ra_dec=[img.pix2sky([105, 105]), img.pix2sky([80, 80])])
    assert np.isnan(img.gaussians[0].peak_flux) and np.isfinite(img.model_gaus_arr).all()


@pytest.mark.parametrize("unit, scale", [("Jy/beam", 1), ("mJy/beam", 1000)])
def test_model_of_positions(process, path, unit, scale):
    """The Gaussians of given positions are those of the image: of points, all that is there."""
    header = sky(BUNIT=unit)
    places = ((40, 50), (120.3, 119.6), (1, 80))
    image = scale * points(header, places)
    image += np.random.default_rng(5).normal(0, 0.001 * scale, image.shape)
    fits.writeto(path("points.fits"), image.astype(np.float32)[None], header)
    lon, lat = Frame(header).sky_of(*np.transpose(places))
    img = process(path("points.fits"), src_ra_dec=[*zip(lon, lat)], rms_map=False)
    np.testing.assert_allclose(
        img.model_gaus_arr.T, scale * points(header, places), atol=0.01 * scale
    )
    assert img.resid_gaus_arr.std() < 0.002 * scale
    assert img.export_image(outfile=path("r.fits"), img_type="gaus_resid")


def test_islands_of_positions(process, path):
    """Each given position has an island in the order given: a circle of one FWHM around it."""
    places = [source.posn_sky_centroid for source in process().sources[3::-1]]
    img = process(src_ra_dec=places)
    x, y = np.mgrid[: img.shape[2], : img.shape[3]]
    every = np.zeros(img.ch0_arr.shape, bool)
    assert img.nisl == len(img.islands) == 4
    for number, (island, source) in enumerate(zip(img.islands, img.sources)):
        centre = img.sky2pix(places[number])
        inside = np.hypot(x - centre[0], y - centre[1]) <= img.beam2pix(img.beam)[0]
        assert island.island_id == source.island_id == number
        assert island.max_value == img.ch0_arr[inside].max()
        assert island.size_active == inside.sum() and (img.pyrank[inside] == number).all()
        flux = (img.ch0_arr - img.mean_arr)[inside].sum() / img.pixel_beamarea()
        np.testing.assert_allclose([island.total_flux, source.total_flux_isl], flux, rtol=1e-5)
        assert 0 < island.total_fluxE < 10 * img.raw_rms
        every |= inside
    np.testing.assert_array_equal(img.pyrank >= 0, every)
    assert img.export_image(outfile=path("mask.fits"), img_type="island_mask")
    assert fits.getdata(path("mask.fits")).sum() == (img.island_labels > 0).sum() == every.sum()
    outside = process(src_ra_dec=[(10.0, 10.0)])
    assert outside.islands == [] and (outside.pyrank == -1).all()


def test_aperture(process, path):
    """Circles around sources have the flux of a point within them, the rms of their pixels, and columns
    after the peak flux."""
    img = process(aperture=12, aperture_posn="peak")
    source = img.sources[0]
    x, y = np.mgrid[: img.shape[2], : img.shape[3]]
    place = source.posn_pix_max
    inside = np.hypot(x - place[0], y - place[1]) <= 12
    n, area = inside.sum(), img.pixel_beamarea()
    flux = (img.ch0_arr - img.mean_arr)[inside].sum() / area
    np.testing.assert_allclose(source.aperture_flux, flux, rtol=1e-5)
    error = img.rms_arr[inside].mean() * np.sqrt(n / area)
    np.testing.assert_allclose(source.aperture_fluxE, error, rtol=1e-5)
    img.write_catalog(outfile=path("c.fits"), format="fits", catalog_type="srl")
    table = Table.read(path("c.fits"))
    assert table.colnames[table.colnames.index("E_Peak_flux") + 1 :][:2] == [
        "Aperture_flux",
        "E_Aperture_flux",
    ]
    assert list(table["Aperture_flux"]) == [each.aperture_flux for each in img.sources]
    img.write_catalog(outfile=path("g.fits"), format="fits", catalog_type="gaul")
    assert "Aperture_flux" not in Table.read(path("g.fits")).colnames
    assert all(np.isnan(s.aperture_flux) for s in process(aperture=0.001).sources)


def test_trim_box(process, tmp_path):
    """The part is searched as an image of its own; a padded map has the size of the whole."""
    data, header = fits.getdata(SAMPLE), fits.getheader(SAMPLE)
    header["CRPIX1"], header["CRPIX2"] = header["CRPIX1"] - 40, header["CRPIX2"] - 10
    path = str(tmp_path / "part.fits")
    fits.writeto(path, data[10:210, 40:260], header)
    img, part = process(trim_box=(40, 260, 10, 210)), process(path)
    assert_same(img.catalogue, part.catalogue)
    assert img.shape == part.shape == (1, 1, 220, 200)
    for pad, shape, crpix in ((False, (200, 220), 0), (True, (256, 300), 40)):
        name = str(tmp_path / f"{pad}.fits")
        assert img.export_image(outfile=name, img_type="rms", pad_image=pad)
        with fits.open(name) as hdus:
            written, at = hdus[0].data[0, 0], hdus[0].header["CRPIX1"]
        assert written.shape == shape and at == header["CRPIX1"] + crpix
        inner = written[10:210, 40:260] if pad else written
        np.testing.assert_array_equal(inner, img.rms_arr.T)


def test_detection_image_of_a_part(process, tmp_path):
    """detection_image and trim_box together: sources are those of the other image's part."""
    flat = str(tmp_path / "flat.fits")
    data = fits.getdata(SAMPLE)
    data[:, :150] = np.abs(data[:, :150]).min()  # no source there
    fits.writeto(flat, data, fits.getheader(SAMPLE))
    img = process(detection_image=flat, trim_box=(40, 260, 10, 210), rms_map=False)
    assert img.nsrc > 3 and min(source.posn_pix_centroid[0] for source in img.sources) > 108


# --- shapes in the image plane ---


@pytest.mark.parametrize("offset", [0.0, 20.0, -35.0])
def test_shapes_in_the_image_plane(offset):
    """Far from the reference pixel, north turns: a shape that points north in the sky is turned by
    that much in the plane; its size is that of the pixels that it covers."""
    header = t.sky_header(CRVAL1=67.0, CRVAL2=-75.0)
    frame = Frame(header)
    x, y = frame.pixel_of(67.0 + offset, -74.9)
    (major, minor, angle), *_ = frame.in_plane([x], [y], np.array([[0.01, 0.004, 0.0]]))
    north = frame.pixel_of(67.0 + offset, -74.9 + 0.01)
    along = (np.array(north) - (x, y)) * frame.steps  # degrees to the left and up
    np.testing.assert_allclose(major, np.hypot(*along), rtol=2e-3)
    expected = np.degrees(np.arctan2(*along)) % 180
    np.testing.assert_allclose((angle - expected + 90) % 180, 90, atol=0.3)
    assert minor < major


def test_shapes_that_are_none():
    frame = Frame(t.sky_header())
    shapes = np.array([[0.0, 0.0, 0.0], [np.nan] * 3, [0.01, 0.0, 30.0]])
    plane = frame.in_plane([5.0, 5.0, 50.0], [5.0, 5.0, 40.0], shapes)
    np.testing.assert_array_equal(plane[:2], shapes[:2])
    np.testing.assert_allclose(plane[2], shapes[2], rtol=1e-3, atol=1e-6)


def test_what_is_not_fitted(process, path):
    """It has its moments, less the beam, or else the beam's shape, as in the command's sky models:
    no format has a NaN where it wants a number."""
    pixels = np.full((150, 150), np.nan, np.float32)  # islands with too few pixels for a fit
    pixels[20:40, 20:40] = np.random.default_rng(0).normal(0, 1, (20, 20))
    pixels[60:62, 60:63] = 50
    pixels[100:103, 100:102] = [[50, 10], [10, 50], [50, 40]]
    pixels[120, 30:36] = 60
    header = t.sky_header(RESTFRQ=1.4e9, BMAJ=5e-4, BMIN=4e-4)
    fits.writeto(path("few.fits"), pixels, header)
    img = process(path("few.fits"), rms_map=False)
    own = img.catalogue.gaussians.array
    assert np.isnan(own["DC_Maj"]).sum() == 3 and np.isnan(own["Maj"]).sum() == 1
    alone = img.gaussians[np.flatnonzero(np.isnan(own["Maj"]))[0]]
    assert alone.size_sky == pytest.approx([5e-4, 4e-4, 30])
    assert alone.deconv_size_sky == [0, 0, 0]
    _, rows = bbs(img, path("c.skymodel"))
    srcfind.find(path("few.fits"), **{**SEARCH, "rms_box": None}).write(path("own.skymodel"))
    models = {}
    for line in open(path("own.skymodel")).read().splitlines()[1:]:
        name, kind, *_, flux, major, minor, angle = line.split(", ")[:8]
        models[float(flux)] = kind, float(major), float(minor), float(angle)
    assert len(models) == len(rows) == len(own)
    for row in rows:
        kind, *shape = min(models.items(), key=lambda item: abs(item[0] - float(row["I"])))[1]
        assert row["Type"] == kind
        found = [float(row[name]) for name in ("MajorAxis", "MinorAxis", "Orientation")]
        np.testing.assert_allclose(found, shape, rtol=1e-4, atol=1e-6)
    for format in ("ds9", "kvis", "star", "sagecal", "casabox"):
        assert img.write_catalog(outfile=path(format), format=format)
        assert "nan" not in open(path(format)).read()


# --- tables ---

GAUL = (
    "Gaus_id Isl_id Source_id Wave_id RA E_RA DEC E_DEC Total_flux E_Total_flux Peak_flux "
    "E_Peak_flux Xposn E_Xposn Yposn E_Yposn"
)


def test_text(process, tmp_path):
    """Four lines of comments, an empty one, names, rows with blanks or commas between."""
    img = process()
    for format, separator in (("ascii", " "), ("csv", ", ")):
        path = tmp_path / f"c.{format}"
        assert img.write_catalog(outfile=path, format=format, catalog_type="gaul")
        lines = path.read_text().splitlines()
        assert lines[0] == f"# Gaussian list for {SAMPLE}"
        assert lines[1] == f"# Generated by srcfind version {srcfind.__version__}"
        assert lines[2] == '# Reference frequency of the detection ("ch0") image: 1.40000e+09 Hz'
        assert lines[3:5] == ["# Equinox : 2000.0 ", ""]
        names = lines[5][2:].split(separator)
        assert lines[5].startswith("# " + separator.join(GAUL.split()))
        assert len(names) == 49 and len(lines) == 6 + img.ngaus
        rows = [dict(zip(names, re.split(", +| +", line.strip()))) for line in lines[6:]]
        assert [int(row["Gaus_id"]) for row in rows] == [*range(img.ngaus)]
        found = img.catalogue.gaussians.array
        other = {"S_Code", "Resid_Isl_rms", "Resid_Isl_mean"}
        for name in set(names) & set(found.dtype.names) - other:
            if not name.endswith("_id"):
                values = [float(row[name]) for row in rows]
                np.testing.assert_allclose(values, found[name], atol=1e-13)


def test_fits(process, tmp_path):
    img = process()
    path = tmp_path / "c.fits"
    assert img.write_catalog(outfile=str(path), format="fits", catalog_type="srl")
    with fits.open(path) as hdus:
        data, header = hdus[1].data, hdus[1].header
    assert data.names[:4] == ["Source_id", "Isl_id", "RA", "E_RA"] and len(data.names) == 45
    assert (header["FREQ0"], header["INIMAGE"], header["EQUINOX"]) == (1.4e9, SAMPLE, 2000.0)
    assert "BMAJ = 0.002777777777777778" in list(header["COMMENT"])
    assert [header[f"TUNIT{i}"] for i in (3, 7, 9)] == ["deg", "Jy", "Jy/beam"]
    np.testing.assert_array_equal(data["Source_id"], img.catalogue.array["Source_id"] - 1)
    np.testing.assert_array_equal(data["Total_flux"], img.catalogue.array["Total_flux"])
    np.testing.assert_array_equal(data["S_Code"], img.catalogue.array["S_Code"])
    np.testing.assert_array_equal(data["Resid_Isl_mean"], [s.gresid_mean for s in img.sources])


def test_wide_emission_has_a_number(process):
    """Wave_id is 1, 2, 3 for scales of 2, 4, 8 beams, and the noise is that of the scale."""
    from srcfind.bdsf._rows import levels

    assert levels(np.array([0, 1, 2, 4, 8])).tolist() == [0, 0, 1, 2, 3]
    img = process(atrous_do=True)
    for gaussian in img.gaussians:
        assert (gaussian.wave_rms == gaussian.rms) == (gaussian.jlevel > 0)


def test_names_of_files(process, tmp_path, monkeypatch):
    """Without outfile files have PyBDSF's names; they are replaced with clobber alone."""
    img = process()
    monkeypatch.chdir(tmp_path)
    for format, kind, name in (
        ("fits", "srl", "sample.pybdsf.srl.fits"),
        ("csv", "gaul", "sample.pybdsf.gaul"),
        ("bbs", "gaul", "sample.pybdsf.sky_in"),
        ("ds9", "srl", "sample.pybdsf.srl.reg"),
        ("casabox", "gaul", "sample.pybdsf.box"),
    ):
        assert img.write_catalog(format=format, catalog_type=kind) and os.path.exists(name)
        assert not img.write_catalog(format=format, catalog_type=kind)
        assert img.write_catalog(format=format, catalog_type=kind, clobber=True)
    assert img.export_image(img_type="rms") and os.path.exists("sample.pybdsf_rms.fits")
    assert not img.write_catalog(format="bbs", catalog_type="srl", outfile="x")
    assert not img.write_catalog(format="xml", outfile="x") and not os.path.exists("x")


def test_no_source(process, tmp_path):
    """No file without a source, unless it is forced."""
    img = process(thresh_pix=1e6, thresh_isl=1e6)
    assert (img.nsrc, img.nisl, img.ngaus, img.total_flux_gaus) == (0, 0, 0, 0)
    assert (img.sources, img.islands) == ([], [])
    for format in ("fits", "csv", "bbs", "ds9", "sagecal"):
        path = tmp_path / f"none.{format}"
        assert not img.write_catalog(outfile=path, format=format) and not path.exists()
        assert img.write_catalog(outfile=path, format=format, force_output=True) and path.exists()
    assert img.export_image(outfile=tmp_path / "mask.fits", img_type="island_mask")
    assert fits.getdata(tmp_path / "mask.fits").max() == 0


# --- sky models and regions ---


def bbs(img, path, **options):
    """The patches and the Gaussians of a sky model: dicts of its fields."""
    assert img.write_catalog(outfile=path, format="bbs", clobber=True, **options)
    first, _, *lines = open(path).read().splitlines()
    fields = [field.split("=")[0].strip() for field in first.partition("=")[2].split(", ")]
    rows = [dict(zip(fields, line.split(", "))) for line in lines]
    return [row for row in rows if not row["Name"]], [row for row in rows if row["Name"]]


def seconds(text, separator):
    sign = -1 if text.startswith("-") else 1
    whole, minutes, rest = text.lstrip("+-").split(separator, 2)
    return sign * (float(whole) + float(minutes) / 60 + float(rest) / 3600)


def test_sky_model(process, path):
    img = process()
    patches, rows = bbs(img, path("c.skymodel"))
    assert not patches and len(rows) == img.ngaus
    fluxes = [float(row["I"]) for row in rows]
    assert fluxes == sorted(fluxes, reverse=True)
    by_name = {f"sample_w0_i{g.island_id}_s{g.source_id}_g{g.gaus_num}": g for g in img.gaussians}
    for row in rows:
        of = by_name[row["Name"]]
        np.testing.assert_allclose(15 * seconds(row["Ra"], ":"), of.centre_sky[0], atol=1e-7)
        np.testing.assert_allclose(seconds(row["Dec"], "."), of.centre_sky[1], atol=1e-8)
        np.testing.assert_allclose(float(row["I"]), of.total_flux, rtol=1e-3)
        size = float(row["MajorAxis"]), float(row["MinorAxis"])
        np.testing.assert_allclose(size, np.multiply(of.deconv_size_sky[:2], 3600), rtol=1e-4)
        assert row["Type"] == ("POINT" if size == (0, 0) else "GAUSSIAN")
    assert {row["Type"] for row in rows} == {"POINT", "GAUSSIAN"}


@pytest.mark.parametrize("patches", ["single", "source", "gaussian", "mask"])
def test_patches(process, path, patches):
    """Patches by flux, the brightest first, each once; Gaussians below their own."""
    img = process()
    options = {"bbs_patches": patches}
    if patches == "mask":
        assert img.export_image(outfile=path("mask.fits"), img_type="island_mask")
        options["bbs_patches_mask"] = path("mask.fits")
    headings, rows = bbs(img, path("c.skymodel"), **options)
    names = [row["Patch"] for row in rows]
    of_source = {s.source_id: s for s in img.sources}
    n = {"single": 1, "source": img.nsrc, "gaussian": img.ngaus, "mask": img.nisl}[patches]
    assert len(headings) == len(set(names)) == n and len(rows) == img.ngaus
    sums = {}
    for row in rows:
        sums[row["Patch"]] = sums.get(row["Patch"], 0) + float(row["I"])
    assert list(sums) == list(dict.fromkeys(names))
    np.testing.assert_array_less(np.diff([*sums.values()]), 1e-4)
    if patches == "source":
        for row in rows:
            number = int(re.search(r"_s(\d+)_g", row["Name"])[1])
            assert row["Patch"] == f"sample_patch_s{of_source[number].source_id}"


def test_a_mask_of_patches_leaves_out_what_is_outside(process, path):
    img = process()
    marked = np.zeros((256, 300), np.float32)
    x, y = (round(each) for each in img.gaussians[0].centre_pix)
    marked[y - 1 : y + 2, x - 1 : x + 2] = 1
    fits.writeto(path("mask.fits"), marked)
    mask = {"bbs_patches": "mask", "bbs_patches_mask": path("mask.fits")}
    headings, rows = bbs(img, path("c.skymodel"), **mask)
    assert len(headings) == len(rows) == 1 and rows[0]["Name"].endswith("_g0")
    fits.writeto(path("small.fits"), marked[:50])
    with pytest.raises(
        RuntimeError, match="small.fits: bbs_patches_mask: a mask of the image's size"
    ):
        bbs(img, path("c.skymodel"), **{**mask, "bbs_patches_mask": path("small.fits")})


def test_other_formats(process, path):
    """Each has a row a Gaussian or source, and the position of the first."""
    img = process()
    first = img.gaussians[0]
    lines = {}
    for format in ("ds9", "kvis", "star", "sagecal", "casabox"):
        assert img.write_catalog(outfile=path(format), format=format)
        lines[format] = open(path(format)).read().splitlines()
    ellipse = re.match(r'ellipse\(([^,]*),([^,]*),([^"]*)",([^"]*)",([^)]*)\)', lines["ds9"][3])
    expected = [*first.centre_sky, *np.multiply(first.size_sky_uncorr[:2], 3600)]
    np.testing.assert_allclose([float(each) for each in ellipse.groups()[:4]], expected)
    assert float(ellipse[5]) == first.size_sky_uncorr[2] + 90
    assert len(lines["ds9"]) == 3 + img.ngaus and len(lines["kvis"]) == 4 + 2 * img.ngaus
    shape = [float(each) for each in lines["kvis"][5].split()[3:]]
    np.testing.assert_allclose(shape, first.size_sky_uncorr, atol=1e-4)
    assert len(lines["star"]) == img.ngaus and len(lines["sagecal"]) == 4 + img.ngaus
    h, m, s, d, *_ = (float(each) for each in lines["star"][0].split())
    np.testing.assert_allclose(15 * (h + m / 60 + s / 3600), first.centre_sky[0], atol=1e-5)
    brightest = max(img.gaussians, key=lambda gaussian: gaussian.total_flux)
    name, *cells = lines["sagecal"][4].split()
    assert name[0] in "PG" and name.endswith(f"_g{brightest.gaus_num}")
    half = float(cells[12]), float(cells[13])
    np.testing.assert_allclose(
        half, np.radians(brightest.deconv_size_sky[:2]) / 2, rtol=1e-3, atol=1e-7
    )
    if name[0] == "G":
        turned = np.radians(brightest.deconv_size_sky[2]) - np.pi / 2
        np.testing.assert_allclose(float(cells[14]), turned, rtol=1e-4)
    boxes = [re.findall(r"[+-]?\d+[.:]\d+[.:][\d.]+", line) for line in lines["casabox"][1:]]
    assert len(boxes) == img.ngaus
    for (ra0, dec0, ra1, dec1), of in zip(boxes, img.gaussians):
        corners = [
            img.sky2pix((15 * seconds(ra, ":"), seconds(dec, ".")))
            for ra, dec in ((ra0, dec0), (ra1, dec1))
        ]
        np.testing.assert_allclose(np.mean(corners, 0), of.centre_pix, atol=0.05)
        sides = np.diff(corners, axis=0)[0]
        assert (sides > 5 * of.size_sky_uncorr[1] * 1800).all()  # a pixel is 2 arcsec
        assert (sides < 6.1 * of.size_sky_uncorr[0] * 1800).all()


def test_galactic(process, path):
    """Regions are galactic; a sky model cannot be."""
    header = fits.getheader(SAMPLE)
    header["CTYPE1"], header["CTYPE2"] = "GLON-SIN", "GLAT-SIN"
    fits.writeto(path("galactic.fits"), fits.getdata(SAMPLE), header)
    img = process(path("galactic.fits"))
    assert img.write_catalog(outfile=path("c.reg"), format="ds9")
    assert open(path("c.reg")).read().splitlines()[2] == "galactic"
    for format in ("bbs", "sagecal"):
        with pytest.raises(RuntimeError, match="a sky model needs equatorial coordinates"):
            img.write_catalog(outfile=path("c.txt"), format=format)


# --- images ---


def test_export(process, path):
    img = process()
    for kind, values in (
        ("ch0", img.ch0_arr),
        ("rms", img.rms_arr),
        ("mean", img.mean_arr),
        ("gaus_model", img.model_gaus_arr),
        ("gaus_resid", img.resid_gaus_arr),
    ):
        assert img.export_image(outfile=path(kind), img_type=kind)
        with fits.open(path(kind)) as hdus:
            data, header = hdus[0].data, hdus[0].header
        assert data.shape == (1, 1, 256, 300)
        np.testing.assert_array_equal(data[0, 0], values.T)
        assert [header[f"CTYPE{i}"] for i in (1, 2, 3, 4)][2:] == ["STOKES", "FREQ"]
        assert header["CRVAL4"] == header["RESTFRQ"] == 1.4e9
        np.testing.assert_allclose((header["BMAJ"], header["BMIN"], header["BPA"]), img.beam)
        assert not img.export_image(outfile=path(kind), img_type=kind)
        assert img.export_image(outfile=path(kind), img_type=kind, clobber=True)
        old, new = Frame(fits.getheader(SAMPLE)), Frame(header)
        np.testing.assert_allclose(new.sky_of(10, 200), old.sky_of(10, 200), atol=1e-9)
    with pytest.raises(RuntimeError, match="srcfind has no shapelets"):
        img.export_image(img_type="shap_model")


def test_a_directory_is_not_replaced(process, tmp_path):
    """Not even with clobber, and not by a CASA image, unless it is one."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "precious").write_text("x")
    for format in ("fits", "casa"):
        with pytest.raises(RuntimeError, match="results: a directory is not replaced"):
            process().export_image(outfile=tmp_path / "results", img_format=format, clobber=True)
    assert (tmp_path / "results" / "precious").read_text() == "x"


def test_mask(process, path):
    """Widened and closed as SciPy does, which PyBDSF calls."""
    ndimage = pytest.importorskip("scipy.ndimage")
    img = process()
    assert img.export_image(outfile=path("mask.fits"), img_type="island_mask", mask_dilation=2)
    with fits.open(path("mask.fits")) as hdus:
        written, header = hdus[0].data[0, 0], hdus[0].header
    assert "BMAJ" not in header
    wide = ndimage.binary_dilation(img.pyrank >= 0, iterations=2)
    closed = ndimage.binary_closing(wide, np.ones((8, 8)))  # 1.5 beams of 5 pixels
    np.testing.assert_array_equal(written.T, closed)


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7])
def test_closing(size):
    ndimage = pytest.importorskip("scipy.ndimage")
    mask = np.random.default_rng(size).random((40, 31)) > 0.8
    expected = ndimage.binary_closing(mask, np.ones((size, size)))
    np.testing.assert_array_equal(_export._closed(mask, size), expected)
    np.testing.assert_array_equal(_export._dilated(mask), ndimage.binary_dilation(mask))


def test_output_all(process, tmp_path):
    process(output_all=True, bbs_patches="source")
    base = tmp_path / "sample_pybdsf"
    names = {str(each.relative_to(base)) for each in base.rglob("*") if each.is_file()}
    assert "catalogues/sample.pybdsf.srl.FITS" in names
    assert "background/sample.pybdsf.rmsd_I.fits" in names and len(names) == 14
    assert "Patch" in (base / "catalogues" / "sample.pybdsf.sky_in").read_text()


def test_picture(process, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    from srcfind.bdsf import _show

    img = process()
    drawing = _show.figure(img, rms_image=False)
    titles = [axes.get_title() for axes in drawing.axes if axes.get_title()]
    assert titles == ["Image", "Islands and Gaussians", "Background", "Model", "Residual"]
    ellipses = [axes.patches for axes in drawing.axes if axes.get_title().startswith("Islands")][0]
    assert len(ellipses) == img.ngaus
    assert img.show_fit(ch0_image=False)


# --- channels ---


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """Four channels of points with a spectral index of -1; the beam of all is that of the header."""
    directory = tmp_path_factory.mktemp("cube")
    random = np.random.default_rng(4)
    header = t.sky_header(BUNIT="Jy/beam")
    frequencies = 1e9 + 2e8 * np.arange(4)
    shape = points(header, ((40, 50), (110, 60), (70, 120)))
    planes = shape * (frequencies / 1e9)[:, None, None] ** -1
    planes = (planes + random.normal(0, 0.01, planes.shape)).astype(np.float32)
    header.update(CTYPE3="FREQ", CRVAL3=1e9, CRPIX3=1.0, CDELT3=2e8, CUNIT3="Hz")
    path = str(directory / "cube.fits")
    fits.writeto(path, planes, header)
    return path, planes, frequencies


def test_average_of_channels(process, cube):
    path, planes, frequencies = cube
    img = process(path, rms_box=None, rms_map=False)
    np.testing.assert_allclose(img.ch0_arr.T, planes.mean(0), rtol=1e-5, atol=1e-6)
    assert img.frequency == frequencies.mean() and img.shape == (1, 4, 160, 160)
    chosen = process(path, rms_map=False, collapse_av=[0, 3], collapse_wt="rms")
    assert chosen.frequency == pytest.approx(1.3e9, rel=1e-2)
    np.testing.assert_allclose(chosen.ch0_arr.T, planes[[0, 3]].mean(0), atol=0.02)
    single = process(path, rms_map=False, collapse_mode="single", collapse_ch0=2)
    np.testing.assert_array_equal(single.ch0_arr.T, planes[2])
    assert single.frequency == frequencies[2]
    with pytest.raises(RuntimeError, match="collapse_av=.7.: the image has 4 channels"):
        process(path, collapse_av=[7])


def test_spectra(process, cube, tmp_path):
    path, _, frequencies = cube
    img = process(path, rms_map=False, spectralindex_do=True)
    assert img.nsrc == 3
    for row in [*img.sources, *img.gaussians]:
        assert row.spec_indx == pytest.approx(-1, abs=0.15)
        np.testing.assert_allclose(row.specin_flux, (frequencies / 1e9) ** -1.0, atol=0.05)
    name = tmp_path / "c.fits"
    assert img.write_catalog(outfile=name, format="fits", catalog_type="srl", incl_chan=True)
    table = Table.read(name)
    channels = [
        f"{kind}_ch{i}" for kind in ("Total_flux", "E_Total_flux", "Freq") for i in (1, 2, 3, 4)
    ]
    assert table.colnames[-14:] == ["Spec_Indx", "E_Spec_Indx", *channels]
    assert table["Freq_ch4"][0] == frequencies[3]
    _, rows = bbs(img, str(tmp_path / "c.skymodel"))
    assert [float(row["SpectralIndex"].strip("[]")) for row in rows] == pytest.approx(
        [-1] * 3, abs=0.15
    )


def test_stokes_parameters_beside_channels(process, cube, tmp_path):
    """Channels of the first Stokes parameter are measured."""
    path, planes, frequencies = cube
    header = fits.getheader(path)
    header.update(CTYPE4="STOKES", CRVAL4=1.0, CRPIX4=1.0, CDELT4=1.0)
    fits.writeto(tmp_path / "iq.fits", np.stack([planes, 0.1 * planes]), header)
    options = {"rms_map": False, "spectralindex_do": True}
    both, alone = process(str(tmp_path / "iq.fits"), **options), process(path, **options)
    assert both.shape == (2, 4, 160, 160)
    for source, expected in zip(both.sources, alone.sources):
        np.testing.assert_allclose(source.specin_flux, expected.specin_flux)


def test_beams_and_frequencies_of_channels(process, cube):
    """A channel is measured with its own beam; the index goes by the frequencies that are given; a
    flagged channel is not measured."""
    path, _, _ = cube
    beam = fits.getheader(path)
    beam = beam["BMAJ"], beam["BMIN"], beam["BPA"]
    wide = beam[0] * 2, beam[1], beam[2]
    options = {"rms_map": False, "spectralindex_do": True, "frequency_sp": [1e9, 2e9, 3e9, 4e9]}
    plain = process(path, **options).sources[0]
    img = process(path, **options, beam_spectrum=[beam, wide, beam, beam], flagchan_list=[3])
    source = img.sources[0]
    assert source.specin_freq == [1e9, 2e9, 3e9] and len(source.specin_flux) == 3
    assert plain.spec_indx == pytest.approx(-0.31, abs=0.1)
    ratio = source.specin_flux[1] / plain.specin_flux[1]
    assert (
        0.6 < ratio < 0.8
    )  # a point of the narrower beam by a wider one: sqrt(2 / 5), near its peak more
    np.testing.assert_allclose(source.specin_flux[0], plain.specin_flux[0])
    with pytest.raises(RuntimeError, match="beam_spectrum: 1 beams, and 4 channels"):
        process(path, **options, beam_spectrum=[beam])


# --- in the place of PyBDSF ---


def test_by_its_name(tmp_path):
    """With the directory on PYTHONPATH `import bdsf` is srcfind.bdsf."""
    front = subprocess.run(
        [sys.executable, "-m", "srcfind.bdsf", "--path"], capture_output=True, text=True
    ).stdout.strip()
    script = (
        "import bdsf\nfrom bdsf.image import Image\n"
        f"img = bdsf.process_image({SAMPLE!r}, quiet=True, outdir='.')\n"
        "print(bdsf.__name__, img.nsrc > 10, isinstance(img, bdsf.image.Image))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([front, os.environ.get("PYTHONPATH", "")]),
        },
    )
    assert result.stdout == "srcfind.bdsf True True\n", result.stderr
    wrong = subprocess.run([sys.executable, "-m", "srcfind.bdsf"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "usage: python -m srcfind.bdsf" in wrong.stderr

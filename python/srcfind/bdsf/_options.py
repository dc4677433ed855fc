"""The options of PyBDSF, and what becomes of each.

OPTIONS has every option of PyBDSF 1.14.1 and of its master in August 2026. `resolve` completes the
options of a call as PyBDSF does: abbreviations that are unique are taken, '' stands for the default.
_search.py makes the search of them.
"""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import srcfind

#: obeyed: it means the same. mapped: srcfind has another way to the same end, which a warning names.
#: unneeded: it tunes a step that srcfind does not have; a warning says so. shown: it is about the
#: screen, and changes nothing. refused: the result would be another one.
OBEYED, MAPPED, UNNEEDED, SHOWN, REFUSED = "obeyed", "mapped", "unneeded", "shown", "refused"


BEAM = ("major", "minor", "angle")


class Option(NamedTuple):
    """The default in PyBDSF, what becomes of other values, and how or why. of: the option without
    which this one means nothing, or ""."""

    default: Any
    fate: str
    text: str
    of: str = ""


class Error(srcfind.OptionError, RuntimeError):
    """An option that is refused or wrong. PyBDSF raises a RuntimeError there, too."""


_LOCAL = "local noise in boxes of 15 beams, from which bright wide islands are left out; rms_box is not used"
_SCALES = "scales: Gaussians of 2, 4 and 8 beams"
_FIT = "srcfind's fit has no such step"
_FLAG = "srcfind keeps every source, and tells what is doubtful in Flags"
_SHAPELETS = "srcfind has no shapelets"
_POLARISATION = "srcfind measures Stokes Q, U, V by measure_in, and has no polarised search"
_PSF = "srcfind's psf=measured chooses the sources itself"
_PANEL = "of show_fit"
_WRITER = "of write_catalog"
_EXPORT = "of export_image"
_GROUP = "shows options"

OPTIONS: dict[str, Option] = {
    # the image
    "filename": Option("", OBEYED, "the image, a FITS file"),
    "beam": Option(None, OBEYED, "beam, in degrees here"),
    "frequency": Option(None, OBEYED, "in tables, sky models and images"),
    "trim_box": Option(None, OBEYED, "the search sees this part alone"),
    "blank_limit": Option(None, OBEYED, "by a mask"),
    "check_outsideuniv": Option(
        False, UNNEEDED, "pixels without a position have none in the catalogue"
    ),
    "indir": Option(None, OBEYED, "where the image is"),
    # background and noise
    "rms_box": Option(None, OBEYED, "rms_box; without it boxes of 15 beams"),
    "rms_map": Option(None, OBEYED, "False: one noise; else local noise"),
    "rms_value": Option(None, OBEYED, "rms, where rms_map is False"),
    "mean_map": Option(
        "default", OBEYED, "zero: background=zero; const: the clipped mean; map, default: local"
    ),
    "kappa_clip": Option(None, OBEYED, "kappa; 3 without it"),
    "adaptive_rms_box": Option(False, MAPPED, _LOCAL),
    "adaptive_thresh": Option(None, MAPPED, _LOCAL, "adaptive_rms_box"),
    "rms_box_bright": Option(None, MAPPED, _LOCAL, "adaptive_rms_box"),
    "spline_rank": Option(3, UNNEEDED, "the noise is bilinear between boxes"),
    "rmsmean_map_filename": Option([], OBEYED, "background_map, rms_map"),
    "rmsmean_map_filename_det": Option(
        [], OBEYED, "detect_background_map, detect_rms_map", "detection_image"
    ),
    # islands
    "thresh": Option(None, OBEYED, "hard thresholds; fdr is refused"),
    "thresh_pix": Option(5.0, OBEYED, "threshold"),
    "thresh_isl": Option(3.0, OBEYED, "island"),
    "fdr_alpha": Option(0.05, UNNEEDED, "thresholds are hard"),
    "fdr_ratio": Option(0.1, UNNEEDED, "thresholds are hard"),
    "bmpersrc_th": Option(None, UNNEEDED, "thresholds are hard"),
    "minpix_isl": Option(None, OBEYED, "min_pixels; a sixth of the beam, at least 6, without it"),
    "maxpix_isl": Option(None, REFUSED, "large islands are what they are: leave rows out by N_pix"),
    "detection_image": Option("", OBEYED, "detect_on"),
    "src_ra_dec": Option(
        None, MAPPED, "forced photometry: amplitudes at these positions, shapes of the beam"
    ),
    "src_radius_pix": Option(
        None, UNNEEDED, "islands are circles with the beam's major axis as radius", "src_ra_dec"
    ),
    # Gaussians
    "fix_to_beam": Option(False, OBEYED, "shapes=beam"),
    "fittedimage_clip": Option(0.1, UNNEEDED, "models are drawn down to the last digit"),
    "ini_gausfit": Option("default", UNNEEDED, _FIT),
    "ini_method": Option("intensity", UNNEEDED, _FIT),
    "peak_fit": Option(True, UNNEEDED, _FIT),
    "peak_maxsize": Option(30.0, UNNEEDED, _FIT),
    "split_isl": Option(True, UNNEEDED, _FIT),
    "splitisl_maxsize": Option(50.0, UNNEEDED, _FIT),
    "splitisl_size_extra5": Option(0.1, UNNEEDED, _FIT),
    "splitisl_frac_bigisl3": Option(0.8, UNNEEDED, _FIT),
    "flag_bordersize": Option(0, UNNEEDED, _FLAG),
    "flag_maxsize_bm": Option(25.0, UNNEEDED, _FLAG),
    "flag_maxsize_fwhm": Option(0.5, UNNEEDED, _FLAG),
    "flag_maxsize_isl": Option(2.0, UNNEEDED, _FLAG),
    "flag_maxsnr": Option(1.5, UNNEEDED, _FLAG),
    "flag_minsize_bm": Option(0.7, UNNEEDED, _FLAG),
    "flag_minsnr": Option(0.6, UNNEEDED, _FLAG),
    "flag_smallsrc": Option(False, UNNEEDED, _FLAG),
    "ncores": Option(None, OBEYED, "threads"),
    "do_mc_errors": Option(
        False, MAPPED, "errors by the measured correlation of the noise, as always"
    ),
    # sources
    "group_by_isl": Option(False, OBEYED, "group=island"),
    "group_tol": Option(1.0, OBEYED, "group"),
    "group_method": Option("intensity", REFUSED, "Gaussians are grouped by intensity alone"),
    "aperture": Option(None, OBEYED, "Aperture_flux of sources, in a circle of this radius"),
    "aperture_posn": Option("centroid", OBEYED, "centroid or peak", "aperture"),
    # wide emission
    "atrous_do": Option(False, MAPPED, _SCALES),
    "atrous_jmax": Option(0, MAPPED, _SCALES, "atrous_do"),
    "atrous_lpf": Option("b3", UNNEEDED, "scales are Gaussians", "atrous_do"),
    "atrous_bdsm_do": Option(
        True, REFUSED, "without a search the scales are of no use", "atrous_do"
    ),
    "atrous_orig_isl": Option(
        False,
        REFUSED,
        "scales find new islands, too: leave out rows with Wave_id above 0",
        "atrous_do",
    ),
    "atrous_sum": Option(True, UNNEEDED, "scales are Gaussians", "atrous_do"),
    "use_scipy_fft": Option(True, UNNEEDED, "scales need no FFT", "atrous_do"),
    # shapelets, polarisation, PSF
    "shapelet_do": Option(False, REFUSED, _SHAPELETS),
    "shapelet_basis": Option("cartesian", UNNEEDED, _SHAPELETS, "shapelet_do"),
    "shapelet_fitmode": Option("fit", UNNEEDED, _SHAPELETS, "shapelet_do"),
    "shapelet_gresid": Option(False, UNNEEDED, _SHAPELETS, "shapelet_do"),
    "polarisation_do": Option(False, REFUSED, _POLARISATION),
    "pi_fit": Option(True, UNNEEDED, _POLARISATION, "polarisation_do"),
    "pi_thresh_isl": Option(None, UNNEEDED, _POLARISATION, "polarisation_do"),
    "pi_thresh_pix": Option(None, UNNEEDED, _POLARISATION, "polarisation_do"),
    "rm_do": Option(False, REFUSED, _POLARISATION),
    "psf_vary_do": Option(False, MAPPED, "psf=measured: one smooth shape of points over the image"),
    "psf_fwhm": Option(None, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_gencode": Option("list", UNNEEDED, _PSF, "psf_vary_do"),
    "psf_generators": Option("calibrators", UNNEEDED, _PSF, "psf_vary_do"),
    "psf_high_snr": Option(None, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_itess_method": Option(0, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_kappa2": Option(2.0, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_nsig": Option(3.0, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_over": Option(2, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_primarygen": Option("", UNNEEDED, _PSF, "psf_vary_do"),
    "psf_smooth": Option(None, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_snrbot": Option(0.2, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_snrcut": Option(10.0, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_snrcutstack": Option(15.0, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_snrtop": Option(0.15, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_stype_only": Option(True, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_tess_fuzzy": Option(0.05, UNNEEDED, _PSF, "psf_vary_do"),
    "psf_tess_sc": Option("s", UNNEEDED, _PSF, "psf_vary_do"),
    "psf_use_shap": Option(False, UNNEEDED, _PSF, "psf_vary_do"),
    # channels
    "collapse_mode": Option("average", OBEYED, "the image of the search: average, single, file"),
    "collapse_av": Option([], OBEYED, "the channels of the average"),
    "collapse_ch0": Option(0, OBEYED, "the channel of single"),
    "collapse_wt": Option("unity", OBEYED, "weights of the average: unity, rms"),
    "collapse_file": Option("None", OBEYED, "the image of file"),
    "spectralindex_do": Option(False, OBEYED, "measure_in: shapes are held in each channel"),
    "specind_snr": Option(3.0, OBEYED, "3 alone; other values are refused", "spectralindex_do"),
    "specind_maxchan": Option(0, UNNEEDED, "channels are not averaged", "spectralindex_do"),
    "flagchan_list": Option([], OBEYED, "these channels are not measured", "spectralindex_do"),
    "flagchan_rms": Option(
        True, UNNEEDED, "channels have weights by their errors", "spectralindex_do"
    ),
    "flagchan_snr": Option(
        True, UNNEEDED, "channels below an S/N of 3 are left out, as always", "spectralindex_do"
    ),
    "beam_spectrum": Option(None, OBEYED, "the beam of each channel", "spectralindex_do"),
    "beam_sp_derive": Option(
        True,
        UNNEEDED,
        "without beam_spectrum channels have the beam of their header or BEAMS table",
        "spectralindex_do",
    ),
    "frequency_sp": Option(None, OBEYED, "the frequency of each channel"),
    # files
    "outdir": Option(None, OBEYED, "of the log and of output_all"),
    "output_all": Option(False, OBEYED, "catalogues and images in a directory"),
    "opdir_overwrite": Option("overwrite", OBEYED, "of output_all"),
    "solnname": Option(None, OBEYED, "of output_all"),
    "savefits_rmsim": Option(False, OBEYED, "of output_all"),
    "savefits_meanim": Option(False, OBEYED, "of output_all"),
    "savefits_residim": Option(False, OBEYED, "of output_all"),
    "savefits_modelim": Option(False, OBEYED, "of output_all"),
    "savefits_normim": Option(False, OBEYED, "of output_all"),
    "savefits_rankim": Option(False, OBEYED, "of output_all"),
    "savefits_det_rmsim": Option(False, UNNEEDED, "srcfind does not give this map away"),
    "savefits_det_meanim": Option(False, UNNEEDED, "srcfind does not give this map away"),
    "bbs_patches": Option(None, OBEYED, _WRITER),
    "bbs_patches_mask": Option(None, OBEYED, _WRITER),
    "catalog_type": Option("srl", OBEYED, _WRITER),
    "clobber": Option(False, OBEYED, _WRITER),
    "correct_proj": Option(True, OBEYED, _WRITER),
    "force_output": Option(False, OBEYED, _WRITER),
    "format": Option("fits", OBEYED, _WRITER),
    "incl_chan": Option(False, OBEYED, _WRITER),
    "incl_empty": Option(False, OBEYED, _WRITER),
    "outfile": Option(None, OBEYED, _WRITER),
    "srcroot": Option(None, OBEYED, _WRITER),
    "img_format": Option("fits", OBEYED, _EXPORT),
    "img_type": Option("gaus_resid", OBEYED, _EXPORT),
    "mask_dilation": Option(0, OBEYED, _EXPORT),
    "pad_image": Option(False, OBEYED, _EXPORT),
    # the course
    "stop_at": Option(None, OBEYED, "read, isl"),
    "quiet": Option(False, OBEYED, "nothing on the screen"),
    "interactive": Option(False, REFUSED, "a search asks nothing: look at show_fit afterwards"),
    "debug": Option(False, SHOWN, "the log is short"),
    "do_cache": Option(False, SHOWN, "maps are made when they are asked for"),
    "plot_allgaus": Option(False, SHOWN, "show_fit shows them"),
    "plot_islands": Option(False, SHOWN, "show_fit shows them"),
    "print_timing": Option(False, SHOWN, "srcfind -v shows times"),
    "residual_stats_do": Option(False, SHOWN, "the log is short"),
    "verbose_fitting": Option(False, SHOWN, "the log is short"),
    "broadcast": Option(False, SHOWN, "there is no SAMP"),
    "advanced_opts": Option(False, SHOWN, _GROUP),
    "flagging_opts": Option(False, SHOWN, _GROUP),
    "multichan_opts": Option(False, SHOWN, _GROUP),
    "output_opts": Option(False, SHOWN, _GROUP),
    # show_fit
    "ch0_flagged": Option(False, SHOWN, _PANEL),
    "ch0_image": Option(True, OBEYED, _PANEL),
    "ch0_islands": Option(True, OBEYED, _PANEL),
    "gmodel_image": Option(True, OBEYED, _PANEL),
    "gresid_image": Option(True, OBEYED, _PANEL),
    "mean_image": Option(True, OBEYED, _PANEL),
    "rms_image": Option(True, OBEYED, _PANEL),
    "pi_image": Option(False, SHOWN, _PANEL),
    "psf_major": Option(False, SHOWN, _PANEL),
    "psf_minor": Option(False, SHOWN, _PANEL),
    "psf_pa": Option(False, SHOWN, _PANEL),
    "smodel_image": Option(False, SHOWN, _PANEL),
    "sresid_image": Option(False, SHOWN, _PANEL),
    "source_seds": Option(False, SHOWN, _PANEL),
}


def numbers(name: str, value: Any, parts: Sequence[str]) -> tuple[float, ...]:
    """The numbers of an option that has several. Raises Error where they are others."""
    try:
        result = tuple(float(each) for each in value)
    except (TypeError, ValueError):
        result = ()
    if len(result) != len(parts):
        raise Error(f"{name}={value!r}: {len(parts)} numbers are needed, ({', '.join(parts)})")
    return result


class Opts:
    """The options of a search, as attributes; `img.opts` of PyBDSF."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.__dict__.update({name: option.default for name, option in OPTIONS.items()})
        self.__dict__.update(given)

    def to_dict(self) -> dict[str, Any]:
        """The options by their names."""
        return dict(self.__dict__)

    def get_names(self) -> list[str]:
        """The names of all options."""
        return sorted(OPTIONS)

    def __getattr__(self, name: str) -> Any:  # for type checkers: attributes are in __dict__
        raise AttributeError(f"PyBDSF has no option {name}")


def _full_name(name: str) -> str:
    """The option of a name, or of the beginning of one."""
    if name in OPTIONS:
        return name
    matches = [option for option in OPTIONS if option.startswith(name)]
    if len(matches) > 1:
        raise Error(f"{name}: several options begin so: {', '.join(matches)}")
    if not matches:
        near = get_close_matches(name, OPTIONS, 1)
        raise Error(
            f"{name}: PyBDSF has no such option{f'; did you mean {near[0]}?' if near else ''}"
        )
    return matches[0]


def of_dict(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a dict. As PyBDSF does, it leaves out what is no option: callers keep their own
    settings beside. Warns of what is left out."""
    others = [name for name in given if name not in OPTIONS]
    if others:
        text = f"{', '.join(others)}: no options of PyBDSF, and left out"
        warnings.warn(text, srcfind.SrcfindWarning, stacklevel=3)
    return {name: value for name, value in given.items() if name in OPTIONS}


def _same(value: Any, default: Any) -> bool:
    """Whether a value is the default, also where it is an array or an empty list."""
    if value is None or value is False or value is True or isinstance(value, str):
        return bool(value == default)
    try:
        return list(value) == list(default or ())
    except TypeError:
        return bool(value == default)


def _matters(name: str, options: Mapping[str, Any]) -> bool:
    """Whether an option differs from its default, and belongs to one that is on."""
    option = OPTIONS[name]
    return not _same(options[name], option.default) and (
        not option.of or bool(options.get(option.of))
    )


def _warn(options: Mapping[str, Any]) -> None:
    """Warns of the options that are mapped or not needed: once of all that share a reason."""
    names: dict[str, list[str]] = {}
    for name in options:
        if OPTIONS[name].fate in (MAPPED, UNNEEDED) and _matters(name, options):
            names.setdefault(OPTIONS[name].text, []).append(name)
    for text, of in names.items():
        warnings.warn(f"{', '.join(of)}: {text}", srcfind.SrcfindWarning, stacklevel=5)


def resolve(given: Mapping[str, Any]) -> Opts:
    """The options of a call, complete. Warns where one is mapped or not needed.

    Raises Error for an unknown option, and for one that is refused.
    """
    options: dict[str, Any] = {}
    for name, value in given.items():
        full = _full_name(name)
        options[full] = OPTIONS[full].default if isinstance(value, str) and value == "" else value
    for name, value in options.items():
        if OPTIONS[name].fate == REFUSED and _matters(name, options):
            raise Error(f"{name}={value!r}: {OPTIONS[name].text}")
    _warn(options)
    return Opts(options)


def table() -> str:
    """The table of the manual: each option, what becomes of it, and how or why; in Markdown."""
    rows = [f"| {name} | {o.fate} | {o.text} |" for name, o in sorted(OPTIONS.items())]
    return "\n".join(
        ["| option | what becomes of it | how, or why |", "| --- | --- | --- |", *rows]
    )

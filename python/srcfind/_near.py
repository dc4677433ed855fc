"""What a user may have meant by a name that there is not."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

# Names of options in other programs.
_OF_OTHERS = {
    **dict.fromkeys(
        ("nsigma", "sigma", "thresh", "seedclip", "thresh_pix", "detect_thresh", "snrcut"),
        "threshold",
    ),
    **dict.fromkeys(("floodclip", "thresh_isl", "analysis_thresh", "growthcut"), "island"),
    **dict.fromkeys(("npixels", "minpix", "minpix_isl", "detect_minarea", "minarea"), "min_pixels"),
    **dict.fromkeys(("forcerms", "rms_value"), "rms"),
    **dict.fromkeys(("noise", "noiseimg", "weight_image"), "rms_map"),
    **dict.fromkeys(("box", "grid", "back_size", "box_size"), "rms_box"),
    **dict.fromkeys(("cores", "ncores", "n_jobs", "workers"), "threads"),
    "bkg": "background",
    "priorized": "at",
    "atrous_do": "scales",
    "detection_image": "detect_on",
    "group_tol": "group",
    "trim_box": "trim",
}


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """The names that a user may have meant: the one in other letters, that of another program's
    option, or up to three that are spelled nearly so."""
    folded = {each.lower(): each for each in names}
    key = name.lower().replace("-", "_")
    meant = key if key in folded else _OF_OTHERS.get(key)
    if meant in folded:
        return [folded[meant]]
    return [folded[each] for each in difflib.get_close_matches(key, folded, 3, 0.5)]


def no_such(kind: str, name: str, names: Iterable[str]) -> str:
    """The message: there is no option lcal: did you mean local?"""
    near = near_names(name, names)
    return f"there is no {kind} {name}" + (f": did you mean {', '.join(near)}?" if near else "")

"""show_fit: the image, its maps and its sources in a window."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import srcfind

if TYPE_CHECKING:
    from srcfind.bdsf.image import Image

#: Panels by their names in PyBDSF: the attribute of the map, and the title.
_PANELS = {
    "ch0_image": ("ch0_arr", "Image"),
    "ch0_islands": ("ch0_arr", "Islands and Gaussians"),
    "mean_image": ("mean_arr", "Background"),
    "rms_image": ("rms_arr", "rms"),
    "gmodel_image": ("model_gaus_arr", "Model"),
    "gresid_image": ("resid_gaus_arr", "Residual"),
}


def _draw_sources(axes: Any, img: Image) -> None:
    """Draws the outlines of islands, and an ellipse for each Gaussian."""
    from matplotlib.patches import Ellipse

    axes.contour(img.pyrank.T >= 0, [0.5], colors="tab:cyan", linewidths=0.6)
    x_step, y_step = np.abs(img.frame.steps)
    for gaussian in img.gaussians if "gausfit" in img.completed_Ops else ():
        major, minor, angle = gaussian.size_sky_uncorr
        if np.isfinite([major, minor, angle]).all():
            size = (minor / x_step, major / y_step)
            axes.add_patch(
                Ellipse(gaussian.centre_pix, *size, angle=angle, fill=False, color="tab:red")
            )


def figure(img: Image, **panels: Any) -> Any:
    """The figure of show_fit; needs matplotlib."""
    from matplotlib import pyplot

    fitted = "gausfit" in img.completed_Ops
    shown = {
        name: panel
        for name, panel in _PANELS.items()
        if panels.get(name, True) and (fitted or not name.startswith("g"))
    }
    columns = min(3, max(1, len(shown)))
    rows = -(-len(shown) // columns) or 1
    drawing, places = pyplot.subplots(
        rows, columns, squeeze=False, figsize=(5 * columns, 4.5 * rows), constrained_layout=True
    )
    rms = img.clipped_rms
    for axes, (name, (attribute, title)) in zip(places.flat, shown.items()):
        values = getattr(img, attribute).T
        scale = {} if name in ("mean_image", "rms_image") else {"vmin": -3 * rms, "vmax": 10 * rms}
        drawn = axes.imshow(values, origin="lower", cmap="gray_r", **scale)
        drawing.colorbar(drawn, ax=axes, label=img.catalogue.image.unit)
        axes.set_title(title)
        if name == "ch0_islands":
            _draw_sources(axes, img)
    for axes in places.flat[len(shown) :]:
        axes.remove()
    return drawing


def show_fit(img: Image, **panels: Any) -> bool:
    """Image.show_fit."""
    try:
        from matplotlib import pyplot
    except ImportError:
        warnings.warn(
            "show_fit needs matplotlib: pip install matplotlib",
            srcfind.SrcfindWarning,
            stacklevel=3,
        )
        return False
    figure(img, **panels)
    pyplot.show()
    return True

"""What the scripts beside it share: catalogues of Gaussians, of any program, beside the objects of
awkward skies.

An entry belongs to the object that is brightest at its place. The model is made of peak flux,
position, Maj, Min and PA on the sky, in the same way for all programs.
"""
import numpy as np

import known
import peers
from known import sky

# What PyBDSF and srcfind call it, and Aegean.
NAMES = {
    "total": ("total_flux", "int_flux"),
    "total_error": ("e_total_flux", "err_int_flux"),
    "peak": ("peak_flux",),
    "east_error": ("e_ra", "err_ra"),
    "north_error": ("e_dec", "err_dec"),
    "maj": ("maj", "a"),
    "min": ("min", "b"),
    "pa": ("pa",),
    "dc_maj": ("dc_maj",),
    "dc_min": ("dc_min",),
    "dc_pa": ("dc_pa",),
}
STEP = 1e-6  # radians, for differences


class Entries:
    """The rows of a catalogue in the pixels of its image: x, y, axes; brightness in units of the
    noise."""

    def __init__(self, rows, wcs):
        rows = [{name.lower(): cell for name, cell in row.items()} for row in rows]
        columns = {name: peers.column(rows, *names) for name, names in NAMES.items()}
        columns = {
            name: values if len(values) else np.full(len(rows), np.nan)
            for name, values in columns.items()
        }
        if rows and "a" in rows[0]:  # Aegean's axes are in arcsec
            columns["maj"], columns["min"] = columns["maj"] / 3600, columns["min"] / 3600
        self.total, self.total_error, self.peak = (
            columns["total"],
            columns["total_error"],
            columns["peak"] / sky.NOISE,
        )
        self.x, self.y = peers.pixels(rows, wcs).T
        self.turn = pixels_a_degree(wcs, peers.column(rows, "ra"), peers.column(rows, "dec"))
        self.errors = np.column_stack([columns["east_error"], columns["north_error"]])
        self.shape = self.on_pixels(columns["maj"], columns["min"], columns["pa"])
        self.intrinsic = self.on_pixels(columns["dc_maj"], columns["dc_min"], columns["dc_pa"])

    def on_pixels(self, *axes):
        """Axes in pixels, and angles from +y towards -x, of ellipses on the sky; the axes in
        degrees."""
        on_sky = np.array([sky.covariance(ellipse) for ellipse in zip(*axes)]).reshape(-1, 3)
        xx, xy, yy = on_sky.T  # x is to the west
        matrix = np.stack([np.stack([xx, -xy], axis=-1), np.stack([-xy, yy], axis=-1)], axis=-1)
        turned = self.turn @ matrix @ self.turn.transpose(0, 2, 1)
        return np.column_stack(sky.axes(turned[:, 0, 0], turned[:, 0, 1], turned[:, 1, 1]))

    def parts(self, a_sky):
        """Those that can be drawn, as parts of an object."""
        parts = np.column_stack([self.x, self.y, self.peak, self.shape])
        near = (
            np.abs(parts[:, :2] - a_sky.plan.side / 2) < a_sky.plan.side / 2 + a_sky.margin
        ).all(axis=1)
        return parts[near & np.isfinite(parts).all(axis=1)]


def pixels_a_degree(wcs, lon, lat):
    """Matrices, (n, 2, 2): how x and y change to the east (first column) and to the north, for
    small steps on the sky."""
    lon, lat = np.radians(lon), np.radians(lat)
    zero = np.zeros_like(lon)
    here = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    east = np.array([-np.sin(lon), np.cos(lon), zero])
    north = np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])

    def pixels(point):
        towards = np.degrees(
            [np.arctan2(point[1], point[0]), np.arctan2(point[2], np.hypot(point[0], point[1]))]
        )
        return wcs.wcs_world2pix(towards.T.reshape(-1, 2), 0)

    steps = [pixels(here + STEP * way) - pixels(here - STEP * way) for way in (east, north)]
    return np.stack(steps, axis=-1) / (2 * np.degrees(STEP))


class Tally:
    """What one program has of the objects of several skies."""

    def __init__(self):
        self.false = 0
        self.objects = []  # (group, {what: value}) of each

    def add(self, a_sky, rows):
        entries = Entries(rows, a_sky.wcs)
        owners = a_sky.owners(entries.x, entries.y)
        residuals = a_sky.residuals(entries.parts(a_sky))
        self.false += np.count_nonzero(owners < 0)
        for i, thing in enumerate(a_sky.plan.objects):
            own = np.flatnonzero(owners == i)
            values = {"rows": len(own), "residual": residuals[i]}
            if len(own):
                values.update(fluxes(entries, own, a_sky.flux(thing)))
                values.update(place(entries, own, thing, a_sky))
                values.update(sizes(entries, own, thing))
            self.objects.append((thing.group, values))

    def groups(self):
        return sorted(
            {group for group, _ in self.objects}, key=[group for group, _ in self.objects].index
        )

    def values(self, group, what):
        """Those that are known, of the objects of the group."""
        every = np.concatenate(
            [np.ravel(values.get(what, [])) for its, values in self.objects if its == group]
        )
        return every[np.isfinite(every)]


def fluxes(entries, own, true):
    total, error = entries.total[own].sum(), np.sqrt((entries.total_error[own] ** 2).sum())
    is_known = (entries.total_error[own] > 0).all()
    return {
        "flux": 100 * (total / true - 1),
        "flux pull": (total - true) / error if is_known else np.nan,
    }


def place(entries, own, thing, a_sky):
    """The offset of the highest entry from the core; without a core, of the centre of all entries
    from that of all parts."""
    if thing.core:
        highest = own[np.argmax(entries.peak[own])]
        offset = np.array([entries.x[highest], entries.y[highest]]) - thing.parts[0, :2]
        on_sky = np.linalg.solve(entries.turn[highest], offset)
        errors = entries.errors[highest]
        return {"offset": offset, "pull": on_sky / np.where(errors > 0, errors, np.nan)}
    weight = thing.parts[:, 2:5].prod(axis=1)
    centre = np.average(thing.parts[:, :2], axis=0, weights=weight)
    return {
        "offset": np.average(
            np.column_stack([entries.x, entries.y])[own], axis=0, weights=entries.total[own]
        )
        - centre
    }


def sizes(entries, own, thing):
    """Without the beam, of objects that are one row, as they should be."""
    if len(own) > 1 or not np.isfinite(thing.intrinsic).all():
        return {}
    major, minor, angle = entries.intrinsic[own[0]]
    has_angle = thing.intrinsic[0] > thing.intrinsic[1]
    return {
        "DC_Maj": major,
        "DC_Min": minor,
        "DC_PA": (angle - thing.intrinsic[2] + 90) % 180 - 90 + thing.intrinsic[2]
        if has_angle
        else np.nan,
    }


def spread_text(values, form):
    return (
        ("%s ± %s" % (form, form.replace("+", ""))) % known.spread(values) if len(values) else "-"
    )


def range_text(values):
    return (
        "%.1f (%.1f to %.1f)" % (np.median(values), values.min(), values.max())
        if len(values)
        else "-"
    )


def cells(tally, group):
    """The cells of a line of the table; those of the sizes are "-" where there are none."""
    rows, flux, residual, offset = (
        tally.values(group, what) for what in ("rows", "flux", "residual", "offset")
    )
    found = rows > 0
    yield "%d of %d" % (found.sum(), len(rows))
    yield "%.2f" % rows[found].mean() if found.any() else "-"
    yield spread_text(flux, "%+.1f")
    yield "%+.0f" % flux[np.argmax(abs(flux))] if len(flux) else "-"
    yield spread_text(tally.values(group, "flux pull"), "%+.1f")
    yield "%.3f" % (1.4826 * np.median(abs(offset))) if len(offset) else "-"
    yield spread_text(tally.values(group, "pull"), "%+.1f")
    yield "%.2f, %.1f" % (np.median(residual), residual.max()) if len(residual) else "-"
    for what in "DC_Maj", "DC_Min", "DC_PA":
        yield range_text(tally.values(group, what))


TITLES = [
    "program",
    "found",
    "rows each",
    "total flux %",
    "worst",
    "pull",
    "position, pixels",
    "pull",
    "residual, worst",
    "DC_Maj, pixels",
    "DC_Min, pixels",
    "DC_PA",
]


def print_table(title, tallies):
    groups = next(iter(tallies.values())).groups()
    lines = [
        [group, name, *cells(tally, group)] for group in groups for name, tally in tallies.items()
    ]
    used = [i for i in range(len(lines[0])) if any(line[i] != "-" for line in lines)]
    print()
    for line in [[title, *TITLES], ["---"] * len(lines[0]), *lines]:
        known.print_row(*(line[i] for i in used))
    print(
        "\nRows on nothing: %s."
        % ", ".join("%s %d" % (name, tally.false) for name, tally in tallies.items()),
        flush=True,
    )

"""A measurement set of point sources, as an interferometer of one channel would observe them."""
import numpy as np
from casacore import tables

LIGHT, FREQUENCY = 299792458.0, 150e6


def sky_offsets(centre, positions):
    """Direction cosines l, m, n of positions, all in radians."""
    (ra0, dec0), (ra, dec) = centre, np.transpose(positions)
    return (
        np.cos(dec) * np.sin(ra - ra0),
        np.sin(dec) * np.cos(dec0) - np.cos(dec) * np.sin(dec0) * np.cos(ra - ra0),
        np.sin(dec) * np.sin(dec0) + np.cos(dec) * np.cos(dec0) * np.cos(ra - ra0),
    )


def visibilities(uvw, centre, positions, fluxes):
    """Of each baseline [m]: sum of S exp(2 pi i (u l + v m + w (n - 1))), with the signs of
    wsclean."""
    left, up, ahead = sky_offsets(centre, positions)
    phase = np.outer(uvw[:, 0], left) + np.outer(uvw[:, 1], up) + np.outer(uvw[:, 2], ahead - 1)
    return np.exp(2j * np.pi * phase * FREQUENCY / LIGHT) @ np.asarray(fluxes, complex)


def fill(name, table, **columns):
    """Writes rows of a subtable."""
    with tables.table("%s::%s" % (name, table), readonly=False, ack=False) as rows:
        rows.addrows(len(next(iter(columns.values()))))
        for column, values in columns.items():
            for i, value in enumerate(values):
                rows.putcell(column, i, value)


def describe(name, n, centre):
    """The subtables: n antennas, one field, one channel, linear feeds."""
    direction = np.array([centre])
    fill(
        name,
        "ANTENNA",
        NAME=["A%d" % i for i in range(n)],
        STATION=["S"] * n,
        TYPE=["GROUND-BASED"] * n,
        MOUNT=["ALT-AZ"] * n,
        DISH_DIAMETER=[25.0] * n,
        POSITION=list(np.array([3826577.0, 461022.0, 5064892.0]) + np.arange(n)[:, None]),
    )
    fill(
        name,
        "FIELD",
        NAME=["field"],
        NUM_POLY=[0],
        DELAY_DIR=[direction],
        PHASE_DIR=[direction],
        REFERENCE_DIR=[direction],
    )
    fill(
        name,
        "SPECTRAL_WINDOW",
        NAME=["band"],
        NUM_CHAN=[1],
        REF_FREQUENCY=[FREQUENCY],
        TOTAL_BANDWIDTH=[1e5],
        **{
            column: [np.array([value])]
            for column, value in (
                ("CHAN_FREQ", FREQUENCY),
                ("CHAN_WIDTH", 1e5),
                ("EFFECTIVE_BW", 1e5),
                ("RESOLUTION", 1e5),
            )
        },
    )
    fill(
        name,
        "POLARIZATION",
        NUM_CORR=[2],
        CORR_TYPE=[np.array([9, 12])],
        CORR_PRODUCT=[np.array([[0, 1], [0, 1]])],
    )
    fill(name, "DATA_DESCRIPTION", SPECTRAL_WINDOW_ID=[0], POLARIZATION_ID=[0], FLAG_ROW=[False])
    fill(
        name,
        "OBSERVATION",
        TELESCOPE_NAME=["SIM"],
        OBSERVER=["x"],
        TIME_RANGE=[np.array([5e9, 5.001e9])],
    )


def write(name, centre, positions, fluxes, noise, n=24, n_times=40, longest=4000.0, seed=1):
    """Writes a measurement set of n antennas in random places, whose array turns below the sky."""
    random = np.random.default_rng(seed)
    east, north = random.normal(0, longest / 3, (2, n))
    first, second = np.triu_indices(n, 1)
    angles = np.linspace(-1.5, 1.5, n_times)[:, None]
    de, dn = east[second] - east[first], north[second] - north[first]
    uvw = np.stack(
        [
            np.cos(angles) * de,
            np.sin(angles) * de * np.sin(centre[1]) + dn * np.cos(centre[1]),
            0 * angles * de,
        ],
        -1,
    ).reshape(-1, 3)
    data = visibilities(uvw, centre, positions, fluxes)
    data = data[:, None, None] + random.normal(0, noise, (len(data), 1, 2, 2)) @ [1, 1j]
    shape = {"ndim": 2, "shape": [1, 2]}
    with tables.default_ms(
        name,
        tables.maketabdesc(tables.makearrcoldesc("DATA", 0j, valuetype="complex", **{"ndim": 2})),
    ) as ms:
        ms.addrows(len(uvw))
        ms.putcol("UVW", uvw)
        ms.putcol("DATA", data.astype(np.complex64))
        ms.putcol("FLAG", np.zeros(data.shape, bool))
        ms.putcol("WEIGHT", np.ones((len(uvw), 2), np.float32))
        ms.putcol("SIGMA", np.ones((len(uvw), 2), np.float32))
        ms.putcol("ANTENNA1", np.tile(first, n_times).astype(np.int32))
        ms.putcol("ANTENNA2", np.tile(second, n_times).astype(np.int32))
        for column in ("TIME", "TIME_CENTROID"):
            ms.putcol(column, np.repeat(5e9 + 10.0 * np.arange(n_times), len(first)))
        for column in ("INTERVAL", "EXPOSURE"):
            ms.putcol(column, np.full(len(uvw), 10.0))
    describe(name, n, centre)

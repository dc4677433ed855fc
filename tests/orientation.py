"""Images in other orientations: mirrored in x and y, and transposed (first), each pixel at its place
on the sky."""
import numpy as np
from astropy.io import fits

ORIENTATIONS = ("x", "y", "xy", "t", "tx", "ty", "txy")


def turn(data, how):
    """An image in another orientation."""
    if "t" in how:
        data = data.T
    if "x" in how:
        data = data[:, ::-1]
    if "y" in how:
        data = data[::-1]
    return data


def turn_back(how, x, y, shape):
    """Pixels of the first orientation, whose shape is given, from those of another."""
    height, width = shape[::-1] if "t" in how else shape
    x = width - 1 - x if "x" in how else x
    y = height - 1 - y if "y" in how else y
    return (y, x) if "t" in how else (x, y)


def matrix_of(header):
    """The header's linear transformation, from pixels to world axes, in degrees a pixel."""
    given = [[header.get("CD%d_%d" % (i, j)) for j in (1, 2)] for i in (1, 2)]
    if any(value is not None for row in given for value in row):
        return np.array([[value or 0.0 for value in row] for row in given])
    turned = np.array(
        [
            [
                header.get("PC%d_%d" % (i, j), header.get("PC%03d%03d" % (i, j), float(i == j)))
                for j in (1, 2)
            ]
            for i in (1, 2)
        ]
    )
    angle = np.radians(header.get("CROTA2", 0.0))
    if angle:
        ratio = header["CDELT2"] / header["CDELT1"]
        turned = np.array(
            [[np.cos(angle), -np.sin(angle) * ratio], [np.sin(angle) / ratio, np.cos(angle)]]
        )
    return np.diag([header["CDELT1"], header["CDELT2"]]) @ turned


def turn_header(header, how, shape):
    """The header of an image that is turned: each pixel keeps its place on the sky. The world axes
    stay as they are."""
    turned = header.copy()
    if header.get("CDELT1") is None and header.get("CD1_1") is None:
        return turned
    height, width = shape
    matrix = matrix_of(header)
    x, y = header.get("CRPIX1", 0.0), header.get("CRPIX2", 0.0)
    if "t" in how:
        matrix, x, y, width, height = matrix[:, ::-1], y, x, height, width
    if "x" in how:
        matrix, x = matrix * [-1, 1], width + 1 - x
    if "y" in how:
        matrix, y = matrix * [1, -1], height + 1 - y
    for name in list(turned):
        if name.startswith(("PC0", "PC1_", "PC2_", "CD1_", "CD2_", "CROTA")):
            del turned[name]
    for i in (1, 2):
        turned["CDELT%d" % i] = 1.0
        for j in (1, 2):
            turned["PC%d_%d" % (i, j)] = matrix[i - 1, j - 1]
    turned["CRPIX1"], turned["CRPIX2"] = x, y
    return turned


def read(path):
    with fits.open(path) as hdus:
        image = next(hdu for hdu in hdus if hdu.data is not None and hdu.data.ndim >= 2)
        header = image.header.copy()
        for card in ("BSCALE", "BZERO", "BLANK"):
            header.remove(card, ignore_missing=True)
        return image.data.astype(np.float32), header


def write_turned(path, data, header, how):
    plane = data.reshape(-1, *data.shape[-2:])[0]
    turned = np.ascontiguousarray(turn(plane, how))
    fits.PrimaryHDU(
        turned.reshape(data.shape[:-2] + turned.shape), turn_header(header, how, plane.shape)
    ).writeto(path, overwrite=True, output_verify="ignore")

"""Arrays as pixels of the library: what they hold, where they are, and the header beside them."""
from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from srcfind._calls import OptionError, ffi
from srcfind._hdus import choose_hdu, choose_plane, is_hdu, is_hdu_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

MaskedArray: Any = np.ma.MaskedArray  # has types only in the newest versions of NumPy

_FLOAT32 = (2, 32, 1)  # a DLDataType: kDLFloat, bits, lanes
_CUDA, _CUDA_MANAGED = 2, 13  # of a DLDeviceType
_LEGACY_STREAM = 1  # the number of CUDA's default stream in DLPack
_NATIVE = "<" if sys.byteorder == "little" else ">"

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

# The cards that a WCS may write, and the axes in their names.
_COORDINATES = re.compile(
    r"(WCSAXES|(CTYPE|CRVAL|CRPIX|CDELT|CUNIT|CROTA)\d+|(PC|CD|PV|PS)\d+_\d+|LONPOLE|LATPOLE"
    r"|RADESYS|EQUINOX|EPOCH|[AB]P?_(ORDER|DMAX|\d+_\d+))$"
)


class Pixels(NamedTuple):
    """A struct srcfind_pixels, and the objects that must live as long."""

    struct: Any
    owners: tuple[Any, ...]
    on_device: bool = False
    device: int | None = None  # the number of the CUDA device, if the array has it
    stream: int = 0


class _Plane(NamedTuple):
    """float32 pixels in memory. The stride of rows is in pixels."""

    address: int
    width: int
    height: int
    row_stride: int
    swapped: bool


# --- the header ---


def _copy(header: Any) -> Any:
    """A header of astropy that may be changed."""
    from astropy.io import fits

    if isinstance(header, str):
        return fits.Header.fromstring(header)
    return fits.Header() if header is None else header.copy()


def _with_unit(header: Any, image: Any) -> Any:
    """The header. If it has no BUNIT, it gets the unit of an array that has one (astropy's
    Quantity)."""
    unit: Any = getattr(image, "unit", None)
    if not hasattr(unit, "to_string"):
        return header
    cards = _copy(header)
    cards.setdefault("BUNIT", unit.to_string().replace(" ", ""))
    return cards


def _with_coordinates(header: Any, wcs: Any) -> Any:
    """The cards of a header, with the coordinates of a WCS in place of its own."""
    if not hasattr(wcs, "to_header"):
        raise TypeError(f"wcs: a WCS of astropy, and not {type(wcs).__name__}")
    cards = _copy(header)
    of_others = False  # cards of further axes stay, as the frequency of a cube
    for keyword in {keyword for keyword in cards if _COORDINATES.match(keyword)}:
        axes = [int(number) for number in re.findall(r"\d+", keyword)]
        if axes and min(axes) > wcs.naxis:
            of_others = True
        else:
            cards.remove(keyword, remove_all=True)
    cards.update(wcs.to_header(relax=True))
    if of_others:
        del cards["WCSAXES"]
    return cards


def _cards(header: Any, wcs: Any) -> bytes | None:
    if wcs is not None:
        header = _with_coordinates(header, wcs)
    if header is None:
        return None
    if hasattr(header, "cards"):
        header = header.tostring(sep="", endcard=False, padding=False)
    if not isinstance(header, str):
        raise TypeError(
            f"header: a Header of astropy, or a str of its cards, and not {type(header).__name__}"
        )
    return header.encode("ascii", "replace")


def _pixels(plane: _Plane, owner: Any, header: Any, wcs: Any, **where: Any) -> Pixels:
    cards = _cards(header, wcs)
    text = ffi.NULL if cards is None else ffi.new("char[]", cards)
    struct = ffi.new(
        "struct srcfind_pixels *",
        {
            "size": ffi.sizeof("struct srcfind_pixels"),
            "values": ffi.cast("const float *", plane.address),
            "width": plane.width,
            "height": plane.height,
            "row_stride": plane.row_stride,
            "swapped": plane.swapped,
            "header": text,
        },
    )
    return Pixels(struct, (owner, text), **where)


# --- arrays on the host ---


def _axes(shape: Sequence[int]) -> int:
    """The number of leading axes, which must have length 1. ValueError if one is longer, or if
    there are no pixels."""
    extra = len(shape) - 2
    if 0 in shape:
        raise OptionError(
            f"an image has pixels, and this array, of the shape {tuple(shape)}, has none: is it a cut-out beside the image?"
        )
    if extra < 0 or any(n != 1 for n in shape[:extra]):
        raise ValueError(
            f"an image has two axes, and this array the shape {tuple(shape)}: choose a plane, as array[0]"
        )
    return extra


def _is_readable(array: NDArray[Any]) -> bool:
    """Whether the library can read an array where it is."""
    (height, width), (y_stride, x_stride) = array.shape, array.strides
    return (
        array.dtype.kind == "f"
        and array.itemsize == 4
        and array.flags.aligned
        and (width <= 1 or x_stride == 4)
        and (height <= 1 or (y_stride >= 4 * width and y_stride % 4 == 0))
    )


def _on_host(image: Any) -> NDArray[Any]:
    """A two-dimensional float32 array: the image itself if possible, else a copy."""
    array = image if isinstance(image, MaskedArray) else np.asarray(image)
    if array.dtype.kind not in "iuf":
        what = (
            f"{type(image).__name__} of {array.dtype}"
            if isinstance(image, np.ndarray)
            else type(image).__name__
        )
        raise TypeError(
            f"an image is a path, an array of real numbers, an HDU or an open FITS file, and not {what}"
        )
    array = array[(0,) * _axes(array.shape)]
    with np.errstate(over="ignore"):  # too large for float32: infinite, and so blank
        plane = array.astype(np.float32).filled(np.nan) if isinstance(array, MaskedArray) else array
        return plane if _is_readable(plane) else np.ascontiguousarray(plane, np.float32)


def _plane_of(array: NDArray[Any]) -> _Plane:
    height, width = array.shape
    return _Plane(
        array.ctypes.data,
        width,
        height,
        array.strides[0] // 4 if height > 1 else 0,
        not array.dtype.isnative,
    )


# --- arrays on a device ---


def _device_plane(
    address: int, shape: Sequence[int], strides: Sequence[int] | None, swapped: bool
) -> _Plane:
    """strides are in pixels; None: the array is contiguous."""
    extra = _axes(shape)
    height, width = shape[extra:]
    y_stride, x_stride = strides[extra:] if strides else (width, 1)
    if (width > 1 and x_stride != 1) or (height > 1 and y_stride < width):
        raise ValueError(
            "the rows of an array on a device must be contiguous, one after the other: search a copy"
        )
    return _Plane(address, width, height, y_stride if height > 1 else 0, swapped)


def _from_dlpack(image: Any, device: int, header: Any, wcs: Any) -> Pixels:
    """The capsule is not consumed: when Python destroys it, it deletes the tensor."""
    capsule = image.__dlpack__(stream=_LEGACY_STREAM)
    tensor = ffi.cast("DLManagedTensor *", _capsule_pointer(capsule, b"dltensor")).dl_tensor
    if (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) != _FLOAT32:
        raise TypeError("an array on a device must be of float32: search a copy that is")
    shape = ffi.unpack(tensor.shape, tensor.ndim)
    strides = ffi.unpack(tensor.strides, tensor.ndim) if tensor.strides else None
    address = int(ffi.cast("intptr_t", tensor.data)) + tensor.byte_offset
    plane = _device_plane(address, shape, strides, False)
    return _pixels(plane, (image, capsule), header, wcs, on_device=True, device=device)


def _from_interface(image: Any, header: Any, wcs: Any) -> Pixels:
    """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""
    interface = image.__cuda_array_interface__
    if interface["typestr"] not in ("<f4", ">f4") or interface.get("mask") is not None:
        raise TypeError(
            "an array on a device must be of float32, and without a mask: search a copy that is"
        )
    strides = interface.get("strides")
    if strides and any(stride % 4 for stride in strides):
        raise ValueError("the pixels of an array on a device must be aligned: search a copy")
    plane = _device_plane(
        interface["data"][0],
        interface["shape"],
        strides and [stride // 4 for stride in strides],
        interface["typestr"][0] != _NATIVE,
    )
    return _pixels(
        plane, (image, interface), header, wcs, on_device=True, stream=interface.get("stream") or 0
    )


# --- any image ---


def _is_nddata(image: Any) -> bool:
    """Whether an image is an NDData or CCDData of astropy, or has the same attributes."""
    return not isinstance(image, np.ndarray) and all(
        hasattr(image, name) for name in ("data", "mask", "wcs", "unit")
    )


def _masked(values: Any, mask: Any) -> Any:
    """An array that is masked where mask is True. mask is one value for each pixel, or one for
    all."""
    return MaskedArray(values, np.broadcast_to(np.asarray(mask, bool), np.shape(values)))


def _nddata(image: Any, header: Any, wcs: Any) -> tuple[Any, Any, Any]:
    """Array, header and WCS of an NDData. The unit of the NDData counts, not the BUNIT of its
    header."""
    own: Any = getattr(image, "meta", None)
    if header is None and hasattr(own, "cards"):
        header = own.copy()
        if image.unit is not None:
            header.remove("BUNIT", ignore_missing=True, remove_all=True)
    array = image.data if image.mask is None else _masked(image.data, image.mask)
    return array, _with_unit(header, image), image.wcs if wcs is None else wcs


def pixels_of(
    image: Any, header: Any = None, wcs: Any = None, hdu: str = "", plane: str = ""
) -> Pixels:
    """The pixels of an array, an HDU or an open file. hdu and plane choose among those of a file,
    as srcfind.find says."""
    if is_hdu_list(image):
        image = choose_hdu(image, hdu)
    if is_hdu(image):
        image, header = choose_plane(image, plane), image.header if header is None else header
    elif _is_nddata(image):
        image, header, wcs = _nddata(image, header, wcs)
    if hasattr(image, "unmasked"):  # a Masked of astropy
        image, header = _masked(image.unmasked, image.mask), _with_unit(header, image)
    if hasattr(image, "__dlpack_device__"):
        kind, device = map(int, image.__dlpack_device__())
        if kind in (_CUDA, _CUDA_MANAGED):
            return _from_dlpack(image, device, header, wcs)
    elif hasattr(image, "__cuda_array_interface__"):
        return _from_interface(image, header, wcs)
    array = _on_host(image)
    return _pixels(_plane_of(array), array, _with_unit(header, image), wcs)

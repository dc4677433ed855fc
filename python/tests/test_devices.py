"""Arrays on a CUDA device, by DLPack and __cuda_array_interface__: with a module whose devices have
the host's memory."""
import ctypes
import os
import sys

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from conftest import assert_same
from srcfind._library import ffi
from srcfind._pixels import _capsule_pointer, pixels_of

IMAGE = t.noise(120, 130)


class WithDLPack:
    """An array whose capsule is NumPy's, which deletes the tensor once."""

    def __init__(self, array, device=0):
        self.array, self.device, self.streams = array, device, []

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


class WithOffset(WithDLPack):
    """The same with a tensor whose data begin behind its address."""

    def __dlpack__(self, stream=None):
        capsule = super().__dlpack__(stream)
        tensor = ffi.cast("DLManagedTensor *", _capsule_pointer(capsule, b"dltensor")).dl_tensor
        tensor.data, tensor.byte_offset = ffi.cast("char *", tensor.data) - 64, 64
        return capsule


class WithInterface:
    def __init__(self, array, contiguous=False, **others):
        self.__cuda_array_interface__ = {
            "version": 3,
            "data": (array.ctypes.data, True),
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": None if contiguous else array.strides,
            **others,
        }
        self.array = array


def wide():
    array = np.zeros((1, 120, 150), np.float32)
    array[0, :, 7:137] = IMAGE
    return array


@pytest.mark.parametrize(
    "image",
    [
        WithDLPack(IMAGE),
        WithDLPack(wide()[:, :, 7:137]),
        WithOffset(IMAGE),
        WithInterface(IMAGE),
        WithInterface(IMAGE, contiguous=True),
        WithInterface(wide()[:, :, 7:137], stream=1),
        WithInterface(IMAGE.astype(">f4")),
        WithInterface(IMAGE.astype("<f4")),
    ],
)
def test_catalogue(fake_cuda, image):
    """That of the same array on the host, with all options that change pixels."""
    for options in (
        {},
        {"negative": True, "blank": IMAGE[5, 5], "island": 3},
        {"local": True, "device": 0},
        {"trim": (21, 120, 3, 90)},
    ):
        expected = srcfind.find(IMAGE, header=t.sky_header(), **{**options, "device": "cpu"})
        found = srcfind.find(image, header=t.sky_header(), **options)
        assert len(found) > 5 and (found.run.backend, found.run.device) == ("cuda", "fake")
        assert_same(found, expected)
        for draw in (lambda: found.map("rms"), found.picture):
            with pytest.raises(srcfind.DeviceError, match="search a copy"):
                draw()
        assert "<img" not in found._repr_html_()


def test_capsules(fake_cuda):
    """They are asked for in the order of the default stream, and deleted after errors, too."""
    image = WithDLPack(IMAGE)
    references = sys.getrefcount(IMAGE)
    assert len(srcfind.find(image)) > 5
    with pytest.raises(srcfind.DeviceError):
        srcfind.find(image, device=7)
    with pytest.raises(srcfind.OptionError):
        srcfind.find(image, header="short")
    with pytest.raises(TypeError, match="float32"):
        srcfind.find(WithDLPack(IMAGE.astype(np.float64)))
    assert sys.getrefcount(IMAGE) == references  # each tensor was deleted, and once
    assert set(image.streams) == {1}


def test_device_of_the_array(fake_cuda, monkeypatch):
    """The device is that of the array, unless an option names one."""
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "3")
    finder = srcfind.Finder(threads=2)
    for device in (0, 2, 2):
        assert finder.find(WithDLPack(IMAGE, device)).run.backend == "cuda"
    with pytest.raises(srcfind.DeviceError, match="there is no CUDA device 3"):
        finder.find(WithDLPack(IMAGE, 3))
    assert srcfind.find(WithDLPack(IMAGE, 3), device=1).run.backend == "cuda"
    assert finder.find(IMAGE).run.backend == "cpu"


def test_streams():
    for stream, expected in ((None, 0), (1, 1), (2, 2), (0x7F0000001230, 0x7F0000001230)):
        assert pixels_of(WithInterface(IMAGE, stream=stream)).stream == expected
    assert pixels_of(WithDLPack(IMAGE)).stream == 0


def test_wrong_arrays():
    double, masked = IMAGE.astype(np.float64), WithInterface(IMAGE, mask=WithInterface(IMAGE > 0))
    odd = np.zeros((5, 5), [("a", "u1"), ("b", "f4")])["b"]
    cases = [
        (TypeError, "float32", WithInterface(double)),
        (TypeError, "float32", WithDLPack(double)),
        (TypeError, "without a mask", masked),
        (TypeError, "float32", WithInterface(IMAGE.astype("i4"))),
        (ValueError, "aligned", WithInterface(odd)),
    ]
    for wrapped in (WithInterface, WithDLPack):
        cases += [
            (ValueError, "contiguous", wrapped(IMAGE[:, ::2])),
            (ValueError, "contiguous", wrapped(IMAGE[::-1])),
            (ValueError, "contiguous", wrapped(IMAGE.T)),
            (ValueError, "two axes", wrapped(IMAGE[0])),
            (ValueError, "two axes", wrapped(np.stack([IMAGE, IMAGE]))),
        ]
    for kind, message, image in cases:
        with pytest.raises(kind, match=message):
            pixels_of(image)


def test_without_a_device():
    for image in (WithDLPack(IMAGE), WithInterface(IMAGE)):
        references = sys.getrefcount(IMAGE)
        with pytest.raises(
            srcfind.DeviceError, match="pixels on a device cannot be searched by the CPU"
        ):
            srcfind.find(image, device="cpu")
        assert sys.getrefcount(IMAGE) == references


def test_dlpack_on_the_host():
    """An array of another library that is on the host is searched there."""

    class OnHost(WithDLPack):
        def __dlpack_device__(self):
            return 1, 0

        def __array__(self, dtype=None, copy=None):
            return self.array

    assert srcfind.find(OnHost(IMAGE)).run.backend == "cpu"
    assert pixels_of(OnHost(IMAGE)).struct.values == pixels_of(IMAGE).struct.values


class Device:
    """What the test needs of the CUDA runtime; skips the test where there is no device."""

    def __init__(self):
        n = ctypes.c_int()
        try:
            self.runtime = ctypes.CDLL("/usr/local/cuda/lib64/libcudart.so")
        except OSError:
            pytest.skip("there is no CUDA runtime")
        if (
            "SRCFIND_CUDA_MODULE" in os.environ
            or self.runtime.cudaGetDeviceCount(ctypes.byref(n)) != 0
            or n.value == 0
        ):
            pytest.skip("there is no CUDA device, or another module stands in for it")
        self.stream = ctypes.c_void_p()
        self.call("cudaStreamCreate", ctypes.byref(self.stream))

    def call(self, name, *arguments):
        assert getattr(self.runtime, name)(*arguments) == 0, name

    def image(self, array, width, **others):
        """The first columns of an array, on the device: they are there when the stream has come so
        far."""
        memory, size = ctypes.c_void_p(), ctypes.c_size_t(array.nbytes)
        self.call("cudaMalloc", ctypes.byref(memory), size)
        self.call(
            "cudaMemcpyAsync", memory, ctypes.c_void_p(array.ctypes.data), size, 1, self.stream
        )
        return WithInterface(array[:, :width], data=(memory.value, False), **others)


def test_on_a_device():
    """The catalogue of the CPU, of arrays in either byte order and with rows that are apart, in the
    order of a stream."""
    device, large = Device(), t.noise(2000, 1700, n_sources=300)
    finder = srcfind.Finder(island=3, device=0)
    for array in (large, large.astype(">f4")):
        for width in (1700, 1500):
            found = finder.find(
                device.image(array, width, stream=device.stream.value), header=t.sky_header()
            )
            assert found.run.backend == "cuda" and len(found) > 200
            assert_same(
                found, srcfind.find(large[:, :width], header=t.sky_header(), island=3, device="cpu")
            )

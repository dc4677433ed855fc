"""Finders: searches with one set of options."""
from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srcfind._calls import call_with_signals, chars, check, ffi, lib
from srcfind._catalogue import Catalogue
from srcfind._files import TemporaryFiles, shown
from srcfind._options import make_options, shaping_options
from srcfind._pixels import pixels_of
from srcfind._quantities import in_map_unit, is_of_map
from srcfind._signatures import Options

if TYPE_CHECKING:
    from astropy.io.fits import Header
    from astropy.wcs import WCS
    from typing_extensions import Unpack  # which type checkers know without the package


class Finder:
    """Finds sources with one set of options; it keeps its threads, and a CUDA device, from one
    image to the next.

    The options are the command's long options (`man srcfind`), with `_` for `-`: `threshold=6`,
    `local=True`, `rms_box=(60, 20)`, `beam=(10, 8, 40)`, `background="zero"`, `mask=path`,
    `device="cpu"`, `threads=2`. None stands for the default. beam, and rms, background and blank,
    which are in the unit of the map, may also be Quantities of astropy: `rms=0.2 * u.mJy / u.beam`.

    mask, rms_map, background_map, detect_on, detect_rms_map and detect_background_map also take a
    NumPy array of the image's shape, NaN or masked where it is blank. In a mask, 0 or False is a
    pixel that is blank, as in a mask in a file; NumPy's own masks, and those of CCDData, mean the
    opposite: `mask=~masked.mask`. at also takes a Catalogue, an astropy Table or QTable or a
    DataFrame of pandas with the columns that it reads from files (angles are converted to degrees, a
    column may be a SkyCoord), a SkyCoord, and pairs of degrees in the frame of the image: a tuple, a
    list of tuples, or an array of the shape (n, 2). All of these are written to temporary files when
    the finder is made, and the files are removed with the finder and its catalogues, whose maps need them again. `options` have names
    in place of the files' paths ("mask"); files that a catalogue writes have the paths.

    Ctrl-C ends a search, and so does any exception of the handler of a signal. The finder can be
    used again.

    Several threads may use a finder: one search follows the other. Searches at the same time need a
    finder each. A forked process may use the finders of its parent on the CPU; CUDA does not work
    after a fork.

    Raises TypeError for an unknown option, OptionError for a wrong value, and DeviceError if the
    named device cannot be used.

    >>> finder = Finder(threshold=6, device="cpu")
    >>> finder
    Finder(threshold=6, device='cpu')
    >>> [len(finder.find(image)) for image in (image, image + 1)]
    [1, 1]
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self._given = options
        self._files = TemporaryFiles()
        #: Quantities in the unit of the map, which each image has
        self._of_maps = {name: v for name, v in options.items() if is_of_map(name, v)}
        known = {name: v for name, v in options.items() if name not in self._of_maps}
        self._options = make_options(known, self._files)
        #: The options that shape a catalogue, with the texts of their values; without those not
        #: set.
        self.options: dict[str, str] = shaping_options(self._options, self._files)
        self._on_devices: dict[int, Finder] = {}
        self._in_unit: tuple[dict[str, float], Finder] | None = None  # the last one
        self._lock = threading.RLock()  # is held around several calls, too
        self._is_busy = False  # during a call
        self._finder = self._create()
        _finders.add(self)

    def __repr__(self) -> str:
        return (
            f"Finder({', '.join(f'{name}={shown(value)}' for name, value in self._given.items())})"
        )

    def find(
        self, image: Any, *, header: Header | str | None = None, wcs: WCS | None = None
    ) -> Catalogue:
        """Finds the sources of an image; see `srcfind.find`."""
        catalogue = self._search(image, header, wcs)
        catalogue._warn()
        return catalogue

    def _search(self, image: Any, header: Header | str | None, wcs: WCS | None) -> Catalogue:
        if self._of_maps:
            return self._for_unit_of(image, header)._search(image, header, wcs)
        place = ffi.new("struct srcfind_catalogue **")
        if isinstance(image, (str, bytes, os.PathLike)):
            if header is not None or wcs is not None:
                raise TypeError("header and wcs go with arrays: a file has its own header")
            self._call(lib.srcfind_find_file, chars(image), place)
            return Catalogue(self, place[0])
        pixels = pixels_of(
            image, header, wcs, self.options.get("hdu", ""), self.options.get("plane", "")
        )
        finder = self._for_device(pixels.device)
        if pixels.on_device:
            finder._call(
                lib.srcfind_find_device_pixels,
                pixels.struct,
                ffi.cast("void *", pixels.stream),
                place,
            )
            return Catalogue(finder, place[0])
        finder._call(lib.srcfind_find_pixels, pixels.struct, place)
        return Catalogue(finder, place[0], pixels)

    def _for_device(self, device: int | None) -> Finder:
        """The finder for an array on a device. It searches on the device of the array, unless the
        options name a device."""
        if device is None or self._given.get("device") is not None:
            return self
        if device not in self._on_devices:
            given: Options = {**self._given, "device": device}
            self._on_devices[device] = Finder(**given)
        return self._on_devices[device]

    def _for_unit_of(self, image: Any, header: Header | str | None) -> Finder:
        """The finder whose options are plain numbers, in the unit of the image."""
        hdu = self.options.get("hdu", "")
        numbers = {
            name: in_map_unit(name, value, image, header, hdu)
            for name, value in self._of_maps.items()
        }
        if self._in_unit is None or self._in_unit[0] != numbers:
            given: Options = {**self._given, **numbers}  # type: ignore[typeddict-item]
            self._in_unit = numbers, Finder(**given)
        return self._in_unit[1]

    def _create(self) -> Any:
        place = ffi.new("struct srcfind **")
        status = lib.srcfind_create(self._options, place)
        finder = ffi.gc(place[0], lib.srcfind_destroy)
        check(status, lib.srcfind_message(finder))
        return finder

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls the library, while other threads of Python run."""
        with self._lock:
            if self._is_busy:
                raise RuntimeError(
                    "the handler of a signal cannot use the finder whose call it interrupts: make another one"
                )
            self._finder = self._finder or self._create()
            self._is_busy = True
            try:
                status = call_with_signals(function, self._finder, *arguments)
            finally:
                self._is_busy = False
            check(status, lib.srcfind_message(self._finder), self._files.named)

    def _leave(self) -> None:
        """Does not destroy the library's finder after a fork: its threads are in the parent
        process."""
        if self._finder:
            ffi.gc(self._finder, None)
        self._lock = threading.RLock()
        self._is_busy = False
        self._finder = None


_finders: weakref.WeakSet[Finder] = weakref.WeakSet()


def _leave_finders() -> None:
    for finder in list(_finders):
        finder._leave()


os.register_at_fork(after_in_child=_leave_finders)

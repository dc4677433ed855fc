"""Writes the C source of the extension that calls the library: library_source.py SRCFIND_H OUTPUT.

The declarations are those of srcfind.h, and of DLPack, which describes arrays on a device.
"""
import re
import sys

from cffi import FFI

# https://dmlc.github.io/dlpack/latest/c_api.html, the struct of the capsules named dltensor.
DLPACK = """
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;
"""

# The function that srcfind_set_interrupted gets.
INTERRUPTED = """
extern "Python" bool interrupted_in_python(void *);
"""


def declarations(header):
    """The declarations of a header, without the lines of the preprocessor, and without what only
    these lines use."""
    header = re.sub(
        r"^#ifdef __cplusplus\n.*?^#endif\n", "", header, flags=re.DOTALL | re.MULTILINE
    )
    header = re.sub(r"^#.*\n", "", header, flags=re.MULTILINE)
    return header.replace("SRCFIND_API ", "")


def main(header, output):
    with open(header, encoding="utf-8") as stream:
        declared = declarations(stream.read())
    ffi = FFI()
    ffi.cdef(declared + DLPACK + INTERRUPTED)
    ffi.set_source("srcfind._library", '#include "srcfind.h"\n' + DLPACK)
    ffi.emit_c_code(output)


main(*sys.argv[1:])

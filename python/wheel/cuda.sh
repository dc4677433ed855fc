# shellcheck shell=sh disable=SC2154 # $tree and so on are those of scripts/build-wheel, a part of which this is
# The wheel srcfind-cuda: the CUDA module, for the commands and the package of the same version.
built=''
if [ -z "$module" ]; then
    echo "Building the CUDA module"
    quietly meson setup cuda-build "$tree" --buildtype=release -Dcuda=enabled -Dpicture=disabled -Dunit_tests=disabled -Dsystem_tests=disabled "-Dc_args=$hypot"
    quietly ninja -C cuda-build src/libsrcfind-cuda.so
    module=cuda-build/src/libsrcfind-cuda.so built=yes
fi
package=cuda/srcfind_cuda info=cuda/srcfind_cuda-$version.dist-info
mkdir -p "$package" "$info/licenses"
strip -o "$package/libsrcfind-cuda.so" "$module"
cp "$tree/LICENSE" "$info/licenses"
cat >"$info/METADATA" <<END
Metadata-Version: 2.4
Name: srcfind-cuda
Version: $version
Summary: The CUDA backend of srcfind, which finds the sources in radio-astronomy images
Author: The srcfind authors
License-Expression: BSD-3-Clause AND LicenseRef-NVIDIA-CUDA
License-File: LICENSE
Requires-Python: >=3.9
Description-Content-Type: text/markdown

The commands and the Python package of srcfind $version find the CUDA module of this wheel and use NVIDIA's GPUs with it:
\`pip install "srcfind[cuda]"\`. It needs a driver, and has the CUDA runtime inside, under
[NVIDIA's licence](https://docs.nvidia.com/cuda/eula/).
END
printf '%s\n' "Wheel-Version: 1.0" "Generator: srcfind" "Root-Is-Purelib: false" "Tag: py3-none-linux_$machine" >"$info/WHEEL"
mkdir packed-cuda
quietly wheel pack --dest-dir packed-cuda cuda
quietly auditwheel repair --wheel-dir repaired packed-cuda/*.whl
[ -z "$built" ] || [ -e "repaired/srcfind_cuda-$version-py3-none-$platform.whl" ] || { echo "$0: the module is for another platform" >&2; exit 1; }

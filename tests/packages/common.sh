# shellcheck shell=bash
# What the tests of packages share, who source it. Each makes packages from a copy of the tree, and takes the command
# of a build (build-check/src/srcfind): what the package has finds the same catalogues, byte for byte, and has the
# same version. Exit status 77: skipped. Needs git, and fpack (Debian: libcfitsio-bin).
set -eu -o pipefail
[ $# = 1 ] || { echo "usage: $0 COMMAND" >&2; exit 2; }
reference=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree=$PWD

scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

# Images to search, one of them compressed: for that CFITSIO has to be loaded.
images=$scratch/images
mkdir "$images"
cp data/sample.fits data/maps/*.fits "$images"
fpack -O "$images/packed.fits.fz" data/sample.fits

skip() {
    echo "skipped: $*"
    exit 77
}

fail() {
    echo "$*" >&2
    exit 1
}

# Runs a command whose output is of interest only if it fails.
quietly() {
    "$@" >"$scratch/log" 2>&1 || { tail -n 50 "$scratch/log" >&2; fail "failed: $*"; }
}

# What git knows, or would add: as it is, and without builds.
copy_tree() {
    mkdir "$1"
    git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"
}

version() {
    "$reference" --version | sed -n 's/^srcfind //p'
}

# Fails unless a version that a package states is that of the command.
same_version() {
    [ "$1" = "$(version)" ] || fail "the package has version $1, and the command $(version)"
}

# Fails if a file of what was installed in a directory has the name of an environment variable that only tests read.
no_test_hooks() {
    local names
    names=$(grep -rhoP '\bhook\("\K\w+' "$tree/src" "$tree/cuda")
    ! grep -rlF "$names" "$1" || fail "this was installed with a test hook"
}

# Searches in the directory of images with a command, and compares.
same_catalogues() {
    local image options
    cd "$images"
    for image in *; do
        for options in "--island 3" "--local"; do
            # shellcheck disable=SC2086 # $options is a list
            "$reference" -q $options "$image" >"$scratch/expected.csv"
            # shellcheck disable=SC2086
            "$@" -q $options "$image" | cmp - "$scratch/expected.csv" || fail "$image: another catalogue"
        done
    done
    "$@" -q sample.fits -o picture.csv --save picture
    [ -s picture.picture.png ] || fail "there is no picture"
    rm picture.*
    cd "$OLDPWD"
}

#!/bin/bash
# usage: survey.sh LIST DIRECTORY MERGED [OPTION]...
#
# Searches the images of a survey on this machine, and merges their catalogues. LIST has a path on each line; DIRECTORY gets a
# catalogue for each image. MERGED is the merged catalogue, whose suffix tells the format; beside it is the report of all images,
# as survey.report.csv beside survey.fits. OPTIONs are those of srcfind, such as --local, but -o, --report, --merge and
# --skip-existing, which are here already.
#
# Run again after whatever ended it, it goes on from there; with other options, it searches all images again. SRCFIND names the
# command, if it is not in PATH. The exit status is that of srcfind: 1 where an image failed.
set -u
if [ $# -lt 3 ] || [[ ${3##*/} != ?*.* ]]; then
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0" >&2
    exit 2
fi
list=$1 directory=$2 merged=$3
shift 3
name=${merged%.gz}
name=${name%.*}

exec "${SRCFIND:-srcfind}" --files-from "$list" -o "$directory/" --skip-existing --report "$name.report.csv" --merge "$merged" "$@"

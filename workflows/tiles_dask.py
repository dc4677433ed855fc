"""usage: tiles_dask.py MERGED DIRECTORY TILE...

Searches each tile on a worker of Dask, and merges the catalogues of the tiles, which stay in
DIRECTORY. All workers must see the files. Here they are processes of this machine; a cluster of
dask-jobqueue in place of LocalCluster has them on nodes. Needs the Python package of srcfind, and
distributed.
"""
import os
import sys

import srcfind
from dask.distributed import Client, LocalCluster
from dask.system import CPU_COUNT

# On the CPU, since workers would share a GPU. LocalCUDACluster of dask-cuda gives each worker a GPU
# of its own: device=0.
OPTIONS = {"local": True, "island": 3, "fit": True, "device": "cpu"}


def search(tile, catalogue, threads):
    srcfind.find(tile, threads=threads, **OPTIONS).write(catalogue, overwrite=True)
    return catalogue


def main(merged, directory, *tiles):
    os.makedirs(directory, exist_ok=True)
    catalogues = [os.path.join(directory, tile.strip("/").replace("/", "_")) for tile in tiles]
    workers = min(CPU_COUNT, len(tiles))
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1)  # a tile at a time on each
    with cluster, Client(cluster) as client:
        searches = client.map(search, tiles, catalogues, threads=CPU_COUNT // workers)
        print(srcfind.merge(client.gather(searches), merged))


if __name__ == "__main__":
    sys.exit(__doc__ if len(sys.argv) < 4 else main(*sys.argv[1:]))

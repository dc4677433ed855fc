"""scripts/survey.sbatch on a cluster of one node, which is this machine: Slurm is started here, and
stopped again. And scripts/survey.sh, which needs no cluster."""
import csv
import getpass
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

import numpy as np

import srcfind_test as t

FAULTY = os.environ.get("FAULTY_SRCFIND", "")
SCRIPTS = os.path.join(t.SOURCE_ROOT, "scripts")
SBIN = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
MISSING = [name for name in PROGRAMS if not shutil.which(name, path=SBIN)]
N_TILES, N_TASKS = 200, 4
OPTIONS = ["-i", "3", "--fit"]

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket,cred_expire=6
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""

# What the tasks call: the second is killed in the midst of its images, the third waits until it is
# begun again.
WRAPPER = """#!/bin/bash
if [ -n "${{SLURM_RESTART_COUNT:-}}" ] || [ -z "${{SLURM_ARRAY_TASK_ID:-}}" ]; then
    exec {command} "$@"
fi
case $SLURM_ARRAY_TASK_ID in
2)  FAULT=signal:1200 FAULT_SIGNAL=9 FAULT_MARK={directory}/killed {faulty} "$@"
    status=$?
    cp {directory}/merged.report-2-of-4.csv {directory}/killed.csv
    exit $status ;;
3)  touch {directory}/waiting
    exec sleep 3600 ;;
*)  exec {command} "$@" ;;
esac
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(condition, what):
    """Waits a second at a time; what hangs is an error."""
    for _ in range(t.HANG):
        if condition():
            return
        time.sleep(1)
    raise AssertionError("%s: not after %d s" % (what, t.HANG))


@t.unittest.skipIf(t.SANITIZED, "what the scripts run is tested with sanitizers by itself")
class Surveys(t.Case):
    def setUp(self):
        """Tiles of a sky that overlap; three are broken."""
        super().setUp()
        self.out, self.list, self.merged = (
            self.path("out"),
            self.path("list"),
            self.path("merged.fits"),
        )
        whole, side = t.noise(700, 1200, n_sources=700), 80
        os.mkdir(self.path("tiles"))
        tiles = []
        for i in range(N_TILES):
            top, left = 60 * (i // 20), 55 * (i % 20)
            tiles.append("tiles/%d.fits" % i)
            self.write(
                tiles[-1],
                whole[top : top + side, left : left + side],
                t.sky_header(CRPIX1=600.0 - left, CRPIX2=300.0 - top),
            )
        for i in (3, 70, 141):
            with open(self.path(tiles[i]), "r+") as stream:
                stream.truncate(5000 * (i % 2))
        with open(self.list, "w") as stream:
            stream.write("".join(tile + "\n" for tile in tiles))

    def expected(self):
        """The merged catalogue of one run, its exit status, and the catalogues."""
        result = t.run(
            "--files-from",
            self.list,
            "-o",
            "one",
            "--merge",
            "one.fits",
            "-q",
            *OPTIONS,
            cwd=self.directory.name,
        )
        with open(self.path("one.fits"), "rb") as stream:
            return stream.read(), result.returncode, self.catalogues("one")

    def catalogues(self, directory):
        found = {}
        for name in os.listdir(self.path(directory)):
            with open(os.path.join(self.path(directory), name), "rb") as stream:
                found[name] = stream.read()
        return found

    def check_outcome(self, expected, status):
        with open(self.merged, "rb") as stream:
            self.assertTrue(stream.read() == expected[0])
        self.assertEqual([status, expected[1]], [1, 1])
        self.assertTrue(self.catalogues("out") == expected[2])
        self.assertEqual(len(expected[2]), N_TILES - 3)
        with open(self.path("merged.report.csv"), newline="") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(
            [
                len(rows),
                len({row["image"] for row in rows}),
                sum(row["status"] == "failed" for row in rows),
            ],
            [N_TILES, N_TILES, 3],
        )

    def test_on_this_machine(self):
        """Twice: the second time nothing is searched but what failed."""
        arguments = [os.path.join(SCRIPTS, "survey.sh"), "list", "out", "merged.fits", *OPTIONS]
        environment = {**os.environ, "SRCFIND": t.COMMAND}
        expected = self.expected()
        for n_skipped in (0, N_TILES - 3):
            result = subprocess.run(
                arguments, cwd=self.directory.name, env=environment, capture_output=True, text=True
            )
            self.assertIn(" 3 failed, %d skipped, " % n_skipped, result.stderr)
            self.check_outcome(expected, result.returncode)
        result = subprocess.run([arguments[0], "list"], capture_output=True, text=True)
        self.assertEqual(
            [result.returncode, result.stderr.startswith("usage: survey.sh LIST")], [2, True]
        )

    # --- Slurm ---

    def start(self, *command):
        """A daemon, until the test ends."""
        with open(self.path(os.path.basename(command[0]) + ".log"), "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def slurm(self, *command):
        return subprocess.run(
            command, capture_output=True, text=True, env=self.environment, cwd=self.directory.name
        )

    def start_slurm(self):
        directory = self.directory.name
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("SLURM_", "SBATCH_"))
            },
            "PATH": SBIN,
            "SLURM_CONF": self.path("slurm.conf"),
            "SRCFIND": self.path("wrapper"),
        }
        os.mkdir(self.path("state"))
        os.mkdir(self.path("spool"))
        with open(self.path("munge.key"), "wb") as stream:
            stream.write(np.random.default_rng().bytes(1024))
        os.chmod(self.path("munge.key"), 0o400)
        with open(self.path("slurm.conf"), "w") as stream:
            stream.write(
                CONFIGURATION.format(
                    host=socket.gethostname().split(".")[0],
                    ports=free_ports(2),
                    user=getpass.getuser(),
                    directory=directory,
                    cpus=2 * N_TASKS,
                )
            )
        with open(self.path("cgroup.conf"), "w") as stream:
            # else slurmd does not start where no cgroups are mounted; nothing uses them
            stream.write("CgroupPlugin=cgroup/v1\n")
        with open(self.path("wrapper"), "w") as stream:
            stream.write(WRAPPER.format(command=t.COMMAND, faulty=FAULTY, directory=directory))
        os.chmod(self.path("wrapper"), 0o755)
        self.start(
            "munged",
            "--foreground",
            "--force",
            *(
                "--%s=%s/munge.%s" % (name, directory, suffix)
                for name, suffix in (
                    ("key-file", "key"),
                    ("socket", "socket"),
                    ("pid-file", "pid"),
                    ("seed-file", "seed"),
                    ("log-file", "messages"),
                )
            ),
        )
        wait_for(lambda: os.path.exists(self.path("munge.socket")), "munged")
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D")
        wait_for(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%t").stdout, "a node of Slurm")

    def states(self, job):
        """Of the tasks of an array: number, state and how often it was begun again."""
        fields = [
            dict(word.split("=", 1) for word in line.split() if "=" in word)
            for line in self.slurm("scontrol", "-o", "show", "job", job).stdout.splitlines()
        ]
        return {
            field["ArrayTaskId"]: (field["JobState"], int(field["Restarts"])) for field in fields
        }

    @unittest.skipIf(MISSING, "not installed: %s (Debian: slurm-wlm, munge)" % ", ".join(MISSING))
    @unittest.skipUnless(FAULTY, "FAULTY_SRCFIND is not set")
    def test_on_a_cluster(self):
        """One task dies, one is begun again by the operator: what comes out are the bytes of one
        run."""
        expected = self.expected()
        self.start_slurm()
        result = self.slurm(
            os.path.join(SCRIPTS, "survey.sbatch"),
            str(N_TASKS),
            "list",
            "out",
            "merged.fits",
            *OPTIONS,
        )
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        job = result.stdout.split()[1].rstrip(":")
        wait_for(lambda: os.path.exists(self.path("waiting")), "the third task")
        self.assertEqual(self.slurm("scontrol", "requeue", job + "_3").returncode, 0)
        self.assertFalse(os.path.exists(self.merged))
        wait_for(lambda: not self.slurm("squeue", "-h").stdout.strip(), "the end of all jobs")
        self.assertEqual(
            {task: restarts for task, (_, restarts) in self.states(job).items()},
            {"1": 0, "2": 1, "3": 1, "4": 0},
        )
        with open(self.path("killed.csv")) as stream:
            # some images, but not all
            self.assertTrue(1 < len(stream.readlines()) < 1 + N_TILES // N_TASKS)
        with open(self.path("merged.merge.log")) as stream:
            log = stream.read()
        self.assertIn(" 3 failed, %d skipped, " % (N_TILES - 3), log)
        self.check_outcome(expected, 1)
        self.check_longer_list()

    def check_longer_list(self):
        """Another tile at the beginning, and another number of tasks: only this tile is searched,
        and what failed is tried again. Also from within a job."""
        before = {
            name: os.stat(os.path.join(self.out, name)).st_mtime_ns for name in os.listdir(self.out)
        }
        shutil.copy(self.path("tiles/0.fits"), self.path("tiles/another.fits"))
        with open(self.list) as stream:
            tiles = stream.read()
        with open(self.list, "w", newline="") as stream:
            stream.write("tiles/another.fits\r\n\r\n" + tiles.replace("\n", "\r\n"))
        self.environment.update(SRCFIND=t.COMMAND, SLURM_JOB_ID="77")
        result = self.slurm(
            os.path.join(SCRIPTS, "survey.sbatch"), "3", "list", "out", "merged.fits", *OPTIONS
        )
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        del self.environment["SLURM_JOB_ID"]
        wait_for(lambda: not self.slurm("squeue", "-h").stdout.strip(), "the end of all jobs")
        totals = []
        for log in ("task-1", "task-2", "task-3", "merge"):
            with open(self.path("merged.%s.log" % log)) as stream:
                totals.append(
                    [
                        int(number)
                        for number in re.findall(
                            r"(\d+) images: \d+ sources, (\d+) failed, (\d+) skipped, ",
                            stream.read(),
                        )[-1]
                    ]
                )
        self.assertEqual(
            [sum(column) for column in zip(*totals[:3])], [N_TILES + 1, 3, N_TILES - 3]
        )
        self.assertEqual(totals[3], [N_TILES + 1, 3, N_TILES - 2])
        after = {
            name: os.stat(os.path.join(self.out, name)).st_mtime_ns for name in os.listdir(self.out)
        }
        self.assertEqual(after, {**before, "another.csv": after["another.csv"]})
        with open(self.path("merged.report.csv"), newline="") as stream:
            self.assertEqual(len([*csv.DictReader(stream)]), N_TILES + 1)


if __name__ == "__main__":
    t.main()

"""place_keys.py WORK_DIR KEYS_JSONL COUNTS OUT_DIR

Installs each client into a folder of its own, so that versions don't meet, and
runs its partitioners in several processes.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rule import FRESH_PROCESSES, IN_A_ROW, judge, tried_counts

HERE = Path(__file__).resolve().parent
LIBRDKAFKA_PARTITIONERS = ("consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random", "random")
FIRST_WITH_FNV1A = (1, 4)
PRODUCER_HOW = "PyPI package; the producer's own method for choosing a partition, called with each key and n available partitions; the null key is None"
KEYED_HOW = "PyPI package; KeyedProducer's own method for choosing a partition, called with each key and n partitions; each process has another hash seed; the null key is None"
PYKAFKA_HOW = "PyPI package; the partitioner called as the producer does, with n partitions and each key; the null key is None"
WHEEL_HOW = "shared object in the wheel {wheel}; exported rd_kafka_msg_partitioner_{partitioner} called with a real topic handle; the null key is NULL"


class Run(NamedTuple):
    profile: str
    client: str
    partitioner: str
    how: str


class Library(NamedTuple):
    packages: str  # the folder they are installed into
    module: str  # in clients/
    runs: list


def libraries():
    for version in (3, 2, 1):
        runs = [Run("kafka-python/default", "kafka-python", "DefaultPartitioner", PRODUCER_HOW)]
        if version == 1:
            runs.append(Run("kafka-python/hashed@1", "kafka-python", "HashedPartitioner", KEYED_HOW))
        yield Library(f"kafka-python-{version}", "kafka_python", runs)
    yield Library("aiokafka", "aiokafka_", [Run("aiokafka/default", "aiokafka", "DefaultPartitioner", PRODUCER_HOW)])
    yield Library("pykafka", "pykafka_", [
        Run("pykafka/hashing", "pykafka", "HashingPartitioner", PYKAFKA_HOW),
        Run("pykafka/random", "pykafka", "RandomPartitioner", PYKAFKA_HOW),
    ])


def librdkafka(requirement):
    wheel = requirement.replace("==", " ")
    return Library(requirement.replace("==", "-"), "librdkafka", [
        Run(f"librdkafka/{name}", "librdkafka", name, WHEEL_HOW.format(wheel=wheel, partitioner=name))
        for name in LIBRDKAFKA_PARTITIONERS
        if not name.startswith("fnv1a") or version_of(requirement) >= FIRST_WITH_FNV1A
    ])


def main(work, keys_file, count_list, out):
    work, out = Path(work), Path(out)
    with open(keys_file, encoding="utf-8") as lines:
        keys = [json.loads(line) for line in lines]
    counts = [int(count) for count in count_list.split(",")]
    if not keys or min(counts) < 1:
        raise SystemExit(f"{keys_file}, {count_list}: there must be keys, and counts must be positive")

    for library in libraries():
        requirements = HERE / "requirements" / f"{library.packages}.txt"
        try:
            packages = install(work, library.packages, requirements.read_text(), ["--requirement", str(requirements)])
        except InstallFailed as failure:
            if library.packages != "pykafka":
                raise SystemExit(str(failure)) from None
            for run in library.runs:  # unmaintained, and built from source
                skipped(run.profile, failure)
            continue
        run_library(library, packages, keys_file, keys, counts, out)

    for requirement in wheels():
        library = librdkafka(requirement)
        try:
            packages = install(work, library.packages, requirement, [*wheel_options(requirement), requirement])
        except InstallFailed as failure:
            raise SystemExit(str(failure)) from None
        run_library(library, packages, keys_file, keys, counts, out)


# --- installing ---------------------------------------------------------------------------------


class InstallFailed(Exception):
    pass


def install(work, name, stamp, options):
    """Installs into WORK/NAME, unless the same was installed there before."""
    target = work / name
    marker = target / "installed.txt"
    if not marker.exists() or marker.read_text() != stamp:
        shutil.rmtree(target, ignore_errors=True)
        pip = [str(work / "pip" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "--target", str(target), *options], stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise InstallFailed(f"{name} cannot be installed: {' '.join(done.stderr.split())[-600:]}")
        marker.write_text(stamp)
    return target


def wheels():
    lines = (HERE / "requirements" / "librdkafka.txt").read_text().splitlines()
    requirements = [line for line in lines if line and not line.startswith("#")]
    if is_x86_linux():
        return requirements
    for requirement in requirements[:-1]:
        skipped(requirement, "older wheels are used on x86-64 Linux only")
    return requirements[-1:]


def wheel_options(requirement):
    """Only the shared object is used, so the wheel may be one for another Python."""
    if not is_x86_linux():
        return ["--no-deps", "--only-binary=:all:"]
    python = "3.7" if version_of(requirement) < (2, 0) else "3.11"
    kinds = ("manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_28")
    return ["--no-deps", "--only-binary=:all:", "--python-version", python,
            *(option for kind in kinds for option in ("--platform", f"{kind}_x86_64"))]


def is_x86_linux():
    return platform.system() == "Linux" and platform.machine() == "x86_64"


def version_of(requirement):
    return tuple(int(part) for part in requirement.split("==")[1].split("."))


def skipped(what, why):
    print(f"skipped: {what}: {' '.join(str(why).split())}", file=sys.stderr)


# --- placing ------------------------------------------------------------------------------------


def run_library(library, packages, keys_file, keys, counts, out):
    tried = tried_counts(counts)
    answers = ask_processes(library, packages, keys_file, tried)
    for run in library.runs:
        of_run = [answer[run.partitioner] for answer in answers]
        rows = []
        for i, key in enumerate(keys):
            outcomes = {count: [one for answer in of_run for one in answer["placed"][i][j]] for j, count in enumerate(tried)}
            try:
                verdict = judge(outcomes, counts)
            except ValueError as problem:
                raise SystemExit(f"{run.client} {run.partitioner} from {library.packages}: key {key['id']}: {problem}") from None
            rows.append({"id": key["id"], "key_hex": key["key_hex"], **hash_field(of_run[0]["hashes"][i], verdict), **verdict})
        left_out = without_constant_hash_of_none(run, rows)
        write(run, library.packages, of_run[0]["version"], rows, out, **left_out)


def ask_processes(library, packages, keys_file, tried):
    """What each process answered for every partitioner of the library."""
    # -I and -S: neither the environment's PYTHONHASHSEED nor packages of the
    # machine take part. -B: nothing is written beside the sources. Old clients
    # warn about their own code.
    command = [sys.executable, "-I", "-S", "-B", "-W", "ignore", str(HERE / "worker.py"), str(packages), library.module,
               ",".join(run.partitioner for run in library.runs), keys_file, ",".join(map(str, tried))]
    with ThreadPoolExecutor(os.cpu_count()) as processes:
        repeats = (IN_A_ROW, *[1] * FRESH_PROCESSES)
        done = list(processes.map(lambda times: subprocess.run([*command, str(times)], stdout=subprocess.PIPE, text=True), repeats))
    if any(process.returncode != 0 for process in done):
        raise SystemExit(f"{library.packages}: a process that places keys failed; its message is above")
    return [json.loads(process.stdout) for process in done]


def hash_field(number, verdict):
    if number is None or verdict["partitions"] is None:
        return {}
    return {"hash": number if -(2**63) <= number < 2**64 else str(number)}


def without_constant_hash_of_none(run, rows):
    """Takes the null key out of a HashedPartitioner's rows where it says nothing about the client.

    hash(None) comes from an address. It differs between processes, except in
    a Python built without position-independent code and from 3.12 on.
    """
    null = [row for row in rows if row["key_hex"] is None and row["partitions"]]
    if run.partitioner != "HashedPartitioner" or not null:
        return {}
    rows.remove(null[0])
    return {"partial": f"without the null key: hash(None) is a constant of the Python {platform.python_version()} that ran"}


def write(run, packages, version, rows, out, **more):
    file = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.profile.replace('/', '__')}--{packages}-{version}--{run.partitioner}") + ".jsonl"
    with open(out / file, "w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    entry = {"file": file, "profile": run.profile, "client": run.client, "version": version, "partitioner": run.partitioner, "how": run.how, **more}
    with open(out / "runs.jsonl", "a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Memory does not grow with the data set."""

import subprocess
import sys

import pytest

MEGABYTE = 1 << 20
#: A small process stands between, since a process counts the memory of the one that started it as its own.
LAUNCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def used(*words):
    """Largest resident size, in megabytes, of any process of one run of a command."""
    launch = [sys.executable, "-S", "-c", LAUNCH, *map(str, words)]
    return int(subprocess.run(launch, check=True, capture_output=True, text=True).stdout) * 1024 / MEGABYTE


@pytest.fixture
def make(simtown, tmp_path):
    """make(n=..., ...) gives a data set without val and test, and the memory that making it took."""

    def run(**options):
        out = tmp_path / "-".join(f"{name}-{value}" for name, value in options.items())
        words = [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()]
        small = ("--entities=20", "--val=0", "--test=0", f"--out={out}")
        return out, used(*simtown, "generate", *small, *words)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_memory_stays_flat(workers, make):
    small, large = (make(n=n, size=64, workers=workers)[1] for n in (2_000, 12_000))
    assert 50 < small < 1024
    assert large < 1024
    assert abs(large - small) < 60


@pytest.mark.slow
def test_the_largest_pictures_are_drawn_a_few_at_a_time(make):
    few, more = (make(n=n, size=1024, workers=1, masks=True, depth=True)[1] for n in (20, 80))
    assert 50 < few < 1024
    assert more < few + 150  # sixty pictures take 480; a thread's arena may keep 64


@pytest.mark.slow
def test_exports_and_the_gallery_read_as_they_write(simtown, make):
    sizes = {}
    for n in (1_000, 7_000):
        town, _ = make(n=n, size=96, shard=500)
        sizes[n] = [used(*simtown, "export", town, "--to", form) for form in ("png", "coco", "parquet")]
        sizes[n].append(used(*simtown, "gallery", town, "--all"))
    for small, large in zip(sizes[1_000], sizes[7_000], strict=True):
        assert 50 < small < 1024
        assert large < small + 60

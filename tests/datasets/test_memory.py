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
def peak(simtown, tmp_path):
    """Memory of one run of generate."""

    def run(**options):
        words = [
            word
            for name, value in options.items()
            for word in (f"--{name}", *([] if value is True else [str(value)]))
        ]
        return used(
            *simtown,
            "generate",
            "--entities",
            20,
            "--val",
            0,
            "--test",
            0,
            "--out",
            tmp_path / "-".join(words),
            *words,
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_memory_stays_flat(workers, peak):
    small, large = (peak(n=n, size=64, workers=workers) for n in (2_000, 12_000))
    assert 50 < small < 1024
    assert large < 1024
    assert abs(large - small) < 60


@pytest.mark.slow
def test_the_largest_pictures_are_drawn_a_few_at_a_time(peak):
    few, more = (peak(n=n, size=1024, workers=1, masks=True, depth=True) for n in (20, 80))
    assert 50 < few < 1024
    assert more < few + 60


@pytest.mark.slow
def test_exports_and_the_gallery_read_as_they_write(simtown, tmp_path):
    sizes = {}
    for n in (1_000, 7_000):
        town = tmp_path / f"town-{n}"
        generate = [
            *simtown,
            "generate",
            "--entities",
            20,
            "--n",
            n,
            "--val",
            0,
            "--test",
            0,
            "--size",
            96,
            "--shard",
            500,
            "--out",
            town,
        ]
        subprocess.run(list(map(str, generate)), check=True, capture_output=True)
        sizes[n] = [used(*simtown, "export", town, "--to", form) for form in ("png", "coco", "parquet")]
        sizes[n].append(used(*simtown, "gallery", town, "--all"))
    for small, large in zip(sizes[1_000], sizes[7_000], strict=True):
        assert 50 < small < 1024
        assert large < small + 60

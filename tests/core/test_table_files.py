"""Reading a Parquet file leaves no thread behind: those of pyarrow abort a program that ends soon after."""

import subprocess
import sys

import pytest

from simtown.probes.report import write_rows

COUNT = """
import os, sys
from pathlib import Path
from simtown.core.table_files import FLAG, read_table
from simtown.probes.report import Results

def threads():
    return len(os.listdir("/proc/self/task"))

folder = Path(sys.argv[1])
before = threads()
Results(folder, {}).rows("picture", {"right": FLAG})
read_table(folder / "picture.parquet", {"right": FLAG})
print(threads() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads that Linux lists")
def test_no_thread_is_left(tmp_path):
    write_rows(tmp_path / "picture.parquet", {"right": [True, False]})
    count = subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], capture_output=True, check=True)
    assert int(count.stdout) == 0

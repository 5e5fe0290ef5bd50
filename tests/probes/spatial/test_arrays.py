"""Arrays and dictionaries of arrays out of .npy files, with nothing imported or called that a file names."""

import os

import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.probes.spatial.arrays import read_array, read_dictionary
from tests.probes.spatial.world import save_dictionary


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4"])
def test_a_saved_dictionary_comes_back(tmp_path, dtype):
    values = np.random.default_rng(0).uniform(0, 9, (7, 7)).astype(dtype)
    saved = {"above": values, "left": np.asfortranarray(values * 2)}
    path = save_dictionary(tmp_path / "saved.npy", saved)
    assert (
        np.load(path, allow_pickle=True).item().keys() == saved.keys()
    )  # what the test wrote is what NumPy reads
    read = read_dictionary(path)
    assert list(read) == ["above", "left"]
    for name, array in read.items():
        assert (array == saved[name]).all()
        assert array.dtype == np.float64


class Trap:
    """What a malicious file would have Python do."""

    def __reduce__(self):
        return os.mkdir, (self.place,)

    def __init__(self, place):
        self.place = str(place)


def test_nothing_in_a_file_is_called(tmp_path):
    trap = Trap(tmp_path / "sprung")
    for content in (trap, {"above": trap}, {"above": np.array([trap], dtype=object)}):
        path = save_dictionary(tmp_path / "trap.npy", content)
        with pytest.raises(DamagedError, match=r"trap\.npy"):
            read_dictionary(path)
        with pytest.raises(DamagedError, match=r"trap\.npy"):
            read_array(path)
    assert not (tmp_path / "sprung").exists()


def test_damage_is_one_line(tmp_path):
    path = save_dictionary(tmp_path / "saved.npy", {"above": np.ones((7, 7))})
    whole = path.read_bytes()
    for length in (*range(0, 90, 7), *range(90, len(whole) - 1, 11)):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedError, match=r"saved\.npy"):
            read_dictionary(path)
    for content in ([1.0, 2.0], "words", {"above": "words"}, {"above": np.array(["words"])}):
        with pytest.raises(DamagedError, match=r"saved\.npy"):
            read_dictionary(save_dictionary(path, content))
    np.save(path, np.ones(3))
    assert (read_array(path) == 1).all()
    with pytest.raises(DamagedError, match="no dictionary"):
        read_dictionary(path)
    np.savez(tmp_path / "several.npz", a=np.ones(3))
    with pytest.raises(DamagedError, match="several"):
        read_array(tmp_path / "several.npz")

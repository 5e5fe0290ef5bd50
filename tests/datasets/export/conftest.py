"""Exports made once."""

from functools import cache

import pytest

from simtown.datasets.export import export
from simtown.datasets.reading.reader import open_dataset


@pytest.fixture(scope="session")
def exported(rich, plain, tmp_path_factory):
    """exported(format, "rich" or "plain") gives the export's directory and the data set it is of."""

    @cache
    def make(form, which="rich"):
        data = open_dataset({"rich": rich, "plain": plain}[which])
        out = tmp_path_factory.mktemp("export") / f"{which}-{form}"
        export(data, form, [], out)
        return out, data

    return make

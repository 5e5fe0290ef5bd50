"""A street that all tests of the page begin with."""

import pytest

from simtown.page.session import Session
from simtown.town.town import Town


def street():
    """A session with a taxi in the near lane, left of a bus in the far one."""
    town = Town()
    town.place("taxi", x=-4.0, y=-1.85)
    town.place("city bus", x=3.0, y=1.85)
    return Session(town)


@pytest.fixture
def session():
    return street()

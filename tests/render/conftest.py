"""What the tests of renderers share."""

import pytest

from simtown.render.opengl import NoOpenGLError, OpenGL


@pytest.fixture(scope="session")
def opengl():
    try:
        return OpenGL()
    except NoOpenGLError as error:
        pytest.skip(f"needs pyrender and OpenGL: {error}")

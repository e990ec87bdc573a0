import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    from matplotlib import pyplot

    pyplot.close("all")

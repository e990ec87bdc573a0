"""Few bands cross, labels do not overlap, and nothing that flows is lost."""

import numpy as np
import pytest

from skliftpriv import LIP, Channel, JointDistribution, mechanisms
from skliftpriv.views import Flow, ReleaseView, flow_order, pick, spread

from ..plotting.pictures import as_it_is, joint_with_zeros, wide_joint


def test_kinds_say_what_becomes_of_a_value():
    joint = joint_with_zeros()
    matrix = [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]]
    channel = Channel(matrix, joint.useful_labels, ["a", "b", "{c, d}"])
    view = ReleaseView.of_channel(joint, channel)
    flow = Flow.of(view, pick(joint.p_x, 9), pick(view.p_y, 9))
    a, b, c, d = joint.p_x
    assert flow.shares == pytest.approx({"kept": a + b / 2, "merged": c + d, "changed": b / 2})


def test_what_is_not_shown_flows_together():
    joint = wide_joint()
    view = ReleaseView.of_channel(*as_it_is(joint))
    picked = pick(joint.p_x, 10)
    flow = Flow.of(view, picked, picked)
    assert flow.masses.shape == (11, 11)
    assert flow.masses.sum() == pytest.approx(1)
    assert flow.shares["rest"] == pytest.approx(picked.probability)
    assert sorted(flow.inputs) == list(range(11))


def test_nodes_and_bands_are_stacked_from_top_to_bottom():
    view = ReleaseView.of_channel(*as_it_is(joint_with_zeros()))
    flow = Flow.of(view, pick(view.joint.p_x, 9), pick(view.p_y, 9))
    tops, starts = flow.places(1.5)
    for axis, ends, bands in zip((1, 0), tops, starts, strict=True):
        masses = flow.masses.sum(axis=axis)
        assert ends[0] == 0
        assert ends[-1] + masses[-1] == pytest.approx(1.5)
        np.testing.assert_allclose(np.diff(ends) - masses[:-1], 0.5 / 3)
        np.testing.assert_allclose(bands.min(axis=axis), ends)


def test_the_order_of_a_merging_crosses_no_bands():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 4, 12)
    flows = np.eye(4)[groups] * rng.dirichlet(np.ones(12))[:, None]
    rows, columns = flow_order(flows)
    place = np.argsort(columns)[groups[rows]]
    assert (np.diff(place) >= 0).all()


def test_labels_are_moved_apart_within_bounds_and_no_further_than_needed():
    sizes = np.full(4, 0.2)
    np.testing.assert_allclose(
        spread(np.array([0.1, 0.4, 0.65, 0.9]), sizes, 0, 1), [0.1, 0.4, 0.65, 0.9]
    )
    np.testing.assert_allclose(
        spread(np.array([0.5, 0.5, 0.5, 0.5]), sizes, 0, 1), [0.2, 0.4, 0.6, 0.8]
    )
    np.testing.assert_allclose(
        spread(np.array([0.9, 0.95, 1, 1]), sizes, 0, 1), [0.3, 0.5, 0.7, 0.9]
    )


@pytest.mark.parametrize("most", [40, 6])
def test_ranges_flow_in_their_order(most):
    counts = np.random.default_rng(2).integers(20, 90, (2, 15))
    joint = JointDistribution.from_counts(counts, useful_labels=range(30, 45))
    view = ReleaseView.of_result(mechanisms.subset_merging(joint, LIP(0.2), order="preserve"))
    x, y = pick(joint.p_x, most), pick(view.p_y, most)
    flow = Flow.of(view, x, y)
    for picked, order in ((x, flow.inputs), (y, flow.outputs)):
        places = picked.shown[order[: picked.shown.size]]
        assert (np.diff(places) > 0).all()
        assert sorted(order) == list(range(order.size))
        assert order.size == picked.shown.size + bool(picked.hidden.size)
    _, j = np.nonzero(flow.masses[: x.shown.size, : y.shown.size])
    assert (np.diff(j) >= 0).all()
    assert flow.masses.sum() == pytest.approx(1)

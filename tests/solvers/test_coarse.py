"""A coarser problem has the same posteriors, of which the members of a group have equal shares."""

import numpy as np
import pytest

from skliftpriv import datasets
from skliftpriv.solvers import PosteriorProblem
from skliftpriv.solvers._coarse import coarsened
from skliftpriv.solvers._presolve import expand, reduce_problem


def reduced(n_inputs, image=True, epsilon=0.1):
    joint = datasets.make_joint(4, n_inputs, random_state=0)
    target = np.random.default_rng(1).dirichlet(np.ones(3), n_inputs).T
    rows = np.vstack([joint.lift - np.exp(epsilon), np.exp(-epsilon) - joint.lift])
    return reduce_problem(PosteriorProblem(joint.p_x, rows, image=target if image else None))


def test_posteriors_of_groups_are_posteriors_of_inputs():
    problem = reduced(300)
    coarse = coarsened(problem)
    assert 50 < coarse.p.size <= 100
    lp = coarse.polytope()
    rng = np.random.default_rng(2)
    found = np.array([lp.minimise(cost).v for cost in rng.normal(size=(20, coarse.p.size))])
    posteriors, _ = expand(coarse, found, np.ones(20))
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    assert problem.violation(posteriors).max() <= coarse.violation(found).max() + 1e-12
    np.testing.assert_allclose(
        problem.utility.entropy(posteriors), coarse.utility.entropy(found), atol=1e-12
    )
    np.testing.assert_allclose(coarse.p @ coarse.directions.T, problem.p @ problem.directions.T)


@pytest.mark.parametrize("problem", [reduced(100), reduced(300, image=False)])
def test_few_inputs_and_the_identity_have_no_coarser_problem(problem):
    assert coarsened(problem) is None

"""Small integer solutions: exact, and as small as counting says they can be."""

from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv._lattice import Lattice, TooManyStepsError

MANY = 10**9


def lattice_of(vectors, most_steps=MANY):
    lattice = Lattice(vectors.shape[1], most_steps)
    lattice.add(vectors)
    return lattice


@st.composite
def integer_vectors(draw, max_size=4, max_vectors=7):
    """Vectors with zeros, common factors, dependences and numbers of up to 80 bits."""
    size, n_vectors = draw(st.integers(1, max_size)), draw(st.integers(1, max_vectors))
    bits = draw(st.sampled_from([2, 5, 17, 80]))
    numbers = st.integers(-(2**bits), 2**bits)
    rows = [[draw(numbers) for _ in range(size)] for _ in range(n_vectors)]
    vectors = np.array(rows, dtype=object)
    return vectors * draw(st.sampled_from([1, 6])) if draw(st.booleans()) else vectors


def combinations(vectors, seed, n_targets=5):
    times = np.random.default_rng(seed).integers(-(2**62), 2**62, (n_targets, len(vectors)))
    return (times.astype(object) @ vectors).T


@given(vectors=integer_vectors(), seed=st.integers(0, 1000))
def test_coefficients_combine_to_the_targets(vectors, seed):
    targets = combinations(vectors, seed)
    lattice = lattice_of(vectors)
    assert lattice.contains(targets).all()
    assert (vectors.T @ lattice.coefficients(targets) == targets).all()


@given(numbers=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6))
def test_combinations_of_numbers_are_the_multiples_of_their_gcd(numbers):
    divisor = gcd(*numbers)
    targets = np.arange(-50, 51).astype(object)
    contained = [target % divisor == 0 if divisor else target == 0 for target in targets]
    lattice = lattice_of(np.array(numbers, dtype=object)[:, None])
    assert lattice.contains(targets[None, :]).tolist() == contained


@given(vectors=integer_vectors(), seed=st.integers(0, 1000))
def test_vectors_may_be_added_later(vectors, seed):
    targets = combinations(vectors, seed)
    lattice = Lattice(vectors.shape[1], MANY)
    for vector in vectors:
        lattice.add(vector[None, :])
    assert (vectors.T @ lattice.coefficients(targets) == targets).all()


@pytest.mark.parametrize(
    ("n_vectors", "size", "bits"), [(3, 1, 17), (3, 1, 53), (8, 1, 53), (10, 5, 17), (20, 5, 53)]
)
def test_coefficients_are_about_as_small_as_possible(n_vectors, size, bits):
    rng = np.random.default_rng(0)
    vectors = rng.integers(1, 2**bits, (n_vectors, size)).astype(object)
    lattice = lattice_of(vectors)
    found = lattice.coefficients(np.eye(size, dtype=int).astype(object))
    expected = size * bits / (n_vectors - size)
    assert max(abs(found.ravel())).bit_length() < expected + 3
    assert lattice.reach.bit_length() < expected + 5


def test_work_is_bounded():
    vectors = np.random.default_rng(0).integers(1, 2**50, (20, 8)).astype(object)
    needed = lattice_of(vectors).steps
    assert lattice_of(vectors, needed).steps == needed
    with pytest.raises(TooManyStepsError):
        lattice_of(vectors, needed // 2)


def test_long_numbers_count_as_more_work():
    vectors = np.random.default_rng(0).integers(1, 2**50, (6, 2)).astype(object)
    # The same reduction, with products of longer numbers.
    assert lattice_of(vectors * 2**2000).steps > 10 * lattice_of(vectors).steps

"""tf.debugging.assert_* and the gradient checker where ops run as they are called."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.parallel_for import gradient_checker_v2


@pytest.fixture(autouse=True)
def _eager():
    with context.eager_mode():
        yield


def test_checks_that_hold_give_nothing():
    x = tf.constant([1, 2, 3])
    assert tf.debugging.assert_equal(x, x) is None
    assert tf.debugging.assert_less(x, [2, 3, 4]) is None
    assert tf.debugging.assert_positive(x) is None
    assert tf.debugging.assert_rank(x, 1) is None


def test_the_message_says_where_they_differ():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.debugging.assert_equal([1, 2, 3, 4], [1, 0, 3, 0], message="mine", summarize=3)
    text = str(caught.value)
    for part in ("mine", "Condition x == y did not hold.", "Indices of first 2 different values:", "[[1]\n [3]]",
                 "Corresponding x values:\n[2 4]", "Corresponding y values:\n[0 0]", "First 3 elements of x:\n[1 2 3]"):
        assert part in text, text


def test_data_is_shown_by_its_first_elements():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)what: .*\['1', '2', '3', '...'\]"):
        tf.debugging.assert_less([3], [1], data=["what: ", tf.constant([1, 2, 3, 4])])


def test_tensors_are_described_by_shape_and_type():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x \(shape=\(2,\) dtype=int32\) = "):
        tf.debugging.assert_negative([-1, 1])
    with pytest.raises(ValueError, match=r"Tensor shape=\(1,\) dtype=int32 must have rank 2"):
        tf.debugging.assert_rank([1], 2)


def test_gradients_against_differences():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    theoretical, numeric = gradient_checker_v2.compute_gradient(lambda v: tf.square(v) * v, [x.T])
    np.testing.assert_allclose(theoretical[0], np.diag(3 * x.T.ravel() ** 2))
    assert gradient_checker_v2.max_error(theoretical, numeric) < 1e-5
    theoretical, numeric = gradient_checker_v2.compute_gradient(lambda v: tf.gather(v, [1, 1]), [np.array([1.0, 2.0])])
    np.testing.assert_array_equal(theoretical[0], [[0, 1], [0, 1]])
    np.testing.assert_allclose(numeric[0], theoretical[0])


def test_gradients_of_complex_functions():
    at = np.array(1 + 2j, np.complex128)
    theoretical, numeric = gradient_checker_v2.compute_gradient(lambda v: (5 + 7j) * v, [at])
    np.testing.assert_allclose(theoretical[0], [[5, -7], [7, 5]])
    np.testing.assert_allclose(numeric[0], theoretical[0], rtol=1e-6)

"""tf.random.Generator: TensorFlow's numbers, moved on by each call, in functions too."""
import numpy as np
import pytest

from penstock import v2 as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def _eager():
    with context.eager_mode():
        yield


def test_numbers_are_tensorflows():
    g = tf.random.Generator.from_seed(1234)
    assert g.state.numpy().tolist() == [1234, 0, 0]
    np.testing.assert_allclose(g.normal([3]).numpy(), [0.9356609, 1.0854305, -0.93788373], rtol=1e-6)
    np.testing.assert_allclose(g.uniform([2, 2], 1, 3).numpy(), [[1.6214683, 1.7363646], [2.923659, 1.626916]],
                               rtol=1e-6)
    assert g.uniform([2], 0, 9, dtype=tf.int32).numpy().tolist() == [6, 0]
    assert g.uniform_full_int([2]).numpy().tolist() == [14789844842584512396, 7910833019651599265]
    np.testing.assert_allclose(g.truncated_normal([2], dtype=tf.float64).numpy(), [0.63264938601806, 0.08183031549908])
    assert g.binomial([3], [10.0, 20.0, 30.0], [0.5, 0.5, 0.9]).numpy().tolist() == [4, 11, 27]
    assert g.make_seeds(2).numpy().tolist() == [[8716588560853835782, 7074762885667444445], [0, 0]]
    assert g.state.numpy().tolist() == [158674, 0, 0] and g.key.numpy() == 0
    first, second = g.split(2)
    assert first.state.numpy().tolist() == [0, 0, -8893347040680557961]
    np.testing.assert_allclose(second.normal([2]).numpy(), [1.22154975, -0.68674439], rtol=1e-6)
    assert g.skip(3).numpy().tolist() == [159186, 0, 0]


def test_states():
    create = tf.random.create_rng_state
    assert create(-1, "philox").numpy().tolist() == [-1, -1, -1]
    assert create(2**70 + 5, "philox").numpy().tolist() == [5, 64, 0]
    assert create([1, 2, 3, 4], tf.random.experimental.Algorithm.PHILOX).numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="unsupported string value"):
        create(1, "dice")
    g = tf.random.Generator.from_key_counter(1, [2, 3], "philox")
    assert g.state.numpy().tolist() == [2, 3, 1]
    assert tf.random.Generator(copy_from=g).state.numpy().tolist() == [2, 3, 1]
    g.reset_from_seed(5)
    assert g.state.numpy().tolist() == [5, 0, 0]
    g.reset_from_key_counter(7, [8, 9])
    assert g.state.numpy().tolist() == [8, 9, 7]


def test_a_function_moves_the_state():
    g = tf.random.Generator.from_key_counter(7, [8, 9], "philox")

    @tf.function
    def draw():
        return g.normal([2])

    np.testing.assert_allclose(draw().numpy(), [2.0747995, 1.2075869], rtol=1e-6)
    np.testing.assert_allclose(draw().numpy(), [-0.1762483, 1.3496028], rtol=1e-6)


def test_shared_generator():
    tf.random.experimental.set_global_generator(tf.random.Generator.from_seed(1))
    assert tf.random.experimental.get_global_generator().state.numpy().tolist() == [1, 0, 0]


def test_stateless_distributions():
    assert tf.random.stateless_binomial([3, 2], [1, 2], [10.0, 100.0], [0.3, 0.5]).numpy().tolist() == [
        [5, 63], [5, 45], [5, 54]]
    assert tf.random.stateless_poisson([3, 2], [1, 2], [3.0, 30.0]).numpy().tolist() == [[5, 45], [5, 25], [4, 35]]
    np.testing.assert_allclose(tf.random.stateless_gamma([3, 2], [1, 2], [3.0, 0.5]).numpy(),
                               [[4.0681195, 0.04758992], [2.9890633, 0.17356314], [4.6745791, 0.87207413]], rtol=1e-5)


def test_gradient_of_gamma_samples():
    alpha = tf.constant([0.5, 3.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        samples = tf.random.stateless_gamma([2000, 2], [1, 2], alpha, dtype=tf.float64)
        mean = tf.reduce_mean(samples, 0)
    # The mean of a Gamma distribution is alpha.
    np.testing.assert_allclose(tape.gradient(mean, alpha).numpy(), [1, 1], atol=0.1)


def test_sound_file():
    sound = np.array([[0.5, -0.25], [0, 1]], np.float32)
    contents = tf.audio.encode_wav(sound, 8000)
    decoded = tf.audio.decode_wav(contents)
    np.testing.assert_allclose(decoded.audio.numpy(), sound, atol=1 / 32768)
    assert decoded.sample_rate.numpy() == 8000


def test_a_function_may_make_its_generator():
    made = {}

    def drawing(make):
        @tf.function
        def draw():
            if make not in made:
                made[make] = make()
            return made[make].normal([])
        return draw

    G = tf.random.experimental.Generator
    draw = drawing(lambda: G.from_seed(1))
    np.testing.assert_allclose([draw().numpy(), draw().numpy()], [0.43842274, 1.6272374], rtol=1e-6)
    np.testing.assert_allclose(drawing(lambda: G.from_key_counter(3, [1, 2], "philox"))().numpy(), -0.26016375,
                               rtol=1e-6)
    draw = drawing(G.from_non_deterministic_state)
    assert draw().numpy() != draw().numpy()
    with pytest.raises(ValueError, match="create"):
        tf.function(lambda: G.from_seed(1).normal([]))()

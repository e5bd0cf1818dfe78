"""Critical sections: what they run never overlaps."""
import pytest

import penstock
import penstock.v1 as tf


def test_executions_do_not_overlap():
    with tf.Graph().as_default(), tf.Session() as sess:
        section = tf.CriticalSection(shared_name="section")
        v = tf.get_variable("v", initializer=0.0, use_resource=True)

        def add_two():
            before = v.read_value()
            with tf.control_dependencies([before]), tf.control_dependencies([v.assign_add(2.0)]):
                return {"before": tf.identity(before), "done": tf.no_op()}

        results = [section.execute(add_two) for _ in range(50)]
        sess.run(v.initializer)
        assert sorted(r["before"] for r in sess.run(results)) == [2.0 * i for i in range(50)]
        assert section.name == "CriticalSection" and len(tf.get_collection("critical_section_executions")) == 50


def test_a_failed_execution_lets_go_of_the_lock():
    with tf.Graph().as_default(), tf.Session() as sess:
        section, x = tf.CriticalSection(), tf.placeholder(tf.float32, [])
        checked = section.execute(lambda: tf.check_numerics(tf.identity(x), "not finite"))
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
                sess.run(checked, {x: float("nan")})
            assert sess.run(checked, {x: 2.0}) == 2.0


def test_sections_that_share_resources_are_refused():
    with tf.Graph().as_default():
        one, two = tf.CriticalSection(name="one"), tf.CriticalSection(name="two")
        v = tf.get_variable("v", initializer=0.0, use_resource=True)
        one.execute(v.read_value)
        with pytest.raises(ValueError, match="exclusive resource access"):
            two.execute(v.read_value)
        with pytest.raises(ValueError, match="cause deadlocks"):
            one.execute(lambda: one.execute(lambda: tf.constant(1.0)))
        shared = tf.CriticalSection(name="three")
        with pytest.raises(ValueError, match="exclusive resource access"):
            shared.execute(v.read_value, exclusive_resource_access=False)


def test_in_functions():
    with tf.Graph().as_default():
        pass
    with penstock._src.graph.context.eager_mode():
        section, v = penstock.CriticalSection(), penstock.Variable(1.0)

        @penstock.function
        def twice():
            return [section.execute(lambda: v.assign_add(1.0)),
                    section.execute(lambda: penstock.identity(v))]

        assert [float(x) for x in twice()][1] == 2.0
        assert float(section.execute(lambda: v + 1.0)) == 3.0

"""Following beams back to their beginning."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.while_loop import while_loop


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """The ids of each beam from its last step back, [time, batch, beams]; `end_token` behind its first and behind the
    length of its sequence."""
    with ops.name_scope(name, "GatherTree", [step_ids, parent_ids, max_sequence_lengths, end_token]):
        step_ids = ops.convert_to_tensor(step_ids, name="step_ids")
        parent_ids = ops.convert_to_tensor(parent_ids, dtype=step_ids.dtype, name="parent_ids")
        lengths = ops.convert_to_tensor(max_sequence_lengths, name="max_sequence_lengths")
        end_token = ops.convert_to_tensor(end_token, dtype=step_ids.dtype, name="end_token")
        shape = array_ops.shape(step_ids)
        steps, batch, width = shape[0], shape[1], shape[2]
        rows = array_ops.expand_dims(math_ops.range(batch) * width, 1)
        ended = array_ops.fill([batch, width], end_token)
        result = tensor_array_ops.TensorArray(step_ids.dtype, size=steps, element_shape=step_ids.shape[1:])

        def chosen(values, beams):
            flat = array_ops.gather(array_ops.reshape(values, [-1]), array_ops.reshape(beams + rows, [-1]))
            return array_ops.reshape(flat, [batch, width])

        def body(time, beams, result):
            active = gen.tile(array_ops.expand_dims(time < lengths, 1), [1, width])
            result = result.write(time, array_ops.where(active, chosen(step_ids[time], beams), ended))
            parents = math_ops.cast(chosen(parent_ids[time], beams), dtypes.int32)
            return time - 1, array_ops.where(active, parents, beams), result

        beams = gen.tile(array_ops.expand_dims(math_ops.range(width), 0), [batch, 1])
        beams.set_shape(step_ids.shape[1:])
        _, _, result = while_loop(lambda time, beams, result: time >= 0, body, (steps - 1, beams, result),
                                  back_prop=False)
        ids = result.stack()
        ends = math_ops.cumsum(math_ops.cast(math_ops.equal(ids, end_token), dtypes.int32), axis=0, exclusive=True)
        ids = array_ops.where(ends > 0, array_ops.fill(array_ops.shape(ids), end_token), ids)
        ids.set_shape(step_ids.shape)
        return ids

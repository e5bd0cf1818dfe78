import inspect

import pytest

from penstock._src.graph import dtypes, gen, ops, raw_ops
from penstock._src.graph.definitions import op_call, op_functions, op_signature
from penstock._src.graph.constant_op import constant_v1 as constant


@pytest.fixture(autouse=True)
def graph():
    with ops.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize("op, function", [
    ("Conv2DBackpropInput", "conv2d_backprop_input"), ("AddV2", "add_v2"), ("MatMul", "mat_mul"), ("LRN", "lrn"),
    ("IRFFT3D", "irfft3d"), ("L2Loss", "l2_loss"), ("SparseToDense", "sparse_to_dense"),
    ("TFRecordReaderV2", "tf_record_reader_v2"),
    ("FusedBatchNormGradV3", "fused_batch_norm_grad_v3"), ("Conv3DBackpropFilterV2", "conv3d_backprop_filter_v2"),
])
def test_function_names(op, function):
    assert op_signature.snake_case(op) == function


def test_signatures_are_tensorflows():
    assert str(inspect.signature(gen.conv2d)) == (
        "(input, filter, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC', "
        "dilations=[1, 1, 1, 1], name=None)")
    assert list(inspect.signature(gen.max).parameters) == ["input", "axis", "keep_dims", "name"]
    assert list(inspect.signature(gen.split).parameters) == ["axis", "value", "num_split", "name"]
    assert inspect.signature(gen.arg_max).parameters["output_type"].default is dtypes.int64
    assert "Args:" in gen.conv2d.__doc__ and "data_format" in gen.conv2d.__doc__


def test_results():
    x = constant([1.0, 2.0])
    assert isinstance(gen.no_op(), ops.Operation)
    assert gen.identity(x).shape.as_list() == [2]
    switched = gen.switch(x, constant(True))
    assert switched._fields == ("output_false", "output_true")
    assert [t.shape.as_list() for t in gen.unpack(x, num=2)] == [[], []]
    assert gen.unique(constant([1, 1])).idx.dtype is dtypes.int32


def test_types_follow_from_tensors():
    assert gen.add_v2(constant(2.0), 1).dtype is dtypes.float32
    assert gen.pack([1, constant(2.0)]).dtype is dtypes.float32
    assert gen.reshape(constant([1.0]), [1]).op.get_attr("Tshape") is dtypes.int32
    assert gen.cast(constant(1), dtypes.float64).dtype is dtypes.float64


@pytest.mark.parametrize("call, error, text", [
    (lambda: gen.add_v2(constant(1.0), "x"), TypeError,
     "Expected float32 passed to parameter 'y' of op 'AddV2', got 'x' of type 'str' instead"),
    (lambda: gen.add_v2(constant(1.0), constant(1)), TypeError,
     "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of argument 'x'"),
    (lambda: gen.mat_mul(constant([["a"]]), constant([["a"]])), TypeError,
     "Value passed to parameter 'a' has DataType string not in list of allowed values"),
    (lambda: gen.pack([constant(1.0), constant(1)]), TypeError,
     r"Tensors in list passed to 'values' of 'Pack' Op have types \[float32, int32\] that don't all match"),
    (lambda: gen.pack(constant([1.0])), TypeError, "Expected list for 'values' argument to 'pack' Op"),
    (lambda: gen.pack([]), ValueError,
     "List argument 'values' to 'Pack' Op with length 0 shorter than minimum length 1"),
    (lambda: gen.mat_mul(constant([[1.0]]), constant([[1.0]]), transpose_a="yes"), TypeError,
     "Expected bool for argument 'transpose_a' not 'yes'"),
    (lambda: gen.conv2d(constant(1.0), constant(1.0), [1, 1, 1, 1], "BOGUS"), ValueError,
     "Attr 'padding' of 'Conv2D' Op passed string 'BOGUS' not in: \"SAME\", \"VALID\""),
    (lambda: gen.conv2d(constant(1.0), constant(1.0), 3, "SAME"), TypeError,
     "Expected list for 'strides' argument to 'conv2d' Op, not 3"),
    (lambda: gen.cast(constant(1), "bogus"), TypeError, "Expected DataType for argument 'DstT' not 'bogus'"),
    (lambda: gen.assign(constant(1), 2), TypeError,
     "'Assign' Op requires that input 'ref' be a mutable tensor"),
    (lambda: gen.placeholder(dtypes.float32, shape="abc"), TypeError, "Error converting shape to a TensorShape"),
    (lambda: gen.bogus_op(1), AttributeError, "bogus_op"),
    (lambda: op_call.apply_op("BogusOp"), RuntimeError, "Unrecognized Op name BogusOp"),
    (lambda: op_call.apply_op("Identity"), TypeError, "No argument for input input"),
    (lambda: op_call.apply_op("Identity", input=constant(1), bogus=3), TypeError,
     r"apply_op\(\) got unexpected keyword arguments: bogus"),
    (lambda: op_call.apply_op("Identity", input=constant(1), T=3), TypeError,
     "Should not specify value for inferred attr 'T'"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_references():
    variable = gen.variable_v2(shape=[], dtype=dtypes.float32, name="v")
    assert variable.dtype is dtypes.float32_ref
    assign = gen.assign(variable, 1)
    assert assign.dtype is dtypes.float32_ref and assign.op.colocation_groups() == [b"loc:@v"]
    assert gen.identity(variable).dtype is dtypes.float32


def test_variables_stand_for_their_tensors():
    import penstock.v1 as tf
    v = tf.Variable([[1.0, 2.0]], name="v", use_resource=False)
    total = gen.assign_add(v, v)
    assert total.dtype is dtypes.float32_ref and total.op.colocation_groups() == [b"loc:@v"]
    assert [t.name for t in total.op.inputs] == ["v:0", "v/read:0"]
    with tf.control_dependencies([total]), tf.device("/cpu:1"):
        product = gen.mat_mul(v, v, transpose_b=True)
        again = gen.assign(v, product * v)
    assert product.name == "MatMul:0" and product.device == "/device:CPU:1" and again.device == ""
    assert [t.name for t in product.op.inputs] == ["v/read:0"] * 2 and product.op.control_inputs == [total.op]
    place, = again.op._colocation_dict.items()
    assert place[0] == "v"
    with pytest.raises(TypeError, match="Input 'value' of 'Assign' Op has type int32 that does not match type float32"):
        gen.assign(v, constant(1))
    with pytest.raises(TypeError, match="'Assign' Op requires that input 'ref' be a mutable tensor"):
        gen.assign(product, product)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be from the same graph as"):
        gen.mat_mul(v, tf.zeros([2, 2]))


def test_raw_ops_take_keywords_only():
    assert raw_ops.AddV2(x=constant(1), y=constant(2)).op.type == "AddV2"
    assert "AddV2" in dir(raw_ops)
    with pytest.raises(TypeError):
        raw_ops.AddV2(constant(1), constant(2))
    with pytest.raises(AttributeError):
        raw_ops.Bogus  # noqa: B018


def test_every_op_gets_a_function():
    made = 0
    for op in dir(raw_ops):
        assert callable(op_functions.function(op)), op
        made += 1
    assert made > 10

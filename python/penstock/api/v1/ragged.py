"""tf.ragged"""
FROM = {
    "ops.ragged.ragged_concat_ops": "stack",
    "ops.ragged.ragged_factory_ops": "constant_value placeholder",
    "ops.ragged.ragged_tensor_value": "RaggedTensorValue",
}

"""What graphs are made of. Modules and functions are named as in TensorFlow's python/framework:

dtypes, tensor_shape, tensor_spec, errors, device, random_seed, versions    plain values
ops             Graph, Operation, Tensor, IndexedSlices, scopes, collections, convert_to_tensor, RegisterGradient
                (in graph.py, operation.py, tensor.py, scopes.py, collections.py, conversion.py, registry.py)
gen             gen.add_v2(x, y, name=None): op functions made from definitions on first use (op_library.py makes them)
constant_op, tensor_util, sparse_tensor, indexed_slices, common_shapes, smart_cond
importer, function, graph_util, graph_io, meta_graph
"""

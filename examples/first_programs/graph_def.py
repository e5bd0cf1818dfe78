"""What a program built, as the GraphDef that is written to files and sent to other machines."""
import tensorflow.compat.v1 as tf

with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.name_scope("layer"):
        w = tf.constant([[1.0], [-1.0]], name="w")
        y = tf.nn.relu(tf.matmul(x, w), name="y")
    graph_def = graph.as_graph_def()

print(graph_def)

# Text or bytes: both come back as the same graph.
with tf.Graph().as_default():
    copy = tf.GraphDef.FromString(graph_def.SerializeToString())
    again, = tf.import_graph_def(copy, return_elements=["layer/y:0"], name="copy")
    with tf.Session() as sess:
        print(again.name, "=", sess.run(again, {"copy/x:0": [[3.0, 1.0], [1.0, 3.0]]}).tolist())

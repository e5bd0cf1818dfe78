"""tf.contrib.graph_editor: views of parts of a graph, and changes of graphs that are built already."""

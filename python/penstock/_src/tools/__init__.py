"""Work on files of graphs and models: what TensorFlow's command-line tools are made of."""

"""tf.distribute."""
WITHOUT = """
    DistributedDataset DistributedIterator DistributedValues MultiWorkerMirroredStrategy ParameterServerStrategy
    TPUStrategy"""
FROM = {
    "distribute.distribute_lib": "get_loss_reduction",
    "session.server_lib": "Server",
}

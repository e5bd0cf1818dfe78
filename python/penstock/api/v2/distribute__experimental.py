"""tf.distribute.experimental."""
FROM = {
    "distribute.distribute_types": "ParameterServerStrategy TPUStrategy",
    "distribute.central_storage_strategy": "CentralStorageStrategy",
    "distribute.collective_all_reduce_strategy": """
        CollectiveCommunication CollectiveHints=CommunicationOptions CommunicationImplementation CommunicationOptions
        MultiWorkerMirroredStrategy=ExperimentalMultiWorkerMirroredStrategy""",
    "distribute.distribute_lib": "ValueContext",
}

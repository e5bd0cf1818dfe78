"""tf.contrib.lookup"""
FROM = {
    "contrib.lookup": "HashTable MutableDenseHashTable index_table_from_tensor index_to_string_table_from_tensor",
    "ops.lookup.lookup_ops": """
        FastHashSpec HasherSpec IdTableWithHashBuckets InitializableLookupTableBase KeyValueTensorInitializer
        LookupInterface MutableHashTable StrongHashSpec TableInitializerBase TextFileIdTableInitializer TextFileIndex
        TextFileInitializer TextFileStringTableInitializer index_table_from_file index_to_string_table_from_file""",
}

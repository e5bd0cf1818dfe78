"""TensorFlow 1.15's names; see penstock.api."""
# Namespaces that are the same as in version 2.
SAME = """
    audio bitwise config__optimizer config__threading debugging__experimental dtypes__experimental experimental
    experimental__extension_type io__gfile linalg__experimental lookup__experimental math__special
    nn__experimental quantization queue types__experimental xla__experimental"""

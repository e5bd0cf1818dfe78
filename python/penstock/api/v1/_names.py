"""tf: the names that version 2 has at its top level too."""
WITHOUT = """
    NoneTensorSpec eig eigvals errors get_current_name_scope initializers inside_function keras losses metrics
    optimizers"""

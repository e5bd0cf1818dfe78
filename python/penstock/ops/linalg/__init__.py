"""Linear operators: matrices of special form that need not be written out."""

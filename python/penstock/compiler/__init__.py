"""What programs say to XLA's compiler."""

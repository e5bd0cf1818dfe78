"""tf.contrib.legacy_seq2seq: sequences to sequences by networks that are unrolled."""

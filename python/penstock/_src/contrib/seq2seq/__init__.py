"""tf.contrib.seq2seq: decoding with attention, sampling and beam search."""

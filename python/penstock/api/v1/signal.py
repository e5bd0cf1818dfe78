"""tf.signal"""
WITHOUT = "fftnd ifftnd irfftnd rfftnd"

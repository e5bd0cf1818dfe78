"""tf.contrib.seq2seq: decoding, attention, losses of sequences."""
FROM = {
    "contrib.seq2seq.attention": """
        AttentionMechanism BahdanauAttention BahdanauMonotonicAttention LuongAttention LuongMonotonicAttention hardmax
        monotonic_attention safe_cumprod""",
    "contrib.seq2seq.attention_wrapper": "AttentionWrapper AttentionWrapperState",
    "contrib.seq2seq.basic_decoder": "BasicDecoder BasicDecoderOutput",
    "contrib.seq2seq.beam_search_decoder": """
        BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState FinalBeamSearchDecoderOutput
        gather_tree_from_array tile_batch""",
    "contrib.seq2seq.beam_search_ops": "gather_tree",
    "contrib.seq2seq.decoder": "Decoder dynamic_decode",
    "contrib.seq2seq.helper": """
        CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper
        ScheduledOutputTrainingHelper TrainingHelper""",
    "contrib.seq2seq.loss": "sequence_loss",
}

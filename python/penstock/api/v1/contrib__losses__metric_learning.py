"""tf.contrib.losses.metric_learning."""
FROM = {
    "contrib.losses.metric_learning": """
        contrastive_loss lifted_struct_loss npairs_loss npairs_loss_multilabel triplet_semihard_loss""",
}

"""tf.__internal__.autograph."""
FROM = {
    "autograph.core.ag_ctx": "control_status_ctx",
    "autograph.impl.api": "tf_convert",
}

"""VGG19's classification graph with random weights, spread over the devices of the machine: which device did what?

Blocks of convolutions are put on devices by hand, with tf.device; what has no device is placed by the runtime.
"""
import argparse
import collections
import time

import numpy as np
import tensorflow.compat.v1 as tf

BLOCKS = [(2, 1), (2, 2), (4, 4), (4, 8), (4, 8)]  # convolutions, and channels in units of --width


def vgg19(images, width, devices):
    x = images
    for block, (convolutions, channels) in enumerate(BLOCKS, 1):
        with tf.device(devices[(block - 1) % len(devices)]):
            for i in range(1, convolutions + 1):
                x = tf.layers.conv2d(x, channels * width, 3, padding="same", activation=tf.nn.relu,
                                     name="block%d_conv%d" % (block, i))
            x = tf.layers.max_pooling2d(x, 2, 2, name="block%d_pool" % block)
    x = tf.layers.flatten(x)
    x = tf.layers.dense(x, 64 * width, tf.nn.relu, name="fc1")
    x = tf.layers.dense(x, 64 * width, tf.nn.relu, name="fc2")
    return tf.nn.softmax(tf.layers.dense(x, 1000, name="logits"), name="probabilities")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", type=int, default=224, help="height and width of the image")
    parser.add_argument("--width", type=int, default=64, help="channels of the first block")
    parser.add_argument("--devices", type=int, default=2, help="CPU devices")
    arguments = parser.parse_args()

    tf.set_random_seed(1)
    devices = ["/cpu:%d" % i for i in range(arguments.devices)]
    images = tf.placeholder(tf.float32, [None, arguments.image, arguments.image, 3], name="images")
    probabilities = vgg19(images, arguments.width, devices)
    parameters = sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables())
    print("VGG19: %d nodes, %.1f million parameters" % (
        len(tf.get_default_graph().get_operations()), parameters / 1e6))

    config = tf.ConfigProto(device_count={"CPU": arguments.devices}, allow_soft_placement=True)
    with tf.Session(config=config) as sess:
        for device in sess.list_devices():
            print("has", device.name)
        sess.run(tf.global_variables_initializer())
        feed = {images: np.random.RandomState(0).uniform(size=[1] + images.shape.as_list()[1:])}
        sess.run(probabilities, feed)  # the first run also prepares what later ones reuse
        started = time.time()
        result = sess.run(probabilities, feed)
        print("one image: %.0f ms; most likely class %d" % (1e3 * (time.time() - started), result.argmax()))
        traced, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
        sess.run(probabilities, feed, options=traced, run_metadata=metadata)

    for stats in sorted(metadata.step_stats.dev_stats, key=lambda stats: stats.device):
        if not stats.device.startswith("/job:"):
            continue  # TensorFlow's profiler lists its threads too
        layers: collections.Counter = collections.Counter()
        for node in stats.node_stats:
            name = node.node_name.split("/")[0]
            if name.startswith(("block", "fc", "logits", "probabilities")):
                layers[name] += node.all_end_rel_micros
        print("%s ran %d nodes" % (stats.device, len(stats.node_stats)))
        for name, microseconds in sorted(layers.items()):
            print("    %-16s %8.2f ms" % (name, microseconds / 1e3))


if __name__ == "__main__":
    main()

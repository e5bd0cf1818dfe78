"""Boxes in images: choosing the best, cutting them out, drawing them, drawing them by lot."""
from penstock._src.graph import dtypes, gen, ops, random_seed
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import map_fn
from penstock._src.core_ops.arguments import pick

__all__ = [
    "combined_non_max_suppression", "crop_and_resize", "crop_and_resize_v1", "crop_and_resize_v2",
    "draw_bounding_boxes", "draw_bounding_boxes_v2", "extract_glimpse", "extract_glimpse_v2", "non_max_suppression",
    "non_max_suppression_padded", "non_max_suppression_with_overlaps", "non_max_suppression_with_scores",
    "sample_distorted_bounding_box", "sample_distorted_bounding_box_v2", "stateless_sample_distorted_bounding_box",
]


def _thresholds(**thresholds):
    return [ops.convert_to_tensor(value, name=name) for name, value in thresholds.items()]


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """Indices of the best boxes of which none overlaps another too much."""
    with ops.name_scope(name, "non_max_suppression"):
        iou, score = _thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold)
        return gen.non_max_suppression_v3(boxes, scores, max_output_size, iou, score)


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """(indices, scores); with a sigma, overlap lowers a score instead of excluding the box."""
    with ops.name_scope(name, "non_max_suppression_with_scores"):
        iou, score, sigma = _thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold,
                                        soft_nms_sigma=soft_nms_sigma)
        indices, values, _ = gen.non_max_suppression_v5(boxes, scores, max_output_size, iou, score, sigma,
                                                        pad_to_max_output_size=False)
        return indices, values


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False,
                               canonicalized_coordinates=False, tile_size=512):
    """(indices, of which so many count): a fixed number of indices if padded.

    Boxes [..., n, 4] and scores [..., n] of several images give indices for each, padded. What is said about the input
    (sorted by score, corners in order) and `tile_size` change no result.
    """
    with ops.name_scope(name, "non_max_suppression_padded"):
        boxes = ops.convert_to_tensor(boxes, name="boxes")
        scores = ops.convert_to_tensor(scores, name="scores")
        iou, score = _thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold)
        if boxes.shape.ndims in (None, 2):
            return gen.non_max_suppression_v4(boxes, scores, max_output_size, iou, score, pad_to_max_output_size)
        if not pad_to_max_output_size:
            raise ValueError("Number of dimensions of boxes can be larger than 2 only if pad_to_max_output_size is "
                             "True")
        batch = array_ops.shape(boxes)[:-2]

        def of_image(one):
            return tuple(gen.non_max_suppression_v4(*one, max_output_size, iou, score, pad_to_max_output_size=True))

        indices, counts = map_fn.map_fn(
            of_image, (array_ops.reshape(boxes, array_ops.concat([[-1], array_ops.shape(boxes)[-2:]], 0)),
                       array_ops.reshape(scores, array_ops.concat([[-1], array_ops.shape(scores)[-1:]], 0))),
            dtype=(dtypes.int32, dtypes.int32))
        return (array_ops.reshape(indices, array_ops.concat([batch, [max_output_size]], 0)),
                array_ops.reshape(counts, batch))


def non_max_suppression_with_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5,
                                      score_threshold=float("-inf"), name=None):
    """Indices of the best boxes, given how much each overlaps each."""
    with ops.name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold, = _thresholds(overlap_threshold=overlap_threshold)
        return gen.non_max_suppression_with_overlaps(overlaps, scores, max_output_size, overlap_threshold,
                                                     score_threshold)


def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    """(boxes, scores, classes, how many count): the best of all classes, chosen class by class."""
    with ops.name_scope(name, "combined_non_max_suppression"):
        iou_threshold = ops.convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        score_threshold = ops.convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return gen.combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size,
                                                iou_threshold, score_threshold, pad_per_class, clip_boxes)


def crop_and_resize_v2(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None):
    """Boxes cut out of images and brought to one size."""
    return gen.crop_and_resize(image, boxes, box_indices, crop_size, method, extrapolation_value, name)


def crop_and_resize_v1(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0,
                       name=None, box_indices=None):
    """Boxes cut out of images and brought to one size."""
    box_ind = pick("box_indices", box_indices, "box_ind", box_ind)
    return gen.crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value, name)


crop_and_resize = crop_and_resize_v1


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    """Windows around given places; what lies outside the image is noise."""
    return gen.extract_glimpse(input=input, size=size, offsets=offsets, centered=centered, normalized=normalized,
                               uniform_noise=uniform_noise, name=name)


def extract_glimpse_v2(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """Windows around given places; what lies outside the image is noise."""
    return gen.extract_glimpse_v2(input=input, size=size, offsets=offsets, centered=centered, normalized=normalized,
                                  noise=noise, uniform_noise=False, name=name)


def draw_bounding_boxes_v2(images, boxes, colors, name=None):
    """Images with the outlines of boxes."""
    if colors is None:
        return gen.draw_bounding_boxes(images, boxes, name)
    return gen.draw_bounding_boxes_v2(images, boxes, colors, name)


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with the outlines of boxes."""
    return draw_bounding_boxes_v2(images, boxes, colors, name)


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None, max_attempts=None,
                                  use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random box that covers enough of one of the given ones."""
    with ops.name_scope(name, "sample_distorted_bounding_box"):
        return gen.sample_distorted_bounding_box_v2(
            image_size, bounding_boxes, seed=seed, seed2=seed2, min_object_covered=min_object_covered,
            aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, name=name)


def sample_distorted_bounding_box_v2(image_size, bounding_boxes, seed=0, min_object_covered=0.1,
                                     aspect_ratio_range=None, area_range=None, max_attempts=None,
                                     use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random box that covers enough of one of the given ones."""
    seed1, seed2 = random_seed.get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(image_size, bounding_boxes, seed1, seed2, min_object_covered,
                                         aspect_ratio_range, area_range, max_attempts,
                                         use_image_if_no_bounding_boxes, name)


def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1,
                                            aspect_ratio_range=None, area_range=None, max_attempts=None,
                                            use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random box that covers enough of one of the given ones, the same one for the same seed,
    which is two integers. InvalidArgumentError: no boxes, or ranges that cannot be.
    """
    with ops.name_scope(name, "stateless_sample_distorted_bounding_box"):
        return gen.stateless_sample_distorted_bounding_box(
            image_size, bounding_boxes, min_object_covered, seed, aspect_ratio_range=aspect_ratio_range,
            area_range=area_range, max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, name=name)

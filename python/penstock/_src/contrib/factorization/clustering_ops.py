"""K-means as a graph: the first centers, and steps over all points or over batches."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.random import random_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.control_flow import while_loop as while_lib

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"  # 1 - cosine of the angle
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VAR_NAME = "clusters"


class KMeans:
    """The graph of k-means clustering; `training_graph` gives its parts.

    Args:
      inputs: a float32 tensor [points, dims], or a list of them.
      num_clusters: how many centers; not asked if `initial_clusters` is an array.
      initial_clusters: the centers [clusters, dims]; a function (inputs, how many) that gives up to so many; or
        "random", "kmeans_plus_plus" or "kmc2": chosen among the points, over several runs of the initializer if one
        batch has too few.
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: each step moves centers towards the batch's points; otherwise it puts them in the points' middle.
      mini_batch_steps_per_iteration: after how many such steps the centers that points are assigned to follow.
      random_seed: of the choice among points.
      kmeans_plus_plus_num_retries: further draws for each center, the best of which is taken.
      kmc2_chain_length: how many points a chain of k-MC2 sees.

    ValueError for an unknown name of initial clusters or distance.
    """

    def __init__(self, inputs, num_clusters, initial_clusters=RANDOM_INIT, distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
                 use_mini_batch=False, mini_batch_steps_per_iteration=1, random_seed=0,
                 kmeans_plus_plus_num_retries=2, kmc2_chain_length=200):
        named = isinstance(initial_clusters, str)
        if named and initial_clusters not in (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT):
            raise ValueError("Unsupported initialization algorithm '%s'" % initial_clusters)
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError("Unsupported distance metric '%s'" % distance_metric)
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._random_seed = random_seed
        self._retries = kmeans_plus_plus_num_retries
        self._chain = kmc2_chain_length
        # Whether the centers that points are assigned to have length 1, which points have with cosines.
        self._unit_centers = self._cosine and (not use_mini_batch or self._steps > 1)

    def training_graph(self):
        """(distances of all points to all centers, nearest center of each point, distance to it, whether the centers
        are there, initializer, training op); the first three are tuples with an entry for each of the inputs.

        The initializer is run until the boolean variable says that the centers are there, the training op after that.
        """
        first = self._initial_clusters
        if isinstance(first, str) or callable(first):
            number = ops.convert_to_tensor(self._num_clusters)
        else:
            first = ops.convert_to_tensor(first)
            number = array_ops.shape(first)[0]
        none = array_ops.constant([], dtype=dtypes.float32)
        centers = variable_scope.variable(none, name=CLUSTERS_VAR_NAME, validate_shape=False)
        ready = variable_scope.variable(False, dtype=dtypes.bool, name="initialized")
        moving, left, counts = centers, None, None
        if self._use_mini_batch and self._steps > 1:
            moving = variable_scope.variable(none, name="clusters_updated", validate_shape=False)
            left = variable_scope.variable(self._steps, dtype=dtypes.int64, name="update_in_steps")
            counts = variable_scope.variable(array_ops.zeros([number], dtype=dtypes.int64))
        elif self._use_mini_batch:
            counts = variable_scope.variable(array_ops.ones([number], dtype=dtypes.int64))
        initializer = self._initializer(first, number, centers, moving, ready)

        inputs, seen = self._inputs, centers
        if self._cosine:
            inputs = [nn_impl.l2_normalize(points, dim=1) for points in inputs]
            if not self._unit_centers:
                seen = nn_impl.l2_normalize(centers, dim=1)
        distances, nearest, scores = zip(*[self._assigned(points, seen) for points in inputs])
        if self._use_mini_batch:
            with ops.control_dependencies([self._follow(left, centers, moving, counts)]):
                train = control_flow_ops.group(*[self._move(points, place, moving, counts)
                                                 for points, place in zip(inputs, nearest)])
        else:
            train = self._to_the_middle(inputs, nearest, number, centers)
        return distances, nearest, scores, ready, initializer, train

    def _assigned(self, points, centers):
        """(distances to all centers, the nearest center, distance to it)."""
        products = math_ops.matmul(points, centers, transpose_b=True)
        if self._cosine:
            distances = 1 - products
        else:
            distances = (math_ops.reduce_sum(math_ops.square(points), 1, keepdims=True) - 2 * products +
                         array_ops.transpose(math_ops.reduce_sum(math_ops.square(centers), 1, keepdims=True)))
        nearest, score = gen.nearest_neighbors(points, centers, 1)
        if self._cosine:
            score *= 0.5  # |a - b|^2 = 2 (1 - ab) for vectors of length 1
        return distances, array_ops.squeeze(nearest, [-1]), array_ops.squeeze(score, [-1])

    def _to_the_middle(self, inputs, nearest, number, centers):
        sums, counts = [], []
        for points, place in zip(inputs, nearest):
            ones = array_ops.ones([array_ops.shape(points)[0], 1])
            sums.append(gen.unsorted_segment_sum(points, place, number))
            counts.append(gen.unsorted_segment_sum(ones, place, number))
        middle = math_ops.add_n(sums) / (math_ops.add_n(counts) + 1e-6)
        if self._unit_centers:
            middle = nn_impl.l2_normalize(middle, dim=1)
        return state_ops.assign(centers, middle)

    @staticmethod
    def _move(points, nearest, centers, counts):
        """A center x of n points that gets d1, ..., dk becomes x + (d1 + ... + dk - k x) / (n + k)."""
        places, of_point = array_ops.unique(nearest)
        size = array_ops.size(places)
        old_counts, old = array_ops.gather(counts, places), array_ops.gather(centers, places)
        added = gen.unsorted_segment_sum(array_ops.ones_like(of_point, dtype=counts.dtype), of_point, size)
        change = gen.unsorted_segment_sum(points, of_point, size)
        change -= math_ops.cast(added[:, None], points.dtype) * old
        change *= gen.reciprocal(math_ops.cast((old_counts + added)[:, None], points.dtype))
        return control_flow_ops.group(state_ops.scatter_add(counts, places, added),
                                      state_ops.scatter_add(centers, places, change))

    def _follow(self, left, centers, moving, counts):
        """Every so many steps the moving centers become those that points are assigned to, and counting begins anew."""
        if left is None:
            return control_flow_ops.no_op()

        def follow():
            with ops.control_dependencies([state_ops.assign(left, self._steps - 1)]):
                now = nn_impl.l2_normalize(moving, dim=1) if self._cosine else moving
                with ops.control_dependencies([state_ops.assign(centers, now)]):
                    with ops.control_dependencies([state_ops.assign(counts, array_ops.zeros_like(counts))]):
                        return array_ops.identity(left)

        return cond_lib.cond(left <= 0, follow, lambda: state_ops.assign_sub(left, 1))

    # The first centers

    def _initializer(self, first, number, centers, moving, ready):
        chosen = array_ops.shape(centers)[0]
        wanted = number - chosen

        def initialize():
            with ops.control_dependencies([check_ops.assert_positive(wanted)]):
                if isinstance(first, str) and first == KMC2_INIT:
                    missing = self._chains(number, wanted, chosen, centers, moving)
                else:
                    new = self._chosen(first, wanted)
                    if self._cosine:
                        new = nn_impl.l2_normalize(new, dim=1)
                    every = cond_lib.cond(math_ops.equal(chosen, 0), lambda: new,
                                          lambda: array_ops.concat([centers, new], 0))
                    missing = number - array_ops.shape(self._set(centers, moving, every))[0]
                return cond_lib.cond(math_ops.equal(missing, 0), lambda: state_ops.assign(ready, True),
                                     control_flow_ops.no_op)

        return cond_lib.cond(math_ops.equal(wanted, 0), lambda: check_ops.assert_equal(ready, True),
                             initialize)

    @staticmethod
    def _set(centers, moving, value):
        done = state_ops.assign(centers, value, validate_shape=False)
        return done if moving is centers else state_ops.assign(moving, done, validate_shape=False)

    def _chosen(self, first, wanted):
        """Up to `wanted` centers."""
        points = math_ops.add_n([array_ops.shape(i)[0] for i in self._inputs])
        if callable(first):
            return first(self._inputs, wanted)
        if not isinstance(first, str):
            with ops.control_dependencies([check_ops.assert_equal(wanted, array_ops.shape(first)[0])]):
                return array_ops.identity(first)
        if first == RANDOM_INIT:
            return cond_lib.cond(points <= wanted, lambda: array_ops.concat(self._inputs, 0),
                                 lambda: self._at_random(points, wanted))
        with ops.control_dependencies([check_ops.assert_greater_equal(points, wanted)]):
            inputs = self._inputs[0]
            if self._cosine:
                inputs = nn_impl.l2_normalize(inputs, dim=1)
            return gen.kmeans_plus_plus_initialization(inputs, math_ops.cast(wanted, dtypes.int64),
                                                       self._random_seed, self._retries)

    def _at_random(self, points, wanted):
        places = random_ops.random_uniform(array_ops.reshape(wanted, [-1]), minval=0,
                                           maxval=math_ops.cast(points, dtypes.int64), seed=self._random_seed,
                                           dtype=dtypes.int64)
        return embedding_ops.embedding_lookup(self._inputs, places, partition_strategy="div")

    def _chains(self, number, wanted, chosen, centers, moving):
        """Adds a center for each part of the batch that is as long as a chain, at least one; how many are missing."""
        points = self._inputs[0]
        parts = math_ops.cast(array_ops.shape(points)[0] / self._chain, dtypes.int32)
        parts = gen.maximum(gen.minimum(wanted, parts), 1)

        def unit(center):
            return nn_impl.l2_normalize(center, dim=1) if self._cosine else center

        def body(i, _):
            def walked():
                part = points[i * self._chain:(i + 1) * self._chain]
                _, distances = gen.nearest_neighbors(part, centers, 1)
                place = gen.kmc2_chain_initialization(array_ops.squeeze(distances), self._random_seed)
                return array_ops.concat([centers, unit(array_ops.reshape(part[place], [1, -1]))], 0)

            value = cond_lib.cond(math_ops.equal(chosen, 0),
                                  lambda: unit(array_ops.reshape(points[0], [1, -1])), walked)
            return i + 1, number - array_ops.shape(self._set(centers, moving, value))[0]

        return while_lib.while_loop(lambda i, _: gen.less(i, parts), body, [0, 0])[1]

// What k-means clustering needs.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterClusteringOps(OpRegistry& ops) {
  ops.Add("KmeansPlusPlusInitialization")
      .Input("points: float32").Input("num_to_sample: int64").Input("seed: int64")
      .Input("num_retries_per_sample: int64").Output("samples: float32").Shape(shapes::Unknown)
      .Doc("Rows of `points` that lie far from each other (k-means++): each is drawn with a probability that grows "
           "with the squared distance to those before, and is the best of `num_retries_per_sample` + 1 draws.");
  ops.Add("KMC2ChainInitialization")
      .Input("distances: float32").Input("seed: int64").Output("index: int64").Shape(shapes::Scalar)
      .Doc("Where a random walk through candidates of these squared distances ends (k-MC2): large ones are likely.");
  ops.Add("NearestNeighbors")
      .Input("points: float32").Input("centers: float32").Input("k: int64").Output("nearest_center_indices: int64")
      .Output("nearest_center_distances: float32").Shape(shapes::Unknown)
      .Doc("For each point the `k` nearest centers, the nearest first, and their squared distances.");
}

}  // namespace penstock

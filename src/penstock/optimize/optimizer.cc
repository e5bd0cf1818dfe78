#include "penstock/optimize/optimizer.h"

namespace penstock {

void Optimize(Graph& graph, const SessionOptions& options) {
  (void)graph;
  (void)options;
}

}  // namespace penstock

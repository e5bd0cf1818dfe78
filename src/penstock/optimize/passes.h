// The passes. Each rewrites the graph and says how many nodes it changed.
#pragma once

#include "penstock/optimize/optimizer.h"

namespace penstock {

// Outputs that follow from constants, or from shapes, become constants.
int FoldConstants(Graph& graph, NodeEvaluator evaluate);
// Nodes that do the same with the same inputs become one.
int MergeCommonSubexpressions(Graph& graph);
// x * 1, x + 0, -(-x), chains of transposes and reshapes, identities. Bit by bit the same results.
int SimplifyArithmetic(Graph& graph);
// Pure nodes that wait for pure nodes which run anyway, as gradients do for those of the same op, wait no more; nor do
// they for what nobody reads, which goes.
int RelaxOrder(Graph& graph);
// Control edges and no-ops that order nothing.
int PruneDependencies(Graph& graph);
// Batch normalisation with constant statistics behind a convolution with constant filters goes into the filters.
int FoldBatchNormalization(Graph& graph);
// Of a product only the columns that somebody reads are computed.
int NarrowProducts(Graph& graph);
// A product with the bias and the activation behind it becomes one node, where a kernel exists for it.
int FuseProducts(Graph& graph);
// Sums of products of matrices become products that are added to what there is.
int AccumulateProducts(Graph& graph);
// Those in a loop are added several at a time.
int DelayProducts(Graph& graph);
// Choices by comparisons that nothing else reads become one node each.
int JoinSelections(Graph& graph);
// Reductions of rows and the elementwise functions around them become one node.
int FuseRows(Graph& graph);
// Chains of elementwise functions become one node.
int FuseElementwise(Graph& graph);

}  // namespace penstock

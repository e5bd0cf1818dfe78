// What passes share: which nodes may be touched, and safe ways to change the graph.
#pragma once

#include "penstock/base/threads.h"
#include "penstock/graph/graph.h"

namespace penstock {

// The node computes its outputs from its inputs and attributes and does nothing else: no state, no randomness, no
// reference, resource or variant, no flow of control, no call of a function.
bool IsPure(const Graph& graph, const Node& node);

// Both may run on the same devices: same wish, same colocation.
bool SamePlace(const Node& a, const Node& b);

// The value of a constant node; null for all others.
const Tensor* ConstantOf(Endpoint value);

// All elements of a constant are, bit by bit, this number (of the constant's type). False for other than plain numbers.
bool IsAll(const Tensor& constant, double number);
// Its elements as integers, if it is an int32 or int64 constant.
std::optional<std::vector<int64_t>> IntsOf(Endpoint value);

// A new constant that takes `like`'s place: its device and colocation. Runs after `controls`.
Node* AddConstant(Graph& graph, const Node& like, Tensor value, const std::vector<Node*>& controls);

// Whoever reads `from` reads `to`; at reads of `from` as a step's result, too.
void Redirect(Graph& graph, Endpoint from, Endpoint to);
// Whoever waits for `from` waits for `to`.
void MoveControlConsumers(Graph& graph, Node* from, Node* to);
bool HasControlConsumers(const Node& node);
// Removes `node` if nobody needs it any more, then its inputs in turn. What is not pure stays.
void RemoveUnused(Graph& graph, Node* node);
// Calls fn for each node that is still there when its turn comes: fn may remove any of them. Those that it adds get no
// turn.
void ForEachNode(const Graph& graph, FunctionRef<void(Node*)> fn);

// `node` is known to give `value` as its only output: its readers get `value`, and it goes if it can. False if the node
// has to stay as it is: it waits for others, sits where something else was asked for, or `value` is a variable.
bool Bypass(Graph& graph, Node* node, Endpoint value);

}  // namespace penstock

// Definitions of dataset ops in the short form that most of them fit: inputs, one variant with the dataset, attributes.
#pragma once

#include <span>

#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

struct DatasetOp {
  const char* name;
  // Separated by ";". Inputs and attributes that many have are given by name only.
  const char* inputs;
  const char* attrs;
  const char* flags;  // "s": stateful; "x": there is one with "Experimental" before its name too, without `metadata`
  const char* doc;
};

void AddDatasetOps(OpRegistry& ops, std::span<const DatasetOp> rows);
// The output is a scalar, and so are the inputs, as far as they are not file names, vectors by nature, or components.
void DatasetShape(ShapeContext& c);
// The outputs are an element: they have the shapes that the attribute `output_shapes` gives.
void ElementShape(ShapeContext& c);

}  // namespace penstock

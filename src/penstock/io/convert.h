// Protocol buffers, as bytes, to and from our structs. No message class is seen outside; messages.h has those.
//
// Parsing throws InvalidArgument for bytes that are no such message and for contents that make no sense (negative
// dimensions, a number of bytes that does not fit the shape, ...). Writing is deterministic: equal structs, equal
// bytes. InvalidArgument: the message would have 2 GiB or more.
#pragma once

#include <string>
#include <string_view>

#include "penstock/graph/graph_def.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

GraphDef ParseGraphDef(std::string_view bytes);
std::string SerializeGraphDef(const GraphDef& graph);
NodeDef ParseNodeDef(std::string_view bytes);
std::string SerializeNodeDef(const NodeDef& node);
std::shared_ptr<FunctionDef> ParseFunctionDef(std::string_view bytes);
std::string SerializeFunctionDef(const FunctionDef& function);
OpDef ParseOpDef(std::string_view bytes);  // signature, traits that the message has; no functions
std::string SerializeOpDef(const OpDef& op);

// An empty list is an EmptyList: the message does not say of what.
AttrValue ParseAttrValue(std::string_view bytes);
std::string SerializeAttrValue(const AttrValue& value);

// Every encoding is read: packed contents, typed lists of which the last value repeats, strings, handles, variants.
// Written as TensorFlow does: packed contents from two elements on, a typed list below and for strings.
Tensor ParseTensor(std::string_view bytes);
std::string SerializeTensor(const Tensor& tensor);
// The same with packed contents whatever the tensor holds.
TString SerializePackedTensor(const Tensor& tensor);

}  // namespace penstock

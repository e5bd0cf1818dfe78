// Message classes to and from our structs: for sources of folders that may use protobuf, never for another header.
// Errors as in convert.h.
#pragma once

#include <climits>

#include "google/protobuf/arena.h"
#include "google/protobuf/message.h"
#include "penstock/io/convert.h"
#include "penstock/io/tensor_slice.h"
#include "penstock/tensor/resource_handle.h"
#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor_slice.pb.h"

namespace penstock {

PartialShape FromProto(const tensorflow::TensorShapeProto& proto);
void ToProto(const PartialShape& shape, tensorflow::TensorShapeProto* proto);
Tensor FromProto(const tensorflow::TensorProto& proto);
void ToProto(const Tensor& tensor, tensorflow::TensorProto* proto);
Variant FromProto(const tensorflow::VariantTensorDataProto& proto);
void ToProto(const Variant& variant, tensorflow::VariantTensorDataProto* proto);
AttrValue FromProto(const tensorflow::AttrValue& proto);
void ToProto(const AttrValue& value, tensorflow::AttrValue* proto);
using ProtoAttrs = google::protobuf::Map<std::string, tensorflow::AttrValue>;
AttrMap FromProto(const ProtoAttrs& proto);
void ToProto(const AttrMap& attrs, ProtoAttrs* proto);
OpDef FromProto(const tensorflow::OpDef& proto);
void ToProto(const OpDef& op, tensorflow::OpDef* proto);
NodeDef FromProto(const tensorflow::NodeDef& proto);
void ToProto(const NodeDef& node, tensorflow::NodeDef* proto);
std::shared_ptr<FunctionDef> FromProto(const tensorflow::FunctionDef& proto);
void ToProto(const FunctionDef& function, tensorflow::FunctionDef* proto);
Versions FromProto(const tensorflow::VersionDef& proto);
void ToProto(const Versions& versions, tensorflow::VersionDef* proto);
GraphDef FromProto(const tensorflow::GraphDef& proto);
void ToProto(const GraphDef& graph, tensorflow::GraphDef* proto);
TensorSlice FromProto(const tensorflow::TensorSliceProto& proto);
void ToProto(const TensorSlice& slice, tensorflow::TensorSliceProto* proto);

// A tensor in a message may be a shape and one value that repeats: a few bytes that claim gigabytes. While one of these
// lives, the tensors that this thread makes of messages may claim kMostClaimed bytes together; else, each may.
class ClaimLimit {
 public:
  ClaimLimit() : outer_(current_) { current_ = this; }
  ~ClaimLimit() { current_ = outer_; }
  ClaimLimit(const ClaimLimit&) = delete;
  ClaimLimit& operator=(const ClaimLimit&) = delete;
  // ResourceExhausted if a tensor may not be made; `backed` are the bytes of it that the message brings.
  static void Claim(DataType dtype, const Shape& shape, uint64_t backed);

 private:
  static constexpr double kMostClaimed = 2.0 * (1 << 30);  // as much as a message may hold
  double claimed_ = 0;
  ClaimLimit* const outer_;
  static thread_local ClaimLimit* current_;
};

// Reads the whole of `bytes`; InvalidArgument naming the message otherwise.
void ParseMessage(std::string_view bytes, google::protobuf::Message* message);
// Deterministic: maps in order of their keys.
std::string SerializeMessage(const google::protobuf::Message& message);

}  // namespace penstock

#include "penstock/io/messages.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"

namespace penstock {
namespace {

template <class Message>
auto Parsed(std::string_view bytes) {
  google::protobuf::Arena arena;
  const ClaimLimit limit;
  auto* message = google::protobuf::Arena::CreateMessage<Message>(&arena);
  ParseMessage(bytes, message);
  return FromProto(*message);
}

template <class Message, class Value>
std::string Serialized(const Value& value) {
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<Message>(&arena);
  ToProto(value, message);
  return SerializeMessage(*message);
}

}  // namespace

void ParseMessage(std::string_view bytes, google::protobuf::Message* message) {
  if (bytes.size() > INT_MAX) {
    throw InvalidArgument("A ", message->GetTypeName(), " of ", bytes.size(), " bytes is too large: the limit is ",
                          INT_MAX);
  }
  // What is wrong is said by the exception alone, not on stderr.
  [[maybe_unused]] static const auto silenced = google::protobuf::SetLogHandler(nullptr);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw InvalidArgument("Error parsing message: ", bytes.size(), " bytes are no valid ", message->GetTypeName());
  }
}

std::string SerializeMessage(const google::protobuf::Message& message) {
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) {
    throw InvalidArgument("Cannot serialize protocol buffer of type ", message.GetTypeName(),
                          " as the serialized size (", size, " bytes) would be larger than the limit (", INT_MAX,
                          " bytes)");
  }
  std::string bytes;
  bytes.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&out);
  }
  return bytes;
}

GraphDef ParseGraphDef(std::string_view bytes) { return Parsed<tensorflow::GraphDef>(bytes); }
std::string SerializeGraphDef(const GraphDef& graph) { return Serialized<tensorflow::GraphDef>(graph); }
NodeDef ParseNodeDef(std::string_view bytes) { return Parsed<tensorflow::NodeDef>(bytes); }
std::string SerializeNodeDef(const NodeDef& node) { return Serialized<tensorflow::NodeDef>(node); }
std::shared_ptr<FunctionDef> ParseFunctionDef(std::string_view bytes) { return Parsed<tensorflow::FunctionDef>(bytes); }
std::string SerializeFunctionDef(const FunctionDef& function) { return Serialized<tensorflow::FunctionDef>(function); }
OpDef ParseOpDef(std::string_view bytes) { return Parsed<tensorflow::OpDef>(bytes); }
std::string SerializeOpDef(const OpDef& op) { return Serialized<tensorflow::OpDef>(op); }
AttrValue ParseAttrValue(std::string_view bytes) { return Parsed<tensorflow::AttrValue>(bytes); }
std::string SerializeAttrValue(const AttrValue& value) { return Serialized<tensorflow::AttrValue>(value); }
Tensor ParseTensor(std::string_view bytes) { return Parsed<tensorflow::TensorProto>(bytes); }
std::string SerializeTensor(const Tensor& tensor) { return Serialized<tensorflow::TensorProto>(tensor); }
TString SerializePackedTensor(const Tensor& tensor) {
  const bool strings = tensor.dtype() == DT_STRING;
  if (tensor.num_elements() == 0 || !(strings || IsPod(tensor.dtype()))) return TString(SerializeTensor(tensor));
  tensorflow::TensorProto proto;
  proto.set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  ToProto(PartialShape(tensor.shape()), proto.mutable_tensor_shape());
  using google::protobuf::io::CodedOutputStream;
  if (strings) {
    // All lengths, then all bytes.
    google::protobuf::io::StringOutputStream content(proto.mutable_tensor_content());
    CodedOutputStream out(&content);
    const auto* texts = tensor.data<TString>();
    for (int64_t i = 0; i < tensor.num_elements(); ++i) out.WriteVarint64(texts[i].size());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) out.WriteString(std::string(texts[i].view()));
    out.Trim();
    return TString(SerializeMessage(proto));
  }
  // The content, the last field, is written where it stays: as a part of the message it would be copied twice more.
  const std::string head = SerializeMessage(proto);
  uint8_t prefix[1 + 10] = {tensorflow::TensorProto::kTensorContentFieldNumber << 3 | 2};  // 2: bytes with a length
  const uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(tensor.bytes(), prefix + 1);
  TString text;
  char* to = text.Resize(head.size() + (end - prefix) + tensor.bytes());
  to = std::copy(head.begin(), head.end(), to);
  to = std::copy(static_cast<const uint8_t*>(prefix), end, to);
  std::memcpy(to, tensor.raw(), tensor.bytes());
  return text;
}

}  // namespace penstock

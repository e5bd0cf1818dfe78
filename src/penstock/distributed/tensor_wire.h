// Tensors inside of messages, read and written field by field, so that a tensor's numbers go from its buffer to the
// socket and from the socket into the buffer of another one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/rpc/message.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

void AppendVarint(uint64_t value, std::string* bytes);
void AppendVarintField(int field, uint64_t value, std::string* bytes);
void AppendBytesField(int field, std::string_view value, std::string* bytes);

// A TensorProto: `head`, then `size` bytes of `buffer` if there is one.
struct EncodedTensor {
  std::string head;
  Ref<Buffer> buffer;
  size_t offset = 0, size = 0;
  size_t bytes() const { return head.size() + size; }
};
// Type, shape and, last, the contents: numbers as they are in memory, strings as their lengths and then their bytes.
EncodedTensor EncodeTensor(const Tensor& tensor);
// A message {name = 1, tensor = 2} as field `field`.
void AppendNamedTensor(int field, std::string_view name, const Tensor& tensor, rpc::Message* message);

// A TensorProto's tensor. InvalidArgument: malformed.
Tensor DecodeTensor(std::string_view bytes);
// The same of {name = 1, tensor = 2}.
std::pair<std::string, Tensor> DecodeNamedTensor(std::string_view bytes);
// Calls `take` with each value of the field `field`, a message or string; returns the message without them.
// InvalidArgument: malformed.
std::string TakeFields(std::string_view message, int field, const std::function<void(std::string_view)>& take);

// RecvTensorResponse: small fields, then the tensor. A dead value has no content.
rpc::Message EncodeReceived(const Tensor& value, bool is_dead);

// Reads a RecvTensorResponse. Large contents are received into the tensor's buffer.
class ReceivedReader {
 public:
  // For CallOptions::place; to be called before Read, on one thread after the other.
  rpc::Placement Place(std::string_view head, size_t size);
  // The value, and whether it is dead. InvalidArgument: malformed.
  std::pair<Tensor, bool> Read(const rpc::Incoming& body);

 private:
  Tensor tensor_;
};

}  // namespace penstock

// Fields of serialized messages whose type is known only when the program runs, as tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock {

class MessageFields {
 public:
  // Some fields (or extensions, by their full names) of a message type. `source` says where that is defined: "local://"
  // or "" for the messages that this library is built with, "bytes://" and a FileDescriptorSet, or the name of a file
  // with one. InvalidArgument: no such source, message or field.
  MessageFields(const std::string& source, const std::string& message, const std::vector<std::string>& names);
  ~MessageFields();
  MessageFields(const MessageFields&) = delete;
  MessageFields& operator=(const MessageFields&) = delete;

  size_t size() const;
  // Whether a tensor of this type can hold the values of field i.
  bool Fits(size_t i, DataType dtype) const;
  std::string FullName(size_t i) const;
  std::string TypeName(size_t i) const;

  struct Decoded {
    Tensor sizes;                // [messages' shape, fields] int32: how often a field is in a message
    std::vector<Tensor> values;  // of each field [messages' shape, most values]; defaults where there are fewer
  };
  // `types` must fit. `text`: the messages are in text form; `sanitize`: they are read as messages first, which checks
  // more. DataLoss: not a message.
  Decoded Decode(const Tensor& messages, const std::vector<DataType>& types, bool text, bool sanitize) const;
  // The other way round: values of types that fit, [messages' shape, most values], of which each message gets
  // sizes[message, field]. Shapes are the caller's to check.
  Tensor Encode(const Tensor& sizes, const std::vector<Tensor>& values, const Shape& messages) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock

#include "penstock/io/message_fields.h"

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

class DecodeProto : public Kernel {
 public:
  explicit DecodeProto(const NodeView& node)
      : types_(node.attr<std::vector<DataType>>("output_types")),
        fields_(node.attr<std::string>("descriptor_source"), node.attr<std::string>("message_type"),
                node.attr<std::vector<std::string>>("field_names")),
        sanitize_(node.attr<bool>("sanitize")) {
    KernelContext::Require(types_.size() == fields_.size(),
                           "field_names and output_types attributes must have the same length");
    for (size_t i = 0; i < types_.size(); ++i) {
      KernelContext::Require(fields_.Fits(i, types_[i]), "Unexpected output type for ", fields_.FullName(i), ": ",
                             fields_.TypeName(i), " to ", types_[i]);
    }
    const auto format = node.attr<std::string>("message_format");
    KernelContext::Require(format == "binary" || format == "text", "format must be one of binary or text");
    text_ = format == "text";
  }

  void Run(KernelContext& k) override {
    k.Require(k.input(0).num_elements() > 0, "Bufs argument must contain at least one value");
    MessageFields::Decoded decoded = fields_.Decode(k.input(0), types_, text_, sanitize_);
    k.SetOutput(0, std::move(decoded.sizes));
    for (size_t i = 0; i < types_.size(); ++i) {
      k.SetOutput(static_cast<int>(i) + 1, std::move(decoded.values[i]));
    }
  }

 private:
  const std::vector<DataType> types_;
  const MessageFields fields_;
  const bool sanitize_;
  bool text_ = false;
};

class EncodeProto : public Kernel {
 public:
  explicit EncodeProto(const NodeView& node)
      : names_(node.attr<std::vector<std::string>>("field_names")),
        fields_(node.attr<std::string>("descriptor_source"), node.attr<std::string>("message_type"), names_) {}

  void Run(KernelContext& k) override {
    const int n = static_cast<int>(names_.size());
    k.Require(k.num_inputs() - 1 == n, "Length of inputs list must match field_names");
    std::vector<Tensor> values;
    std::vector<int64_t> messages;
    for (int i = 0; i < n; ++i) {
      const Tensor& value = values.emplace_back(k.input(i + 1));
      k.Require(fields_.Fits(i, value.dtype()), "Incompatible type for field ", names_[i],
                ".  Saw dtype: ", value.dtype(), " but field type is: ", fields_.TypeName(i));
      k.Require(value.rank() >= 2, "Invalid shape for field ", names_[i], ".  Saw shape ", value.shape(),
                " but it should be at least a matrix.");
      const std::vector<int64_t> dims(value.shape().dims().begin(), value.shape().dims().end() - 1);
      if (i == 0) messages = dims;
      k.Require(dims == messages, "Values must match up to the last dimension");
    }
    std::vector<int64_t> expected = messages;
    expected.push_back(n);
    k.Require(k.shape(0) == Shape(expected), "sizes should be batch_size + [len(field_names)].  Saw: ", k.shape(0),
              " but expected: ", Shape(expected));
    const auto sizes = k.in<int32_t>(0);
    for (size_t at = 0; at < sizes.size(); ++at) {
      const int i = static_cast<int>(at) % n;
      const int64_t most = values[i].dim(values[i].rank() - 1);
      k.Require(sizes[at] <= most, "Size to write must not be larger than value tensor; but saw: ", sizes[at], " > ",
                most, " at message ", static_cast<int>(at) / n, " field ", i);
    }
    k.SetOutput(0, fields_.Encode(k.input(0), values, Shape(messages)));
  }

 private:
  const std::vector<std::string> names_;
  const MessageFields fields_;
};

}  // namespace

void RegisterMessageFieldsKernels(KernelRegistry& kernels) {
  kernels.Add<DecodeProto>("DecodeProtoV2");
  kernels.Add<EncodeProto>("EncodeProto");
}

}  // namespace penstock

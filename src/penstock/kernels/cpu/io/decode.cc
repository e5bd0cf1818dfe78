// CSV lines, Examples in JSON, compressed bytes and serialized tensors.
#include "penstock/base/long_work.h"
#include "penstock/base/parse_number.h"
#include "penstock/io/byte_stream.h"
#include "penstock/io/convert.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/io/example_json.h"
#include "penstock/kernels/cpu/strings/map_strings.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

class DecodeCsv {
 public:
  explicit DecodeCsv(const NodeView& node)
      : quotes_(node.attr<bool>("use_quote_delim")),
        missing_(node.attr<std::string>("na_value")),
        columns_(node.attr<std::vector<int64_t>>("select_cols")) {
    const auto& delimiter = node.attr<std::string>("field_delim");
    if (delimiter.size() != 1) throw InvalidArgument("field_delim should be only 1 char");
    delimiter_ = delimiter[0];
    if (node.num_outputs() < 1) throw InvalidArgument("Out type must be provided");
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] < 0) throw InvalidArgument("select_cols should be non-negative indices");
      if (i > 0 && columns_[i] <= columns_[i - 1])
        throw InvalidArgument("select_cols should be strictly increasing indices");
    }
    if (!columns_.empty() && static_cast<int>(columns_.size()) != node.num_outputs()) {
      throw InvalidArgument("select_cols should match output size");
    }
  }

  void operator()(KernelContext& k) const {
    const auto records = k.in<TString>(0);
    const int n = k.num_outputs();
    std::vector<Tensor> out;
    for (int f = 0; f < n; ++f) {
      const Tensor& fallback = k.input(f + 1);
      k.Require(fallback.rank() <= 1, "Each record default should be at most rank 1");
      k.Require(fallback.num_elements() < 2, "There should only be 1 default per field but field ", f, " has ",
                fallback.num_elements());
      out.emplace_back(k.node().output_type(f), k.shape(0));
    }
    for (size_t i = 0; i < records.size(); ++i) {
      const std::vector<std::string> fields = Fields(records[i].view());
      k.Require(static_cast<int>(fields.size()) == n, "Expect ", n, " fields but have ", fields.size(), " in record ",
                i);
      for (int f = 0; f < n; ++f) {
        if (fields[f].empty() || fields[f] == missing_) {
          k.Require(k.input(f + 1).num_elements() == 1, "Field ", f, " is required but missing in record ", i, "!");
          CopyElements(k.input(f + 1), 0, 1, &out[f], static_cast<int64_t>(i));
        } else if (!Put(fields[f], &out[f], i)) {
          throw InvalidArgument("Field ", f, " in record ", i, " is not a valid ", out[f].dtype(), ": ", fields[f]);
        }
      }
    }
    for (int f = 0; f < n; ++f) k.SetOutput(f, out[f]);
  }

 private:
  static bool Put(const std::string& field, Tensor* to, size_t i) {
    switch (to->dtype()) {
      case DT_INT32: return ParseNumber(field, &to->mutable_data<int32_t>()[i]);
      case DT_INT64: return ParseNumber(field, &to->mutable_data<int64_t>()[i]);
      case DT_FLOAT: return ParseNumber(field, &to->mutable_data<float>()[i]);
      case DT_DOUBLE: return ParseNumber(field, &to->mutable_data<double>()[i]);
      case DT_STRING: to->mutable_data<TString>()[i] = std::string_view(field); return true;
      default: throw InvalidArgument("csv: data type ", to->dtype(), " not supported");
    }
  }

  // The chosen fields of one record (RFC 4180).
  std::vector<std::string> Fields(std::string_view record) const {
    std::vector<std::string> fields;
    int64_t number = 0;
    const auto wanted = [&] {
      return columns_.empty() || (fields.size() < columns_.size() && columns_[fields.size()] == number);
    };
    size_t at = 0;
    while (at < record.size()) {
      if (record[at] == '\n' || record[at] == '\r') {
        ++at;
        continue;
      }
      std::string field = quotes_ && record[at] == '"' ? Quoted(record, &at) : Plain(record, &at);
      if (wanted()) {
        fields.push_back(std::move(field));
        if (fields.size() == columns_.size()) return fields;
      }
      ++number;
    }
    // A delimiter at the end stands before an empty field.
    if (!record.empty() && record.back() == delimiter_ && wanted()) fields.emplace_back();
    return fields;
  }

  // A field, up to behind the delimiter that ends it.
  std::string Plain(std::string_view record, size_t* at) const {
    const size_t end = std::min(record.find(delimiter_, *at), record.size());
    std::string field(record.substr(*at, end - *at));
    if (field.find_first_of(quotes_ ? "\"\r\n" : "\r\n") != field.npos) {
      throw InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside");
    }
    *at = end + 1;
    return field;
  }

  std::string Quoted(std::string_view record, size_t* at) const {
    std::string field;
    for (size_t i = *at + 1; i < record.size(); ++i) {
      if (record[i] != '"') {
        field += record[i];
      } else if (i + 1 == record.size() || record[i + 1] == delimiter_) {
        *at = i + 2;
        return field;
      } else if (record[++i] == '"') {
        field += '"';
      } else {
        throw InvalidArgument("Quote inside a string has to be escaped by another quote");
      }
    }
    throw InvalidArgument("Quoted field has to end with quote followed by delim or end");
  }

  const bool quotes_;
  const std::string missing_;
  const std::vector<int64_t> columns_;
  char delimiter_;
};

struct DecodeCompressed {
  Compression compression;
  explicit DecodeCompressed(const NodeView& node)
      : compression(CompressionFromName(node.attr<std::string>("compression_type"))) {}
  void operator()(KernelContext& k) const {
    LongWork::Begins();
    DecompressionLimit limit;
    MapStrings(
        k, [&](std::string_view in, TString& out) { out = TString(Decompress(std::string(in), compression, &limit)); });
  }
};

struct DecodeJsonExample {
  void operator()(KernelContext& k) const {
    MapStrings(k, [](std::string_view in, TString& out) { out = TString(ExampleFromJson(in)); });
  }
};

struct ParseTensorKernel {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0, "Expected `serialized` to be a scalar, got shape: ", k.shape(0));
    const std::string_view bytes = k.Scalar<TString>(0).view();
    Tensor tensor;
    try {
      tensor = ParseTensor(bytes);
    } catch (const Error&) {
      throw InvalidArgument("Could not parse `serialized` as TensorProto: '", bytes, "'");
    }
    k.Require(tensor.dtype() == k.node().output_type(0), "Type mismatch between parsed tensor (", tensor.dtype(),
              ") and dtype (", k.node().output_type(0), ")");
    k.SetOutput(0, tensor);
  }
};

struct SerializeTensorKernel {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const bool strings = in.dtype() == DT_STRING;
    k.SetOutput(0, Tensor(strings ? TString(SerializeTensor(in)) : SerializePackedTensor(in)));
  }
};

}  // namespace

void RegisterDecodeKernels(KernelRegistry& kernels) {
  kernels.Add<DecodeCsv>("DecodeCSV");
  kernels.Add<DecodeJsonExample>("DecodeJSONExample");
  kernels.Add<DecodeCompressed>("DecodeCompressed");
  kernels.Add<ParseTensorKernel>("ParseTensor");
  kernels.Add<SerializeTensorKernel>("SerializeTensor");
}

}  // namespace penstock

#include "penstock/io/message_fields.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/descriptor_database.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/wire_format_lite.h"
#include "penstock/io/files.h"

namespace penstock {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;
using Input = pb::io::CodedInputStream;
using Output = pb::io::CodedOutputStream;

constexpr std::string_view kLocal = "local://", kBytes = "bytes://";

// What went wrong is said in the exception; nothing is logged.
class Silent : public pb::DescriptorPool::ErrorCollector, public pb::io::ErrorCollector {
 public:
  void AddError(const std::string&, const std::string&, const pb::Message*, ErrorLocation,
                const std::string&) override {}
  void AddError(int, int, const std::string&) override {}
};

// A number of any kind: integers sign-extended, floating ones as the bits of a double.
uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

// The next value of a field of numbers; nullopt at a malformed one.
std::optional<uint64_t> ReadNumber(Input& in, Wire::FieldType type) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  switch (type) {
    case Wire::TYPE_DOUBLE:
    case Wire::TYPE_FIXED64:
    case Wire::TYPE_SFIXED64:
      if (!in.ReadLittleEndian64(&wide)) return std::nullopt;
      return wide;
    case Wire::TYPE_FLOAT:
      if (!in.ReadLittleEndian32(&narrow)) return std::nullopt;
      return Bits(std::bit_cast<float>(narrow));
    case Wire::TYPE_FIXED32:
      if (!in.ReadLittleEndian32(&narrow)) return std::nullopt;
      return narrow;
    case Wire::TYPE_SFIXED32:
      if (!in.ReadLittleEndian32(&narrow)) return std::nullopt;
      return static_cast<uint64_t>(static_cast<int32_t>(narrow));
    default: break;
  }
  if (!in.ReadVarint64(&wide)) return std::nullopt;
  switch (type) {
    case Wire::TYPE_INT32:
    case Wire::TYPE_ENUM: return static_cast<uint64_t>(static_cast<int32_t>(wide));
    case Wire::TYPE_UINT32: return static_cast<uint32_t>(wide);
    case Wire::TYPE_SINT32: return static_cast<uint64_t>(Wire::ZigZagDecode32(static_cast<uint32_t>(wide)));
    case Wire::TYPE_SINT64: return static_cast<uint64_t>(Wire::ZigZagDecode64(wide));
    case Wire::TYPE_BOOL: return wide != 0;
    default: return wide;
  }
}

void StoreNumber(uint64_t value, Tensor& to, int64_t at) {
  switch (to.dtype()) {
    case DT_DOUBLE: to.mutable_data<double>()[at] = std::bit_cast<double>(value); break;
    case DT_FLOAT: to.mutable_data<float>()[at] = static_cast<float>(std::bit_cast<double>(value)); break;
    case DT_INT64: to.mutable_data<int64_t>()[at] = static_cast<int64_t>(value); break;
    case DT_UINT64: to.mutable_data<uint64_t>()[at] = value; break;
    case DT_INT32: to.mutable_data<int32_t>()[at] = static_cast<int32_t>(value); break;
    case DT_UINT32: to.mutable_data<uint32_t>()[at] = static_cast<uint32_t>(value); break;
    case DT_BOOL: to.mutable_data<bool>()[at] = value != 0; break;
    default: throw Internal("a field of numbers as ", to.dtype());
  }
}

uint64_t LoadNumber(const Tensor& from, int64_t at) {
  switch (from.dtype()) {
    case DT_DOUBLE: return Bits(from.data<double>()[at]);
    case DT_FLOAT: return Bits(from.data<float>()[at]);
    case DT_INT64: return static_cast<uint64_t>(from.data<int64_t>()[at]);
    case DT_UINT64: return from.data<uint64_t>()[at];
    case DT_INT32: return static_cast<uint64_t>(from.data<int32_t>()[at]);
    case DT_UINT32: return from.data<uint32_t>()[at];
    case DT_BOOL: return from.data<bool>()[at];
    default: throw Internal("a field of numbers from ", from.dtype());
  }
}

void WriteNumber(uint64_t value, Wire::FieldType type, Output& out) {
  switch (type) {
    case Wire::TYPE_DOUBLE:
    case Wire::TYPE_FIXED64:
    case Wire::TYPE_SFIXED64: out.WriteLittleEndian64(value); break;
    case Wire::TYPE_FLOAT:
      out.WriteLittleEndian32(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value))));
      break;
    case Wire::TYPE_FIXED32:
    case Wire::TYPE_SFIXED32: out.WriteLittleEndian32(static_cast<uint32_t>(value)); break;
    case Wire::TYPE_INT32:
    case Wire::TYPE_ENUM: out.WriteVarint64(static_cast<uint64_t>(static_cast<int32_t>(value))); break;
    case Wire::TYPE_UINT32: out.WriteVarint32(static_cast<uint32_t>(value)); break;
    case Wire::TYPE_SINT32: out.WriteVarint32(Wire::ZigZagEncode32(static_cast<int32_t>(value))); break;
    case Wire::TYPE_SINT64: out.WriteVarint64(Wire::ZigZagEncode64(static_cast<int64_t>(value))); break;
    default: out.WriteVarint64(value); break;
  }
}

uint64_t DefaultNumber(const pb::FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return Bits(field.default_value_double());
    case pb::FieldDescriptor::CPPTYPE_FLOAT: return Bits(field.default_value_float());
    case pb::FieldDescriptor::CPPTYPE_INT32: return static_cast<uint64_t>(field.default_value_int32());
    case pb::FieldDescriptor::CPPTYPE_INT64: return static_cast<uint64_t>(field.default_value_int64());
    case pb::FieldDescriptor::CPPTYPE_UINT32: return field.default_value_uint32();
    case pb::FieldDescriptor::CPPTYPE_UINT64: return field.default_value_uint64();
    case pb::FieldDescriptor::CPPTYPE_BOOL: return field.default_value_bool();
    case pb::FieldDescriptor::CPPTYPE_ENUM: return static_cast<uint64_t>(field.default_value_enum()->number());
    default: return 0;
  }
}

bool IsText(const pb::FieldDescriptor& field) {
  return field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING ||
         field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
}

// What one message has of one field.
struct Found {
  std::vector<uint64_t> numbers;
  std::vector<std::string_view> texts;
  size_t size() const { return numbers.size() + texts.size(); }
};

void ReadPacked(Input& in, std::string_view bytes, const pb::FieldDescriptor& field, Found* found) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length) || length > bytes.size()) {
    throw DataLoss("CollectField: Failed reading packed size");
  }
  const size_t at = static_cast<size_t>(in.CurrentPosition());
  if (!in.Skip(static_cast<int>(length))) throw DataLoss("ReadPackedValues: Skipping packed field failed");
  const auto type = static_cast<Wire::FieldType>(field.type());
  const Wire::WireType wire = Wire::WireTypeForFieldType(type);
  const uint32_t unit = wire == Wire::WIRETYPE_FIXED64 ? 8 : wire == Wire::WIRETYPE_FIXED32 ? 4 : 1;
  if (length % unit != 0) throw DataLoss("Illegal data length for packed fixed-size type: ", length);
  Input part(reinterpret_cast<const uint8_t*>(bytes.data() + at), static_cast<int>(length));
  while (part.CurrentPosition() < static_cast<int>(length)) {
    const auto value = ReadNumber(part, type);
    if (!value) throw DataLoss("Corrupt packed varint");
    if (!field.is_repeated()) found->numbers.clear();
    found->numbers.push_back(*value);
  }
}

// The bytes of a group, whose start has been read.
std::string_view ReadGroup(Input& in, std::string_view bytes, int number) {
  const int begin = in.CurrentPosition();
  for (;;) {
    const int end = in.CurrentPosition();
    const uint32_t tag = in.ReadTag();
    if (tag == Wire::MakeTag(number, Wire::WIRETYPE_END_GROUP)) {
      return bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    }
    if (tag == 0 || !Wire::SkipField(&in, tag)) throw DataLoss("ReadValue: Failed skipping field when counting");
  }
}

void ReadText(Input& in, std::string_view bytes, const pb::FieldDescriptor& field, Found* found) {
  std::string_view text;
  if (field.type() == pb::FieldDescriptor::TYPE_GROUP) {
    text = ReadGroup(in, bytes, field.number());
  } else {
    uint32_t length = 0;
    bool ok = in.ReadVarint32(&length) && length <= bytes.size();
    const size_t at = static_cast<size_t>(in.CurrentPosition());
    ok = ok && in.Skip(static_cast<int>(length));
    if (!ok) throw DataLoss("ReadValue: Failed skipping field when counting");
    text = bytes.substr(at, length);
  }
  if (!field.is_repeated()) found->texts.clear();
  found->texts.push_back(text);
}

}  // namespace

struct MessageFields::Impl {
  std::unique_ptr<pb::SimpleDescriptorDatabase> database;
  std::unique_ptr<pb::DescriptorPool> own_pool;
  const pb::DescriptorPool* pool = nullptr;
  const pb::Descriptor* message = nullptr;
  std::vector<const pb::FieldDescriptor*> fields;
  mutable pb::DynamicMessageFactory factory;

  void OpenSource(const std::string& source) {
    if (source.empty() || source == kLocal) {
      pool = pb::DescriptorPool::generated_pool();
      return;
    }
    pb::FileDescriptorSet files;
    bool read = false;
    if (source.starts_with(kBytes)) {
      read = files.ParseFromString(source.substr(kBytes.size()));
    } else {
      try {
        read = files.ParseFromString(ReadWholeFile(source));
      } catch (const Error&) {
        read = false;
      }
    }
    if (!read || files.file_size() == 0) {
      throw InvalidArgument("Source does not represent serialized file descriptor set proto: ", source.substr(0, 200));
    }
    database = std::make_unique<pb::SimpleDescriptorDatabase>();
    for (const auto& file : files.file()) {
      if (!database->Add(file)) throw InvalidArgument("Failed to load FileDescriptorProto: ", file.name());
    }
    static Silent silent;
    own_pool = std::make_unique<pb::DescriptorPool>(database.get(), &silent);
    pool = own_pool.get();
  }

  const pb::FieldDescriptor* FindField(const std::string& name) const {
    if (const auto* field = message->FindFieldByName(name)) return field;
    const auto* extension = pool->FindExtensionByName(name);
    return extension && extension->containing_type() == message ? extension : nullptr;
  }

  // A message as bytes, whatever form it has.
  std::string Read(std::string_view from, bool text) const {
    const std::unique_ptr<pb::Message> parsed(factory.GetPrototype(message)->New());
    std::string bytes;
    if (text) {
      pb::TextFormat::Parser parser;
      Silent silent;
      parser.RecordErrorsTo(&silent);
      if (!parser.ParseFromString(std::string(from), parsed.get())) throw DataLoss("Unable to parse text protobuf");
    } else if (!parsed->ParseFromString(std::string(from))) {
      throw DataLoss("Unable to parse binary protobuf");
    }
    if (!parsed->SerializeToString(&bytes)) throw DataLoss("Unable to reserialize text proto as binary");
    return bytes;
  }

  std::vector<Found> Collect(std::string_view bytes) const {
    std::vector<Found> found(fields.size());
    if (bytes.size() > INT_MAX) throw DataLoss("a message of ", bytes.size(), " bytes is too large");
    Input in(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    for (;;) {
      const uint32_t tag = in.ReadTag();
      const Wire::WireType wire = Wire::GetTagWireType(tag);
      if (tag == 0 || wire == Wire::WIRETYPE_END_GROUP) break;
      bool wanted = false;
      for (size_t i = 0; i < fields.size(); ++i) {
        const pb::FieldDescriptor& field = *fields[i];
        if (field.number() != Wire::GetTagFieldNumber(tag)) continue;
        const auto type = static_cast<Wire::FieldType>(field.type());
        const Wire::WireType expected = Wire::WireTypeForFieldType(type);
        const bool packed =
            wire == Wire::WIRETYPE_LENGTH_DELIMITED && expected != wire && expected != Wire::WIRETYPE_START_GROUP;
        if (wire != expected && !packed) continue;
        if (wanted) {  // a field that was asked for twice
          found[i] = found[static_cast<size_t>(std::ranges::find(fields, &field) - fields.begin())];
          continue;
        }
        wanted = true;
        if (packed) {
          ReadPacked(in, bytes, field, &found[i]);
        } else if (IsText(field)) {
          ReadText(in, bytes, field, &found[i]);
        } else {
          const auto value = ReadNumber(in, type);
          if (!value) throw DataLoss("ReadValue: Failed skipping field when counting");
          if (!field.is_repeated()) found[i].numbers.clear();
          found[i].numbers.push_back(*value);
        }
      }
      if (!wanted && !Wire::SkipField(&in, tag)) throw DataLoss("Failed skipping unrequested field");
    }
    if (!in.ConsumedEntireMessage()) throw DataLoss("CountFields: Failed to consume entire buffer");
    return found;
  }
};

MessageFields::MessageFields(const std::string& source, const std::string& message,
                             const std::vector<std::string>& names)
    : impl_(std::make_unique<Impl>()) {
  impl_->OpenSource(source);
  impl_->message = impl_->pool->FindMessageTypeByName(message);
  if (!impl_->message) throw InvalidArgument("No descriptor found for message type ", message);
  for (const std::string& name : names) {
    const auto* field = impl_->FindField(name);
    if (!field) throw InvalidArgument("Unknown field: ", name, " in message type ", message);
    impl_->fields.push_back(field);
  }
}

MessageFields::~MessageFields() = default;

size_t MessageFields::size() const { return impl_->fields.size(); }
std::string MessageFields::FullName(size_t i) const { return impl_->fields[i]->full_name(); }
std::string MessageFields::TypeName(size_t i) const { return impl_->fields[i]->type_name(); }

bool MessageFields::Fits(size_t i, DataType dtype) const {
  const pb::FieldDescriptor& field = *impl_->fields[i];
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: return dtype == DT_DOUBLE;
    case pb::FieldDescriptor::CPPTYPE_FLOAT: return dtype == DT_FLOAT || dtype == DT_DOUBLE;
    case pb::FieldDescriptor::CPPTYPE_INT32: return dtype == DT_INT32 || dtype == DT_INT64;
    case pb::FieldDescriptor::CPPTYPE_INT64: return dtype == DT_INT64;
    case pb::FieldDescriptor::CPPTYPE_UINT32: return dtype == DT_UINT32 || dtype == DT_UINT64;
    case pb::FieldDescriptor::CPPTYPE_UINT64: return dtype == DT_UINT64;
    case pb::FieldDescriptor::CPPTYPE_BOOL: return dtype == DT_BOOL;
    case pb::FieldDescriptor::CPPTYPE_ENUM: return dtype == DT_INT32;
    case pb::FieldDescriptor::CPPTYPE_STRING:
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: return dtype == DT_STRING;
  }
  return false;
}

MessageFields::Decoded MessageFields::Decode(const Tensor& messages, const std::vector<DataType>& types, bool text,
                                             bool sanitize) const {
  const int64_t count = messages.num_elements();
  const size_t n = size();
  std::vector<std::string> read;  // what the views in `found` look at
  std::vector<std::vector<Found>> found;
  std::vector<int64_t> most(n, 1);
  if (text || sanitize) {
    for (const TString& message : messages.flat<TString>()) read.push_back(impl_->Read(message.view(), text));
  }
  for (int64_t m = 0; m < count; ++m) {
    found.push_back(impl_->Collect(read.empty() ? messages.data<TString>()[m].view() : std::string_view(read[m])));
    for (size_t i = 0; i < n; ++i) most[i] = std::max(most[i], static_cast<int64_t>(found.back()[i].size()));
  }
  std::vector<int64_t> dims(messages.shape().dims().begin(), messages.shape().dims().end());
  dims.push_back(static_cast<int64_t>(n));
  Decoded decoded{Tensor(DT_INT32, Shape(dims)), {}};
  for (size_t i = 0; i < n; ++i) {
    dims.back() = most[i];
    Tensor& values = decoded.values.emplace_back(types[i], Shape(dims));
    const pb::FieldDescriptor& field = *impl_->fields[i];
    const bool is_text = IsText(field), has_default = field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING;
    for (int64_t m = 0; m < count; ++m) {
      const Found& from = found[m][i];
      const int64_t have = static_cast<int64_t>(from.size());
      decoded.sizes.mutable_data<int32_t>()[m * static_cast<int64_t>(n) + static_cast<int64_t>(i)] =
          static_cast<int32_t>(have);
      for (int64_t j = 0; j < most[i]; ++j) {
        const int64_t at = m * most[i] + j;
        if (is_text) {
          values.mutable_data<TString>()[at] =
              TString(j < have ? from.texts[j] : std::string_view(has_default ? field.default_value_string() : ""));
        } else {
          StoreNumber(j < have ? from.numbers[j] : DefaultNumber(field), values, at);
        }
      }
    }
  }
  return decoded;
}

Tensor MessageFields::Encode(const Tensor& sizes, const std::vector<Tensor>& values, const Shape& messages) const {
  const int64_t n = static_cast<int64_t>(size());
  std::vector<int64_t> order(static_cast<size_t>(n));  // fields are written by their numbers
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return impl_->fields[i]->number(); });
  Tensor result(DT_STRING, messages);
  for (int64_t m = 0; m < messages.num_elements(); ++m) {
    std::string bytes;
    {
      pb::io::StringOutputStream stream(&bytes);
      Output out(&stream);
      for (const int64_t i : order) {
        const pb::FieldDescriptor& field = *impl_->fields[i];
        const auto type = static_cast<Wire::FieldType>(field.type());
        const int64_t first = m * values[i].dim(values[i].rank() - 1), have = sizes.data<int32_t>()[m * n + i];
        if (have <= 0) continue;
        if (field.options().packed() && !IsText(field)) {
          std::string packed;
          {
            pb::io::StringOutputStream inner(&packed);
            Output numbers(&inner);
            for (int64_t j = 0; j < have; ++j) WriteNumber(LoadNumber(values[i], first + j), type, numbers);
          }
          Wire::WriteBytes(field.number(), packed, &out);
          continue;
        }
        for (int64_t j = first; j < first + have; ++j) {
          if (!IsText(field)) {
            out.WriteTag(Wire::MakeTag(field.number(), Wire::WireTypeForFieldType(type)));
            WriteNumber(LoadNumber(values[i], j), type, out);
            continue;
          }
          const std::string text(values[i].data<TString>()[j].view());
          if (type == Wire::TYPE_GROUP) {
            out.WriteTag(Wire::MakeTag(field.number(), Wire::WIRETYPE_START_GROUP));
            out.WriteRaw(text.data(), static_cast<int>(text.size()));
            out.WriteTag(Wire::MakeTag(field.number(), Wire::WIRETYPE_END_GROUP));
          } else {
            Wire::WriteBytes(field.number(), text, &out);
          }
        }
      }
    }
    result.mutable_data<TString>()[m] = TString(bytes);
  }
  return result;
}

}  // namespace penstock

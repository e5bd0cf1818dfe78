#include "penstock/io/slice_table.h"

#include "penstock/io/files.h"
#include "penstock/io/messages.h"
#include "penstock/io/slice_key.h"
#include "penstock/io/table.h"
#include "tensorflow/core/util/saved_tensor_slice.pb.h"

namespace penstock {
namespace {

template <class T, class Field>
void Fill(const Tensor& tensor, Field* field) {
  for (const T& v : tensor.flat<T>()) field->Add(v);
}

template <class C, class Field>
void FillComplex(const Tensor& tensor, Field* field) {
  for (const C& v : tensor.flat<C>()) {
    field->Add(v.real());
    field->Add(v.imag());
  }
}

// Only lists of values, without type and shape: readers of this format look for nothing else.
void ToLists(const Tensor& tensor, tensorflow::TensorProto* proto) {
  switch (BaseType(tensor.dtype())) {
    case DT_FLOAT: return Fill<float>(tensor, proto->mutable_float_val());
    case DT_DOUBLE: return Fill<double>(tensor, proto->mutable_double_val());
    case DT_INT32:
    case DT_QINT32: return Fill<int32_t>(tensor, proto->mutable_int_val());
    case DT_INT16: return Fill<int16_t>(tensor, proto->mutable_int_val());
    case DT_UINT16: return Fill<uint16_t>(tensor, proto->mutable_int_val());
    case DT_INT8:
    case DT_QINT8: return Fill<int8_t>(tensor, proto->mutable_int_val());
    case DT_UINT8:
    case DT_QUINT8: return Fill<uint8_t>(tensor, proto->mutable_int_val());
    case DT_INT64: return Fill<int64_t>(tensor, proto->mutable_int64_val());
    case DT_BOOL: return Fill<bool>(tensor, proto->mutable_bool_val());
    case DT_COMPLEX64: return FillComplex<std::complex<float>>(tensor, proto->mutable_scomplex_val());
    case DT_COMPLEX128: return FillComplex<std::complex<double>>(tensor, proto->mutable_dcomplex_val());
    case DT_HALF:
      for (const Half v : tensor.flat<Half>()) proto->add_half_val(v.bits);
      return;
    case DT_STRING:
      for (const TString& v : tensor.flat<TString>()) proto->add_string_val(v.str());
      return;
    default: throw Unimplemented("Saving data type ", tensor.dtype(), " not yet supported");
  }
}

int NumValues(const tensorflow::TensorProto& proto) {
  return proto.float_val_size() + proto.double_val_size() + proto.int_val_size() + proto.int64_val_size() +
         proto.bool_val_size() + proto.half_val_size() + proto.string_val_size() + proto.uint32_val_size() +
         proto.uint64_val_size() + proto.scomplex_val_size() / 2 + proto.dcomplex_val_size() / 2;
}

}  // namespace

void SliceTableWriter::Add(std::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor) {
  if (tensor.shape() != slice.Apply(full)) {
    throw InvalidArgument("the part ", slice.ToString(), " of shape ", full, " of '", name, "' has a value of shape ",
                          tensor.shape());
  }
  const auto [it, fresh] = wholes_.try_emplace(std::string(name), Whole{tensor.dtype(), full, {}});
  if (!fresh && (it->second.dtype != tensor.dtype() || it->second.shape != full)) {
    throw Internal("Mismatching shapes or types for parts of ", name);
  }
  const std::string key = SliceKey(name, slice);
  if (records_.contains(key)) throw InvalidArgument("Adding duplicate slice ", slice.ToString(), " of ", name);
  // An integer may take ten bytes in a message.
  const int64_t bound = 1024 + (IsInteger(tensor.dtype()) ? 10 * tensor.num_elements() : tensor.bytes());
  if (bound > int64_t{1} << 31) {
    throw InvalidArgument("Tensor slice is too large to serialize (conservative estimate: ", bound, " bytes): ", name);
  }
  it->second.slices.push_back(slice);
  tensorflow::SavedTensorSlices record;
  record.mutable_data()->set_name(std::string(name));
  ToProto(slice, record.mutable_data()->mutable_slice());
  ToLists(tensor, record.mutable_data()->mutable_data());
  records_[key] = SerializeMessage(record);
}

void SliceTableWriter::Finish() {
  tensorflow::SavedTensorSlices header;
  header.mutable_meta()->mutable_versions()->set_producer(1);
  for (const auto& [name, whole] : wholes_) {
    auto* tensor = header.mutable_meta()->add_tensor();
    tensor->set_name(name);
    ToProto(PartialShape(whole.shape), tensor->mutable_shape());
    tensor->set_type(static_cast<tensorflow::DataType>(whole.dtype));
    for (const TensorSlice& slice : whole.slices) ToProto(slice, tensor->add_slice());
  }
  const std::string_view directory = DirectoryOf(path_);
  if (!directory.empty() && !FileExists(std::string(directory))) {
    throw NotFound(path_, "; No such file or directory");
  }
  OutputFile file(path_);
  TableWriter table(&file);
  table.Add("", SerializeMessage(header));
  for (const auto& [key, record] : records_) table.Add(key, record);
  table.Finish();
  file.Commit();
  RemoveAbandoned(std::string(directory));
}

SliceTableReader::SliceTableReader(const std::string& pattern) {
  const std::vector<std::string> paths = FileExists(pattern) ? std::vector{pattern} : MatchingPaths(pattern);
  if (paths.empty()) {
    throw NotFound("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ", pattern);
  }
  for (const std::string& path : paths) {
    auto table = ReadTable(path);
    if (table.empty() || !table[0].first.empty()) throw DataLoss("the checkpoint ", path, " has no header");
    tensorflow::SavedTensorSlices header;
    ParseMessage(table[0].second, &header);
    std::map<std::string_view, std::string*> records;
    for (auto& [key, record] : table) records[key] = &record;
    for (const auto& tensor : header.meta().tensor()) {
      Entry& entry = entries_[tensor.name()];
      const Shape shape = FromProto(tensor.shape()).AsShape();
      const auto dtype = static_cast<DataType>(tensor.type());
      if (entry.dtype == DT_INVALID) {
        entry.dtype = dtype;
        entry.shape = shape;
      } else if (entry.dtype != dtype || entry.shape != shape) {
        throw DataLoss("the files of ", pattern, " differ in type or shape of '", tensor.name(), "'");
      }
      for (const auto& part : tensor.slice()) {
        TensorSlice slice = FromProto(part);
        slice.Apply(shape);  // checks
        const auto record = records.find(SliceKey(tensor.name(), slice));
        if (record == records.end()) {
          throw DataLoss("the part ", slice.ToString(), " of '", tensor.name(), "' is missing in ", path);
        }
        entry.parts.emplace_back(std::move(slice), std::move(*record->second));
      }
    }
  }
  for (const auto& [name, entry] : entries_) {
    std::vector<TensorSlice> slices;
    for (const auto& [slice, record] : entry.parts) slices.push_back(slice);
    CheckDisjoint(entry.shape, slices);
  }
}

const SliceTableReader::Entry* SliceTableReader::Find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

Tensor SliceTableReader::Read(std::string_view name) const {
  const Entry* entry = Find(name);
  return ReadSlice(name, TensorSlice::All(entry ? entry->shape.rank() : 0));
}

Tensor SliceTableReader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  const Entry* entry = Find(name);
  if (!entry) throw NotFound(name, " not found in checkpoint file");
  const Shape shape = slice.Apply(entry->shape);
  if (entry->dtype != DT_STRING && !IsPod(entry->dtype)) {
    throw Unimplemented("tensor '", name, "' of type ", entry->dtype, " in a checkpoint");
  }
  const auto incomplete = [&] {
    return NotFound("the checkpoint does not hold all of the part ", slice.ToString(), " of '", name, "'");
  };
  // What a forged shape claims is compared with what there is before memory is asked for.
  size_t stored_bytes = 0;
  for (const auto& [stored, record] : entry->parts) stored_bytes += record.size();
  if (static_cast<uint64_t>(shape.num_elements()) > stored_bytes) throw incomplete();
  Tensor result(entry->dtype, shape);
  int64_t copied = 0;
  for (const auto& [stored, record] : entry->parts) {
    tensorflow::SavedTensorSlices message;
    ParseMessage(record, &message);
    tensorflow::TensorProto* data = message.mutable_data()->mutable_data();
    const Shape part = stored.Apply(entry->shape);
    // Compared before memory is asked for: a list may not repeat its last value here.
    if (data->tensor_content().empty() && NumValues(*data) != part.num_elements()) {
      throw DataLoss("the part ", stored.ToString(), " of '", name, "' has ", NumValues(*data), " values, not ",
                     part.num_elements());
    }
    data->set_dtype(static_cast<tensorflow::DataType>(entry->dtype));
    ToProto(PartialShape(part), data->mutable_tensor_shape());
    const Tensor value = FromProto(*data);
    copied += CopyOverlap(entry->shape, stored, value, slice, &result);
  }
  if (copied < shape.num_elements()) throw incomplete();
  return result;
}

}  // namespace penstock

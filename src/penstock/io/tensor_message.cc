// TensorProto, TensorShapeProto and TensorSliceProto.
#include <algorithm>
#include <cstring>

#include "penstock/io/messages.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

// The first values of `field` as elements; the last one repeats, and without any all are zero. Further values are
// ignored.
template <class T, class Field, class Convert>
void FillFrom(const Field& field, Tensor* t, Convert convert) {
  const int64_t n = t->num_elements(), given = std::min<int64_t>(n, field.size());
  T* out = t->mutable_data<T>();
  for (int64_t i = 0; i < given; ++i) out[i] = convert(field[static_cast<int>(i)]);
  const T last = given ? out[given - 1] : T();
  std::fill(out + given, out + n, last);
}

template <class T, class Field>
void FillIntegers(const Field& field, Tensor* t) {
  FillFrom<T>(field, t, [](auto v) { return static_cast<T>(v); });
}

template <class C, class Field>
void FillComplex(const Field& field, Tensor* t) {
  const int64_t n = t->num_elements(), given = std::min<int64_t>(n, field.size() / 2);
  C* out = t->mutable_data<C>();
  for (int64_t i = 0; i < given; ++i) out[i] = C(field[static_cast<int>(2 * i)], field[static_cast<int>(2 * i + 1)]);
  std::fill(out + given, out + n, given ? out[given - 1] : C());
}

ResourceHandle HandleFrom(const tensorflow::ResourceHandleProto& proto) {
  ResourceHandle handle;
  handle.device = proto.device();
  handle.container = proto.container();
  handle.name = proto.name();
  handle.type_name = proto.maybe_type_name();
  for (const auto& item : proto.dtypes_and_shapes()) {
    handle.dtypes_and_shapes.push_back({static_cast<DataType>(item.dtype()), FromProto(item.shape())});
  }
  return handle;
}

void ToHandle(const ResourceHandle& handle, tensorflow::ResourceHandleProto* proto) {
  proto->set_device(handle.device);
  proto->set_container(handle.container);
  proto->set_name(handle.name);
  proto->set_maybe_type_name(handle.type_name);
  for (const DtypeAndShape& item : handle.dtypes_and_shapes) {
    auto* added = proto->add_dtypes_and_shapes();
    added->set_dtype(static_cast<tensorflow::DataType>(item.dtype));
    ToProto(item.shape, added->mutable_shape());
  }
}

// Packed strings: the length of each as a varint, then all their bytes.
std::vector<std::string_view> UnpackStrings(std::string_view content, int64_t n) {
  const auto fail = [&]() {
    return InvalidArgument("Cannot parse tensor from proto: ", content.size(), " bytes of tensor_content are no ", n,
                           " strings");
  };
  if (n > static_cast<int64_t>(content.size())) throw fail();
  std::vector<uint64_t> sizes;
  uint64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      if (content.empty() || shift > 28) throw fail();
      const auto byte = static_cast<uint8_t>(content.front());
      content.remove_prefix(1);
      size |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    sizes.push_back(size);
    total += size;
  }
  if (total != content.size()) throw fail();
  std::vector<std::string_view> strings;
  for (const uint64_t size : sizes) {
    strings.push_back(content.substr(0, size));
    content.remove_prefix(size);
  }
  return strings;
}

template <class Message, class T, class Convert>
void FillPackedMessages(std::string_view content, Tensor* t, Convert convert) {
  const auto items = UnpackStrings(content, t->num_elements());
  for (size_t i = 0; i < items.size(); ++i) {
    Message message;
    ParseMessage(items[i], &message);
    t->mutable_data<T>()[i] = convert(message);
  }
}

void FillFromContent(std::string_view content, Tensor* t) {
  switch (t->dtype()) {
    case DT_STRING: {
      const auto items = UnpackStrings(content, t->num_elements());
      std::copy(items.begin(), items.end(), t->mutable_data<TString>());
      return;
    }
    case DT_RESOURCE:
      return FillPackedMessages<tensorflow::ResourceHandleProto, ResourceHandle>(content, t, HandleFrom);
    case DT_VARIANT:
      return FillPackedMessages<tensorflow::VariantTensorDataProto, Variant>(
          content, t, [](const tensorflow::VariantTensorDataProto& v) { return FromProto(v); });
    default: break;
  }
  if (content.size() != t->bytes()) {
    throw InvalidArgument("Cannot parse tensor from proto: tensor_content has ", content.size(), " bytes, but a ",
                          t->dtype(), " tensor of shape ", t->shape(), " has ", t->bytes());
  }
  if (t->dtype() == DT_BOOL) {  // any byte but 0 and 1 would be no bool
    std::ranges::transform(content, static_cast<uint8_t*>(t->mutable_raw()), [](char c) { return c != 0; });
  } else if (!content.empty()) {
    std::memcpy(t->mutable_raw(), content.data(), content.size());
  }
}

void FillFromLists(const tensorflow::TensorProto& proto, Tensor* t) {
  switch (t->dtype()) {
    case DT_FLOAT: return FillIntegers<float>(proto.float_val(), t);
    case DT_DOUBLE: return FillIntegers<double>(proto.double_val(), t);
    case DT_INT32:
    case DT_QINT32: return FillIntegers<int32_t>(proto.int_val(), t);
    case DT_INT16:
    case DT_QINT16: return FillIntegers<int16_t>(proto.int_val(), t);
    case DT_UINT16:
    case DT_QUINT16: return FillIntegers<uint16_t>(proto.int_val(), t);
    case DT_INT8:
    case DT_QINT8:
    case DT_INT4:
    case DT_INT2: return FillIntegers<int8_t>(proto.int_val(), t);
    case DT_UINT8:
    case DT_QUINT8:
    case DT_UINT4:
    case DT_UINT2: return FillIntegers<uint8_t>(proto.int_val(), t);
    case DT_UINT32: return FillIntegers<uint32_t>(proto.uint32_val(), t);
    case DT_UINT64: return FillIntegers<uint64_t>(proto.uint64_val(), t);
    case DT_INT64: return FillIntegers<int64_t>(proto.int64_val(), t);
    case DT_BOOL: return FillIntegers<bool>(proto.bool_val(), t);
    case DT_HALF:
    case DT_BFLOAT16: return FillIntegers<uint16_t>(proto.half_val(), t);
    case DT_COMPLEX64: return FillComplex<Complex64>(proto.scomplex_val(), t);
    case DT_COMPLEX128: return FillComplex<Complex128>(proto.dcomplex_val(), t);
    case DT_FLOAT8_E5M2:
    case DT_FLOAT8_E4M3FN:
    case DT_FLOAT8_E4M3FNUZ:
    case DT_FLOAT8_E4M3B11FNUZ:
    case DT_FLOAT8_E5M2FNUZ: return FillIntegers<uint8_t>(proto.float8_val(), t);
    case DT_STRING: return FillFrom<TString>(proto.string_val(), t, [](const std::string& s) { return TString(s); });
    case DT_RESOURCE: return FillFrom<ResourceHandle>(proto.resource_handle_val(), t, HandleFrom);
    case DT_VARIANT:
      return FillFrom<Variant>(proto.variant_val(), t,
                               [](const tensorflow::VariantTensorDataProto& v) { return FromProto(v); });
    default: throw InvalidArgument("Cannot parse tensor from proto: type ", t->dtype(), " has no values");
  }
}

void ToLists(const Tensor& t, tensorflow::TensorProto* proto) {
  const auto add_all = [&](auto* field, const auto* values) {
    for (int64_t i = 0; i < t.num_elements(); ++i) field->Add(values[i]);
  };
  switch (t.dtype()) {
    case DT_FLOAT: return add_all(proto->mutable_float_val(), t.data<float>());
    case DT_DOUBLE: return add_all(proto->mutable_double_val(), t.data<double>());
    case DT_INT32:
    case DT_QINT32: return add_all(proto->mutable_int_val(), t.data<int32_t>());
    case DT_INT16:
    case DT_QINT16: return add_all(proto->mutable_int_val(), t.data<int16_t>());
    case DT_UINT16:
    case DT_QUINT16: return add_all(proto->mutable_int_val(), t.data<uint16_t>());
    case DT_INT8:
    case DT_QINT8:
    case DT_INT4:
    case DT_INT2: return add_all(proto->mutable_int_val(), t.data<int8_t>());
    case DT_UINT8:
    case DT_QUINT8:
    case DT_UINT4:
    case DT_UINT2: return add_all(proto->mutable_int_val(), t.data<uint8_t>());
    case DT_UINT32: return add_all(proto->mutable_uint32_val(), t.data<uint32_t>());
    case DT_UINT64: return add_all(proto->mutable_uint64_val(), t.data<uint64_t>());
    case DT_INT64: return add_all(proto->mutable_int64_val(), t.data<int64_t>());
    case DT_BOOL: return add_all(proto->mutable_bool_val(), t.data<bool>());
    case DT_HALF:
    case DT_BFLOAT16: return add_all(proto->mutable_half_val(), t.data<uint16_t>());
    case DT_COMPLEX64:
      for (const Complex64& c : t.flat<Complex64>()) {
        proto->add_scomplex_val(c.real());
        proto->add_scomplex_val(c.imag());
      }
      return;
    case DT_COMPLEX128:
      for (const Complex128& c : t.flat<Complex128>()) {
        proto->add_dcomplex_val(c.real());
        proto->add_dcomplex_val(c.imag());
      }
      return;
    case DT_STRING:
      for (const TString& s : t.flat<TString>()) proto->add_string_val(s.data(), s.size());
      return;
    case DT_RESOURCE:
      for (const ResourceHandle& handle : t.flat<ResourceHandle>()) ToHandle(handle, proto->add_resource_handle_val());
      return;
    case DT_VARIANT:
      for (const Variant& variant : t.flat<Variant>()) ToProto(variant, proto->add_variant_val());
      return;
    default:  // eight-bit floats
      proto->set_float8_val(t.raw(), t.bytes());
  }
}

// Such a tensor, mostly a number that was given a shape, is written as this number alone. Short ones are written out:
// programs may read their bytes.
bool IsLongAndOfOneValue(const Tensor& tensor) {
  if (!IsPod(tensor.dtype()) || tensor.num_elements() < 1024) return false;
  const size_t size = DataTypeSize(tensor.dtype());
  const char* bytes = static_cast<const char*>(tensor.raw());
  return std::memcmp(bytes, bytes + size, tensor.bytes() - size) == 0;
}

}  // namespace

Variant FromProto(const tensorflow::VariantTensorDataProto& proto) {
  if (proto.type_name().empty() && proto.metadata().empty() && proto.tensors().empty()) return Variant();
  std::vector<Tensor> tensors;
  for (const auto& tensor : proto.tensors()) tensors.push_back(FromProto(tensor));
  return Variant(DecodeVariant(proto.type_name(), proto.metadata(), std::move(tensors)));
}

void ToProto(const Variant& variant, tensorflow::VariantTensorDataProto* proto) {
  if (variant.empty()) return;
  const VariantLevel level;
  std::vector<Tensor> tensors;
  variant.get()->Encode(proto->mutable_metadata(), &tensors);
  proto->set_type_name(std::string(variant.get()->TypeName()));
  for (const Tensor& tensor : tensors) ToProto(tensor, proto->add_tensors());
}

thread_local ClaimLimit* ClaimLimit::current_ = nullptr;

void ClaimLimit::Claim(DataType dtype, const Shape& shape, uint64_t backed) {
  const double bytes = static_cast<double>(shape.num_elements()) * static_cast<double>(DataTypeSize(dtype));
  const double more = std::max(bytes - static_cast<double>(backed), 0.0);
  const double before = current_ ? current_->claimed_ : 0;
  if (before + more > kMostClaimed) {
    throw ResourceExhausted("a message of a few bytes claims a ", dtype, " tensor of shape ", shape, ": ", bytes,
                            " bytes");
  }
  if (current_) current_->claimed_ = before + more;
}

PartialShape FromProto(const tensorflow::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (!proto.dim().empty()) throw InvalidArgument("An unknown shape must not have any dimensions set");
    return PartialShape();
  }
  if (proto.dim_size() > kMaxRank) {
    throw InvalidArgument("Shape has ", proto.dim_size(), " dimensions, more than ", kMaxRank);
  }
  std::vector<int64_t> dims;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < -1) throw InvalidArgument("Shape has dimension ", dim.size(), ": it must be -1 (unknown) or more");
    dims.push_back(dim.size());
  }
  return PartialShape(std::move(dims));
}

void ToProto(const PartialShape& shape, tensorflow::TensorShapeProto* proto) {
  if (!shape.known_rank()) {
    proto->set_unknown_rank(true);
    return;
  }
  for (const int64_t dim : shape.dims()) proto->add_dim()->set_size(std::max<int64_t>(dim, -1));
}

TensorSlice FromProto(const tensorflow::TensorSliceProto& proto) {
  TensorSlice slice;
  for (const auto& extent : proto.extent()) {
    slice.start.push_back(extent.start());
    slice.length.push_back(extent.has_length() ? extent.length() : TensorSlice::kFull);
  }
  return slice;
}

void ToProto(const TensorSlice& slice, tensorflow::TensorSliceProto* proto) {
  for (int d = 0; d < slice.rank(); ++d) {
    auto* extent = proto->add_extent();
    if (slice.length[d] == TensorSlice::kFull) continue;
    extent->set_start(slice.start[d]);
    extent->set_length(slice.length[d]);
  }
}

Tensor FromProto(const tensorflow::TensorProto& proto) {
  const auto dtype = static_cast<DataType>(proto.dtype());
  if (DataTypeSize(dtype) == 0 || IsRef(dtype)) {
    throw InvalidArgument("Cannot parse tensor from proto: dtype ", static_cast<int>(dtype),
                          " is none that a tensor can have");
  }
  const PartialShape partial = FromProto(proto.tensor_shape());
  if (!partial.fully_known()) {
    throw InvalidArgument("Cannot parse tensor from proto: shape ", partial,
                          " is not fully known or has negative dimensions");
  }
  const Shape shape(partial.dims());
  // Lengths are compared before memory is asked for.
  if (!proto.tensor_content().empty() && IsPod(dtype) &&
      proto.tensor_content().size() / DataTypeSize(dtype) != static_cast<size_t>(shape.num_elements())) {
    throw InvalidArgument("Cannot parse tensor from proto: tensor_content has ", proto.tensor_content().size(),
                          " bytes, but a ", dtype, " tensor of shape ", shape, " has ", shape.num_elements(),
                          " elements of ", DataTypeSize(dtype));
  }
  ClaimLimit::Claim(dtype, shape, proto.tensor_content().size());
  Tensor t(dtype, shape);
  if (!proto.tensor_content().empty()) {
    FillFromContent(proto.tensor_content(), &t);
  } else if (t.num_elements() > 0) {
    FillFromLists(proto, &t);
  }
  return t;
}

void ToProto(const Tensor& tensor, tensorflow::TensorProto* proto) {
  proto->set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  ToProto(PartialShape(tensor.shape()), proto->mutable_tensor_shape());
  if (!tensor.initialized() || tensor.num_elements() == 0) return;
  if (IsLongAndOfOneValue(tensor)) {
    Tensor one(tensor.dtype(), Shape());
    std::memcpy(one.mutable_raw(), tensor.raw(), one.bytes());
    ToLists(one, proto);
  } else if (IsPod(tensor.dtype()) && tensor.num_elements() > 1) {
    proto->set_tensor_content(tensor.raw(), tensor.bytes());
  } else {
    ToLists(tensor, proto);
  }
}

}  // namespace penstock

#include "penstock/distributed/tensor_wire.h"

#include <chrono>
#include <cstring>

#include "penstock/io/messages.h"

namespace penstock {
namespace {

// Of tensorflow.TensorProto, NamedTensorProto and RecvTensorResponse.
constexpr int kDtype = 1, kShape = 2, kVersion = 3, kContent = 4;
constexpr int kName = 1, kTensor = 2;
constexpr int kReceivedTensor = 1, kIsDead = 2, kSendStart = 3;
constexpr size_t kSharedAtLeast = 1024;  // bytes; smaller contents are copied

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads fields one after the other. Every function is false where the bytes end or make no sense.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}
  bool empty() const { return rest_.empty(); }
  size_t position() const { return size_ - rest_.size(); }

  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Tag(int* field, int* type) {
    uint64_t tag;
    if (!Varint(&tag) || tag >> 3 == 0 || tag >> 32 != 0) return false;
    *field = static_cast<int>(tag >> 3);
    *type = static_cast<int>(tag & 7);
    return true;
  }
  bool Bytes(std::string_view* value) {
    uint64_t size;
    if (!Varint(&size) || size > rest_.size()) return false;
    *value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Skip(int type) {
    uint64_t number;
    std::string_view bytes;
    switch (type) {
      case kVarint: return Varint(&number);
      case kFixed64: return Fixed(8);
      case kBytes: return Bytes(&bytes);
      case kFixed32: return Fixed(4);
      default: return false;
    }
  }

 private:
  bool Fixed(size_t size) {
    if (rest_.size() < size) return false;
    rest_.remove_prefix(size);
    return true;
  }
  std::string_view rest_;
  const size_t size_;
};

Error Malformed() { return InvalidArgument("Cannot parse tensor from response"); }

struct TensorHead {
  DataType dtype = DT_INVALID;
  Shape shape;
  size_t content_at = 0, content_size = 0;
};

// Whether a TensorProto of `size` bytes, of which `bytes` are the first, is one of plain numbers whose contents come
// last: then its head is known before the contents are there.
bool ReadHead(std::string_view bytes, size_t size, TensorHead* head) {
  WireReader reader(bytes);
  int field, type;
  while (reader.Tag(&field, &type)) {
    uint64_t number;
    std::string_view shape;
    if (field == kDtype && type == kVarint && reader.Varint(&number)) {
      head->dtype = static_cast<DataType>(number);
      // Bytes other than 0 and 1 would be no bool: those are looked at.
      if (number > 1000 || !IsPod(head->dtype) || DataTypeSize(head->dtype) == 0 || head->dtype == DT_BOOL)
        return false;
    } else if (field == kShape && type == kBytes && reader.Bytes(&shape)) {
      tensorflow::TensorShapeProto proto;
      if (!proto.ParseFromArray(shape.data(), static_cast<int>(shape.size()))) return false;
      const PartialShape partial = FromProto(proto);
      if (!partial.fully_known()) return false;
      head->shape = Shape(partial.dims());
    } else if (field == kVersion && type == kVarint && reader.Varint(&number)) {
    } else if (field == kContent && type == kBytes && reader.Varint(&number)) {
      head->content_at = reader.position();
      head->content_size = number;
      if (head->dtype == DT_INVALID || number > size || head->content_at + number != size) return false;
      const size_t element = DataTypeSize(head->dtype);
      return number % element == 0 && static_cast<uint64_t>(head->shape.num_elements()) == number / element;
    } else {
      return false;
    }
  }
  return false;
}

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void AppendLength(int field, size_t length, std::string* bytes) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | kBytes, bytes);
  AppendVarint(length, bytes);
}

void AppendTo(EncodedTensor tensor, std::string before, rpc::Message* message) {
  before += tensor.head;
  message->Append(std::move(before));
  if (tensor.buffer) message->Append(std::move(tensor.buffer), tensor.offset, tensor.size);
}

}  // namespace

void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

void AppendVarintField(int field, uint64_t value, std::string* bytes) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | kVarint, bytes);
  AppendVarint(value, bytes);
}

void AppendBytesField(int field, std::string_view value, std::string* bytes) {
  AppendLength(field, value.size(), bytes);
  bytes->append(value);
}

EncodedTensor EncodeTensor(const Tensor& tensor) {
  EncodedTensor encoded;
  if (!IsPod(tensor.dtype())) {
    const TString packed = SerializePackedTensor(tensor);
    encoded.head.assign(packed.data(), packed.size());
    return encoded;
  }
  AppendVarintField(kDtype, static_cast<uint64_t>(tensor.dtype()), &encoded.head);
  std::string shape;
  for (int i = 0; i < tensor.rank(); ++i) {
    std::string dim;
    AppendVarintField(1, static_cast<uint64_t>(tensor.dim(i)), &dim);
    AppendBytesField(2, dim, &shape);
  }
  if (!shape.empty()) AppendBytesField(kShape, shape, &encoded.head);
  const size_t bytes = tensor.bytes();
  AppendLength(kContent, bytes, &encoded.head);
  if (bytes >= kSharedAtLeast && tensor.buffer()) {
    encoded.buffer = tensor.buffer();
    encoded.offset = static_cast<const char*>(tensor.raw()) - static_cast<const char*>(encoded.buffer->data());
    encoded.size = bytes;
  } else if (bytes > 0) {
    encoded.head.append(static_cast<const char*>(tensor.raw()), bytes);
  }
  return encoded;
}

void AppendNamedTensor(int field, std::string_view name, const Tensor& tensor, rpc::Message* message) {
  EncodedTensor encoded = EncodeTensor(tensor);
  std::string named;
  AppendBytesField(kName, name, &named);
  AppendLength(kTensor, encoded.bytes(), &named);
  std::string before;
  AppendLength(field, named.size() + encoded.bytes(), &before);
  AppendTo(std::move(encoded), before + named, message);
}

Tensor DecodeTensor(std::string_view bytes) {
  TensorHead head;
  if (!ReadHead(bytes, bytes.size(), &head)) return ParseTensor(bytes);
  Tensor tensor(head.dtype, head.shape);
  if (head.content_size > 0) std::memcpy(tensor.mutable_raw(), bytes.data() + head.content_at, head.content_size);
  return tensor;
}

std::pair<std::string, Tensor> DecodeNamedTensor(std::string_view bytes) {
  std::pair<std::string, Tensor> named;
  WireReader reader(bytes);
  int field, type;
  while (!reader.empty()) {
    std::string_view value;
    if (!reader.Tag(&field, &type)) throw Malformed();
    if (type == kBytes && (field == kName || field == kTensor)) {
      if (!reader.Bytes(&value)) throw Malformed();
      if (field == kName) {
        named.first = value;
      } else {
        named.second = DecodeTensor(value);
      }
    } else if (!reader.Skip(type)) {
      throw Malformed();
    }
  }
  return named;
}

std::string TakeFields(std::string_view message, int wanted, const std::function<void(std::string_view)>& take) {
  std::string rest;
  WireReader reader(message);
  while (!reader.empty()) {
    const size_t begin = reader.position();
    int field, type;
    std::string_view value;
    if (!reader.Tag(&field, &type)) throw Malformed();
    if (field == wanted && type == kBytes) {
      if (!reader.Bytes(&value)) throw Malformed();
      take(value);
    } else {
      if (!reader.Skip(type)) throw Malformed();
      rest += message.substr(begin, reader.position() - begin);
    }
  }
  return rest;
}

rpc::Message EncodeReceived(const Tensor& value, bool is_dead) {
  std::string before;
  if (is_dead) AppendVarintField(kIsDead, 1, &before);
  AppendVarintField(kSendStart, static_cast<uint64_t>(NowMicros()), &before);
  EncodedTensor encoded = EncodeTensor(is_dead ? Tensor(DT_FLOAT, Shape({0})) : value);
  AppendLength(kReceivedTensor, encoded.bytes(), &before);
  rpc::Message message;
  AppendTo(std::move(encoded), std::move(before), &message);
  return message;
}

rpc::Placement ReceivedReader::Place(std::string_view bytes, size_t size) {
  WireReader reader(bytes);
  int field, type;
  while (reader.Tag(&field, &type)) {
    uint64_t number;
    if (field == kReceivedTensor && type == kBytes) {
      TensorHead head;
      const bool has_length = reader.Varint(&number);
      const size_t at = reader.position();
      if (!has_length || at + number != size || !ReadHead(bytes.substr(at), number, &head)) return {};
      tensor_ = Tensor(head.dtype, head.shape);
      const Ref<Buffer>& buffer = tensor_.buffer();
      if (!buffer) return {};
      const size_t offset = static_cast<const char*>(tensor_.raw()) - static_cast<const char*>(buffer->data());
      return {at + head.content_at, head.content_size, buffer, offset};
    }
    if (!reader.Skip(type)) return {};
  }
  return {};
}

std::pair<Tensor, bool> ReceivedReader::Read(const rpc::Incoming& body) {
  WireReader reader(body.bytes());
  std::string_view tensor;
  bool has_tensor = false, is_dead = false;
  int field, type;
  while (!reader.empty()) {
    uint64_t number = 0;
    if (!reader.Tag(&field, &type)) throw Malformed();
    if (field == kReceivedTensor && type == kBytes) {
      if (body.placed().buffer) break;  // the contents that follow are in the buffer
      if (!reader.Bytes(&tensor)) throw Malformed();
      has_tensor = true;
    } else if (field == kIsDead && type == kVarint) {
      if (!reader.Varint(&number)) throw Malformed();
      is_dead = number != 0;
    } else if (!reader.Skip(type)) {
      throw Malformed();
    }
  }
  if (is_dead) return {Tensor(), true};
  if (body.placed().buffer) return {std::move(tensor_), false};
  if (!has_tensor) throw Malformed();
  return {DecodeTensor(tensor), false};
}

}  // namespace penstock

#include "penstock/kernels/cpu/io/example.h"

#include <algorithm>
#include <bit>

#include "penstock/io/table.h"

namespace penstock {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads the fields of a message one after the other.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  // The next field; false at the end or where the bytes make no sense (`good` tells which).
  bool Next() {
    uint64_t tag;
    if (rest_.empty() || !(good_ = Varint(&tag) && tag >> 3 != 0 && tag >> 3 < (1u << 29))) return false;
    field_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    uint64_t size = 0;
    switch (type_) {
      case kVarint: return good_ = Varint(&number_);
      case kFixed64: size = 8; break;
      case kFixed32: size = 4; break;
      case kBytes: good_ = Varint(&size); break;
      default: good_ = false;
    }
    good_ = good_ && size <= rest_.size();
    if (!good_) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool good() const { return good_; }
  bool Is(int field, int type) const { return field_ == field && type_ == type; }
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }  // of a fixed size, or with a length

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }  // what follows
  bool Varint(uint64_t* value) {
    if (!rest_.empty() && static_cast<uint8_t>(rest_[0]) < 0x80) {  // nearly all
      *value = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      return true;
    }
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (rest_.empty()) return false;
      const uint8_t byte = rest_[0];
      rest_.remove_prefix(1);
      if (shift < 64) *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  std::string_view rest_, bytes_;
  int field_ = 0, type_ = 0;
  uint64_t number_ = 0;
  bool good_ = true;
};

constexpr int kStrings = 1, kFloats = 2, kInts = 3;  // the fields of a Feature, each a list of values
int ListField(DataType type) { return type == DT_STRING ? kStrings : type == DT_FLOAT ? kFloats : kInts; }

// Hands the values of a BytesList, FloatList or Int64List to `take`: field 1, numbers packed or one by one. Floats come
// as bytes, little-endian, as many as stand together.
template <class Take>
bool WalkList(std::string_view list, DataType type, Take&& take) {
  WireReader reader(list);
  while (reader.Next()) {
    if (type == DT_STRING) {
      if (reader.Is(1, kBytes)) take.String(reader.bytes());
    } else if (type == DT_FLOAT) {
      if (!reader.Is(1, kBytes) && !reader.Is(1, kFixed32)) continue;
      if (reader.bytes().size() % sizeof(float) != 0) return false;
      take.Floats(reader.bytes());
    } else if (reader.Is(1, kVarint)) {
      take.Int(reader.number());
    } else if (reader.Is(1, kBytes)) {
      uint64_t number;
      for (WireReader packed(reader.bytes()); !packed.empty(); take.Int(number)) {
        if (!packed.Varint(&number)) return false;
      }
    }
  }
  return reader.good();
}

struct Counter {
  int64_t n = 0;
  void String(std::string_view) { ++n; }
  void Floats(std::string_view bytes) { n += static_cast<int64_t>(bytes.size() / sizeof(float)); }
  void Int(uint64_t) { ++n; }
};

struct Copier {
  Tensor* to;
  int64_t at;
  void String(std::string_view s) { to->mutable_data<TString>()[at++] = s; }
  void Floats(std::string_view bytes) {
    float* out = to->mutable_data<float>() + at;
    at += static_cast<int64_t>(bytes.size() / sizeof(float));
    if constexpr (std::endian::native == std::endian::little) {
      std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(out));
    } else {
      for (size_t i = 0; i < bytes.size(); i += sizeof(float)) *out++ = std::bit_cast<float>(Fixed32At(&bytes[i]));
    }
  }
  void Int(uint64_t number) { to->mutable_data<int64_t>()[at++] = static_cast<int64_t>(number); }
};

}  // namespace

void FeatureValues::CopyTo(Tensor* to, int64_t at) const {
  Copier copier{to, at};
  for (WireReader reader(lists); reader.Next();) {
    if (reader.Is(ListField(type), kBytes)) WalkList(reader.bytes(), type, copier);
  }
}

bool ReadFeature(std::string_view message, FeatureValues* values) {
  constexpr DataType kTypes[] = {DT_STRING, DT_FLOAT, DT_INT64};
  WireReader reader(message);
  for (std::string_view from = message; reader.Next(); from = reader.rest()) {
    for (int field = kStrings; field <= kInts; ++field) {
      if (!reader.Is(field, kBytes)) continue;
      const DataType type = kTypes[field - 1];
      if (values->type != type) *values = {type, 0, from};  // the last of a oneof counts
      Counter counter;
      if (!WalkList(reader.bytes(), type, counter)) return false;
      values->size += counter.n;
    }
  }
  return reader.good();
}

bool VisitFeatures(std::string_view example, int field, const EntryVisitor& visit) {
  WireReader reader(example);
  while (reader.Next()) {
    if (!reader.Is(field, kBytes)) continue;
    WireReader map(reader.bytes());
    while (map.Next()) {
      if (!map.Is(1, kBytes)) continue;
      std::string_view name, message;
      WireReader entry(map.bytes());
      while (entry.Next()) {
        if (entry.Is(1, kBytes)) name = entry.bytes();
        if (entry.Is(2, kBytes)) message = entry.bytes();
      }
      if (!entry.good()) return false;
      visit(name, message);
    }
    if (!map.good()) return false;
  }
  return reader.good();
}

bool VisitList(std::string_view feature_list, const std::function<void(std::string_view)>& visit) {
  WireReader reader(feature_list);
  while (reader.Next()) {
    if (reader.Is(1, kBytes)) visit(reader.bytes());
  }
  return reader.good();
}

}  // namespace penstock

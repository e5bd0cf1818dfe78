#include "penstock/kernels/cpu/example.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
      case kVarint:
        return good_ = Varint(&number_);
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kBytes:
        good_ = Varint(&size);
        break;
      default:
        good_ = false;
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
  bool Varint(uint64_t* value) {
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

float FloatAt(const char* bytes) {
  uint32_t bits = 0;
  for (int i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return std::bit_cast<float>(bits);
}

// The values of a BytesList, FloatList or Int64List: field 1, numbers packed or one by one.
bool ReadList(std::string_view list, FeatureValues* values) {
  WireReader reader(list);
  while (reader.Next()) {
    switch (values->type) {
      case DT_STRING:
        if (reader.Is(1, kBytes)) values->strings.push_back(reader.bytes());
        break;
      case DT_FLOAT: {
        const std::string_view bytes = reader.bytes();
        if (!reader.Is(1, kBytes) && !reader.Is(1, kFixed32)) break;
        if (bytes.size() % 4 != 0) return false;
        for (size_t i = 0; i < bytes.size(); i += 4) values->floats.push_back(FloatAt(bytes.data() + i));
        break;
      }
      default:
        if (reader.Is(1, kVarint)) values->ints.push_back(static_cast<int64_t>(reader.number()));
        if (reader.Is(1, kBytes)) {
          uint64_t number;
          for (WireReader packed(reader.bytes()); !packed.empty();
               values->ints.push_back(static_cast<int64_t>(number))) {
            if (!packed.Varint(&number)) return false;
          }
        }
    }
  }
  return reader.good();
}

}  // namespace

void FeatureValues::CopyTo(Tensor* to, int64_t at) const {
  if (type == DT_INT64) std::copy(ints.begin(), ints.end(), to->mutable_data<int64_t>() + at);
  if (type == DT_FLOAT) std::copy(floats.begin(), floats.end(), to->mutable_data<float>() + at);
  if (type == DT_STRING) std::copy(strings.begin(), strings.end(), to->mutable_data<TString>() + at);
}

bool ReadFeature(std::string_view message, FeatureValues* values) {
  constexpr DataType kTypes[] = {DT_STRING, DT_FLOAT, DT_INT64};  // the lists' fields are 1, 2, 3
  WireReader reader(message);
  while (reader.Next()) {
    for (int field = 1; field <= 3; ++field) {
      if (!reader.Is(field, kBytes)) continue;
      if (values->type != kTypes[field - 1]) *values = {};  // the last of a oneof counts
      values->type = kTypes[field - 1];
      if (!ReadList(reader.bytes(), values)) return false;
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

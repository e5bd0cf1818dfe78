#include "penstock/tensor/types.h"

#include "penstock/base/strings.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/tstring.h"
#include "penstock/tensor/variant.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace penstock {
namespace {

struct TypeRow {
  DataType type;
  std::string_view name, numpy_name;
  size_t size;
};
constexpr TypeRow kRows[] = {
    {DT_FLOAT, "float", "float32", 4},
    {DT_DOUBLE, "double", "float64", 8},
    {DT_INT32, "int32", "int32", 4},
    {DT_UINT8, "uint8", "uint8", 1},
    {DT_INT16, "int16", "int16", 2},
    {DT_INT8, "int8", "int8", 1},
    {DT_STRING, "string", "string", sizeof(TString)},
    {DT_COMPLEX64, "complex64", "complex64", 8},
    {DT_INT64, "int64", "int64", 8},
    {DT_BOOL, "bool", "bool", 1},
    {DT_QINT8, "qint8", "qint8", 1},
    {DT_QUINT8, "quint8", "quint8", 1},
    {DT_QINT32, "qint32", "qint32", 4},
    {DT_BFLOAT16, "bfloat16", "bfloat16", 2},
    {DT_QINT16, "qint16", "qint16", 2},
    {DT_QUINT16, "quint16", "quint16", 2},
    {DT_UINT16, "uint16", "uint16", 2},
    {DT_COMPLEX128, "complex128", "complex128", 16},
    {DT_HALF, "half", "float16", 2},
    {DT_RESOURCE, "resource", "resource", sizeof(ResourceHandle)},
    {DT_VARIANT, "variant", "variant", sizeof(Variant)},
    {DT_UINT32, "uint32", "uint32", 4},
    {DT_UINT64, "uint64", "uint64", 8},
    {DT_FLOAT8_E5M2, "float8_e5m2", "float8_e5m2", 1},
    {DT_FLOAT8_E4M3FN, "float8_e4m3fn", "float8_e4m3fn", 1},
    {DT_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", "float8_e4m3fnuz", 1},
    {DT_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz", "float8_e4m3b11fnuz", 1},
    {DT_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", "float8_e5m2fnuz", 1},
    {DT_INT4, "int4", "int4", 1},
    {DT_UINT4, "uint4", "uint4", 1},
    {DT_INT2, "int2", "int2", 1},
    {DT_UINT2, "uint2", "uint2", 1},
};

const TypeRow* Row(DataType t) {
  const int i = static_cast<int>(BaseType(t)) - 1;
  return i >= 0 && i < static_cast<int>(std::size(kRows)) ? &kRows[i] : nullptr;
}

}  // namespace

std::string ToString(DataType t) {
  const TypeRow* row = Row(t);
  if (!row) return t == DT_INVALID ? "INVALID" : StrCat("unknown dtype enum (", static_cast<int>(t), ")");
  return IsRef(t) ? StrCat(row->name, "_ref") : std::string(row->name);
}

DataType DataTypeFromName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string_view n = lower;
  if (n.starts_with("dt_")) n.remove_prefix(3);
  bool ref = false;
  if (n.ends_with("_ref")) {
    ref = true;
    n.remove_suffix(4);
  }
  for (const TypeRow& row : kRows) {
    if (n == row.name || n == row.numpy_name) return ref ? RefType(row.type) : row.type;
  }
  return DT_INVALID;
}

size_t DataTypeSize(DataType t) {
  const TypeRow* row = Row(t);
  return row ? row->size : 0;
}

bool IsFloating(DataType t) {
  t = BaseType(t);
  return t == DT_FLOAT || t == DT_DOUBLE || t == DT_HALF || t == DT_BFLOAT16 ||
         (t >= DT_FLOAT8_E5M2 && t <= DT_FLOAT8_E5M2FNUZ);
}
bool IsComplex(DataType t) { return BaseType(t) == DT_COMPLEX64 || BaseType(t) == DT_COMPLEX128; }
bool IsInteger(DataType t) {
  switch (BaseType(t)) {
    case DT_INT8:
    case DT_INT16:
    case DT_INT32:
    case DT_INT64:
    case DT_UINT8:
    case DT_UINT16:
    case DT_UINT32:
    case DT_UINT64:
    case DT_INT4:
    case DT_UINT4:
    case DT_INT2:
    case DT_UINT2: return true;
    default: return false;
  }
}
bool IsQuantized(DataType t) {
  t = BaseType(t);
  return t == DT_QINT8 || t == DT_QUINT8 || t == DT_QINT16 || t == DT_QUINT16 || t == DT_QINT32;
}
bool IsPod(DataType t) {
  t = BaseType(t);
  return t != DT_STRING && t != DT_RESOURCE && t != DT_VARIANT;
}
bool IsNumber(DataType t) { return IsFloating(t) || IsInteger(t) || IsComplex(t); }

float HalfToFloat(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16;
  uint32_t magnitude = uint32_t(h & 0x7FFF) << 13;
  const uint32_t exponent = magnitude & 0x0F800000;
  if (exponent == 0x0F800000) {  // inf and nan
    magnitude += 0x70000000;
  } else if (exponent == 0) {  // zero and subnormal: the value is magnitude * 2^-24
    return std::bit_cast<float>(std::bit_cast<uint32_t>(float(h & 0x7FFF) * 5.9604644775390625e-8f) | sign);
  } else {
    magnitude += 0x38000000;
  }
  return std::bit_cast<float>(magnitude | sign);
}

uint16_t FloatToHalf(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;   // nan
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // rounds to 2^16 or is infinite
  if (magnitude < 0x38800000) {                       // subnormal half: let the float adder round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | uint16_t(std::bit_cast<uint32_t>(shifted) - 0x3F000000);
  }
  const uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return sign | uint16_t((rounded - 0x38000000) >> 13);
}

}  // namespace penstock

// What quantized types hold.
#pragma once

#include "penstock/tensor/types.h"

namespace penstock {

// The integers that a quantized type holds, as which it is converted, compared and handed out to NumPy; other types are
// their own.
inline DataType IntegerBehind(DataType type) {
  switch (type) {
    case DT_QINT8: return DT_INT8;
    case DT_QUINT8: return DT_UINT8;
    case DT_QINT16: return DT_INT16;
    case DT_QUINT16: return DT_UINT16;
    case DT_QINT32: return DT_INT32;
    default: return type;
  }
}

}  // namespace penstock

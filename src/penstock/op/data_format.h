// Where a tensor of images keeps its channels: "NHWC", "NCHW", and "NDHWC", "NCDHW" with depth.
#pragma once

#include <string_view>

#include "penstock/base/status.h"

namespace penstock {

struct DataFormat {
  int spatial = 2;  // dimensions besides batch and channels
  bool channels_first = false;

  int rank() const { return spatial + 2; }
  int channel() const { return channels_first ? 1 : spatial + 1; }
  // The i-th spatial dimension.
  int dim(int i) const { return i + (channels_first ? 2 : 1); }

  // InvalidArgument for any other name.
  static DataFormat Parse(std::string_view name) {
    if (name == "NHWC") return {2, false};
    if (name == "NCHW") return {2, true};
    if (name == "NDHWC") return {3, false};
    if (name == "NCDHW") return {3, true};
    throw InvalidArgument("Invalid data format: ", name);
  }
};

}  // namespace penstock

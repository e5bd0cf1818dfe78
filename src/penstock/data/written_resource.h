// How a resource is written down: what a graph makes another like it with.
#pragma once

#include <string>
#include <vector>

#include "penstock/op/attr_value.h"
#include "penstock/tensor/tensor.h"

namespace penstock::data {

struct WrittenResource {
  std::string op;  // makes the resource; empty if none can
  AttrMap attrs;
  std::string fill_op;  // puts the contents into it: its inputs are the handle and these. Empty: nothing to put
  AttrMap fill_attrs;
  std::vector<Tensor> contents;
};

class WritableResource {
 public:
  virtual ~WritableResource() = default;
  virtual WrittenResource Write() const = 0;
};

}  // namespace penstock::data

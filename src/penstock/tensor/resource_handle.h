// The element of a DT_RESOURCE tensor: names a stateful object, or holds it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "penstock/base/ref.h"
#include "penstock/tensor/shape.h"
#include "penstock/tensor/types.h"

namespace penstock {

// What a handle may name: variable, queue, iterator, table...
class Resource : public RefCounted {
 public:
  virtual std::string DebugString() const = 0;

 protected:
  void Destroy() const override { DestroyInTurn(); }  // a queue may hold handles of queues
};

struct DtypeAndShape {
  DataType dtype = DT_INVALID;
  PartialShape shape;
  friend bool operator==(const DtypeAndShape&, const DtypeAndShape&) = default;
};

class ResourceHandle {
 public:
  std::string device, container, name, type_name;
  std::vector<DtypeAndShape> dtypes_and_shapes;
  Ref<Resource> resource;  // set for anonymous resources, which live as long as their handles, and as a look-up cache
};

}  // namespace penstock

// A lock that one execution holds at a time: what critical sections are made of.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterMutexOps(OpRegistry& ops) {
  ops.Add("MutexV2")
      .Output("resource: resource")
      .Attr("container: string = ''")
      .Attr("shared_name: string = ''")
      .Stateful()
      .Shape(shapes::Scalar)
      .Doc("A lock.");
  ops.Add("MutexLock")
      .Input("mutex: resource")
      .Output("mutex_lock: variant")
      .Stateful()
      .Shape(shapes::Scalar)
      .Doc("Waits for the lock and holds it for as long as its result is held.");
  ops.Add("ConsumeMutexLock")
      .Input("mutex_lock: variant")
      .Stateful()
      .Shape(shapes::None)
      .Doc("Holds a lock until it runs.");
}

}  // namespace penstock

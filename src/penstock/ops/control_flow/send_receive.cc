// Values that cross between devices: what partitioning puts on both sides of a cut edge.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterSendReceiveOps(OpRegistry& ops) {
  for (const char* name : {"_Send", "_HostSend"}) {
    ops.Add(name)
        .Is(Flow::kSend)
        .Input("tensor: T")
        .Attr("T: type")
        .Attr("tensor_name: string")
        .Attr("send_device: string")
        .Attr("send_device_incarnation: int")
        .Attr("recv_device: string")
        .Attr("client_terminated: bool = false")
        .Stateful()
        .DistributedCommunication()
        .Free()
        .Shape(shapes::None)
        .Doc("Sends a tensor to the matching receive.");
  }
  for (const char* name : {"_Recv", "_HostRecv"}) {
    ops.Add(name).Is(Flow::kRecv)
        .Output("tensor: tensor_type").Attr("tensor_type: type").Attr("tensor_name: string").Attr("send_device: string")
        .Attr("send_device_incarnation: int").Attr("recv_device: string").Attr("client_terminated: bool = false")
        .Stateful().DistributedCommunication().Free().Shape(shapes::Unknown)
        .Doc("Receives the tensor of the matching send.");
  }
}

}  // namespace penstock

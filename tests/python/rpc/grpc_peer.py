"""A grpcio server and client with the methods of tests/cc/rpc/interop.cc, for an interpreter that has grpcio.

grpc_peer.py serve: prints its port, serves until its input ends.
grpc_peer.py check PORT: prints a line for each check of the server that failed, then "done".
"""
import sys
import threading
import time
from concurrent import futures

import grpc

OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
DETAILS = (("grpc-status-details-bin", b"\0payload\xff"),)
TEXT = "100 % wrong\nä"


class Methods(grpc.GenericRpcHandler):
    """The methods, in bytes."""

    def service(self, details):
        return {
            "/test/Echo": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
            "/test/Fail": grpc.unary_unary_rpc_method_handler(self._fail),
            "/test/Hang": grpc.unary_unary_rpc_method_handler(lambda request, context: time.sleep(1) or b""),
            "/test/Chat": grpc.stream_stream_rpc_method_handler(self._chat),
        }.get(details.method)

    @staticmethod
    def _fail(request, context):
        context.set_trailing_metadata(DETAILS)
        context.set_details(TEXT)
        context.set_code(next(code for code in grpc.StatusCode if code.value[0] == int(request)))
        return b""

    @staticmethod
    def _chat(messages, context):
        count = 0
        for message in messages:
            count += 1
            yield message
            yield message
        yield str(count).encode()


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Methods()], options=OPTIONS)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(None)


def check(port):
    def expect(right, what):
        if not right:
            print("wrong:", what)

    channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS)
    call = channel.unary_unary
    expect(call("/test/Echo")(b"hello", timeout=30) == b"hello", "echo")
    expect(call("/test/Echo")(b"", timeout=30) == b"", "empty")
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        packed = call("/test/Echo")(b"x" * 100_000, timeout=30, compression=compression)
        expect(packed == b"x" * 100_000, f"compression {compression}")
    for code in range(1, 17):
        try:
            call("/test/Fail")(str(code).encode(), timeout=30)
            expect(False, f"fail {code}")
        except grpc.RpcError as error:
            expect(error.code().value[0] == code, f"code {code}: {error.code()}")
            expect(error.details() == TEXT, f"text {error.details()!r}")
            expect(tuple(error.trailing_metadata()) == DETAILS, f"details {error.trailing_metadata()}")
    try:
        call("/test/None")(b"", timeout=30)
        expect(False, "unknown method")
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.UNIMPLEMENTED, f"unknown method: {error.code()}")
    large = bytes(i % 251 for i in range(251)) * 200_000
    expect(call("/test/Echo")(large, timeout=60) == large, "50 MB")
    expect(call("/test/Large")(str(len(large)).encode(), timeout=60) == large, "50 MB down")
    try:
        call("/test/Hang")(b"", timeout=0.2)
        expect(False, "deadline")
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"deadline: {error.code()}")
    hanging = call("/test/Hang").future(b"")
    time.sleep(0.2)
    hanging.cancel()
    for _ in range(100):
        if call("/test/Cancelled")(b"", timeout=30) == b"2":
            break
        time.sleep(0.1)
    else:
        expect(False, "cancellations")
    got = list(channel.stream_stream("/test/Chat")(iter([b"m0", b"m1", b"m2"]), timeout=30))
    expect(got == [b"m0", b"m0", b"m1", b"m1", b"m2", b"m2", b"3"], f"stream: {got}")
    waiting, all_done = [2000], threading.Event()

    def one_done(_):
        waiting[0] -= 1
        if waiting[0] == 0:
            all_done.set()

    calls = [call("/test/Echo").future(str(i).encode(), timeout=60) for i in range(2000)]
    for each in calls:
        each.add_done_callback(one_done)
    expect([each.result() for each in calls] == [str(i).encode() for i in range(2000)], "2,000 calls at once")
    channel.close()
    print("done", flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else check(sys.argv[2])

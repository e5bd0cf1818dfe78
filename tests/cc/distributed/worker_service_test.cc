// The worker's protocol: bytes that passed between two tasks of TensorFlow 2.21, and values of all kinds.
#include <thread>

#include "penstock/distributed/tensor_wire.h"
#include "two_tasks.h"

namespace penstock {
namespace {

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}
std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    for (const int digit : {c >> 4 & 15, c & 15}) hex.push_back("0123456789abcdef"[digit]);
  }
  return hex;
}

Tensor Strings(const std::vector<std::string>& values) {
  Tensor t(DT_STRING, Shape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) t.mutable_data<TString>()[i] = std::string_view(values[i]);
  return t;
}

// TensorFlow 2.21's answers to RecvTensor, without the time at which it began to send.
struct Recorded {
  const char* before;  // fields before the time
  const char* time;
  const char* after;
  Tensor value;
  bool is_dead = false;
};
std::vector<Recorded> Recordings() {
  return {
      {"", "18d4c5e9cbd6aa9803", "0a12080112041202080222080000004000004040", Tensor::Vector(std::vector<float>{2, 3})},
      {"", "18b9cbe9cbd6aa9803", "0a080801220400008040", Tensor(4.0f)},
      {"1001", "1897cce9cbd6aa9803", "0a0a08011204120208002200", Tensor(), true},
      {"0a2008071204120208022216090b312e30303030303061312e303030303030626364", "18cccae9cbd6aa9803", "",
       Strings({"1.000000a", "1.000000bcd"})},
  };
}
// A server that answers every call with the same bytes.
class FixedAnswer {
 public:
  explicit FixedAnswer(std::string answer) {
    server_.AddUnary("/tensorflow.WorkerService/RecvTensor",
                     [answer](const Ref<rpc::ServerCall>& call) { call->Finish(Status(), rpc::Message(answer)); });
    server_.Start("localhost:0");
    worker = MakeRemoteWorker(kPs, StrCat("localhost:", server_.port()));
  }
  std::shared_ptr<WorkerInterface> worker;

 private:
  rpc::Server server_;
};

TEST(WorkerProtocol, ReadsTheValuesThatTensorFlowSends) {
  for (const Recorded& r : Recordings()) {
    FixedAnswer server(FromHex(StrCat(r.before, r.time, r.after)));
    Answer<Received> answer;
    server.worker->ReceiveTensor(1, "key", nullptr, Into(answer));
    const Received got = answer.Value();
    EXPECT_EQ(got.is_dead, r.is_dead);
    if (r.is_dead) continue;
    EXPECT_EQ(AttrValue(got.value), AttrValue(r.value));
  }
}

TEST(WorkerProtocol, SendsValuesAsTensorFlowDoes) {
  for (const Recorded& r : Recordings()) {
    const std::string bytes = ToHex(EncodeReceived(r.value, r.is_dead).ToString());
    const std::string fields = StrCat(r.before, r.after);  // a string's tensor comes before the time there
    const std::string tensor = fields.substr(fields.find("0a"));
    EXPECT_TRUE(bytes.ends_with(tensor)) << bytes << " " << tensor;
    EXPECT_EQ(bytes.starts_with("1001"), r.is_dead);
  }
}

TEST(WorkerProtocol, TakesTensorsOfEveryKindThrough) {
  std::vector<Tensor> values;
  for (const DataType type : {DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT8, DT_INT16, DT_INT8, DT_INT64, DT_BOOL, DT_UINT16,
                              DT_HALF, DT_BFLOAT16, DT_UINT32, DT_UINT64, DT_COMPLEX64, DT_COMPLEX128, DT_QINT8}) {
    for (const Shape& shape : {Shape(), Shape({0}), Shape({3, 2}), Shape({100, 1001})}) {
      Tensor t(type, shape);
      for (size_t i = 0; i < t.bytes(); ++i) static_cast<uint8_t*>(t.mutable_raw())[i] = static_cast<uint8_t>(i % 2);
      values.push_back(t);
    }
  }
  values.push_back(Tensor(TString("a")));
  values.push_back(Strings({}));
  values.push_back(Strings({"", std::string(70'000, 'x'), "\0\1"}));
  for (const Tensor& value : values) {
    FixedAnswer server(EncodeReceived(value, false).ToString());
    Answer<Received> answer;
    server.worker->ReceiveTensor(1, "key", nullptr, Into(answer));
    const Received got = answer.Value();
    ASSERT_EQ(got.value.dtype(), value.dtype());
    EXPECT_EQ(AttrValue(got.value), AttrValue(value)) << value.ToString();
  }
}

TEST(WorkerProtocol, SharesTheBufferOfALargeTensor) {
  const Tensor large(DT_FLOAT, Shape({1000}));
  const rpc::Message message = EncodeReceived(large, false);
  ASSERT_EQ(message.slices().size(), 2);
  EXPECT_EQ(message.slices()[1].data(), large.raw());
}

TEST(WorkerProtocol, RefusesMalformedAnswers) {
  const std::string good = FromHex("0a12080112041202080222080000004000004040");
  std::vector<std::string> bad = {"", FromHex("0a12080112041202080322080000004000004040"),  // 3 elements
                                  FromHex("0a120801120412020802220c0000004000004040"),
                                  FromHex("0a12086312041202080222080000004000004040")};  // no such type
  for (size_t i = 1; i < good.size(); ++i) bad.push_back(good.substr(0, i));
  for (const std::string& bytes : bad) {
    FixedAnswer server(bytes);
    Answer<Received> answer;
    server.worker->ReceiveTensor(1, "key", nullptr, Into(answer));
    EXPECT_EQ(answer.Error().code(), Code::kInvalidArgument) << ToHex(bytes);
  }
}

// Calls of one method after the other, as TensorFlow 2.21's master sent them to a ps.
class Recording : public testing::Test {
 protected:
  Recording() : tasks({}, true), channel(StrCat("localhost:", tasks.port(kPs))) {}
  std::string Call(std::string_view method, const std::string& request, Status expected = {}) {
    rpc::Incoming answer;
    const rpc::Outcome outcome =
        channel.CallAndWait(StrCat("/tensorflow.WorkerService/", method), rpc::Message(FromHex(request)), &answer);
    EXPECT_EQ(outcome.status.code(), expected.code()) << outcome.status.ToString();
    if (!expected.ok()) {
      EXPECT_EQ(outcome.status.message(), expected.message());
      details = outcome.details;
    }
    return std::string(answer.bytes());
  }
  TwoTasks tasks;
  rpc::Channel channel;
  std::string details;
};

TEST_F(Recording, OfAVariablesInitializationIsCarriedOut) {
  const std::string session = "1066393735393134343762626139356538";
  EXPECT_EQ(
      Call("CreateWorkerSession",
           "0a" + session +
               "123c12027073223082012dba012a0a0a7374616e64616c6f6e65121c2f6a6f623a776f726b65722f7265706c6963613a30"
               "2f7461736b3a302a04677270632a1c2f6a6f623a776f726b65722f7265706c6963613a302f7461736b3a3030fce4a3c0c5"
               "95b1ac9501"),
      "");
  const std::string registered = Call("RegisterGraph", "0a" + session +
                                                           "12c8030a99010a0176120b56617248616e646c654f7022252f6a6f623a7"
                                                           "0732f7265706c6963613a302f7461736b3a302f646576696365"
                                                           "3a4350553a302a0b0a056474797065120230012a1a0a145f586c6148617"
                                                           "35265666572656e636556617273120228002a120a0b73686172"
                                                           "65645f6e616d6512031201762a120a0a64656275675f6e616d651204120"
                                                           "2762f2a0f0a05736861706512063a04120208020a7d0a05436f"
                                                           "6e73741205436f6e737422252f6a6f623a70732f7265706c6963613a302"
                                                           "f7461736b3a302f6465766963653a4350553a302a1a0a145f58"
                                                           "6c614861735265666572656e636556617273120228002a1d0a0576616c7"
                                                           "565121442120801120412020802220800000040000040402a0b"
                                                           "0a056474797065120230010aa3010a08762f41737369676e12104173736"
                                                           "9676e5661726961626c654f701a01761a05436f6e737422252f"
                                                           "6a6f623a70732f7265706c6963613a302f7461736b3a302f64657669636"
                                                           "53a4350553a302a1a0a145f586c614861735265666572656e63"
                                                           "6556617273120228002a0b0a056474797065120230012a2b0a255f67726"
                                                           "170706c65725f72656c61785f616c6c6f6361746f725f636f6e"
                                                           "73747261696e7473120228011200220308aa1322002a00300142210a070"
                                                           "a0343505510010a070a03475055100032024a00820103c00101"
                                                           "9201024a00");
  ASSERT_EQ(registered.size(), 18);
  const std::string run =
      "0a10" + ToHex(registered.substr(2)) + "10d18bf1fddb8ac3a2012a0042" + session + "480150015883d9b9bcac9ed78d27";
  EXPECT_EQ(Call("RunGraph", run), "");
  // The same request again, which is refused: the answer's body holds the error.
  EXPECT_EQ(ToHex(Call("RunGraph", run)).substr(0, 4), "280a");
  EXPECT_EQ(Call("CleanupGraph", "08d18bf1fddb8ac3a201"), "");
  EXPECT_EQ(Call("Logging", "0801"), "");
  EXPECT_EQ(Call("DeleteWorkerSession", "0a" + session), "");
  Call("RegisterGraph", "0a" + session + "3001",
       Status(Code::kAborted,
              "Session handle is not found: f97591447bba95e8. Possibly this worker "
              "(\"/job:ps/replica:0/task:0\") just restarted."));
  EXPECT_NE(details.find("WorkerPossiblyRestarted"), std::string::npos);
  EXPECT_EQ(Call("CleanupAll", "0a03616263"), "");
}

TEST_F(Recording, RefusesWhatItDoesNotKnow) {
  Call("Tracing", "", Status(Code::kUnimplemented, "Tracing"));
  Call("RecvTensor", "0801120361623b", Status(Code::kInvalidArgument, "Invalid  rendezvous key: ab;"));
  rpc::Incoming answer;
  EXPECT_EQ(channel.CallAndWait("/tensorflow.WorkerService/RecvBuf", {}, &answer).status.code(), Code::kUnimplemented);
  EXPECT_EQ(channel.CallAndWait("/tensorflow.WorkerService/RunGraph", rpc::Message("\xff"), &answer).status.code(),
            Code::kInvalidArgument);
}

TEST(WorkerProtocol, TakesATwentyMegabyteTensorOver) {
  TwoTasks tasks({}, true);
  Tensor large(DT_FLOAT, Shape({5'000'000}));
  for (int i = 0; i < 5'000'000; ++i) large.mutable_data<float>()[i] = static_cast<float>(i);
  const Endpoint there{tasks.Add(kPsCpu, "Neg", {{tasks.Constant(kPsCpu, large), 0}}), 0};
  const Endpoint here{tasks.Add(kWorkerCpu, "Neg", {there}), 0};
  EXPECT_EQ(AttrValue(tasks.RunOnce({{}, {here}, {}})), AttrValue(large));
}

TEST(WorkerProtocol, SaysWhichTaskIsNotThere) {
  const auto worker = MakeRemoteWorker(kPs, "localhost:1");
  Answer<std::vector<DeviceAttributes>> answer;
  worker->GetStatus(nullptr, answer.Done());
  const Status status = answer.Error();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find(kPs), std::string::npos);
  EXPECT_NE(status.message().find("localhost:1"), std::string::npos);
}

}  // namespace
}  // namespace penstock

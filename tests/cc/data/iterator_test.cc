// Iterators in sessions: elements, the end, errors, state, cancellation, threads.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "penstock/engine/engine.h"
#include "penstock/runtime/session.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

using Types = std::vector<DataType>;
using Shapes = std::vector<PartialShape>;

class IteratorTest : public testing::Test {
 protected:
  IteratorTest() { Initialize(); }

  Endpoint Add(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return {Node_(op, std::move(inputs), std::move(attrs)), 0};
  }
  Node* Node_(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return graph_->AddNode({op, graph_->UniqueName(op), std::move(inputs), {}, std::move(attrs), ""});
  }
  Endpoint Const(Tensor value) {
    const DataType type = value.dtype();
    return Add("Const", {}, {{"value", std::move(value)}, {"dtype", type}});
  }
  Endpoint Int(int64_t value) { return Const(Tensor(value)); }
  // A dataset of int64 scalars, or of what `shape` says.
  Endpoint Dataset(const std::string& op, std::vector<Endpoint> inputs, PartialShape shape = PartialShape({})) {
    return Add(op, std::move(inputs), {{"output_types", Types{DT_INT64}}, {"output_shapes", Shapes{shape}}});
  }
  Endpoint Range(int64_t n) { return Dataset("RangeDataset", {Int(0), Int(n), Int(1)}); }

  struct Pipeline {
    Node* make;
    Endpoint iterator, next;
  };
  Pipeline Iterate(Endpoint dataset, PartialShape shape = PartialShape({})) {
    const AttrMap attrs = {{"output_types", Types{DT_INT64}},
                           {"output_shapes", Shapes{shape}},
                           {"shared_name", std::string()},
                           {"container", std::string()}};
    const Endpoint iterator = Add("IteratorV2", {}, attrs);
    Node* make = Node_("MakeIterator", {dataset, iterator});
    return {make, iterator,
            Add("IteratorGetNext", {iterator}, {{"output_types", Types{DT_INT64}}, {"output_shapes", Shapes{shape}}})};
  }
  std::vector<Tensor> Run(Session& session, std::vector<Endpoint> fetches, std::vector<Node*> targets = {},
                          std::vector<Endpoint> feeds = {}, std::vector<Tensor> values = {}) {
    std::vector<Tensor> results;
    session.Run(*session.Compile({std::move(feeds), std::move(fetches), std::move(targets)}), values, &results);
    return results;
  }
  std::vector<int64_t> All(Session& session, const Pipeline& p, int most = 1000) {
    std::vector<int64_t> all;
    try {
      while (static_cast<int>(all.size()) < most) {
        const Tensor element = Run(session, {p.next})[0];
        for (const int64_t v : element.flat<int64_t>()) all.push_back(v);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kOutOfRange) << error.what();
      EXPECT_NE(std::string(error.what()).find("End of sequence"), std::string::npos);
    }
    return all;
  }
  static int Threads() {
    int n = 0;
    for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ++n;
    return n;
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
};

TEST_F(IteratorTest, BatchesOfARange) {
  const Endpoint batches = Dataset("BatchDatasetV2", {Range(5), Int(2), Const(Tensor(false))}, PartialShape({-1}));
  const Pipeline p = Iterate(batches, PartialShape({-1}));
  Session session(graph_, {});
  EXPECT_THROW(Run(session, {p.next}), Error);  // it has not begun
  Run(session, {}, {p.make});
  EXPECT_EQ(Run(session, {p.next})[0].num_elements(), 2);
  EXPECT_EQ(All(session, p), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(All(session, p), std::vector<int64_t>{});
  Run(session, {}, {p.make});  // again from the beginning
  EXPECT_EQ(All(session, p), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

// What real TensorFlow gives for these seeds.
TEST_F(IteratorTest, ShufflesInTensorFlowsOrder) {
  const Endpoint shuffled = Dataset("ShuffleDataset", {Range(10), Int(4), Int(1), Int(2)});
  const Pipeline p = Iterate(Dataset("RepeatDataset", {shuffled, Int(2)}));
  const Pipeline joint = Iterate(Dataset("ShuffleAndRepeatDataset", {Range(10), Int(4), Int(1), Int(2), Int(2)}));
  const std::vector<int64_t> expected = {0, 2, 1, 3, 5, 8, 6, 4, 7, 9, 3, 0, 2, 1, 4, 5, 6, 7, 9, 8};
  Session session(graph_, {});
  Run(session, {}, {p.make, joint.make});
  EXPECT_EQ(All(session, p), expected);
  EXPECT_EQ(All(session, joint), expected);
}

TEST_F(IteratorTest, GoesOnWhereItsStateWasSaved) {
  const Endpoint shuffled = Dataset("ShuffleDataset", {Range(20), Int(6), Int(3), Int(4)});
  const Endpoint repeated = Dataset("RepeatDataset", {shuffled, Int(3)});
  const Pipeline p = Iterate(Dataset("PrefetchDataset", {Dataset("SkipDataset", {repeated, Int(5)}), Int(3)}));
  const Endpoint saved = Add("SerializeIterator", {p.iterator});
  const Endpoint given = Add("Placeholder", {}, {{"dtype", DT_VARIANT}});
  Node* restore = Node_("DeserializeIterator", {p.iterator, given});
  Session session(graph_, {});
  Run(session, {}, {p.make});
  All(session, p, 17);
  const Tensor state = Run(session, {saved})[0];
  const std::vector<int64_t> rest = All(session, p);
  EXPECT_EQ(rest.size(), 60u - 5 - 17);
  // Through the form that checkpoints have.
  std::string metadata;
  std::vector<Tensor> tensors;
  state.data<Variant>()->get()->Encode(&metadata, &tensors);
  Tensor read(DT_VARIANT, state.shape());
  *read.mutable_data<Variant>() = Variant(DecodeVariant(state.data<Variant>()->get()->TypeName(), metadata, tensors));
  Run(session, {}, {p.make});
  Run(session, {}, {restore}, {given}, {read});
  EXPECT_EQ(All(session, p), rest);
  // A state of something else is refused.
  const Pipeline other = Iterate(Range(3));
  Node* wrong = Node_("DeserializeIterator", {other.iterator, given});
  Run(session, {}, {other.make});
  EXPECT_THROW(Run(session, {}, {wrong}, {given}, {read}), Error);
}

TEST_F(IteratorTest, ClosingASessionEndsWhoeverWaits) {
  for (const bool ahead : {false, true}) {
    Endpoint slow = Dataset("SleepDataset", {Range(3), Int(1'000'000'000)});
    if (ahead) slow = Dataset("PrefetchDataset", {slow, Int(2)});
    const Pipeline p = Iterate(slow);
    Session session(graph_, {});
    Run(session, {}, {p.make});
    Code code = Code::kOk;
    std::thread waiting([&] {
      try {
        Run(session, {p.next});
      } catch (const Error& error) {
        code = error.code();
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    session.Close();
    waiting.join();
    EXPECT_EQ(code, Code::kCancelled);
  }
}

TEST_F(IteratorTest, ThreadsEndWithTheirIterator) {
  const Pipeline p = Iterate(Dataset("PrefetchDataset", {Dataset("RepeatDataset", {Range(10), Int(-1)}), Int(2)}));
  Session session(graph_, {});
  Run(session, {}, {p.make});
  All(session, p, 3);
  const int one = Threads();
  for (int i = 0; i < 50; ++i) {
    Run(session, {}, {p.make});
    EXPECT_EQ(All(session, p, 3), (std::vector<int64_t>{0, 1, 2}));
  }
  // Far below the fifty that would stay if they did not end. The pool keeps the few threads that it grew to while an
  // iterator's end and the next one's beginning overlapped: how many is the scheduler's choice.
  int now = Threads();
  for (int i = 0; i < 100 && now > one + 10; ++i, now = Threads())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(now, one + 10);
}

TEST_F(IteratorTest, RefusesElementsOfAnotherKind) {
  const Pipeline p =
      Iterate(Dataset("BatchDatasetV2", {Range(5), Int(2), Const(Tensor(true))}, PartialShape({2})), PartialShape({3}));
  const Endpoint bad = Const(Tensor(DT_VARIANT, Shape()));
  const Pipeline none = Iterate(bad);
  Session session(graph_, {});
  EXPECT_THROW(Run(session, {}, {p.make}), Error);
  EXPECT_THROW(Run(session, {}, {none.make}), Error);
}

}  // namespace
}  // namespace penstock

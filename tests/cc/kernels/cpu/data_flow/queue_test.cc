#include "penstock/kernels/cpu/data_flow/queue.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Ref<FifoQueue> MakeQueue(int64_t capacity) {
  return MakeRef<FifoQueue>(Queue::Spec{"FIFOQueue", "q", {DT_FLOAT}, {PartialShape({})}, capacity});
}

// What a waiting call was answered with.
struct Answer {
  bool called = false;
  Status status;
  Queue::Tuple tuple;
  Queue::Done Done() {
    return [this](Status s) {
      EXPECT_FALSE(called);
      called = true;
      status = std::move(s);
    };
  }
  Queue::DoneTuple DoneTuple() {
    return [this](Status s, Queue::Tuple t) {
      Done()(std::move(s));
      tuple = std::move(t);
    };
  }
};

TEST(Queue, DequeueWaitsForAnElement) {
  auto queue = MakeQueue(10);
  Answer first, second, enqueue;
  queue->Dequeue(nullptr, first.DoneTuple());
  queue->Dequeue(nullptr, second.DoneTuple());
  EXPECT_FALSE(first.called);
  queue->Enqueue({Tensor(1.5f)}, nullptr, enqueue.Done());
  EXPECT_TRUE(enqueue.called && first.called && !second.called);
  EXPECT_EQ(1.5f, first.tuple[0].scalar<float>());
}

TEST(Queue, EnqueueWaitsForRoom) {
  auto queue = MakeQueue(1);
  Answer one, two, out;
  queue->Enqueue({Tensor(1.0f)}, nullptr, one.Done());
  queue->Enqueue({Tensor(2.0f)}, nullptr, two.Done());
  EXPECT_FALSE(two.called);
  queue->Dequeue(nullptr, out.DoneTuple());
  EXPECT_TRUE(two.called);
  EXPECT_EQ(1, queue->Size());
}

TEST(Queue, ManyPassThroughASmallQueue) {
  auto queue = MakeQueue(2);
  Answer in, out;
  queue->EnqueueMany({Tensor::Vector<float>({1, 2, 3, 4, 5})}, nullptr, in.Done());
  EXPECT_FALSE(in.called);
  queue->DequeueMany(5, false, nullptr, out.DoneTuple());
  EXPECT_TRUE(in.called && out.called);
  ASSERT_EQ(Shape({5}), out.tuple[0].shape());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(i + 1, out.tuple[0].data<float>()[i]);
}

TEST(Queue, CloseAnswersWhoWaits) {
  auto queue = MakeQueue(5);
  Answer in, many, up_to, closed, again, late;
  queue->EnqueueMany({Tensor::Vector<float>({1, 2})}, nullptr, in.Done());
  queue->DequeueMany(3, false, nullptr, many.DoneTuple());
  EXPECT_FALSE(many.called);
  queue->Close(false, closed.Done());
  EXPECT_EQ(Code::kOutOfRange, many.status.code());
  EXPECT_EQ(2, queue->Size());  // what it had taken went back
  queue->DequeueMany(3, true, nullptr, up_to.DoneTuple());
  EXPECT_EQ(Shape({2}), up_to.tuple.at(0).shape());
  queue->Close(false, again.Done());
  EXPECT_EQ(Code::kCancelled, again.status.code());
  queue->Enqueue({Tensor(1.0f)}, nullptr, late.Done());
  EXPECT_EQ(Code::kCancelled, late.status.code());
}

TEST(Queue, CancellationAnswersAndGivesBack) {
  auto queue = MakeQueue(5);
  const auto cancellation = MakeRef<CancellationManager>();
  Answer in, many, other;
  queue->Enqueue({Tensor(1.0f)}, nullptr, in.Done());
  queue->DequeueMany(2, false, cancellation, many.DoneTuple());
  queue->Dequeue(nullptr, other.DoneTuple());
  EXPECT_FALSE(many.called || other.called);
  cancellation->Cancel();
  EXPECT_EQ(Code::kCancelled, many.status.code());
  EXPECT_TRUE(other.status.ok() && other.called);
  Answer late;
  queue->Dequeue(cancellation, late.DoneTuple());
  EXPECT_EQ(Code::kCancelled, late.status.code());
}

TEST(Queue, BadElements) {
  auto queue = MakeQueue(5);
  EXPECT_THROW(queue->Enqueue({}, nullptr, nullptr), Error);
  EXPECT_THROW(queue->Enqueue({Tensor(int32_t{1})}, nullptr, nullptr), Error);
  EXPECT_THROW(queue->Enqueue({Tensor::Vector<float>({1, 2})}, nullptr, nullptr), Error);
  EXPECT_THROW(queue->EnqueueMany({Tensor(1.0f)}, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace penstock

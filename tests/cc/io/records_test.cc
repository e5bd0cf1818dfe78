#include "penstock/io/records.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "penstock/io/event_writer.h"
#include "penstock/io/record_stream.h"
#include "penstock/io/slice_table.h"
#include "penstock/io/snappy.h"

namespace penstock {
namespace {

std::string Scratch(const std::string& name) {
  const std::string directory = testing::TempDir() + "/records" + std::to_string(getpid());
  MakeDirectories(directory);
  return directory + "/" + name;
}

TEST(Records, FrameAndReader) {
  const std::string path = Scratch("r");
  WriteWholeFile(path, RecordFrame("abc") + RecordFrame(""));
  RecordReader reader(path);
  std::string record;
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ("abc", record);
  EXPECT_EQ(19u, reader.offset());
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ("", record);
  EXPECT_FALSE(reader.Next(&record));
}

TEST(Records, AFileIsItsFrames) {
  const std::string path = Scratch("file"), large(100'000, 'x');
  RecordFile file(path, Compression::kNone);
  EXPECT_TRUE(file.Fits("abc"));
  EXPECT_FALSE(file.Fits(large));  // more than the buffer holds
  file.Write("abc");
  file.Write(large);
  file.Close();
  EXPECT_FALSE(file.Fits("abc"));
  EXPECT_THROW(file.Write("abc"), Error);
  const InputFile written(path);
  EXPECT_EQ(RecordFrame("abc") + RecordFrame(large), written.Read(0, written.size()));
}

TEST(Records, ForgedLengthWithAGoodChecksum) {
  const std::string path = Scratch("forged");
  std::string frame = RecordFrame(std::string(8, '\xff'));
  // A header whose length is huge, taken from a record of that many bytes that never was.
  WriteWholeFile(path, frame.substr(0, 12));
  RecordReader reader(path);
  std::string record;
  EXPECT_THROW(reader.Next(&record), Error);
}

TEST(EventWriter, ManyThreads) {
  const std::string prefix = Scratch("events");
  std::string path;
  {
    EventWriter writer(prefix);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          writer.Write("event");
          if (i % 100 == 0) writer.Flush();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    path = writer.path();
    writer.Close();
    writer.Close();
    writer.Write("in another file");
    EXPECT_NE(path, writer.path());
  }
  RecordReader reader(path);
  std::string record;
  int count = -1;  // the first is the file's version
  while (reader.Next(&record)) ++count;
  EXPECT_EQ(2000, count);
}

TEST(EventWriter, CloseWhileOthersWrite) {
  EventWriter writer(Scratch("closing"));
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) writer.Write("event");
  });
  for (int i = 0; i < 20; ++i) writer.Close();
  other.join();
}

TEST(Snappy, CopiesAndBadInput) {
  std::string out;
  // "abcd" and a copy of 8 bytes from 4 back.
  ASSERT_TRUE(SnappyUncompress(std::string("\x0c\x0c"
                                           "abcd"
                                           "\x11\x04",
                                           8),
                               100, &out));
  EXPECT_EQ("abcdabcdabcd", out);
  EXPECT_FALSE(SnappyUncompress(std::string("\x0c\x0c"
                                            "abcd"
                                            "\x11\x05",
                                            8),
                                100, &out));
  EXPECT_FALSE(SnappyUncompress("\xff\xff\xff\xff\x0f", 100, &out));
  EXPECT_FALSE(SnappyUncompress("", 100, &out));
}

TEST(SliceTable, PartsOfATensor) {
  const std::string path = Scratch("v1");
  Tensor whole(DT_INT32, Shape({4, 2}));
  for (int i = 0; i < 8; ++i) whole.mutable_data<int32_t>()[i] = i;
  SliceTableWriter writer(path);
  writer.Add("t", Shape({4, 2}), TensorSlice::Parse("0,2:-"), whole.Slice(0, 2));
  EXPECT_THROW(writer.Add("t", Shape({4, 2}), TensorSlice::Parse("0,2:-"), whole.Slice(0, 2)), Error);
  writer.Add("t", Shape({4, 2}), TensorSlice::Parse("2,2:-"), whole.Slice(2, 4));
  writer.Finish();
  const SliceTableReader reader(path);
  const Tensor read = reader.ReadSlice("t", TensorSlice::Parse("1,2:1,1"));
  EXPECT_EQ(Shape({2, 1}), read.shape());
  EXPECT_EQ(3, read.data<int32_t>()[0]);
  EXPECT_EQ(5, read.data<int32_t>()[1]);
  EXPECT_THROW(reader.Read("u"), Error);
}

}  // namespace
}  // namespace penstock

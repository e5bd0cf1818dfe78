#include "penstock/io/tensor_bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "penstock/base/crc32c.h"
#include "penstock/io/slice_key.h"
#include "penstock/io/table.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

std::string Scratch(const std::string& name) {
  const std::string directory = testing::TempDir() + "/bundle" + std::to_string(getpid());
  MakeDirectories(directory);
  return directory + "/" + name;
}

Tensor Iota(const Shape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i);
  return t;
}

void ExpectCode(Code code, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(code, e.code()) << e.what();
  }
}

TEST(Crc32c, KnownValues) {  // from RFC 3720
  EXPECT_EQ(0x8a9136aau, Crc32c(std::string(32, '\0')));
  EXPECT_EQ(0x62a8ab43u, Crc32c(std::string(32, '\xff')));
  EXPECT_EQ(0xe3069283u, Crc32c("123456789"));
  EXPECT_EQ(Crc32c("123456789"), ExtendCrc32c(Crc32c("1234"), "56789"));
  EXPECT_EQ(0x12345678u, UnmaskCrc32c(MaskCrc32c(0x12345678u)));
}

TEST(Crc32c, LongInputsAsManyShortOnes) {
  std::string bytes(100000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i * 31 + (i >> 7));
  for (const size_t size : {size_t{12287}, size_t{12288}, size_t{12289}, size_t{24577}, bytes.size()}) {
    uint32_t expected = 7;
    for (size_t i = 0; i < size; i += 10) {
      expected = ExtendCrc32c(expected, std::string_view(bytes).substr(i, std::min<size_t>(10, size - i)));
    }
    EXPECT_EQ(expected, ExtendCrc32c(7, std::string_view(bytes).substr(0, size))) << size;
  }
}

TEST(Table, ManyKeysOverSeveralBlocks) {
  const std::string path = Scratch("table");
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 3000; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "key%06d", i);
    entries.emplace_back(key, std::string(i % 700, static_cast<char>(i)));
  }
  OutputFile file(path);
  TableWriter writer(&file);
  for (const auto& [key, value] : entries) writer.Add(key, value);
  writer.Finish();
  file.Commit();
  EXPECT_EQ(entries, ReadTable(path));
}

TEST(TensorBundle, WholeTensors) {
  const std::string prefix = Scratch("whole");
  const Tensor a = Iota(Shape({3, 4})), b(int64_t{7});
  const Tensor s = Tensor::Vector<TString>({TString("x"), TString(""), TString(std::string(300, 'y'))});
  const Tensor empty(DT_HALF, Shape({0, 5}));
  BundleWriter writer(prefix);
  writer.Add("b", b);
  writer.Add("a", a);
  writer.Add("dir/s", s);
  writer.Add("empty", empty);
  EXPECT_THROW(writer.Add("a", a), Error);
  writer.Finish();

  const BundleReader reader(prefix);
  EXPECT_EQ((std::vector<std::string>{"a", "b", "dir/s", "empty"}), reader.Names());
  const Tensor a2 = reader.Read("a");
  EXPECT_EQ(a.shape(), a2.shape());
  EXPECT_EQ(0, std::memcmp(a.raw(), a2.raw(), a.bytes()));
  EXPECT_EQ(7, reader.Read("b").scalar<int64_t>());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s.data<TString>()[i], reader.Read("dir/s").data<TString>()[i]);
  EXPECT_EQ(empty.shape(), reader.Read("empty").shape());
  ExpectCode(Code::kNotFound, [&] { reader.Read("c"); });
  ExpectCode(Code::kNotFound, [&] { BundleReader(Scratch("absent")); });
}

TEST(TensorBundle, Variants) {
  const std::string prefix = Scratch("variants");
  Tensor written(DT_VARIANT, Shape({2}));
  written.mutable_data<Variant>()[0] = Variant(DecodeVariant("some::Type", "metadata", {Iota({3})}));
  {
    BundleWriter writer(prefix);
    writer.Add("v", written);
    writer.Finish();
  }
  const Tensor read = BundleReader(prefix).Read("v");
  ASSERT_EQ(Shape({2}), read.shape());
  EXPECT_TRUE(read.data<Variant>()[1].empty());
  std::string metadata;
  std::vector<Tensor> tensors;
  read.data<Variant>()[0].get()->Encode(&metadata, &tensors);
  EXPECT_EQ("some::Type", read.data<Variant>()[0].get()->TypeName());
  EXPECT_EQ("metadata", metadata);
  ASSERT_EQ(1u, tensors.size());
  EXPECT_EQ(2.0f, tensors[0].data<float>()[2]);
  // Every byte of the file counts.
  const std::string path = BundleDataPath(prefix, 0, 1);
  const std::string whole = ReadWholeFile(path);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    WriteWholeFile(path, damaged);
    ExpectCode(Code::kDataLoss, [&] { BundleReader(prefix).Read("v"); });
  }
}

TEST(TensorBundle, PartsOfATensor) {
  const std::string prefix = Scratch("parts");
  const Tensor whole = Iota(Shape({4, 3}));
  BundleWriter writer(prefix);
  writer.AddSlice("v", whole.shape(), TensorSlice::Parse("0,3:-"), whole.Slice(0, 3));
  writer.AddSlice("v", whole.shape(), TensorSlice::Parse("3,1:-"), whole.Slice(3, 4));
  writer.Finish();
  const BundleReader reader(prefix);
  EXPECT_EQ(std::vector<std::string>{"v"}, reader.Names());
  EXPECT_EQ(0, std::memcmp(whole.raw(), reader.Read("v").raw(), whole.bytes()));
  const Tensor part = reader.ReadSlice("v", TensorSlice::Parse("2,2:1,2"));
  ASSERT_EQ(Shape({2, 2}), part.shape());
  const float expected[] = {7, 8, 10, 11};
  EXPECT_EQ(0, std::memcmp(expected, part.raw(), sizeof(expected)));
  ExpectCode(Code::kInvalidArgument, [&] { reader.ReadSlice("v", TensorSlice::Parse("2,3:-")); });
}

TEST(TensorBundle, Merge) {
  const Tensor a = Iota(Shape({4})), b = Iota(Shape({5}));
  for (const auto& [name, tensor] : {std::pair("one", a), std::pair("two", b)}) {
    BundleWriter writer(Scratch(name));
    writer.Add(name, tensor);
    writer.Finish();
  }
  MergeBundles({Scratch("one"), Scratch("two")}, Scratch("merged"), false);
  const BundleReader reader(Scratch("merged"));
  EXPECT_EQ(2, reader.num_shards());
  EXPECT_EQ(0, std::memcmp(a.raw(), reader.Read("one").raw(), a.bytes()));
  EXPECT_EQ(0, std::memcmp(b.raw(), reader.Read("two").raw(), b.bytes()));
  EXPECT_FALSE(FileExists(BundleIndexPath(Scratch("one"))));
}

// Whatever byte is changed or cut off, reading says so, or gives the right values.
TEST(TensorBundle, DamagedFiles) {
  const std::string prefix = Scratch("damaged");
  const Tensor a = Iota(Shape({3, 4}));
  const Tensor s = Tensor::Vector<TString>({TString("text")});
  BundleWriter writer(prefix);
  writer.Add("a", a);
  writer.Add("s", s);
  writer.Finish();
  for (const std::string& path : {BundleIndexPath(prefix), BundleDataPath(prefix, 0, 1)}) {
    const std::string good = ReadWholeFile(path);
    for (size_t i = 0; i < good.size(); ++i) {
      for (int cut = 0; cut < 2; ++cut) {
        std::string bad = good;
        if (cut) {
          bad.resize(i);
        } else {
          bad[i] = static_cast<char>(bad[i] ^ 0x55);
        }
        WriteWholeFile(path, bad);
        try {
          const BundleReader reader(prefix);
          EXPECT_EQ(0, std::memcmp(a.raw(), reader.Read("a").raw(), a.bytes())) << path << " " << i;
          EXPECT_EQ(TString("text"), reader.Read("s").data<TString>()[0]);
        } catch (const Error&) {
        }
      }
    }
    WriteWholeFile(path, good);
  }
}

std::string Message(std::initializer_list<std::pair<int, std::string>> fields) {
  std::string bytes;
  for (const auto& [field, value] : fields) {
    AppendVarint(&bytes, static_cast<uint64_t>(field) << 3 | 2);
    AppendVarint(&bytes, value.size());
    bytes += value;
  }
  return bytes;
}
std::string Number(int field, uint64_t value) {
  std::string bytes;
  AppendVarint(&bytes, static_cast<uint64_t>(field) << 3);
  AppendVarint(&bytes, value);
  return bytes;
}
// An entry of an index: a float tensor of one axis, where it lies, and its parts (start, length).
std::string EntryBytes(uint64_t length, uint64_t offset, uint64_t size,
                       const std::vector<std::pair<uint64_t, uint64_t>>& parts) {
  std::string bytes =
      Number(1, DT_FLOAT) + Message({{2, Message({{2, Number(1, length)}})}}) + Number(4, offset) + Number(5, size);
  for (const auto& [start, count] : parts) {
    bytes += Message({{7, Message({{1, (start ? Number(1, start) : "") + Number(2, count)}})}});
  }
  return bytes;
}
void WriteIndexOf(const std::string& prefix, std::vector<std::pair<std::string, std::string>> entries) {
  OutputFile file(BundleIndexPath(prefix));
  TableWriter table(&file);
  table.Add("", Number(1, 1) + Message({{3, Number(1, 1)}}));
  std::ranges::sort(entries);
  for (const auto& [key, value] : entries) table.Add(key, value);
  table.Finish();
  file.Commit();
  WriteWholeFile(BundleDataPath(prefix, 0, 1), std::string(40, '\0'));
}

// Entries that make no sense behind checksums that are right.
TEST(TensorBundle, ForgedIndex) {
  const std::string prefix = Scratch("forged");
  const uint64_t huge = uint64_t{1} << 42;
  const auto slice = [](const char* text) { return TensorSlice::Parse(text); };
  // Parts that claim more than the files hold, one that is missing, and parts that share their bytes.
  WriteIndexOf(prefix, {{"v", EntryBytes(huge, 0, 0, {{0, huge}})},
                        {SliceKey("v", slice("0,4398046511104")), EntryBytes(huge, 0, 4 * huge, {})}});
  ExpectCode(Code::kDataLoss, [&] { BundleReader(prefix).Read("v"); });
  WriteIndexOf(prefix,
               {{"v", EntryBytes(huge, 0, 0, {{0, 10}})}, {SliceKey("v", slice("0,10")), EntryBytes(10, 0, 40, {})}});
  ExpectCode(Code::kDataLoss, [&] { BundleReader(prefix).Read("v"); });
  WriteIndexOf(prefix, {{"v", EntryBytes(20, 0, 0, {{0, 10}, {10, 10}})},
                        {SliceKey("v", slice("0,10")), EntryBytes(10, 0, 40, {})},
                        {SliceKey("v", slice("10,10")), EntryBytes(10, 0, 40, {})}});
  ExpectCode(Code::kDataLoss, [&] { BundleReader(prefix).Read("v"); });
  WriteIndexOf(prefix, {{"v", EntryBytes(20, 0, 0, {{0, 10}})}});
  ExpectCode(Code::kNotFound, [&] { BundleReader(prefix).Read("v"); });
  // A whole that is larger than the file, read in part.
  WriteIndexOf(prefix, {{"v", EntryBytes(huge, 0, 4 * huge, {})}});
  ExpectCode(Code::kDataLoss, [&] { BundleReader(prefix).ReadSlice("v", slice("0,4398046511100")); });
  // Types that there are not, whose elements have no size.
  for (const uint64_t type : {0, 255}) {
    WriteIndexOf(prefix, {{"v", EntryBytes(10, 0, 40, {}) + Number(1, type)}});
    ExpectCode(Code::kUnimplemented, [&] { BundleReader(prefix).Read("v"); });
    ExpectCode(Code::kUnimplemented, [&] { BundleReader(prefix).ReadSlice("v", slice("0,4")); });
  }
  // A part twice, and parts that overlap: some elements would be those of other tensors.
  for (const auto& second : {std::pair<uint64_t, uint64_t>(0, 4), {3, 4}}) {
    WriteIndexOf(prefix, {{"v", EntryBytes(8, 0, 0, {{0, 4}, second})}});
    ExpectCode(Code::kDataLoss, [&] { BundleReader{prefix}; });
  }
}

TEST(TensorSlice, Disjoint) {
  const auto check = [](const Shape& of, std::initializer_list<const char*> texts) {
    std::vector<TensorSlice> slices;
    for (const char* text : texts) slices.push_back(TensorSlice::Parse(text));
    CheckDisjoint(of, slices);
  };
  check(Shape({4, 4}), {"0,2:0,2", "2,2:0,2", "0,2:2,2", "2,2:2,2"});
  check(Shape({4, 4}), {"0,3:0,1", "3,1:-", "0,3:1,3"});
  check(Shape({}), {""});
  check(Shape({4}), {});
  ExpectCode(Code::kDataLoss, [&] { check(Shape({4, 4}), {"0,2:0,3", "2,2:-", "1,1:2,1"}); });
  ExpectCode(Code::kDataLoss, [&] { check(Shape({4}), {"-", "2,1"}); });
  ExpectCode(Code::kDataLoss, [&] { check(Shape({}), {"", ""}); });
}

// One block that the index names twice.
TEST(Table, KeysAscend) {
  const std::string path = Scratch("twice");
  OutputFile file(path);
  TableWriter writer(&file);
  writer.Add("a", "1");
  writer.Add("a", "2");
  writer.Finish();
  file.Commit();
  ExpectCode(Code::kDataLoss, [&] { ReadTable(path); });
}

TEST(OutputFile, NothingRemainsWithoutCommit) {
  const std::string path = Scratch("uncommitted");
  {
    OutputFile file(path);
    file.Append("bytes");
  }
  EXPECT_TRUE(MatchingPaths(path + "*").empty());
}

// Once there is a checkpoint there always is a whole one, however many save and restore.
TEST(Bundle, SeveralSaversOfOnePrefix) {
  const std::string prefix = Scratch("shared");
  const auto save = [&](float value) {
    BundleWriter writer(prefix);
    writer.Add("a", Tensor(value));
    writer.Add("b", Tensor(value));
    writer.Finish();
  };
  save(0);
  std::atomic<int> saving = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) save(static_cast<float>(100 * t + i));
      --saving;
    });
  }
  int reads = 0;
  std::string failed;
  while (saving > 0 && failed.empty()) {
    try {
      const BundleReader reader(prefix);
      if (*reader.Read("a").data<float>() != *reader.Read("b").data<float>()) failed = "two checkpoints in one";
      ++reads;
    } catch (const Error& e) {
      failed = e.what();
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, "");
  EXPECT_GT(reads, 0);
  const BundleReader reader(prefix);
  EXPECT_EQ(*reader.Read("a").data<float>(), *reader.Read("b").data<float>());
  // One checkpoint's files are left.
  EXPECT_EQ(MatchingPaths(prefix + "*").size(), 2u);
}

}  // namespace
}  // namespace penstock

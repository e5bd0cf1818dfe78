#include "penstock/io/tensor_bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/base/crc32c.h"
#include "penstock/io/table.h"

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

TEST(OutputFile, NothingRemainsWithoutCommit) {
  const std::string path = Scratch("uncommitted");
  {
    OutputFile file(path);
    file.Append("bytes");
  }
  EXPECT_TRUE(MatchingPaths(path + "*").empty());
}

}  // namespace
}  // namespace penstock

#include "penstock/io/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

// The same on disk and in memory.
class Files : public testing::TestWithParam<std::string> {
 protected:
  Files()
      : base_(GetParam() + std::to_string(getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    MakeDirectories(base_);
  }
  ~Files() override { FileSystemOf(base_).RemoveTree(base_); }
  const std::string base_;
};

template <class F>
Code CodeOf(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

TEST_P(Files, AppearWholeOrNotAtAll) {
  const std::string path = base_ + "/f";
  WriteWholeFile(path, "old");
  {
    OutputFile file(path);
    file.Append(std::string(100000, 'x'));
    file.Flush();
    EXPECT_EQ("old", ReadWholeFile(path));
  }
  EXPECT_EQ("old", ReadWholeFile(path));
  OutputFile file(path);
  file.Append("new");
  file.Commit();
  EXPECT_EQ("new", ReadWholeFile(path));
  EXPECT_EQ(1u, FileSystemOf(base_).List(base_).size());
  EXPECT_EQ(Code::kFailedPrecondition, CodeOf([&] { file.Append("more"); }));
  EXPECT_EQ(Code::kFailedPrecondition, CodeOf([&] { file.Flush(); }));
}

TEST_P(Files, GrowWhereOthersSee) {
  const std::string path = base_ + "/f";
  OutputFile file(path, WriteMode::kReplace);
  file.Append("ab");
  file.Flush();
  EXPECT_EQ("ab", ReadWholeFile(path));
  file.Append("c");
  file.Commit();
  OutputFile more(path, WriteMode::kAppend);
  more.Append("d");
  more.Commit();
  EXPECT_EQ("abcd", ReadWholeFile(path));
  EXPECT_EQ(Code::kAlreadyExists, CodeOf([&] { FileSystemOf(path).Create(path, WriteMode::kNew); }));
  const InputFile reader(path);
  EXPECT_EQ("bc", reader.Read(1, 2));
  EXPECT_EQ(Code::kOutOfRange, CodeOf([&] { reader.Read(3, 2); }));
  EXPECT_EQ(Code::kOutOfRange, CodeOf([&] { reader.Read(5, UINT64_MAX); }));
}

TEST_P(Files, Directories) {
  FileSystem& files = FileSystemOf(base_);
  MakeDirectories(base_ + "/a/b/");
  WriteWholeFile(base_ + "/a/b/one", "1");
  WriteWholeFile(base_ + "/a/b/two", "22");
  EXPECT_EQ(2u, files.Find(base_ + "/a/b/two")->size);
  EXPECT_TRUE(files.Find(base_ + "/a//b")->is_directory);
  EXPECT_FALSE(files.Find(base_ + "/a/c").has_value());
  EXPECT_EQ(Code::kFailedPrecondition, CodeOf([&] { ReadWholeFile(base_ + "/a"); }));
  EXPECT_EQ(Code::kFailedPrecondition, CodeOf([&] { files.RemoveDirectory(base_ + "/a/b"); }));
  EXPECT_EQ(Code::kNotFound, CodeOf([&] { files.MakeDirectory(base_ + "/x/y"); }));
  EXPECT_EQ(Code::kFailedPrecondition, CodeOf([&] { MakeDirectories(base_ + "/a/b/one/c"); }));
  EXPECT_EQ((std::vector{base_ + "/a/b/one", base_ + "/a/b/two"}), MatchingPaths(base_ + "/?/b/*"));
  EXPECT_EQ((std::vector{base_ + "/a/b/two"}), MatchingPaths(base_ + "/a/b/[s-z]*"));
  EXPECT_TRUE(MatchingPaths(base_ + "/*/*/*/*").empty());
  RenameFile(base_ + "/a", base_ + "/z");
  EXPECT_EQ("1", ReadWholeFile(base_ + "/z/b/one"));
  EXPECT_FALSE(FileExists(base_ + "/a/b/one"));
  CopyFile(base_ + "/z/b/two", base_ + "/z/b/one");
  EXPECT_EQ("22", ReadWholeFile(base_ + "/z/b/one"));
  files.RemoveTree(base_ + "/z");
  EXPECT_TRUE(files.List(base_).empty());
  EXPECT_EQ(Code::kNotFound, CodeOf([&] { files.RemoveTree(base_ + "/z"); }));
  EXPECT_EQ(Code::kNotFound, CodeOf([&] { RemoveFile(base_ + "/z"); }));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Files, testing::Values(testing::TempDir() + "/files", "ram://files"),
                         [](const auto& info) { return std::string(info.index == 0 ? "local" : "memory"); });

TEST(FileSystems, Schemes) {
  EXPECT_EQ("s3", SchemeOf("s3://bucket/key"));
  EXPECT_EQ("", SchemeOf("/a/b"));
  EXPECT_EQ("", SchemeOf("://a"));
  EXPECT_EQ("", SchemeOf("a b://c"));
  EXPECT_EQ("ram://", DirectoryOf("ram://a"));
  EXPECT_EQ("ram://a", DirectoryOf("ram://a/b"));
  EXPECT_EQ("/", DirectoryOf("/a"));
  EXPECT_EQ(Code::kUnimplemented, CodeOf([] { FileSystemOf("nobody://a"); }));
  EXPECT_EQ(Code::kUnimplemented, CodeOf([] { RenameFile("ram://a", "/tmp/a"); }));
}

TEST(FileSystems, OfAnotherScheme) {
  static int asked = 0;
  SetFileSystemFactory([](const std::string& scheme) {
    ++asked;
    return scheme == "mine" ? MakeMemoryFileSystem() : nullptr;
  });
  WriteWholeFile("mine://f", "1");
  EXPECT_EQ("1", ReadWholeFile("mine://f"));
  EXPECT_EQ(1, asked);
  EXPECT_FALSE(FileExists("ram://f"));
  EXPECT_EQ(Code::kUnimplemented, CodeOf([] { FileExists("other://f"); }));
  SetFileSystemFactory(nullptr);
}

}  // namespace
}  // namespace penstock

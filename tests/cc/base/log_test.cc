#include "penstock/base/log.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr uint32_t Bit(LogSubject subject) { return uint32_t{1} << static_cast<int>(subject); }

TEST(Log, SubjectsAreNamedInAList) {
  std::string unknown;
  EXPECT_EQ(ParseLogSubjects("", &unknown), 0u);
  EXPECT_EQ(ParseLogSubjects("placer", &unknown), Bit(LogSubject::kPlacer));
  EXPECT_EQ(ParseLogSubjects("placer,compile,", &unknown), Bit(LogSubject::kPlacer) | Bit(LogSubject::kCompile));
  EXPECT_EQ(unknown, "");
}

TEST(Log, AllNamesEverySubject) {
  std::string unknown;
  EXPECT_EQ(ParseLogSubjects("all", &unknown), (uint32_t{1} << std::size(kLogSubjects)) - 1);
}

TEST(Log, UnknownSubjectsAreReported) {
  std::string unknown;
  EXPECT_EQ(ParseLogSubjects("plaser,executor,x", &unknown), Bit(LogSubject::kExecutor));
  EXPECT_EQ(unknown, "plaser, x");
}

TEST(Log, NothingIsOnWithoutTheVariable) {
  unsetenv("PENSTOCK_LOG");
  EXPECT_FALSE(LogOn(LogSubject::kExecutor));
  EXPECT_FALSE(LogOn(LogSubject::kPlacer));
}

}  // namespace
}  // namespace penstock

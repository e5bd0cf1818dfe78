#include "penstock/base/branches.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace penstock {
namespace {

enum class Path { kShort, kLong };
constinit BranchTable<2> paths{"test/paths", {"short", "long"}};

std::map<std::string, uint64_t> Counts() {
  std::map<std::string, uint64_t> counts;
  for (const Branches::Row& row : Branches::Rows()) {
    if (row.table == "test/paths") counts[row.branch] = row.entered;
  }
  return counts;
}

TEST(Branches, CountsOnlyWhileOn) {
  paths.Enter(Path::kShort);
  EXPECT_TRUE(Counts().empty());
  Branches::Count(true);
  paths.Enter(Path::kLong);
  paths.Enter(Path::kLong);
  EXPECT_EQ(Counts(), (std::map<std::string, uint64_t>{{"short", 0}, {"long", 2}}));
  Branches::Count(false);
  paths.Enter(Path::kShort);
  EXPECT_EQ(Counts()["short"], 0u);
  Branches::Reset();
  EXPECT_EQ(Counts()["long"], 0u);
}

}  // namespace
}  // namespace penstock

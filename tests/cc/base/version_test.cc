#include "penstock/base/version.h"

#include <gtest/gtest.h>

namespace penstock {

TEST(Version, LibraryAndHeadersAgree) { EXPECT_STREQ(Version(), kVersion); }

}  // namespace penstock

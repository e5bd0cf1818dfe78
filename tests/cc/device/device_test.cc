#include "penstock/device/device.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(DeviceName, ReadsAllForms) {
  for (const char* text : {"/job:worker/replica:0/task:3/device:CPU:1", "/job:worker/replica:0/task:3/cpu:1"}) {
    EXPECT_EQ(DeviceName::Parse(text).ToString(), "/job:worker/replica:0/task:3/device:CPU:1");
  }
  EXPECT_EQ(DeviceName::Parse("/gpu:0").ToString(), "/device:GPU:0");
  EXPECT_EQ(DeviceName::Parse("/device:GPU:*").ToString(), "/device:GPU:*");
  EXPECT_EQ(DeviceName::Parse("/task:7").ToString(), "/task:7");
  EXPECT_EQ(DeviceName::Parse("").ToString(), "");
  for (const char* text : {"/job:", "/cpu:x", "/device:CPU:0:1", "nonsense:1:2", "/task:-1"}) {
    EXPECT_THROW(DeviceName::Parse(text), Error) << text;
  }
}

TEST(DeviceName, MatchesAndMerges) {
  const DeviceName full = DeviceName::Parse("/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_TRUE(DeviceName::Parse("/cpu:1").Matches(full));
  EXPECT_TRUE(DeviceName::Parse("").Matches(full));
  EXPECT_FALSE(DeviceName::Parse("/cpu:0").Matches(full));
  EXPECT_FALSE(DeviceName::Parse("/job:ps").Matches(full));
  DeviceName name = DeviceName::Parse("/job:ps");
  name.MergeFrom(DeviceName::Parse("/cpu:2"));
  EXPECT_EQ(name.ToString(), "/job:ps/device:CPU:2");
  EXPECT_THROW(name.MergeFrom(DeviceName::Parse("/job:worker")), Error);
  EXPECT_THROW(name.MergeFrom(DeviceName::Parse("/gpu:2")), Error);
  name.MergeFrom(DeviceName::Parse("/gpu:2"), true);
  EXPECT_EQ(name.ToString(), "/job:ps");
  name.OverrideWith(DeviceName::Parse("/job:chief/task:1"));
  EXPECT_EQ(name.ToString(), "/job:chief/task:1");
}

class Thing : public Resource {
 public:
  std::string DebugString() const override { return "thing"; }
};
class Other : public Resource {
 public:
  std::string DebugString() const override { return "other"; }
};

TEST(ResourceManager, KeepsObjectsByContainerAndName) {
  ResourceManager manager;
  int made = 0;
  const auto make = [&] {
    ++made;
    return MakeRef<Thing>();
  };
  const Ref<Thing> a = manager.FindOrMake<Thing>("", "a", make);
  EXPECT_EQ(manager.FindOrMake<Thing>("localhost", "a", make).get(), a.get());
  EXPECT_EQ(made, 1);
  EXPECT_THROW(manager.FindAs<Other>("", "a"), Error);
  EXPECT_FALSE(manager.FindAs<Thing>("elsewhere", "a"));
  manager.FindOrMake<Thing>("elsewhere", "b", make);
  manager.Clear("elsewhere");
  EXPECT_FALSE(manager.Find("elsewhere", "b"));
  EXPECT_TRUE(manager.Remove("", "a"));
  EXPECT_FALSE(manager.Remove("", "a"));
  EXPECT_TRUE(a.get()->unique());
}

}  // namespace
}  // namespace penstock

// duly from a client that is not duly: the scripts beside this file, run by the system's Python.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

int run_python(const std::string& script, const std::string& suite) {
  const std::string command =
      "/usr/bin/python3 '" DULY_SOURCE_DIR "/tests/e2e/" + script + "' " + suite + " 2>&1";
  return std::system(command.c_str());  // NOLINT(cert-env33-c): fixed text
}

TEST(RawClient, CallsEveryFunctionByFcall) {
  EXPECT_EQ(run_python("raw_client.py", "ByFunctions"), 0);
}

TEST(RawClient, CallsEveryFunctionByEvalshaWithoutRightsToFunctions) {
  EXPECT_EQ(run_python("raw_client.py", "ByScript"), 0);
}

TEST(LuaLibrary, KeepsTheRulesOfItsText) {
  EXPECT_EQ(run_python("library_rules.py", "LibraryText"), 0);
}

TEST(LuaLibrary, KeepsItsPromisesOnKeysRightsAndMemory) {
  EXPECT_EQ(run_python("library_rules.py", "LibraryAtWork"), 0);
}

TEST(LuaLibrary, WakesWaiters) { EXPECT_EQ(run_python("library_rules.py", "WakeUp"), 0); }

}  // namespace

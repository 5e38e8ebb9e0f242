#include "src/core/id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/core/check.h"

namespace duly::core {
namespace {

constexpr std::int64_t kNow_ms = 1'800'000'000'000;

SystemTime at(std::int64_t ms) { return SystemTime{Milliseconds{ms}}; }

const std::string kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The first eight characters of an id as a number.
std::int64_t id_ms(const JobId& id) {
  const std::string& alphabet = kBase62;
  std::int64_t ms = 0;
  for (const char c : id.text().substr(0, 8)) {
    ms = ms * 62 + static_cast<std::int64_t>(alphabet.find(c));
  }
  return ms;
}

template <class T>
void expect_strictly_ascending(const std::vector<T>& names) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    ASSERT_LT(names[i - 1].text(), names[i].text()) << i;
  }
}

TEST(IdSource, AnIdBeginsWithItsMoment) {
  IdSource source([] { return at(kNow_ms); });

  const JobId id = source.job_id();

  EXPECT_EQ(id.text().size(), 20U);
  EXPECT_EQ(id.text().find_first_not_of(kBase62), std::string::npos);
  EXPECT_EQ(id_ms(id), kNow_ms);
  EXPECT_EQ(check_id(id), std::nullopt);
}

TEST(IdSource, AnIdWrittenByHandForAKnownMoment) {
  IdSource source([] { return at(1'469'918'176'385); });
  EXPECT_EQ(source.job_id().text().substr(0, 8), "0PsTqrrd");
}

TEST(IdSource, ATokenHasFifteenCharactersAndPassesTheCheck) {
  IdSource source([] { return at(kNow_ms); });

  const LeaseToken token = source.token();

  EXPECT_EQ(token.text().size(), 15U);
  EXPECT_EQ(check_token(token), std::nullopt);
}

TEST(IdSource, IdsSortInTheOrderTheyWereMade) {
  IdSource source;
  std::vector<JobId> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(source.job_id());
  expect_strictly_ascending(ids);
}

TEST(IdSource, TokensSortInTheOrderTheyWereMade) {
  IdSource source;
  std::vector<LeaseToken> tokens;
  for (int i = 0; i < 100'000; ++i) tokens.push_back(source.token());
  expect_strictly_ascending(tokens);
}

TEST(IdSource, IdsAndTokensMadeInOneMillisecondEachSort) {
  IdSource source([] { return at(kNow_ms); });
  std::vector<JobId> ids;
  std::vector<LeaseToken> tokens;
  for (int i = 0; i < 10'000; ++i) {
    ids.push_back(source.job_id());
    tokens.push_back(source.token());
    if (i % 3 == 0) ids.push_back(source.job_id());
  }
  expect_strictly_ascending(ids);
  expect_strictly_ascending(tokens);
}

TEST(IdSource, AClockThatStepsBackDoesNotBreakTheOrder) {
  std::int64_t now_ms = kNow_ms;
  IdSource source([&] { return at(now_ms); });
  std::vector<JobId> ids;
  std::vector<LeaseToken> tokens;
  for (const std::int64_t step : {0, 5, -3'600'000, 1, 0, -1, 3'600'010, -86'400'000}) {
    now_ms += step;
    ids.push_back(source.job_id());
    tokens.push_back(source.token());
  }
  expect_strictly_ascending(ids);
  expect_strictly_ascending(tokens);
  EXPECT_GE(id_ms(ids.back()), kNow_ms + 14);
}

TEST(IdSource, TwoSourcesAtOneMomentDiffer) {
  for (const std::int64_t ms : {kNow_ms, std::int64_t{0}, std::int64_t{-5}}) {
    IdSource one([ms] { return at(ms); });
    IdSource other([ms] { return at(ms); });
    EXPECT_NE(one.job_id().text(), other.job_id().text());
    EXPECT_NE(one.token().text(), other.token().text());
    EXPECT_NE(one.process_name(), other.process_name());
  }
}

TEST(IdSource, ManyThreadsGetDistinctNamesInTheirOrder) {
  IdSource source;
  constexpr int kThreads = 4;
  std::vector<std::vector<JobId>> ids(kThreads);
  std::vector<std::vector<LeaseToken>> tokens(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5'000; ++i) {
        ids[t].push_back(source.job_id());
        tokens[t].push_back(source.token());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::set<std::string> distinct;
  for (int t = 0; t < kThreads; ++t) {
    expect_strictly_ascending(ids[t]);
    expect_strictly_ascending(tokens[t]);
    for (const JobId& id : ids[t]) distinct.insert(id.text());
    for (const LeaseToken& token : tokens[t]) distinct.insert(token.text());
  }
  EXPECT_EQ(distinct.size(), 2U * kThreads * 5'000U);
}

TEST(IdSource, AProcessNameHasTwelveCharacters) {
  IdSource source;
  const std::string name = source.process_name();
  EXPECT_EQ(name.size(), 12U);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"), std::string::npos);
  EXPECT_NE(name, source.process_name());
}

}  // namespace
}  // namespace duly::core

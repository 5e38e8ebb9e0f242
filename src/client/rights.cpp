#include "src/client/rights.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace duly {
namespace {

using core::Right;
using redis::Command;
using redis::Reply;

struct Probe {
  std::string_view right;
  std::string_view words;  ///< The command, with a key that nobody has.
};

// If the link broke between MULTI and DISCARD, some of these would run: so all name a key of no
// queue, and most do nothing where it is not there.
constexpr std::array kProbes{
    Probe{"ping", "PING"},
    Probe{"select", "SELECT 0"},
    Probe{"client|setname", "CLIENT SETNAME duly"},
    Probe{"command|info", "COMMAND INFO ping"},
    Probe{"fcall", "FCALL duly_version 0"},
    Probe{"fcall_ro", "FCALL_RO duly_version 0"},
    Probe{"function|load", "FUNCTION LOAD nothing"},
    Probe{"evalsha", "EVALSHA 0 0"},
    Probe{"script|load", "SCRIPT LOAD nothing"},
    Probe{"time", "TIME"},
    Probe{"publish", "PUBLISH duly:{doctor}:wake:probe 0"},
    Probe{"spublish", "SPUBLISH duly:{doctor}:wake:probe 0"},
    Probe{"subscribe", "SUBSCRIBE duly:{doctor}:wake:probe"},
    Probe{"unsubscribe", "UNSUBSCRIBE duly:{doctor}:wake:probe"},
    Probe{"ssubscribe", "SSUBSCRIBE duly:{doctor}:wake:probe"},
    Probe{"sunsubscribe", "SUNSUBSCRIBE duly:{doctor}:wake:probe"},
    Probe{"sadd", "SADD duly:{doctor}:probe x"},
    Probe{"smembers", "SMEMBERS duly:queues"},
    Probe{"exists", "EXISTS duly:{doctor}:probe"},
    Probe{"get", "GET duly:{doctor}:probe"},
    Probe{"set", "SET duly:{doctor}:probe x XX"},
    Probe{"del", "DEL duly:{doctor}:probe"},
    Probe{"hget", "HGET duly:{doctor}:probe x"},
    Probe{"hset", "HSET duly:{doctor}:probe x x"},
    Probe{"hdel", "HDEL duly:{doctor}:probe x"},
    Probe{"hmget", "HMGET duly:{doctor}:probe x"},
    Probe{"hexists", "HEXISTS duly:{doctor}:probe x"},
    Probe{"hlen", "HLEN duly:{doctor}:probe"},
    Probe{"hgetall", "HGETALL duly:{doctor}:probe"},
    Probe{"hincrby", "HINCRBY duly:{doctor}:probe x 1"},
    Probe{"hrandfield", "HRANDFIELD duly:{doctor}:probe"},
    Probe{"hscan", "HSCAN duly:{doctor}:probe 0"},
    Probe{"hstrlen", "HSTRLEN duly:{doctor}:probe x"},
    Probe{"hvals", "HVALS duly:{doctor}:probe"},
    Probe{"zadd", "ZADD duly:{doctor}:probe XX 1 x"},
    Probe{"zrem", "ZREM duly:{doctor}:probe x"},
    Probe{"zrange", "ZRANGE duly:{doctor}:probe 0 0"},
    Probe{"zrevrange", "ZREVRANGE duly:{doctor}:probe 0 0"},
    Probe{"zrangebyscore", "ZRANGEBYSCORE duly:{doctor}:probe 0 0"},
    Probe{"zrevrangebyscore", "ZREVRANGEBYSCORE duly:{doctor}:probe 0 0"},
    Probe{"zremrangebyrank", "ZREMRANGEBYRANK duly:{doctor}:probe 0 0"},
    Probe{"zremrangebyscore", "ZREMRANGEBYSCORE duly:{doctor}:probe 0 0"},
    Probe{"zcard", "ZCARD duly:{doctor}:probe"},
    Probe{"zcount", "ZCOUNT duly:{doctor}:probe 0 0"},
    Probe{"zscore", "ZSCORE duly:{doctor}:probe x"},
    Probe{"zmscore", "ZMSCORE duly:{doctor}:probe x"},
    Probe{"zrank", "ZRANK duly:{doctor}:probe x"},
    Probe{"zrevrank", "ZREVRANK duly:{doctor}:probe x"},
    Probe{"zpopmax", "ZPOPMAX duly:{doctor}:probe"},
    Probe{"zscan", "ZSCAN duly:{doctor}:probe 0"},
    Probe{"strlen", "STRLEN duly:{doctor}:probe"},
    Probe{"pexpireat", "PEXPIREAT duly:{doctor}:probe 1"},
    Probe{"rpush", "RPUSH duly:{doctor}:probe x"},
    Probe{"rpop", "RPOP duly:{doctor}:probe"},
    Probe{"lmove", "LMOVE duly:{doctor}:probe duly:{doctor}:probe LEFT RIGHT"},
    Probe{"llen", "LLEN duly:{doctor}:probe"},
    Probe{"lrange", "LRANGE duly:{doctor}:probe 0 0"},
    Probe{"lrem", "LREM duly:{doctor}:probe 0 x"},
    Probe{"xadd", "XADD duly:{doctor}:probe NOMKSTREAM * a b"},
    Probe{"xlen", "XLEN duly:{doctor}:probe"},
    Probe{"xrange", "XRANGE duly:{doctor}:probe - + COUNT 1"},
    Probe{"xack", "XACK duly:{doctor}:probe duly 1-1"},
    Probe{"xdel", "XDEL duly:{doctor}:probe 1-1"},
    Probe{"xpending", "XPENDING duly:{doctor}:probe duly"},
    Probe{"xclaim", "XCLAIM duly:{doctor}:probe duly x 0 1-1"},
    Probe{"xautoclaim", "XAUTOCLAIM duly:{doctor}:probe duly x 0 0-0"},
    Probe{"xreadgroup", "XREADGROUP GROUP duly x STREAMS duly:{doctor}:probe >"},
    Probe{"xgroup|create", "XGROUP CREATE duly:{doctor}:probe duly 0"},
    Probe{"xgroup|delconsumer", "XGROUP DELCONSUMER duly:{doctor}:probe duly x"},
};

Command& add_words(Command& command, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    command.add(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return command;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Right::Finding finding_of(const Reply& reply) {
  if (reply.text == "OK" || reply.text == "QUEUED") return Right::Finding::granted;
  // Redis checks the command before its keys and channels.
  if (has(reply.text, "permissions to run")) return Right::Finding::no_command;
  if (has(reply.text, "ermissions to access")) return Right::Finding::no_key;
  return Right::Finding::unknown;  // Not known to this server, or not allowed in a transaction.
}

}  // namespace

std::vector<Right> look_at_rights(const std::function<Reply(Command)>& ask) {
  const Reply user = ask({"ACL", "WHOAMI"});
  bool may_ask = !user.is_error();
  if (may_ask) may_ask = !ask({"ACL", "DRYRUN", user.text, "PING"}).is_error();
  if (!may_ask && ask({"MULTI"}).is_error()) {
    std::vector<Right> none;
    for (const Probe& probe : kProbes) none.push_back({.command = std::string(probe.right)});
    return none;
  }
  std::vector<Right> rights;
  for (const Probe& probe : kProbes) {
    Command command;
    if (may_ask) command.add("ACL").add("DRYRUN").add(user.text);
    add_words(command, probe.words);
    rights.push_back({std::string(probe.right), finding_of(ask(std::move(command)))});
  }
  if (!may_ask) ask({"DISCARD"});
  return rights;
}

}  // namespace duly

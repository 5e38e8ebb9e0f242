"""What the function library promises of itself: keys, names, limits, wake-up, a full Redis, rights."""

import re
import sys
import time
import unittest
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from private_redis import (LUA, SOURCE, Functions, PrivateRedis, Script, documented_rights, eventually, function_text,
                           keys_of, pairs)

# Commands that the library may use: their first argument is their one key, or they have none.
ONE_KEY = set("""EXISTS GET SET DEL HGET HSET HDEL HMGET HEXISTS HLEN HGETALL HINCRBY HRANDFIELD HSCAN HSTRLEN HVALS
    ZADD ZREM ZRANGE ZREVRANGE ZREVRANGEBYSCORE ZRANGEBYSCORE ZREMRANGEBYRANK ZREMRANGEBYSCORE ZCARD ZCOUNT ZSCORE ZMSCORE ZRANK ZREVRANK
    ZPOPMAX ZSCAN STRLEN PEXPIREAT RPUSH RPOP LLEN LRANGE LREM""".split())
TWO_KEYS = {"LMOVE"}
# The streams' own: one key, not always first.
OF_STREAMS = set("XADD XLEN XRANGE XACK XDEL XPENDING XCLAIM XAUTOCLAIM XREADGROUP XGROUP".split())
NO_KEY = {"TIME", "PUBLISH", "SPUBLISH"}

# Stands before the library and refuses every key that the call did not pass.
GUARD = """
local passed = {}
local function real()
  return redis
end
local function guarded(run, name, key, ...)
  if name ~= 'TIME' and name ~= 'PUBLISH' and name ~= 'SPUBLISH' and not passed[key] then
    error('undeclared key: ' .. name .. ' ' .. tostring(key))
  end
  if key == nil then
    return run(name)
  end
  return run(name, key, ...)
end
local redis = {
  call = function(...) return guarded(real().call, ...) end,
  pcall = function(...) return guarded(real().pcall, ...) end,
  error_reply = function(text) return real().error_reply(text) end,
  sha1hex = function(text) return real().sha1hex(text) end,
  register_function = function(f)
    local run = f.callback
    f.callback = function(keys, argv)
      passed = {}
      for i = 1, #keys do
        passed[keys[i]] = true
      end
      return run(keys, argv)
    end
    return real().register_function(f)
  end,
}
"""


def lua_files():
    return {path.name: path.read_text() for path in sorted(LUA.glob("*.lua"))}


def code_of(text):
    return re.sub(r"--[^\n]*", "", text)


class LibraryText(unittest.TestCase):
    def names_and_comments(self):
        """(function, names of arguments, comment) of each public function."""
        for file, text in lua_files().items():
            constants = {m[1]: "".join(re.findall(r"'([^']*)'", m[2]))
                         for m in re.finditer(r"^local ([A-Z]+) = ((?:'[^']*'[ .\n]*)+)$", text, re.M)}
            top = re.match(r"((?:--[^\n]*\n)*)", text)[1]
            for m in re.finditer(r"((?:--[^\n]*\n)*)function duly\.(\w+)\(.*?\n(.*?)\nend\n", text, re.S):
                comment, name, body = m.groups()
                used = re.search(r"(?:args\.names\(|open\('\w+', keys, argv, )(\w+)\)|open\('\w+', keys, argv,\s+'([^']*)'\)"
                                 r"|(each_dead)", body)
                if name == "version":
                    yield name, "", comment
                elif used[1]:
                    yield name, constants[used[1]], top + comment
                elif used[3]:
                    yield name, constants["DEAD"], top + comment
                else:
                    yield name, used[2], comment

    def test_every_function_is_registered_and_documented(self):
        registered = re.findall(r"\{ '(\w+)'", lua_files()["functions.lua"])
        self.assertEqual(sorted(registered), sorted(name for name, _, _ in self.names_and_comments()))
        self.assertEqual(len(registered), 23)

    def test_each_header_names_all_arguments(self):
        for function, names, comment in self.names_and_comments():
            for name in names.split():
                self.assertRegex(comment, rf"\b{name}\b", f"the comment of {function} lacks {name}")

    def test_the_protocol_names_all_arguments(self):
        for file in ("docs/protocol.md", "docs/zh/protocol.md"):
            text = (SOURCE / file).read_text()
            for function, names, _ in self.names_and_comments():
                section = re.search(rf"^### `?duly_{function}`?\n(.*?)(?=^##|\Z)", text, re.S | re.M)
                self.assertTrue(section, f"{file} lacks a section on duly_{function}")
                for name in names.split():
                    self.assertIn(f"`{name}`", section[1], f"{file}, duly_{function}")

    def test_the_readme_shows_the_example_as_it_is_built(self):
        example = (SOURCE / "examples" / "quick_start.cpp").read_text()
        for page in ("README.md", "README.zh-CN.md"):
            self.assertIn(f"```cpp\n{example}```\n", (SOURCE / page).read_text(), page)

    def test_commands_are_of_one_key_and_none_walks_the_key_space(self):
        for file, text in lua_files().items():
            for call in re.findall(r"redis\.p?call\(([^\n]*)", code_of(text)):
                for name in re.findall(r"'([A-Z]+)'", call.split(",")[0]):
                    self.assertIn(name, ONE_KEY | TWO_KEYS | OF_STREAMS | NO_KEY, file)
            self.assertNotRegex(code_of(text), r"'S?SCAN'|'KEYS'", file)

    def test_no_key_name_is_built(self):
        for file, text in lua_files().items():
            self.assertNotIn("duly:", code_of(text), file)


class LibraryAtWork(unittest.TestCase):
    def setUp(self):
        self.redis = PrivateRedis()
        self.addCleanup(self.redis.close)
        self.client = self.redis.client()
        self.addCleanup(self.client.close)

    def run_all_functions(self, call):
        call("put", "mail", "columns", 3, "id", "delay_ms", "lease_ms", "a", 0, "", "b", 0, 60000, "c", 60000, "")
        call("claim", "mail", "token", "t", "most", 2, "waiter", "w1", "lease_ms", 100)
        call("claim", "mail", "token", "t", "most", 2)
        call("claim", "mail", "token", "t0", "most", 2, "waiter", "w2", "as", "records")
        call("put", "mail", "id", "d")
        call("extend", "mail", "id", "a", "token", "t", "lease_ms", 100)
        call("release", "mail", "id", "b", "token", "t.2")
        self.assertTrue(eventually(lambda: call("recover", "mail")[1] == 1))
        rows = [pairs(row) for row in call("claim", "mail", "token", "t2", "most", 3)[4]]
        token = {row["id"]: row["token"] for row in rows}
        call("claim", "mail", "token", "t3", "most", 0, "waiter", "w2")
        call("fail", "mail", "columns", 3, "id", "token", "give_up", "a", token[b"a"], 1, "b", token[b"b"], "")
        call("ack", "mail", "token", token[b"d"], "columns", 1, "id", "d")
        call("ack", "mail", "id", "d", "token", token[b"d"])
        for state in ("scheduled", "ready", "active", "dead", "done"):
            call("list", "mail", "state", state, "most", 1)
        call("find", "mail", "id", "a")
        call("replay", "mail", "id", "a")
        call("reschedule", "mail", "id", "a", "delay_ms", 5)
        call("run_now", "mail", "columns", 1, "id", "a", "c")
        call("edit", "mail", "id", "c", "payload", "x")
        call("cancel", "mail", "id", "c")
        call("pause", "mail")
        call("resume", "mail")
        call("claim", "mail", "token", "t4", "most", 3)
        call("fail", "mail", "id", "a", "token", "t4", "give_up", 1)
        call("purge", "mail", "most", 10, "died_by_ms", 4102444800000)
        call("put", "mail", "columns", 2, "id", "priority", "e", 9, "f", 1)
        call("limits", "mail", "length", 100, "dead_count", 1, "dead_refuse", 1, "done_age_ms", 1000)
        call("claim", "mail", "token", "t5", "most", 3)
        call("ack", "mail", "id", "e", "token", "t5", "result", "fine")
        call("cancel", "mail", "id", "f")
        call("extend", "mail", "id", "f", "token", "t5", "lease_ms", 100)
        for part in ("leases", "jobs", "held", "due", "dead", "done", "tries", "totals", "summary"):
            call("check", "mail", "part", part, "repair", 1)
        call("fail", "mail", "id", "f", "token", "t5")
        call("limits", "mail", "dead_refuse", 0, "done_age_ms", 0)
        call("put", "mail", "id", "g", "priority", 3)
        call("claim", "mail", "token", "t6")
        self.client.delete(keys_of("mail")[2])
        call("recover", "mail")
        self.client.zadd("old", {"h": 1, "i": 2})
        self.client.hset("contents", mapping={"h": "x", "i": "y"})
        call("import", "mail", "look", 1, source=("old", "contents"))
        call("import", "mail", source=("old", "contents"))
        self.client.zadd("old", {"h": 3})
        self.client.hset("contents", "h", "z")
        call("import", "mail", "record", "\x01\x00\x00", source=("old", "contents"))
        self.client.zadd("old", {"whole": 1})
        call("import", "mail", source=("old",))
        return pairs(call("stats", "mail")[1])

    def test_B97_every_key_a_function_touches_was_passed(self):
        stats = self.run_all_functions(Functions(self.client, GUARD))
        self.assertEqual((stats["acked"], stats["purged"], stats["cancelled"]), (b"2", b"1", b"2"))
        used = {name.upper() for name in re.findall(r"cmdstat_(\w+)", " ".join(self.client.info("commandstats")))}
        self.assertFalse(used & {"KEYS", "SCAN", "SSCAN"})
        self.assertLessEqual({key.decode() for key in self.client.keys()}, set(keys_of("mail")))

    def test_B97_the_guard_refuses_an_undeclared_key(self):
        bad = GUARD + """redis.register_function({ function_name = 'duly_bad', flags = {}, callback = function()
            return redis.call('GET', 'foreign')
          end })
          """
        self.client.execute_command("FUNCTION", "LOAD", "REPLACE", function_text(bad))
        with self.assertRaisesRegex(redis.ResponseError, "undeclared key: GET foreign"):
            self.client.execute_command("FCALL", "duly_bad", 1, "mine")

    def test_the_documented_rights_are_enough(self):
        Functions(self.client)
        rules = documented_rights()
        for way in (Functions, Script):
            self.client.execute_command("ACL", "SETUSER", "app", "reset", "on", *rules, "~old", "~contents")
            with self.redis.client(username="app", password="secret") as user:
                call = way(user)
                user.sadd("duly:queues", "mail")
                self.assertEqual(user.smembers("duly:queues"), {b"mail"})
                self.run_all_functions(call)
                user.delete(*keys_of("mail"))
        granted = {rule[1:].upper() for rule in rules if rule.startswith("+") and "@" not in rule and "|" not in rule}
        missing = (ONE_KEY | TWO_KEYS | OF_STREAMS - {"XGROUP"} | NO_KEY) - granted
        self.assertFalse(missing)

    def test_B97_a_user_of_one_queue_is_refused_at_another(self):
        Functions(self.client)
        rules = [rule.replace("duly:*", "duly:{q1}:*") for rule in documented_rights()]
        self.client.execute_command("ACL", "SETUSER", "app", "reset", "on", *rules)
        with self.redis.client(username="app", password="secret") as user:
            def put(queue):
                return user.execute_command("FCALL", "duly_put", 15, *keys_of(queue), "id", "a")
            self.assertEqual(put("q1")[0], b"created")
            with self.assertRaises(redis.exceptions.NoPermissionError):
                put("q2")

    def test_B92_a_full_redis_can_be_drained(self):
        for way in (Functions, Script):
            with self.subTest(way.__name__):
                self.drain_a_full_redis(way(self.client))

    def drain_a_full_redis(self, call):
        self.client.config_set("maxmemory", 0)
        self.client.delete(*keys_of("mail"))
        call("put", "mail", "payload", "x" * 1000, "columns", 1, "id", *[f"j{i:03}" for i in range(200)])
        call("claim", "mail", "token", "t", "most", 10, "lease_ms", 100)
        self.assertTrue(eventually(lambda: self.client.zcount(keys_of("mail")[2], 0, time.time() * 1000) == 1))
        self.client.config_set("maxmemory", 1000)
        with self.assertRaisesRegex(redis.ResponseError, "OOM|command not allowed"):
            call("put", "mail", "id", "more")
        self.assertEqual(self.client.hlen(keys_of("mail")[1]), 200)
        for n in range(4):
            rows = [pairs(row) for row in call("claim", "mail", "token", f"t{n}", "most", 50)[4]]
            (first, token), (second, _) = [(row["id"], row["token"]) for row in rows[:2]]
            self.assertEqual(call("release", "mail", "id", first, "token", token)[0], b"released")
            self.assertEqual(call("fail", "mail", "id", second, "token", token, "retry_in_ms", 0)[0], b"failed")
            ids = [row["id"] for row in rows[2:]]
            self.assertEqual(call("extend", "mail", "id", ids[0], "token", token, "lease_ms", 9000)[0], b"extended")
            self.assertEqual(call("ack", "mail", "token", token, "columns", 1, "id", *ids)[2], 48)
        self.assertEqual(self.client.hlen(keys_of("mail")[1]), 8)

    def test_a_waiting_job_takes_the_memory_that_the_documents_say(self):
        call, jobs = Functions(self.client), 30_000
        before = self.client.info("memory")["used_memory"]
        for first in range(0, jobs, 250):
            rows = [cell for n in range(first, first + 250) for cell in (f"01JDZZZZZZ{n:016}", 3_600_000 + n)]
            call("put", "mail", "payload", "x" * 100, "columns", 2, "id", "delay_ms", *rows)
        bytes_a_job = (self.client.info("memory")["used_memory"] - before) / jobs
        self.assertTrue(310 < bytes_a_job < 350, bytes_a_job)

    def test_B53_a_lost_reply_is_repeated_without_a_second_effect(self):
        call = Functions(self.client)
        for _ in range(2):
            call("put", "mail", "id", "a")
        for _ in range(2):
            self.assertEqual(len(call("claim", "mail", "token", "t")[4]), 1)
        for _ in range(2):
            call("fail", "mail", "id", "a", "token", "t", "retry_in_ms", 0)
        self.assertEqual(pairs(call("find", "mail", "id", "a")[1])["failures"], 1)
        stats = pairs(call("stats", "mail")[1])
        self.assertEqual((stats["put"], stats["claimed"], stats["failed"]), (b"1", b"1", b"1"))


class WakeUp(unittest.TestCase):
    def setUp(self):
        self.redis = PrivateRedis()
        self.addCleanup(self.redis.close)
        self.client = self.redis.client()
        self.addCleanup(self.client.close)
        self.call = Functions(self.client)

    def listen(self, command, channel):
        connection = self.redis.client().connection_pool.make_connection()
        self.addCleanup(connection.disconnect)
        connection.send_command(command, channel)
        self.assertEqual(connection.read_response()[:2], [command.lower().encode(), channel.encode()])
        return lambda: connection.read_response()[2]

    def test_a_put_tells_the_keeper_how_long_to_sleep(self):
        for command in ("SSUBSCRIBE", "SUBSCRIBE"):
            with self.subTest(command):
                self.client.flushdb()
                heard = self.listen(command, f"duly:{{mail}}:wake:{command}")
                waiter = f"duly:{{mail}}:wake:{command}"
                self.assertEqual(self.call("claim", "mail", "token", "t", "waiter", waiter)[2:], [-1, b"keeper", []])
                self.call("put", "mail", "id", "a", "delay_ms", 5000)
                self.assertTrue(4_900_000 < int(heard()) <= 5_000_000)
                self.call("put", "mail", "id", "b")
                self.assertEqual(heard(), b"0")

    def test_a_keeper_with_full_hands_hands_over_to_the_idle_one(self):
        first = self.listen("SSUBSCRIBE", "duly:{mail}:wake:1")
        second = self.listen("SSUBSCRIBE", "duly:{mail}:wake:2")
        self.assertEqual(self.call("claim", "mail", "token", "a", "waiter", "duly:{mail}:wake:1")[3], b"keeper")
        self.assertEqual(self.call("claim", "mail", "token", "b", "waiter", "duly:{mail}:wake:2")[3], b"idle")
        self.call("put", "mail", "columns", 2, "id", "delay_ms", "x", 0, "y", 3000)
        self.assertEqual(first(), b"0")
        self.assertEqual(self.call("claim", "mail", "token", "c", "waiter", "duly:{mail}:wake:1")[3], b"")
        self.assertTrue(2_900_000 < int(second()) <= 3_000_000)

    def test_a_dead_keeper_is_replaced_at_the_next_put(self):
        second = self.listen("SSUBSCRIBE", "duly:{mail}:wake:2")
        self.call("claim", "mail", "token", "a", "waiter", "duly:{mail}:wake:gone")
        self.call("claim", "mail", "token", "b", "waiter", "duly:{mail}:wake:2")
        self.call("put", "mail", "id", "x")
        self.assertEqual(second(), b"0")


if __name__ == "__main__":
    unittest.main()

-- The keys of one shard, the same list in the same order for every function. Those behind `ready` are kept for
-- what is to come, so that the list need not change for it.
local queue = {}

local KEYS_OF_A_SHARD = 15
-- due jobs leases held tries dead meta idle keeper done ready · dedupe groups schedules events

-- The engines by name. An engine is what differs from `lease`, the default: engine.lua.
local engines = {}

-- reply  {due = key, ..., engine, paused, done_age_ms, ...}
--        nil, error    not the whole list, or the queue's engine does not support `verb`
function queue.open(keys, verb)
  if #keys ~= KEYS_OF_A_SHARD then
    return nil, args.invalid('keys', tostring(#keys), KEYS_OF_A_SHARD .. ' as in docs/protocol.md')
  end
  local set = redis.call('HMGET', keys[7], 'engine', 'levels', 'length', 'done_age_ms', 'paused', 'dead_refuse')
  local engine = engines[set[1] or 'lease']
  if not engine then
    return nil, args.invalid('engine', "'" .. set[1] .. "' unknown to this version", 'a newer library')
  end
  if engine.cannot[verb] then
    return nil, redis.error_reply("DULY_INVALID engine '" .. engine.name .. "': does not support " .. verb)
  end
  return {
    due = keys[1], jobs = keys[2], leases = keys[3], held = keys[4], tries = keys[5],
    dead = keys[6], meta = keys[7], idle = keys[8], keeper = keys[9], done = keys[10], ready = keys[11],
    tag = string.sub(keys[1], 1, -4), engine = engine, has_levels = set[2] == '1', length = tonumber(set[3] or 0),
    keeps_done = tonumber(set[4] or 0) > 0, is_paused = set[5] == '1', refuses_dead = set[6] == '1',
  }
end

function queue.count(q, total, by)
  if by > 0 then
    redis.call('HINCRBY', q.meta, total, by)
  end
end

-- reply  {'batch', now, how many are as asked, then position, word, detail of each row that is not}
function queue.batch_reply(now, as_asked, exceptions)
  local reply = { 'batch', now, as_asked }
  for i = 1, #exceptions do
    reply[3 + i] = exceptions[i]
  end
  return reply
end

-- Runs `step(row)` for each row; it answers a word and a detail. Word `usual` is the one that a batch only
-- counts. Single calls answer {word, id, detail}.
function queue.each_row(a, argv, now, usual, step)
  local as_asked, exceptions = 0, {}
  for row = 1, a.rows do
    local word, detail = step(row)
    if word == 'invalid' and not a.is_batch then
      return redis.error_reply('DULY_INVALID ' .. detail)
    end
    if not a.is_batch then
      return { word, args.cell(a, argv, row, 'id'), detail or '' }
    end
    if word == usual then
      as_asked = as_asked + 1
    else
      exceptions[#exceptions + 1] = row
      exceptions[#exceptions + 1] = word
      exceptions[#exceptions + 1] = detail or ''
    end
  end
  return queue.batch_reply(now, as_asked, exceptions)
end

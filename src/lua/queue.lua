-- The keys of one shard, the same list in the same order for every function. Those behind `done` are kept for
-- what is to come, so that the list need not change for it.
local queue = {}

local KEYS_OF_A_SHARD = 15
-- due jobs leases held tries dead meta idle keeper · done priorities dedupe groups schedules events

-- reply  {due = key, ...}
--        nil, error    not the whole list
function queue.open(keys)
  if #keys ~= KEYS_OF_A_SHARD then
    return nil, args.invalid('keys', tostring(#keys), KEYS_OF_A_SHARD .. ' as in docs/protocol.md')
  end
  return {
    due = keys[1], jobs = keys[2], leases = keys[3], held = keys[4], tries = keys[5],
    dead = keys[6], meta = keys[7], idle = keys[8], keeper = keys[9], done = keys[10],
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

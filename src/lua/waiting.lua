-- Waiting jobs: scheduled and ready, in one sorted set that the clock divides. A score is the due time in ms, plus the
-- job's priority times 2^48: what is due of one priority is one range. `levels` in meta says that another priority than
-- 0 was ever used; as long as it does not, nothing here costs more than the plain set.
local waiting = {}

local LEVEL = 281474976710656 -- 2^48, beyond the year 9999

-- Writes: priorities are in use from now on.
function waiting.use_levels(q)
  if not q.has_levels then
    redis.call('HSET', q.meta, 'levels', '1')
    q.has_levels = true
  end
end

function waiting.score(due, priority)
  return due + priority * LEVEL
end

-- reply  due time, priority
function waiting.of_score(score)
  score = tonumber(score)
  local due = score % LEVEL
  return due, (score - due) / LEVEL
end

-- reply  due time, priority; nil if the job does not wait
function waiting.find(q, id)
  local score = redis.call('ZSCORE', q.due, id)
  if score then
    return waiting.of_score(score)
  end
end

-- The priority of a job that does not wait now. `bytes`, its record, is read if not given.
function waiting.priority(q, id, bytes)
  if not q.has_levels then
    return 0
  end
  bytes = bytes or q.engine.record(q, id)
  return bytes and record.is_readable(bytes) and record.priority(bytes) or 0
end

-- Writes: the job waits from now on.
function waiting.add(q, id, due, priority)
  redis.call('ZADD', q.due, waiting.score(due, priority), id)
  if q.engine.on_due then
    q.engine.on_due(q, id, due)
  end
end

-- The priorities that waiting jobs have, highest first.
function waiting.levels(q)
  if not q.has_levels then
    return { 0 }
  end
  local levels, top = {}, '+inf'
  while true do
    local score = redis.call('ZREVRANGEBYSCORE', q.due, top, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    if not score then
      return levels
    end
    local _, priority = waiting.of_score(score)
    levels[#levels + 1] = priority
    top = string.format('(%.0f', priority * LEVEL)
  end
end

-- First due time of all; nil if nothing waits.
function waiting.head(q)
  if not q.has_levels then
    local score = redis.call('ZRANGE', q.due, 0, 0, 'WITHSCORES')[2]
    return score and tonumber(score)
  end
  local head
  for _, priority in ipairs(waiting.levels(q)) do
    local score = redis.call('ZRANGEBYSCORE', q.due, priority * LEVEL, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    local due = waiting.of_score(score)
    head = math.min(head or due, due)
  end
  return head
end

-- Due jobs: {id, score, ...}, highest priority first, then longest overdue.
function waiting.due(q, now, most)
  if not q.has_levels then
    return redis.call('ZRANGEBYSCORE', q.due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  end
  local due = {}
  for _, priority in ipairs(waiting.levels(q)) do
    local found = redis.call('ZRANGEBYSCORE', q.due, priority * LEVEL, waiting.score(now, priority), 'WITHSCORES',
      'LIMIT', 0, most - #due / 2)
    for i = 1, #found do
      due[#due + 1] = found[i]
    end
    if #due >= 2 * most then
      break
    end
  end
  return due
end

-- Writes: the first n of the jobs that `due` answered wait no longer.
function waiting.take(q, ids, n)
  if not q.has_levels then
    redis.call('ZREMRANGEBYRANK', q.due, 0, n - 1)
  else
    redis.call('ZREM', q.due, unpack(ids, 1, n))
  end
end

-- How many are due.
function waiting.count_due(q, now)
  local count = 0
  for _, priority in ipairs(waiting.levels(q)) do
    count = count + redis.call('ZCOUNT', q.due, priority * LEVEL, waiting.score(now, priority))
  end
  return count
end

-- Writes: a job that waits beside `due`, where some engines put what is due, waits there again, to be changed.
function waiting.bring_back(q, id)
  if id and q.engine.back and not redis.call('ZSCORE', q.due, id) then
    q.engine.back(q, id)
  end
end

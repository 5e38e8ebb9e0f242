-- The seam between the functions and the ways of storing jobs. `lease` is the default; what another engine does in
-- another way, it says in its own part, and what it does not support, in `cannot`.
--
--   known(q, ids, records)    of each: false if no such job exists
--   add(q, jobs, dues)        writes: {id, record, ...}, {score, id, ...}; answers how many were new among the waiting
--   record, has, bytes, rewrite, drop    of the record of one job; drop takes many
--   take(q, a, now, most, lease_ms, packed)    hands due jobs over: rows, has_more, was_overdue
--   claimed(q, token, packed, now)       the rows of a claim that stands, for its repeat; nil if there is none
--   open, close, free         the jobs that a token holds, as in lease.lua
--   again(q, l, id, at, priority)        writes: a job that was held waits for `at`
--   on_due(q, id, due)        if there: told when a job waits again, or for another time
--   back(q, id)               if there: what waits beside `due` (its turn has come, nobody took it) is put back there
--   count_beside(q)           if there: how many wait so; with it, if they differ from what `jobs` tells or are known,
--   count_active(q), first_beside(q)     how many are active, and the due time of the first that waits so
engines.lease = {
  name = 'lease',
  cannot = {},
  open = lease.open,
  close = lease.close,
  free = lease.free,
  take = take,
}

function engines.lease.known(q, ids)
  return redis.call('HMGET', q.jobs, unpack(ids))
end

function engines.lease.due_of(q, id)
  return (waiting.find(q, id))
end

function engines.lease.add(q, jobs, dues)
  redis.call('HSET', q.jobs, unpack(jobs))
  return redis.call('ZADD', q.due, unpack(dues))
end

function engines.lease.record(q, id)
  return redis.call('HGET', q.jobs, id)
end

function engines.lease.has(q, id)
  return redis.call('HEXISTS', q.jobs, id) == 1
end

function engines.lease.bytes(q, id)
  return redis.call('HSTRLEN', q.jobs, id)
end

function engines.lease.rewrite(q, id, bytes)
  redis.call('HSET', q.jobs, id, bytes)
end

function engines.lease.drop(q, ids)
  redis.call('HDEL', q.jobs, unpack(ids))
end

function engines.lease.claimed(q, token, packed, now)
  if redis.call('HEXISTS', q.held, token) == 1 then
    return rows_again(q, token, packed, now)
  end
end

function engines.lease.again(q, _, id, at, priority)
  waiting.add(q, id, at, priority)
end

-- An engine like `lease`, to be changed. While a library is loaded, Redis has no pairs, and no functions of string.
local PARTS_OF_AN_ENGINE = { 'open', 'close', 'free', 'take', 'claimed', 'known', 'due_of', 'add', 'record', 'has', 'bytes',
  'rewrite', 'drop', 'again' }

local function engine_like_lease(name, cannot)
  local engine = { name = name, cannot = { check = true, priority = true, retention = true } }
  for i = 1, #PARTS_OF_AN_ENGINE do
    engine[PARTS_OF_AN_ENGINE[i]] = engines.lease[PARTS_OF_AN_ENGINE[i]]
  end
  for i = 1, #cannot do
    engine.cannot[cannot[i]] = true
  end
  engines[name] = engine
  return engine
end

-- Gathers the rows of a claim. Of an engine with leases, `ends_at` is when the claim's lease has to end.
local function row_gatherer(now, token, lease_ms, packed)
  local g = { rows = {}, taken = 0, lateness = 0, bytes = 0, dropped = 0, ends_at = 0 }
  function g.add(id, due, bytes, attempt)
    local rows, at, late = g.rows, #g.rows, now - due
    g.taken, g.bytes = g.taken + 1, g.bytes + #bytes
    g.lateness = g.lateness + (late > 1000 and math.min(late, math.max(0, now - record.put_at(bytes))) or late)
    if packed then
      rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4], rows[at + 5] = id, due, token, attempt, bytes
    else
      rows[at + 1] = plain_row(id, token, bytes, attempt, due, lease_ms)
    end
  end
  -- Writes: as add, of a job whose record may be lost, and then is dropped, or unreadable, and then is dead. Answers
  -- whether the claim has it.
  function g.lease(q, id, due, t)
    local bytes = id and q.engine.record(q, id)
    if not bytes then
      redis.call('HDEL', q.tries, id or '')
      g.dropped = g.dropped + 1
      return false
    end
    if not record.is_readable(bytes) then
      t.error, t.last_at = 'record is damaged or of an unknown format', now
      tries.bury(q, id, t, 'unreadable', now)
      return false
    end
    g.was_overdue = g.was_overdue or due < now - 20
    g.ends_at = math.max(g.ends_at, now + math.max(lease_ms, record.lease_ms(bytes)))
    g.add(id, due, bytes, t.failures + t.lost + 1)
    return true
  end
  function g.count(q)
    queue.count(q, 'claimed', g.taken)
    queue.count(q, 'lateness_ms', g.lateness)
    queue.count(q, 'dropped', g.dropped)
  end
  return g
end

-- The rows of a claim that stands, as its repeat answers them.
local function rows_of_lease(q, l, packed, now)
  local ends_at = tonumber(redis.call('ZSCORE', q.leases, l.token) or now)
  local g = row_gatherer(now, l.token, math.max(0, ends_at - now), packed)
  for i = 1, #l.order do
    local bytes = q.engine.record(q, l.order[i])
    if bytes then
      local t = tries.of(q, l.order[i])
      g.add(l.order[i], now, bytes, t.failures + t.lost + 1)
    end
  end
  return g.rows
end

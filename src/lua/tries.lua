-- What went wrong with a job: only jobs with a failure or a lost lease have an entry, and active ones whose cancel
-- was asked for.
--
--   0  u32 failures   4  u32 lost leases   8  u48 last of them, ms   14  u8 reason of death   15  last error; of a done
--                                                                                               job its result
local tries = {}

tries.reasons = { failed = 1, given_up = 2, quarantined = 3, unreadable = 4 }
tries.reason_words = { 'failed', 'given_up', 'quarantined', 'unreadable' }

local ASKED = 5 -- in place of the reason: the job is active, and its cancel was asked for
local MOST_ERROR_BYTES = 4096
local HEADER = '<I4I4I6B'

function tries.unpack(bytes)
  if not bytes or #bytes < 15 then
    return { failures = 0, lost = 0, last_at = 0, reason = 0, error = '' }
  end
  local failures, lost, last_at, reason = struct.unpack(HEADER, bytes, 1)
  return { failures = failures, lost = lost, last_at = last_at, reason = reason,
    error = string.sub(bytes, 16) }
end

function tries.pack(t)
  return struct.pack(HEADER, t.failures, t.lost, t.last_at, t.reason) .. string.sub(t.error, 1, MOST_ERROR_BYTES)
end

function tries.of(q, id)
  return tries.unpack(redis.call('HGET', q.tries, id))
end

-- Entries of many jobs, in order; no reads at all while nothing went wrong.
function tries.of_many(q, ids)
  if redis.call('EXISTS', q.tries) == 0 then
    return nil
  end
  return redis.call('HMGET', q.tries, unpack(ids))
end

-- Writes: a done job keeps its counts, and its result instead of an error.
function tries.note_result(q, id, result)
  local t = tries.of(q, id)
  redis.call('HSET', q.tries, id, struct.pack(HEADER, t.failures, t.lost, t.last_at, 0) .. result)
end

-- Writes: the active job is to be dropped as soon as its attempt ends.
function tries.ask(q, id)
  local t = tries.of(q, id)
  if t.reason ~= ASKED then
    t.reason = ASKED
    redis.call('HSET', q.tries, id, tries.pack(t))
    queue.count(q, 'asked', 1)
  end
end

function tries.is_asked(t)
  return t.reason == ASKED
end

-- Those of active jobs whose cancel was asked for, in order. A queue that never saw such a cancel pays one read.
function tries.asked_of(q, ids)
  local asked = {}
  if #ids == 0 or redis.call('HEXISTS', q.meta, 'asked') == 0 then
    return asked
  end
  local entries = redis.call('HMGET', q.tries, unpack(ids))
  for i = 1, #ids do
    if entries[i] and tries.is_asked(tries.unpack(entries[i])) then
      asked[#asked + 1] = ids[i]
    end
  end
  return asked
end

-- Writes: nothing is left of the job.
function tries.drop_cancelled(q, id)
  q.engine.drop(q, { id })
  redis.call('HDEL', q.tries, id)
  queue.count(q, 'cancelled', 1)
end

-- Writes: the job is dead. Its record stays, its entry says why.
function tries.bury(q, id, t, reason, now)
  t.reason = tries.reasons[reason]
  redis.call('HSET', q.tries, id, tries.pack(t))
  keep.add(q, 'dead', id, now)
  queue.count(q, 'died', 1)
end

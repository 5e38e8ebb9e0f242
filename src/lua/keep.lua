-- What a queue keeps: how many jobs may wait, and how long dead letters and done jobs stay. Limits stand in meta under
-- their own names; what is not there has the default.
local keep = {}

-- name, default, least, most. docs/protocol.md, "limits".
local LIMITS = {
  { 'length', 0, 0, 9007199254740991 },             -- waiting jobs; 0: no limit
  { 'dead_count', 100000, 1, 9007199254740991 },
  { 'dead_bytes', 268435456, 1, 9007199254740991 }, -- of records and errors
  { 'dead_age_ms', 15552000000, 0, 3155760000000 }, -- 180 days; 0: no limit
  { 'dead_refuse', 0, 0, 1 },                       -- 1: claims stop at the limit, and nothing is dropped
  { 'done_age_ms', 0, 0, 3155760000000 },           -- 0: done jobs are not kept
  { 'done_count', 10000, 1, 9007199254740991 },
  { 'done_bytes', 67108864, 1, 9007199254740991 },
}
local MOST_TRIMMED = 250 -- a call

-- reply  {name = number}
function keep.limits(q)
  local names, limits = {}, {}
  for i = 1, #LIMITS do
    names[i] = LIMITS[i][1]
  end
  local values = redis.call('HMGET', q.meta, unpack(names))
  for i = 1, #names do
    limits[names[i]] = tonumber(values[i] or LIMITS[i][2])
  end
  return limits
end

-- How many more jobs may wait.
function keep.room(q)
  if q.length == 0 then
    return math.huge
  end
  local count = redis.call('ZCARD', q.due) + (q.engine.count_beside and q.engine.count_beside(q) or 0)
  return math.max(0, q.length - count), q.length
end

-- Bytes of what is kept of a job.
local function bytes_of(q, id)
  return q.engine.bytes(q, id) + redis.call('HSTRLEN', q.tries, id)
end

-- Writes: the job belongs to `dead` or `done` from now on; its record and its entry in tries are as they will stay.
function keep.add(q, kind, id, now)
  redis.call('ZADD', q[kind], now, id)
  redis.call('HINCRBY', q.meta, kind .. '_size', bytes_of(q, id))
  q.has_kept = true
end

-- Writes: the job leaves `dead` or `done`. Its record is still there.
function keep.remove(q, kind, id)
  redis.call('ZREM', q[kind], id)
  if redis.call('HINCRBY', q.meta, kind .. '_size', -bytes_of(q, id)) < 0 or redis.call('EXISTS', q[kind]) == 0 then
    redis.call('HDEL', q.meta, kind .. '_size')
  end
end

function keep.size(q, kind)
  return tonumber(redis.call('HGET', q.meta, kind .. '_size') or 0)
end

local function trim(q, kind, count, bytes, age, now)
  local excess = math.max(0, redis.call('ZCARD', q[kind]) - count)
  local oldest = redis.call('ZRANGE', q[kind], 0, MOST_TRIMMED - 1, 'WITHSCORES')
  local gone = 0
  for i = 1, #oldest, 2 do
    local is_old = age > 0 and tonumber(oldest[i + 1]) <= now - age
    if gone >= excess and not is_old and keep.size(q, kind) <= bytes then
      break
    end
    keep.remove(q, kind, oldest[i])
    q.engine.drop(q, { oldest[i] })
    redis.call('HDEL', q.tries, oldest[i])
    gone = gone + 1
  end
  return gone
end

-- Writes: drops what is beyond the limits, the oldest first, a bounded number a call. Counted: `dead_dropped` and
-- `done_expired`.
function keep.trim(q, now)
  local limits = keep.limits(q)
  if limits.dead_refuse == 0 and redis.call('EXISTS', q.dead) == 1 then
    queue.count(q, 'dead_dropped', trim(q, 'dead', limits.dead_count, limits.dead_bytes, limits.dead_age_ms, now))
  end
  if redis.call('EXISTS', q.done) == 1 then
    -- Not kept any more: what is left goes.
    local count = limits.done_age_ms > 0 and limits.done_count or 0
    queue.count(q, 'done_expired', trim(q, 'done', count, limits.done_bytes, limits.done_age_ms, now))
  end
end

-- Writes, at the end of a call that may have buried jobs or ended them.
function keep.trim_if_needed(q, now)
  if q.has_kept then
    keep.trim(q, now)
  end
end

-- How full the dead letters are, in percent of the limit that is nearer, and whether claims stand still because they
-- are at it and none may be dropped.
function keep.fill(q)
  local limits = keep.limits(q)
  local share = math.max(redis.call('ZCARD', q.dead) / limits.dead_count, keep.size(q, 'dead') / limits.dead_bytes)
  return math.floor(100 * share), limits.dead_refuse == 1 and share >= 1
end

function keep.is_full(q)
  local _, is_full = keep.fill(q)
  return is_full
end

-- The call duly_limits.
function keep.change(q, a, now)
  for i = 1, #LIMITS do
    local name, _, least, most = unpack(LIMITS[i])
    if a.given[name] and not args.whole(a.given[name], least, most) then
      return args.invalid(name, 'not a whole number in range', string.format('%.0f .. %.0f', least, most))
    end
    if name == 'done_age_ms' and q.engine.cannot.retention and tonumber(a.given[name] or 0) > 0 then
      return args.invalid(name, 'above 0', "0, as engine '" .. q.engine.name .. "' does not support retention")
    end
  end

  -- Writes.
  local row = {}
  for i = 1, #LIMITS do
    local name = LIMITS[i][1]
    if a.given[name] then
      redis.call('HSET', q.meta, name, a.given[name])
    end
  end
  keep.trim(q, now)
  local limits = keep.limits(q)
  for i = 1, #LIMITS do
    row[2 * i - 1], row[2 * i] = LIMITS[i][1], string.format('%.0f', limits[LIMITS[i][1]])
  end
  return { 'limits', row }
end

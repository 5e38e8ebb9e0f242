-- Engine `list`: a sorted set until a job is due, then the list `ready`, from which each claim moves jobs to a list of its
-- own, `held:TOKEN`; ack removes them there, and an expired claim's list goes back. An entry is due time, blank, id.
--
-- A record lies under a key of its own, `job:ID`, which expires long after the job is due; each move sets that anew.
local LIST_KEPT_MS = 315576000000 -- 10 years
local MOST_READY = 1000

local list = engine_like_lease('list', {})

local function list_job(q, id)
  return q.tag .. 'job:' .. id
end

local function list_held(q, token)
  return q.tag .. 'held:' .. token
end

local function list_parse(entry)
  local due, id = string.match(entry, '^(%d+) (.+)$')
  return id, tonumber(due)
end

function list.known(q, ids)
  local known = {}
  for i = 1, #ids do
    known[i] = redis.call('EXISTS', list_job(q, ids[i])) == 1
  end
  return known
end

-- What is due long ago is kept as long as what is due now.
local function list_ends_at(due, now)
  return string.format('%.0f', math.max(due, now) + LIST_KEPT_MS)
end

function list.add(q, jobs, dues, now)
  for i = 1, #jobs, 2 do
    redis.call('SET', list_job(q, jobs[i]), jobs[i + 1], 'PXAT', list_ends_at(tonumber(dues[i]), now))
  end
  return redis.call('ZADD', q.due, unpack(dues))
end

function list.record(q, id)
  return redis.call('GET', list_job(q, id))
end

function list.has(q, id)
  return redis.call('EXISTS', list_job(q, id)) == 1
end

function list.bytes(q, id)
  return redis.call('STRLEN', list_job(q, id))
end

function list.rewrite(q, id, bytes)
  redis.call('SET', list_job(q, id), bytes, 'KEEPTTL')
end

function list.drop(q, ids)
  for i = 1, #ids do
    redis.call('DEL', list_job(q, ids[i]))
  end
end

function list.on_due(q, id, due)
  redis.call('PEXPIREAT', list_job(q, id), list_ends_at(due, (clock.now(q))))
end

-- Writes: what is due goes to the list.
local function list_move(q, now)
  local room = MOST_READY - redis.call('LLEN', q.ready)
  local due = room > 0 and
    redis.call('ZRANGEBYSCORE', q.due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, math.min(250, room)) or {}
  if #due == 0 then
    return
  end
  local ids, entries = {}, {}
  for i = 1, #due, 2 do
    ids[#ids + 1], entries[#entries + 1] = due[i], due[i + 1] .. ' ' .. due[i]
  end
  redis.call('ZREM', q.due, unpack(ids))
  redis.call('RPUSH', q.ready, unpack(entries))
end

function list.take(q, a, now, most, lease_ms, packed)
  local token = a.given.token
  local g, held = row_gatherer(now, token, lease_ms, packed), list_held(q, token)
  list_move(q, now)
  while g.taken < most and g.bytes <= MOST_BYTES do
    local entry = redis.call('LMOVE', q.ready, held, 'LEFT', 'RIGHT')
    if not entry then
      break
    end
    local id, due = list_parse(entry)
    if g.lease(q, id, due, tries.of(q, id)) then
      list.on_due(q, id, now)
    else
      redis.call('RPOP', held)
    end
  end
  if g.taken > 0 then
    redis.call('ZADD', q.leases, g.ends_at, token)
  end
  g.count(q)
  return g.rows, g.taken >= most or redis.call('LLEN', q.ready) > 0, g.was_overdue
end

function list.open(q, token)
  local entries = token and redis.call('LRANGE', list_held(q, token), 0, -1) or {}
  if #entries == 0 then
    return nil
  end
  local l = lease.new(token)
  l.entry = {}
  for i = 1, #entries do
    local id = list_parse(entries[i])
    lease.add(l, id)
    l.entry[id] = entries[i]
  end
  return l
end

function list.close(q, l)
  if not l.is_changed then
    return
  end
  if l.count == 0 then
    return list.free(q, l)
  end
  for id, entry in pairs(l.entry) do
    if not l.set[id] then
      redis.call('LREM', list_held(q, l.token), 1, entry)
    end
  end
end

function list.free(q, l)
  redis.call('ZREM', q.leases, l.token)
  redis.call('DEL', list_held(q, l.token))
end

function list.claimed(q, token, packed, now)
  local l = list.open(q, token)
  return l and rows_of_lease(q, l, packed, now)
end

-- Looks through `ready`, which is short.
function list.back(q, id)
  for _, entry in ipairs(redis.call('LRANGE', q.ready, 0, -1)) do
    local other, due = list_parse(entry)
    if other == id then
      redis.call('LREM', q.ready, 1, entry)
      redis.call('ZADD', q.due, due, id)
      return
    end
  end
end

function list.is_ready(q, id)
  for _, entry in ipairs(redis.call('LRANGE', q.ready, 0, -1)) do
    local other, due = list_parse(entry)
    if other == id then
      return due
    end
  end
end

function list.count_beside(q)
  return redis.call('LLEN', q.ready)
end

function list.count_active(q)
  local active = 0
  for _, token in ipairs(redis.call('ZRANGE', q.leases, 0, -1)) do
    active = active + redis.call('LLEN', list_held(q, token))
  end
  return active
end

function list.first_beside(q)
  local first = redis.call('LRANGE', q.ready, 0, 0)[1]
  return first and select(2, list_parse(first))
end

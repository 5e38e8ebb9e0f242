-- Engine `stream`: a sorted set until a job is due, then an entry of the stream `ready`, which names the job. A claim is a
-- consumer of the group `duly`, by its token: what is pending for it, it holds; ack takes the entry out of the stream.
--
-- Only what is due enters the stream, and no more than a claim takes. The jobs of an expired lease stay where they are,
-- pending for the consumer `aside`, until a claim takes them over.
local STREAM_GROUP = 'duly'
local STREAM_ASIDE = 'aside'
local STREAM_ASIDE_MS = 1000000000 -- so long idle, as the mark of what lies aside

local stream = engine_like_lease('stream', {})

-- A call that needs the group: made, if it is not there.
local function stream_call(q, ...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err and string.find(reply.err, 'NOGROUP') then
    redis.call('XGROUP', 'CREATE', q.ready, STREAM_GROUP, '0', 'MKSTREAM')
    return redis.call(...)
  end
  if type(reply) == 'table' and reply.err then
    error(reply.err)
  end
  return reply
end

-- What is pending for a consumer: {entry, ...}; nothing if there is no group.
local function stream_pending(q, consumer, most)
  local found = redis.pcall('XPENDING', q.ready, STREAM_GROUP, '-', '+', most, consumer)
  local entries = {}
  for i = 1, found.err and 0 or #found do
    entries[i] = found[i][1]
  end
  return entries
end

-- reply  id, due time; nil if the entry is gone
local function stream_entry(q, entry)
  local found = redis.call('XRANGE', q.ready, entry, entry)[1]
  if found then
    return found[2][2], tonumber(found[2][4])
  end
end

local function stream_end(q, entry)
  redis.call('XACK', q.ready, STREAM_GROUP, entry)
  redis.call('XDEL', q.ready, entry)
end

-- Hands over the entries of a reply of Redis. What lay aside is ready since its lease ended.
local function stream_hand_over(q, g, entries, lay_aside)
  for i = 1, #entries do
    local entry, fields = entries[i][1], entries[i][2]
    local id, due = fields and fields[2], fields and tonumber(fields[4])
    local t = tries.of(q, id or '')
    if not g.lease(q, id, lay_aside and math.max(due or 0, t.last_at) or due, t) then
      stream_end(q, entry)
    end
  end
end

-- Writes: the first due jobs enter the stream, as many as a claim has room for. Answers how many.
local function stream_move(q, now, most, bytes)
  local due = redis.call('ZRANGEBYSCORE', q.due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  local ids = {}
  for i = 1, #due, 2 do
    if bytes > MOST_BYTES then
      break
    end
    ids[#ids + 1] = due[i]
    bytes = bytes + stream.bytes(q, due[i])
    redis.call('XADD', q.ready, '*', 'id', due[i], 'due', due[i + 1])
  end
  if #ids > 0 then
    redis.call('ZREM', q.due, unpack(ids))
  end
  return #ids
end

function stream.take(q, a, now, most, lease_ms, packed)
  local token = a.given.token
  local g = row_gatherer(now, token, lease_ms, packed)
  for _, entry in ipairs(stream_pending(q, STREAM_ASIDE, most)) do
    if g.bytes > MOST_BYTES then
      break
    end
    stream_hand_over(q, g, redis.call('XAUTOCLAIM', q.ready, STREAM_GROUP, token, STREAM_ASIDE_MS / 2, entry, 'COUNT', 1)[2], true)
  end
  local is_empty = false
  while not is_empty and g.taken < most and g.bytes <= MOST_BYTES do
    local found = stream_call(q, 'XREADGROUP', 'GROUP', STREAM_GROUP, token, 'COUNT', most - g.taken, 'STREAMS',
      q.ready, '>')
    if found and #found > 0 then
      stream_hand_over(q, g, found[1][2])
    else
      is_empty = stream_move(q, now, most - g.taken, g.bytes) == 0
    end
  end
  if g.taken > 0 then
    redis.call('ZADD', q.leases, g.ends_at, token)
  else
    redis.call('XGROUP', 'DELCONSUMER', q.ready, STREAM_GROUP, token)
  end
  g.count(q)
  return g.rows, not is_empty, g.was_overdue
end

function stream.open(q, token)
  local entries = token and token ~= STREAM_ASIDE and stream_pending(q, token, 250) or {}
  if #entries == 0 then
    return nil
  end
  local l = lease.new(token)
  l.entry, l.stays = {}, {}
  for i = 1, #entries do
    local id, due = stream_entry(q, entries[i])
    if id then
      lease.add(l, id)
      l.entry[id] = entries[i]
    end
  end
  return l
end

function stream.close(q, l)
  if not l.is_changed then
    return
  end
  for id, entry in pairs(l.entry) do
    if not l.set[id] and not l.stays[id] then
      stream_end(q, entry)
    end
  end
  if l.count == 0 then
    stream.free(q, l)
  end
end

function stream.free(q, l)
  redis.call('ZREM', q.leases, l.token)
  redis.pcall('XGROUP', 'DELCONSUMER', q.ready, STREAM_GROUP, l.token)
end

-- Of an expired lease: aside.
function stream.again(q, l, id)
  l.stays[id] = true
  redis.call('XCLAIM', q.ready, STREAM_GROUP, STREAM_ASIDE, 0, l.entry[id], 'IDLE', STREAM_ASIDE_MS, 'JUSTID')
end

function stream.claimed(q, token, packed, now)
  local l = stream.open(q, token)
  return l and rows_of_lease(q, l, packed, now)
end

-- Looks through what lies aside.
local function stream_find(q, id)
  for _, entry in ipairs(stream_pending(q, STREAM_ASIDE, 1000)) do
    local other, due = stream_entry(q, entry)
    if other == id then
      return entry, math.max(due, tries.of(q, id).last_at)
    end
  end
end

function stream.back(q, id)
  local entry, due = stream_find(q, id)
  if entry then
    stream_end(q, entry)
    redis.call('ZADD', q.due, due, id)
  end
end

function stream.is_ready(q, id)
  local _, due = stream_find(q, id)
  return due
end

-- What lies aside, and what no claim has read: it was moved in vain.
function stream.count_beside(q)
  local length, pending = redis.call('XLEN', q.ready), redis.pcall('XPENDING', q.ready, STREAM_GROUP)
  if pending.err then
    return length
  end
  local aside = 0
  for _, consumer in ipairs(pending[4] or {}) do
    if consumer[1] == STREAM_ASIDE then
      aside = tonumber(consumer[2])
    end
  end
  return length - pending[1] + aside
end

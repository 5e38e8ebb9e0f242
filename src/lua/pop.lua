-- Engine `pop`, the classic one: a sorted set whose members are the jobs themselves; a claim takes due ones out, and they
-- are the caller's. Nothing is leased: what its worker does not finish is gone.
--
-- A member is the id, a zero byte, and the record with a stamp of zeros: a put that is repeated is the same member.
local MOST_POPPED = 100

local pop = engine_like_lease('pop', { 'ack', 'fail', 'release', 'extend', 'recover', 'cancel', 'reschedule', 'run_now',
  'edit', 'replay', 'purge', 'find', 'list', 'import' })

local function pop_member(id, bytes)
  return id .. '\0\0\0\0\0\0\0' .. bytes
end

function pop.known(q, ids, records)
  local members = {}
  for i = 1, #ids do
    members[i] = pop_member(ids[i], records[i])
  end
  return redis.call('ZMSCORE', q.due, unpack(members))
end

function pop.due_of(q, id, bytes)
  return tonumber(redis.call('ZSCORE', q.due, pop_member(id, bytes)))
end

function pop.add(q, jobs, dues)
  local entries = {}
  for i = 1, #jobs, 2 do
    entries[i], entries[i + 1] = dues[i], pop_member(jobs[i], string.sub(jobs[i + 1], 7))
  end
  return redis.call('ZADD', q.due, unpack(entries))
end

function pop.claimed()
  return nil
end

function pop.take(q, _, now, most, _, packed)
  local due = redis.call('ZRANGEBYSCORE', q.due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, math.min(most, MOST_POPPED))
  local g, popped = row_gatherer(now, '', 0, packed), {}
  for i = 1, #due, 2 do
    local id, bytes = string.match(due[i], '^([^%z]+)%z(.*)$')
    popped[#popped + 1] = due[i]
    if id and record.is_readable(bytes) then
      g.add(id, tonumber(due[i + 1]), bytes, 1)
    else
      g.dropped = g.dropped + 1
    end
    if g.bytes > MOST_BYTES then
      break
    end
  end
  if #popped > 0 then
    redis.call('ZREM', q.due, unpack(popped))
  end
  g.count(q)
  return g.rows, 2 * #popped < #due or #popped == math.min(most, MOST_POPPED), due[2] and tonumber(due[2]) < now - 20
end

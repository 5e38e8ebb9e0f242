-- Engine `keyspace`: a key `timer:ID` that expires when the job is due. Redis tells all who listen; each asks for the job
-- by id, and one of them gets it. Nothing is leased: what its worker does not finish is gone.
--
-- Redis tells an expiry late, once, and to nobody if nobody listens. So waiting jobs are in `due`, too: a worker's claim
-- without ids is the sweep for what was missed.
local SWEEP_MS = 5000

local keyspace = engine_like_lease('keyspace', { 'ack', 'fail', 'release', 'extend', 'recover', 'replay', 'purge' })
keyspace.listens = true

local function keyspace_timer(q, id)
  return q.tag .. 'timer:' .. id
end

function keyspace.on_due(q, id, due)
  redis.call('SET', keyspace_timer(q, id), '', 'PXAT', string.format('%.0f', math.max(1, due)))
end

function keyspace.add(q, jobs, dues)
  local added = engines.lease.add(q, jobs, dues)
  for i = 1, #dues, 2 do
    keyspace.on_due(q, dues[i + 1], dues[i])
  end
  return added
end

function keyspace.drop(q, ids)
  redis.call('HDEL', q.jobs, unpack(ids))
  for i = 1, #ids do
    redis.call('DEL', keyspace_timer(q, ids[i]))
  end
end

function keyspace.claimed()
  return nil
end

function keyspace.take(q, a, now, most, _, packed)
  local due = {}
  local is_sweep = a.given.waiter and not a.column.id
  if a.column.id then
    for row = 1, math.min(most, a.rows) do
      due[#due + 1] = args.cell(a, a.argv, row, 'id')
    end
  else
    due = redis.call('ZRANGEBYSCORE', q.due, '-inf', is_sweep and now - SWEEP_MS or now, 'LIMIT', 0, most)
  end
  local g, read = row_gatherer(now, '', 0, packed), 0
  for i = 1, #due do
    local id = due[i]
    local at = tonumber(redis.call('ZSCORE', q.due, id) or false)
    read = i
    if at and at <= now then -- else another one was faster, or it was moved
      local bytes = redis.call('HGET', q.jobs, id)
      redis.call('ZREM', q.due, id)
      keyspace.drop(q, { id })
      if bytes and record.is_readable(bytes) then
        g.add(id, at, bytes, 1)
      else
        g.dropped = g.dropped + 1
      end
    end
    if g.bytes > MOST_BYTES then
      break
    end
  end
  g.count(q)
  queue.count(q, 'swept', is_sweep and g.taken or 0)
  return g.rows, read < #due or not a.column.id and g.taken >= most, false
end

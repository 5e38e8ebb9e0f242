-- Stops claims of a queue; puts, recovery and changes go on. Lasts until resumed. No arguments.
--
-- reply  {'paused'}
function duly.pause(keys, argv)
  local q, _, _, bad = open(keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  redis.call('HSET', q.meta, 'paused', '1')
  return { 'paused' }
end

-- Ends a pause, and wakes a worker. No arguments.
--
-- reply  {'resumed'}
function duly.resume(keys, argv)
  local q, _, _, bad = open(keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  redis.call('HDEL', q.meta, 'paused')
  wake.after_resume(q)
  return { 'resumed' }
end

-- Takes back the jobs of expired leases now; claims do it anyway. Also those of leases whose end is missing: that
-- only this function does. No arguments.
--
-- reply  {'recovered', how many}; 0: none is left
function duly.recover(keys, argv)
  local q, _, now, bad, now_us = open(keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  local head = waiting.head(q)
  lease.repair(q, now)
  local back, again = lease.recover(q, now, 250)
  keep.trim(q, now)
  if again > 0 then
    wake.after_put(q, head, now, now, now_us)
  end
  return { 'recovered', back }
end

-- Sets limits of a queue, and tells all: see keep.lua.
function duly.limits(keys, argv)
  local q, a, now, bad = open(keys, argv, keep.names())
  if bad then
    return bad
  end
  return keep.change(q, a, now)
end

-- The version of this library. No keys, no arguments.
--
-- reply  {'version', '0.1.0'}
function duly.version()
  return { 'version', '@DULY_VERSION@' }
end

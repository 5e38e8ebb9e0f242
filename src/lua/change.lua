-- Changes waiting jobs: those that are scheduled or ready. All answer {'done', id, detail}, {'not_found', id, ''},
-- or {'wrong_state', id, ''} for a job that is active or dead. Cancel alone reaches active jobs, too.

local function absent(q, id)
  if id and q.engine.has(q, id) then
    return 'wrong_state'
  end
  return 'not_found'
end

-- Drops a waiting job. An active one is marked: its holder learns it by `extend`, and however its attempt ends, it does
-- not run again.
--
-- args   id
-- reply  {'done', id, ''}, {'asked', id, ''} for an active job, {'not_found', id, ''}, {'wrong_state', id, ''}
function duly.cancel(keys, argv)
  local q, a, now, bad = open('cancel', keys, argv, 'id')
  if bad then
    return bad
  end

  -- Writes.
  local cancelled = 0
  local reply = queue.each_row(a, argv, now, 'done', function(row)
    local id = args.cell(a, argv, row, 'id')
    waiting.bring_back(q, id)
    if not id or redis.call('ZREM', q.due, id) == 0 then
      local word = absent(q, id)
      if word == 'wrong_state' and not redis.call('ZSCORE', q.dead, id) and
        not redis.call('ZSCORE', q.done, id) then
        tries.ask(q, id)
        return 'asked'
      end
      return word
    end
    q.engine.drop(q, { id })
    redis.call('HDEL', q.tries, id)
    cancelled = cancelled + 1
    return 'done'
  end)
  queue.count(q, 'cancelled', cancelled)
  return reply
end

-- Moves due times. `due_of_row(row, due)` answers the new one, or nil and a text.
local function move(q, a, argv, now, now_us, due_of_row)
  local head, earliest = waiting.head(q), nil
  local reply = queue.each_row(a, argv, now, 'done', function(row)
    local id = args.cell(a, argv, row, 'id')
    local before, priority = nil, nil
    if id then
      waiting.bring_back(q, id)
      before, priority = waiting.find(q, id)
    end
    local due, text = due_of_row(row, before)
    if not due then
      return 'invalid', text
    end
    if not before then
      return absent(q, id)
    end
    waiting.add(q, id, due, priority)
    earliest = math.min(earliest or due, due)
    return 'done', string.format('%.0f', due)
  end)
  if earliest then
    wake.after_put(q, head, earliest, now, now_us)
  end
  return reply
end

-- Moves the due time of a waiting job.
--
-- args   id, and delay_ms or due_at_ms: one of them
-- reply  {'done', id, due_at_ms}
function duly.reschedule(keys, argv)
  local q, a, now, bad, now_us = open('reschedule', keys, argv, 'id delay_ms due_at_ms')
  if bad then
    return bad
  end

  -- Writes.
  return move(q, a, argv, now, now_us, function(row)
    local delay, due_at = args.cell(a, argv, row, 'delay_ms') or '', args.cell(a, argv, row, 'due_at_ms') or ''
    if delay == '' and due_at == '' then
      return nil, 'delay_ms, due_at_ms: not given, expected one of them'
    end
    return due_of(now, delay, due_at)
  end)
end

-- Makes a scheduled job due at once; a ready one keeps its place.
--
-- args   id
-- reply  {'done', id, due_at_ms}
function duly.run_now(keys, argv)
  local q, a, now, bad, now_us = open('run_now', keys, argv, 'id')
  if bad then
    return bad
  end

  -- Writes.
  return move(q, a, argv, now, now_us, function(_, before)
    return math.min(before or now, now)
  end)
end

-- Replaces the payload of a waiting job.
--
-- args   id, payload
function duly.edit(keys, argv)
  local q, a, now, bad = open('edit', keys, argv, 'id payload')
  if bad then
    return bad
  end

  -- Writes.
  return queue.each_row(a, argv, now, 'done', function(row)
    local id, payload = args.cell(a, argv, row, 'id'), args.cell(a, argv, row, 'payload')
    if not payload or #payload > MOST_PAYLOAD then
      return 'invalid', 'payload: missing or too large, expected at most 536866816 bytes'
    end
    waiting.bring_back(q, id)
    if not id or not redis.call('ZSCORE', q.due, id) then
      return absent(q, id)
    end
    local bytes = q.engine.record(q, id)
    if not bytes or not record.is_readable(bytes) then
      return 'not_found'
    end
    q.engine.rewrite(q, id, record.with_payload(bytes, payload))
    return 'done'
  end)
end

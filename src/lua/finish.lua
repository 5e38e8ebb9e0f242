-- Ends or prolongs the lease of a job. All of these take rows of id and token, and answer 'lease_lost' where
-- the token is not the job's current one; nothing has changed then.

local MUST = { 'id', 'token' }

-- Opens queue and arguments. An id and a token, where a function knows them, must be given.
local function open(verb, keys, argv, names)
  local q, bad = queue.open(keys, verb)
  if not q then
    return nil, nil, nil, bad
  end
  local a, known = nil, args.names(names)
  a, bad = args.parse(argv, known)
  if not a then
    return nil, nil, nil, bad
  end
  for i = 1, #MUST do
    local name = MUST[i]
    if known[name] and not a.given[name] and not a.column[name] and not a.given.most then
      return nil, nil, nil, args.invalid(name, 'not given', 'the ' .. name .. ' of a job')
    end
  end
  local now, now_us = clock.now(q)
  return q, a, now, nil, now_us
end

local MOST_RESULT_BYTES = 65536

-- Reports success: the job is done and leaves the queue, or stays among the done jobs for as long as the queue keeps
-- them.
--
-- args   id, token    a batch of one claim may give token once, beside columns
--        result       what the job brought, at most 65,536 bytes; kept with a done job, else dropped
-- reply  {'acked', id, ''} or {'lease_lost', id, ''}
-- batch  rows that are not 'acked': 'lease_lost', 'invalid' with the text
function duly.ack(keys, argv)
  local q, a, now, bad = open('ack', keys, argv, 'id token result')
  if bad then
    return bad
  end
  local keeps = q.keeps_done
  -- All jobs of one claim, in its order: the usual batch, and no need to look into the list.
  local token = a.given.token
  if q.engine == engines.lease and not keeps and a.width == 1 and a.column.id and token and not a.given.result and
    redis.call('HGET', q.held, token) == table.concat(argv, ' ', a.first) then
    -- Writes.
    redis.call('HDEL', q.jobs, unpack(argv, a.first))
    redis.call('ZREM', q.leases, token)
    redis.call('HDEL', q.held, token)
    if redis.call('EXISTS', q.tries) == 1 then
      redis.call('HDEL', q.tries, unpack(argv, a.first))
    end
    queue.count(q, 'acked', a.rows)
    return queue.batch_reply(now, a.rows, {})
  end

  -- Writes.
  local lease_of, opened = lease.opener(q)
  local done, acked = {}, 0
  local reply = queue.each_row(a, argv, now, 'acked', function(row)
    local id, result = args.cell(a, argv, row, 'id'), args.cell(a, argv, row, 'result') or ''
    if #result > MOST_RESULT_BYTES then
      return 'invalid', 'result: ' .. #result .. ' bytes, expected at most ' .. MOST_RESULT_BYTES
    end
    if not lease.take(lease_of(args.cell(a, argv, row, 'token')), id) then
      return 'lease_lost'
    end
    acked = acked + 1
    if keeps and q.engine.has(q, id) then
      tries.note_result(q, id, result)
      keep.add(q, 'done', id, now)
    else
      done[#done + 1] = id
    end
    return 'acked'
  end)
  if #done > 0 then
    q.engine.drop(q, done)
    redis.call('HDEL', q.tries, unpack(done))
  end
  if acked > 0 then
    lease.close_all(q, opened)
    queue.count(q, 'acked', acked)
  end
  keep.trim_if_needed(q, now)
  return reply
end

-- Reports an error: the job runs again after its backoff, is dead, or, if its cancel was asked for, gone.
--
-- args   id, token
--        error          kept with the job; cut at 4,096 bytes
--        retry_in_ms    instead of the backoff, exact; 0 .. 3155760000000
--        give_up        '1': dead, whatever attempts are left; '0' or nothing: not
-- reply  {'failed', id, due_at_ms}; {'dead', id, reason}; {'cancelled', id, ''}; {'lease_lost', id, ''}
-- batch  rows that are not 'failed': 'dead', 'cancelled', 'lease_lost', 'invalid' with the text
function duly.fail(keys, argv)
  local q, a, now, bad, now_us = open('fail', keys, argv, 'id token error retry_in_ms give_up')
  if bad then
    return bad
  end

  -- Writes.
  local lease_of, opened = lease.opener(q)
  local head, earliest, failed, dropped = waiting.head(q), nil, 0, 0
  local reply = queue.each_row(a, argv, now, 'failed', function(row)
    local id = args.cell(a, argv, row, 'id')
    local wait, text = nil, args.cell(a, argv, row, 'retry_in_ms')
    if text and text ~= '' then
      wait = args.whole(text, 0, MOST_DELAY_MS)
      if not wait then
        return 'invalid', 'retry_in_ms: not a whole number in range, expected 0 .. 3155760000000'
      end
    end
    local give_up = args.cell(a, argv, row, 'give_up') or ''
    if give_up ~= '' and give_up ~= '0' and give_up ~= '1' then
      return 'invalid', 'give_up: unknown, expected 1, 0 or nothing'
    end
    local l = lease_of(args.cell(a, argv, row, 'token'))
    if not lease.take(l, id) then
      return 'lease_lost'
    end
    local bytes = q.engine.record(q, id)
    if not bytes then
      redis.call('HDEL', q.tries, id)
      dropped = dropped + 1
      return 'lease_lost'
    end
    local t = tries.of(q, id)
    if tries.is_asked(t) then
      tries.drop_cancelled(q, id)
      return 'cancelled'
    end
    failed = failed + 1
    t.failures, t.last_at, t.error = t.failures + 1, now, args.cell(a, argv, row, 'error') or ''
    if not record.is_readable(bytes) then
      tries.bury(q, id, t, 'unreadable', now)
      return 'dead', 'unreadable'
    end
    local p = record.policy(bytes)
    if give_up == '1' then
      tries.bury(q, id, t, 'given_up', now)
      return 'dead', 'given_up'
    end
    if t.failures >= p.max_attempts then
      tries.bury(q, id, t, 'failed', now)
      return 'dead', 'failed'
    end
    wait = wait or record.backoff_ms(p, t.failures, id .. string.format('%.0f', now_us) .. t.failures)
    local due = math.min(now + wait, LAST_DUE_AT_MS)
    redis.call('HSET', q.tries, id, tries.pack(t))
    waiting.add(q, id, due, waiting.priority(q, id, bytes))
    earliest = math.min(earliest or due, due)
    return 'failed', string.format('%.0f', due)
  end)
  lease.close_all(q, opened)
  queue.count(q, 'failed', failed)
  keep.trim_if_needed(q, now)
  queue.count(q, 'dropped', dropped)
  if earliest then
    wake.after_put(q, head, earliest, now, now_us)
  end
  return reply
end

-- Gives a job back unharmed: ready at once, no attempt charged; or, if its cancel was asked for, gone.
--
-- args   id, token
-- reply  {'released', id, ''}, {'cancelled', id, ''} or {'lease_lost', id, ''}
function duly.release(keys, argv)
  local q, a, now, bad, now_us = open('release', keys, argv, 'id token')
  if bad then
    return bad
  end

  -- Writes.
  local lease_of, opened = lease.opener(q)
  local head, back = waiting.head(q), {}
  local reply = queue.each_row(a, argv, now, 'released', function(row)
    local id = args.cell(a, argv, row, 'id')
    if not lease.take(lease_of(args.cell(a, argv, row, 'token')), id) then
      return 'lease_lost'
    end
    if #tries.asked_of(q, { id }) > 0 then
      tries.drop_cancelled(q, id)
      return 'cancelled'
    end
    back[#back + 1] = waiting.score(now, waiting.priority(q, id))
    back[#back + 1] = id
    return 'released'
  end)
  if #back > 0 then
    redis.call('ZADD', q.due, unpack(back))
    queue.count(q, 'released', #back / 2)
  end
  lease.close_all(q, opened)
  if #back > 0 then
    wake.after_put(q, head, now, now, now_us)
  end
  return reply
end

-- Keeps the lease of the claim that holds the job until lease_ms from now; never shortens it.
--
-- args   id, token, lease_ms    100 .. 86400000
-- reply  {'extended', id, lease end in ms}
--        {'asked', id, ids}     extended, too; the cancel of these jobs of the claim was asked for, parted by blanks
--        {'lease_lost', id, ''}
function duly.extend(keys, argv)
  local q, a, now, bad = open('extend', keys, argv, 'id token lease_ms')
  if bad then
    return bad
  end

  -- Writes.
  local lease_of = lease.opener(q)
  return queue.each_row(a, argv, now, 'extended', function(row)
    local length = args.whole(args.cell(a, argv, row, 'lease_ms'), 100, 86400000)
    if not length then
      return 'invalid', 'lease_ms: not a whole number in range, expected 100 .. 86400000'
    end
    local l = lease_of(args.cell(a, argv, row, 'token'))
    if not l or not l.set[args.cell(a, argv, row, 'id')] then
      return 'lease_lost'
    end
    local ends_at = math.max(now + length, tonumber(redis.call('ZSCORE', q.leases, l.token) or 0))
    redis.call('ZADD', q.leases, ends_at, l.token)
    l.asked = l.asked or table.concat(tries.asked_of(q, l.order), ' ')
    if l.asked ~= '' then
      return 'asked', l.asked
    end
    return 'extended', string.format('%.0f', ends_at)
  end)
end

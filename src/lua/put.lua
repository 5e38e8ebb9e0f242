-- Stores jobs.
--
-- args   id                        the job's own, 1 .. 128 printable characters without blanks
--        delay_ms or due_at_ms     neither means due now
--        record                    packed by the client; or instead, plain:
--        type, payload, priority (0 .. 9, default 0; 9 goes first), lease_ms, timeout_ms, max_attempts,
--        backoff (exponential or fixed), backoff_base_ms,
--        backoff_cap_ms, backoff_factor_milli, backoff_jitter_percent
--        mode                      'all': every row is created, or none; 'each', or nothing: row by row
-- reply  {'created', id, due_at_ms}
--        {'exists', id, due_at_ms or ''}   as it was; '' if it is active or dead
-- batch  rows that are not created: 'exists' with due_at_ms or '', 'invalid' or 'full' with the text, 'withheld' (mode
--        all)
local PUT = 'id delay_ms due_at_ms record type payload priority lease_ms timeout_ms max_attempts backoff ' ..
  'backoff_base_ms backoff_cap_ms backoff_factor_milli backoff_jitter_percent mode'

local MOST_DELAY_MS = 3155760000000  -- 100 years
local LAST_DUE_AT_MS = 253402300799999 -- the end of the year 9999
local MOST_PAYLOAD = 512 * 1024 * 1024 - 4096

local duly = {}

-- The due time of a row; nil and a text if it is wrong.
local function due_of(now, delay, due_at)
  if delay and delay ~= '' then
    if due_at and due_at ~= '' then
      return nil, 'due_at_ms: given beside delay_ms, expected one of them'
    end
    local number = args.whole(delay, 0, MOST_DELAY_MS)
    if not number then
      return nil, 'delay_ms: not a whole number in range, expected 0 .. 3155760000000'
    end
    if now + number > LAST_DUE_AT_MS then
      return nil, 'delay_ms: beyond the year 9999, expected an earlier due time'
    end
    return now + number
  end
  if due_at and due_at ~= '' then
    local number = args.whole(due_at, 0, LAST_DUE_AT_MS)
    if not number then
      return nil, 'due_at_ms: not a whole number in range, expected 0 .. 253402300799999'
    end
    return number
  end
  return now
end

-- Whether no id of a batch holds a forbidden character: one look at all together.
local function are_clean_ids(argv, a, at_id)
  local ids, place = {}, a.first - 1 + at_id
  for row = 1, a.rows do
    ids[row] = argv[place]
    place = place + a.width
  end
  return not string.find(table.concat(ids), '[^\33-\126]')
end

function duly.put(keys, argv)
  local q, a, bad
  q, bad = queue.open(keys, 'put')
  if q then
    a, bad = args.parse(argv, args.names(PUT))
  end
  if bad then
    return bad
  end
  local mode = a.given.mode or ''
  if a.column.mode or mode ~= '' and mode ~= 'each' and mode ~= 'all' then
    return args.invalid('mode', 'unknown', 'all or each, beside columns')
  end
  local now, now_us = clock.now(q)
  local stamp = struct.pack('<I6', now)
  local ids, dues, records, place = {}, {}, {}, {}
  local words, details, seen, same_as, n = {}, {}, {}, {}, 0
  local cell, byte, find = args.cell, string.byte, string.find
  -- The usual batch has id and record in columns, and many rows with one delay: what is done for each of a
  -- million jobs a minute is done without calls here.
  local at_id, at_record, at_delay = a.column.id, a.column.record, a.column.delay_ms
  local is_usual = at_id and at_record and at_delay and not a.column.due_at_ms and not a.given.due_at_ms
  local base, last_delay, last_due = a.first - 1, nil, nil
  local are_clean = is_usual and are_clean_ids(argv, a, at_id)
  for row = 1, a.rows do
    local id, bytes, delay, due_at, due, text
    if is_usual then
      id, bytes, delay = argv[base + at_id], argv[base + at_record], argv[base + at_delay]
      base = base + a.width
    else
      id, bytes = cell(a, argv, row, 'id'), cell(a, argv, row, 'record')
      delay, due_at = cell(a, argv, row, 'delay_ms'), cell(a, argv, row, 'due_at_ms')
    end
    if not id or id == '' or #id > 128 or not are_clean and find(id, '[^\33-\126]') then
      text = 'id: not 1 .. 128 printable ASCII characters without blanks, expected such'
    elseif not bytes or bytes == '' then
      bytes, text = record.pack(function(name) return cell(a, argv, row, name) end)
    else
      local format, flags, type_length = byte(bytes, 1, 3)
      if not (format == 1 and flags == 0 and type_length and #bytes >= 3 + type_length) and
        not record.is_packed(bytes) then
        text = 'record: not of format 1, expected a header as in docs/protocol.md'
      end
    end
    if not text and q.engine.cannot.priority and byte(bytes, 2) % 2 == 1 and byte(bytes, 5) > 0 then
      text = "priority: above 0, engine '" .. q.engine.name .. "' does not support priorities"
    end
    if not text and #bytes > MOST_PAYLOAD then
      text = 'payload: too large, expected at most 536866816 bytes'
    end
    if not text then
      if delay and delay == last_delay and not due_at then
        due = last_due
      else
        due, text = due_of(now, delay, due_at)
        last_delay, last_due = due and not due_at and delay or nil, due
      end
    end
    if text then
      words[row], details[row] = 'invalid', text
    elseif seen[id] then
      words[row], same_as[row] = 'exists', seen[id]
    else
      n = n + 1
      ids[n], dues[n], records[n], place[n], seen[id] = id, due, bytes, row, n
    end
  end
  if not a.is_batch and words[1] then
    return redis.error_reply('DULY_INVALID ' .. details[1])
  end

  local earliest, count = nil, 0
  if n > 0 then
    local found = q.engine.known(q, ids, records)
    local new_jobs, new_dues, room, length = {}, {}, keep.room(q)
    local last_priority, last_score, has_priority
    last_due = nil
    for i = 1, n do
      if found[i] then
        words[place[i]], details[place[i]] = 'exists', q.engine.due_of(q, ids[i], records[i]) or ''
      elseif count >= room then
        words[place[i]], details[place[i]] = 'full', string.format('queue: %.0f waiting jobs, its limit', length)
      else
        local id, due = ids[i], dues[i]
        local priority = byte(records[i], 2) % 2 == 1 and byte(records[i], 5) or 0
        if due ~= last_due or priority ~= last_priority then
          last_due, last_priority = due, priority
          last_score = string.format('%.0f', waiting.score(due, priority))
          has_priority = has_priority or priority > 0
          if not earliest or due < earliest then
            earliest = due
          end
        end
        new_jobs[2 * count + 1], new_jobs[2 * count + 2] = id, stamp .. records[i]
        new_dues[2 * count + 1], new_dues[2 * count + 2] = last_score, id
        count = count + 1
      end
    end
    if mode == 'all' and count < a.rows then
      count = 0
      for i = 1, n do
        words[place[i]] = words[place[i]] or 'withheld'
      end
    end

    -- Writes.
    if count > 0 then
      local head = waiting.head(q)
      if has_priority then
        waiting.use_levels(q)
      end
      local added = q.engine.add(q, new_jobs, new_dues, now)
      queue.count(q, 'put', count)
      queue.count(q, 'dropped', count - added) -- entries of lost records had these ids
      wake.after_put(q, head, earliest, now, now_us)
    end
  end
  -- An id that came before in this call: due as the job that is there now.
  for row, i in pairs(same_as) do
    local word = words[place[i]]
    details[row] = word == nil and dues[i] or word == 'exists' and details[place[i]] or ''
  end

  if words[1] == 'full' and not a.is_batch then
    return redis.error_reply('DULY_FULL ' .. details[1])
  end
  if not a.is_batch then
    return { words[1] or 'created', ids[1], words[1] and tostring(details[1]) or string.format('%.0f', dues[1]) }
  end
  local exceptions = {}
  if count < a.rows then
    for row = 1, a.rows do
      if words[row] then
        exceptions[#exceptions + 1] = row
        exceptions[#exceptions + 1] = words[row]
        local detail = details[row] or ''
        exceptions[#exceptions + 1] = type(detail) == 'number' and string.format('%.0f', detail) or detail
      end
    end
  end
  return queue.batch_reply(now, count, exceptions)
end

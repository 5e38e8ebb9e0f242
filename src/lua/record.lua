-- The record of a job: a small header, then type and payload, both opaque. docs/protocol.md, "Records".
--
--   0  u48 put_at_ms   6  u8 format   7  u8 flags   8  u8 type length   9  policy, if flags has 1
local record = {}

local POLICY = '<BBI2I4I4I4I4I4'
local POLICY_BYTES = 24
local MOST_PRIORITY = 9

-- The policy of jobs that bring none. These belong to format 1: another default is another format.
local function usual_policy()
  return {
    jitter = 20, priority = 0, max_attempts = 20, lease_ms = 0, timeout_ms = 1800000,
    base_ms = 10000, cap_ms = 21600000, factor = 2000, is_fixed = false,
  }
end

-- Whether this library can read a record that has `stamp` bytes before its format.
local function is_whole(bytes, stamp)
  local format, flags, type_length = string.byte(bytes, stamp + 1, stamp + 3)
  if format ~= 1 or not type_length then
    return false
  end
  local least = stamp + 3 + type_length
  if flags % 2 == 1 then
    least = least + POLICY_BYTES
  end
  return #bytes >= least
end

-- As a client packs it.
function record.is_packed(bytes)
  return is_whole(bytes, 0) and (string.byte(bytes, 2) % 2 == 0 or string.byte(bytes, 5) <= MOST_PRIORITY)
end

-- As it is stored.
function record.is_readable(bytes)
  return is_whole(bytes, 6)
end

-- 0 .. 9; 9 goes first.
function record.priority(bytes)
  if string.byte(bytes, 8) % 2 == 0 then
    return 0
  end
  return math.min(MOST_PRIORITY, string.byte(bytes, 11))
end

-- The lease that the job asks for, in ms; 0 for the claimer's.
function record.lease_ms(bytes)
  if string.byte(bytes, 8) % 2 == 0 then
    return 0
  end
  return (struct.unpack('<I4', bytes, 14))
end

function record.policy(bytes)
  local p = usual_policy()
  local flags = string.byte(bytes, 8)
  if flags % 2 == 1 then
    p.jitter, p.priority, p.max_attempts, p.lease_ms, p.timeout_ms, p.base_ms, p.cap_ms, p.factor =
      struct.unpack(POLICY, bytes, 10)
  end
  p.is_fixed = flags % 4 >= 2
  return p
end

function record.put_at(bytes)
  return (struct.unpack('<I6', bytes, 1))
end

-- Where the type begins in a stored record, and its length.
function record.type_place(bytes)
  local first = 10
  if string.byte(bytes, 8) % 2 == 1 then
    first = first + POLICY_BYTES
  end
  return first, string.byte(bytes, 9)
end

function record.type(bytes)
  local first, length = record.type_place(bytes)
  return string.sub(bytes, first, first + length - 1)
end

function record.payload(bytes)
  local first, length = record.type_place(bytes)
  return string.sub(bytes, first + length)
end

function record.with_payload(bytes, payload)
  local first, length = record.type_place(bytes)
  return string.sub(bytes, 1, first + length - 1) .. payload
end

-- Packs a record, without its stamp, from the plain values of a put. `value(name)` is nil or ''
-- where nothing is given.
--
-- reply  the record
--        nil, text    what is wrong
function record.pack(value)
  local job_type, payload = value('type') or '', value('payload') or ''
  if #job_type > 128 or string.find(job_type, '[^\33-\126]') then
    return nil, 'type: not printable ASCII or too long, expected at most 128 characters without blanks'
  end
  local p, flags, bad = usual_policy(), 0, nil
  local function take(name, field, low, high)
    local text = value(name)
    if text and text ~= '' then
      local number = args.whole(text, low, high)
      if not number then
        bad = name .. ': not a whole number in range, expected ' .. low .. ' .. ' .. high
        return
      end
      p[field], flags = number, 1
    end
  end
  take('priority', 'priority', 0, MOST_PRIORITY)
  take('max_attempts', 'max_attempts', 1, 65535)
  take('lease_ms', 'lease_ms', 100, 86400000)
  take('timeout_ms', 'timeout_ms', 1, 2592000000)
  take('backoff_base_ms', 'base_ms', 0, 2592000000)
  take('backoff_cap_ms', 'cap_ms', 0, 2592000000)
  take('backoff_factor_milli', 'factor', 1000, 1000000000)
  take('backoff_jitter_percent', 'jitter', 0, 100)
  local kind = value('backoff') or ''
  if kind ~= '' and kind ~= 'exponential' and kind ~= 'fixed' then
    bad = 'backoff: unknown kind, expected exponential or fixed'
  end
  if not bad and kind ~= 'fixed' and p.cap_ms ~= 0 and p.cap_ms < p.base_ms then
    bad = 'backoff_cap_ms: below backoff_base_ms, expected base .. 2592000000, or 0 for no cap'
  end
  if bad then
    return nil, bad
  end
  local policy = ''
  if flags == 1 then
    policy = struct.pack(POLICY, p.jitter, p.priority, p.max_attempts, p.lease_ms, p.timeout_ms, p.base_ms,
      p.cap_ms, p.factor)
  end
  if kind == 'fixed' then
    flags = flags + 2
  end
  return struct.pack('<BBB', 1, flags, #job_type) .. policy .. job_type .. payload
end

-- The wait after the n-th failure: min(cap, base * factor^(n-1)), then a random part of at most
-- `jitter` percent on top. `salt` makes the random part differ from job to job.
function record.backoff_ms(p, failures, salt)
  local cap = p.cap_ms > 0 and p.cap_ms or 2592000000
  local wait = p.base_ms
  if not p.is_fixed and wait > 0 then
    wait = math.min(cap, wait * (p.factor / 1000) ^ (failures - 1))
  end
  if p.jitter > 0 and wait > 0 then
    -- Redis gives scripts the same random numbers each time: a digest of what differs is the source.
    local random = tonumber(string.sub(redis.sha1hex(salt), 1, 8), 16) / 4294967296
    wait = wait + wait * p.jitter / 100 * random
  end
  return math.floor(wait)
end

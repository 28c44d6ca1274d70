-- Records: small values with a version that differs after every write.

-- version of the layout, version of the record, end or -1, charge, bytes of the value
local RECORD = '<BddI4I4'
local RECORD_BYTES = 25

local function recordKey(at, id)
  return at.base .. 'r:' .. id
end

-- The value of a record and its head; nil if there is none. `unknown` for one of a later layout.
local function readValue(at, id, now)
  local value = redis.call('GET', recordKey(at, id))
  if not value then return nil end
  if #value < RECORD_BYTES or value:byte(1) ~= VERSION then return nil, 'unknown' end
  local _, version, expires, charge = struct.unpack(RECORD, value)
  local isOver = expires >= 0 and expires <= now
  return { version = version, expires = expires, charge = charge, isOver = isOver, value = value }
end

local function dropRecord(at, id, record)
  redis.call('UNLINK', recordKey(at, id))
  redis.call('ZREM', at.base .. 'e', id .. ':' .. record.charge)
  change(at, 0, -1, -record.charge)
end

local function storeRecord(at, id, now, ttl, charge, bytes, tail, old)
  if old then redis.call('ZREM', at.base .. 'e', id .. ':' .. old.charge) end
  local version = redis.call('INCR', at.root .. 'v')
  local expires = ttl >= 0 and now + ttl or -1
  local value = struct.pack(RECORD, VERSION, version, expires, charge, bytes) .. tail
  redis.call('SET', recordKey(at, id), value)
  if ttl >= 0 then
    redis.call('PEXPIRE', recordKey(at, id), string.format('%.0f', ttl + NET_MS))
  end
  redis.call('ZADD', at.base .. 'e', ttl >= 0 and expires or '+inf', id .. ':' .. charge)
  change(at, 0, old and 0 or 1, charge - (old and old.charge or 0))
  return version
end

-- args: time, id.
local function readRecord(keys, args)
  local record, problem = readValue(rootOf(keys), args[2], timeOf(args[1]))
  if problem then return { problem } end
  if not record or record.isOver then return { 'not_found' } end
  return { 'found', record.value }
end

-- args: time, id, ttl or -1, version that must be there or -1, charge, bytes, tail, share,
-- tombstone time. Returns the outcome, the version, the one that it replaced or 0, and the guard.
local function writeRecord(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local id, ttl, wanted, charge = args[2], tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  local old, problem = readValue(at, id, now)
  if problem then return { problem } end
  local version = (old and not old.isOver) and old.version or 0
  if wanted >= 0 and wanted ~= version then return { 'conflict' } end
  local refusal = claimSpace(at, charge, tonumber(args[8]), now, tonumber(args[9]))
  if refusal then return { refusal } end
  local written = storeRecord(at, id, now, ttl, charge, tonumber(args[6]), args[7], old)
  return { 'ok', written, version, guardOf(at, '') }
end

-- args: time, id, version that must be there or -1. Returns the outcome, the version that was there,
-- and the guard.
local function deleteRecord(keys, args)
  local at = rootOf(keys)
  local record, problem = readValue(at, args[2], timeOf(args[1]))
  if problem then return { problem } end
  if not record or record.isOver then return { 'not_found' } end
  local wanted = tonumber(args[3])
  if wanted >= 0 and wanted ~= record.version then return { 'conflict' } end
  dropRecord(at, args[2], record)
  return { 'ok', record.version, guardOf(at, '') }
end

-- What a claim finds of one record. Returns what is said of it, and whether it is to be written.
local function judgeClaim(claim, record, problem)
  if problem then return { 'unknown', '', 0 } end
  if not record or record.isOver then
    local isAsked = claim.kind == 'question'
    return { isAsked and 'absent' or 'mine', '', 0 }, not isAsked
  end
  local isKnown = claim.known == record.version
  if claim.kind == 'replace' and (claim.known < 0 or isKnown) then
    return { 'mine', '', record.version }, true
  end
  if isKnown or record.value:sub(RECORD_BYTES + 1) == claim.tail then return { 'same', '', 0 } end
  return { 'other', record.value, 0 }
end

-- Writes records that are not there, unless one that is there is another one: then nothing is
-- written. So what was decided by one caller for a conversation is never mixed with what another
-- one decided.
-- args: time, share, tombstone time, number of records, of each its id, ttl or -1, charge, bytes,
-- tail, the version that the caller knows or -1, and `new`, `question` or `replace`; at the end the
-- server's time after which it has no effect or empty.
-- Returns `late`, `quota` or `busy`, or `held` or `ok`, the guard, and of each record: `mine`,
-- `same`, `other`, `absent` or `unknown`, its version or the value that is there, and the version
-- that it replaced or 0.
local function claimRecords(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local count = tonumber(args[4])
  if isLate(args[5 + count * 7]) then return { 'late' } end
  local claims, needed = {}, 0
  local outcome = 'ok'
  for i = 1, count do
    local from = 4 + (i - 1) * 7
    local claim = {
      id = args[from + 1], ttl = tonumber(args[from + 2]), charge = tonumber(args[from + 3]),
      bytes = tonumber(args[from + 4]), tail = args[from + 5], known = tonumber(args[from + 6]),
      kind = args[from + 7]
    }
    local problem
    claim.old, problem = readValue(at, claim.id, now)
    claim.said, claim.isDue = judgeClaim(claim, claim.old, problem)
    if claim.said[1] == 'other' or claim.said[1] == 'unknown' then outcome = 'held' end
    if claim.isDue then needed = needed + claim.charge end
    claims[i] = claim
  end
  if outcome == 'ok' and needed > 0 then
    local refusal = claimSpace(at, needed, tonumber(args[2]), now, tonumber(args[3]))
    if refusal then return { refusal } end
  end
  local reply = { outcome, guardOf(at, '') }
  for i, claim in ipairs(claims) do
    local said = claim.said
    if claim.isDue and outcome == 'ok' then
      said[2] = storeRecord(at, claim.id, now, claim.ttl, claim.charge, claim.bytes, claim.tail,
        claim.old)
    elseif claim.isDue then
      said[1] = 'absent'
    end
    for each = 1, 3 do reply[#reply + 1] = said[each] end
  end
  return reply
end

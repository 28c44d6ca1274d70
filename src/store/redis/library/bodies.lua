-- Bodies and the links of sessions to them.

-- The index of sessions has each with the second in which it is due: until then it may have a
-- state, and links whose bodies live. Its charge is in the low digits of the same number, since
-- Redis may remove the state by itself.
local CHARGES = 2 ^ 21
local CHARGE_UNIT = 4

local function indexKey(at)
  return at.base .. 'si'
end

-- How much is charged for a session, and when it is due in seconds; nil if it is not in the index.
local function indexed(at, session)
  local score = redis.call('ZSCORE', indexKey(at), session)
  if not score then return 0, nil end
  local charge = tonumber(score) % CHARGES
  return charge * CHARGE_UNIT, (tonumber(score) - charge) / CHARGES
end

local function index(at, session, charge, seconds)
  local score = seconds * CHARGES + charge / CHARGE_UNIT
  redis.call('ZADD', indexKey(at), string.format('%.0f', score), session)
end

-- A session with links is in the index. The sweep looks at them when it is due, and then again when
-- those that are left end.
local function indexLinks(at, session, expires)
  local score = string.format('%.0f', math.ceil(expires / 1000) * CHARGES)
  redis.call('ZADD', indexKey(at), 'NX', score, session)
end

local function linkKey(at, session)
  return at.base .. 'i:' .. session
end

-- Whether a link's body is still the one that was linked.
local function isLive(at, link)
  local head = headOf(at, link:sub(1, 12))
  if head and head.incarnation == link:sub(13) then return head end
  return nil
end

-- Notes that a session keeps a body: under its first 8 digits, or under 12 if only longer
-- references name it there. A body that has the short name keeps it.
local function addLink(at, session, id, head, isLong)
  if session == '' then return end
  local links = linkKey(at, session)
  local short = id:sub(1, 8)
  local value = id .. head.incarnation
  if redis.call('HGET', links, short) == value then return end
  local hasLong = redis.call('HGET', links, id) == value
  if isLong then
    if hasLong then return end
    redis.call('HSET', links, id, value)
  else
    redis.call('HSET', links, short, value)
    if hasLong then redis.call('HDEL', links, id) end
  end
  if hasLong then return end
  indexLinks(at, session, head.expires)
  head.links = head.links + 1
  redis.call('SETRANGE', bodyKey(at, id), LINKS_AT, struct.pack('<I4', head.links))
end

-- Whether the short reference of a body names another one in the session.
local function isTaken(at, session, id, isLong)
  if session == '' or isLong then return false end
  local link = redis.call('HGET', linkKey(at, session), id:sub(1, 8))
  if not link or link:sub(1, 12) == id then return false end
  return isLive(at, link) ~= nil
end

-- Puts a body where eviction finds it. `before` is until when it was pinned, nil if it is new.
local function order(at, id, head, before, now)
  if head.pinned > now then
    if not before or before <= now then redis.call('ZREM', at.base .. 'u', id) end
    redis.call('ZADD', at.base .. 'p', head.pinned, id)
  else
    if before ~= 0 then redis.call('ZREM', at.base .. 'p', id) end
    redis.call('ZADD', at.base .. 'u', now, id)
  end
end

-- How long Redis keeps a body by itself.
local function netOf(head, now)
  return string.format('%.0f', head.expires - now + NET_MS)
end

local function keepChunks(at, id, head, now)
  for number = 0, head.chunks - 1 do
    redis.call('PEXPIRE', chunkKey(at, id, head.incarnation, number), netOf(head, now))
  end
end

-- Never shortens what was promised earlier; a pin promises life until its end.
local function prolong(at, id, head, now, ttl, pin, alone)
  local before = head.pinned
  head.expires = math.max(head.expires, now + ttl, pin > 0 and now + pin or 0)
  if pin > 0 then head.pinned = math.max(head.pinned, now + pin) end
  redis.call('SETRANGE', bodyKey(at, id), EXPIRES_AT, struct.pack('<dd', head.expires, head.pinned))
  if alone == 1 and head.alone == 0 then
    redis.call('SETRANGE', bodyKey(at, id), ALONE_AT, '\1')
  end
  redis.call('ZADD', at.base .. 'x', head.expires, id .. ':' .. head.charge)
  order(at, id, head, before, now)
  redis.call('PEXPIRE', bodyKey(at, id), netOf(head, now))
  keepChunks(at, id, head, now)
end

local function hasChunks(at, id, head)
  for number = 0, head.chunks - 1 do
    if redis.call('EXISTS', chunkKey(at, id, head.incarnation, number)) == 0 then return false end
  end
  return true
end

-- args: time, id (12 hex digits), hash, ttl, pin or 0, alone, session or empty, whether long,
-- bytes, charge, chunks, incarnation, tail or empty, share, tombstone time.
-- Returns the outcome, the end, the size, how many were evicted, and the guard. `need`: send it with
-- its tail.
local function put(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local id, hash = args[2], args[3]
  local ttl, pin, alone = tonumber(args[4]), tonumber(args[5]), tonumber(args[6])
  local session, isLong = args[7], args[8] == '1'
  if isTaken(at, session, id, isLong) then return { 'ambiguous' } end
  local old, isForeign = headOf(at, id)
  if isForeign then return { 'unknown' } end
  if old and old.expires > now and old.hash ~= hash then return { 'ambiguous' } end
  local isWhole = old and old.expires > now and hasChunks(at, id, old)
  if isWhole then
    addLink(at, session, id, old, isLong)
    prolong(at, id, old, now, ttl, pin, alone)
    return { 'kept', old.expires, old.bytes, 0, guardOf(at, session) }
  end
  if args[13] == '' then return { 'need' } end
  local head = {
    created = now, expires = now + math.max(ttl, pin), pinned = pin > 0 and now + pin or 0,
    bytes = tonumber(args[9]), charge = tonumber(args[10]), links = 0, alone = alone,
    chunks = tonumber(args[11]), incarnation = args[12], hash = hash
  }
  if not hasChunks(at, id, head) then return { 'need' } end
  local tombstoneMs = tonumber(args[15])
  local refusal, evicted = claimSpace(at, head.charge, tonumber(args[14]), now, tombstoneMs)
  if refusal then return { refusal, 0, 0, evicted } end
  if old then
    -- Making room may have evicted it.
    old = headOf(at, id)
    if old then removeBody(at, id, old, now, 0) end
  end
  redis.call('SET', bodyKey(at, id), packHead(head) .. args[13], 'PX', netOf(head, now))
  redis.call('UNLINK', at.base .. 't:' .. id)
  -- One that Redis removed by itself is still counted, until it is swept.
  if redis.call('ZADD', at.base .. 'x', head.expires, id .. ':' .. head.charge) == 1 then
    change(at, 1, 0, head.charge)
  end
  addLink(at, session, id, head, isLong)
  order(at, id, head, nil, now)
  keepChunks(at, id, head, now)
  return { 'created', head.expires, head.bytes, evicted, guardOf(at, session) }
end

local function toHex(bytes)
  return (bytes:gsub('.', function(byte) return string.format('%02x', byte:byte()) end))
end

-- The live body that a reference names, else nil and why not. `expired` and `removed` have a time.
local function find(at, now, ref, session)
  local id = ref:sub(1, 12)
  if #ref < 12 then
    local link = redis.call('HGET', linkKey(at, session), ref:sub(1, 8))
    if not link or link:sub(1, #ref) ~= ref then return nil, 'not_found' end
    id = link:sub(1, 12)
    -- Another body may have taken the place of the linked one.
    local head = headOf(at, id)
    if head and head.incarnation ~= link:sub(13) then return nil, 'not_found' end
  end
  local head, isForeign = headOf(at, id)
  if isForeign then return nil, 'unknown' end
  if head and toHex(head.hash):sub(1, #ref) ~= ref then return nil, 'not_found' end
  if head and head.expires > now then return head, id end
  -- Both are always asked, because the time must not reveal which one was found.
  local removed = removalOf(at, id, now)
  if head then return nil, 'expired', string.format('%.0f', head.expires) end
  if removed then return nil, 'removed', removed end
  return nil, 'not_found'
end

-- args: time, reference, session or empty. Returns `found`, the 12 digits and the value, or why
-- not.
local function get(keys, args)
  local at = rootOf(keys)
  local head, id, time = find(at, timeOf(args[1]), args[2], args[3])
  if not head then return { id, time } end
  return { 'found', id, redis.call('GET', bodyKey(at, id)) }
end

-- args: time, reference, session or empty, ttl, pin or 0. Returns the outcome, the end, the size,
-- the hash and the guard.
local function touch(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local head, id, time = find(at, now, args[2], args[3])
  if not head then return { id, time } end
  prolong(at, id, head, now, tonumber(args[4]), tonumber(args[5]), 0)
  return { 'kept', head.expires, head.bytes, toHex(head.hash), guardOf(at, args[3]) }
end

-- args: time, id. Notes a read of a body, for the order of eviction.
local function used(keys, args)
  local at = rootOf(keys)
  return redis.call('ZADD', at.base .. 'u', 'XX', timeOf(args[1]), args[2])
end

-- args: time, id, incarnation, tombstone time. Removes a body that turned out damaged.
local function discard(keys, args)
  local at = rootOf(keys)
  local head = headOf(at, args[2])
  if not head or head.incarnation ~= args[3] then return 0 end
  removeBody(at, args[2], head, timeOf(args[1]), tonumber(args[4]))
  return 1
end

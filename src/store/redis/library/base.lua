-- What all functions share: time, keys of a tenant, the layout of a body's head, sums, tombstones.
--
-- Every function gets one key, the tenant's root (`hvs1:{…}:`). All keys have its hash tag.
-- The first argument is the time in Unix milliseconds, or empty for the server's own.

-- Rows that one call removes at most, so that no call holds the server for long.
local STEP = 64
-- Redis removes what no process swept an hour after its end.
local NET_MS = 3600000
-- Sessions are looked through for dead links so often.
local LINK_SWEEP_MS = 3600000

-- version, created, expires, pinned, bytes, charge, links, alone, chunks, incarnation, hash
local HEAD = '<BdddI4I4I4BHc8c32'
local HEAD_BYTES = 80
local VERSION = 1
local EXPIRES_AT = 9
local LINKS_AT = 33
local ALONE_AT = 37

-- The server's time and the keys of a tenant, as a call has read them once.
local clock
local rootsOfCall = {}

-- What a service calls. Calls that travel together are one here.
local function entry(func)
  return function(keys, args)
    clock = nil
    rootsOfCall = {}
    return func(keys, args)
  end
end

local function timeOf(text)
  if text ~= '' then return tonumber(text) end
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end

-- Whether a call comes so late that its caller has given it up: the server hung, or the network.
local function isLate(latest)
  return latest and latest ~= '' and timeOf('') > tonumber(latest)
end

-- The names of a tenant's keys. A purge begins a new generation, so that nothing is found at once.
local function rootOf(keys, generation)
  local root = keys[1]
  local known = rootsOfCall[root]
  if known and (not generation or known.generation == generation) then return known end
  local current = generation or redis.call('GET', root .. 'g') or '0'
  local at = { root = root, base = root .. current .. ':', generation = current }
  if not generation then rootsOfCall[root] = at end
  return at
end

-- Names the last purge of a session. It stays for an hour, in which a lost call may be made again.
local PURGE_NOTE_MS = 3600000
local function purgeKey(at, session)
  return at.base .. 'z:' .. session
end

-- A call that was lost is made again only if this has not changed since: the tenant's generation,
-- and the last purge of the session. Otherwise it would bring back what was purged.
local function guardOf(at, session)
  if session == '' then return at.generation end
  return at.generation .. ':' .. (redis.call('GET', purgeKey(at, session)) or '')
end

local function bodyKey(at, id)
  return at.base .. 'b:' .. id
end

local function chunkKey(at, id, incarnation, number)
  return at.root .. 'c:' .. id .. ':' .. incarnation .. ':' .. number
end

local function parseHead(value)
  if not value or #value < HEAD_BYTES then return nil end
  local version, created, expires, pinned, bytes, charge, links, alone, chunks, incarnation, hash =
    struct.unpack(HEAD, value)
  if version ~= VERSION then return nil end
  return {
    created = created, expires = expires, pinned = pinned, bytes = bytes, charge = charge,
    links = links, alone = alone, chunks = chunks, incarnation = incarnation, hash = hash
  }
end

local function packHead(head)
  return struct.pack(HEAD, VERSION, head.created, head.expires, head.pinned, head.bytes,
    head.charge, head.links, head.alone, head.chunks, head.incarnation, head.hash)
end

-- The head of a body, or nil. The second result is true for a value that this version cannot read.
local function headOf(at, id)
  local value = redis.call('GETRANGE', bodyKey(at, id), 0, HEAD_BYTES - 1)
  if value == '' then return nil, false end
  local head = parseHead(value)
  return head, head == nil
end

local function change(at, bodies, records, bytes)
  local q = at.base .. 'q'
  if bodies ~= 0 then redis.call('HINCRBY', q, 'b', bodies) end
  if records ~= 0 then redis.call('HINCRBY', q, 'r', records) end
  if bytes ~= 0 then redis.call('HINCRBY', q, 's', bytes) end
end

local function usedBytes(at)
  return tonumber(redis.call('HGET', at.base .. 'q', 's') or '0')
end

local function dropChunks(at, id, head)
  if head.chunks == 0 then return end
  local keys = {}
  for number = 0, head.chunks - 1 do
    keys[number + 1] = chunkKey(at, id, head.incarnation, number)
  end
  redis.call('UNLINK', unpack(keys))
end

-- Removes a body. `tombstoneMs` above 0 leaves a tombstone, so that `gone` differs from unknown.
local function removeBody(at, id, head, now, tombstoneMs)
  redis.call('UNLINK', bodyKey(at, id))
  dropChunks(at, id, head)
  redis.call('ZREM', at.base .. 'x', id .. ':' .. head.charge)
  redis.call('ZREM', at.base .. 'u', id)
  redis.call('ZREM', at.base .. 'p', id)
  change(at, -1, 0, -head.charge)
  if tombstoneMs > 0 then
    local times = string.format('%.0f:%.0f', now, now + tombstoneMs)
    redis.call('SET', at.base .. 't:' .. id, times, 'PX', tombstoneMs)
  end
end

-- When a body was removed, as text, if its tombstone is there.
local function removalOf(at, id, now)
  local times = redis.call('GET', at.base .. 't:' .. id)
  if not times then return nil end
  local removed, ends = times:match('^(%d+):(%d+)$')
  if removed and tonumber(ends) > now then return removed end
end

-- Pins that have ended: their bodies may be evicted again.
local function unpin(at, now)
  local pins = at.base .. 'p'
  local lapsed =
    redis.call('ZRANGEBYSCORE', pins, '-inf', now, 'WITHSCORES', 'LIMIT', 0, STEP)
  for i = 1, #lapsed, 2 do
    redis.call('ZREM', pins, lapsed[i])
    redis.call('ZADD', at.base .. 'u', lapsed[i + 1], lapsed[i])
  end
  return #lapsed / 2
end

-- Removes the body that was used least recently and is not pinned; false if there is none.
local function evictOne(at, now, tombstoneMs)
  local oldest = redis.call('ZPOPMIN', at.base .. 'u')
  if #oldest == 0 then
    if unpin(at, now) == 0 then return false end
    oldest = redis.call('ZPOPMIN', at.base .. 'u')
  end
  local head = headOf(at, oldest[1])
  if head then removeBody(at, oldest[1], head, now, tombstoneMs) end
  return true
end

-- Makes room for `bytes` under a tenant's share. Returns nil, or why there is none, and how many
-- bodies were evicted.
local function claimSpace(at, bytes, most, now, tombstoneMs)
  if bytes > most then return 'quota', 0 end
  local evicted = 0
  while usedBytes(at) + bytes > most do
    if evicted == STEP then return 'busy', evicted end
    if not evictOne(at, now, tombstoneMs) then return 'quota', evicted end
    evicted = evicted + 1
  end
  return nil, evicted
end

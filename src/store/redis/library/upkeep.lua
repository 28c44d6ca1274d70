-- What ends by itself and what a purge leaves, removed a step at a time.

-- Bodies whose life has ended.
local function sweepBodies(at, now, tombstoneMs)
  local members = redis.call('ZRANGEBYSCORE', at.base .. 'x', '-inf', now, 'LIMIT', 0, STEP)
  for _, member in ipairs(members) do
    local id, charge = member:match('^(%x+):(%d+)$')
    local head = headOf(at, id)
    if head and head.charge == tonumber(charge) and head.expires <= now then
      removeBody(at, id, head, now, tombstoneMs)
    else
      -- Redis has removed it, or another one has taken its place.
      redis.call('ZREM', at.base .. 'x', member)
      change(at, -1, 0, -tonumber(charge))
      if not head then
        redis.call('ZREM', at.base .. 'u', id)
        redis.call('ZREM', at.base .. 'p', id)
      end
    end
  end
  return #members
end

local function sweepRecords(at, now)
  local members = redis.call('ZRANGEBYSCORE', at.base .. 'e', '-inf', now, 'LIMIT', 0, STEP)
  for _, member in ipairs(members) do
    local id, charge = member:match('^(.*):(%d+)$')
    redis.call('UNLINK', recordKey(at, id))
    redis.call('ZREM', at.base .. 'e', member)
    change(at, 0, -1, -tonumber(charge))
  end
  return #members
end

-- Removes links to bodies that are gone, of one session and a step of it. A link whose body has a
-- tombstone stays, so that a short reference says `gone`.
local function sweepLinks(at, now)
  local latest = string.format('(%.0f', (math.floor(now / 1000) + 1) * CHARGES)
  local due = redis.call('ZRANGEBYSCORE', indexKey(at), '-inf', latest, 'LIMIT', 0, 1)[1]
  if not due then return 0 end
  forgetSession(at, due)
  local links = linkKey(at, due)
  local cursor = redis.call('HGET', at.base .. 'sc', due) or '0'
  local page = redis.call('HSCAN', links, cursor, 'COUNT', STEP)
  for i = 1, #page[2], 2 do
    local link = page[2][i + 1]
    if not isLive(at, link) and not removalOf(at, link:sub(1, 12), now) then
      redis.call('HDEL', links, page[2][i])
    end
  end
  if page[1] ~= '0' then
    redis.call('HSET', at.base .. 'sc', due, page[1])
    return 1
  end
  redis.call('HDEL', at.base .. 'sc', due)
  if redis.call('EXISTS', links) == 0 then
    redis.call('ZREM', indexKey(at), due)
  else
    index(at, due, 0, math.ceil((now + LINK_SWEEP_MS) / 1000))
  end
  return 1
end

-- One step of a session's purge, whose links are in the set `name` by now.
local function releaseLinks(at, name, now, tombstoneMs)
  local page = redis.call('HSCAN', name, '0', 'COUNT', STEP)
  local removed = 0
  for i = 1, #page[2], 2 do
    local link = page[2][i + 1]
    local id = link:sub(1, 12)
    redis.call('HDEL', name, page[2][i])
    local head = isLive(at, link)
    if head then
      head.links = math.max(head.links - 1, 0)
      if head.links == 0 and head.alone == 0 then
        removeBody(at, id, head, now, head.expires <= now and tombstoneMs or 0)
        removed = removed + 1
      else
        redis.call('SETRANGE', bodyKey(at, id), LINKS_AT, struct.pack('<I4', head.links))
      end
    end
  end
  local isDone = redis.call('EXISTS', name) == 0
  if isDone then redis.call('SREM', at.base .. 'ds', name) end
  return removed, isDone
end

-- args: time, session, tombstone time, a name of this purge, the server's time after which it has no
-- effect: it would remove what has come since. From now on the session is not found. Takes the first
-- step of its purge. Returns `late`, or how many bodies that removed, the name of what is left or an
-- empty one, and the guard with the time of the purge.
local function disownSession(keys, args)
  if isLate(args[5]) then return { 'late' } end
  local at = rootOf(keys)
  local links = linkKey(at, args[2])
  local guard = guardOf(at, args[2]) .. '@' .. string.format('%.0f', timeOf(args[1]))
  redis.call('SET', purgeKey(at, args[2]), args[4], 'PX', PURGE_NOTE_MS)
  forgetSession(at, args[2])
  redis.call('ZREM', indexKey(at), args[2])
  redis.call('HDEL', at.base .. 'sc', args[2])
  if redis.call('EXISTS', links) == 0 then return { 0, '', guard } end
  local name = at.base .. 'd:' .. redis.call('INCR', at.root .. 'v')
  redis.call('RENAME', links, name)
  redis.call('SADD', at.base .. 'ds', name)
  local removed, isDone = releaseLinks(at, name, timeOf(args[1]), tonumber(args[3]))
  return { removed, isDone and '' or name, guard }
end

-- args: time, name, tombstone time. Returns how many bodies were removed, and whether all is done.
local function purgeSession(keys, args)
  local at = rootOf(keys)
  if redis.call('SISMEMBER', at.base .. 'ds', args[2]) == 0 then return { 0, 1 } end
  local removed, isDone = releaseLinks(at, args[2], timeOf(args[1]), tonumber(args[3]))
  return { removed, isDone and 1 or 0 }
end

-- args: the next generation, the latest time as above. Returns `late`, or the old generation, and how
-- many bodies and records it had.
local function disownTenant(keys, args)
  if isLate(args[2]) then return { 'late' } end
  local at = rootOf(keys)
  local counts = redis.call('HMGET', at.base .. 'q', 'b', 'r')
  redis.call('SADD', at.root .. 'og', at.generation)
  redis.call('SET', at.root .. 'g', args[1])
  rootsOfCall = {}
  return { at.generation, tonumber(counts[1] or '0'), tonumber(counts[2] or '0') }
end

-- args: time, generation. One step of removing what an earlier generation had; 1 at its end.
local function purgeGeneration(keys, args)
  local at = rootOf(keys, args[2])
  if redis.call('SISMEMBER', at.root .. 'og', at.generation) == 0 then return 1 end
  local bodies = redis.call('ZPOPMIN', at.base .. 'x', STEP)
  for i = 1, #bodies, 2 do
    local id = bodies[i]:match('^(%x+):')
    local head = headOf(at, id)
    if head then dropChunks(at, id, head) end
    redis.call('UNLINK', bodyKey(at, id))
  end
  local records = redis.call('ZPOPMIN', at.base .. 'e', STEP)
  for i = 1, #records, 2 do
    redis.call('UNLINK', recordKey(at, records[i]:match('^(.*):')))
  end
  local sessions = redis.call('ZPOPMIN', indexKey(at), STEP)
  for i = 1, #sessions, 2 do
    redis.call('UNLINK', linkKey(at, sessions[i]), journalKey(at, sessions[i]),
      callsKey(at, sessions[i]), olderCallsKey(at, sessions[i]))
  end
  local disowned = redis.call('SPOP', at.base .. 'ds', STEP)
  for _, name in ipairs(disowned) do redis.call('UNLINK', name) end
  if #bodies + #records + #sessions + #disowned > 0 then return 0 end
  for _, name in ipairs({ 'x', 'u', 'p', 'e', 'q', 'si', 'sc', 'ds' }) do
    redis.call('UNLINK', at.base .. name)
  end
  redis.call('SREM', at.root .. 'og', at.generation)
  return 1
end

-- args: time, tombstone time. One step of everything that is due. Returns how many bodies and
-- records were removed, and whether there may be more.
local function sweep(keys, args)
  local now, tombstoneMs = timeOf(args[1]), tonumber(args[2])
  local at = rootOf(keys)
  local bodies = sweepBodies(at, now, tombstoneMs)
  local records = sweepRecords(at, now)
  local others = unpin(at, now) + sweepLinks(at, now)
  local name = redis.call('SRANDMEMBER', at.base .. 'ds')
  if name then
    releaseLinks(at, name, now, tombstoneMs)
    others = others + 1
  end
  local old = redis.call('SRANDMEMBER', at.root .. 'og')
  if old then
    purgeGeneration(keys, { args[1], old })
    others = others + 1
  end
  return { bodies, records, (bodies == STEP or records == STEP or others > 0) and 1 or 0 }
end

-- args: time, tombstone time. Evicts a step, to make room in a full server.
local function evict(keys, args)
  local at = rootOf(keys)
  local now = timeOf(args[1])
  local evicted = 0
  while evicted < STEP and evictOne(at, now, tonumber(args[2])) do evicted = evicted + 1 end
  return evicted
end

-- Returns bodies, records and bytes of a tenant.
local function stats(keys)
  local counts = redis.call('HMGET', rootOf(keys).base .. 'q', 'b', 'r', 's')
  return { tonumber(counts[1] or '0'), tonumber(counts[2] or '0'), tonumber(counts[3] or '0') }
end

-- args: offset, number. Ids of the tenant's bodies in the order of their ends.
local function list(keys, args)
  local first = tonumber(args[1])
  return redis.call('ZRANGE', rootOf(keys).base .. 'x', first, first + tonumber(args[2]) - 1)
end

-- Rates of keys, which processes lease in advance, and the processes that are there.

-- args: time, key, tokens a second, burst, tokens that are wanted, tokens that were used without a
-- lease. Returns how many are leased, and after how many milliseconds there is another one.
local function leaseRate(keys, args)
  local now = timeOf(args[1])
  local bucket = keys[1] .. 'a:' .. args[2]
  local rate, burst = tonumber(args[3]), tonumber(args[4])
  local state = redis.call('HMGET', bucket, 't', 'w')
  local tokens = tonumber(state[1] or burst)
  local gained = math.max(0, now - tonumber(state[2] or now)) * rate / 1000
  tokens = math.max(-burst, math.min(burst, tokens + gained) - tonumber(args[6]))
  local granted = math.min(tonumber(args[5]), math.max(0, math.floor(tokens)))
  tokens = tokens - granted
  redis.call('HSET', bucket, 't', string.format('%.6f', tokens), 'w', string.format('%.0f', now))
  -- A bucket that is full again need not be kept.
  redis.call('PEXPIRE', bucket, string.format('%.0f', 2 * burst / rate * 1000 + 1000))
  return { granted, math.max(1, math.ceil((1 - tokens) / rate * 1000)) }
end

-- args: time, key, process, places of all processes together, places that this one wants, how long
-- it has them. Returns how many it has now, in place of those of before.
local function holdPlaces(keys, args)
  local now = timeOf(args[1])
  local places = keys[1] .. 'h:' .. args[2]
  local left = tonumber(args[4])
  local all = redis.call('HGETALL', places)
  for i = 1, #all, 2 do
    local count, gone = string.match(all[i + 1], '^(%d+) (%d+)$')
    if all[i] == args[3] or count == nil or tonumber(gone) <= now then
      redis.call('HDEL', places, all[i])
    else
      left = left - tonumber(count)
    end
  end
  local granted = math.max(0, math.min(tonumber(args[5]), left))
  if granted > 0 then
    redis.call('HSET', places, args[3], string.format('%d %.0f', granted, now + tonumber(args[6])))
    redis.call('PEXPIRE', places, args[6])
  end
  return granted
end

-- args: time, process, how long it counts as there. The key is a list of all processes. Returns them.
local function noteProcess(keys, args)
  local now = timeOf(args[1])
  local gone = redis.call('ZRANGEBYSCORE', keys[1], '-inf', now, 'LIMIT', 0, STEP)
  for _, member in ipairs(gone) do redis.call('ZREM', keys[1], member) end
  redis.call('ZADD', keys[1], now + tonumber(args[3]), args[2])
  return redis.call('ZRANGE', keys[1], 0, 1023)
end

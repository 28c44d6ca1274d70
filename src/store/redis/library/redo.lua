-- Calls that are made again, because the primary that had answered them may have lost them.

local REDO = {
  put = put, touch = touch, write_record = writeRecord, delete_record = deleteRecord,
  disown_session = disownSession, disown_tenant = disownTenant
}

-- args: guard of the first time, session or empty, name of the function, its arguments. Returns what
-- the function returns, or `later` if something was purged in between: another process may still have
-- to make that purge again.
local function redo(keys, args)
  local at = rootOf(keys)
  local guard, ended = args[1]:match('^(.*)@(%d+)$')
  if guardOf(at, args[2]) ~= (guard or args[1]) then return { 'later' } end
  if ended then
    -- A session that has begun since is another one than the one that ended.
    local state = stateOf(at, args[2])
    if state and state.opened >= tonumber(ended) then return { 'later' } end
  end
  local own = {}
  for i = 4, #args do own[i - 3] = args[i] end
  return REDO[args[3]](keys, own)
end

-- Calls that are made again, because the primary that had answered them may have lost them.

local REDO = {
  put = put, touch = touch, write_record = writeRecord, delete_record = deleteRecord,
  disown_session = disownSession, disown_tenant = disownTenant
}

-- args: guard of the first time, session or empty, name of the function, its arguments. Returns what
-- the function returns, or `later` if something was purged in between: another process may still have
-- to make that purge again.
local function redo(keys, args)
  if guardOf(rootOf(keys), args[2]) ~= args[1] then return { 'later' } end
  local own = {}
  for i = 4, #args do own[i - 3] = args[i] end
  return REDO[args[3]](keys, own)
end

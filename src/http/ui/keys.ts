import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import type { Caller } from '../../access/access.ts'
import { type KeyRecord, makeKey, SCOPES } from '../../access/key-record.ts'
import { changeKeysFile, KeysFileError } from '../../access/keys-file.ts'
import { AppError } from '../../core/base/errors.ts'
import type { KeyList } from '../../ui/service-page.ts'
import type { UiNeeds } from './ui-needs.ts'

type KeyNeeds = Pick<UiNeeds, 'access' | 'ui'>

/** The keys of the reader's tenant; `null` if it may not see them. */
export function keysFor({ tenant, scopes }: Caller, { access, ui }: KeyNeeds): KeyList | null {
  const records = access.records()
  if (records !== null && !scopes.has('admin')) return null
  return {
    keys: (records ?? [])
      .filter(record => record.tenant === tenant)
      .map(({ id, scopes, rate_per_s = null, note = '' }) => ({
        id,
        scopes,
        rate: rate_per_s,
        note,
      })),
    mayGive: ui.keysFile !== undefined && isWritable(ui.keysFile) ? givenBy(scopes) : null,
  }
}

/** A key gives no right that its maker does not have. */
function givenBy(scopes: Caller['scopes']): readonly string[] {
  return SCOPES.filter(scope => scopes.has(scope))
}

/** The file is replaced, so its folder must be writable. */
function isWritable(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Longest note that a record takes. */
const NOTE_CHARS = 200

/**
 * Adds a key to the reader's tenant, which is in force at once.
 * @param wished scopes; those that the reader does not have are left out
 * @returns the key, which cannot be shown again
 * @throws AppError `forbidden`, `invalid_request` without a scope, `overloaded` if the file cannot
 * be written
 */
export function addKey(
  reader: Caller,
  wished: readonly string[],
  note: string,
  needs: KeyNeeds,
): string {
  const scopes = SCOPES.filter(scope => wished.includes(scope) && reader.scopes.has(scope))
  if (scopes.length === 0) throw new AppError('invalid_request', 'a key needs a scope')
  const { key, id, sha256 } = makeKey()
  const own = { id, sha256, scopes, redeems: false, created_at: Date.now() }
  const noted = note === '' ? {} : { note: note.slice(0, NOTE_CHARS) }
  change(reader, needs, keys => [...keys, { ...boundsOf(reader, keys), ...own, ...noted }])
  return key
}

/** Fields that every key has of its own; all others bound what it may do. */
type OwnFields = 'id' | 'sha256' | 'scopes' | 'redeems' | 'references' | 'created_at' | 'note'

/**
 * The bounds of the maker's own key, which the new one has too.
 * @throws AppError `forbidden` if that key is not in force any more
 */
function boundsOf(
  { keyId, tenant }: Caller,
  keys: readonly KeyRecord[],
): Omit<KeyRecord, OwnFields> {
  const maker = keys.find(each => each.id === keyId && each.tenant === tenant)
  if (maker === undefined) throw new AppError('forbidden', 'the key of this page was revoked')
  const { id, sha256, scopes, redeems, references, created_at, note, ...bounds } = maker
  return bounds
}

/** @throws AppError as `addKey`; `not_found` if the reader's tenant has no such key */
export function revokeKey(reader: Caller, id: string, needs: KeyNeeds): void {
  change(reader, needs, keys => {
    const rest = keys.filter(key => key.id !== id || key.tenant !== reader.tenant)
    if (rest.length === keys.length) throw new AppError('not_found', 'there is no such key')
    return rest
  })
}

function change(
  { scopes }: Caller,
  { access, ui: { keysFile } }: KeyNeeds,
  apply: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): void {
  if (keysFile === undefined || !scopes.has('admin')) {
    throw new AppError('forbidden', 'keys are changed by keys with the scope admin')
  }
  try {
    let next: readonly KeyRecord[] = []
    changeKeysFile(keysFile, keys => {
      next = apply(keys)
      return next
    })
    // Not before it is written: a restart must not find others.
    access.replace(next)
  } catch (error) {
    if (!(error instanceof KeysFileError)) throw error
    throw new AppError('overloaded', 'the keys file cannot be written now')
  }
}

import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { readLayers } from '../../config/layers/read-layers.ts'
import { UsageError } from '../../console/command.ts'
import { table } from '../../console/table.ts'
import { valueAt, writeKey } from '../../core/pipeline/profile/key-path.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { applyAccepted, loadProposals, type Proposals } from '../versions/proposals.ts'
import { Tuned, type TunedVersion } from '../versions/tuned.ts'
import { TunedFault } from '../versions/tuned-file.ts'

/** What the last analysis accepted, beside what is in force. */
export function showProposals(dataDir: string, tenant: string, isJson: boolean): number {
  const proposals = proposalsOf(dataDir, tenant)
  const config = faultsAsUsage(() => new Tuned(dataDir, tenant).inForce()).now?.config ?? {}
  const changes = proposals.changes.map(each => {
    return { ...each, from: valueAt(config, each.key) ?? null }
  })
  const text = isJson
    ? JSON.stringify({ ...proposals, changes })
    : changeLines(changes.map(each => ({ ...each, key: writeKey(each.key) }))).trimEnd()
  process.stdout.write(`${text}\n`)
  return EXIT.ok
}

/** Writes what the last analysis accepted. */
export function applyProposals(config: Config, tenant: string): number {
  const proposals = proposalsOf(config.data_dir, tenant)
  const version = faultsAsUsage(() => applyAccepted(config, tenant, proposals))
  process.stderr.write(version === null ? 'Nothing to change.\n' : written(version))
  return EXIT.ok
}

export function revertVersion(config: Config, tenant: string, id: string | undefined): number {
  const terms = { inputs: '', generation: readLayers(config, { tenant }).generation }
  const { version, kept } = faultsAsUsage(() =>
    new Tuned(config.data_dir, tenant).revert(id, { ...terms, now: new Date() }),
  )
  for (const key of kept) {
    process.stderr.write(`${writeKey(key)} was changed since, and stays\n`)
  }
  process.stderr.write(version === null ? 'Nothing to change.\n' : written(version))
  return EXIT.ok
}

/** The tuned file with the reasons of its keys, and its versions. */
export function showTuned(dataDir: string, tenant: string, isJson: boolean): number {
  const tuned = new Tuned(dataDir, tenant)
  const { now: current, versions } = faultsAsUsage(() => tuned.inForce())
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ file: tuned.file, current, versions })}\n`)
    return EXIT.ok
  }
  if (current === null) {
    process.stdout.write('Nothing is tuned.\n')
    return EXIT.ok
  }
  const rows = versions.map(({ id, action, created_at, changes, effect }) => [
    ...[id, action, created_at, changes.length],
    effect === undefined ? '' : Math.round(effect.before - effect.after),
  ])
  const head = ['version', 'action', 'time', 'keys', 'saved, billed']
  const text = readFileSync(tuned.file, 'utf8')
  process.stdout.write(`# ${tuned.file}\n${text}\n${table(head, rows)}\n`)
  return EXIT.ok
}

/** The recipe for agents that tune. */
export function printSkill(): number {
  const file = new URL('../../../skills/haversack-tune/SKILL.md', import.meta.url)
  process.stdout.write(readFileSync(file, 'utf8'))
  return EXIT.ok
}

function proposalsOf(dataDir: string, tenant: string): Proposals {
  const proposals = loadProposals(dataDir, tenant)
  if (proposals === null) throw new UsageError('run `haversack tune analyze` first')
  return proposals
}

function written({ id, changes }: TunedVersion): string {
  return `${changeLines(changes)}version ${id}\n`
}

/** A change, with its key as TOML writes it. */
interface ShownChange {
  readonly key: string
  readonly from: unknown
  readonly to: unknown
  readonly rule: string
  readonly evidence: string
}

function changeLines(changes: readonly ShownChange[]): string {
  if (changes.length === 0) return 'Nothing to change.\n'
  const lines = changes.flatMap(({ key, from, to, rule, evidence }) => [
    `# ${rule}: ${evidence}`,
    ...(from === null ? [] : [`- ${key} = ${JSON.stringify(from)}`]),
    ...(to === null ? [] : [`+ ${key} = ${JSON.stringify(to)}`]),
  ])
  return `${lines.join('\n')}\n`
}

function faultsAsUsage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof TunedFault) throw new UsageError(error.message)
    throw error
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readGain } from '../../book/rows/read-days.ts'
import type { Env } from '../../config/env.ts'
import { userDataFolder } from '../../config/user-folders.ts'
import type { GainAnswer } from '../../core/contract/gain.ts'
import { LEDGER_FILE } from '../../runtime/data-files.ts'

export interface GainWindow {
  /** The first and the last day, in days since 1970. */
  readonly from: number
  readonly to: number
  readonly project: string | null
  /** Whether a service is asked for all teams, and not for that of the key alone. */
  readonly ofTeams: boolean
}

/** Sums of ledgers, each another one, and why a service was not asked. */
export interface ReadGain {
  readonly answers: readonly GainAnswer[]
  readonly remarks: readonly string[]
}

/** The service to ask. */
export interface ServiceToAsk {
  readonly url: string
  /** Whether its user named it: then it must answer. */
  readonly isNamed: boolean
  readonly key: string | undefined
}

/**
 * The sums of the user's file and of a running service. What both have is read once: a service
 * writes what it holds when it is asked, so it is asked first.
 */
export async function readAllGain(
  window: GainWindow,
  env: Env,
  service: ServiceToAsk,
): Promise<ReadGain> {
  const asked = await askService(window, service)
  const own = await readOwnFile(window, env)
  const ofService = asked.answer !== null && asked.answer.ledger !== own?.ledger
  return {
    answers: [...(own === null ? [] : [own]), ...(ofService ? [asked.answer as GainAnswer] : [])],
    remarks: asked.remark === null ? [] : [asked.remark],
  }
}

interface Asked {
  readonly answer: GainAnswer | null
  readonly remark: string | null
}

const NOT_ASKED: Asked = { answer: null, remark: null }
/** How long a service may take to take a connection, in milliseconds. */
const CONNECT_MS = 300
/** And to answer. */
const ANSWER_MS = 10_000

async function askService(
  { from, to, project, ofTeams }: GainWindow,
  { url, isNamed, key }: ServiceToAsk,
): Promise<Asked> {
  if (!(isNamed || (await isListening(url)))) return NOT_ASKED
  // What asks loads more than all the rest.
  const { serviceAt, ServiceProblem } = await import('../../console/service-client.ts')
  const query = { days: String(to - from + 1), ...(project === null ? {} : { project }) }
  const signal = AbortSignal.timeout(ANSWER_MS)
  const client = serviceAt(url, key === undefined ? {} : { key }, { signal })
  const ask = (of: object) => client.get<GainAnswer>('/v1/gain', { ...query, ...of })
  let remark: string | null = null
  try {
    const all = ofTeams ? await ask({ tenant: '*' }).catch(refused) : null
    return { answer: all ?? (await ask({})), remark }
  } catch (error) {
    return { answer: null, remark: `Not counted: ${(error as Error).message}` }
  }

  function refused(error: unknown): null {
    if (!(error instanceof ServiceProblem) || error.status !== 403) throw error
    remark = `Only your own team: ${error.detail}`
    return null
  }
}

/** Whether anything takes connections there. */
function isListening(url: string): Promise<boolean> {
  const place = URL.parse(url)
  if (place === null) return Promise.resolve(true)
  const port = Number(place.port || (place.protocol === 'https:' ? 443 : 80))
  const host = place.hostname.replace(/^\[|\]$/g, '')
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: CONNECT_MS })
    const end = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}

/** `null`: nothing was recorded on this machine. */
async function readOwnFile(window: GainWindow, env: Env): Promise<GainAnswer | null> {
  const file = join(await dataFolder(env), LEDGER_FILE)
  if (!existsSync(file)) return null
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    database.exec('PRAGMA busy_timeout = 500')
    const days = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'day_kind'`).get()
    return days === undefined ? null : readGain(database, { ...window, tenants: null })
  } finally {
    database.close()
  }
}

/** Where `serve` and `run` have it. To read the whole configuration takes longer than the rest. */
export async function dataFolder(env: Env): Promise<string> {
  if (env['HAVERSACK_CONFIG']) {
    const { loadDataConfig } = await import('../../console/data-folder.ts')
    return loadDataConfig({ data: undefined }).data_dir
  }
  return env['HAVERSACK_DATA_DIR'] || userDataFolder(env)
}

const PRICES = new URL('../../../prices.toml', import.meta.url)

/** When the oldest of the published prices was read; `null` if the file is not there. */
export function pricesDate(): string | null {
  try {
    const dates = readFileSync(PRICES, 'utf8').matchAll(/^date = "(\d{4}-\d\d-\d\d)"$/gm)
    return [...dates].map(([, date]) => date as string).toSorted()[0] ?? null
  } catch {
    return null
  }
}

import { randomBytes } from 'node:crypto'
import { inTime } from '../../core/base/deadline.ts'
import type { Failure } from '../store.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { Argument, Connection } from './connection.ts'
import { Contact } from './contact.ts'
import { ALONE, failureOf, ofCluster, TOO_LATE, UNREACHABLE } from './failures.ts'
import { Repair, type RepairOptions } from './repair.ts'
import { MISSING, sendInTime } from './send.ts'
import { faultOf, INFO_COMMAND, policyOf } from './server-info.ts'

export interface WatchOptions extends RepairOptions {
  /** The start of all keys. */
  readonly prefix: string
  /** The name of the processes that share the keys; a server that has another one is refused. */
  readonly cluster?: string
  /** Whether there are several nodes, whose clocks differ. */
  readonly isSharded: boolean
  /** After so long without a word a process may be answering turns that are not counted. */
  readonly silentMs: number
  /** How often an unreachable server is tried again. */
  readonly probeMs: number
  onEvent(event: Extract<StoreEvent, { readonly kind: 'wrong_policy' | 'other_server' }>): void
}

/** How much longer than its probes a process that was away takes to tell what it missed. */
const UNSURE_MS = 300
const FENCE_BYTES = 8
/** That key is never read; it is a write that replicas confirm. */
const FOLLOWED_MS = 60_000
/** So long other processes may take to write again what a server has lost, on busy machines. */
const LACKING_MS = 5_000
/** The same for a process that still has not been heard. After that it counts as ended. */
const SILENT_LACKING_MS = 60_000

/** Looks at the servers: role, policy, time, and whether they are the same as before. */
export class ServerWatch {
  readonly contact: Contact
  readonly repair: Repair
  readonly #options: WatchOptions
  readonly #unsureKey: string
  readonly #fenceKey: string
  readonly #contactKey: string
  readonly #followedKey: string
  readonly #clusterKey: string
  /** The fence of the server whose cluster was found to be ours. */
  #clusterOn = ''
  /** Names this process among those that share the store. */
  readonly #process = randomBytes(FENCE_BYTES).toString('hex')
  /** The others, as the server named them last. */
  #others: readonly string[] = []
  #mayEvict = false
  #hasLeft = false
  #changedMs = Number.NEGATIVE_INFINITY

  constructor(options: WatchOptions) {
    this.#options = options
    this.contact = new Contact(options.silentMs)
    this.repair = new Repair(options)
    // There while some process may have answered turns, or written texts, that others do not have.
    this.#unsureKey = `${options.prefix}:unsure`
    this.#fenceKey = `${options.prefix}:fence`
    this.#contactKey = `${options.prefix}:contact`
    this.#followedKey = `${options.prefix}:followed`
    this.#clusterKey = `${options.prefix}:cluster`
  }

  /** Whether the server may evict what hints need. */
  get mayEvict(): boolean {
    return this.#mayEvict
  }

  /** Whether what is not found may still be written again by another process. */
  get mayLack(): boolean {
    const lackingMs = this.#isHeard ? LACKING_MS : SILENT_LACKING_MS
    return this.contact.isDoubted || performance.now() - this.#changedMs < lackingMs
  }

  /** Whether what is found may have been purged by a process that has yet to purge it again. */
  get mayBePurged(): boolean {
    if (performance.now() - this.#changedMs >= LACKING_MS) return false
    return this.contact.isDoubted || !this.#isHeard
  }

  /** Whether all processes have been heard; nodes of a cluster cannot say. */
  get #isHeard(): boolean {
    return this.#options.isSharded || this.contact.isSure
  }

  /**
   * Looks once. If the server has forgotten what this process wrote, writes it again.
   * @param fence called before that: until it is done, no call may be sent
   * @returns why the server cannot be used
   */
  async look(connection: Connection, fence: () => void): Promise<Failure | undefined> {
    const askedMs = performance.now()
    const [infos, unsure, fenced] = await Promise.all([
      this.#infos(connection),
      this.#send(connection, this.#unsureKey, ['GET', this.#unsureKey]),
      this.#send(connection, this.#fenceKey, ['GET', this.#fenceKey]),
    ])
    if ('ok' in infos) return infos
    if (connection.isBlind === true && !(await this.#isFollowed(connection))) return ALONE
    const fault = infos.map(faultOf).find(each => each !== undefined)
    if (fault !== undefined) return fault
    if (fenced === MISSING) return UNREACHABLE
    if (!fenced.ok) return fenced
    this.#seePolicy(infos.map(policyOf).find(policy => policy !== 'noeviction'))
    const name = fenced.reply === null ? await this.#makeFence(connection) : String(fenced.reply)
    if (typeof name !== 'string') return name
    const foreign = await this.#foreignCluster(connection, name)
    if (foreign !== undefined) return foreign
    const isOther = this.repair.see(infos, name, askedMs)
    if (isOther) {
      this.#changedMs = performance.now()
      fence()
      this.contact.lost()
    }
    const isUnsure = unsure === MISSING || !unsure.ok || unsure.reply !== null
    const wasAway = this.contact.heard(infos[0]!, askedMs, isUnsure)
    if (wasAway) await this.#tellOthers(connection)
    if (this.repair.isPending) {
      const repaired = await this.repair.redo(connection)
      if (!repaired.ok) return repaired
      const { ok: _, ...counts } = repaired
      if (isOther) this.#options.onEvent({ kind: 'other_server', ...counts })
      if (wasAway) await this.#tellOthers(connection)
    }
    await this.#sayThatThere(connection)
    return undefined
  }

  /** Whether a replica confirms a write of now. One that follows another primary does not. */
  async #isFollowed(connection: Connection): Promise<boolean> {
    const { callTimeoutMs } = this.#options
    const key = this.#followedKey
    const [, confirmed] = await Promise.all([
      this.#send(connection, key, ['SET', key, this.#process, 'PX', `${FOLLOWED_MS}`]),
      sendInTime(connection, key, ['WAIT', '1', `${callTimeoutMs}`], 2 * callTimeoutMs),
    ])
    return confirmed !== MISSING && confirmed.ok && Number(confirmed.reply) > 0
  }

  /** Ends without a word that others would wait for. */
  async leave(connection: Connection): Promise<void> {
    const key = this.#contactKey
    this.#hasLeft = true
    if (!this.contact.isOwing) await this.#send(connection, key, ['ZREM', key, this.#process])
  }

  /** Others give distances only while all processes say that they have nothing to tell. */
  async #sayThatThere(connection: Connection): Promise<void> {
    if (this.contact.isOwing || this.#hasLeft) return
    const { library, callTimeoutMs, isSharded } = this.#options
    const key = this.#contactKey
    this.contact.asking(callTimeoutMs)
    const command = [
      'FCALL',
      library.functionOf('note_contact'),
      '1',
      key,
      this.#process,
      `${this.contact.silentMs}`,
      isSharded ? '' : this.contact.timeIn(callTimeoutMs),
      ...this.#others,
    ]
    let noted = await this.#send(connection, key, command)
    if (noted === MISSING) {
      await this.#send(connection, key, ['FUNCTION', 'LOAD', 'REPLACE', library.text])
      noted = await this.#send(connection, key, command)
    }
    if (noted === MISSING || !noted.ok || !Array.isArray(noted.reply)) return
    const [silent, ...processes] = noted.reply as readonly unknown[]
    this.#others = processes.map(String).filter(each => each !== this.#process)
    this.contact.noted(silent === 0)
  }

  async #infos(connection: Connection): Promise<readonly string[] | Failure> {
    try {
      const asked = connection.sendAll(INFO_COMMAND)
      const answers = await inTime(asked, this.#options.callTimeoutMs)
      return answers === null ? TOO_LATE : answers.map(String)
    } catch (error) {
      return failureOf(error)
    }
  }

  /** Makes the fence of an empty server; the process that is first makes it for all. */
  async #makeFence(connection: Connection): Promise<string | Failure> {
    const key = this.#fenceKey
    const name = randomBytes(FENCE_BYTES).toString('hex')
    await this.#send(connection, key, ['SET', key, name, 'NX'])
    const made = await this.#send(connection, key, ['GET', key])
    if (made === MISSING) return UNREACHABLE
    return made.ok ? String(made.reply) : made
  }

  /** Why another cluster's server cannot be used. The first process gives the server its name. */
  async #foreignCluster(connection: Connection, fence: string): Promise<Failure | undefined> {
    if (this.#clusterOn === fence) return undefined
    const { cluster } = this.#options
    const key = this.#clusterKey
    if (cluster !== undefined) await this.#send(connection, key, ['SET', key, cluster, 'NX'])
    const found = await this.#send(connection, key, ['GET', key])
    if (found === MISSING) return UNREACHABLE
    if (!found.ok) return found
    if (found.reply !== null && String(found.reply) !== cluster) return ofCluster(`${found.reply}`)
    this.#clusterOn = fence
    return undefined
  }

  async #tellOthers(connection: Connection): Promise<void> {
    const key = this.#unsureKey
    const ms = this.#options.probeMs + UNSURE_MS
    await this.#send(connection, key, ['SET', key, '1', 'PX', `${ms}`])
  }

  #send(connection: Connection, key: string, args: readonly Argument[]) {
    return sendInTime(connection, key, args, this.#options.callTimeoutMs)
  }

  #seePolicy(policy: string | undefined): void {
    const mayEvict = policy !== undefined
    if (mayEvict && !this.#mayEvict) this.#options.onEvent({ kind: 'wrong_policy', policy })
    this.#mayEvict = mayEvict
  }
}

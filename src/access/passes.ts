import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Access, Caller } from './access.ts'
import type { EndedPasses } from './ended-passes.ts'

/**
 * Passes replace a key that was presented before, so that a browser does not have to keep the key.
 * They end after a time, when they are given back, or when their key is revoked or replaced. All
 * processes with the same secret take each other's.
 */
export interface Passes {
  /** A pass for the caller of a key. */
  issue(caller: Caller): string
  /** The caller of a pass; `null` if it is forged, over, or its key is not in force any more. */
  callerOf(pass: string): Caller | null
  /** From now on the pass is not taken. */
  end(pass: string): void
}

export interface PassOptions {
  /** 32 random bytes. */
  readonly secret: Uint8Array
  readonly lifeMs: number
  readonly ended: EndedPasses
  /** Unix milliseconds. */
  now(): number
}

const PASS = /^(\d{1,16})\.([\w-]{4,32})\.([\w-]{43})$/

export function createPasses(
  access: Pick<Access, 'digestOf' | 'resume'>,
  { secret, lifeMs, ended, now }: PassOptions,
): Passes {
  /** As text: the last letter of a pass has bits that bytes would not keep. */
  function sign(until: string, keyId: string): string | null {
    const digest = access.digestOf(keyId)
    if (digest === null) return null
    const mac = createHmac('sha256', secret).update(`${until}.${keyId}.`).update(digest)
    return mac.digest('base64url')
  }

  return {
    issue({ keyId }) {
      const until = String(now() + lifeMs)
      const mac = sign(until, keyId)
      if (mac === null) throw new Error('a pass for a key that is not in force')
      return `${until}.${keyId}.${mac}`
    },
    callerOf(pass) {
      const [, until = '', keyId = '', mac = ''] = PASS.exec(pass) ?? []
      const own = sign(until, keyId)
      if (own === null || own.length !== mac.length) return null
      if (!timingSafeEqual(Buffer.from(own), Buffer.from(mac))) return null
      const left = Number(until) - now()
      // A clock that went back must not make a pass live longer than it may.
      if (left <= 0 || left > lifeMs || ended.has(pass)) return null
      return access.resume(keyId)
    },
    end(pass) {
      // What is no pass needs no place.
      if (this.callerOf(pass) === null) return
      ended.add(pass, Number(PASS.exec(pass)?.[1]))
    },
  }
}

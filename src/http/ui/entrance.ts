import { isIP } from 'node:net'
import { generateCookie, getCookie } from 'hono/cookie'
import { type Caller, LOCAL } from '../../access/access.ts'
import { createPasses, type Passes, type PassOptions } from '../../access/passes.ts'
import { AppError } from '../../core/base/errors.ts'
import type { AppContext, AppDeps } from '../context.ts'

/** Who looks at the page. */
export interface Entrance {
  /**
   * The reader of a request; `null` if there is no session.
   * @throws AppError `forbidden` without keys, if the request comes from another machine;
   * `rate_limited`; `forbidden` if the key lacks the scope `ui`
   */
  readerOf(c: AppContext): Caller | null
  /** Whether the session of a request is over by now: its time has ended, or its key is revoked. */
  isOver(c: AppContext): boolean
  /** Exchanges a key for a cookie. @throws AppError `unauthorized`, `forbidden`, `rate_limited` */
  enter(c: AppContext, key: string): string
  /** Ends a session. @returns the cookie that removes it from the browser */
  leave(c: AppContext): string
  /** Whether there are keys, so that a session can be ended. */
  readonly hasKeys: boolean
}

const COOKIE = 'haversack_ui'
const LIFE_MS = 12 * 3_600_000

export function createEntrance(
  access: AppDeps['access'],
  shared: Pick<PassOptions, 'secret' | 'ended'>,
  now: () => number,
): Entrance {
  const passes = createPasses(access, { ...shared, lifeMs: LIFE_MS, now })
  const hasKeys = access.records() !== null
  return {
    hasKeys,
    readerOf(c) {
      const caller = hasKeys ? ofCookie(c, passes) : localReader(c)
      if (caller !== null) access.allow(caller, 'ui')
      return caller
    },
    isOver: c => hasKeys && ofCookie(c, passes)?.scopes.has('ui') !== true,
    enter(c, key) {
      const caller = access.identify(() => key)
      access.allow(caller, 'ui')
      return cookie(c, passes.issue(caller), LIFE_MS / 1000)
    },
    leave(c) {
      const pass = getCookie(c, COOKIE)
      if (pass !== undefined) passes.end(pass)
      return cookie(c, '', 0)
    },
  }
}

function ofCookie(c: AppContext, passes: Passes): Caller | null {
  const pass = getCookie(c, COOKIE)
  return pass === undefined ? null : passes.callerOf(pass)
}

/** Without keys, the page is for this machine only. */
function localReader(c: AppContext): Caller {
  const address = c.env?.incoming?.socket.remoteAddress
  if ((address === undefined || isLoopback(address)) && !isForwarded(c)) return LOCAL
  throw new AppError('forbidden', 'without configured keys the page is for this machine only')
}

/** Whether a proxy on this machine passes on what another machine asked for. */
function isForwarded(c: AppContext): boolean {
  const headers = ['forwarded', 'x-forwarded-for', 'x-real-ip']
  return headers.some(name => c.req.header(name) !== undefined)
}

function isLoopback(address: string): boolean {
  if (address === '::1') return true
  const plain = address.replace(/^::ffff:/, '')
  return isIP(plain) === 4 && plain.startsWith('127.')
}

function cookie(c: AppContext, value: string, seconds: number): string {
  return generateCookie(COOKIE, value, {
    path: '/ui',
    httpOnly: true,
    sameSite: 'Strict',
    maxAge: seconds,
    secure: c.req.header('x-forwarded-proto') === 'https',
  })
}

import { CLEARING_TERMS } from '../../src/core/base/clearing-terms.ts'
import type { LayerSettings } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { type ArmPlay, NO_CHANGES } from '../../src/lab/bill/account.ts'
import type { NewNeeds } from '../../src/lab/bill/needs.ts'
import type { PlacedSession } from '../../src/lab/bill/place-results.ts'
import {
  type Arm,
  type ArmTerms,
  CLEARING,
  LOSSLESS,
  pipelineArm,
  play,
  SHIPPED_ARMS,
} from '../../src/lab/bill/play.ts'

/** What the vendor leaves of a cleared result. */
const STUB_TOKENS = 8

/** Results that stay whole at a call: a number of the newest, when the context asks for it. */
type Kept = (at: number, context: readonly number[], hidden: number) => number | null

/** Old results are stubs from some call on. @param kept `null`: nothing more is hidden */
function hidingArm(kept: (session: PlacedSession, sizeOf: (at: number) => number) => Kept) {
  return (session: PlacedSession, newNeeds?: NewNeeds): ArmPlay => {
    const hidden = new Set<number>()
    const sizeOf = (at: number) => {
      const less = [...hidden].map(index => session.results[index]!)
      const own = less.filter(({ epoch }) => epoch === session.calls[at]!.epoch)
      return session.calls[at]!.prompt - own.reduce((sum, { tokens }) => sum + tokens, 0)
    }
    const keep = kept(session, sizeOf)
    const rewrite: Parameters<typeof play>[1] = (at, context) => {
      const shown = context.filter(index => !hidden.has(index))
      const left = keep(at, shown, hidden.size)
      const gone = left === null ? [] : shown.slice(0, Math.max(0, shown.length - left))
      for (const index of gone) hidden.add(index)
      return context.map(index => {
        const { raw, text } = session.results[index]!
        return hidden.has(index)
          ? { tokens: Math.min(raw, STUB_TOKENS), text: null }
          : { tokens: raw, text }
      })
    }
    return play(session, rewrite, newNeeds)
  }
}

const KEPT = 10
const STEP = 20
const VENDOR = { tokens: 100_000, keep: 3 }
/** With this price no step pays but those after pauses, as where the proxy fetches originals. */
const PAUSES: ArmTerms = { isStable: false, clearing: { ...CLEARING_TERMS, cacheWrite: 10 } }
/** From 100,000 tokens of the whole prompt on; the played prompts lack some 42,000 of them. */
const PRESSURE: LayerSettings = {
  views: { pressure: [{ from_tokens: 58_000, level: 'standard' }] },
}

/** What is compared with the recorded bill, by name. */
export const ARMS: Readonly<Record<string, Arm>> = {
  direct: () => NO_CHANGES,
  lossless: SHIPPED_ARMS.lossless,
  elide: pipelineArm({ elision: { in_proxies: true } }, true),
  clearing: SHIPPED_ARMS.clearing,
  both: pipelineArm({ elision: { in_proxies: true }, ...CLEARING }, true, { isStable: false }),
  pauses: pipelineArm({ ...LOSSLESS, ...CLEARING }, true, PAUSES),
  redeem: pipelineArm({ elision: { in_proxies: true }, ...CLEARING }, true, PAUSES),
  pressure: pipelineArm({ ...LOSSLESS, ...PRESSURE }, true),
  masking_each_turn: hidingArm(() => () => KEPT),
  masking_in_steps: hidingArm(
    () =>
      (_, { length }) =>
        length >= KEPT + STEP ? KEPT : null,
  ),
  vendor_clearing: hidingArm(
    (_, sizeOf) => at => (sizeOf(at) > VENDOR.tokens ? VENDOR.keep : null),
  ),
}

import type { EncodeAnswer } from '../contract/encode.ts'
import { findJsonFormat } from '../formats/json/registry.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { readLoneStyle } from '../formats/text/lone-text.ts'
import { splitFormat } from '../formats/text/text-format.ts'
import type { CoveredLines } from '../sessions/lines/covered-lines.ts'
import { scanText } from '../sessions/lines/scan-text.ts'
import { stringBodies } from '../sessions/lines/string-bodies.ts'
import { LINES_FORMAT } from '../sessions/turn/decode-references.ts'
import type { Shown } from '../sessions/turn/earlier-results.ts'
import type { SessionTurn } from '../sessions/turn/open-turn.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import { bareFormat, linesWithin, withoutEscapes, withoutTrim } from './wrapped-format.ts'

/**
 * A format in which a reader finds lines by the numbers printed before them, but cannot count them.
 */
const NUMBERED = 'numbered@1'
/** A format in which each line of the content has its line. */
const LINE_BY_LINE = 'diff@1'
/** JSON with the texts of its strings below it. */
const TEXTS_BELOW = /^strings@1;/
/** The format of such a text, if a line of it need not have its line. */
const OTHER_TEXT = /^text \d+, \d+ lines?, (?!numbered@1|diff@1)/m

/** How a content is sent. */
export interface Sent extends Pick<EncodeAnswer, 'lossless' | 'format' | 'content'> {
  /** Lines that a lossy answer lacks or refers to; absent: none of it may be referred to. */
  readonly covered?: CoveredLines
}

/** What a reader finds of a content in its answer. */
export function shownOf(
  { format, content: sent, lossless, covered }: Sent,
  content: string,
  referral: Referral | null,
  { context, scan }: Pick<SessionTurn, 'context' | 'scan'>,
): Shown {
  if (!lossless) {
    const isShown = covered !== undefined && areCounted(innerOf(format), scan)
    return isShown ? { found: 'lines', covered } : {}
  }
  const bare = withoutEscapes(format).format
  const within = referral === null ? undefined : linesWithin(bare)
  // A reader of a reference to a whole result finds what it leads to.
  if (referral !== null && within === undefined) return {}
  const isInStrings = within !== undefined && within.outer !== LINES_FORMAT
  const inStrings = () => (countsStrings(bare, sent, content, context) ? 'lines' : 'whole')
  if (isInStrings) return { inStrings: inStrings(), ...coveredIn(referral) }
  const inner = within?.inner ?? bareFormat(bare)
  const isCounted = areCounted(inner, scan)
  if (referral !== null) return isCounted ? { found: 'lines', ...coveredIn(referral) } : {}
  const isFormat = inner === PASSTHROUGH || findJsonFormat(inner) !== undefined
  const value = isFormat && JSON_START.test(content) ? ({ isValue: true } as const) : {}
  return isCounted
    ? { found: 'lines', inStrings: 'lines', ...value }
    : { found: 'whole', inStrings: inStrings(), ...value }
}

/** Whether a reader can count the lines of a text in this format. */
function areCounted(format: string, scan: SessionTurn['scan']): boolean {
  if (format === PASSTHROUGH || format === LINE_BY_LINE) return true
  return format.startsWith(NUMBERED) && scan()?.numbered === true
}

/** The format of lines in an answer that lacks others. */
function innerOf(format: string): string {
  const bare = withoutEscapes(withoutTrim(format)).format
  return linesWithin(bare)?.inner ?? bareFormat(bare)
}

function coveredIn(referral: Referral | null): Pick<Shown, 'covered'> {
  const covered = referral?.covered ?? []
  return covered.length === 0 ? {} : { covered }
}

const JSON_START = /^\s*[{[]/

/** Whether a reader can count the lines of texts in the content's strings. */
function countsStrings(
  format: string,
  sent: string,
  content: string,
  context: SessionTurn['context'],
): boolean {
  // Texts below the JSON have each line, or a reference for it.
  const within = linesWithin(format)
  if (within !== undefined) {
    if (within.outer === LINES_FORMAT) return false
    if (within.inner === PASSTHROUGH || within.inner === LINE_BY_LINE) return true
    return within.inner.startsWith(NUMBERED) && areNumbered(content, context)
  }
  if (TEXTS_BELOW.test(format)) {
    const lone = readLoneStyle(splitFormat(format).style)
    return lone === undefined ? !OTHER_TEXT.test(sent) : !isOtherFormat(lone.format)
  }
  const texts = stringBodies(content)
  return texts.length > 0 && texts.every(({ text }) => sent.includes(text))
}

/** Whether a line of a text in this format need not have its line. */
function isOtherFormat(format: string | undefined): boolean {
  return format !== undefined && !format.startsWith(NUMBERED) && format !== LINE_BY_LINE
}

/** Whether all texts in the content's strings have the numbers of their lines printed in them. */
function areNumbered(content: string, context: SessionTurn['context']): boolean {
  return stringBodies(content).every(({ text }) => scanText(text, context)?.numbered === true)
}

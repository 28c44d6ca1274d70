import {
  buildClassTable,
  CASELESS,
  LOWER,
  MARK,
  NEWLINE,
  NUMBER,
  OTHER,
  SPACE,
  UPPER,
} from '../../../../src/core/tokens/unicode-classes.ts'
import type { Random } from '../../../../src/lab/bill/statistics.ts'

const { blockOf, classes } = buildClassTable()

/** Some code points of every class, from all over Unicode, and all ASCII ones. */
const BY_CLASS: readonly string[][] = [[], [], [], [], [], [], [], []]
for (let point = 0; point < 0x110000; point++) {
  if (point >= 0xd800 && point < 0xe000) continue
  const kind = classes[(blockOf[point >> 7]! << 7) | (point & 127)]!
  if (point < 0x250 || point % 61 === 0 || BY_CLASS[kind]!.length < 40) {
    BY_CLASS[kind]!.push(String.fromCodePoint(point))
  }
}

const SPECIAL = [
  "'s",
  "'S",
  "'t",
  "'re",
  "'Ve",
  "'m",
  "'LL",
  "'d",
  "'ſ",
  "'",
  '/',
  '//',
  '\r\n',
  '\n',
  '  ',
  ' ',
  '\u00a0',
  '\u3000',
  '\u0301',
  'ʰ',
  'あ',
  'ǅ',
  '\u200d',
  '\ufeff',
  '\ud83d',
  '\ude00',
  '<|endoftext|>',
  '123',
  '1',
  'the',
  ' The',
  'HTTP',
]

const KINDS = [UPPER, LOWER, LOWER, LOWER, CASELESS, MARK, NUMBER, SPACE, NEWLINE, OTHER]

/** A short text made of runs whose ends are where the split patterns have to decide. */
export function boundaryText(random: Random): string {
  let text = ''
  for (let runs = 1 + random(8); runs > 0; runs--) {
    if (random(3) === 0) {
      text += SPECIAL[random(SPECIAL.length)]!
      continue
    }
    const kind = KINDS[random(KINDS.length)]!
    const chars = BY_CLASS[kind]!
    // Mostly ASCII and Latin, sometimes anything; mostly short, sometimes long.
    const among = random(4) === 0 ? chars.length : Math.min(chars.length, 26)
    const length = 1 + random(random(20) === 0 ? 90 : 3)
    const same = random(4) === 0 ? chars[random(among)]! : undefined
    for (let i = 0; i < length; i++) text += same ?? chars[random(among)]!
  }
  return text
}

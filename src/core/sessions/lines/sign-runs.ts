import type { ScannedText } from './scan-text.ts'

/** Lines in a row that a diff marks alike: `=` for lines that it leaves as they are. */
export interface SignRun {
  readonly sign: Sign
  readonly lines: number
}

export type Sign = '+' | '-' | '='

/** More runs of signs would be harder to read than the lines. */
export const MAX_SIGN_RUNS = 3

/** The byte that a diff prints before a line. */
const BYTES = { '+': '+', '-': '-', '=': ' ' } as const

/** What a diff prints before a line of this sign. */
export function printedSign(sign: Sign): string {
  return BYTES[sign]
}

type Lines = Pick<ScannedText, 'bytes' | 'starts'>

/** The sign of a line that has one. */
function signAt({ bytes, starts }: Lines, line: number): Sign {
  const byte = bytes[starts[line]!]
  return byte === PLUS ? '+' : byte === MINUS ? '-' : '='
}

const PLUS = 0x2b
const MINUS = 0x2d

/** Whether a line has another sign than the one before it; both must have one. */
export function changesSign(text: Lines, line: number): boolean {
  return signAt(text, line) !== signAt(text, line - 1)
}

/** The signs of the lines `from` to before `end`, which all have one. */
export function signsOf(text: Lines, from: number, end: number): readonly SignRun[] {
  const runs: SignRun[] = []
  for (let line = from; line < end; ) {
    const [start, sign] = [line, signAt(text, line)]
    while (line < end && signAt(text, line) === sign) line++
    runs.push({ sign, lines: line - start })
  }
  return runs
}

/** The line before which another run of signs would be one too many, or `end`. */
export function endOfSigns(text: Lines, from: number, end: number): number {
  let runs = 0
  for (let line = from; line < end; line++) {
    if ((line === from || changesSign(text, line)) && ++runs > MAX_SIGN_RUNS) return line
  }
  return end
}

/** `+12` for twelve added lines, `=3 -2` for three unchanged ones before two removed ones. */
export function writeSigns(runs: readonly SignRun[]): string {
  return runs.map(({ sign, lines }) => sign + lines).join(' ')
}

const RUNS = /^[+=-][1-9]\d{0,8}(?: [+=-][1-9]\d{0,8}){0,2}$/

/** The runs that `writeSigns` wrote; `null` for anything else. */
export function readSigns(text: string): readonly SignRun[] | null {
  if (!RUNS.test(text)) return null
  const runs = text
    .split(' ')
    .map(run => ({ sign: run.charAt(0) as Sign, lines: Number(run.slice(1)) }))
  const isCanonical = runs.every(({ sign }, at) => at === 0 || runs[at - 1]!.sign !== sign)
  return isCanonical ? runs : null
}

import type { OverflowHint } from '../hint.ts'
import { readToolCall } from '../read-tool-call.ts'
import { writeWord } from '../text-slot.ts'
import { validToolCall, writeToolCall } from '../tool-call.ts'
import { areCounts, type Family } from './family.ts'

/** Represents the arguments of the answered call, except those that follow. */
const SAME_ARGUMENTS = '(…, '

/**
 * `> [+18 more issues. call get_issues(page=2, status="open")]` or `> [+18 more issues. call
 * get_issues(…, page=2)]`
 */
export const overflow: Family<OverflowHint> = {
  valid: ({ omitted, unit, call, changed }) =>
    areCounts(1, omitted) &&
    unit !== '' &&
    validToolCall(call) &&
    (changed === undefined ||
      (changed.length > 0 && changed.every(name => Object.hasOwn(call.args, name)))),

  write(hint, verbosity) {
    const { omitted, unit } = hint
    if (verbosity === 'terse') return `+${omitted}: ${writeChangedCall(hint)}`
    const of = unit === undefined ? '' : ` ${writeWord(unit)}`
    if (verbosity === 'standard') return `+${omitted} more${of}. call ${writeChangedCall(hint)}`
    return `+${omitted} more${of}, omitted here. call ${writeToolCall(hint.call)}`
  },

  read(reader) {
    const omitted = reader.skip('+') ? reader.count() : undefined
    if (omitted === undefined) return null
    let unit: string | undefined
    if (!reader.skip(': ')) {
      if (!reader.skip(' more')) return null
      if (reader.skip(' ')) unit = reader.word()
      reader.skip(', omitted here')
      if (!reader.skip('. call ')) return null
    }
    const read = readToolCall(reader, SAME_ARGUMENTS)
    if (read === null) return null
    const { call, afterOther } = read
    const changed = afterOther ? { changed: Object.keys(call.args) } : {}
    return {
      family: 'overflow',
      omitted,
      ...(unit === undefined ? {} : { unit }),
      call,
      ...changed,
    }
  },
}

/** The call, without the arguments that are the answered call's own. */
function writeChangedCall({ call, changed }: OverflowHint): string {
  if (changed === undefined) return writeToolCall(call)
  const args = Object.entries(call.args).filter(([name]) => changed.includes(name))
  return writeToolCall({ name: call.name, args: Object.fromEntries(args) }, SAME_ARGUMENTS)
}

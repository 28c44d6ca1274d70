import type { EarlierCall, Hint, Verbosity } from '../../../../src/core/hints/hint.ts'
import { cutShown, type Shown } from '../../../../src/core/hints/text-slot.ts'

/** Characters of a shortened value, as docs/reference/hints.md says them. */
const SHOWN = { terse: 40, standard: 80, verbose: 240 }

/** The facts that a hint tells in a verbosity, stated apart from the code that writes them. */
export function keptFacts(hint: Hint, verbosity: Verbosity): Hint {
  const cut = (shown: Shown | undefined) =>
    shown === undefined ? undefined : cutShown(shown, SHOWN[verbosity])
  const call = (named: EarlierCall | undefined) =>
    without({ ...named, argument: cut(named?.argument) })
  const terse = verbosity === 'terse'
  switch (hint.family) {
    case 'reference':
    case 'near_reference':
    case 'lines': {
      const { call: named, ...rest } = hint
      return terse || named === undefined ? rest : ({ ...rest, call: call(named) } as Hint)
    }
    case 'overflow': {
      const { unit, changed, call: whole, ...rest } = hint
      const isShort = changed !== undefined && verbosity !== 'verbose'
      const args = Object.entries(whole.args).filter(([name]) => !isShort || changed.includes(name))
      const told = { ...rest, call: { name: whole.name, args: Object.fromEntries(args) } }
      return without({
        ...told,
        unit: terse ? undefined : unit,
        changed: isShort ? changed : undefined,
      }) as Hint
    }
    case 'format':
      return terse ? { family: 'format', format: hint.format } : hint
    case 'metadata': {
      const { total, returned } = hint
      if (terse) return { family: 'metadata', total, returned }
      return without({ ...hint, query: cut(hint.query) }) as Hint
    }
    case 'elision': {
      const { summary, parts, ...rest } = hint
      const amounts = parts.map(({ unit, omitted }) => ({ unit, omitted }))
      if (terse) return { ...rest, parts: amounts }
      return without({ ...hint, summary: cut(summary) }) as Hint
    }
    case 'search_chain':
      return hint
  }
}

function without(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

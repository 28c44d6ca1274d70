import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { parseArguments } from '../../../src/console/parse-arguments.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PAGES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
const BLOCK = /^```(?:sh|bash|console)\n(.*?)^```$/gms
/** A call within a line of a shell: after nothing, variables, or an operator. */
const CALL = /(?:^|[|;&(]\s*|\$\s+)(?:[A-Z_]+=\S*\s+)*(?:npx (?:--yes )?)?haversack\s+(.+)/

/** What a shell makes of the arguments of a call, up to its end. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(/'[^']*'|"[^"]*"|[^\s'"]+/g)) {
    if (/^(?:[|;&<>#]|\d?>|\$\()/.test(word)) break
    words.push(word.replace(/^(['"])(.*)\1$/, '$2').replace(/\)$/, ''))
  }
  return words
}

function callsIn(page: string): readonly string[] {
  const text = readFileSync(`${ROOT}${page}`, 'utf8')
  return [...text.matchAll(BLOCK)].flatMap(([, content = '']) =>
    content
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .flatMap(line => CALL.exec(line)?.[1] ?? []),
  )
}

/** Why a call could not be run by this version; `null` if it could. */
async function faultOf(words: readonly string[]): Promise<string | null> {
  const [name = '', ...rest] = words
  if (['--help', '--version', 'help'].includes(name) || rest.includes('--help')) return null
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (found === undefined) return `no command ${name}`
  const command = await found.load()
  try {
    const { operands } = parseArguments(command, rest)
    const actions = [...command.operands.matchAll(/(?:^|\| )([a-z][\w-]*)/g)].map(([, a]) => a)
    const [action] = operands
    if (actions.length > 0 && action !== undefined && !actions.includes(action))
      return `${name} has no action ${action}`
    return null
  } catch (error) {
    return (error as Error).message
  }
}

describe('commands of the documents', () => {
  const calls = PAGES.flatMap(page => callsIn(page).map(call => [page, call] as const))

  it('the documents have many commands', () => expect(calls.length).toBeGreaterThan(60))

  it.each(calls)('%s: haversack %s is one that this version takes', async (_, call) => {
    expect(await faultOf(wordsOf(call))).toBeNull()
  })

  it('are found with their faults', async () => {
    expect(CALL.exec('HAVERSACK_URL=x haversack serve --confg y')?.[1]).toBe('serve --confg y')
    expect(await faultOf(wordsOf('serve --confg y'))).toContain('no option --confg')
    expect(await faultOf(wordsOf('serv'))).toBe('no command serv')
    expect(await faultOf(wordsOf('mcp chek'))).toBe('mcp has no action chek')
    expect(wordsOf("proxy check 'a b' | jq .x")).toEqual(['proxy', 'check', 'a b'])
  })
})

it.each(Object.entries(COMMANDS))(
  'the examples of haversack %s --help are calls',
  async (_, { load }) => {
    for (const example of (await load()).examples)
      expect(await faultOf(wordsOf(example)), example).toBeNull()
  },
)

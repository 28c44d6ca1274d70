import { runTests } from './run-tests.ts'
import type { World } from './task.ts'

/** A tool as it is declared to a model. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly required: readonly string[]
  readonly optional: Readonly<Record<string, 'string' | 'integer'>>
}

const tool = (
  name: string,
  description: string,
  required: readonly string[] = [],
  optional: Tool['optional'] = {},
): Tool => ({ name, description, required, optional })

export const TOOLS: readonly Tool[] = [
  tool('list', 'Lists the paths of all files.'),
  tool('search', 'Lists all lines of all files that have the text: path:number:line.', ['text']),
  tool(
    'read',
    'Shows a file with line numbers, from line `offset` on, at most `limit` lines.',
    [...['path']],
    { offset: 'integer', limit: 'integer' },
  ),
  tool('edit', 'Replaces `old`, which must stand in the file exactly once, by `new`.', [
    ...['path', 'old', 'new'],
  ]),
  tool('test', 'Runs the tests.'),
  tool('api', 'Gets a path of the API, for example /customers?page=1.', ['path']),
  tool('answer', 'Ends the work with an answer.', ['answer']),
]

export interface Outcome {
  readonly text: string
  readonly isError: boolean
}

const ok = (text: string): Outcome => ({ text, isError: false })
const failed = (text: string): Outcome => ({ text, isError: true })

/** Runs a call of an agent, whatever it asks for. */
export async function perform(
  world: World,
  name: string,
  args: Readonly<Record<string, unknown>>,
  run = runTests,
): Promise<Outcome> {
  const text = (key: string) => String(args[key] ?? '')
  switch (name) {
    case 'list':
      return ok([...world.files.keys()].join('\n'))
    case 'search':
      return ok(search(world, text('text')))
    case 'read':
      return read(world.files.get(text('path')), Number(args['offset'] ?? 1), args['limit'])
    case 'edit':
      return edit(world, text('path'), text('old'), text('new'))
    case 'test':
      return ok(await run(world.files))
    case 'api': {
      const found = world.api(text('path'))
      return found === null ? failed('404: no such path') : ok(found)
    }
    case 'answer':
      world.answer = text('answer')
      return ok('done')
    default:
      return failed(`there is no tool ${name}`)
  }
}

function search(world: World, text: string): string {
  if (text === '') return 'no text was given'
  const hits = [...world.files].flatMap(([path, content]) =>
    content
      .split('\n')
      .flatMap((line, at) => (line.includes(text) ? `${path}:${at + 1}:${line}` : [])),
  )
  return hits.length === 0 ? 'no line has this text' : hits.join('\n')
}

function read(content: string | undefined, offset: number, limit: unknown): Outcome {
  if (content === undefined) return failed('there is no such file')
  const start = Math.max(0, offset - 1)
  const end = limit === undefined ? undefined : start + Number(limit)
  const shown = content.split('\n').slice(start, end)
  return ok(shown.map((line, at) => `${String(start + at + 1).padStart(6)}→${line}`).join('\n'))
}

function edit(world: World, path: string, old: string, fresh: string): Outcome {
  const content = world.files.get(path)
  if (content === undefined) return failed('there is no such file')
  const parts = content.split(old)
  if (old === '' || parts.length !== 2) return failed(`old stands there ${parts.length - 1} times`)
  world.files.set(path, parts.join(fresh))
  return ok(`${path} was changed`)
}

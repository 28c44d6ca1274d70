import { expect, it } from 'vitest'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'

const FILE = Array.from({ length: 60 }, (_, i) => `const row${i * 31} = measure(${i}, 'shore')`)
const header = (path: string) => [
  `diff --git a/${path} b/${path}`,
  'index 7c1e7ca..e38a6dd 100644',
  `--- a/${path}`,
  `+++ b/${path}`,
]
const DIFF = [
  ...header('src/lake.ts'),
  '@@ -10,25 +10,2 @@',
  ` ${FILE[9]}`,
  ...FILE.slice(10, 33).map(line => `-${line}`),
  ` ${FILE[33]}`,
  ...header('src/shore.ts'),
  '@@ -1 +1 @@',
  '-const shore = 1',
  '+const shore = 2',
  'diff --git a/copy.ts b/copy.ts',
  'new file mode 100644',
  'index 0000000..8e1f2a3',
  '--- /dev/null',
  '+++ b/copy.ts',
  `@@ -0,0 +1,${FILE.length + 1} @@`,
  '+// a copy',
  ...FILE.map(line => `+${line}`),
].join('\n')

it('writes what is new of a diff as a diff, between references to what was read', () => {
  const { encode, decode } = createLocalSessions(localContext(), { bodyBytes: 1 << 20 })
  const session = 's'
  const read = FILE.map((line, i) => `${i + 1}\t${line}`).join('\n')
  const args = { file_path: 'src/lake.ts' }
  encode({ session, tool: 'Read', args, content: read })
  const answer = encode({ session, tool: 'Bash', args: { command: 'git diff' }, content: DIFF })
  expect(answer.format).toBe('lines@1;diff@1')
  expect(answer.content.split('\n').filter(line => line.startsWith('> '))).toEqual([
    expect.stringMatching(/ lines 10-34 of Read 1 call ago\] signs =1 -23 =1$/),
    '> [lines 1-60] signs +60',
  ])
  expect(answer.content).toContain('diff src/shore.ts\n')
  expect(decode({ session, content: answer.content, format: answer.format }).content).toBe(DIFF)
})

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERSION } from '../../../src/runtime/version.ts'
import { captureCli } from '../../support/capture.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const json = (path: string) => JSON.parse(read(path))

it('the marketplace names the plugin where it is', () => {
  const [{ name, source }] = json('.claude-plugin/marketplace.json').plugins
  const plugin = json(`${source.slice(2)}/.claude-plugin/plugin.json`)
  expect([plugin.name, plugin.version]).toEqual([name, VERSION])
})

it('the plugin calls commands that there are', async () => {
  const { SessionStart, PreCompact } = json('plugin/hooks/hooks.json').hooks
  const hooks = [SessionStart, PreCompact].map(([each]) => each.hooks[0].command)
  const called = [...hooks, /!`(.+)`/.exec(read('plugin/commands/savings.md'))?.[1]]
  for (const command of called) {
    const [program, name] = String(command).split(' ')
    expect(program).toBe('haversack')
    expect((await captureCli('help', String(name))).code).toBe(0)
  }
})

import { expect, it } from 'vitest'
import { CachingAgent } from '../../../../support/caching/agent.ts'
import { recordingProxy } from '../../../../support/recording-proxy.ts'

const body = new CachingAgent('a', 'last').body()

function settingsOf(more: object): number | undefined {
  const { report } = recordingProxy({}).send({ ...body, ...more })
  return report.print?.settings
}

it.each(['thinking', 'output_config', 'output_format', 'speed', 'tool_choice'])(
  'has %s among the settings',
  name => {
    expect(settingsOf({})).toBeDefined()
    expect(settingsOf({ [name]: { type: 'any' } })).not.toBe(settingsOf({}))
    expect(settingsOf({ temperature: 1 })).toBe(settingsOf({}))
  },
)

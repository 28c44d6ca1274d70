import type { Dialect } from './dialect.ts'
import { gemini } from './gemini.ts'

export const vertex = {
  name: 'vertex',
  vendor: gemini.vendor,
  bodies: {},
  paths: [
    {
      ending: /\/anthropic\/models\/(?<model>[^/:]+):(?:rawPredict|streamRawPredict)$/,
      body: 'anthropic_messages',
    },
  ],
  counting: ['/count-tokens:rawPredict'],
  breakpointHosts: /^(?:[\w-]+-)?aiplatform\.googleapis\.com$/,
  client: {
    variable: 'ANTHROPIC_VERTEX_BASE_URL',
    byDefault: env => (env['CLAUDE_CODE_USE_VERTEX'] ? urlAt(env['CLOUD_ML_REGION']) : null),
  },
} as const satisfies Dialect

function urlAt(region = 'global'): string {
  const host = region === 'global' ? 'aiplatform' : `${region}-aiplatform`
  return `https://${host}.googleapis.com/v1`
}

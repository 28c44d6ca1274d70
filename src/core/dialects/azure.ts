import type { Dialect } from './dialect.ts'
import { openai } from './openai.ts'

export const azure = {
  name: 'azure',
  vendor: openai.vendor,
  bodies: {},
  paths: [],
  counting: [],
  breakpointHosts: /^[\w-]+\.services\.ai\.azure\.com$/,
} as const satisfies Dialect

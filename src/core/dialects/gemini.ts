import { geminiGenerate } from './bodies/gemini-generate.ts'
import type { Dialect } from './dialect.ts'

/** The statuses of https://cloud.google.com/apis/design/errors by HTTP status. */
const ERROR_STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export const gemini = {
  name: 'gemini',
  vendor: {
    name: 'google',
    models: /^gemini/,
    isCloud: true,
    reportsWrites: false,
    errorBody({ status: code, message }) {
      const status = ERROR_STATUSES[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
      return { error: { code, message, status } }
    },
  },
  bodies: { gemini_generate: geminiGenerate },
  paths: [
    {
      ending: /\/(?<model>[^/:]+):(?:generateContent|streamGenerateContent|countTokens)$/,
      body: 'gemini_generate',
    },
  ],
  counting: [':countTokens'],
  host: 'generativelanguage.googleapis.com',
  client: {
    variable: 'GOOGLE_GEMINI_BASE_URL',
    byDefault: () => 'https://generativelanguage.googleapis.com',
  },
} as const satisfies Dialect

import { openaiChat } from './bodies/openai-chat.ts'
import { openaiResponses } from './bodies/openai-responses.ts'
import type { Dialect } from './dialect.ts'

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

export const openai = {
  name: 'openai',
  vendor: {
    name: 'openai',
    models: /^(?:gpt|o\d|codex|chatgpt)/,
    reportsWrites: false,
    // A login with ChatGPT is a web token.
    keyPrefix: 'sk-',
    errorBody({ status, code, message }) {
      const type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
      return { error: { message, type, param: null, code } }
    },
  },
  bodies: { openai_chat: openaiChat, openai_responses: openaiResponses },
  paths: [
    { ending: /\/chat\/completions$/, body: 'openai_chat' },
    { ending: /\/responses(?:\/compact|\/input_tokens)?$/, body: 'openai_responses' },
  ],
  counting: ['/input_tokens'],
  host: 'api.openai.com',
  retains: true,
  own: {
    variables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
    version: '/v1',
    unversioned: /^\/(?:chat\/completions|responses)(?=[/?]|$)/,
    hasUnversionedUpstreams: true,
  },
} as const satisfies Dialect

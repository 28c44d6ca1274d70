import { anthropicMessages } from './bodies/anthropic-messages.ts'
import type { Dialect } from './dialect.ts'

/** The types of https://docs.claude.com/en/api/errors by status. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

export const anthropic = {
  name: 'anthropic',
  vendor: {
    name: 'anthropic',
    models: /^claude/,
    isOfferedByClouds: true,
    reportsWrites: true,
    sellsLives: true,
    subscriptionPrefix: 'sk-ant-oat',
    loginMark: ['anthropic-beta', 'oauth'],
    // platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
    searchingModels: [
      ...['claude-fable-5*', 'claude-mythos*', 'claude-opus-5*', 'claude-sonnet-5*'],
      ...['claude-haiku-5*', 'claude-opus-4-5', 'claude-opus-4-6', 'claude-opus-4-7'],
      ...['claude-opus-4-8', 'claude-sonnet-4-5', 'claude-sonnet-4-6', 'claude-haiku-4-5'],
    ],
    errorBody({ status, message }) {
      const type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
      return { type: 'error', error: { type, message } }
    },
    errorEvent: 'error',
  },
  bodies: { anthropic_messages: anthropicMessages },
  // `/messages` alone would also match the threads of another API.
  paths: [{ ending: /\/v\d\w*\/messages(?:\/count_tokens)?$/, body: 'anthropic_messages' }],
  counting: ['/count_tokens'],
  host: 'api.anthropic.com',
  own: {
    // That of its own clients, then that of LiteLLM, with which Aider works, and LangChain.
    variables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'],
    unversioned: /^\/messages(?=[/?]|$)/,
  },
} as const satisfies Dialect

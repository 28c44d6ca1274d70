import { bedrockConverse } from './bodies/bedrock-converse.ts'
import type { ClientEnv, Dialect, SigningTerms } from './dialect.ts'

/** The errors that its operations name. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'AccessDeniedException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
}

export const bedrock = {
  name: 'bedrock',
  vendor: {
    name: 'amazon',
    models: /^nova/,
    isCloud: true,
    reportsWrites: true,
    // Its own integration refuses them.
    refusesBreakpoints: true,
    errorBody({ status, message }) {
      const type = status < 500 ? 'ValidationException' : 'InternalServerException'
      return { __type: ERROR_TYPES[status] ?? type, message }
    },
  },
  bodies: { bedrock_converse: bedrockConverse },
  paths: [
    { ending: /\/model\/(?<model>[^/]+)\/converse(?:-stream)?$/, body: 'bedrock_converse' },
    {
      ending: /\/model\/(?=[^/]*anthropic\.)(?<model>[^/]+)\/invoke(?:-with-response-stream)?$/,
      body: 'anthropic_messages',
    },
  ],
  counting: [],
  awsService: 'bedrock',
  client: {
    variable: 'ANTHROPIC_BEDROCK_BASE_URL',
    // Signatures would cover our host instead of theirs, so they are made once more.
    byDefault: env =>
      env['CLAUDE_CODE_USE_BEDROCK'] &&
      (env['AWS_BEARER_TOKEN_BEDROCK'] || credentialsIn(env) !== undefined)
        ? `https://bedrock-runtime.${regionOf(env)}.amazonaws.com`
        : null,
    signedWith: credentialsIn,
  },
} as const satisfies Dialect

/** The credentials of the environment, which the command has too; `undefined` without them. */
function credentialsIn(env: ClientEnv): SigningTerms | undefined {
  if (!env['AWS_ACCESS_KEY_ID'] || !env['AWS_SECRET_ACCESS_KEY']) return undefined
  return {
    region: regionOf(env),
    access_key_id: 'env:AWS_ACCESS_KEY_ID',
    secret_access_key: 'env:AWS_SECRET_ACCESS_KEY',
    ...(env['AWS_SESSION_TOKEN'] ? { session_token: 'env:AWS_SESSION_TOKEN' } : {}),
  }
}

function regionOf(env: ClientEnv): string {
  return env['AWS_REGION'] || 'us-east-1'
}

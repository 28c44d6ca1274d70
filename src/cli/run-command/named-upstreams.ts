import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { upstreamFault } from '../../config/url-fault.ts'

export type NamedUpstream = Config['proxy']['upstreams'][number]

/** An API beside Anthropic's and OpenAI's, whose base URL a variable of the environment has. */
interface NamedApi extends Pick<NamedUpstream, 'name' | 'dialect'> {
  readonly variable: string
  /** Where its clients go without the variable; `null` if they would not use it. */
  byDefault(env: Env): string | null
  /** With which signed requests are signed once more; absent: such are not known. */
  signedWith?(env: Env): NamedUpstream['aws']
}

const NAMED_APIS: readonly NamedApi[] = [
  {
    variable: 'GOOGLE_GEMINI_BASE_URL',
    name: 'gemini',
    dialect: 'gemini',
    byDefault: () => 'https://generativelanguage.googleapis.com',
  },
  {
    variable: 'ANTHROPIC_BEDROCK_BASE_URL',
    name: 'bedrock',
    dialect: 'bedrock',
    // Signatures would cover our host instead of theirs, so they are made once more.
    byDefault: env =>
      env['CLAUDE_CODE_USE_BEDROCK'] &&
      (env['AWS_BEARER_TOKEN_BEDROCK'] || awsTerms(env) !== undefined)
        ? `https://bedrock-runtime.${regionOf(env)}.amazonaws.com`
        : null,
    signedWith: awsTerms,
  },
  {
    variable: 'ANTHROPIC_VERTEX_BASE_URL',
    name: 'vertex',
    dialect: 'vertex',
    byDefault: env => (env['CLAUDE_CODE_USE_VERTEX'] ? vertexAt(env['CLOUD_ML_REGION']) : null),
  },
]

/** The credentials of the environment, which the command has too; `undefined` without them. */
function awsTerms(env: Env): NamedUpstream['aws'] {
  if (!env['AWS_ACCESS_KEY_ID'] || !env['AWS_SECRET_ACCESS_KEY']) return undefined
  return {
    region: regionOf(env),
    access_key_id: 'env:AWS_ACCESS_KEY_ID',
    secret_access_key: 'env:AWS_SECRET_ACCESS_KEY',
    ...(env['AWS_SESSION_TOKEN'] ? { session_token: 'env:AWS_SESSION_TOKEN' } : {}),
  }
}

function regionOf(env: Env): string {
  return env['AWS_REGION'] || 'us-east-1'
}

function vertexAt(region = 'global'): string {
  const host = region === 'global' ? 'aiplatform' : `${region}-aiplatform`
  return `https://${host}.googleapis.com/v1`
}

/**
 * The upstreams of these APIs. What the environment names takes precedence over what is configured,
 * and that over defaults.
 * @throws Error for a base URL that is not a URL
 */
export function namedUpstreams(
  env: Env,
  configured: readonly NamedUpstream[],
): readonly NamedUpstream[] {
  const own = NAMED_APIS.flatMap(({ variable, name, dialect, byDefault, signedWith }) => {
    const given = env[variable] || null
    const fault = given === null ? null : upstreamFault(given)
    if (fault !== null) throw new Error(`${variable} ${fault}`)
    const isConfigured = configured.some(each => each.name === name)
    const url = given ?? (isConfigured ? null : byDefault(env))
    if (url === null) return []
    const aws = signedWith?.(env)
    const signed = aws === undefined ? {} : { aws }
    return [{ name, dialect, url: url.replace(/\/$/, ''), ...signed }]
  })
  return [...configured.filter(({ name }) => !own.some(each => each.name === name)), ...own]
}

/** The variables with the base URLs that the command uses, with a proxy at `url`. */
export function namedBaseUrls(url: string, upstreams: readonly NamedUpstream[]): Env {
  const served = NAMED_APIS.filter(({ name }) => upstreams.some(each => each.name === name))
  return Object.fromEntries(served.map(({ variable, name }) => [variable, `${url}/up/${name}`]))
}

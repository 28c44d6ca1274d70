import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { LOG_LEVELS } from '../core/base/log-levels.ts'
import { TENANT_NAME } from '../core/base/tenant-name.ts'
import {
  DIALECT_NAMES,
  dialectNamed,
  OWN_DIALECTS,
  type OwnDialectName,
  VENDOR_NAMES,
} from '../core/dialects/lookup.ts'
import { UNCONFIGURED_PLANNING } from '../core/enrich/plan.ts'
import { toolModelSchema } from '../core/enrich/value-model.ts'
import { teamName } from '../core/fingerprints/upload.ts'
import { sampleRate } from '../core/telemetry/event.ts'
import { compressionSchema } from './compression.ts'
import { processEnv } from './env.ts'
import { mcpSchema } from './mcp.ts'
import { redisSchema } from './redis.ts'
import { upstreamFault } from './url-fault.ts'
import { userDataFolder, withHome } from './user-folders.ts'

const MIB = 1024 * 1024

const positive = z.int().positive()

/** The longest that a timer of Node waits. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** The URL that requests are forwarded to. It has no credentials, query or fragment. */
const upstreamUrl = z.string().superRefine((text, { addIssue }) => {
  const fault = upstreamFault(text)
  if (fault !== null) addIssue(fault)
})

/** At most ten years, so that sums of times stay exact. */
const lifetime = positive.max(315_360_000_000)

/** Relative to uncached input tokens of the same model. */
const relativePrice = z.number().min(0).max(1_000)

const priceRule = z.strictObject({
  vendor: z.enum(VENDOR_NAMES),
  /** Prefix of the names of the models that the price is for; absent: all models of the vendor. */
  model: z.string().min(1).max(256).optional(),
  cache_read: relativePrice.optional(),
  cache_write: relativePrice.optional(),
  cache_write_long: relativePrice.optional(),
  output: relativePrice.optional(),
  /** The price of a million uncached input tokens, in `currency`. */
  per_million: z.number().min(0).max(1e6).optional(),
})

const budget = z.strictObject({
  tenant: z.string().regex(TENANT_NAME, 'is no name that a key can have'),
  period: z.enum(['day', 'month']),
  /** In the currency of the prices. */
  amount: z.number().positive().max(1e9),
  /** Gets a POST at 80 and at 100 %. */
  webhook: z.url({ protocol: /^https?$/ }).optional(),
})

/** A secret, or `env:NAME` or `file:PATH` that has it. */
const secretText = z.string().min(1).max(4_096)

/** With which requests for AWS are signed. */
const awsTerms = z.strictObject({
  region: z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be a region such as us-east-1'),
  access_key_id: secretText,
  secret_access_key: secretText,
  session_token: secretText.optional(),
})

const SIGNED_BY_AWS = DIALECT_NAMES.filter(name => dialectNamed(name).awsService !== undefined)

/** Where the APIs are that the service has routes of their own for. */
const ownUrls = Object.fromEntries(
  OWN_DIALECTS.map(({ name }) => [`${name}_url`, upstreamUrl.optional()]),
) as Readonly<Record<`${OwnDialectName}_url`, z.ZodOptional<typeof upstreamUrl>>>

/** An API beside those, at `/up/NAME`. */
const namedUpstream = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be a-z, 0-9 and -, at most 32'),
    url: upstreamUrl,
    /** Whose API it is, or is like. */
    dialect: z.enum(DIALECT_NAMES),
    aws: awsTerms.optional(),
    /** Whether it may drop parts of a prompt; absent: by what its URL and its name say. */
    forgets: z.boolean().optional(),
  })
  .refine(({ dialect, aws }) => aws === undefined || SIGNED_BY_AWS.includes(dialect), {
    path: ['aws'],
    message: `is for the dialect ${SIGNED_BY_AWS.join(' or ')}`,
  })

/** `ID:BASE64` of 32 bytes. The text is a secret: messages must not quote it. */
const encryptionKey = z
  .string()
  .regex(/^[\w.-]{1,64}:[A-Za-z0-9+/]{43}=$/, 'must be ID:BASE64 with 32 bytes')
  .transform(text => {
    const colon = text.indexOf(':')
    return { id: text.slice(0, colon), key: Buffer.from(text.slice(colon + 1), 'base64') }
  })

const NO_PATTERN = 'must be a pattern such as mcp__github__*, or team:NAME'

const endpointPattern = z.string().regex(/^(?!team:)[\w.:*-]{1,256}$/, NO_PATTERN)

/** Where fingerprints are shared: a team of a service. */
const fingerprintTeam = z.strictObject({ url: upstreamUrl, team: teamName })

/** A file or a folder; `~` is the user's home. */
const path = z.string().min(1).transform(withHome)

/**
 * The service's configuration as a TOML file spells it; every key is optional.
 * `config.example.toml` is checked against it by a test.
 */
export const configSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8787),
  allowed_hosts: z.array(z.string().min(1)).default([]),
  /** Hashed keys of clients; without it every client that reaches the service may use it. */
  keys_file: path.optional(),
  /** Folder for data that must outlive the process: the store's file, and the files of tuning. */
  data_dir: path.default(() => userDataFolder(processEnv())),
  log: z.strictObject({ level: z.enum(LOG_LEVELS).default('info') }).prefault({}),
  store: z
    .strictObject({
      max_bytes: positive.min(16 * MIB).default(1024 * MIB),
      original_ttl_ms: lifetime.default(86_400_000),
      encryption_keys: z.array(encryptionKey).max(16).default([]),
      redis: redisSchema.optional(),
    })
    .prefault({}),
  /** The drop-in proxies; a vendor without a URL has no route. */
  proxy: z
    .strictObject({
      ...ownUrls,
      upstreams: z
        .array(namedUpstream)
        .max(100)
        .refine(
          all => new Set(all.map(({ name }) => name)).size === all.length,
          'names a name twice',
        )
        .default([]),
      /** Time after which a body is forwarded unchanged. */
      rewrite_timeout_ms: positive.min(100).max(TIMER_MAX_MS).default(5_000),
      /**
       * How paths without a version, such as `/chat/completions`, are sent: with OpenAI's version,
       * or unchanged.
       */
      openai_paths: z.enum(['versioned', 'as_sent']).default('versioned'),
      /** Whether a tool is added whose calls for originals are answered. Absent: by `run` only. */
      redeem: z.enum(['off', 'auto']).optional(),
    })
    .prefault({}),
  /** Whether this file and those of the pipeline are read again when they change. */
  watch: z.boolean().default(false),
  /** Whether anything is rewritten, in every operation. */
  compression: compressionSchema,
  /** Prices of tokens, for the accounts of the proxies. */
  savings: z
    .strictObject({
      currency: z.string().min(1).max(16).default('USD'),
      prices: z.array(priceRule).max(200).default([]),
    })
    .prefault({}),
  /** What tenants may spend in a day or a month; nothing is blocked. */
  budgets: z.array(budget).max(1_000).default([]),
  /** What became of each result, without its text: what the page shows. */
  ledger: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  /** The page at `/ui`. */
  ui: z
    .strictObject({
      /** Whether both sides of results are kept, encrypted. Absent: by `run` only. */
      keep_texts: z.enum(['off', 'on']).optional(),
    })
    .prefault({}),
  /** Properties of results, without any content. */
  telemetry: z
    .strictObject({
      /** The share of results that is written; 0: nothing is. */
      sample_rate: sampleRate.or(z.literal(0)).default(0),
      /** Events of a session that are written together. */
      flush_every_n: positive.max(1_000).default(25),
    })
    .prefault({}),
  /** Fingerprints of endpoints. Only what is named here leaves the installation. */
  fingerprints: z
    .strictObject({
      /**
       * Endpoints whose fingerprints are published; `*` matches anything. `team:NAME`: the results
       * of clients that upload to that team count, too.
       */
      publish: z
        .array(z.union([z.templateLiteral(['team:', teamName]), endpointPattern], NO_PATTERN))
        .max(1_000)
        .default([]),
      share_endpoints_with_team: z.boolean().default(false),
      team: fingerprintTeam.optional(),
      /** By the provider's name; only endpoints of its own servers are shared with it. */
      share_with_provider: z.record(z.string(), z.boolean()).default({}),
      providers: z
        .record(
          z.string().regex(/^[A-Za-z0-9][\w-]{0,62}$/, 'a name has letters, digits, - and _'),
          fingerprintTeam.extend({
            /** Holds the key for its service: a provider must not get that of the user's own. */
            key_file: z.string().min(1).optional(),
            servers: z.array(z.string().min(1).max(256)).min(1).max(100),
          }),
        )
        .default({}),
    })
    .prefault({}),
  /** Analyses of agents' logs without a person; see `docs/guide/tuning.md`. */
  tune: z
    .strictObject({
      /** Whether logs are analyzed, and what the guard accepted is applied. */
      auto: z.enum(['off', 'propose', 'apply']).default('off'),
    })
    .prefault({}),
  /** The MCP gateway. */
  mcp: mcpSchema,
  /** Which calls are worth making before the model asks for them. */
  enrichment: z
    .strictObject({
      /** Whether the gateway makes calls ahead, refuses futile ones and caps markup. */
      enabled: z.boolean().default(false),
      /** Tokens that the results of one plan may have, as predicted. */
      prefetch_budget_tokens: z
        .int()
        .nonnegative()
        .max(10_000_000)
        .default(UNCONFIGURED_PLANNING.budgetTokens),
      /** Whether slow and expensive calls count half. */
      cost_aware: z.boolean().default(UNCONFIGURED_PLANNING.isCostAware),
      /** Calls that are made ahead at once for one context. */
      max_parallel_prefetches: positive.max(64).default(3),
      /** Whether hosts get at most four calls ahead at once, and none while they want none. */
      respect_rate_limits: z.boolean().default(true),
      /** The longest that a result waits for calls ahead, to name them; 0: it does not. */
      prefetch_timeout_ms: z.int().nonnegative().max(60_000).default(0),
    })
    .prefault({}),
  /** Value models by tool, over those that are built in; `"*"` for tools that have none. */
  tools: z.record(z.string().min(1).max(512), toolModelSchema).default({}),
  workers: z
    .strictObject({
      count: positive.max(256).default(() => availableParallelism()),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** Bodies under way at once have eight times as many bytes together. */
      max_body_bytes: positive.default(16 * MIB),
      job_timeout_ms: positive.min(100).default(30_000),
      max_queue_wait_ms: positive.default(1_000),
      drain_grace_ms: z.int().nonnegative().default(1_000),
      drain_timeout_ms: positive.default(10_000),
    })
    .prefault({}),
})

export type Config = z.output<typeof configSchema> & {
  /** `pipeline_config.toml` in `data_dir` if absent. */
  readonly pipeline_config_file?: string | undefined
}

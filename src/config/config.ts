import { availableParallelism, homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { LOG_LEVELS } from '../logger.ts'

const MIB = 1024 * 1024

const positive = z.int().positive()

/**
 * The service's configuration as a TOML file spells it; every key is optional. `config.example.toml` is
 * checked against it by a test.
 */
export const configSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8787),
  allowed_hosts: z.array(z.string().min(1)).default([]),
  /** Where packed vocabularies are kept between starts; safe to delete. */
  cache_dir: z
    .string()
    .min(1)
    .default(() => join(homedir(), '.cache', 'haversack')),
  /** Hashed keys of clients; without it everybody who reaches the service may use it. */
  keys_file: z.string().min(1).optional(),
  log: z.strictObject({ level: z.enum(LOG_LEVELS).default('info') }).prefault({}),
  /** OpenTelemetry: off without an endpoint. */
  traces: z
    .strictObject({
      endpoint: z.url({ protocol: /^https?$/ }).optional(),
      sample_ratio: z.number().min(0).max(1).default(1),
    })
    .prefault({}),
  workers: z
    .strictObject({
      count: positive.max(256).default(() => availableParallelism()),
      heap_mb: positive.min(128).default(1024),
    })
    .prefault({}),
  limits: z
    .strictObject({
      max_body_bytes: positive.default(16 * MIB),
      max_queue_jobs: positive.default(1024),
      max_queue_bytes: positive.default(128 * MIB),
      job_timeout_ms: positive.min(100).default(30_000),
      max_queue_wait_ms: positive.default(1_000),
      max_connections: positive.default(10_000),
      header_timeout_ms: positive.min(1_000).default(10_000),
      request_timeout_ms: positive.min(1_000).default(30_000),
      idle_timeout_ms: positive.min(1_000).default(75_000),
      drain_grace_ms: z.int().nonnegative().default(1_000),
      drain_timeout_ms: positive.default(10_000),
      envelope_depth: positive.max(10_000).default(64),
      envelope_values: positive.default(4_000_000),
      content_depth: positive.max(1_000).default(256),
    })
    .prefault({}),
})

export type Config = z.output<typeof configSchema>

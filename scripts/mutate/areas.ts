/** A part of the code that keeps promises, and the tests that should notice when it breaks one. */
export interface Area {
  /** Globs of the files to change. */
  readonly code: readonly string[]
  /**
   * Globs of the test files that run for each change. Those that start a service do so in their own
   * process, or they would run the code unchanged. None may fail beside other work.
   */
  readonly tests: readonly string[]
  /** The share of changes that are tried: about 100 of each area. */
  readonly percent: number
}

/** The areas by name: the only place that knows where the code is. */
export const AREAS: Readonly<Record<string, Area>> = {
  gate: {
    code: ['src/core/pipeline/{gate,decode,encode,session-layer,layers}.ts'],
    tests: ['test/{unit,property}/core/pipeline/**/*.test.ts'],
    percent: 17,
  },
  hints: {
    code: ['src/core/hints/**/*.ts'],
    tests: ['test/{unit,property}/core/hints/**/*.test.ts'],
    percent: 6,
  },
  verify: {
    code: ['src/core/verify/**/*.ts'],
    tests: ['test/{unit,property}/core/verify/**/*.test.ts'],
    percent: 7,
  },
  store: {
    code: ['src/store/**/*.ts'],
    tests: [
      'test/unit/store/!(fairness).test.ts',
      'test/unit/store/sqlite/**/*.test.ts',
      'test/property/store/store*.test.ts',
      'test/integration/store/parts-thread.test.ts',
    ],
    percent: 4,
  },
  dedup: {
    code: ['src/core/sessions/**/*.ts'],
    tests: ['test/{unit,property}/core/sessions/**/*.test.ts'],
    percent: 3,
  },
  compress: {
    code: ['src/core/conversation/rewrite/**/*.ts'],
    tests: ['test/{unit,property}/core/conversation/rewrite/**/*.test.ts'],
    percent: 9,
  },
  dialects: {
    code: ['src/core/dialects/**/*.ts'],
    tests: [
      'test/unit/core/conversation/{parse,prefix,retrieve,usage}/**/*.test.ts',
      'test/unit/core/conversation/rewrite/turn-memory.test.ts',
      'test/property/core/conversation/{parse,usage}/**/*.test.ts',
      'test/property/proxy/pure-parts.test.ts',
      'test/unit/http/proxy/{rewritable-request,vendor-proxies}.test.ts',
      'test/unit/cli/guess-route.test.ts',
    ],
    percent: 9,
  },
  book: {
    code: ['src/book/**/*.ts'],
    tests: ['test/{unit,property}/book/**/*.test.ts', 'test/unit/{cli/gain,http/ui}/*.test.ts'],
    percent: 3,
  },
  http: {
    code: [
      'src/http/{context,jobs/*,proxy/*}.ts',
      'src/http/request/body.ts',
      'src/http/middleware/{authorize,origin}.ts',
      'src/http/routes/{retrieve,sessions,vendor-proxy}.ts',
    ],
    tests: [
      'test/unit/http/**/*.test.ts',
      'test/property/http/http-*.test.ts',
      'test/integration/proxy/prefix-records.test.ts',
      'test/faults/proxy/{faults-held-end,faults-store}.test.ts',
      'test/integration/service/{originals,proxy,proxy-elision,sessions}.test.ts',
      'test/integration/service/verify.test.ts',
      'test/faults/service/session-faults.test.ts',
    ],
    percent: 10,
  },
  access: {
    code: ['src/access/**/*.ts'],
    tests: ['test/unit/access/**/*.test.ts', 'test/property/access/access.test.ts'],
    percent: 40,
  },
  proxy: {
    code: ['src/proxy/**/*.ts'],
    tests: [
      'test/property/proxy/**/*.test.ts',
      'test/integration/proxy/{bytes,continue,streams,upgrade}.test.ts',
      'test/faults/proxy/{failures,hostile-bytes}.test.ts',
    ],
    percent: 9,
  },
}

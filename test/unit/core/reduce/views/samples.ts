/** A result of our own making for a view: what goes at `compact`, and what stays. */
export interface Sample {
  readonly view: string
  readonly tool?: string
  readonly value: unknown
  readonly goes: readonly string[]
  readonly stays: readonly string[]
}

const many = (count: number, item: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => item(at))

export const SAMPLES: readonly Sample[] = [
  {
    view: 'code-search-hits',
    value: {
      delivery: 'inline',
      inline_budget_bytes_used: 700,
      inline_budget_bytes_limit: 8000,
      query_time_ms: 0,
      scope_usage: { remaining: 90, limit: 100 },
      results: many(12, at => ({
        hit_id: `lexical:src/lake/boat${at}.py:${at}:0`,
        path: `src/lake/boat${at}.py`,
        span: { start_line: at, start_col: 0, end_line: at, end_col: 0 },
        symbol_id: `row_${at}`,
        preview_line: `def row_${at}(oars):`,
        symbol: { name: `row_${at}`, kind: 'function', qualified_name: null },
      })),
    },
    goes: ['hit_id', 'end_col', 'symbol_id', 'scope_usage', 'delivery', 'query_time_ms'],
    stays: ['path', 'start_line', 'preview_line'],
  },
  {
    view: 'code-locations',
    value: many(20, at => ({
      uri: `file:///lake/boat${at}.ts`,
      range: { start: { line: at, character: 4 }, end: { line: at, character: 9 + at } },
    })),
    goes: ['end', 'character'],
    stays: ['uri', 'start', 'line'],
  },
  {
    view: 'semantic-diff',
    value: {
      changes: many(10, at => ({
        path: `src/lake/boat${at}.py`,
        name: `row_${at}`,
        change: 'body_changed',
        structural_severity: 'moderate',
        behavior_change_risk: 'medium',
        classification_confidence: 0.85,
        entity_id: `function:lake.row_${at}`,
        delta_tags: ['logic'],
        start_line: at * 9,
        impact: { reference_count: at, referencing_files: ['a.py', 'b.py'], confidence: 'high' },
      })),
    },
    goes: ['entity_id', 'structural_severity', 'delta_tags', 'referencing_files', 'confidence'],
    stays: ['path', 'change', 'behavior_change_risk', 'reference_count', 'start_line'],
  },
  {
    view: 'file-tree',
    value: {
      path: 'src',
      is_dir: true,
      children: many(40, at => ({
        path: `src/lake/boat${at}.py`,
        is_dir: false,
        line_count: at * 7,
      })),
    },
    goes: ['line_count'],
    stays: ['path', 'children'],
  },
  {
    view: 'delivery-envelope',
    value: {
      resource_kind: 'note',
      delivery: 'inline',
      inline_budget_bytes_used: 600,
      inline_budget_bytes_limit: 8000,
      agentic_hint: `REJOINDER: use the tools of the lake, ${'not a shell, '.repeat(20)}`,
      scope_usage: { remaining: 80, limit: 100 },
      text: 'Boats are counted each morning, before the wind comes. '.repeat(6),
    },
    goes: ['delivery', 'agentic_hint', 'scope_usage', 'inline_budget_bytes_used'],
    stays: ['text'],
  },
  {
    view: 'json-api',
    value: {
      data: many(12, at => ({
        id: `boat-${at}`,
        attributes: { name: `boat ${at}`, oars: at },
        relationships: { lake: { links: { related: `https://lake.example/boats/${at}/lake` } } },
        links: { self: `https://lake.example/boats/${at}` },
      })),
    },
    goes: ['links'],
    stays: ['attributes', 'name', 'oars'],
  },
  {
    view: 'hypermedia',
    value: {
      boats: many(14, at => ({
        name: `boat ${at}`,
        _links: { self: { href: `https://lake.example/boats/${at}/of/the/whole/fleet` } },
      })),
    },
    goes: ['_links'],
    stays: ['name'],
  },
  {
    view: 'github',
    value: many(9, at => ({
      id: 9000 + at,
      node_id: `MDU6SXNzdWU${at * 7919}`,
      number: at,
      title: `Oar ${at} is too short`,
      labels_url: `https://api.github.com/repos/lake/boats/issues/${at}/labels{/name}`,
      html_url: `https://github.com/lake/boats/issues/${at}`,
      user: {
        login: `rower${at}`,
        id: at,
        node_id: `MDQ6${at}`,
        followers_url: `https://api.github.com/users/rower${at}/followers`,
      },
      state: 'open',
      body: null,
    })),
    goes: ['node_id', 'labels_url', 'html_url', 'followers_url', 'body'],
    stays: ['number', 'title', 'user', 'login', 'state'],
  },
  {
    view: 'gitlab-items',
    value: many(9, at => ({
      id: 800 + at,
      iid: at,
      project_id: 3,
      title: `Draft: oar ${at}`,
      state: 'opened',
      web_url: `https://gitlab.example/lake/boats/-/merge_requests/${at}`,
      author: {
        id: at,
        username: `rower${at}`,
        avatar_url: `https://gitlab.example/uploads/${at}.png`,
      },
      time_stats: { time_estimate: 0, total_time_spent: 0 },
      _links: { self: `https://gitlab.example/api/v4/projects/3/merge_requests/${at}` },
    })),
    goes: ['_links', 'time_stats', 'avatar_url', 'web_url'],
    stays: ['iid', 'title', 'state', 'username'],
  },
  {
    view: 'gitlab-projects',
    value: many(8, at => ({
      id: at,
      path_with_namespace: `lake/boat${at}`,
      namespace: { id: 1, name: 'lake' },
      issues_access_level: 'enabled',
      wiki_enabled: true,
      auto_devops_enabled: false,
      ssh_url_to_repo: `git@gitlab.example:lake/boat${at}.git`,
      permissions: { project_access: null },
    })),
    goes: ['issues_access_level', 'wiki_enabled', 'ssh_url_to_repo', 'permissions'],
    stays: ['path_with_namespace', 'namespace'],
  },
  {
    view: 'kubernetes',
    value: {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: many(6, at => ({
        metadata: {
          name: `boat-${at}`,
          uid: `00000000-0000-4000-8000-00000000000${at}`,
          resourceVersion: `${at * 104_729}`,
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': `{"spec":{"oars":${at}}}`,
          },
          managedFields: [{ manager: 'helm', operation: 'Update', fieldsType: 'FieldsV1' }],
        },
        spec: {
          nodeName: `lake-${at}`,
          dnsPolicy: 'ClusterFirst',
          tolerations: [{ key: 'wet', operator: 'Exists' }],
        },
        status: { phase: 'Running', podIP: `10.0.0.${at}` },
      })),
    },
    goes: ['managedFields', 'uid', 'tolerations', 'dnsPolicy'],
    stays: ['name', 'nodeName', 'phase', 'podIP'],
  },
  {
    view: 'ci-jobs',
    value: many(9, at => ({
      id: at,
      name: `row ${at}`,
      stage: 'test',
      status: at === 4 ? 'failed' : 'success',
      duration: at * 11,
      web_url: `https://ci.example/jobs/${at}`,
      user: { name: 'rower', bio: '' },
      pipeline: { id: 1, ref: 'main', sha: 'a'.repeat(40) },
      runner: at === 4 ? { id: 7, description: 'wet' } : { id: at, description: 'dry' },
    })),
    goes: ['dry'],
    stays: ['name', 'stage', 'status', 'duration', 'wet'],
  },
  {
    view: 'ci-steps',
    value: {
      jobs: many(5, at => ({
        name: `row ${at}`,
        status: 'completed',
        started_at: `2026-01-0${at + 1}`,
        run_url: `https://ci.example/runs/${at}`,
        runner_name: `lake-${at}`,
        steps: many(9, step => ({
          number: step,
          name: `stroke ${step}`,
          conclusion: step === 6 ? 'failure' : 'success',
        })),
      })),
    },
    goes: ['run_url', 'runner_name', 'stroke 3'],
    stays: ['name', 'stroke 6', 'failure'],
  },
  {
    view: 'npm-package',
    value: {
      _id: 'boat',
      name: 'boat',
      'dist-tags': { latest: '1.0.8' },
      versions: Object.fromEntries(
        many(9, at => [
          `1.0.${at}`,
          {
            _id: `boat@1.0.${at}`,
            version: `1.0.${at}`,
            dependencies: { oar: `^${at}.0.0` },
            dist: { shasum: `${at}`.repeat(40) },
            scripts: { test: 'row' },
          },
        ]) as [string, unknown][],
      ),
    },
    goes: ['_id', 'dist', 'scripts'],
    stays: ['dist-tags', 'dependencies', 'version'],
  },
  {
    view: 'pypi-project',
    value: {
      info: {
        name: 'boat',
        version: '1.0.3',
        requires_dist: ['oar>=2'],
        classifiers: ['Topic :: Lakes'],
        home_page: null,
      },
      releases: Object.fromEntries(
        many(8, at => [
          `1.0.${at}`,
          [{ filename: `boat-1.0.${at}.whl`, digests: { sha256: `${at}`.repeat(64) } }],
        ]) as [string, unknown][],
      ),
    },
    goes: ['releases', 'classifiers', 'digests'],
    stays: ['name', 'requires_dist', 'version'],
  },
  {
    view: 'crate',
    value: {
      crate: { id: 'boat', max_version: '1.0.8', links: { owners: '/api/v1/crates/boat/owners' } },
      versions: many(9, at => ({
        num: `1.0.${at}`,
        checksum: `${at}`.repeat(64),
        yanked: false,
        dl_path: `/api/v1/crates/boat/1.0.${at}/download`,
        features: {},
      })),
    },
    goes: ['checksum', 'dl_path', 'links'],
    stays: ['num', 'yanked', 'max_version'],
  },
  {
    view: 'payments',
    value: {
      object: 'list',
      has_more: false,
      url: '/v1/charges',
      data: many(8, at => ({
        id: `ch_boat${at}`,
        object: 'charge',
        amount: 1_000 + at,
        currency: 'eur',
        created: 1_700_000_000 + at,
        livemode: false,
        failure_code: null,
        metadata: {},
        receipt_url: `https://pay.example/receipts/ch_boat${at}`,
        payment_method_options: { card: { request: 'automatic' } },
      })),
    },
    goes: ['receipt_url', 'livemode', 'metadata', 'payment_method_options'],
    stays: ['amount', 'currency', 'created'],
  },
  {
    view: 'api-links',
    value: many(9, at => ({
      id: at,
      name: `boat ${at}`,
      oars_url: `https://lake.example/boats/${at}/oars`,
      etag: `W/"${at * 7919}"`,
    })),
    goes: ['oars_url', 'etag'],
    stays: ['name'],
  },
]

import type { ToolModel, ToolModels, ValueClass } from './value-model.ts'

interface Size {
  readonly kb: number
  readonly max?: number
  readonly ms: number
  readonly ttl?: number
}

type Links = NonNullable<ToolModel['follow_up']>

function reads(
  value_class: ValueClass,
  { kb, max, ms, ttl }: Size,
  follow_up: Links = [],
): ToolModel {
  return {
    value_class,
    cost_model: {
      typical_kb: kb,
      ...(max === undefined ? {} : { max_kb: max }),
      latency_ms_p50: ms,
      ...(ttl === undefined ? {} : { freshness_ttl_s: ttl }),
    },
    side_effect_class: 'read_only',
    ...(follow_up.length === 0 ? {} : { follow_up }),
  }
}

/** Tools that change something there, and what they make stale. */
function writers(names: readonly string[], kb: number, ms: number, stale: string[]): ToolModels {
  const model: ToolModel = {
    value_class: 'supporting',
    cost_model: { typical_kb: kb, latency_ms_p50: ms },
    side_effect_class: 'mutates_external',
    invalidates: stale,
  }
  return Object.fromEntries(names.map(name => [name, model]))
}

/** Links to `tools`, each with its probability, by one value of the result. */
function links(projection: string, projection_arg: string, tools: Record<string, number>): Links {
  return Object.entries(tools).map(([tool, probability]) => ({
    tool,
    probability,
    projection,
    projection_arg,
  }))
}

function atHost(rate_limit_host: string, models: ToolModels): ToolModels {
  return Object.fromEntries(
    Object.entries(models).map(([name, model]) => [name, { ...model, rate_limit_host }]),
  )
}

const GITLAB_READS = {
  get_merge_requests: reads('supporting', { kb: 4, max: 40, ms: 450, ttl: 60 }, [
    ...links('iid', 'merge_request_id', {
      get_merge_request_discussions: 0.62,
      get_merge_request_diffs: 0.41,
    }),
    ...links('iid', 'merge_request_iid', { get_merge_request_diffs: 0.41 }),
  ]),
  get_merge_request: reads('critical', { kb: 1.5, ms: 220 }, [
    ...links('iid', 'merge_request_id', { get_merge_request_discussions: 0.55 }),
    ...links('iid', 'merge_request_iid', { get_merge_request_diffs: 0.55 }),
  ]),
  get_merge_request_discussions: reads('critical', { kb: 6, max: 60, ms: 380 }),
  get_merge_request_diffs: reads('critical', { kb: 6, max: 60, ms: 380 }),
  get_issues: reads('supporting', { kb: 3.5, max: 35, ms: 420 }, [
    ...links('iid', 'key', { get_issue_comments: 0.48 }),
    ...links('iid', 'issue_iid', { get_issue: 0.48 }),
  ]),
  get_issue: reads(
    'critical',
    { kb: 1, ms: 180 },
    links('iid', 'key', { get_issue_comments: 0.5 }),
  ),
  get_issue_comments: reads('critical', { kb: 2.5, max: 20, ms: 280 }),
} as const satisfies ToolModels

const GITLAB: ToolModels = {
  ...GITLAB_READS,
  // The tools of GitLab's own server.
  get_merge_request_commits: reads('supporting', { kb: 1.5, ms: 220 }),
  get_merge_request_pipelines: reads('supporting', { kb: 1, ms: 220 }),
  get_pipeline_jobs: reads('supporting', { kb: 2, ms: 280 }),
  ...writers(
    [
      'create_issue',
      'update_issue',
      'create_merge_request',
      'create_merge_request_comment',
      'add_issue_comment',
      'link_issues',
      'run_pipeline_job',
      'create_workitem_note',
    ],
    0.8,
    350,
    Object.keys(GITLAB_READS),
  ),
}

const PULL_DETAILS = { get_pull_request_discussions: 0.6, get_pull_request_diffs: 0.4 }
const MERGE_DETAILS = { get_merge_request_discussions: 0.6, get_merge_request_diffs: 0.4 }

const GITHUB_LIST = reads('supporting', { kb: 4.5, max: 45, ms: 380 }, [
  ...links('number', 'pull_request_number', { ...PULL_DETAILS, ...MERGE_DETAILS }),
  // The tools of GitHub's own server.
  ...links('number', 'pullNumber', { get_pull_request_files: 0.4, get_pull_request_diff: 0.4 }),
])
const GITHUB_ISSUES = reads('supporting', { kb: 3.5, ms: 380 }, [
  ...links('number', 'issue_number', { get_issue_comments: 0.45, get_issue: 0.45 }),
])
const GITHUB_PULL = reads('critical', { kb: 1.5, ms: 220 }, [
  ...links('number', 'pull_request_number', {
    get_pull_request_discussions: 0.55,
    get_merge_request_discussions: 0.55,
  }),
  ...links('number', 'pullNumber', { get_pull_request_comments: 0.55 }),
])
const GITHUB_DETAIL = reads('critical', { kb: 6, max: 60, ms: 380 })

const GITHUB_READS = {
  get_merge_requests: GITHUB_LIST,
  get_pull_requests: GITHUB_LIST,
  list_pull_requests: GITHUB_LIST,
  search_pull_requests: GITHUB_LIST,
  get_merge_request: GITHUB_PULL,
  get_pull_request: GITHUB_PULL,
  pull_request_read: GITHUB_DETAIL,
  get_merge_request_discussions: GITHUB_DETAIL,
  get_merge_request_diffs: GITHUB_DETAIL,
  get_pull_request_discussions: GITHUB_DETAIL,
  get_pull_request_diffs: GITHUB_DETAIL,
  get_pull_request_files: GITHUB_DETAIL,
  get_pull_request_diff: GITHUB_DETAIL,
  get_pull_request_comments: GITHUB_DETAIL,
  get_issues: GITHUB_ISSUES,
  list_issues: GITHUB_ISSUES,
  search_issues: GITHUB_ISSUES,
  get_issue: reads(
    'critical',
    { kb: 1, ms: 180 },
    links('number', 'issue_number', { get_issue_comments: 0.5 }),
  ),
  issue_read: reads('critical', { kb: 2.5, max: 20, ms: 280 }),
  get_issue_comments: reads('critical', { kb: 2.5, max: 20, ms: 280 }),
} as const satisfies ToolModels

const GITHUB = atHost('api.github.com', {
  ...GITHUB_READS,
  ...writers(
    [
      'create_issue',
      'update_issue',
      'issue_write',
      'add_issue_comment',
      'create_merge_request',
      'create_merge_request_comment',
      'create_pull_request',
      'update_pull_request',
      'merge_pull_request',
      'pull_request_review_write',
    ],
    0.8,
    350,
    Object.keys(GITHUB_READS),
  ),
})

const JIRA_READS = {
  get_issues: reads(
    'supporting',
    { kb: 4, max: 40, ms: 450 },
    links('key', 'key', { get_issue: 0.55, get_issue_comments: 0.45 }),
  ),
  get_issue: reads(
    'critical',
    { kb: 1.5, ms: 220 },
    links('key', 'key', { get_issue_comments: 0.5 }),
  ),
  get_issue_comments: reads('critical', { kb: 2.5, ms: 280 }),
  // The tools of Atlassian's own server.
  searchJiraIssuesUsingJql: reads(
    'supporting',
    { kb: 4, max: 40, ms: 450 },
    links('key', 'issueIdOrKey', { getJiraIssue: 0.55 }),
  ),
  getJiraIssue: reads('critical', { kb: 1.5, ms: 220 }),
} as const satisfies ToolModels

const JIRA: ToolModels = {
  ...JIRA_READS,
  ...writers(
    [
      'create_issue',
      'update_issue',
      'add_issue_comment',
      'link_issues',
      'transition_issue',
      'createJiraIssue',
      'editJiraIssue',
      'transitionJiraIssue',
      'addCommentToJiraIssue',
    ],
    0.6,
    380,
    Object.keys(JIRA_READS),
  ),
}

const CLICKUP_READS = {
  get_issues: reads(
    'supporting',
    { kb: 4, ms: 420 },
    links('id', 'key', { get_issue: 0.5, get_issue_comments: 0.4 }),
  ),
  get_issue: reads(
    'critical',
    { kb: 1.4, ms: 220 },
    links('id', 'key', { get_issue_comments: 0.5 }),
  ),
  get_issue_comments: reads('critical', { kb: 2, ms: 260 }),
  // The tools of ClickUp's own server.
  clickup_search: reads(
    'supporting',
    { kb: 4, ms: 420 },
    links('id', 'task_id', { clickup_get_task: 0.5, clickup_get_task_comments: 0.4 }),
  ),
  clickup_get_task: reads(
    'critical',
    { kb: 1.4, ms: 220 },
    links('id', 'task_id', { clickup_get_task_comments: 0.5 }),
  ),
  clickup_get_task_comments: reads('critical', { kb: 2, ms: 260 }),
} as const satisfies ToolModels

const CLICKUP = atHost('api.clickup.com', {
  ...CLICKUP_READS,
  ...writers(
    [
      'create_issue',
      'update_issue',
      'add_issue_comment',
      'link_issues',
      'clickup_create_task',
      'clickup_update_task',
      'clickup_create_task_comment',
    ],
    0.5,
    360,
    Object.keys(CLICKUP_READS),
  ),
})

const MEETINGS: Size = { kb: 3, ms: 450, ttl: 300 }
const TRANSCRIPT: Size = { kb: 8, max: 50, ms: 900, ttl: 600 }
const TO_TRANSCRIPT = links('id', 'meeting_id', { get_meeting_transcript: 0.55 })

const FIREFLIES = atHost('api.fireflies.ai', {
  list_meetings: reads('supporting', MEETINGS, TO_TRANSCRIPT),
  get_meeting_notes: reads('supporting', MEETINGS, TO_TRANSCRIPT),
  get_meeting_transcript: reads('critical', TRANSCRIPT),
  // The tools of Fireflies' own server.
  fireflies_get_transcripts: reads(
    'supporting',
    MEETINGS,
    links('id', 'transcriptId', { fireflies_get_transcript: 0.55 }),
  ),
  fireflies_get_transcript: reads('critical', TRANSCRIPT),
})

/** A provider's models, and the words in a server's name by which it is recognised. */
interface Provider {
  readonly words: readonly string[]
  readonly models: ToolModels
}

/**
 * Chains from lists to details of five providers (SOURCES.md#planner, "Provider extensions"), by
 * the names of the seed's tools and of the providers' own servers.
 */
export const PROVIDERS: readonly Provider[] = [
  { words: ['gitlab'], models: GITLAB },
  { words: ['github'], models: GITHUB },
  { words: ['jira', 'atlassian'], models: JIRA },
  { words: ['clickup'], models: CLICKUP },
  { words: ['fireflies'], models: FIREFLIES },
]

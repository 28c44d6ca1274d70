import { hash } from 'node:crypto'

/** For results without the name of the called tool. */
const UNNAMED = 'unknown'
const MCP_PREFIX = 'mcp__'
const SEPARATOR = '__'
/** Names with more words are not distinguished by the rest. */
const MAX_WORDS = 6
/** Longer names are represented by their hash only. */
const MAX_CHARS = 256
const HASH_DIGITS = 6

/**
 * A tool's name as telemetry may have it: names of tools that agents bring along as they are; of an
 * MCP tool the server's name as `mcp__p<6 hex>__` and what follows; of all others the common words
 * in lower case, runs of other words as `x<6 hex>`. The hashes are of SHA-256 without a key, so
 * that members of a team have the same names for the same tools: a reader who guesses a word sees
 * that it was guessed right, which is why names are all that is hashed like this.
 * @returns 1 to 128 letters, digits and `_`
 */
export function anonymousName(tool: string | undefined): string {
  if (tool === undefined || tool === '') return UNNAMED
  if (KNRETRIEVE_TOOLS.has(tool)) return tool
  const end = tool.lastIndexOf(SEPARATOR)
  if (!tool.startsWith(MCP_PREFIX) || end < MCP_PREFIX.length) return commonWords(tool)
  const server = anonymousServer(tool.slice(MCP_PREFIX.length, end))
  return `${MCP_PREFIX}${server}${SEPARATOR}${commonWords(tool.slice(end + SEPARATOR.length))}`
}

/**
 * The same with the latest names at hand: agents call the same tools all the time. One for each
 * tenant, since the time would reveal to one which tools another calls.
 */
export function createAnonymousNames(): typeof anonymousName {
  const names = new Map<string | undefined, string>()
  return tool => {
    const known = names.get(tool)
    if (known !== undefined) return known
    if (names.size === REMEMBERED) names.clear()
    const name = anonymousName(tool)
    if (tool === undefined || tool.length <= MAX_CHARS) names.set(tool, name)
    return name
  }
}

const REMEMBERED = 512

/** Replaces an MCP server's name in the names of its tools: `p` and 6 hex digits. */
export function anonymousServer(slug: string): string {
  return `p${nameHash(slug)}`
}

/** A word: letters or digits between other characters, or from a capital after a small letter. */
const WORD = /[A-Z]*[a-z0-9]+|[A-Z]+|[^A-Za-z0-9\s_./:-]+/g

function commonWords(name: string): string {
  const words = name.length > MAX_CHARS ? null : name.match(WORD)
  if (words === null) return `x${nameHash(name)}`
  const parts: string[] = []
  let others: string[] = []
  const close = () => {
    if (others.length > 0) parts.push(`x${nameHash(others.join('_'))}`)
    others = []
  }
  for (const word of words.map(each => each.toLowerCase())) {
    if (NAME_WORDS.has(word)) {
      close()
      parts.push(word)
    } else others.push(word)
  }
  close()
  return parts.slice(0, MAX_WORDS).join('_')
}

function nameHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, HASH_DIGITS)
}

/**
 * Words that names of tools are commonly made of. Only they, and names of tools that agents bring
 * along, stand in telemetry as they are: a word that is missing here may be a customer's.
 */
const WORDS = `
access account accounts action actions active activity add alert alerts all analyze answer api apply
approve archive args artifact artifacts ask assign attach attachment attachments author authors
available backlog bash batch blame blob board boards body book branch branches browser build builds
bulk bundle by calendar call calls cancel card cards catalog change changed changes channel channels
chat check checks class clear click clone close cluster code collection collections column columns
command comment comments commit commits compact compare complete component components compress
config configuration connect console contact contacts container containers content contents context
contexts convert copy count create current custom customer customers cycle cycles dashboard
dashboards data database databases dataset date debug default definition delete dependencies deploy
deployment deployments describe design details diagnostics diff diffs directories directory
discussion discussions doc docs document documents domain download draft drafts drag edit email
emails embed enable endpoint entities entity entries entry env environment environments epic epics
error errors eval evaluate event events exec execute exists exit explain export extract feature
features feedback fetch field fields figma file files fill filter find folder folders for fork form
format from full function functions generate get git glob global goal goals graph grep group groups
handle hash haversack headers health help history home host hover html http id identity image images
import in index indexes info init input insert inspect instance instances instructions integration
invoice invoices invite is issue issues item items iteration job jobs join json key keys label
labels language last latest lead leads library like line lines link linked links lint list lists
load local location lock log logs lookup ls main make manage map mark match me member members
memories memory menu merge message messages metadata metric metrics migrate milestone milestones
mode model models modify monitor move multi multiple my name namespace namespaces navigate network
new next node nodes note notebook notes notification notifications number object objects of on open
operation order orders org organization organizations output overview owner package packages page
pages parent parse patch path payment payments people permission permissions ping pipeline pipelines
plan plans play plugin pod pods policy poll port post posts press preview previous pricing print
priority process processes product products profile profiles project projects prompt prompts
properties property publish pull pulls push put queries query queue raw reaction read ready recent
record records ref reference references refresh refs register relation relations release releases
reload remote remove rename render reopen replace replies reply repo report reports repos
repositories repository request requests reset resize resolve resource resources response restart
restore result results resume retrieve retry return review reviewer reviewers reviews revision role
roles rollback room row rows rule rules run runner runs save scan schedule schema schemas scope
screenshot script scroll search secret secrets section select send server servers service services
session sessions set settings setup share sheet shell show site sites size skill sleep slack
snapshot snippet snippets sort source space spaces spec sprint sprints sql stack stage star start
state stats status step steps stop store story stream string structure style sub submit subscription
suggest summarize summary switch symbol symbols sync system tab table tables tabs tag tags task
tasks team teams template templates terminal test tests text thread threads ticket tickets time
timeline to todo todos token tokens tool tools topic trace traces tracing track transaction
transactions transcript transfer transition transitions translate tree trigger type types ui
unassign undo unlock update upload upsert url urls usage use user users validate value values
variable variables verify version versions video view views vote wait watch web webhook webhooks
wiki with word workflow workflows workspace workspaces write yaml
`

export const NAME_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/))

const TOOLS = `
Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillBash KillShell
LS LSP ListMcpResourcesTool MultiEdit NotebookEdit NotebookRead Read ReadMcpResourceTool Skill
SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoRead TodoWrite
ToolSearch WebFetch WebSearch Write apply_patch codebase_search exec_command glob google_web_search
local_shell read_many_files replace run_terminal_cmd save_memory shell str_replace_editor
str_replace_based_edit_tool update_plan view_image write_stdin
`

/** Tools that agents bring along, which stand as they are spelt. */
const KNRETRIEVE_TOOLS: ReadonlySet<string> = new Set(TOOLS.trim().split(/\s+/))

import { createRandom, type Random } from '../support/random.ts'
import { hex, NAMES, pick, TEAMS, version } from './words.ts'

/** A program: how its lines begin, and what its statements say after that. */
interface Program {
  readonly head: (random: Random, clock: string, seconds: number) => string
  readonly says: readonly ((random: Random) => string)[]
}

/** Logs of programs of many kinds, as each writes time, level and place in its own way. */
export function logTexts(): readonly string[] {
  return Array.from({ length: 64 }, (_, index) => {
    return log(createRandom(12_000 + index), PROGRAMS[index % PROGRAMS.length]!, 20 + 10 * index)
  })
}

/** A statement often logs again at once; lines of others stand between. */
function log(random: Random, { head, says }: Program, count: number): string {
  const lines: string[] = []
  let seconds = random(80_000)
  while (lines.length < count) {
    const say = says[Math.min(random(says.length), random(says.length))]!
    for (let again = random(3); again >= 0; again--) {
      lines.push(head(random, clockOf(seconds), seconds) + say(random))
      seconds += random(3)
    }
  }
  return `${lines.join('\n')}\n`
}

const two = (number: number) => String(number).padStart(2, '0')
const three = (number: number) => String(number).padStart(3, '0')

function clockOf(seconds: number): string {
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(part => two(part | 0)).join(':')
}

const inner = (random: Random) => `10.${random(4)}.${random(200)}.${1 + random(250)}`
const outer = (random: Random) => `${20 + random(180)}.${random(250)}.${random(250)}.${random(250)}`
const port = (random: Random) => 30_000 + random(30_000)
const CODES = [200, 200, 304, 404, 500]
const LEVELS = ['INFO', 'INFO', 'INFO', 'WARN', 'ERROR']

const millis = (random: Random) => three(random(999))

const PROGRAMS: readonly Program[] = [
  {
    head: (_, clock) => `[Tue Nov 03 ${clock} 2026] `,
    says: [
      r => `[notice] child ${1000 + r(9000)} took slot ${r(40)}`,
      r => `[error] [client ${outer(r)}] no such file: /srv/${hex(r, 6)}`,
      r => `[error] worker ${r(9)} is in state ${r(5)}, trying again`,
    ],
  },
  {
    head: (r, clock) => `261103 ${clock} ${r(999)} `,
    says: [
      r => `INFO fs.Node$Writer: chunk ch_${r(9e8)} of ${r(7e7)} bytes from /${inner(r)}`,
      r => `INFO fs.Names: ${inner(r)}:5010 has chunk ch_${r(9e8)} now, size ${r(7e7)}`,
      r => `WARN fs.Node$Reader: chunk ch_${r(9e8)} is not on /${inner(r)}:5010`,
    ],
  },
  {
    head: (_, clock) => `26/11/03 ${clock} INFO `,
    says: [
      r => `exec.Executor: Runs task ${r(40)}.0 of stage ${r(9)}.0 (no ${r(9e3)})`,
      r => `exec.Executor: Ended task ${r(40)}.0 of stage ${r(9)}.0, ${r(4000)} bytes`,
      r => `mem.Blocks: Block bc_${r(60)} is in memory (${r(90)}.${r(9)} KB, ${r(400)} MB free)`,
    ],
  },
  {
    head: (r, clock) => `2026-11-03 ${clock},${millis(r)} - `,
    says: [
      r => `WARN  [Send:${r(9e8)}:Peers@${600 + r(99)}] - Interrupted while it waits for ${r(9)}`,
      r => `INFO  [Accept/0.0.0.0:2181:Peers@197] - Accepted /${inner(r)}:${port(r)}`,
      r => `INFO  [Expire:Server@325] - Session 0x${hex(r, 14)} ends after ${r(30)}000 ms`,
    ],
  },
  {
    head: (r, clock) => `Nov  3 ${clock} gate sshd[${20_000 + r(9999)}]: `,
    says: [
      r => `Invalid user ${pick(r, NAMES)} from ${outer(r)}`,
      r => `Failed password for ${pick(r, NAMES)} from ${outer(r)} port ${port(r)} ssh2`,
      r => `Disconnected from ${outer(r)}: 11: bye [preauth]`,
    ],
  },
  {
    head: (r, clock) => `11-03 ${clock}.${millis(r)}  1702  ${2000 + r(9000)} `,
    says: [
      r => `D Power: takes lock=${r(9e8)}, flags=0x${r(9)}, uid=${10_000 + r(99)}`,
      r => `I Activity: ends ${r(30_000)}:com.example.${pick(r, NAMES)}/u0a${r(99)} (${r(906)})`,
      r => `V Window: hides Token{${hex(r, 7)} of Record{${hex(r, 8)} u0 t${r(800)}}}`,
    ],
  },
  {
    head: (_, clock) => `2026-11-03 ${clock}, Info                  `,
    says: [
      r => `CBS    Package ${pick(r, NAMES)}~amd64~~${version(r)} has state ${r(112)}`,
      r => `CBS    Session ${r(9e8)}_${r(9e8)} is opened by the agent`,
      r => `CSI    ${hex(r, 8)} Cannot read the manifest of ${pick(r, NAMES)} (${hex(r, 8)})`,
    ],
  },
  {
    head: (r, _, seconds) => `${2e6 + r(9e5)} node-${r(255)} ${1_790_000_000 + seconds} `,
    says: [
      r => `action start 1 boot (command ${r(4000)})`,
      r => `unix.hw state 1 Component ${pick(r, NAMES)} is unavailable (id=${r(5000)})`,
      r => `env heat 1 ${30 + r(30)} degrees are above the limit`,
    ],
  },
  {
    head: (r, clock) => `[11.03 ${clock}] ${pick(r, NAMES)}.exe - `,
    says: [
      r => `${pick(r, NAMES)}.example:443 open through proxy.example:5070`,
      r => `${outer(r)}:80 close, ${r(90_000)} bytes sent, ${r(9000)} bytes received`,
    ],
  },
  {
    head: (r, clock) => `${outer(r)} - - [03/Nov/2026:${clock} +0000] `,
    says: [
      r => `"GET /v1/${pick(r, NAMES)}/${r(9e4)} HTTP/1.1" ${pick(r, CODES)} ${r(9e4)} "-" "curl"`,
      r => `"POST /v1/${pick(r, NAMES)} HTTP/1.1" 201 ${r(900)} "-" "python-requests/2.32"`,
    ],
  },
  {
    head: (r, clock) => `2026-11-03 ${clock}.${millis(r)} UTC [${r(9999)}] app@shop `,
    says: [
      r => `LOG:  duration: ${r(900)}.${millis(r)} ms  select: orders of ${r(99_999)}`,
      r => `ERROR:  key ${r(99_999)} of "orders_pkey" is there already`,
    ],
  },
  {
    head: (r, clock) => `2026-11-03T${clock}.${millis(r)}Z ${pick(r, LEVELS)} ${pick(r, NAMES)} `,
    says: [
      r => `[${hex(r, 8)}] request ${r(9e6)} of ${pick(r, TEAMS)} took ${r(900)} ms`,
      r => `[${hex(r, 8)}] no answer after ${r(9)} tries, next one in ${r(90)} s`,
      r => `[${hex(r, 8)}] cache has ${r(9999)} entries in ${r(90)} MB`,
    ],
  },
  {
    head: r => `src/${pick(r, NAMES)}/${pick(r, NAMES)}.ts(${r(900)},${r(80)}): `,
    says: [
      r => `error TS2304: Cannot find name '${pick(r, NAMES)}'.`,
      r => `error TS2339: '${pick(r, NAMES)}' is not there in '${pick(r, NAMES)}'.`,
    ],
  },
  {
    head: r => `docs/${pick(r, NAMES)}.md:${r(900)}:${r(90)} `,
    says: [
      r => `error MD013 Line length [Expected: 80; Actual: ${80 + r(300)}]`,
      r => `warning MD033 Inline element [Element: ${pick(r, NAMES)}]`,
    ],
  },
]

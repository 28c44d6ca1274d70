import { LoadClient, postRequest } from '../support/load-client.ts'
import { loadSources } from '../tokens/sources.ts'

const CONNECTIONS = 16
/** Larger texts would be most of the bytes and few of the requests. */
const MAX_TEXT_CHARS = 200_000

export interface MixedLoad {
  readonly description: string
  readonly done: number
  /** Answers by HTTP status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Sends `count` requests and waits for their answers. */
  run(count: number): Promise<void>
  /** Sends a job that runs longer than the service lets it. */
  loseThread(): Promise<void>
}

/** Requests of every operation over recorded or generated texts, on connections that stay open. */
export function createMixedLoad(port: number, corpus: string | undefined): MixedLoad {
  const sources = loadSources(corpus)
  const texts = [...sources.warm, ...sources.measured].filter(
    text => text !== '' && text.length <= MAX_TEXT_CHARS,
  )
  const statuses: Record<string, number> = {}
  const idle: LoadClient[] = []
  let done = 0

  /** Mostly encodes, and a few of everything else, also requests that must fail. */
  function next(): Buffer {
    const text = texts[done % texts.length] as string
    const kind = (done * 7) % 100
    if (kind < 70) return request('/v1/encode', { content: text })
    if (kind < 80) return request('/v1/encode', { content: text, tokenizer: 'anthropic_class' })
    if (kind < 88) return request('/v1/count', { content: text, model: 'gpt-4' })
    if (kind < 92) return request('/v1/decode', { content: text, format: 'csv@1' })
    if (kind < 95) return request('/v1/encode', { text })
    if (kind < 98) return request('/v1/unknown', {})
    const jobs = texts.slice(done % texts.length).slice(0, 5)
    return request('/v1/batch', { jobs: jobs.map(content => ({ op: 'encode', content })) })
  }

  function request(path: string, body: object): Buffer {
    return postRequest(port, path, Buffer.from(JSON.stringify(body)))
  }

  async function ask(bytes: Buffer): Promise<void> {
    const client = idle.pop() ?? new LoadClient(port)
    const { status, last } = await client.ask(bytes)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (last) client.destroy()
    else idle.push(client)
  }

  return {
    description: sources.description,
    get done() {
      return done
    },
    statuses,
    async run(count) {
      const end = done + count
      const client = async () => {
        while (done < end) {
          const bytes = next()
          done++
          await ask(bytes)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, client))
    },
    loseThread: () => ask(request('/v1/encode', { content: `[${'[],'.repeat(5_000_000)}[]]` })),
  }
}

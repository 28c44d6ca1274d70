import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import type { ServiceSeams } from '../../../src/service/service.ts'
import { eventually } from '../../support/eventually.ts'
import { startSmallService } from '../service/harness.ts'

export type TestService = Awaited<ReturnType<typeof startSmallService>>

/** A service before one upstream, for one test, with one worker. */
export async function serviceBefore(
  url: string | URL,
  settings: { readonly proxy?: object; readonly [section: string]: unknown } = {},
  seams: ServiceSeams = {},
): Promise<TestService> {
  const proxy = { anthropic_url: String(url), openai_url: String(url), ...settings.proxy }
  const service = await startSmallService({ workers: { count: 1 }, ...settings, proxy }, seams)
  onTestFinished(() => service.close())
  return service
}

/** A figure of the service's metrics; 0 for a counter that was not used. */
export async function figure(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** Waits until the service holds no place and no byte for a request. */
export async function expectNothingHeld(service: TestService): Promise<void> {
  await eventually(async () => {
    expect(await figure(service, 'haversack_admitted_jobs')).toBe(0)
    expect(await figure(service, 'haversack_admitted_bytes')).toBe(0)
  })
}

/** A request that was begun, on a connection of its own. */
export function begin(
  service: TestService,
  path: string,
  headers: Readonly<Record<string, string | number>> = {},
): ClientRequest {
  const request = httpRequest(service.url + path, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  })
  request.on('error', () => undefined)
  onTestFinished(() => void request.destroy())
  return request
}

/** What came of an answer: all of it, or as much as there was when it broke. */
export interface Got {
  readonly status: number
  readonly text: string
  readonly whole: boolean
}

/** Reads the answer to a request to its end, whole or not. */
export async function answerOf(request: ClientRequest): Promise<Got> {
  return await new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response: IncomingMessage) => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('error', () => undefined)
      response.on('close', () =>
        resolve({ status: response.statusCode ?? 0, text, whole: response.complete }),
      )
    })
  })
}

/** Sends a body and reads what comes. */
export async function exchange(service: TestService, path: string, body: string): Promise<Got> {
  const request = begin(service, path)
  const got = answerOf(request)
  request.end(body)
  return await got
}

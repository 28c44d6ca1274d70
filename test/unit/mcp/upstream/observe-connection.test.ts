import { expect, it } from 'vitest'
import type {
  ConnectionListener,
  ServerFacts,
  UpstreamConnection,
} from '../../../../src/mcp/upstream/connection.ts'
import { observeConnection } from '../../../../src/mcp/upstream/observe-connection.ts'

const FACTS = { era: 'legacy', protocolVersion: '2025-11-25' } as ServerFacts

function observed() {
  const events: string[] = []
  let listener: ConnectionListener | undefined
  const connection = observeConnection(
    given => {
      listener = given
      return { close: async () => void events.push('closed') } as UpstreamConnection
    },
    {
      onNotification: method => void events.push(method),
      onRequest: () => Promise.reject(new Error('none')),
      onConnected: () => void events.push('up'),
      onLost: () => void events.push('down'),
    },
    {
      onConnected: isAgain => void events.push(isAgain ? 'again' : 'first'),
      onDisconnected: () => void events.push('gone'),
      onListChanged: () => void events.push('changed'),
    },
  )
  return { events, connection, listener: listener as ConnectionListener }
}

it('reports each connection once, and its end once', async () => {
  const { events, connection, listener } = observed()
  listener.onConnected(FACTS)
  listener.onLost()
  listener.onConnected(FACTS)
  await connection.close()
  await connection.close()
  expect(events).toEqual([
    ...['first', 'up', 'gone', 'down'],
    ...['again', 'up', 'gone', 'closed', 'closed'],
  ])
})

it('reports changes of lists, and passes all notifications on', () => {
  const { events, listener } = observed()
  listener.onNotification('notifications/tools/list_changed', null)
  listener.onNotification('notifications/resources/updated', null)
  expect(events).toEqual([
    'changed',
    'notifications/tools/list_changed',
    'notifications/resources/updated',
  ])
})

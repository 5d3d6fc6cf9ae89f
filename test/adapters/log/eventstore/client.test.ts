import {
  DeadlineExceededError,
  EventStoreDBClient,
  UnavailableError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import { expect, onTestFinished, test } from 'vitest'
import { ReplaceableClient } from '../../../../adapters/eventstore/client.ts'
import { parseAddress } from '../../../../adapters/eventstore/connection-string.ts'
import { Overdue } from '../../../../adapters/eventstore/errors.ts'

/** Nothing of this reaches a server. */
function client(failingFor: number): ReplaceableClient {
  const one = new ReplaceableClient(parseAddress('esdb://127.0.0.1:1?tls=false'), failingFor)
  onTestFinished(() => one.close())
  return one
}

const unavailable = new UnavailableError(undefined as never)
const failures = [
  ['our own time limit', new Overdue('a read', 1), true],
  ['a search for the leader, which says nothing but that', new Error('Failed to discover after 10 attempts.'), true],
  ['a call that found no server, without a type', Object.assign(new Error('14'), { code: 14, details: '' }), true],
  ['a lost connection, which the client mends', unavailable, false],
  ['a time limit of the server', new DeadlineExceededError(undefined as never), false],
] as const

test.each(failures)('%s', async (_, error, replaced) => {
  const one = client(Number.POSITIVE_INFINITY)
  const held = await one.take()
  one.failed(held, error)
  expect((await one.take()) !== held).toBe(replaced)
  expect(held.gone.signal.aborted).toBe(replaced)
})

test('a client that only fails for a time is replaced too, unless a call succeeds or is answered meanwhile', async () => {
  const one = client(-1)
  const held = await one.take()
  const wrong = new WrongExpectedVersionError(undefined, { streamName: 's', current: 1n, expected: 0n })
  one.failed(held, wrong)
  expect(await one.take()).toBe(held)
  one.failed(held, unavailable)
  const next = await one.take()
  expect(next).not.toBe(held)
  // The failure of a client that was replaced says nothing of the next one.
  one.failed(held, new Overdue('a read', 1))
  expect(await one.take()).toBe(next)
})

test('a connection that ends while a leader is looked for in vain ends no process', async () => {
  const unreachable = 'esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=2'
  const one = new ReplaceableClient(parseAddress(unreachable), 1)
  onTestFinished(() => one.close())
  interface Inner {
    getChannel(): Promise<unknown>
    handleError(client: unknown, error: Error): Promise<void>
  }
  const ended = (client: unknown) => {
    const inner = client as Inner
    inner.getChannel().catch(() => undefined)
    return inner.handleError({ getChannel: () => null }, unavailable)
  }
  // The client waits for nothing of this itself, so that it would be an unhandled rejection.
  await expect(ended(EventStoreDBClient.connectionString(unreachable))).rejects.toThrow()
  await ended((await one.take()).client)
})

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { cliFolder } from '../cli-support.ts'

/** A data folder and an event store for the tests of a group. */
export function deployment() {
  const folder = cliFolder()
  const eventstore = new StandIn()
  beforeAll(() => eventstore.start())
  afterAll(async () => {
    folder.clean()
    await eventstore.stop()
  })
  return { folder, eventstore }
}

/** A way to a PostgreSQL for one test; `comes` is done before each connection is let through. Gives its address. */
export async function wayTo(url: string, comes: () => unknown): Promise<string> {
  const socket = `${new URL(url.replace('@/', '@localhost/')).searchParams.get('host')}/.s.PGSQL.5432`
  const way = createServer(async (from) => {
    from.on('error', () => undefined)
    await comes()
    const to = createConnection(socket)
    to.on('error', () => undefined)
    from.pipe(to).pipe(from)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void way.close())
  await once(way, 'listening')
  return `postgres://keepup@127.0.0.1:${(way.address() as AddressInfo).port}/postgres`
}

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { cliFolder, inProcess } from '../support/cli.ts'

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

interface Finding {
  check: string
  state: string
  found: string
  todo: string | null
}

/** The command line on a deployment, in the namespace `ns`. */
export function cliOf({ folder, eventstore }: ReturnType<typeof deployment>, server: () => { readonly url: string }) {
  const env = (more: Record<string, string> = {}) => ({
    KEEPUP_MODEL: folder.env.KEEPUP_MODEL,
    KEEPUP_EVENTSTORE: eventstore.url,
    KEEPUP_POSTGRES: server().url,
    KEEPUP_NAMESPACE: 'ns',
    ...more,
  })
  const look = (args: readonly string[], more?: Record<string, string>) =>
    inProcess(['--data', folder.data, ...args], env(more))
  const doctor = async (more?: Record<string, string>) => {
    const { code, out } = await look(['doctor', '-o', 'json'], more)
    const findings = JSON.parse(out) as Finding[]
    return { code, of: (check: string) => findings.find((finding) => finding.check === check) }
  }
  return { env, look, doctor }
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

import { afterAll, beforeAll, describe, test } from 'vitest'
import { found, memory, PostgresServer } from './postgres-server.ts'

export type { PostgresServer }

let told = false

/** The server that the test files of a process share; its keeper removes it when the process ends. */
let shared: PostgresServer | null = null

/**
 * Tests on a PostgreSQL that the test files of a process share, for tests that use schemas of their own and stop no server.
 * See {@link describeWithPostgres}.
 */
export const describeWithSharedPostgres = (name: string, body: (server: () => PostgresServer) => void): void =>
  onServer(name, body, {
    begin: () => {
      shared ??= new PostgresServer(memory())
      return shared
    },
    end: () => undefined,
  })

/**
 * Tests on a PostgreSQL of their own. Without an installed PostgreSQL they fail in CI and say what to install; elsewhere they
 * are reported as not run, with the reason.
 */
export const describeWithPostgres = (name: string, body: (server: () => PostgresServer) => void): void =>
  onServer(name, body, { begin: () => new PostgresServer(memory()), end: (server) => server.remove() })

interface Lifetime {
  begin(): PostgresServer
  end(server: PostgresServer): void
}

function onServer(name: string, body: (server: () => PostgresServer) => void, { begin, end }: Lifetime): void {
  if (found === null) {
    const reason = 'not run: there is no PostgreSQL here; install it (apt-get install postgresql)'
    if (process.env.CI !== 'true' && !told)
      console.warn('the tests on PostgreSQL DID NOT RUN: apt-get install postgresql')
    told = true
    test(name, (context) => {
      if (process.env.CI === 'true') throw new Error(reason)
      context.skip(reason)
    })
    return
  }
  describe(name, () => {
    let server: PostgresServer | null = null
    beforeAll(() => {
      server = begin()
    })
    afterAll(() => server !== null && end(server))
    body(() => server!)
  })
}

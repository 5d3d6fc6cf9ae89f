import { afterAll, beforeAll, describe } from 'vitest'
import { PostgresServer } from './postgres-server.ts'

export type { PostgresServer }

/** The server that the test files of a process share. Its keeper removes the server when the process ends. */
let shared: PostgresServer | null = null

/**
 * Tests on a PostgreSQL that the test files of a process share, for tests with separate schemas that stop no server.
 * See {@link describeWithPostgres}.
 */
export const describeWithSharedPostgres = (name: string, body: (server: () => PostgresServer) => void): void =>
  onServer(name, body, {
    begin: () => {
      shared ??= new PostgresServer()
      return shared
    },
    end: () => undefined,
  })

/** Tests on a separate PostgreSQL server. */
export const describeWithPostgres = (name: string, body: (server: () => PostgresServer) => void): void =>
  onServer(name, body, { begin: () => new PostgresServer(), end: (server) => server.remove() })

interface Lifetime {
  begin(): PostgresServer
  end(server: PostgresServer): void
}

function onServer(name: string, body: (server: () => PostgresServer) => void, { begin, end }: Lifetime): void {
  describe(name, { tags: ['postgresql'] }, () => {
    let server: PostgresServer | null = null
    beforeAll(() => {
      server = begin()
    })
    afterAll(() => server !== null && end(server))
    body(() => server!)
  })
}

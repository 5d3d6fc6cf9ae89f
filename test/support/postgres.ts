import { afterAll, beforeAll, describe, test } from 'vitest'
import { found, memory, PostgresServer } from './postgres-server.ts'

export type { PostgresServer }

let told = false

/**
 * Tests on a PostgreSQL that runs for as long as they do. Where it cannot be had they fail in CI and say what to install;
 * elsewhere they are reported as not run, with the reason.
 */
export function describeWithPostgres(name: string, body: (server: () => PostgresServer) => void): void {
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
      server = new PostgresServer(memory())
    })
    afterAll(() => server?.remove())
    body(() => server!)
  })
}

import type { ServerResponse } from 'node:http'
import { afterEach } from 'vitest'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { type Got, type Loopback, loopback } from '../network/loopback.ts'

/** A provider under test and its loopback server; one at a time, closed after each test. */
export interface Bench {
  /** The server of the newest provider. */
  readonly server: Loopback
  serve(answer: (res: ServerResponse, got: Got) => void): Promise<ModelProvider>
}

/** `connect` creates the provider from the server's URL. */
export function bench(connect: (url: string) => ModelProvider): Bench {
  let server: Loopback | undefined
  const close = async () => {
    await server?.close()
    server = undefined
  }
  afterEach(close)
  return {
    get server() {
      if (!server) throw new Error('nothing is served yet')
      return server
    },
    async serve(answer) {
      await close()
      server = await loopback(answer)
      return connect(server.url)
    },
  }
}

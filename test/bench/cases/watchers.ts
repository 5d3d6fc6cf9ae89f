import { join } from 'node:path'
import { watchingClients } from '../../web/bench/clients.ts'
import { startServer } from '../../web/bench/start-server.ts'
import type { Bench, Case } from '../bench.ts'

// What 100 clients that watch cost the runs that are at work.

export const watchers: Case = {
  name: 'watchers',
  async run(bench: Bench) {
    const data = join(bench.folder, 'watched')
    const server = await startServer(data)
    try {
      return await watchingClients(server, data, bench.quick)
    } finally {
      await server.ask({ ask: 'close' })
    }
  },
}

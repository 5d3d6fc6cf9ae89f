import { found } from '../../support/postgres/postgres-server.ts'
import type { Bench, Case } from '../bench.ts'
import { openPlace } from '../servers/place.ts'
import { cpuOfTables } from '../servers/tables.ts'

// Tables on servers; `npm run bench:servers` looks closer.

export const servers: Case = {
  name: 'servers',
  async run(bench: Bench) {
    if (found === undefined) {
      process.stderr.write('servers: not measured, there is no PostgreSQL here (apt-get install postgresql)\n')
      return []
    }
    const place = await openPlace({ quick: bench.quick, events: null })
    try {
      return await cpuOfTables(place)
    } finally {
      await place.close()
    }
  },
}

// Folds a number of events of a story, one per transaction, prints its progress after each, and waits until it is
// killed. The target is a file, or a server's URL and a schema.
import { writeSync } from 'node:fs'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import { tell } from './tell.ts'

const [numbers, most, where, schema] = process.argv.slice(2)
const { log } = tell(JSON.parse(numbers!) as number[])
log.pages = () => 1
const store = schema === undefined ? await openSqliteStore(where!) : await openPostgres(where!, schema)
const projector = new Projector({ log, blobs: log.blobs, store })
for (let count = 1; count <= Number(most); count++) {
  log.visible = count
  const { events } = await projector.catchUp()
  writeSync(1, `${events}\n`)
}
setInterval(() => undefined, 2 ** 30)

async function openPostgres(url: string, name: string) {
  const home = new PostgresHome({ pool: openPool({ url }), schema: name })
  return home.open(await home.live())
}

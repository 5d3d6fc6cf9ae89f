// Folds a story one event per transaction and says how far it is, until it is killed.
import { writeSync } from 'node:fs'
import { Projector } from '../../../projections/projector/projector.ts'
import { openSqliteStore } from '../../../projections/store/sqlite.ts'
import { tell } from './tell.ts'

const [file, numbers] = process.argv.slice(2)
const { log } = tell(JSON.parse(numbers!) as number[])
log.pages = () => 1
const store = await openSqliteStore(file!)
const projector = new Projector({ log, blobs: log.blobs, store })
for (let count = 1; count <= log.events.length; count++) {
  log.visible = count
  const { events } = await projector.catchUp()
  writeSync(1, `${events}\n`)
}

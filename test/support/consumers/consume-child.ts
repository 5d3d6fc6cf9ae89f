import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { openRows } from './rows.ts'

// A program that keeps the events of a log in a file and in rows of its own, until it is killed.

const [, , folder = ''] = process.argv
const keepup = await openKeepUp({ data: join(folder, 'data'), by: 'ada' })
const rows = openRows(join(folder, 'rows.db'))
// The file has the position that the program began after, then each event before its ack.
const { consumers } = keepup.services
const begun = await consumers.get('file').then(
  ({ position }) => position,
  () => null,
)
appendFileSync(join(folder, 'got'), `begun ${begun}\n`)
await Promise.all([
  keepup.consume({ name: 'file' }, (events) => {
    for (const { id, cursor } of events) appendFileSync(join(folder, 'got'), `${id} ${cursor}\n`)
  }),
  keepup.consume({ name: 'rows', filter: { types: ['variable_set'] }, positionIn: rows }, async (events, tx) => {
    for (const { id } of events) await tx.insertInto('seen').values({ id }).execute()
  }),
])

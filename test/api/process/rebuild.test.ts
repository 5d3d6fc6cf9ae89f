import { expect, test } from 'vitest'
import { readModelOf } from '../../../api/process/tables/projected-read-model.ts'
import type { Tables } from '../../../api/process/tables/table-answers.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { TableDifference } from '../../../projections/index.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { tell } from '../../support/projections/tell.ts'

function modelOf(differences: readonly TableDifference[] | null, log: EventLog = tell([1]).log) {
  const tables = { caughtUpTo: async () => {}, rebuild: async () => ({ switched: true, differences, events: 7 }) }
  return readModelOf(tables as unknown as Tables, { log, blobs: new MemoryBlobs() } as never)
}

test('a rebuild tells how many events there are, not where in the log the last one stands', async () => {
  const { log } = tell(Array.from({ length: 60 }, (_, i) => i))
  const far = new Proxy(log, {
    get: (of, key) =>
      key === 'headCursor' ? async () => ({ ...(await of.headCursor()), position: 1_090_156 }) : Reflect.get(of, key),
  })
  expect(await modelOf([], far).rebuild()).toEqual({ events: 7, equal: true, switched: true, differences: [] })
})

test('a rebuild that had nothing to compare with does not say that the tables are equal', async () => {
  expect(await modelOf(null).rebuild()).toEqual({ events: 7, equal: null, switched: true, differences: [] })
})

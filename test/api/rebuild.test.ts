import { expect, test } from 'vitest'
import { readModelOf, type Tables } from '../../api/host/read-model.ts'
import { tell } from '../support/projections/tell.ts'

test('a rebuild tells how many events there are, not where in the log the last one stands', async () => {
  const { log } = tell(Array.from({ length: 60 }, (_, i) => i))
  const far = new Proxy(log, {
    get: (of, key) =>
      key === 'headCursor' ? async () => ({ ...(await of.headCursor()), position: 1_090_156 }) : Reflect.get(of, key),
  })
  const tables = { caughtUpTo: async () => {}, rebuild: async () => ({ switched: true, differences: [], events: 7 }) }
  const model = readModelOf(tables as unknown as Tables, far, { log, blobs: log.blobs, messagesAt: async () => [] })
  expect(await model.rebuild()).toEqual({ events: 7, equal: true, switched: true, differences: [] })
})

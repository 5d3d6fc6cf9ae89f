import { writeSync } from 'node:fs'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import { collect, NEW, Sealer, type Tip, tipOf } from '../log/sealing.ts'

// A process that writes to a log on an event store, follows the log and closes it. The process must then exit by
// itself.

const say = (line: string) => writeSync(1, `${line}\n`)
const [, , url = ''] = process.argv
const log = await openEventStoreLog({ connectionString: url, namespace: 'ns', limits: { callMs: 400 } })
const sealer = new Sealer()
let tip: Tip = NEW
let seen = 0
const stop = new AbortController()
const after = await log.headCursor()
const following = (async () => {
  for await (const page of log.subscribe(after, stop.signal)) {
    seen += page.length
    if (seen === 8) stop.abort()
  }
})()
for (let n = 1; n <= 4; n++) {
  const batch = sealer.batch('agent-a', tip, [{}, {}])
  await log.append('agent-a', tip.revision, batch)
  tip = tipOf(batch)
  say(`written ${n}`)
}
await following
say(`read ${(await collect(log.read('agent-a'))).length}`)
await log.close()
say('closed')

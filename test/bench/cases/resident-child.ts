import { openEmbedded } from '../embedded.ts'
import { manyRuns } from './many.ts'

// What a process holds that did nothing else: one long run, or many at once.

const [, , data = '', which = '', turns = '1'] = process.argv
const embedded = await openEmbedded(data)
if (which === 'one') await embedded.run(Number(turns))
else await manyRuns(embedded)
const bytes = process.memoryUsage.rss()
await embedded.close()
process.stdout.write(JSON.stringify({ bytes }))

import { join } from 'node:path'
import { openKeepUp } from '../../../api/library/open-keepup.ts'

// A program that runs, erases and exports, until it is killed.

const [, , folder = '', text = ''] = process.argv
const keepup = await openKeepUp({
  data: join(folder, 'data'),
  by: 'ada',
  scripts: { hello: { script: 1, turns: [{ text: 'Hello.' }] } },
})
const { runs } = await keepup.listRuns({ limit: '500' })
const ended = runs.filter(({ status }) => status === 'completed').map(({ runId }) => runId)
for (;;) {
  const { runId } = await keepup.start({ task: `${text} ${ended.length}`, model: 'scripted:hello' })
  await keepup.drive(runId)
  ended.push(runId)
  if (ended.length % 3 === 0) await keepup.eraseRun({ id: ended[ended.length - 3]!, all: true, reason: 'asked' })
  const { rewritten } = await keepup.exportEvents({ to: join(folder, 'exported'), format: 'ndjson' })
  console.log(`exported, ${rewritten.length} again`)
}

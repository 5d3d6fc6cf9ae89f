import { openKeepUp } from '../../../api/index.ts'
import { noteTool, REACHING } from './reaching.ts'

// A program whose agent delegates to an external agent that calls a keepup tool. The program is killed at a point of
// that call: tools-child.ts <data> <workspace> <n> <before|after>. `n`: the number of the call's append; 0: within the
// tool.

const [data = '', workspace = '', nth = '0', side = 'after'] = process.argv.slice(2)
const die = () => process.kill(process.pid, 'SIGKILL')
const keepup = await openKeepUp({
  data,
  sandboxed: false,
  scripts: REACHING.scripts,
  tools: [noteTool(workspace, nth === '0' ? die : () => undefined)],
})
const { log } = keepup.services
const append = log.append.bind(log)
let appends = 0
log.append = async (...args: Parameters<typeof append>) => {
  const [stream, , batch] = args
  const counts = stream.startsWith('external-') && batch.some(({ header }) => header.toolCallId !== undefined)
  if (counts) appends++
  const dies = counts && appends === Number(nth)
  if (dies && side === 'before') die()
  const done = await append(...args)
  if (dies) die()
  return done
}
const { runId } = await keepup.start(REACHING.start(workspace))
await keepup.drive(runId)
await keepup.close()
process.stdout.write(`appends ${appends}\n`)

import { openKeepUp } from '../../../api/index.ts'
import { DELEGATING } from './delegating.ts'

// A program whose agent delegates to an external agent, and which is killed before or after the nth append of the
// delegation: delegating-child.ts <data> <workspace> <n> <before|after>. Prints the number of appends.

const [data = '', workspace = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data, sandboxed: false, scripts: DELEGATING.scripts })
const { log } = keepup.services
const append = log.append.bind(log)
const BETWEEN = ['child_delegated', 'child_ended', 'delivered']
let appends = 0
log.append = async (...args: Parameters<typeof append>) => {
  const [stream, , batch] = args
  const counts = stream.startsWith('external-') || batch.some(({ header }) => BETWEEN.includes(header.type))
  if (counts) appends++
  const dies = counts && appends === Number(nth)
  if (dies && side === 'before') process.kill(process.pid, 'SIGKILL')
  const done = await append(...args)
  if (dies) process.kill(process.pid, 'SIGKILL')
  return done
}
const { runId } = await keepup.start(DELEGATING.start(workspace))
await keepup.drive(runId)
await keepup.close()
process.stdout.write(`appends ${appends}\n`)

import { openKeepUp } from '../../../api/index.ts'

// A program that runs an external agent and is killed before or after the nth append to the run's stream:
// agent-child.ts <data> <workspace> <n> <before|after>. Prints the run's id and waits for its end.

const [data = '', workspace = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data, sandboxed: false })
const { log } = keepup.services
const append = log.append.bind(log)
let appends = 0
log.append = async (...args: Parameters<typeof append>) => {
  const external = args[0].startsWith('external-')
  if (external) appends++
  const dies = external && appends === Number(nth)
  if (dies && side === 'before') process.kill(process.pid, 'SIGKILL')
  const done = await append(...args)
  if (dies) process.kill(process.pid, 'SIGKILL')
  return done
}
const { runId } = await keepup.start({
  agent: 'claude_code',
  extensions: { 'backend.claude_code.permission_mode': 'plan' },
  task: 'go',
  workspace,
  key: 'k1',
})
process.stdout.write(`${runId}\n`)
await keepup.services.agents!.at(runId)?.completion.catch(() => undefined)
await keepup.close()
process.stdout.write(`appends ${appends}\n`)

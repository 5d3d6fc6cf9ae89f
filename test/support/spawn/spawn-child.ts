import { AgentRuntime, ClaudeCodeProvider, openKeepUp } from '../../../api/index.ts'

// A program that spawns an agent and waits for it, and is killed before or after the nth append to the streams of the
// run and of the store: spawn-child.ts <data> <workspace> <n> <before|after>.

const [data = '', workingDir = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data, sandboxed: false })
const { log } = keepup.services
const append = log.append.bind(log)
let appends = 0
log.append = async (...args: Parameters<typeof append>) => {
  const dies = /^(external|context)-/.test(args[0]) && ++appends === Number(nth)
  if (dies && side === 'before') process.kill(process.pid, 'SIGKILL')
  const done = await append(...args)
  if (dies) process.kill(process.pid, 'SIGKILL')
  return done
}
const provider = new ClaudeCodeProvider({ keepup, workingDir })
const runtime = new AgentRuntime({ provider, store: keepup.contextStore('audit') })
const { result } = await runtime.run(runtime.create({ id: 'lead', prompt: 'Go.', model: 'm' }))
await keepup.close()
process.stdout.write(`${JSON.stringify(result)}\nappends ${appends}\n`)

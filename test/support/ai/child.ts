import { openKeepUp } from '../../../api/index.ts'
import { keepupForAi } from '../../../api/library/ai-kit.ts'
import { program, RULES } from './program.ts'

// A program of the AI SDK that is killed before or after the nth append to its run:
// child.ts <data> <effects> <n> <before|after>.

const [data = '', effects = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data })
const { log } = keepup.services
const append = log.append.bind(log)
let appends = 0
log.append = async (...args: Parameters<typeof append>) => {
  const dies = args[0].startsWith('external-') && ++appends === Number(nth)
  if (dies && side === 'before') process.kill(process.pid, 'SIGKILL')
  const done = await append(...args)
  if (dies) process.kill(process.pid, 'SIGKILL')
  return done
}
const k = await keepupForAi({ ...RULES, keepup })
const text = await program(k, effects)
await k.close()
await keepup.close()
process.stdout.write(`${text}\nappends ${appends}\n`)

import { openKeepUp } from '../../../api/index.ts'
import { keepupForAi } from '../../../api/library/ai-kit.ts'
import { killAtAppend } from '../kill-at-append.ts'
import { program, RULES } from './program.ts'

// A program of the AI SDK that is killed before or after the nth append to its run:
// child.ts <data> <effects> <n> <before|after>.

const [data = '', effects = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data })
const appends = killAtAppend(keepup.services.log, Number(nth), side)
const k = await keepupForAi({ ...RULES, keepup })
const text = await program(k, effects)
await k.close()
await keepup.close()
process.stdout.write(`${text}\nappends ${appends()}\n`)

import { openKeepUp } from '../../../api/index.ts'
import { keepupForClaude } from '../../../api/library/claude-kit.ts'
import { killAtAppend } from '../kill-at-append.ts'
import { scriptedSession } from './scripted-session.ts'

// A session that is killed before or after the nth append to its run: child.ts <data> <effects> <n> <before|after>.

const [data = '', effects = '', nth = '0', side = 'after'] = process.argv.slice(2)
const keepup = await openKeepUp({ data })
const appends = killAtAppend(keepup.services.log, Number(nth), side)
const k = await keepupForClaude({ keepup })
await scriptedSession(k, effects)
await k.close()
await keepup.close()
process.stdout.write(`appends ${appends()}\n`)

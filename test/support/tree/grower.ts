import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { agentAt } from '../../../domain/agent/runtime/history/replay.ts'
import { callsOf } from '../../../domain/agent/state/state.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import { faultsOfTree, shapeOfTree, startTree, treeScript } from '../servers/tree-job.ts'

// A process that runs one tree of agents in a separate data folder, and may kill itself on the way.
//
//   grower.ts DATA EFFECTS TYPE NTH [cancel]
//
// Drives the tree until it ends. Kills itself with SIGKILL directly after it appends its NTH event of this TYPE. Prints
// "killed", or the result of the tree as JSON. `cancel`: a person cancels the run first.

const [, , data = '', effects = '', type = '', nth = '0', cancel] = process.argv
const lines = () => (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').filter(Boolean) : [])

/** The irreversible effect: a line with the id of the call. */
const append = defineTool({
  name: 'fx:append',
  description: 'Leave a line.',
  parameters: z.strictObject({}),
  effect: 'irreversible',
  timeLimitMs: 60_000,
  async run(_, { toolCallId }) {
    appendFileSync(effects, `${toolCallId}\n`)
    return { content: 'left' }
  },
})

let left = Number(nth)
let seen: Cursor | null = null
async function dies(name: string): Promise<void> {
  if (name !== 'after_append' || left <= 0) return
  for await (const page of services.log.readAll(seen))
    for (const event of page) {
      seen = services.log.cursor(event)
      if (event.header.type !== type || --left > 0) continue
      writeSync(1, '"killed"\n')
      process.kill(process.pid, 'SIGKILL')
    }
}

const own = { tools: [append], scripts: { tree: treeScript }, crashPoint: dies }
const services = await openServices(loadConfig({ flags: { data }, env: {} }), 'owner', { autoDrive: false }, own)
seen = await services.log.headCursor()
const run = async (): Promise<string> => {
  await services.read.caughtUp()
  const { value } = await services.read.runs({ limit: 1 })
  const known = value.runs[0]?.runId
  if (known !== undefined) return known
  const runId = services.runtime.newRunId()
  await startTree({ services }, runId)
  return runId
}
const runId = await run()
const user = { by: { kind: 'user', id: 'test' } } as const
/** The run may have ended, so a person's request is refused. */
const unlessRefused = (error: unknown) => {
  if (!(error instanceof CommandRejected)) throw error
}
if (cancel !== undefined)
  await services.runtime.execute(runId, { kind: 'cancel', deadlineMs: 10_000 }, user).catch(unlessRefused)
for (;;) {
  const end = await services.runtime.drive(runId, { signal: new AbortController().signal })
  if (end.end !== 'waiting' || end.for !== 'doubt') break
  for (const toolCallId of end.toolCallIds) {
    const agentId = toolCallId.slice(0, toolCallId.lastIndexOf('.t'))
    const { state } = await agentAt(services, agentId, null)
    if (callsOf(state).find(({ id }) => id === toolCallId)?.stage.at !== 'doubt') continue
    const decision = lines().includes(toolCallId) ? 'happened' : 'run'
    await services.runtime.execute(agentId, { kind: 'resolve_doubt', toolCallId, decision }, user).catch(unlessRefused)
  }
}
const found = {
  lines: lines(),
  faults: await faultsOfTree({ services }, runId),
  shape: await shapeOfTree({ services }, runId),
}
writeSync(1, `${JSON.stringify(found)}\n`)
await services.close()
process.exit(0)

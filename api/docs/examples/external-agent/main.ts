import { openKeepUp } from '@keepup/runtime'
import type { CliAgent } from '@keepup/runtime/agents'

const scout: CliAgent = {
  kind: 'scout',
  capabilities: ['agent_api.run', 'agent_api.events', 'agent_api.events.live', 'agent_api.artifacts.final_text.v1'],
  program: 'node', // found on the PATH, outside of every workspace
  versionArgs: ['--version'],
  passes: [],
  plan: ({ prompt }) => ({ args: [`${import.meta.dirname}/agent.mjs`, prompt], stdin: null }),
  mapping() {
    let end: { done: boolean; finalText: string | null } = { done: false, finalText: null }
    return {
      line({ type, text, session }) {
        if (type === 'start') return { sessionId: String(session) }
        if (type === 'done') end = { done: true, finalText: String(text) }
        return { events: [{ kind: 'TextOutput', text: String(text) }] }
      },
      end: () => end,
    }
  },
}

// Outside of the sandbox, as a program that you start yourself. The record says so.
const keepup = await openKeepUp({ data: 'data', by: 'ada', agents: [scout], sandboxed: false })
const handle = await keepup.runAgent('scout', { prompt: 'Look around' })
for await (const event of handle.events) console.log(event.kind, 'text' in event ? event.text : '')
await handle.completion
const { run } = await keepup.getRun({ id: handle.runId })
const { ok } = await keepup.verifyRun({ id: handle.runId })
console.log(`${run.status}, ungoverned: ${run.ungoverned}, proof ${ok ? 'holds' : 'broken'}`)
await keepup.close()

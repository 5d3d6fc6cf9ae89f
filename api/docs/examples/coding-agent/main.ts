import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { openKeepUp } from '@keepup/runtime'

const workspace = resolve('workspace')
mkdirSync(workspace, { recursive: true })
writeFileSync(`${workspace}/greet.js`, "export const greet = (name) => 'Hello ' + nam\n")

const keepup = await openKeepUp({ data: 'data', by: 'ada' })
const { runId } = await keepup.start({
  task: 'greet.js throws a ReferenceError. Mend it.',
  model: process.env.MODEL ?? `scripted:${import.meta.dirname}/script.json`,
  workspace,
  tools: ['read_file', 'write_file'],
  policy: { requiresApproval: ['write_file'] },
})

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
for (;;) {
  const state = await keepup.drive(runId, { onText: (text) => process.stdout.write(text) })
  if (state.end !== 'waiting' || state.for !== 'approval') break
  for await (const { toolCallId, toolName } of keepup.approvals({ run: runId })) {
    const { preview, questionHash } = await keepup.getApproval({ toolCallId })
    console.log(`\n${preview.text}\n${toolName}: approve? (y/n)`)
    const { value } = await lines.next()
    await keepup.decideApproval({ toolCallId, questionHash, decision: value === 'y' ? 'approved' : 'rejected' })
  }
}
const { run } = await keepup.getRun({ id: runId })
const { ok } = await keepup.verifyRun({ id: runId })
console.log(`\n${run.status}: ${run.summary}\nproof: ${ok ? 'holds' : 'broken'}`)
await keepup.close()
process.stdin.destroy()

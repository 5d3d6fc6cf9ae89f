import { openKeepUp } from '@keepup/runtime'

const keepup = await openKeepUp({ data: 'data', by: 'ada' })
const { runId } = await keepup.start({
  task: 'Find out which of two libraries we should use.',
  role: 'architect',
  model: process.env.MODEL ?? `scripted:${import.meta.dirname}/script.json`,
  policy: { mode: 'batch' },
  budget: { tokens: 200_000 },
  delegation: { agents: 4 },
})
const { end } = await keepup.drive(runId)
const { agents } = await keepup.getRunTree({ id: runId })
for (const { role, depth, status, own, budget } of agents) {
  const tokens = (own.inputTokens ?? 0) + (own.outputTokens ?? 0)
  console.log(`${'  '.repeat(depth)}${role} ${status}: ${tokens} tokens of ${budget?.tokens.given}`)
}
const spent = agents[0]!.total
const { ok, agents: proofs } = await keepup.verifyRun({ id: runId })
console.log(`${end}: ${spent.modelCalls} model calls; ${proofs.length} logs, proof ${ok ? 'holds' : 'broken'}`)
await keepup.close()

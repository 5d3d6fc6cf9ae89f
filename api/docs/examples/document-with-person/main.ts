import { openKeepUp } from '@keepup/runtime'

const keepup = await openKeepUp({ data: 'data', by: 'ada' })
const { runId } = await keepup.start({
  task: 'Write down how we refund.',
  model: process.env.MODEL ?? `scripted:${import.meta.dirname}/script.json`,
  tools: ['create_document'],
  approve: ['create_document'],
})
await keepup.drive(runId)
const { documents } = await keepup.listDocuments({})
const { documentId: id } = documents.at(-1)!

const { frontier, blocks } = await keepup.documents.read(id)
const { id: span, hash } = blocks.at(-1)!
const answer = await keepup.documents.send(id, {
  doc_frontier: frontier,
  client_request_id: `${runId}-1`,
  ops_xml: `<replace_spans annotation="the rule of the shop"><span span_id="${span}">Refunds only with the receipt.</span></replace_spans>`,
  preconditions: [{ span_id: span!, if_match_context_hash: hash! }],
})
console.log(`ada: ${answer.status}\n\n${await keepup.documents.text(id, 'markdown')}`)

const { spans, sources } = await keepup.blameDocument({ id })
for (const { text, revision } of spans.flatMap(({ parts }) => parts)) {
  const { by, toolCallId } = sources.find((source) => source.revision === revision)!
  if (text.trim() !== '') console.log(`${toolCallId === undefined ? by.id : 'the agent'}: ${JSON.stringify(text)}`)
}
console.log(`proof: ${(await keepup.verifyDocument({ id })).ok ? 'holds' : 'broken'}`)
await keepup.close()

import { type Served, serve } from '../../support/browser/served.ts'
import { editingAgent, runEditingAgent } from '../../support/external/editing-agent.ts'

/** A state of the page: its name, its path, and what is in it once it is drawn. */
export type Screen = readonly [name: string, path: string, ready: string]

export interface Furnished {
  readonly served: Served
  readonly screens: readonly Screen[]
  /** A run that waits for an approval, one that has ended, one with a tag and a note, one of another agent, and a document. */
  readonly asks: string
  readonly done: string
  readonly noted: string
  readonly external: string
  readonly paper: string
}

/** A server with something on every screen, and the list of its screens. */
export async function furnish(): Promise<Furnished> {
  const webhooks = [{ name: 'chat', url: 'http://127.0.0.1:9/hook', secret: 'HOOK' }]
  const served = await serve({ agents: [editingAgent], settings: { webhooks } })
  const asks = await served.driven('write hello', { workspace: served.workspace() })
  const done = await served.driven('write hello', {
    workspace: served.workspace(),
    approve: ['write_file'],
    contextVariables: { a: 1 },
  })
  const question = await served.driven('ask me')
  const noted = await served.driven('finish with a budget', { budget: { tokens: 1_000_000 } })
  await served.ask('POST', `/v1/runs/${noted}/tags`, { tag: 'to check before the release', by: 'ada' })
  await served.ask('POST', `/v1/runs/${noted}/notes`, { text: 'Anna will look at it.', by: 'ada' })
  const external = await runEditingAgent(served, 'change two files')
  const body = {
    title: 'Plan',
    format: 'markdown',
    content: '# Plan\n\nFirst **this**.\n\n| a |\n|---|\n| b |\n',
    by: 'ada',
  }
  const anchor = { anchor: 'gone', kind: 'folder', target: '/nowhere/at/all', by: 'ada' }
  await served.ask('POST', '/v1/anchors', anchor)
  await served.ask('POST', '/v1/anchors/now', { by: 'ada' })
  await served.ask('POST', '/v1/holds', { of: done, reason: 'the matter of Smith', by: 'ada' })
  await served.ask('PUT', '/v1/retention', { of: 'run', days: 180, by: 'ada' })
  const paper = (await served.ask<{ documentId: string }>('POST', '/v1/documents', body)).documentId
  const { blocks } = await served.ask<{ blocks: { id: string }[] }>('GET', `/v1/documents/${paper}`)
  const about = { span_id: blocks[1]!.id, quote: 'First', by: 'ada' }
  await served.ask('POST', `/v1/documents/${paper}/comments`, { ...about, text: 'Why first?' })
  await served.ask('POST', `/v1/documents/${paper}/suggestions`, { ...about, replacement: 'Second', reason: 'order' })
  const screens: readonly Screen[] = [
    ['the list', '/', '.run-row'],
    ['a list with a selected run', `/?run=${done}`, '.run-row.selected'],
    ['an empty list', '/?text=nothing+at+all', '.notice'],
    ['the inbox', '/inbox', '.ask .patch'],
    ['the start', '/start', 'select#role'],
    ['a run that asks', `/runs/${asks}`, '.ask .patch'],
    ['a run with a question', `/runs/${question}`, '.ask textarea'],
    ...['event', 'state', 'diff', 'files', 'raw', 'request', 'proof'].map(
      (tab): Screen => [
        `the detail ${tab}`,
        `/runs/${done}?at=13&tab=${tab}`,
        '.detail h2, .detail pre, .detail .json-line',
      ],
    ),
    ...['feed', 'compact', 'waterfall'].map(
      (view): Screen => [
        `the timeline ${view}`,
        `/runs/${done}?view=${view}&at=7`,
        '.card header .quiet, .event .said bdi:not(:empty), .work',
      ],
    ),
    ['the detail trace', `/runs/${done}?at=13&tab=trace`, '.detail .trace'],
    ['two runs compared', `/compare?a=${asks}&b=${done}`, '.place-row'],
    ['two steps compared', `/compare?a=${done}:0&b=${done}:1`, '.compare .patch'],
    ['nothing compared', '/compare', '.notice'],
    ['a file with its writers', `/runs/${done}?tab=files&file=hello.txt`, '.blame'],
    ['the documents', '/documents', '.documents li'],
    ['the editor of a document', `/documents/${paper}?tab=edit`, '.ProseMirror .marked'],
    ...['text', 'writers', 'change', 'proof'].map(
      (tab): Screen => [
        `the document ${tab}`,
        `/documents/${paper}?tab=${tab}`,
        '.detail h2, .detail .blame, .detail button:text("Verify")',
      ],
    ),
    ...['cost', 'calls', 'routing', 'runs', 'budgets'].map(
      (tab): Screen => [`the numbers ${tab}`, `/numbers?tab=${tab}`, '.data-table'],
    ),
    ['no numbers', '/numbers?run=none', '.notice, .fault'],
    ['the questions', '/audit?question=approvals', '.questions'],
    ['the proof', '/audit?tab=proof', 'form.row'],
    ['the tables', '/audit?tab=tables', '.facts'],
    ['the log', '/audit?tab=log', '.streams'],
    ['a stream', `/audit?tab=log&stream=agent-${done}`, '.event .said bdi:not(:empty)'],
    ['the heads and anchors', '/proof', '.facts'],
    ['an anchor that fails', '/proof', '.data-table .bad'],
    ['the verification', '/proof?tab=verify', '.panel button'],
    ['the guide to proofs', '/proof?tab=guide', '.markdown'],
    ['access that is off', '/access', '.notice'],
    ['the retention', '/retention', '.data-table button'],
    ['the holds', '/retention?tab=holds', '.data-table button'],
    ['a run that is held', `/runs/${done}`, '.reasons'],
    ['a run with a tag and a note', `/runs/${noted}`, '.annotations .tag'],
    ['a run of another agent', `/runs/${external}`, '.reported'],
    ['the files of another agent', `/runs/${external}?tab=files&file=src%2Fa.ts`, '.difference .patch'],
    ['the webhooks', '/webhooks', '.data-table button'],
    ['the health', '/health', '.data-table .warn'],
    ['no pack', '/pack', '.notice'],
    ['no exported run', '/exported', '.notice'],
    ['a place that is none', '/nowhere', '.notice'],
  ]
  return { served, screens, asks, done, noted, external, paper }
}
